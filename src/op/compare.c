/* min max less equal select. Ties give the derivative to the first argument. */
#include "op/element.h"
#include "op/functional.h"

/* Not a number must stay visible, hence one comparison more than it takes: bounds that overflowed must not pass for
 * "no". a + b is not a number if one of them is not. */
ELEMENT2(min, (a < b || a != a) ? a : b)
ELEMENT2(max, (a > b || a != a) ? a : b)
ELEMENT2(less, a < b ? 1 : a >= b ? 0 : a + b)
ELEMENT2(equal, a == b ? 1 : a < b || a > b ? 0 : a + b)
ELEMENT3(select, a > 0 ? b : a <= 0 ? c : a)

/* ---- Derivatives ---- */

/* the whole of dy to the argument that was taken: to b where "b_wins" */
static void route(r4_graph *g, r4_id b_wins, r4_id dy, r4_id *dx)
{
  r4_id zero = op_like(g, dy, 0);
  dx[0] = r4_select(g, b_wins, zero, dy);
  dx[1] = r4_select(g, b_wins, dy, zero);
}

static void min_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  route(g, r4_less(g, graph_arg(g, y, 1), graph_arg(g, y, 0)), dy, dx);
}

static void max_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  route(g, r4_less(g, graph_arg(g, y, 0), graph_arg(g, y, 1)), dy, dx);
}

static void select_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  r4_id c = graph_arg(g, y, 0), zero = op_like(g, dy, 0);
  dx[1] = r4_select(g, c, dy, zero);
  dx[2] = r4_select(g, c, zero, dy);
}

/* ---- Intervals ---- */

/* a < b surely if hi a < lo b, possibly if lo a < hi b */
static struct interval less_bound(r4_graph *g, r4_id y, struct interval *x)
{
  (void)y;
  return iv_ends(r4_less(g, iv_hi(g, x[0]), iv_lo(g, x[1])), r4_less(g, iv_lo(g, x[0]), iv_hi(g, x[1])));
}

static r4_id not_less(r4_graph *g, r4_id a, r4_id b)
{
  r4_id less = r4_less(g, a, b);
  return r4_sub(g, op_like(g, less, 1), less);
}

/* surely equal: two equal points; possibly: the intervals overlap */
static struct interval equal_bound(r4_graph *g, r4_id y, struct interval *x)
{
  (void)y;
  r4_id al = iv_lo(g, x[0]), ah = iv_hi(g, x[0]), bl = iv_lo(g, x[1]), bh = iv_hi(g, x[1]);
  r4_id surely = r4_mul(g, r4_equal(g, al, bh), r4_equal(g, ah, bl));
  return iv_ends(surely, r4_mul(g, not_less(g, ah, bl), not_less(g, bh, al)));
}

/* one branch where the condition is sure, the hull of both where it is not */
static struct interval select_bound(r4_graph *g, r4_id y, struct interval *x)
{
  (void)y;
  r4_id al = iv_lo(g, x[1]), ah = iv_hi(g, x[1]), bl = iv_lo(g, x[2]), bh = iv_hi(g, x[2]);
  r4_id sure = iv_lo(g, x[0]), possible = iv_hi(g, x[0]);
  if (sure.i == possible.i) return iv_ends(r4_select(g, sure, al, bl), r4_select(g, sure, ah, bh));
  r4_id lo = r4_select(g, possible, r4_min(g, al, bl), bl),
        hi = r4_select(g, possible, r4_max(g, ah, bh), bh);
  return iv_ends(r4_select(g, sure, al, lo), r4_select(g, sure, ah, hi));
}

/* ---- Simplification ---- */

static r4_id extremum_simplify(r4_graph *g, r4_id y)
{
  r4_id a = graph_arg(g, y, 0);
  return a.i == graph_arg(g, y, 1).i ? a : op_fold(g, y);
}

static r4_id select_simplify(r4_graph *g, r4_id y)
{
  double c;
  r4_id a = graph_arg(g, y, 1), b = graph_arg(g, y, 2);
  if (a.i == b.i) return a;
  return op_value(g, graph_arg(g, y, 0), &c) ? (c > 0 ? a : b) : R4_NONE;
}

/* ---- The operations ---- */
/* clang-format off */

#define PAIR {{1, {4}}, {1, {4}}}
#define P VALUES(-2, -.5, 1.5, 3)
#define Q VALUES(4, -2, 1.5, -1)

const struct op op_min = {
  ELEMENT_OP(min, 2), SOUND(increasing, EXACT),
  .keeps_sign = EVERY_ARG, .vjp = min_vjp, .bound = op_monotone, .linear = lin_min, .simplify = extremum_simplify,
  SAMPLES({.in = PAIR, .x = {P, Q}, .y = VALUES(-2, -2, 1.5, -1)}, {.in = {{2, {3, 4}}, {2, {3, 4}}}})};

const struct op op_max = {
  ELEMENT_OP(max, 2), SOUND(increasing, EXACT),
  .keeps_sign = EVERY_ARG, .vjp = max_vjp, .bound = op_monotone, .linear = lin_max, .simplify = extremum_simplify,
  SAMPLES({.in = PAIR, .x = {P, Q}, .y = VALUES(4, -.5, 1.5, 3)}, {.in = {{2, {3, 4}}, {2, {3, 4}}}})};

const struct op op_less = {
  ELEMENT_OP(less, 2), SOUND(less, EXACT),
  .nonneg = true, .vjp = op_flat, .bound = less_bound, .simplify = op_fold,
  SAMPLES({.in = PAIR, .x = {P, Q}, .y = VALUES(1, 0, 0, 0)}, {.in = {{2, {3, 4}}, {2, {3, 4}}}})};

const struct op op_equal = {
  ELEMENT_OP(equal, 2), SOUND(equal, EXACT),
  .nonneg = true, .vjp = op_flat, .bound = equal_bound, .simplify = op_fold,
  SAMPLES({.in = PAIR, .x = {P, Q}, .y = VALUES(0, 0, 1, 0)},
          {.in = {{1, {12}}, {1, {12}}}, .whole = {3, 3}})};

const struct op op_select = {
  ELEMENT_OP(select, 3), SOUND(select, EXACT),
  .keeps_sign = 2 | 4, .vjp = select_vjp, .bound = select_bound, .linear = lin_select, .simplify = select_simplify,
  SAMPLES({.in = {{1, {4}}, {1, {4}}, {1, {4}}}, .x = {VALUES(-1, 0, 1, 2), P, Q}, .y = VALUES(4, -2, 1.5, 3)},
          {.in = {{2, {3, 4}}, {2, {3, 4}}, {2, {3, 4}}}})};
/* clang-format on */

r4_id r4_min(r4_graph *g, r4_id a, r4_id b)
{
  return element2(g, &op_min, a, b);
}

r4_id r4_max(r4_graph *g, r4_id a, r4_id b)
{
  return element2(g, &op_max, a, b);
}

r4_id r4_less(r4_graph *g, r4_id a, r4_id b)
{
  return element2(g, &op_less, a, b);
}

r4_id r4_equal(r4_graph *g, r4_id a, r4_id b)
{
  return element2(g, &op_equal, a, b);
}

r4_id r4_select(r4_graph *g, r4_id c, r4_id a, r4_id b)
{
  return element3(g, &op_select, c, a, b);
}
