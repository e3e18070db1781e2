/* Reverse-mode derivative: walk down from y, and add up what each use of a node contributes.
 *
 *     cotangent(y) = 1;   cotangent(a) = sum over uses n of a of  vjp_n(cotangent(n))_a
 *
 * Rules emit ordinary nodes, so the result can be differentiated and bounded again. */
#include <string.h>

#include "base/mem.h"
#include "graph/op.h"

struct grad {
  r4_graph *g;
  bool *depends;    /* on one of the inputs */
  r4_id *cotangent; /* R4_NONE is zero      */
};

static void mark_dependent(struct grad *d, r4_id y, size_t n, const r4_id *x)
{
  for (size_t k = 0; k < n; k++)
    if (x[k].i <= y.i) d->depends[x[k].i] = true;
  for (uint32_t i = 1; i <= y.i; i++) {
    const struct node *node = &d->g->node[i];
    for (uint32_t k = 0; k < node->arity; k++)
      if (!op_is_index(node->op, k) && d->depends[d->g->arg[node->first + k].i]) d->depends[i] = true;
  }
}

static bool any_argument_depends(const struct grad *d, r4_id y)
{
  uint32_t arity = graph_node(d->g, y)->arity;
  for (uint32_t k = 0; k < arity; k++)
    if (d->depends[graph_arg(d->g, y, k).i]) return true;
  return false;
}

static void pull_back(struct grad *d, r4_id y)
{
  const struct op *op = graph_node(d->g, y)->op;
  uint32_t arity = graph_node(d->g, y)->arity;
  r4_id dx[MAX_ARITY];
  memset(dx, 0, sizeof dx);
  if (!op->vjp) {
    r4_graph_fail(d->g, R4_E_RULE, "%s has no derivative: %s", op->name,
                  op->no_vjp ? op->no_vjp : "not defined");
    return;
  }
  op->vjp(d->g, y, d->cotangent[y.i], dx);
  for (uint32_t k = 0; k < arity; k++) {
    r4_id a = graph_arg(d->g, y, k), *sum = &d->cotangent[a.i];
    if (!dx[k].i || !d->depends[a.i]) continue;
    *sum = sum->i ? r4_add(d->g, *sum, dx[k]) : dx[k];
  }
}

static bool valid_request(r4_graph *g, r4_id y, size_t n, const r4_id *x)
{
  bool ok = y.i && y.i <= g->size;
  for (size_t k = 0; k < n; k++) ok = ok && x[k].i && x[k].i <= g->size;
  if (!ok)
    r4_graph_fail(g, R4_E_ARGUMENT, "grad: not a node of this graph");
  else if (r4_shape_count(r4_node_shape(g, y)) != 1)
    r4_graph_fail(g, R4_E_SHAPE, "grad: needs a scalar; sum over the axes first");
  return !g->error.status;
}

void r4_grad(r4_graph *g, r4_id y, size_t n, const r4_id *x, r4_id *dx)
{
  struct grad d = {.g = g};
  if (!dx && !graph_given(g, !n, __func__, "room for the result")) return;
  if (!graph_given(g, x || !n, __func__, "nodes") || !valid_request(g, y, n, x)) goto done;
  d.depends = r4_mem_new(y.i + 1, sizeof *d.depends);
  d.cotangent = r4_mem_new(y.i + 1, sizeof *d.cotangent);
  if (!d.depends || !d.cotangent) {
    r4_graph_fail(g, R4_E_MEMORY, "grad: out of memory");
    goto done;
  }
  mark_dependent(&d, y, n, x);
  d.cotangent[y.i] = r4_const(g, 1, r4_node_shape(g, y));
  for (uint32_t i = y.i; i && !g->error.status; i--) {
    r4_id node = {i};
    if (d.cotangent[i].i && d.depends[i] && any_argument_depends(&d, node)) pull_back(&d, node);
  }
  for (size_t k = 0; k < n; k++) {
    bool reached = x[k].i <= y.i && d.cotangent[x[k].i].i;
    dx[k] = reached ? d.cotangent[x[k].i] : r4_const(g, 0, r4_node_shape(g, x[k]));
  }
done:
  for (size_t k = 0; k < n && r4_graph_status(g, NULL); k++) dx[k] = R4_NONE; /* not before: dx may be x */
  r4_mem_free(d.depends);
  r4_mem_free(d.cotangent);
}
