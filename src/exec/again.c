/* Computing again instead of keeping.
 *
 * A step of training keeps what its way down computes until its way up needs it. An element-wise
 * value costs little to compute from operands that are kept anyway; if it is large and the slab is
 * too, it is dropped after its early uses and computed a second time before the late ones. */
#include <string.h>

#include "base/mem.h"
#include "exec/plan.h"
#include "exec/tile.h"
#include "op/op.h"

enum { LARGE = 256, SMALL = 4096 }; /* shares of the peak: from 1 / LARGE, and below 1 / SMALL */

struct life {
  uint32_t born, last; /* units */
  bool tile;           /* computed by a tile unit */
  bool kept;           /* not of the slab, or added onto in place: leave it alone */
};

struct scan {
  r4_plan *p;
  size_t n;
  const r4_id *out;  /* of the plan */
  struct life *life; /* by value */
  size_t *bytes;     /* by unit: what is alive */
  uint32_t peak;     /* the unit at which most is */
};

static size_t bytes_of(const r4_plan *p, r4_id value)
{
  return (size_t)r4_shape_count(r4_node_shape(p->g, plan_node(p, value))) * type_size(p->type);
}

static void find_lives(struct scan *s)
{
  const r4_plan *p = s->p;
  memset(s->life, 0, plan_values(p) * sizeof *s->life);
  for (uint32_t k = 0; k < p->n_units; k++) {
    const struct unit *u = &p->unit[k];
    for (uint32_t j = 0; j < u->n_in; j++) s->life[u->in[j].i].last = k;
    for (uint32_t j = 0; j < u->n_roots; j++)
      s->life[u->roots[j].i] = (struct life){.born = k, .last = k, .tile = true};
    if (u->kind != UNIT_DENSE) continue;
    s->life[u->final.i] = (struct life){.born = k, .last = k, .kept = u->fused.accumulate.i};
    if (u->fused.accumulate.i) s->life[u->fused.accumulate.i].kept = true;
  }
  for (size_t k = 0; k < s->n; k++) s->life[plan_base(p->g, s->out[k]).i].kept = true;
  for (uint32_t k = 0; k < p->n_inputs; k++)
    if (p->input[k].node.i) s->life[p->input[k].node.i] = (struct life){.last = UINT32_MAX, .kept = true};
}

/* Memory of the caller is counted too: it does not change. */
static void find_peak(struct scan *s)
{
  const r4_plan *p = s->p;
  memset(s->bytes, 0, p->n_units * sizeof *s->bytes);
  for (uint32_t v = 1; v < plan_values(p); v++) {
    const struct life *l = &s->life[v];
    if (l->last == UINT32_MAX || (!l->last && !l->born)) continue;
    for (uint32_t k = l->born; k <= l->last; k++) s->bytes[k] += bytes_of(p, (r4_id){v});
  }
  s->peak = 0;
  for (uint32_t k = 1; k < p->n_units; k++)
    if (s->bytes[k] > s->bytes[s->peak]) s->peak = k;
}

static bool reads(const struct unit *u, r4_id x)
{
  for (uint32_t k = 0; k < u->n_in; k++)
    if (u->in[k].i == x.i) return true;
  return false;
}

/* The first unit after the peak that reads x, or 0 if x is in use at the peak or not after it. */
static uint32_t next_use(const struct scan *s, r4_id x)
{
  const struct life *l = &s->life[x.i];
  if (l->kept || l->born >= s->peak || l->last <= s->peak || reads(&s->p->unit[s->peak], x)) return 0;
  uint32_t k = s->peak + 1;
  while (k < s->p->n_units && !reads(&s->p->unit[k], x)) k++;
  return k < s->p->n_units ? k : 0;
}

static void free_again(struct unit *u)
{
  tile_free(u->tile);
  r4_mem_free(u->in);
  r4_mem_free(u->roots);
}

/* An operand may stay until unit "when": if it is there at the peak anyway and no other peak comes of it, or if it is
 * small, such as the factors of a norm. */
