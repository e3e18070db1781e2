/* Arithmetic: add sub mul div neg, and scale. */
#include <string.h>

#include "op/element.h"
#include "op/functional.h"

ELEMENT2(add, a + b)
ELEMENT2(sub, a - b)
ELEMENT2(mul, a *b)
ELEMENT2(div, a / b)
ELEMENT1(neg, -a)

/* ---- Derivatives ---- */

static void add_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  (void)g, (void)y;
  dx[0] = dx[1] = dy;
}

static void sub_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  (void)y;
  dx[0] = dy;
  dx[1] = r4_neg(g, dy);
}

static void mul_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  dx[0] = r4_mul(g, dy, graph_arg(g, y, 1));
  dx[1] = r4_mul(g, dy, graph_arg(g, y, 0));
}

/* y = a / b:  da = dy / b,  db = -dy y / b */
static void div_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  r4_id b = graph_arg(g, y, 1);
  dx[0] = r4_div(g, dy, b);
  dx[1] = r4_neg(g, r4_div(g, r4_mul(g, dy, y), b));
}

static void neg_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  (void)y;
  dx[0] = r4_neg(g, dy);
}

/* ---- Intervals ---- */

/* Balls subtract as c - d -+ (r + s), ends as [lo - hi, hi - lo]. */
static struct interval sub_bound(r4_graph *g, r4_id y, struct interval *x)
{
  (void)y;
  bool balls = (iv_point(x[0]) || x[0].radius.i) && (iv_point(x[1]) || x[1].radius.i);
  if (!balls)
    return iv_ends(r4_sub(g, iv_lo(g, x[0]), iv_hi(g, x[1])), r4_sub(g, iv_hi(g, x[0]), iv_lo(g, x[1])));
  r4_id centre = r4_sub(g, x[0].centre, x[1].centre);
  if (iv_point(x[0])) return iv_ball(centre, x[1].radius);
  if (iv_point(x[1])) return iv_ball(centre, x[0].radius);
  return iv_ball(centre, r4_add(g, x[0].radius, x[1].radius));
}

static struct interval mul_bound(r4_graph *g, r4_id y, struct interval *x)
{
  (void)y;
  return iv_mul(g, x[0], x[1]);
}

/* 1 / [lo, hi] = [1 / hi, 1 / lo] if both have one sign, which is checked while running. */
static struct interval div_bound(r4_graph *g, r4_id y, struct interval *x)
{
  (void)y;
  if (iv_point(x[1])) {
    r4_id p = r4_div(g, iv_lo(g, x[0]), x[1].lo), q = r4_div(g, iv_hi(g, x[0]), x[1].lo);
    return op_nonneg(g, x[1].lo) ? iv_ends(p, q) : iv_ends(r4_min(g, p, q), r4_max(g, p, q));
  }
  r4_id lo = iv_lo(g, x[1]), hi = iv_hi(g, x[1]), one = op_like(g, lo, 1);
  r4_id same_sign = r4_mul(g, r4_sign(g, lo), r4_sign(g, hi));
  struct interval inverse =
    iv_ends(r4_div(g, one, r4_check(g, hi, same_sign)), r4_div(g, one, r4_check(g, lo, same_sign)));
  return iv_mul(g, x[0], inverse);
}

static struct interval neg_bound(r4_graph *g, r4_id y, struct interval *x)
{
  (void)y;
  if (x[0].radius.i) return iv_ball(r4_neg(g, x[0].centre), x[0].radius);
  return iv_ends(r4_neg(g, x[0].hi), r4_neg(g, x[0].lo));
}

/* ---- Simplification ---- */

static bool same_scatter(const r4_graph *g, r4_id a, r4_id b)
{
  return graph_is(g, a, &op_scatter_add) && graph_is(g, b, &op_scatter_add) &&
         graph_arg(g, a, 1).i == graph_arg(g, b, 1).i &&
         graph_node(g, a)->attr.i[0] == graph_node(g, b)->attr.i[0];
}

static bool bilinear(const struct op *op)
{
  return op->bound == op_bilinear;
}

