/* broadcast reshape transpose. */
#include <string.h>

#include "op/functional.h"

/* ---- broadcast: aligned at the last axis, missing axes and axes of 1 are repeated ---- */

static bool broadcast_shape(struct infer *s)
{
  r4_shape from = s->in[0], to = *s->want;
  char text[SHAPE_TEXT];
  bool fits = from.rank <= to.rank;
  for (int k = 1; fits && k <= from.rank; k++)
    fits = from.dim[from.rank - k] == 1 || from.dim[from.rank - k] == to.dim[to.rank - k];
  if (!fits) return infer_fail(s, "does not broadcast to %s", shape_text(to, text));
  s->out = to;
  return true;
}

/* the axes of the result along which x is repeated */
static unsigned repeated(r4_shape from, r4_shape to)
{
  unsigned axes = 0;
  for (int k = 1; k <= to.rank; k++)
    if (k > from.rank || (from.dim[from.rank - k] == 1 && to.dim[to.rank - k] != 1))
      axes |= R4_AXIS(to.rank - k);
  return axes;
}

static void broadcast_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  r4_shape from = r4_node_shape(g, graph_arg(g, y, 0)), to = r4_node_shape(g, y);
  dx[0] = r4_reshape(g, r4_sum(g, dy, repeated(from, to)), from);
}

static bool broadcast_linear(struct functional *f)
{
  r4_shape from = r4_node_shape(f->g, graph_arg(f->g, f->y, 0));
  return from.rank == r4_node_shape(f->g, f->y).rank && lin_transpose(f);
}

static r4_id broadcast_simplify(r4_graph *g, r4_id y)
{
  r4_id x = graph_arg(g, y, 0);
  r4_shape shape = r4_node_shape(g, y);
  double value;
  if (r4_shape_equal(r4_node_shape(g, x), shape)) return x;
  if (op_value(g, x, &value)) return r4_const(g, value, shape);
  if (graph_is(g, x, &op_broadcast)) return r4_broadcast(g, graph_arg(g, x, 0), shape);
  if (r4_shape_count(r4_node_shape(g, x)) == r4_shape_count(shape)) return r4_reshape(g, x, shape);
  return R4_NONE;
}

static r4_status broadcast_kernel(const struct call *c)
{
  r4_shape from = c->in_shape[0], to = c->shape;
  int64_t in[R4_MAX_RANK], out[R4_MAX_RANK], n = r4_shape_count(to);
  op_strides(from, in);
  op_strides(to, out);
  for (int64_t k = 0; k < n; k++) {
    int64_t at = 0;
    for (int a = 1; a <= from.rank; a++)
      if (from.dim[from.rank - a] != 1) at += k / out[to.rank - a] % to.dim[to.rank - a] * in[from.rank - a];
    c->out[k] = c->in[0][at];
  }
  return R4_OK;
}

/* ---- reshape ---- */

static bool reshape_shape(struct infer *s)
{
  char text[SHAPE_TEXT];
  s->out = *s->want;
  if (r4_shape_count(s->in[0]) == r4_shape_count(s->out)) return true;
  return infer_fail(s, "cannot become %s: the number of elements differs", shape_text(s->out, text));
}

static void reshape_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  dx[0] = r4_reshape(g, dy, r4_node_shape(g, graph_arg(g, y, 0)));
}

static r4_id reshape_simplify(r4_graph *g, r4_id y)
{
  r4_id x = graph_arg(g, y, 0);
  r4_shape shape = r4_node_shape(g, y);
  double value;
  if (r4_shape_equal(r4_node_shape(g, x), shape)) return x;
  if (op_value(g, x, &value)) return r4_const(g, value, shape);
  if (graph_is(g, x, &op_reshape)) return r4_reshape(g, graph_arg(g, x, 0), shape);
  return R4_NONE;
}

static r4_status reshape_kernel(const struct call *c)
{
  memcpy(c->out, c->in[0], (size_t)r4_shape_count(c->shape) * sizeof *c->out);
  return R4_OK;
}

/* ---- transpose: axis k of the result is axis attr.i[k] of x ---- */

static bool transpose_shape(struct infer *s)
{
  unsigned seen = 0;
  s->out.rank = s->in[0].rank;
  for (int k = 0; k < s->in[0].rank; k++) {
    int64_t from = s->attr->i[k];
    if (from < 0 || from >= s->in[0].rank || seen >> from & 1)
      return infer_fail(s, "the axes are not a permutation");
    seen |= 1u << from;
    s->out.dim[k] = s->in[0].dim[from];
  }
  return true;
}

static void transpose_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  int back[R4_MAX_RANK] = {0};
  for (int k = 0; k < r4_node_shape(g, y).rank; k++) back[graph_node(g, y)->attr.i[k]] = k;
  dx[0] = r4_transpose(g, dy, back);
}

static bool transpose_linear(struct functional *f)
{
  return graph_node(f->g, f->y)->attr.i[0] == 0 && lin_transpose(f);
}

