/* gather and scatter_add along axis attr.i[0], each the transpose of the other, and one_hot.
 * The size of scatter_add's result along the axis is attr.i[1]. */
#include <math.h>
#include <string.h>

#include "op/functional.h"

static bool check_axis(struct infer *s)
{
  int64_t axis = s->attr->i[0];
  if (axis < 0 || axis >= s->in[0].rank)
    return infer_fail(s, "axis %lld of rank %d", (long long)axis, s->in[0].rank);
  return s->in[1].rank == 1 || infer_fail(s, "the index needs rank 1");
}

static bool gather_shape(struct infer *s)
{
  if (!check_axis(s)) return false;
  s->out = s->in[0];
  s->out.dim[s->attr->i[0]] = s->in[1].dim[0];
  return true;
}

static bool scatter_shape(struct infer *s)
{
  if (!check_axis(s)) return false;
  int64_t axis = s->attr->i[0];
  if (s->in[0].dim[axis] != s->in[1].dim[0])
    return infer_fail(s, "axis %lld and the index differ", (long long)axis);
  if (s->attr->i[1] < 1) return infer_fail(s, "size %lld", (long long)s->attr->i[1]);
  s->out = s->in[0];
  s->out.dim[axis] = s->attr->i[1];
  return true;
}

static int axis_of(const r4_graph *g, r4_id y)
{
  return (int)graph_node(g, y)->attr.i[0];
}

static void gather_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  r4_shape in = r4_node_shape(g, graph_arg(g, y, 0));
  dx[0] = r4_scatter_add(g, dy, graph_arg(g, y, 1), axis_of(g, y), in.dim[axis_of(g, y)]);
}

static void scatter_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  dx[0] = r4_gather(g, dy, graph_arg(g, y, 1), axis_of(g, y));
}

static bool along_rows(struct functional *f)
{
  return axis_of(f->g, f->y) != 0 && lin_transpose(f);
}

/* A gather of few rows or columns moves before the work: into the operand of a product that they
 * come from, and below element-wise operations. */
static r4_id gather_simplify(r4_graph *g, r4_id y)
{
  r4_id x = graph_arg(g, y, 0), index = graph_arg(g, y, 1);
  const struct node *n = graph_node(g, x);
  int axis = axis_of(g, y);
  double value;
  if (op_value(g, x, &value)) return r4_const(g, value, r4_node_shape(g, y));
  if (r4_shape_count(r4_node_shape(g, y)) > r4_shape_count(n->shape)) return R4_NONE; /* more, not fewer */
  if (n->op == &op_matmul && n->shape.rank == 2) {
    r4_id a = graph_arg(g, x, 0), b = graph_arg(g, x, 1);
    bool ta = n->attr.i[0], tb = n->attr.i[1];
    if (axis == 0) return r4_matmul(g, r4_gather(g, a, index, ta), b, ta, tb);
    return r4_matmul(g, a, r4_gather(g, b, index, !tb), ta, tb);
  }
  if (n->op->kind == OP_ELEMENT) {
    r4_id args[3];
    size_t arity = n->arity;
    const struct op *op = n->op;
    for (size_t k = 0; k < arity; k++) args[k] = r4_gather(g, graph_arg(g, x, k), index, axis);
    return graph_add(g, op, arity, args, NULL, NULL, NULL);
  }
  return R4_NONE;
}

static r4_id scatter_simplify(r4_graph *g, r4_id y)
{
  return op_is_value(g, graph_arg(g, y, 0), 0) ? r4_const(g, 0, r4_node_shape(g, y)) : R4_NONE;
}

/* x seen as [outer, size along the axis, inner] */
static void around(r4_shape s, int64_t axis, int64_t *outer, int64_t *inner)
{
  *outer = *inner = 1;
  for (int64_t k = 0; k < axis; k++) *outer *= s.dim[k];
  for (int64_t k = axis + 1; k < s.rank; k++) *inner *= s.dim[k];
}

static r4_status check_index(const struct call *c, int64_t size)
{
  for (int64_t k = 0; k < c->in_shape[1].dim[0]; k++) {
    double v = c->in[1][k];
    if (!(v >= 0 && v < (double)size && v == floor(v)))
      return r4_fail(c->error, R4_E_DOMAIN, "index %g at position %lld is not a whole number in 0 .. %lld", v,
                     (long long)k, (long long)size - 1);
  }
  return R4_OK;
}

static r4_status gather_kernel(const struct call *c)
{
  int64_t axis = c->attr->i[0], outer, inner, size = c->in_shape[0].dim[axis], n = c->in_shape[1].dim[0];
  around(c->shape, axis, &outer, &inner);
  r4_status s = check_index(c, size);
  for (int64_t o = 0; !s && o < outer; o++)
    for (int64_t k = 0; k < n; k++)
      memcpy(c->out + (o * n + k) * inner, c->in[0] + (o * size + (int64_t)c->in[1][k]) * inner,
             (size_t)inner * sizeof *c->out);
  return s;
}