/* f(a, c) + f(b, c) = f(a + b, c) for products of the same kind with one operand in common. */
static r4_id merge_products(r4_graph *g, r4_id p, r4_id q)
{
  struct node m = *graph_node(g, p), n = *graph_node(g, q);
  if (m.op != n.op || !bilinear(m.op) || memcmp(&m.attr, &n.attr, sizeof m.attr)) return R4_NONE;
  for (size_t k = 0; k < 2; k++) {
    r4_id common = graph_arg(g, p, k), a = graph_arg(g, p, 1 - k), b = graph_arg(g, q, 1 - k);
    if (common.i != graph_arg(g, q, k).i || !r4_shape_equal(r4_node_shape(g, a), r4_node_shape(g, b)))
      continue;
    r4_id args[2];
    args[k] = common;
    args[1 - k] = r4_add(g, a, b);
    return graph_again(g, p, args);
  }
  return R4_NONE;
}

/* The sum s with the product q merged into one of its terms, or R4_NONE. */
static r4_id merge_into(r4_graph *g, r4_id s, r4_id q, int depth)
{
  if (!graph_is(g, s, &op_add) || !depth) return merge_products(g, s, q);
  for (size_t k = 0; k < 2; k++) {
    r4_id other = graph_arg(g, s, 1 - k), merged = merge_into(g, graph_arg(g, s, k), q, depth - 1);
    if (merged.i) return r4_add(g, merged, other);
  }
  return R4_NONE;
}

static r4_id merge_sum(r4_graph *g, r4_id a, r4_id b)
{
  enum { DEPTH = 8 };
  r4_id merged = bilinear(graph_node(g, b)->op) ? merge_into(g, a, b, DEPTH) : R4_NONE;
  if (!merged.i && bilinear(graph_node(g, a)->op)) merged = merge_into(g, b, a, DEPTH);
  return merged;
}

static r4_id add_simplify(r4_graph *g, r4_id y)
{
  r4_id a = graph_arg(g, y, 0), b = graph_arg(g, y, 1);
  if (op_is_value(g, a, 0)) return b;
  if (op_is_value(g, b, 0)) return a;
  if (graph_is(g, b, &op_neg)) return r4_sub(g, a, graph_arg(g, b, 0));
  if (same_scatter(g, a, b)) {
    r4_id sum = r4_add(g, graph_arg(g, a, 0), graph_arg(g, b, 0));
    return r4_scatter_add(g, sum, graph_arg(g, a, 1), (int)graph_node(g, a)->attr.i[0],
                          graph_node(g, a)->attr.i[1]);
  }
  r4_id merged = merge_sum(g, a, b);
  return merged.i ? merged : op_fold(g, y);
}

static r4_id sub_simplify(r4_graph *g, r4_id y)
{
  r4_id a = graph_arg(g, y, 0), b = graph_arg(g, y, 1);
  if (op_is_value(g, b, 0)) return a;
  if (op_is_value(g, a, 0)) return r4_neg(g, b);
  if (graph_is(g, b, &op_neg)) return r4_add(g, a, graph_arg(g, b, 0));
  if (a.i == b.i) return r4_const(g, 0, r4_node_shape(g, y));
  return op_fold(g, y);
}

/* a (scatter t) = scatter(gather(a) t): the work is only where something was put. */
static r4_id mul_scatter(r4_graph *g, r4_id a, r4_id scatter)
{
  int axis = (int)graph_node(g, scatter)->attr.i[0];
  int64_t size = graph_node(g, scatter)->attr.i[1];
  r4_id t = graph_arg(g, scatter, 0), index = graph_arg(g, scatter, 1);
  if (r4_node_shape(g, index).dim[0] > size) return R4_NONE;
  return r4_scatter_add(g, r4_mul(g, r4_gather(g, a, index, axis), t), index, axis, size);
}

/* 0 x = 0 also where x is not finite: the derivative rules mean "no contribution" by 0. */
static r4_id mul_simplify(r4_graph *g, r4_id y)
{
  for (size_t k = 0; k < 2; k++) {
    r4_id a = graph_arg(g, y, k), b = graph_arg(g, y, 1 - k);
    if (op_is_value(g, a, 1)) return b;
    if (op_is_value(g, a, 0)) return a;
    if (op_is_value(g, a, -1)) return r4_neg(g, b);
    if (graph_is(g, b, &op_scatter_add) && !graph_is(g, a, &op_scatter_add)) return mul_scatter(g, a, b);
  }
  return op_fold(g, y);
}

