/* Computing again instead of keeping.
 *
 * A step of training keeps what its way down computes until its way up needs it. Some values cost little to compute
 * from operands that are kept anyway: element-wise ones, such as gelu, and products over few terms with what follows
 * them, such as the softmax of an attention. If such a value is large and the slab is too, it is dropped after its
 * early uses and computed a second time before the late ones.
 *
 * What it costs is counted in bytes that are moved, of all units as of those that are added: operands and results, and
 * for a product its FLOPs at the rate of the machine. Unless a size was asked for, no more than a share of all is
 * spent. In BERT that is never reached; in a net of depthwise convolutions, which compute little for each byte, it
 * is. */
#include "exec/recompute.h"

#include <string.h>

#include "base/mem.h"
#include "exec/tile.h"
#include "op/op_rules.h"

enum { LARGE = 256 };                    /* from 1 / LARGE of the peak on */
static const double FLOPS_PER_BYTE = 32; /* that a product may cost: the time of a few trips to memory */
static const double RATE = 8;            /* FLOPs in the time that a byte takes */
static const double SHARE = 0.06;        /* of the cost of all units */

size_t scan_bytes(const struct scan *s, r4_id value)
{
  return plan_bytes(s->p, value);
}

static double unit_cost(const struct scan *s, const struct unit *u)
{
  double bytes = 0;
  for (uint32_t k = 0; k < u->n_in; k++) bytes += (double)scan_bytes(s, u->in[k]);
  for (uint32_t k = 0; k < u->n_roots; k++) bytes += (double)scan_bytes(s, u->roots[k]);
  if (u->kind != UNIT_DENSE) return bytes;
  return bytes + (double)scan_bytes(s, u->final) + dense_flops(s->p->g, u->fused.head) / RATE;
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
  for (size_t k = 0; k < s->n; k++) {
    struct life *l = &s->life[plan_base(p->g, s->out[k]).i];
    l->kept = true;
    l->last = in_block(p, k) ? p->n_units - 1 : UINT32_MAX;
  }
  for (uint32_t k = 0; k < p->n_inputs; k++)
    if (p->input[k].node.i) s->life[p->input[k].node.i] = (struct life){.last = UINT32_MAX, .kept = true};
}

/* Outputs in the block are counted: where they are, nothing else can be. */
static void find_peak(struct scan *s)
{
  const r4_plan *p = s->p;
  memset(s->bytes, 0, p->n_units * sizeof *s->bytes);
  for (uint32_t v = 1; v < plan_values(p); v++) {
    const struct life *l = &s->life[v];
    if (l->last == UINT32_MAX || (!l->last && !l->born)) continue;
    for (uint32_t k = l->born; k <= l->last; k++) s->bytes[k] += scan_bytes(s, (r4_id){v});
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

static void replace(struct unit *u, r4_id x, r4_id by)
{
  for (uint32_t k = 0; k < u->n_in; k++)
    if (u->in[k].i == x.i) u->in[k] = by;
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

/* Puts the steps before unit "when" and lets all later readers of x read the new value. */
static void insert(r4_plan *p, r4_id x, uint32_t when, const struct recipe *r)
{
  r4_id value = R4_NONE;
  memmove(&p->unit[when + r->n], &p->unit[when], (p->n_units - when) * sizeof *p->unit);
  memcpy(&p->unit[when], r->unit, r->n * sizeof *p->unit);
  p->n_units += r->n;
  for (uint32_t k = 0; k < r->n; k++) {
    struct unit *u = &p->unit[when + k];
    value = (r4_id){p->g->size + 1 + p->n_clones};
    p->clone[p->n_clones++] = r->of[k];
    *(u->kind == UNIT_TILE ? u->roots : &u->final) = value;
    for (uint32_t j = k + 1; j < r->n; j++) replace(&p->unit[when + j], r->of[k], value);
  }
  for (uint32_t k = when + r->n; k < p->n_units; k++) replace(&p->unit[k], x, value);
}

/* Rather a larger value than a smaller one, rather without products than with them. */
static bool is_better(const struct scan *s, r4_id x, const struct recipe *r, r4_id than,
                      const struct recipe *best)
{
  size_t a = scan_bytes(s, x), b = than.i ? scan_bytes(s, than) : 0;
  return a > b || (a == b && r->flops < best->flops);
}

/* Computes the best value of the peak again; *done if there is none. */
static r4_status one_round(struct scan *s, bool *done, r4_error *e)
{
  struct recipe best = {0};
  r4_id chosen = R4_NONE;
  uint32_t when = 0;
  r4_status status = R4_OK;
  for (uint32_t i = 1; i <= s->p->g->size && !status; i++) {
    r4_id x = {i};
    size_t bytes = scan_bytes(s, x);
    uint32_t use = bytes >= s->bytes[s->peak] / LARGE ? next_use(s, x) : 0;
    if (!use || (chosen.i && bytes < scan_bytes(s, chosen))) continue;
    struct recipe r;
    status = recipe_make(s, x, use, FLOPS_PER_BYTE * (double)bytes, &r, e);
    bool better = r.n && is_better(s, x, &r, chosen, &best);
    recipe_free(better ? &best : &r);
    if (better) best = r, chosen = x, when = use;
  }
  *done = !chosen.i;
  if (status) {
    recipe_free(&best);
  } else if (chosen.i) {
    insert(s->p, chosen, when, &best);
    for (uint32_t k = 0; k < best.n; k++) s->spend -= unit_cost(s, &s->p->unit[when + k]);
  }
  return status;
}

static r4_status rounds(struct scan *s, r4_error *e)
{
  r4_status status = R4_OK;
  for (uint32_t k = 0; k < s->p->n_units; k++) s->spend += SHARE * unit_cost(s, &s->p->unit[k]);
  for (bool done = false;
       !status && !done && (s->p->keep_asked || s->spend > 0) && s->p->n_clones + MAX_STEPS <= MAX_CLONES;) {
    find_lives(s);
    find_peak(s);
    if (s->bytes[s->peak] <= s->p->keep_bytes) return R4_OK;
    status = one_round(s, &done, e);
  }
  return status;
}

r4_status compute_again(r4_plan *p, size_t n, const r4_id *out, r4_error *e)
{
  struct scan s = {.p = p,
                   .n = n,
                   .out = out,
                   .life = mem_new(plan_values(p) + MAX_CLONES, sizeof *s.life, "a plan", e),
                   .bytes = mem_new(p->n_units + MAX_CLONES + 1, sizeof *s.bytes, "a plan", e),
                   .memory = mem_new(p->g->size + 1, sizeof *s.memory, "a plan", e)};
  bool memory = s.life && s.bytes && s.memory;
  r4_status status = memory ? rounds(&s, e) : R4_E_MEMORY;
  r4_mem_free(s.life);
  r4_mem_free(s.bytes);
  r4_mem_free(s.memory);
  return status;
}
