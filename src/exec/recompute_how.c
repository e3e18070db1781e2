/* How to compute a value again: by the unit that made it, if its operands are still there or can be. If not,
 *
 *     an element-wise operand      is computed along with the value, in the same tile
 *     the result of another unit   is computed again as well, if that is cheap
 *
 * The same kernels see the same operands, so the value has the same bits. */
#include <string.h>

#include "base/mem.h"
#include "exec/recompute.h"
#include "exec/tile.h"
#include "op/op_rules.h"

enum {
  SMALL = 4096, /* below 1 / SMALL of the peak: such as the factors of a norm */
  DEPTH = 3,    /* of units that are needed for one another */
  INLINED = 1   /* operands of a tile that it computes itself */
};

static void free_step(struct unit *u)
{
  tile_free(u->tile);
  r4_mem_free(u->in);
  r4_mem_free(u->roots);
  *u = (struct unit){0};
}

void recipe_free(struct recipe *r)
{
  for (uint32_t k = 0; k < r->n; k++) free_step(&r->unit[k]);
  *r = (struct recipe){0};
}

/* ---- Operands ---- */

/* A value may stay until unit "when": if it is there at the peak anyway and no other peak comes of it, or if it is
 * small. */
static bool may_stay(const struct scan *s, r4_id x, uint32_t when)
{
  const struct life *l = &s->life[x.i];
  if (l->last >= when || l->kept) return l->last >= when;
  size_t bytes = scan_bytes(s, x), most = s->bytes[s->peak];
  if (bytes < most / SMALL) return true;
  if (l->last < s->peak) return false;
  for (uint32_t k = l->last; k < when; k++)
    if (s->bytes[k + 1] + bytes >= most) return false;
  return true;
}

/* The value of a node that can be read at unit "when": the first, or one that was computed again since. */
static r4_id find_value(const struct scan *s, r4_id node, uint32_t when)
{
  const r4_plan *p = s->p;
  for (uint32_t v = p->g->size + p->n_clones; v > p->g->size; v--)
    if (plan_node(p, (r4_id){v}).i == node.i && s->life[v].born < when && may_stay(s, (r4_id){v}, when))
      return (r4_id){v};
  return may_stay(s, node, when) ? node : R4_NONE;
}

/* ---- One step ---- */

static bool is_element(const struct scan *s, r4_id node)
{
  const struct op *op = graph_node(s->p->g, node)->op;
  return s->life[node.i].tile && (op->kind == OP_ELEMENT || op == &op_broadcast);
}

/* An operand of the tile that is gone and that the tile can compute itself. */
static r4_id missing_element(const struct scan *s, const struct unit *u, uint32_t when)
{
  for (uint32_t k = 0; k < u->n_in; k++)
    if (is_element(s, u->in[k]) && !find_value(s, u->in[k], when).i) return u->in[k];
  return R4_NONE;
}

static r4_status tile_step(const struct scan *s, r4_id node, uint32_t when, struct unit *u, r4_error *e)
{
  const r4_plan *p = s->p;
  struct tile_request q = {.g = p->g, .type = p->type, .roots = &node, .n_roots = 1, .memory = s->memory};
  memcpy(s->memory, p->in_memory, (p->g->size + 1) * sizeof *s->memory);
  int tries = 0;
  for (r4_id more = node; more.i && tries <= INLINED; tries++) {
    free_step(u);
    *u = (struct unit){.kind = UNIT_TILE, .n_roots = 1, .roots = mem_new(1, sizeof *u->roots, "a plan", e)};
    if (u->roots) u->tile = tile_new(&q, &u->in, &u->n_in, e);
    if (!u->tile) return R4_E_MEMORY;
    more = missing_element(s, u, when);
    s->memory[more.i] = false;
  }
  return R4_OK;
}

static r4_status dense_step(const struct scan *s, r4_id node, struct unit *u, r4_error *e)
{
  const struct unit *made = &s->p->unit[s->life[node.i].born];
  *u = (struct unit){.kind = UNIT_DENSE, .fused = made->fused, .n_in = made->n_in};
  if (!(u->in = mem_new(made->n_in + 1, sizeof *u->in, "a plan", e))) return R4_E_MEMORY;
  for (uint32_t k = 0; k < made->n_in; k++) u->in[k] = plan_node(s->p, made->in[k]);
  return R4_OK;
}

/* ---- All steps ---- */

static bool has_step(const struct recipe *r, r4_id node)
{
  for (uint32_t k = 0; k < r->n; k++)
    if (r->of[k].i == node.i) return true;
  return false;
}

struct request {
  const struct scan *s;
  uint32_t when;
  double flops; /* at most */
  struct recipe *r;
};

static r4_status add_step(const struct request *q, r4_id node, int depth, bool *possible, r4_error *e);

static r4_status find_operands(const struct request *q, struct unit *u, int depth, bool *possible,
                               r4_error *e)
{
  r4_status status = R4_OK;
  for (uint32_t k = 0; k < u->n_in && !status && *possible; k++) {
    r4_id node = u->in[k], value = find_value(q->s, node, q->when);
    if (value.i)
      u->in[k] = value;
    else if (!has_step(q->r, node))
      status = add_step(q, node, depth - 1, possible, e);
  }
  return status;
}

/* Adds the steps that compute the node, operands first. */
static r4_status add_step(const struct request *q, r4_id node, int depth, bool *possible, r4_error *e)
{
  const struct scan *s = q->s;
  const struct life *l = &s->life[node.i];
  struct recipe *r = q->r;
  bool tile = is_element(s, node);
  *possible = depth > 0 && !l->kept && tile == l->tile;
  if (!*possible) return R4_OK;
  struct unit u = {0};
  r4_status status = tile ? tile_step(s, node, q->when, &u, e) : dense_step(s, node, &u, e);
  if (!status && !tile) r->flops += dense_flops(s->p->g, u.fused.head);
  if (r->flops > q->flops) *possible = false;
  if (!status) status = find_operands(q, &u, depth, possible, e);
  if (r->n == MAX_STEPS) *possible = false;
  if (status || !*possible) {
    free_step(&u);
    return status;
  }
  r->of[r->n] = node;
  r->unit[r->n++] = u;
  return R4_OK;
}

r4_status recipe_make(const struct scan *s, r4_id value, uint32_t when, double flops, struct recipe *r,
                      r4_error *e)
{
  bool possible = true;
  *r = (struct recipe){0};
  r4_status status =
    add_step(&(struct request){s, when, flops, r}, plan_node(s->p, value), DEPTH, &possible, e);
  for (uint32_t k = 0; k + 1 < r->n; k++) r->between += scan_bytes(s, r->of[k]);
  if (status || !possible || s->bytes[when] + r->between > s->bytes[s->peak]) recipe_free(r);
  return status;
}
