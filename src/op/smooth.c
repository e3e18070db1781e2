/* Smooth functions: square sqrt rsqrt exp log log1p tanh sigmoid erf gelu. */
#include <math.h>
#include <tgmath.h>

#include "base/expf.h"
#include "base/tanhf.h"
#include "op/element.h"
#include "op/functional.h"

#define HALF_SQRT2 0.70710678118654752440 /* sqrt(1/2) */
#define TWO_OVER_SQRT_PI 1.12837916709551257390
#define INV_SQRT_2PI 0.39894228040143267794
#define GELU_ARGMIN (-0.75179152469356445) /* where gelu is smallest: it falls before and rises after */

/* The float ones are made for vector code. */
#define EXP(a) _Generic((a), float : r4_expf, double : (exp))(a)
#define TANH(a) _Generic((a), float : r4_tanhf, double : (tanh))(a)
#define ERF(a) _Generic((a), float : r4_erff, double : (erf))(a)

ELEMENT1(square, a *a)
ELEMENT1(sqrt, sqrt(a))
ELEMENT1(rsqrt, 1 / sqrt(a))
ELEMENT1(exp, EXP(a))
ELEMENT1(log, log(a))
ELEMENT1(log1p, log1p(a))
ELEMENT1(tanh, TANH(a))
ELEMENT1(sigmoid, 1 / (1 + EXP(-a)))
ELEMENT1(erf, ERF(a))
ELEMENT1(gelu, a / 2 * (1 + ERF(a * (__typeof__(a))HALF_SQRT2)))

/* ---- Derivatives, with x the argument and y the value ---- */

static r4_id one_minus(r4_graph *g, r4_id x)
{
  return r4_sub(g, op_like(g, x, 1), x);
}

static void square_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx) /* 2 x */
{
  dx[0] = r4_mul(g, dy, r4_scale(g, graph_arg(g, y, 0), 2));
}

/* 1 / (2 y), and 0 at 0: the smallest subgradient of a norm there. The inner select keeps the
 * unused quotient finite, so that derivatives of any order stay numbers. */
static void sqrt_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  r4_id x = graph_arg(g, y, 0);
  r4_id twice = r4_select(g, x, r4_scale(g, y, 2), op_like(g, x, 1));
  dx[0] = r4_select(g, x, r4_div(g, dy, twice), op_like(g, x, 0));
}

static void rsqrt_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx) /* -y^3 / 2 */
{
  dx[0] = r4_mul(g, dy, r4_scale(g, r4_mul(g, y, r4_square(g, y)), -.5));
}

static void exp_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx) /* y */
{
  dx[0] = r4_mul(g, dy, y);
}

static void log_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx) /* 1 / x */
{
  dx[0] = r4_div(g, dy, graph_arg(g, y, 0));
}

static void log1p_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx) /* 1 / (1 + x) */
{
  r4_id x = graph_arg(g, y, 0);
  dx[0] = r4_div(g, dy, r4_add(g, x, op_like(g, x, 1)));
}

static void tanh_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx) /* 1 - y^2 */
{
  dx[0] = r4_mul(g, dy, one_minus(g, r4_square(g, y)));
}

static void sigmoid_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx) /* y (1 - y) */
{
  dx[0] = r4_mul(g, dy, r4_mul(g, y, one_minus(g, y)));
}

static void erf_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx) /* 2/sqrt(pi) exp(-x^2) */
{
  r4_id bell = r4_exp(g, r4_neg(g, r4_square(g, graph_arg(g, y, 0))));
  dx[0] = r4_mul(g, dy, r4_scale(g, bell, TWO_OVER_SQRT_PI));
}

static void gelu_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx) /* Phi(x) + x phi(x) */
{
  r4_id x = graph_arg(g, y, 0);
  r4_id twice_cdf = r4_add(g, r4_erf(g, r4_scale(g, x, HALF_SQRT2)), op_like(g, x, 1));
  r4_id pdf = r4_scale(g, r4_exp(g, r4_scale(g, r4_square(g, x), -.5)), INV_SQRT_2PI);
  dx[0] = r4_mul(g, dy, r4_add(g, r4_scale(g, twice_cdf, .5), r4_mul(g, x, pdf)));
}

