/* relu(x) = max(x, 0), its derivative step(x) = [x > 0], abs and its derivative sign.
 * relu'(0) = 0 and abs'(0) = 0 by convention. */
#include "op/element.h"
#include "op/functional.h"

/* Not a number stays visible: bounds that overflowed must not pass for "off". */
ELEMENT1(relu, a < 0 ? 0 : a)
ELEMENT1(step, a > 0 ? 1 : a <= 0 ? 0 : a)
ELEMENT1(abs, a < 0 ? -a : a)
ELEMENT1(sign, a > 0 ? 1 : a < 0 ? -1 : a == 0 ? 0 : a)

static void relu_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  dx[0] = r4_mul(g, dy, r4_step(g, graph_arg(g, y, 0)));
}

static void abs_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  dx[0] = r4_mul(g, dy, r4_sign(g, graph_arg(g, y, 0)));
}

/* |[lo, hi]| = [max(0, lo, -hi), max(-lo, hi)] */
static struct interval abs_bound(r4_graph *g, r4_id y, struct interval *x)
{
  (void)y;
  r4_id lo = iv_lo(g, x[0]), hi = iv_hi(g, x[0]);
  return iv_ends(r4_relu(g, r4_max(g, lo, r4_neg(g, hi))), r4_max(g, r4_neg(g, lo), hi));
}

static r4_id positive_simplify(r4_graph *g, r4_id y)
{
  r4_id a = graph_arg(g, y, 0);
  if (op_nonneg(g, a)) return a;
  if (graph_is(g, y, &op_abs) && graph_is(g, a, &op_neg)) return r4_abs(g, graph_arg(g, a, 0));
  return op_fold(g, y);
}

/* clang-format off */
#define FIVE {{1, {5}}}
#define X VALUES(-2, -.5, 0, .5, 3)

const struct op op_relu = {
  ELEMENT_OP(relu, 1), SOUND(increasing, EXACT),
  .nonneg = true, .vjp = relu_vjp, .bound = op_monotone, .linear = lin_relu, .simplify = positive_simplify,
  SAMPLES({.in = FIVE, .x = {X}, .y = VALUES(0, 0, 0, .5, 3)}, {.in = {{2, {3, 5}}}})};

const struct op op_step = {
  ELEMENT_OP(step, 1), SOUND(step, EXACT),
  .through = &op_relu, .nonneg = true, .vjp = op_flat, .bound = op_monotone, .linear = lin_step,
  .simplify = op_fold,
  SAMPLES({.in = FIVE, .x = {X}, .y = VALUES(0, 0, 0, 1, 1)}, {.in = {{2, {3, 5}}}})};

const struct op op_abs = {
  ELEMENT_OP(abs, 1), SOUND(abs, EXACT),
  .nonneg = true, .vjp = abs_vjp, .bound = abs_bound, .linear = lin_abs, .simplify = positive_simplify,
  SAMPLES({.in = FIVE, .x = {X}, .y = VALUES(2, .5, 0, .5, 3)}, {.in = {{2, {3, 5}}}})};

const struct op op_sign = {
  ELEMENT_OP(sign, 1), SOUND(sign, EXACT),
  .vjp = op_flat, .bound = op_monotone, .linear = lin_sign, .simplify = op_fold,
  SAMPLES({.in = FIVE, .x = {X}, .y = VALUES(-1, -1, 0, 1, 1)}, {.in = {{2, {3, 5}}}})};
/* clang-format on */

r4_id r4_relu(r4_graph *g, r4_id x)
{
  return element1(g, &op_relu, x);
}

r4_id r4_step(r4_graph *g, r4_id x)
{
  return element1(g, &op_step, x);
}

r4_id r4_abs(r4_graph *g, r4_id x)
{
  return element1(g, &op_abs, x);
}

r4_id r4_sign(r4_graph *g, r4_id x)
{
  return element1(g, &op_sign, x);
}
