#include "pass/simplify.h"

#include <string.h>

#include "base/mem.h"
#include "op/op_rules.h"

enum { DEEPEST = 500 }; /* rules that lead on and on end here, with an equal node: the stack is finite */

struct simplifier {
  r4_graph *g;    /* the new graph */
  r4_id *settled; /* of a node of the new graph: its simplest equal node, or R4_NONE if not known */
  uint32_t capacity, depth;
};

static bool reserve(struct simplifier *s)
{
  if (s->g->size < s->capacity) return true;
  uint32_t capacity = 2 * s->g->size + 64;
  r4_id *settled = r4_mem_grow(s->settled, capacity, sizeof *settled);
  if (!settled) {
    r4_graph_fail(s->g, R4_E_MEMORY, "simplify: out of memory");
    return false;
  }
  memset(settled + s->capacity, 0, (capacity - s->capacity) * sizeof *settled);
  s->settled = settled;
  s->capacity = capacity;
  return true;
}

static r4_id settle(struct simplifier *s, r4_id y);

/* The simplest node that is equal to y. A rule may build several nodes: they settle in turn. */
static r4_id settle_anew(struct simplifier *s, r4_id y)
{
  r4_id args[MAX_ARITY], x = y;
  uint32_t arity = graph_node(s->g, y)->arity;
  bool changed = false;
  for (uint32_t k = 0; k < arity; k++) {
    r4_id old = graph_arg(s->g, y, k);
    args[k] = settle(s, old);
    changed |= args[k].i != old.i;
  }
  if (changed) x = graph_again(s->g, y, args);
  if (changed && x.i != y.i) {
    x = settle(s, x);
  } else if (!s->g->error.status) {
    const struct op *op = graph_node(s->g, x)->op;
    r4_id simpler = op->simplify ? op->simplify(s->g, x) : R4_NONE;
    if (simpler.i && simpler.i != x.i) x = settle(s, simpler);
  }
  if (s->g->error.status || !reserve(s)) return R4_NONE;
  s->settled[y.i] = x;
  if (x.i) s->settled[x.i] = x;
  return x;
}

static r4_id settle(struct simplifier *s, r4_id y)
{
  if (!y.i || s->g->error.status || !reserve(s)) return R4_NONE;
  if (s->settled[y.i].i) return s->settled[y.i];
  if (s->depth == DEEPEST) return y;
  s->depth++;
  r4_id x = settle_anew(s, y);
  s->depth--;
  return x;
}

/* passed[z] = f for a live f(z), if a live node is an operation "through" f on z: step(z) = step(relu(z)). Where f(z)
 * exists anyway, z itself need not be kept. */
static const struct op **find_passed(const r4_graph *g, const bool *live)
{
  const struct op **wanted = r4_mem_new(g->size + 1, sizeof *wanted), **passed = NULL;
  if (wanted) passed = r4_mem_new(g->size + 1, sizeof *passed);
  for (uint32_t i = 1; passed && i <= g->size; i++)
    if (live[i] && g->node[i].op->through) wanted[g->arg[g->node[i].first].i] = g->node[i].op->through;
  for (uint32_t i = 1; passed && i <= g->size; i++) {
    const struct node *n = &g->node[i];
    if (live[i] && n->arity == 1 && wanted[g->arg[n->first].i] == n->op) passed[g->arg[n->first].i] = n->op;
  }
  r4_mem_free(wanted);
  return passed;
}

static r4_id copy_node(struct simplifier *s, const r4_graph *g, uint32_t i, const r4_id *map,
                       const struct op *const *passed)
{
  const struct node *n = &g->node[i];
  r4_id args[MAX_ARITY];
  for (uint32_t k = 0; k < n->arity; k++) args[k] = map[g->arg[n->first + k].i];
  if (n->op->through && passed[g->arg[n->first].i] == n->op->through)
    args[0] = graph_add(s->g, n->op->through, 1, args, NULL, NULL, NULL);
  r4_id y = graph_add(s->g, n->op, n->arity, args, &n->attr, &n->shape, n->name ? g->names + n->name : NULL);
  return settle(s, y);
}

r4_graph *simplify(const r4_graph *g, size_t n, const r4_id *out, r4_id *new_out, r4_error *e)
{
  struct simplifier s = {.g = r4_graph_new()};
  bool *live = NULL;
  const struct op **passed = NULL;
  r4_id *map = r4_mem_new(g->size + 1, sizeof *map);
  r4_status status = R4_E_MEMORY;
  if (!s.g || !map || !graph_live(g, n, out, &live) || !(passed = find_passed(g, live))) {
    r4_fail(e, R4_E_MEMORY, "simplify: out of memory");
    goto done;
  }
  for (uint32_t i = 1; i <= g->size && !s.g->error.status; i++)
    if (live[i]) map[i] = copy_node(&s, g, i, map, passed);
  status = s.g->error.status;
  if (status) r4_fail(e, status, "%s", s.g->error.text);
  for (size_t k = 0; k < n && !status; k++) new_out[k] = map[out[k].i];
done:
  r4_mem_free(s.settled);
  r4_mem_free(live);
  r4_mem_free(passed);
  r4_mem_free(map);
  if (!status) return s.g;
  r4_graph_free(s.g);
  return NULL;
}