static bool may_stay(const struct scan *s, r4_id x, uint32_t when)
{
  uint32_t last = s->life[x.i].last;
  if (last >= when || s->life[x.i].kept) return last >= when;
  if (bytes_of(s->p, x) < s->bytes[s->peak] / SMALL) return true;
  if (last < s->peak) return false;
  for (uint32_t k = last; k < when; k++)
    if (s->bytes[k + 1] + bytes_of(s->p, x) >= s->bytes[s->peak]) return false;
  return true;
}

/* A unit that computes x again for unit "when"; tile is NULL if an operand would be dead by then. */
static r4_status try_again(struct scan *s, r4_id x, uint32_t when, struct unit *u, r4_error *e)
{
  const r4_plan *p = s->p;
  struct tile_request q = {.g = p->g, .type = p->type, .roots = &x, .n_roots = 1, .memory = p->in_memory};
  *u = (struct unit){.kind = UNIT_TILE, .n_roots = 1, .roots = r4_mem_new(1, sizeof *u->roots)};
  if (u->roots) u->tile = tile_new(&q, &u->in, &u->n_in, e);
  if (!u->tile) {
    free_again(u);
    return r4_fail(e, R4_E_MEMORY, "plan: out of memory");
  }
  bool alive = true;
  for (uint32_t k = 0; k < u->n_in; k++) alive &= may_stay(s, u->in[k], when);
  if (alive) return R4_OK;
  free_again(u);
  u->tile = NULL;
  return R4_OK;
}

/* Puts the unit before "when" and lets all later readers of x read the new value. */
static void insert(r4_plan *p, r4_id x, uint32_t when, struct unit u)
{
  r4_id value = {p->g->size + 1 + p->n_clones};
  p->clone[p->n_clones++] = x;
  u.roots[0] = value;
  memmove(&p->unit[when + 1], &p->unit[when], (p->n_units - when) * sizeof *p->unit);
  p->unit[when] = u;
  p->n_units++;
  for (uint32_t k = when + 1; k < p->n_units; k++)
    for (uint32_t j = 0; j < p->unit[k].n_in; j++)
      if (p->unit[k].in[j].i == x.i) p->unit[k].in[j] = value;
}

static bool is_candidate(const struct scan *s, uint32_t i)
{
  const struct node *n = &s->p->g->node[i];
  return s->life[i].tile && n->op->kind == OP_ELEMENT &&
         bytes_of(s->p, (r4_id){i}) >= s->bytes[s->peak] / LARGE;
}

/* Computes the largest possible value of the peak again; *done if there is none. */
static r4_status one_round(struct scan *s, bool *done, r4_error *e)
{
  struct unit best = {0};
  r4_id chosen = R4_NONE;
  uint32_t when = 0;
  for (uint32_t i = 1; i <= s->p->g->size; i++) {
    r4_id x = {i};
    uint32_t use = is_candidate(s, i) ? next_use(s, x) : 0;
    if (!use || (chosen.i && bytes_of(s->p, x) <= bytes_of(s->p, chosen))) continue;
    struct unit u;
    r4_status status = try_again(s, x, use, &u, e);
    if (status) {
      free_again(&best);
      return status;
    }
    if (!u.tile) continue;
    free_again(&best);
    best = u, chosen = x, when = use;
  }
  *done = !chosen.i;
  if (chosen.i) insert(s->p, chosen, when, best);
  return R4_OK;
}

r4_status compute_again(r4_plan *p, size_t n, const r4_id *out, r4_error *e)
{
  struct scan s = {.p = p,
                   .n = n,
                   .out = out,
                   .life = r4_mem_new(plan_values(p) + MAX_CLONES, sizeof *s.life),
                   .bytes = r4_mem_new(p->n_units + MAX_CLONES + 1, sizeof *s.bytes)};
  r4_status status = s.life && s.bytes ? R4_OK : r4_fail(e, R4_E_MEMORY, "plan: out of memory");
  for (bool done = false; !status && !done && p->n_clones < MAX_CLONES;) {
    find_lives(&s);
    find_peak(&s);
    if (s.bytes[s.peak] <= p->keep_bytes)
      done = true;
    else
      status = one_round(&s, &done, e);
  }
  r4_mem_free(s.life);
  r4_mem_free(s.bytes);
  return status;
}