static r4_id transpose_simplify(r4_graph *g, r4_id y)
{
  r4_id x = graph_arg(g, y, 0);
  const struct node *n = graph_node(g, y);
  double value;
  bool inner = graph_is(g, x, &op_transpose), same = true;
  int perm[R4_MAX_RANK] = {0};
  for (int k = 0; k < n->shape.rank; k++) {
    perm[k] = (int)(inner ? graph_node(g, x)->attr.i[n->attr.i[k]] : n->attr.i[k]);
    same &= perm[k] == k;
  }
  if (op_value(g, x, &value)) return r4_const(g, value, n->shape);
  if (same) return inner ? graph_arg(g, x, 0) : x;
  return inner ? r4_transpose(g, graph_arg(g, x, 0), perm) : R4_NONE;
}

static r4_status transpose_kernel(const struct call *c)
{
  int64_t in[R4_MAX_RANK], out[R4_MAX_RANK], n = r4_shape_count(c->shape);
  op_strides(c->in_shape[0], in);
  op_strides(c->shape, out);
  for (int64_t k = 0; k < n; k++) {
    int64_t at = 0;
    for (int a = 0; a < c->shape.rank; a++) at += k / out[a] % c->shape.dim[a] * in[c->attr->i[a]];
    c->out[k] = c->in[0][at];
  }
  return R4_OK;
}

/* ---- The operations ---- */
/* clang-format off */

const struct op op_broadcast = {
  .name = "broadcast",
  .arity = 1,
  .kind = OP_SHAPE,
  .keeps_sign = EVERY_ARG,
  .needs_shape = true,
  .shape = broadcast_shape,
  .vjp = broadcast_vjp,
  .bound = op_linear,
  .linear = broadcast_linear,
  .simplify = broadcast_simplify,
  .kernel = broadcast_kernel,
  SOUND(increasing, EXACT),
  SAMPLES({.in = {{1, {2}}}, .shape = {2, {3, 2}}, .x = {VALUES(1, 2)}, .y = VALUES(1, 2, 1, 2, 1, 2)},
          {.in = {{2, {2, 1}}}, .shape = {2, {2, 3}}, .x = {VALUES(1, 2)}, .y = VALUES(1, 1, 1, 2, 2, 2)},
          {.in = {{3, {2, 1, 3}}}, .shape = {4, {2, 2, 4, 3}}}, {.in = {{0, {0}}}, .shape = {2, {2, 3}}}),
};

const struct op op_reshape = {
  .name = "reshape",
  .arity = 1,
  .kind = OP_SHAPE,
  .keeps_sign = EVERY_ARG,
  .needs_shape = true,
  .shape = reshape_shape,
  .vjp = reshape_vjp,
  .bound = op_linear,
  .linear = lin_transpose,
  .simplify = reshape_simplify,
  .kernel = reshape_kernel,
  SOUND(increasing, EXACT),
  SAMPLES({.in = {{2, {2, 3}}}, .shape = {2, {3, 2}}, .x = {VALUES(1, 2, 3, 4, 5, 6)},
           .y = VALUES(1, 2, 3, 4, 5, 6)}),
};

const struct op op_transpose = {
  .name = "transpose",
  .arity = 1,
  .kind = OP_SHAPE,
  .keeps_sign = EVERY_ARG,
  .fields = (const struct attr_field[]){{"perm", 0, -1}, {0}},
  .shape = transpose_shape,
  .vjp = transpose_vjp,
  .bound = op_linear,
  .linear = transpose_linear,
  .simplify = transpose_simplify,
  .kernel = transpose_kernel,
  SOUND(increasing, EXACT),
  SAMPLES({.in = {{2, {2, 3}}}, .attr = {.i = {1, 0}}, .x = {VALUES(1, 2, 3, 4, 5, 6)},
           .y = VALUES(1, 4, 2, 5, 3, 6)},
          {.in = {{3, {2, 3, 4}}}, .attr = {.i = {2, 0, 1}}},
          {.in = {{4, {2, 3, 4, 5}}}, .attr = {.i = {0, 2, 1, 3}}}),
};
/* clang-format on */

r4_id r4_broadcast(r4_graph *g, r4_id x, r4_shape shape)
{
  if (x.i && x.i <= r4_graph_size(g) && r4_shape_equal(r4_node_shape(g, x), shape)) return x;
  return graph_add(g, &op_broadcast, 1, &x, NULL, &shape, NULL);
}

r4_id r4_reshape(r4_graph *g, r4_id x, r4_shape shape)
{
  if (x.i && x.i <= r4_graph_size(g) && r4_shape_equal(r4_node_shape(g, x), shape)) return x;
  return graph_add(g, &op_reshape, 1, &x, NULL, &shape, NULL);
}

r4_id r4_transpose(r4_graph *g, r4_id x, const int *perm)
{
  GRAPH_NEEDS(perm || !r4_node_shape(g, x).rank, "a permutation", R4_NONE);
  struct attr attr = {0};
  for (int k = 0; k < r4_node_shape(g, x).rank; k++) attr.i[k] = perm[k];
  return graph_add(g, &op_transpose, 1, &x, &attr, NULL, NULL);
}
