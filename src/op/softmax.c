/* softmax and logsumexp over the last axis. */
#include <math.h>

#include "op/functional.h"

static bool last_axis_shape(struct infer *s)
{
  if (s->in[0].rank < 1) return infer_fail(s, "needs at least one axis");
  s->out = s->in[0];
  return true;
}

static bool logsumexp_shape(struct infer *s)
{
  if (!last_axis_shape(s)) return false;
  s->out.rank--;
  return true;
}

static unsigned last_axis(r4_shape s)
{
  return R4_AXIS(s.rank - 1);
}

/* y = softmax(x):  dx = y (dy - sum y dy) */
static void softmax_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  r4_shape shape = r4_node_shape(g, y);
  r4_id mean = r4_sum(g, r4_mul(g, y, dy), last_axis(shape));
  dx[0] = r4_mul(g, y, r4_sub(g, dy, op_unreduce(g, mean, shape, last_axis(shape))));
}

static void logsumexp_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  r4_id x = graph_arg(g, y, 0);
  r4_shape shape = r4_node_shape(g, x);
  dx[0] = r4_mul(g, op_unreduce(g, dy, shape, last_axis(shape)), r4_softmax(g, x));
}

/* softmax with its own entry from one vector and the others from another:
 *     p_i = exp(own_i - logsumexp_j Z_ij),  Z_ij = own_i if i = j, else other_j                  */
static r4_id mixed_softmax(r4_graph *g, r4_id own, r4_id other)
{
  r4_shape s = r4_node_shape(g, own), column = s, row = s, square = s;
  if (s.rank < 1) return R4_NONE; /* the graph has failed */
  if (s.rank == R4_MAX_RANK)
    return r4_graph_fail(g, R4_E_SHAPE, "softmax: bounds need a rank below %d", R4_MAX_RANK);
  int64_t n = s.dim[s.rank - 1];
  column.rank = row.rank = square.rank = s.rank + 1;
  column.dim[s.rank] = 1;
  row.dim[s.rank - 1] = 1;
  row.dim[s.rank] = square.dim[s.rank] = n;
  r4_id same = r4_equal(g, r4_iota(g, 0, R4_SHAPE(n, n)), r4_iota(g, 1, R4_SHAPE(n, n)));
  r4_id z = r4_select(g, same, r4_reshape(g, own, column), r4_reshape(g, other, row));
  return r4_exp(g, r4_sub(g, own, r4_logsumexp(g, r4_broadcast(g, z, square))));
}

/* smallest where its own logit is low and the others are high, and the reverse */
static struct interval softmax_bound(r4_graph *g, r4_id y, struct interval *x)
{
  (void)y;
  r4_id lo = iv_lo(g, x[0]), hi = iv_hi(g, x[0]);
  return iv_ends(mixed_softmax(g, lo, hi), mixed_softmax(g, hi, lo));
}

/* log sum_j exp(x_j) = M + log sum_j exp(x_j - M),  M = max_j x_j */
static double row_logsumexp(const double *x, int64_t n)
{
  double largest = -INFINITY, sum = 0;
  for (int64_t k = 0; k < n; k++) largest = x[k] > largest || isnan(x[k]) ? x[k] : largest;
  if (isinf(largest)) return largest;
  for (int64_t k = 0; k < n; k++) sum += exp(x[k] - largest);
  return largest + log(sum);
}

static r4_status logsumexp_kernel(const struct call *c)
{
  int64_t n = c->in_shape[0].dim[c->in_shape[0].rank - 1], rows = r4_shape_count(c->shape);
  for (int64_t k = 0; k < rows; k++) c->out[k] = row_logsumexp(c->in[0] + k * n, n);
  return R4_OK;
}

static r4_status softmax_kernel(const struct call *c)
{
  int64_t n = c->shape.dim[c->shape.rank - 1], rows = r4_shape_count(c->shape) / n;
  for (int64_t k = 0; k < rows; k++) {
    double lse = row_logsumexp(c->in[0] + k * n, n);
    for (int64_t j = 0; j < n; j++) c->out[k * n + j] = exp(c->in[0][k * n + j] - lse);
  }
  return R4_OK;
}

/* clang-format off */
#define LOG2 0.69314718055994530942
#define LOG3 1.09861228866810969140

const struct op op_softmax = {
  .name = "softmax",
  .arity = 1,
  .kind = OP_DENSE,
  .nonneg = true,
  .shape = last_axis_shape,
  .vjp = softmax_vjp,
  .bound = softmax_bound,
  .kernel = softmax_kernel,
  SOUND(softmax, UNKNOWN),
  SAMPLES({.in = {{2, {2, 3}}}, .x = {VALUES(0, LOG2, LOG3, 900, 900, 900 + LOG2)},
           .y = VALUES(1. / 6, 2. / 6, 3. / 6, .25, .25, .5)},
          {.in = {{2, {3, 5}}}}, {.in = {{3, {2, 2, 3}}}}, {.in = {{2, {2, 70}}}}, {.in = {{2, {70, 2}}}}),
};

const struct op op_logsumexp = {
  .name = "logsumexp",
  .arity = 1,
  .kind = OP_DENSE,
  .shape = logsumexp_shape,
  .vjp = logsumexp_vjp,
  .bound = op_monotone,
  .linear = lin_logsumexp,
  .kernel = logsumexp_kernel,
  SOUND(logsumexp, UNKNOWN),
  SAMPLES({.in = {{2, {2, 3}}}, .x = {VALUES(0, LOG2, LOG3, 900, 900, 900 + LOG2)},
           .y = VALUES(LOG2 + LOG3, 900 + 2 * LOG2)},
          {.in = {{2, {3, 5}}}}, {.in = {{3, {2, 2, 3}}}}, {.in = {{2, {2, 70}}}}, {.in = {{2, {70, 2}}}}),
};
/* clang-format on */

r4_id r4_softmax(r4_graph *g, r4_id x)
{
  return graph_add(g, &op_softmax, 1, &x, NULL, NULL, NULL);
}

r4_id r4_logsumexp(r4_graph *g, r4_id x)
{
  return graph_add(g, &op_logsumexp, 1, &x, NULL, NULL, NULL);
}