static r4_id div_simplify(r4_graph *g, r4_id y)
{
  r4_id a = graph_arg(g, y, 0);
  if (op_is_value(g, graph_arg(g, y, 1), 1) || op_is_value(g, a, 0)) return a;
  return op_fold(g, y);
}

static r4_id neg_simplify(r4_graph *g, r4_id y)
{
  r4_id a = graph_arg(g, y, 0);
  if (graph_is(g, a, &op_neg)) return graph_arg(g, a, 0);
  if (graph_is(g, a, &op_sub)) return r4_sub(g, graph_arg(g, a, 1), graph_arg(g, a, 0));
  return op_fold(g, y);
}

/* ---- The operations ---- */
/* clang-format off */

#define PAIR {{1, {4}}, {1, {4}}}
#define P VALUES(-2, -.5, 1.5, 3)
#define Q VALUES(4, -2, .25, -1)

const struct op op_add = {
  ELEMENT_OP(add, 2), SOUND(add, ROUNDED),
  .keeps_sign = EVERY_ARG, .vjp = add_vjp, .bound = op_linear, .linear = lin_transpose, .simplify = add_simplify,
  SAMPLES({.in = PAIR, .x = {P, Q}, .y = VALUES(2, -2.5, 1.75, 2)})};

const struct op op_sub = {
  ELEMENT_OP(sub, 2), SOUND(sub, ROUNDED),
  .vjp = sub_vjp, .bound = sub_bound, .linear = lin_transpose, .simplify = sub_simplify,
  SAMPLES({.in = PAIR, .x = {P, Q}, .y = VALUES(-6, 1.5, 1.25, 4)})};

const struct op op_mul = {
  ELEMENT_OP(mul, 2), SOUND(mul, ROUNDED),
  .keeps_sign = EVERY_ARG, .vjp = mul_vjp, .bound = mul_bound, .linear = lin_mul, .simplify = mul_simplify,
  SAMPLES({.in = PAIR, .x = {P, Q}, .y = VALUES(-8, 1, .375, -3)}, {.in = PAIR, .low = .1, .high = 2},
          {.in = PAIR, .low = -.3, .high = .2})};

const struct op op_div = {
  ELEMENT_OP(div, 2), SOUND(div, ROUNDED),
  .keeps_sign = EVERY_ARG, .cost = 2, .vjp = div_vjp, .bound = div_bound, .linear = lin_div,
  .simplify = div_simplify,
  SAMPLES({.in = PAIR, .x = {P, Q}, .y = VALUES(-.5, .25, 6, -3)}, {.in = PAIR, .low = .5, .high = 3},
          {.in = PAIR, .low = -3, .high = -.5})};

const struct op op_neg = {
  ELEMENT_OP(neg, 1), SOUND(neg, EXACT),
  .vjp = neg_vjp, .bound = neg_bound, .linear = lin_transpose, .simplify = neg_simplify,
  SAMPLES({.in = {{1, {4}}}, .x = {P}, .y = VALUES(2, .5, -1.5, -3)})};
/* clang-format on */

r4_id r4_add(r4_graph *g, r4_id a, r4_id b)
{
  return element2(g, &op_add, a, b);
}

r4_id r4_sub(r4_graph *g, r4_id a, r4_id b)
{
  return element2(g, &op_sub, a, b);
}

r4_id r4_mul(r4_graph *g, r4_id a, r4_id b)
{
  return a.i == b.i ? r4_square(g, a) : element2(g, &op_mul, a, b); /* the square has tighter bounds */
}

r4_id r4_div(r4_graph *g, r4_id a, r4_id b)
{
  return element2(g, &op_div, a, b);
}

r4_id r4_neg(r4_graph *g, r4_id x)
{
  return element1(g, &op_neg, x);
}

r4_id r4_scale(r4_graph *g, r4_id x, double factor)
{
  return r4_mul(g, x, r4_const(g, factor, R4_SCALAR));
}
