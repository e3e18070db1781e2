/* sum and reduce_max over a set of axes, and mean. Bit k of attr.i[0] stands for axis k. */
#include <math.h>

#include "op/functional.h"

static unsigned axes_of(const r4_graph *g, r4_id y)
{
  return (unsigned)graph_node(g, y)->attr.i[0];
}

static bool reduce_shape(struct infer *s)
{
  if (s->attr->i[0] < 0 || s->attr->i[0] >> s->in[0].rank)
    return infer_fail(s, "axes 0x%llx of rank %d", (unsigned long long)s->attr->i[0], s->in[0].rank);
  s->out.rank = 0;
  for (int k = 0; k < s->in[0].rank; k++)
    if (!(s->attr->i[0] >> k & 1)) s->out.dim[s->out.rank++] = s->in[0].dim[k];
  return true;
}

static void sum_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  dx[0] = op_unreduce(g, dy, r4_node_shape(g, graph_arg(g, y, 0)), axes_of(g, y));
}

/* The largest elements share dy; their number is at least 1, which bounds need to be told. */
static void max_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  r4_id x = graph_arg(g, y, 0);
  r4_shape shape = r4_node_shape(g, x);
  unsigned axes = axes_of(g, y);
  r4_id largest = r4_equal(g, x, op_unreduce(g, y, shape, axes));
  r4_id count = r4_sum(g, largest, axes);
  r4_id share = r4_div(g, dy, r4_max(g, count, op_like(g, count, 1)));
  dx[0] = r4_mul(g, largest, op_unreduce(g, share, shape, axes));
}

static bool sum_linear(struct functional *f)
{
  return !(axes_of(f->g, f->y) & 1) && lin_transpose(f);
}

static r4_id reduce_simplify(r4_graph *g, r4_id y)
{
  r4_id x = graph_arg(g, y, 0);
  r4_shape in = r4_node_shape(g, x), out = r4_node_shape(g, y);
  double value, terms = (double)(r4_shape_count(in) / r4_shape_count(out));
  if (terms == 1) return r4_reshape(g, x, out);
  if (!op_value(g, x, &value)) return R4_NONE;
  if (graph_is(g, y, &op_sum)) value *= terms;
  return isfinite(value) ? r4_const(g, value, out) : R4_NONE;
}

static r4_status reduce(const struct call *c, double start, bool largest)
{
  int64_t in[R4_MAX_RANK], out[R4_MAX_RANK], n = r4_shape_count(c->in_shape[0]), m = r4_shape_count(c->shape);
  op_strides(c->in_shape[0], in);
  op_strides(c->shape, out);
  for (int64_t k = 0; k < m; k++) c->out[k] = start;
  for (int64_t k = 0; k < n; k++) {
    int64_t to = 0;
    for (int a = 0, b = 0; a < c->in_shape[0].rank; a++)
      if (!(c->attr->i[0] >> a & 1)) to += k / in[a] % c->in_shape[0].dim[a] * out[b++];
    double x = c->in[0][k];
    if (!largest) c->out[to] += x;
    if (largest && (x > c->out[to] || x != x)) c->out[to] = x; /* not a number stays */
  }
  return R4_OK;
}

static r4_status sum_kernel(const struct call *c)
{
  return reduce(c, 0, false);
}

static double sum_terms(const r4_shape *in, r4_shape out, const struct attr *attr)
{
  (void)attr;
  return (double)r4_shape_count(in[0]) / (double)r4_shape_count(out);
}

static r4_status max_kernel(const struct call *c)
{
  return reduce(c, -INFINITY, true);
}

/* clang-format off */
#define REDUCE_SAMPLES(Y0, Y1)                                                                      \
  SAMPLES({.in = {{2, {2, 3}}}, .attr = {.i = {1}}, .x = {VALUES(1, 5, 3, 4, 2, 6)}, .y = Y0},      \
          {.in = {{2, {2, 3}}}, .attr = {.i = {2}}, .x = {VALUES(1, 5, 3, 4, 2, 6)}, .y = Y1},      \
          {.in = {{3, {2, 3, 4}}}, .attr = {.i = {2}}}, {.in = {{3, {2, 3, 4}}}, .attr = {.i = {5}}}, \
          {.in = {{3, {2, 3, 4}}}, .attr = {.i = {7}}}, {.in = {{2, {3, 700}}}, .attr = {.i = {2}}},  \
          {.in = {{2, {300, 5}}}, .attr = {.i = {1}}}, {.in = {{2, {23, 70}}}, .attr = {.i = {1}}},   \
          {.in = {{2, {300, 5}}}, .attr = {.i = {1}}, .low = -3, .high = -1})
static const struct attr_field reduce_fields[] = {{"axes", 0, 1}, {0}};

const struct op op_sum = {
  .name = "sum",
  .arity = 1,
  .kind = OP_REDUCE,
  .keeps_sign = EVERY_ARG,
  .fields = reduce_fields,
  .shape = reduce_shape,
  .vjp = sum_vjp,
  .bound = op_linear,
  .linear = sum_linear,
  .simplify = reduce_simplify,
  .kernel = sum_kernel,
  SOUND(sum, OWN),
  .terms = sum_terms,
  REDUCE_SAMPLES(VALUES(5, 7, 9), VALUES(9, 12)),
};

const struct op op_reduce_max = {
  .name = "reduce_max",
  .arity = 1,
  .kind = OP_REDUCE,
  .keeps_sign = EVERY_ARG,
  .fields = reduce_fields,
  .shape = reduce_shape,
  .vjp = max_vjp,
  .bound = op_monotone,
  .linear = lin_reduce_max,
  .simplify = reduce_simplify,
  .kernel = max_kernel,
  SOUND(increasing, EXACT),
  REDUCE_SAMPLES(VALUES(4, 5, 6), VALUES(5, 6)),
};
/* clang-format on */

static r4_id reduce_node(r4_graph *g, const struct op *op, r4_id x, unsigned axes)
{
  unsigned all = (1u << r4_node_shape(g, x).rank) - 1;
  if (axes != R4_ALL && axes & ~all)
    return r4_graph_fail(g, R4_E_SHAPE, "%s: axes 0x%x of rank %d", op->name, axes, r4_node_shape(g, x).rank);
  struct attr attr = {.i = {axes & all}};
  return graph_add(g, op, 1, &x, &attr, NULL, NULL);
}

r4_id r4_sum(r4_graph *g, r4_id x, unsigned axes)
{
  return reduce_node(g, &op_sum, x, axes);
}

r4_id r4_reduce_max(r4_graph *g, r4_id x, unsigned axes)
{
  return reduce_node(g, &op_reduce_max, x, axes);
}

r4_id r4_mean(r4_graph *g, r4_id x, unsigned axes)
{
  r4_id total = r4_sum(g, x, axes);
  double terms =
    (double)r4_shape_count(r4_node_shape(g, x)) / (double)r4_shape_count(r4_node_shape(g, total));
  return r4_scale(g, total, 1 / terms);
}
