/* matmul: the product over the last two axes, each operand transposed first if asked
 * (attr.i[0] for A, attr.i[1] for B). Leading axes are a batch and must be equal. */
#include <string.h>

#include "op/functional.h"

static bool matmul_shape(struct infer *s)
{
  r4_shape a = s->in[0], b = s->in[1];
  bool ta = s->attr->i[0], tb = s->attr->i[1];
  int r = a.rank;
  if (r < 2 || b.rank != r) return infer_fail(s, "needs two operands of equal rank, at least 2");
  for (int k = 0; k < r - 2; k++)
    if (a.dim[k] != b.dim[k]) return infer_fail(s, "batch axis %d differs", k);
  int64_t inner_a = a.dim[ta ? r - 2 : r - 1], inner_b = b.dim[tb ? r - 1 : r - 2];
  if (inner_a != inner_b)
    return infer_fail(s, "inner dimensions %lld and %lld differ", (long long)inner_a, (long long)inner_b);
  s->out = a;
  s->out.dim[r - 2] = a.dim[ta ? r - 1 : r - 2];
  s->out.dim[r - 1] = b.dim[tb ? r - 2 : r - 1];
  return true;
}

/* Y = A B:  dA = dY B^T,  dB = A^T dY;  for A^T and B^T the results are transposed by taking the
 * factors in the other order: (X Y)^T = Y^T X^T. */
static void matmul_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  r4_id a = graph_arg(g, y, 0), b = graph_arg(g, y, 1);
  bool ta = graph_node(g, y)->attr.i[0], tb = graph_node(g, y)->attr.i[1];
  dx[0] = ta ? r4_matmul(g, b, dy, tb, true) : r4_matmul(g, dy, b, false, !tb);
  dx[1] = tb ? r4_matmul(g, dy, a, true, ta) : r4_matmul(g, a, dy, !ta, false);
}

/* ---- Simplification ---- */

static bool is_swap(const r4_graph *g, r4_id x)
{
  if (!graph_is(g, x, &op_transpose)) return false;
  const struct node *n = graph_node(g, x);
  int r = n->shape.rank;
  for (int k = 0; k < r - 2; k++)
    if (n->attr.i[k] != k) return false;
  return n->attr.i[r - 2] == r - 1;
}

/* A matrix with few non-zero rows or columns. */
static bool is_sparse(const r4_graph *g, r4_id x)
{
  if (!graph_is(g, x, &op_scatter_add) || r4_node_shape(g, x).rank != 2) return false;
  return r4_node_shape(g, graph_arg(g, x, 1)).dim[0] <= graph_node(g, x)->attr.i[1];
}

static bool has_sparse_term(const r4_graph *g, r4_id x, int depth)
{
  if (!graph_is(g, x, &op_add)) return is_sparse(g, x);
  return depth && (has_sparse_term(g, graph_arg(g, x, 0), depth - 1) ||
                   has_sparse_term(g, graph_arg(g, x, 1), depth - 1));
}

/* f(operand k of y replaced by x) */
static r4_id with_operand(r4_graph *g, r4_id y, size_t k, r4_id x)
{
  bool ta = graph_node(g, y)->attr.i[0], tb = graph_node(g, y)->attr.i[1];
  r4_id other = graph_arg(g, y, 1 - k);
  return k == 0 ? r4_matmul(g, x, other, ta, tb) : r4_matmul(g, other, x, ta, tb);
}

/* (scatter d) B along the inner axis is d (gather B); along an outer axis it is scatter(d B). */
static r4_id scatter_product(r4_graph *g, r4_id y, size_t k, r4_id scatter)
{
  const struct node *n = graph_node(g, y), *s = graph_node(g, scatter);
  bool transposed = n->attr.i[k], inner_is_last = (k == 0) != transposed;
  int axis = (int)s->attr.i[0];
  int64_t size = s->attr.i[1];
  r4_id d = graph_arg(g, scatter, 0), index = graph_arg(g, scatter, 1);
  if (axis != (inner_is_last ? 1 : 0))
    return r4_scatter_add(g, with_operand(g, y, k, d), index, (int)k, size);
  bool ta = n->attr.i[0], tb = n->attr.i[1];
  int other_axis = k == 0 ? tb : !ta; /* the inner axis of the other operand */
  r4_id few = r4_gather(g, graph_arg(g, y, 1 - k), index, other_axis);
  return k == 0 ? r4_matmul(g, d, few, ta, tb) : r4_matmul(g, few, d, ta, tb);
}

