/* The order of the units.
 *
 * As the graph was written, if the values then fit in keep_bytes: of the units that are ready, always the one with the
 * smallest key. But where a term of the loss has a pass over the net of its own, all passes down then come before all
 * passes up, and everything waits for everything. So otherwise the best of
 *
 *     by key      as above
 *     by turn     a unit of the gradient comes right behind the last node of the loss that it needs: the gradient of a
 *                 term before the next term begins. Units that free more than they make come at once.
 *     by memory   the unit after which least is alive, whatever comes of it
 *
 * by the peak of what is alive; and then units that make more than they free wait for their first reader. */
#include <string.h>

#include "base/mem.h"
#include "exec/plan.h"
#include "op/op_rules.h"

enum order { BY_KEY, BY_TURN, BY_MEMORY };

struct sorter {
  r4_plan *p;
  bool *done;       /* by node: its value is there */
  bool *foreign;    /* by node: memory of the caller */
  uint32_t *unread; /* by node: units that have still to read it */
  size_t alive, peak;
};

static size_t bytes_of(const struct sorter *s, r4_id x)
{
  return s->foreign[x.i] ? 0 : plan_bytes(s->p, x);
}

static bool ready(const struct sorter *s, const struct unit *u)
{
  for (uint32_t k = 0; k < u->n_in; k++)
    if (!s->done[u->in[k].i]) return false;
  return true;
}

static size_t made_by(const struct sorter *s, const struct unit *u)
{
  if (u->kind == UNIT_DENSE) return u->fused.accumulate.i ? 0 : bytes_of(s, u->final);
  size_t bytes = 0;
  for (uint32_t k = 0; k < u->n_roots; k++) bytes += bytes_of(s, u->roots[k]);
  return bytes;
}

/* What nobody reads after u. A sum in place keeps the memory of what it was added onto. */
static size_t freed_by(const struct sorter *s, const struct unit *u)
{
  size_t bytes = 0;
  for (uint32_t k = 0; k < u->n_in; k++)
    if (s->unread[u->in[k].i] == 1 && u->in[k].i != u->fused.accumulate.i) bytes += bytes_of(s, u->in[k]);
  return bytes;
}

/* Bytes by which less is alive after u than before. */
static double relief(const struct sorter *s, const struct unit *u)
{
  return (double)freed_by(s, u) - (double)made_by(s, u);
}

static bool before(const struct unit *a, const struct unit *b, enum order by)
{
  return by == BY_TURN && a->turn != b->turn ? a->turn < b->turn : a->key < b->key;
}

static uint32_t choose(const struct sorter *s, uint32_t from, enum order by)
{
  const struct unit *unit = s->p->unit;
  uint32_t best = s->p->n_units;
  double most = 0;
  for (uint32_t j = from; j < s->p->n_units; j++) {
    if (!ready(s, &unit[j])) continue;
    double gain = by == BY_KEY ? 0 : relief(s, &unit[j]);
    if (by == BY_TURN) gain = gain > 0;
    bool better = best == s->p->n_units || gain > most || (gain == most && before(&unit[j], &unit[best], by));
    if (better) best = j, most = gain;
  }
  return best;
}

static void finish(struct sorter *s, const struct unit *u)
{
  s->alive += made_by(s, u);
  if (s->alive > s->peak) s->peak = s->alive;
  s->alive -= freed_by(s, u);
  for (uint32_t k = 0; k < u->n_in; k++) s->unread[u->in[k].i]--;
  if (u->kind == UNIT_DENSE) s->done[u->final.i] = true;
  for (uint32_t k = 0; k < u->n_roots; k++) s->done[u->roots[k].i] = true;
}

static void begin(struct sorter *s, size_t n, const r4_id *out)
{
  const r4_plan *p = s->p;
  size_t nodes = p->g->size + 1;
  memset(s->done, 0, nodes * sizeof *s->done);
  memset(s->unread, 0, nodes * sizeof *s->unread);
  s->alive = s->peak = 0;
  for (uint32_t i = 1; i < nodes; i++) s->done[i] = s->foreign[i] = p->g->node[i].op == &op_input;
  for (size_t k = 0; k < n; k++) s->foreign[plan_base(p->g, out[k]).i] = true;
  for (uint32_t k = 0; k < p->n_units; k++)
    for (uint32_t j = 0; j < p->unit[k].n_in; j++) s->unread[p->unit[k].in[j].i]++;
}