static r4_status scatter_kernel(const struct call *c)
{
  int64_t axis = c->attr->i[0], outer, inner, size = c->attr->i[1], n = c->in_shape[1].dim[0];
  around(c->shape, axis, &outer, &inner);
  r4_status s = check_index(c, size);
  memset(c->out, 0, (size_t)r4_shape_count(c->shape) * sizeof *c->out);
  for (int64_t o = 0; !s && o < outer; o++)
    for (int64_t k = 0; k < n; k++)
      for (int64_t j = 0; j < inner; j++)
        c->out[(o * size + (int64_t)c->in[1][k]) * inner + j] += c->in[0][(o * n + k) * inner + j];
  return s;
}

/* All may go to one place. */
static double scatter_terms(const r4_shape *in, r4_shape out, const struct attr *attr)
{
  (void)out, (void)attr;
  return (double)in[1].dim[0];
}

/* clang-format off */
#define SIX VALUES(1, 2, 3, 4, 5, 6)

const struct op op_gather = {
  .name = "gather",
  .arity = 2,
  .kind = OP_DENSE,
  .keeps_sign = 1,
  .index_args = 2,
  .fields = (const struct attr_field[]){{"axis", 0, 1}, {0}},
  .shape = gather_shape,
  .vjp = gather_vjp,
  .bound = op_linear,
  .linear = along_rows,
  .simplify = gather_simplify,
  .kernel = gather_kernel,
  SOUND(increasing, EXACT),
  SAMPLES({.in = {{2, {3, 2}}, {1, {4}}}, .x = {SIX, VALUES(2, 0, 2, 1)}, .y = VALUES(5, 6, 1, 2, 5, 6, 3, 4)},
          {.in = {{3, {2, 5, 3}}, {1, {7}}}, .attr = {.i = {1}}, .whole = {0, 5}},
          {.in = {{2, {4, 5}}, {1, {3}}}, .attr = {.i = {1}}, .whole = {0, 5}},
          {.in = {{2, {4, 70}}, {1, {9}}}, .whole = {0, 4}}),
};

const struct op op_scatter_add = {
  .name = "scatter_add",
  .arity = 2,
  .kind = OP_DENSE,
  .takes_sum = true,
  .keeps_sign = 1,
  .index_args = 2,
  .fields = (const struct attr_field[]){{"axis", 0, 1}, {"size", 1, 1}, {0}},
  .shape = scatter_shape,
  .vjp = scatter_vjp,
  .bound = op_linear,
  .linear = along_rows,
  .simplify = scatter_simplify,
  .kernel = scatter_kernel,
  SOUND(sum, OWN),
  .terms = scatter_terms,
  SAMPLES({.in = {{2, {3, 2}}, {1, {3}}}, .attr = {.i = {0, 4}}, .x = {SIX, VALUES(2, 0, 2)},
           .y = VALUES(3, 4, 0, 0, 6, 8, 0, 0)},
          {.in = {{3, {2, 7, 3}}, {1, {7}}}, .attr = {.i = {1, 5}}, .whole = {0, 5}},
          {.in = {{2, {4, 3}}, {1, {3}}}, .attr = {.i = {1, 5}}, .whole = {0, 5}},
          {.in = {{2, {9, 70}}, {1, {9}}}, .attr = {.i = {0, 4}}, .whole = {0, 4}}),
};
/* clang-format on */

r4_id r4_gather(r4_graph *g, r4_id x, r4_id index, int axis)
{
  struct attr attr = {.i = {axis}};
  return graph_add(g, &op_gather, 2, (r4_id[]){x, index}, &attr, NULL, NULL);
}

r4_id r4_scatter_add(r4_graph *g, r4_id x, r4_id index, int axis, int64_t size)
{
  struct attr attr = {.i = {axis, size}};
  return graph_add(g, &op_scatter_add, 2, (r4_id[]){x, index}, &attr, NULL, NULL);
}

/* [.., n]: 1 where the position along the new last axis equals the label */
r4_id r4_one_hot(r4_graph *g, r4_id labels, int64_t n)
{
  r4_shape shape = r4_node_shape(g, labels), column = shape;
  if (shape.rank == R4_MAX_RANK)
    return r4_graph_fail(g, R4_E_SHAPE, "one_hot: the labels have rank %d", shape.rank);
  column.dim[column.rank++] = 1;
  return r4_equal(g, r4_reshape(g, labels, column), r4_iota(g, 0, R4_SHAPE(n)));
}