/* ---- Intervals ---- */

static struct interval square_bound(r4_graph *g, r4_id y, struct interval *x) /* the square of |x| */
{
  (void)y;
  struct interval a = op_abs.bound(g, R4_NONE, x);
  return iv_ends(r4_square(g, a.lo), r4_square(g, a.hi));
}

/* increasing where ok > 0, which is checked while running */
static struct interval increasing_if(r4_graph *g, r4_id y, struct interval x, r4_id ok)
{
  r4_id lo = r4_check(g, iv_lo(g, x), ok), hi = iv_hi(g, x);
  return iv_ends(graph_again(g, y, &lo), graph_again(g, y, &hi));
}

static struct interval sqrt_bound(r4_graph *g, r4_id y, struct interval *x) /* needs lo >= 0 */
{
  r4_id lo = iv_lo(g, x[0]);
  return increasing_if(g, y, x[0], one_minus(g, r4_less(g, lo, op_like(g, lo, 0))));
}

static struct interval log_bound(r4_graph *g, r4_id y, struct interval *x) /* needs lo > 0 */
{
  return increasing_if(g, y, x[0], iv_lo(g, x[0]));
}

static struct interval log1p_bound(r4_graph *g, r4_id y, struct interval *x) /* needs lo > -1 */
{
  r4_id lo = iv_lo(g, x[0]);
  return increasing_if(g, y, x[0], r4_add(g, lo, op_like(g, lo, 1)));
}

static struct interval rsqrt_bound(r4_graph *g, r4_id y, struct interval *x) /* falls; needs lo > 0 */
{
  struct interval swapped = log_bound(g, y, x);
  return iv_ends(swapped.hi, swapped.lo);
}

/* falls, then rises: smallest at the point of [lo, hi] that is nearest to the valley */
static struct interval gelu_bound(r4_graph *g, r4_id y, struct interval *x)
{
  (void)y;
  r4_id lo = iv_lo(g, x[0]), hi = iv_hi(g, x[0]);
  r4_id nearest = r4_min(g, r4_max(g, op_like(g, lo, GELU_ARGMIN), lo), hi);
  return iv_ends(r4_gelu(g, nearest), r4_max(g, r4_gelu(g, lo), r4_gelu(g, hi)));
}

/* ---- The operations ---- */
/* clang-format off */

#define FOUR {{1, {4}}}
#define ANY {.in = {{2, {3, 4}}}}
#define POSITIVE {.in = {{2, {3, 4}}}, .low = .2, .high = 3}
#define X VALUES(-2, -.5, 1, 3)
#define E 2.71828182845904523536

const struct op op_square = {
  ELEMENT_OP(square, 1), SOUND(square, ROUNDED),
  .nonneg = true, .vjp = square_vjp, .bound = square_bound, .linear = lin_convex, .simplify = op_fold,
  SAMPLES({.in = FOUR, .x = {X}, .y = VALUES(4, .25, 1, 9)}, ANY)};

const struct op op_sqrt = {
  ELEMENT_OP(sqrt, 1), SOUND(sqrt, ROUNDED),
  .cost = 4, .nonneg = true, .vjp = sqrt_vjp, .bound = sqrt_bound, .linear = lin_concave, .simplify = op_fold,
  SAMPLES({.in = FOUR, .x = {VALUES(.25, 1, 4, 9)}, .y = VALUES(.5, 1, 2, 3)}, POSITIVE)};

const struct op op_rsqrt = {
  ELEMENT_OP(rsqrt, 1), SOUND(rsqrt, OWN),
  .cost = 4, .nonneg = true, .vjp = rsqrt_vjp, .bound = rsqrt_bound, .linear = lin_convex, .simplify = op_fold,
  SAMPLES({.in = FOUR, .x = {VALUES(.25, 1, 4, 16)}, .y = VALUES(2, 1, .5, .25)}, POSITIVE)};

