/* detach: a constant for derivatives. check: a condition that must hold while running. lower_end and upper_end: the
 * ends of bounds, where overflow leaves none. */
#include <math.h>

#include "op/element.h"

ELEMENT1(detach, a)
ELEMENT1(lower_end, a < (__typeof__(a))INFINITY ? a : -(__typeof__(a))INFINITY) /* also for not a number */
ELEMENT1(upper_end, a > -(__typeof__(a))INFINITY ? a : (__typeof__(a))INFINITY)

static struct interval detach_bound(r4_graph *g, r4_id y,
                                    struct interval *x) /* ends and ball, each detached */
{
  (void)y;
  struct interval d = x[0];
  r4_id *const part[] = {&d.lo, &d.hi, &d.centre, &d.radius};
  for (size_t k = 0; k < 4; k++)
    if (part[k]->i) *part[k] = r4_detach(g, *part[k]);
  return d;
}

static r4_id detach_simplify(r4_graph *g, r4_id y)
{
  return graph_arg(g, y, 0);
}

static void check_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  (void)g, (void)y;
  dx[0] = dy;
}

/* The condition has to hold for all of its values, so for the smallest. */
static struct interval check_bound(r4_graph *g, r4_id y, struct interval *x)
{
  (void)y;
  r4_id ok = iv_lo(g, x[1]);
  return iv_ends(r4_check(g, iv_lo(g, x[0]), ok), r4_check(g, iv_hi(g, x[0]), ok));
}

/* ---- The ends of bounds: not a number, and infinity on the wrong side, are what overflow leaves ---- */

static void end_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  (void)g, (void)y;
  dx[0] = dy;
}

/* Never above x, so the upper end is that of x; and it may be not known. */
static struct interval lower_end_bound(r4_graph *g, r4_id y, struct interval *x)
{
  r4_id lo = iv_lo(g, x[0]);
  return iv_ends(graph_again(g, y, &lo), iv_hi(g, x[0]));
}

static struct interval upper_end_bound(r4_graph *g, r4_id y, struct interval *x)
{
  r4_id hi = iv_hi(g, x[0]);
  return iv_ends(iv_lo(g, x[0]), graph_again(g, y, &hi));
}

static r4_status check_kernel(const struct call *c)
{
  int64_t n = r4_shape_count(c->shape);
  for (int64_t k = 0; k < n; k++) {
    if (!(c->in[1][k] > 0))
      return r4_fail(
        c->error, R4_E_DOMAIN,
        "check: element %lld is outside of the domain (value %g): a logarithm, root or quotient of an interval that "
        "%s",
        (long long)k, c->in[0][k],
        isfinite(c->in[0][k]) ? "extends beyond its domain"
                              : "overflowed, or extends beyond its domain");
    c->out[k] = c->in[0][k];
  }
  return R4_OK;
}

/* clang-format off */
const struct op op_detach = {
  ELEMENT_OP(detach, 1), SOUND(increasing, EXACT),
  .keeps_sign = EVERY_ARG, .vjp = op_flat, .bound = detach_bound, .simplify = detach_simplify,
  SAMPLES({.in = {{1, {3}}}, .x = {VALUES(-2, 0, 3)}, .y = VALUES(-2, 0, 3)})};

const struct op op_lower_end = {
  ELEMENT_OP(lower_end, 1), .vjp = end_vjp, .bound = lower_end_bound, .simplify = op_fold,
  SAMPLES({.in = {{1, {3}}}, .x = {VALUES(-2, 0, 3)}, .y = VALUES(-2, 0, 3)})};

const struct op op_upper_end = {
  ELEMENT_OP(upper_end, 1), .vjp = end_vjp, .bound = upper_end_bound, .simplify = op_fold,
  SAMPLES({.in = {{1, {3}}}, .x = {VALUES(-2, 0, 3)}, .y = VALUES(-2, 0, 3)})};

const struct op op_check = {
  .name = "check",
  .arity = 2,
  .kind = OP_DENSE,
  .keeps_sign = 1,
  .shape = op_same_shape,
  .vjp = check_vjp,
  .bound = check_bound,
  .kernel = check_kernel,
  SOUND(check, EXACT),
  SAMPLES({.in = {{1, {3}}, {1, {3}}}, .x = {VALUES(-2, 0, 3), VALUES(1, 2, 3)}, .y = VALUES(-2, 0, 3)},
          {.in = {{1, {3}}, {1, {3}}}, .low = 1, .high = 2}),
};
/* clang-format on */

r4_id r4_detach(r4_graph *g, r4_id x)
{
  return element1(g, &op_detach, x);
}

r4_id r4_check(r4_graph *g, r4_id x, r4_id ok)
{
  return element2(g, &op_check, x, ok);
}