/* Of a node of the loss its own number; of any other the largest of those that it is made of. */
static void find_turns(struct sorter *s, r4_id loss)
{
  const r4_graph *g = s->p->g;
  uint32_t *turn = s->unread; /* not in use yet */
  for (uint32_t i = 1; i <= g->size; i++) {
    turn[i] = i <= loss.i ? i : 0;
    for (uint32_t k = 0; i > loss.i && k < g->node[i].arity; k++) {
      uint32_t of = turn[graph_arg(g, (r4_id){i}, k).i];
      if (of > turn[i]) turn[i] = of;
    }
  }
  for (uint32_t k = 0; k < s->p->n_units; k++) {
    struct unit *u = &s->p->unit[k];
    u->turn = u->kind == UNIT_DENSE ? turn[u->final.i] : UINT32_MAX;
    for (uint32_t j = 0; j < u->n_roots; j++)
      if (turn[u->roots[j].i] < u->turn) u->turn = turn[u->roots[j].i];
  }
}

static r4_status sort(struct sorter *s, size_t n, const r4_id *out, enum order by, r4_error *e)
{
  r4_plan *p = s->p;
  if (by == BY_TURN) find_turns(s, out[0]);
  begin(s, n, out);
  for (uint32_t k = 0; k < p->n_units; k++) {
    uint32_t best = choose(s, k, by);
    if (best == p->n_units)
      return r4_fail(e, R4_E_INTERNAL, "plan: %u units wait for each other", p->n_units - k);
    struct unit next = p->unit[best];
    memmove(&p->unit[k + 1], &p->unit[k], (best - k) * sizeof next);
    p->unit[k] = next;
    finish(s, &next);
  }
  return R4_OK;
}

/* ---- Later ---- */

static bool reads(const struct unit *u, r4_id x)
{
  for (uint32_t k = 0; k < u->n_in; k++)
    if (u->in[k].i == x.i) return true;
  return false;
}

static bool reads_any(const struct unit *u, const struct unit *of)
{
  bool any = of->kind == UNIT_DENSE && reads(u, of->final);
  for (uint32_t k = 0; k < of->n_roots && !any; k++) any = reads(u, of->roots[k]);
  return any;
}

/* A unit that makes more than it frees runs just before its first reader. From the last unit to the first, with unread
 * as after all units before it. */
static void delay(struct sorter *s)
{
  r4_plan *p = s->p;
  for (uint32_t k = p->n_units; k-- > 0;) {
    for (uint32_t j = 0; j < p->unit[k].n_in; j++) s->unread[p->unit[k].in[j].i]++;
    if (relief(s, &p->unit[k]) >= 0) continue;
    uint32_t to = k + 1;
    while (to < p->n_units && !reads_any(&p->unit[to], &p->unit[k])) to++;
    if (to == p->n_units || to == k + 1) continue;
    struct unit later = p->unit[k];
    memmove(&p->unit[k], &p->unit[k + 1], (to - 1 - k) * sizeof later);
    p->unit[to - 1] = later;
  }
}

/* Keeps the delays if the peak is lower with them. */
static r4_status try_delays(struct sorter *s, size_t n, const r4_id *out, enum order by, r4_error *e)
{
  size_t before = s->peak;
  delay(s);
  begin(s, n, out);
  for (uint32_t k = 0; k < s->p->n_units; k++) finish(s, &s->p->unit[k]);
  return s->peak < before ? R4_OK : sort(s, n, out, by, e);
}

static r4_status choose_order(struct sorter *s, size_t n, const r4_id *out, r4_error *e)
{
  r4_status status = sort(s, n, out, BY_KEY, e);
  enum order best = BY_KEY;
  size_t least = s->peak;
  if (status || least <= s->p->keep_bytes) return status;
  for (enum order by = BY_TURN; by <= BY_MEMORY && !status; by++) {
    status = sort(s, n, out, by, e);
    if (s->peak < least) best = by, least = s->peak;
  }
  if (!status && best != BY_MEMORY) status = sort(s, n, out, best, e);
  return status ? status : try_delays(s, n, out, best, e);
}

r4_status order_units(r4_plan *p, size_t n, const r4_id *out, r4_error *e)
{
  size_t nodes = p->g->size + 1;
  struct sorter s = {.p = p,
                     .done = mem_new(nodes, sizeof *s.done, "a plan", e),
                     .foreign = mem_new(nodes, sizeof *s.foreign, "a plan", e),
                     .unread = mem_new(nodes, sizeof *s.unread, "a plan", e)};
  bool memory = s.done && s.foreign && s.unread;
  r4_status status = memory ? choose_order(&s, n, out, e) : R4_E_MEMORY;
  r4_mem_free(s.done);
  r4_mem_free(s.foreign);
  r4_mem_free(s.unread);
  return status;
}