/* Products with few non-zero rows or columns become small products; (x + P d) W = x W + d W[U]. */
static r4_id matmul_simplify(r4_graph *g, r4_id y)
{
  enum { DEPTH = 8 }; /* of sums: a search through shared ones takes 2^depth steps */
  for (size_t k = 0; k < 2; k++) {
    r4_id x = graph_arg(g, y, k);
    if (op_is_value(g, x, 0)) return r4_const(g, 0, r4_node_shape(g, y));
    if (is_swap(g, x)) {
      bool ta = graph_node(g, y)->attr.i[0], tb = graph_node(g, y)->attr.i[1];
      r4_id plain = graph_arg(g, x, 0);
      return k == 0 ? r4_matmul(g, plain, graph_arg(g, y, 1), !ta, tb)
                    : r4_matmul(g, graph_arg(g, y, 0), plain, ta, !tb);
    }
    if (is_sparse(g, x)) return scatter_product(g, y, k, x);
    if (graph_is(g, x, &op_add) && has_sparse_term(g, x, DEPTH)) {
      r4_id p = graph_arg(g, x, 0), q = graph_arg(g, x, 1);
      return r4_add(g, with_operand(g, y, k, p), with_operand(g, y, k, q));
    }
  }
  return R4_NONE;
}

/* ---- Kernel ---- */

static double matmul_flops(const r4_shape *in, r4_shape out, const struct attr *attr)
{
  int r = in[0].rank;
  return 2. * (double)r4_shape_count(out) * (double)in[0].dim[attr->i[0] ? r - 2 : r - 1];
}

static double matmul_terms(const r4_shape *in, r4_shape out, const struct attr *attr)
{
  return matmul_flops(in, out, attr) / (2 * (double)r4_shape_count(out));
}

/* C[i,j] = sum_k A[i,k] B[k,j], with the strides of both operands chosen by the flags */
static r4_status matmul_kernel(const struct call *c)
{
  int r = c->shape.rank;
  int64_t m = c->shape.dim[r - 2], n = c->shape.dim[r - 1];
  int64_t inner = c->in_shape[0].dim[c->attr->i[0] ? r - 2 : r - 1],
          batch = r4_shape_count(c->shape) / (m * n);
  int64_t ai = c->attr->i[0] ? 1 : inner, ak = c->attr->i[0] ? m : 1;
  int64_t bk = c->attr->i[1] ? 1 : n, bj = c->attr->i[1] ? inner : 1;
  memset(c->out, 0, (size_t)r4_shape_count(c->shape) * sizeof *c->out);
  for (int64_t p = 0; p < batch; p++) {
    const double *a = c->in[0] + p * m * inner, *b = c->in[1] + p * inner * n;
    double *out = c->out + p * m * n;
    for (int64_t i = 0; i < m; i++)
      for (int64_t k = 0; k < inner; k++)
        for (int64_t j = 0; j < n; j++) out[i * n + j] += a[i * ai + k * ak] * b[k * bk + j * bj];
  }
  return R4_OK;
}

/* clang-format off */
#define A23 VALUES(1, 2, 3, 4, 5, 6)
#define B32 VALUES(1, -1, 2, 0, 0, 3)
#define B23 VALUES(1, 2, 0, -1, 0, 3)
#define AB VALUES(5, 8, 14, 14)

const struct op op_matmul = {
  .name = "matmul",
  .arity = 2,
  .kind = OP_DENSE,
  .takes_bias = true,
  .takes_sum = true,
  .keeps_sign = EVERY_ARG,
  .fields = (const struct attr_field[]){{"transpose", 0, 2}, {0}},
  .shape = matmul_shape,
  .vjp = matmul_vjp,
  .bound = op_bilinear,
  .linear = lin_product,
  .simplify = matmul_simplify,
  .flops = matmul_flops,
  .kernel = matmul_kernel,
  SOUND(matmul, OWN),
  .terms = matmul_terms,
  SAMPLES({.in = {{2, {2, 3}}, {2, {3, 2}}}, .x = {A23, B32}, .y = AB},
          {.in = {{2, {2, 3}}, {2, {2, 3}}}, .attr = {.i = {0, 1}}, .x = {A23, B23}, .y = AB},
          {.in = {{2, {3, 2}}, {2, {3, 2}}}, .attr = {.i = {1, 0}}, .x = {VALUES(1, 4, 2, 5, 3, 6), B32}, .y = AB},
          {.in = {{2, {3, 4}}, {2, {5, 3}}}, .attr = {.i = {1, 1}}}, {.in = {{2, {1, 6}}, {2, {6, 1}}}},
          {.in = {{3, {2, 3, 4}}, {3, {2, 4, 5}}}}, {.in = {{3, {2, 4, 3}}, {3, {2, 5, 4}}}, .attr = {.i = {1, 1}}},
          {.in = {{4, {2, 2, 3, 4}}, {4, {2, 2, 5, 4}}}, .attr = {.i = {0, 1}}}),
};
/* clang-format on */

r4_id r4_matmul(r4_graph *g, r4_id a, r4_id b, bool transpose_a, bool transpose_b)
{
  struct attr attr = {.i = {transpose_a, transpose_b}};
  return graph_add(g, &op_matmul, 2, (r4_id[]){a, b}, &attr, NULL, NULL);
}
