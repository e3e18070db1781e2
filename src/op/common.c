/* Rules and facts that many operations share. */
#include <math.h>

#include "op/op_rules.h"

/* ---- Shapes ---- */

bool op_same_shape(struct infer *s)
{
  for (size_t k = 1; k < s->n; k++)
    if (!r4_shape_equal(s->in[0], s->in[k])) return infer_fail(s, "shapes differ");
  s->out = s->in[0];
  return true;
}

bool op_want_shape(struct infer *s)
{
  s->out = *s->want;
  return true;
}

void op_strides(r4_shape s, int64_t *stride)
{
  int64_t n = 1;
  for (int k = s.rank - 1; k >= 0; k--) {
    stride[k] = n;
    n *= s.dim[k];
  }
}

/* ---- Derivatives ---- */

void op_flat(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  (void)g, (void)y, (void)dy, (void)dx;
}

/* ---- Facts ---- */

bool op_value(const r4_graph *g, r4_id x, double *value)
{
  if (!graph_is(g, x, &op_const)) return false;
  *value = graph_node(g, x)->attr.f;
  return true;
}

bool op_is_value(const r4_graph *g, r4_id x, double value)
{
  double v;
  return op_value(g, x, &v) && v == value;
}

static bool nonneg_within(const r4_graph *g, r4_id x, int depth)
{
  const struct node *n = graph_node(g, x);
  double value;
  if (op_value(g, x, &value)) return value >= 0;
  if (n->op->nonneg) return true;
  if (!depth || !n->op->keeps_sign) return false;
  for (size_t k = 0; k < n->arity; k++)
    if (n->op->keeps_sign >> k & 1 && !nonneg_within(g, graph_arg(g, x, k), depth - 1)) return false;
  return true;
}

bool op_nonneg(const r4_graph *g, r4_id x)
{
  enum { DEPTH = 6 };
  return x.i && nonneg_within(g, x, DEPTH);
}

r4_id op_like(r4_graph *g, r4_id x, double value)
{
  return r4_const(g, value, r4_node_shape(g, x));
}

r4_id op_unreduce(r4_graph *g, r4_id y, r4_shape shape, unsigned axes)
{
  r4_shape kept = shape;
  for (int k = 0; k < shape.rank; k++)
    if (axes >> k & 1) kept.dim[k] = 1;
  return r4_broadcast(g, r4_reshape(g, y, kept), shape);
}

r4_id op_fold(r4_graph *g, r4_id y)
{
  const struct node *n = graph_node(g, y);
  double v[3] = {0}, result;
  if (n->op->kind != OP_ELEMENT) return R4_NONE;
  for (size_t k = 0; k < n->arity; k++)
    if (!op_value(g, graph_arg(g, y, k), &v[k])) return R4_NONE;
  n->op->f64(1, &v[0], &v[1], &v[2], &result);
  return isfinite(result) ? r4_const(g, result, n->shape) : R4_NONE;
}
