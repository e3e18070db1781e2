/* Verifies the invariants of a graph: what every pass relies on and none may break. */
#include <string.h>

#include "graph/op.h"

static r4_status bad(r4_error *e, uint32_t i, const char *what)
{
  return r4_fail(e, R4_E_INTERNAL, "node %u: %s", i, what);
}

static bool same(const r4_graph *g, uint32_t i, uint32_t j)
{
  const struct node *a = &g->node[i], *b = &g->node[j];
  return a->op == b->op && a->arity == b->arity && r4_shape_equal(a->shape, b->shape) && a->name == b->name &&
         !memcmp(&a->attr, &b->attr, sizeof a->attr) &&
         !memcmp(g->arg + a->first, g->arg + b->first, a->arity * sizeof *g->arg);
}

/* The shape rule, asked again, must give the same shape. */
static bool shape_holds(const r4_graph *g, uint32_t i)
{
  const struct node *n = &g->node[i];
  r4_graph scratch = {0}; /* takes the message of a failing rule */
  struct infer s = {.op = n->op, .n = n->arity, .attr = &n->attr, .want = &n->shape, .g = &scratch};
  for (uint32_t k = 0; k < n->arity; k++) s.in[k] = g->node[g->arg[n->first + k].i].shape;
  return n->op->shape(&s) && r4_shape_equal(s.out, n->shape);
}

static r4_status check_node(const r4_graph *g, uint32_t i, r4_error *e)
{
  const struct node *n = &g->node[i];
  if (!n->op) return bad(e, i, "no operation");
  if (n->op->arity >= 0 && n->arity != (uint32_t)n->op->arity) return bad(e, i, "wrong number of arguments");
  if (n->first + n->arity > g->args) return bad(e, i, "arguments outside of the list");
  for (uint32_t k = 0; k < n->arity; k++) {
    uint32_t a = g->arg[n->first + k].i;
    if (!a || a >= i) return bad(e, i, "an argument does not come before the node");
  }
  if (!shape_valid(n->shape)) return bad(e, i, "an invalid shape");
  if (!shape_holds(g, i)) return bad(e, i, "the shape is not what the operation's rule gives");
  if (n->name >= g->name_bytes) return bad(e, i, "a name outside of the list");
  bool found = false;
  for (uint32_t j = g->bucket[n->hash & (g->buckets - 1)]; j; j = g->node[j].next) {
    found |= j == i;
    if (j != i && same(g, i, j)) return bad(e, i, "stored twice");
  }
  return found ? R4_OK : bad(e, i, "missing in the hash table");
}

r4_status graph_check(const r4_graph *g, r4_error *e)
{
  r4_error_clear(e);
  if (g->error.status) return r4_fail(e, g->error.status, "%s", g->error.text);
  for (uint32_t i = 1; i <= g->size; i++) {
    r4_status s = check_node(g, i, e);
    if (s) return s;
  }
  return R4_OK;
}