const struct op op_exp = {
  ELEMENT_OP(exp, 1), SOUND(exp, UNKNOWN),
  .cost = 16, .nonneg = true, .vjp = exp_vjp, .bound = op_monotone, .linear = lin_convex, .simplify = op_fold,
  SAMPLES({.in = FOUR, .x = {VALUES(-1, 0, 1, 2)}, .y = VALUES(1 / E, 1, E, E * E)}, ANY)};

const struct op op_log = {
  ELEMENT_OP(log, 1), SOUND(log, UNKNOWN),
  .cost = 16, .vjp = log_vjp, .bound = log_bound, .linear = lin_concave, .simplify = op_fold,
  SAMPLES({.in = FOUR, .x = {VALUES(1 / E, 1, E, E * E)}, .y = VALUES(-1, 0, 1, 2)}, POSITIVE)};

const struct op op_log1p = {
  ELEMENT_OP(log1p, 1), SOUND(log1p, UNKNOWN),
  .cost = 16, .vjp = log1p_vjp, .bound = log1p_bound, .linear = lin_concave, .simplify = op_fold,
  SAMPLES({.in = FOUR, .x = {VALUES(1 / E - 1, 0, E - 1, E * E - 1)}, .y = VALUES(-1, 0, 1, 2)},
          {.in = {{2, {3, 4}}}, .low = -.8, .high = 3})};

const struct op op_tanh = {
  ELEMENT_OP(tanh, 1), SOUND(tanh, UNKNOWN),
  .cost = 16, .vjp = tanh_vjp, .bound = op_monotone, .linear = lin_sigmoidal, .simplify = op_fold,
  SAMPLES({.in = FOUR, .x = {VALUES(-1, 0, .5, 2)},
           .y = VALUES(-0.76159415595576488812, 0, 0.46211715726000975850, 0.96402758007581688395)},
          ANY)};

const struct op op_sigmoid = {
  ELEMENT_OP(sigmoid, 1), SOUND(sigmoid, UNKNOWN),
  .cost = 16, .nonneg = true, .vjp = sigmoid_vjp, .bound = op_monotone, .linear = lin_sigmoidal,
  .simplify = op_fold,
  SAMPLES({.in = FOUR, .x = {VALUES(-1, 0, 1, 2)},
           .y = VALUES(0.26894142136999512075, .5, 0.73105857863000487925, 0.88079707797788244406)},
          ANY)};

const struct op op_erf = {
  ELEMENT_OP(erf, 1), SOUND(erf, UNKNOWN),
  .cost = 16, .vjp = erf_vjp, .bound = op_monotone, .linear = lin_sigmoidal, .simplify = op_fold,
  SAMPLES({.in = FOUR, .x = {VALUES(-1, 0, .5, 2)},
           .y = VALUES(-0.84270079294971486934, 0, 0.52049987781304653768, 0.99532226501895273416)},
          ANY)};

const struct op op_gelu = {
  ELEMENT_OP(gelu, 1), SOUND(gelu, UNKNOWN),
  .cost = 16, .vjp = gelu_vjp, .bound = gelu_bound, .simplify = op_fold,
  SAMPLES({.in = FOUR, .x = {VALUES(-2, -1, 1, 2)},
           .y = VALUES(-0.04550026389635841440, -0.15865525393145705142, 0.84134474606854294858,
                       1.95449973610364158560)},
          ANY)};
/* clang-format on */

#define BUILDER(NAME)                   \
  r4_id r4_##NAME(r4_graph *g, r4_id x) \
  {                                     \
    return element1(g, &op_##NAME, x);  \
  }
BUILDER(square)
BUILDER(sqrt)
BUILDER(rsqrt)
BUILDER(exp)
BUILDER(log)
BUILDER(log1p)
BUILDER(tanh)
BUILDER(sigmoid)
BUILDER(erf)
BUILDER(gelu)
