/* Sound rules of smooth functions. libm promises no error bound, so nothing here trusts it: exp is a polynomial of our
 * own with a proof, the logarithm is what libm proposes and exp checks, and everything else is made of these two and
 * arithmetic. doc/certificates.md has the proofs. */
#include <stdint.h>
#include <string.h>

#include "op/sound.h"

/* ---- exp ----
 *
 * exp(x) = 2^k exp(r), k = round(x / ln 2), |r| <= 0.35: sum_{j<=14} r^j / j! has a remainder below 2^-61, and Horner's
 * scheme rounds 28 times, each by at most u sum |terms| <= u exp(0.35). r itself is off by less than 2^-50 (ln 2 is
 * taken in two parts). Together less than 2^-46 of the value: 2^-44 is allowed for. */
#define EXP_ERROR 0x1p-44
#define LN2_HIGH 0x1.62e42fee00000p-1 /* 32 bits: times k it is exact */
#define LN2_LOW 0x1.a39ef35793c76p-33
#define EXP_LEAST (-700.)
#define EXP_MOST 700.

static double power_of_2(int k) /* -1022 <= k <= 1023 */
{
  uint64_t bits = (uint64_t)(k + 1023) << 52;
  double v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

static double exp_near(double x) /* EXP_LEAST <= x <= EXP_MOST */
{
  static const double inverse[] = {1,          1,          1. / 2,       1. / 6,        1. / 24,
                                   1. / 120,   1. / 720,   1. / 5040,    1. / 40320,    1. / 362880,
                                   1. / 3628800, 1. / 39916800, 1. / 479001600, 1. / 6227020800, 1. / 87178291200};
  double k = rint(x * 0x1.71547652b82fep+0), r = (x - k * LN2_HIGH) - k * LN2_LOW, sum = inverse[14];
  for (int j = 13; j >= 0; j--) sum = sum * r + inverse[j];
  return sum * power_of_2((int)k);
}

void sound_exp(double x, double *lo, double *hi)
{
  if (!(x <= EXP_MOST)) { /* or not a number */
    *lo = x > EXP_MOST ? exp_near(EXP_MOST) * (1 - EXP_ERROR) : 0;
    *hi = INFINITY;
    return;
  }
  double y = exp_near(x < EXP_LEAST ? EXP_LEAST : x);
  *lo = x < EXP_LEAST ? 0 : y * (1 - EXP_ERROR);
  *hi = y * (1 + EXP_ERROR);
}

/* ---- log: with y any number, log x = y + log(x / exp y), and |log(1 + t)| <= 2 |t| for |t| <= 1/2. ---- */

void sound_log(double x, double *lo, double *hi)
{
  double y = log(x), e_lo, e_hi;
  sound_exp(y, &e_lo, &e_hi);
  double t = sound_up(sound_max(fabs(sound_up(x - e_lo)), fabs(sound_down(x - e_hi))) / e_lo);
  bool checked = x > 0 && fabs(y) < EXP_MOST - 1 && t <= 0.5;
  *lo = checked ? sound_down(y - 2 * t) : NAN;
  *hi = checked ? sound_up(y + 2 * t) : NAN;
}

/* ---- erf(x) = 2/sqrt(pi) exp(-x^2) sum_n 2^n x^(2n+1) / (1 3 5 .. (2n+1)): all terms have one sign ---- */

#define ERF_MOST 6. /* 1 - erf(6) < 2^-55 */
#define TWO_OVER_SQRT_PI_LOW 0x1.20dd750429b6dp+0 /* neighbours: the number itself is between them */
#define TWO_OVER_SQRT_PI_HIGH 0x1.20dd750429b6ep+0

static void erf_positive(double x, double *lo, double *hi) /* 0 <= x <= ERF_MOST */
{
  double square = x * x, term = x, sum = x, e_lo, e_hi, unused;
  int n = 0;
  for (; n < 400 && !(term < sum * 0x1p-60 && 2 * square < n); n++) {
    term = term * (2 * square) / (2 * n + 3);
    sum += term;
  }
  /* After n > 2 x^2 each term is less than half of the one before: the rest is less than the last. Roundings: 4 for a
   * term and 1 for its sum, of which there are n. */
  double rounded = (5. * n + 16) * 0x1p-52 + 0x1p-59;
  sound_exp(-sound_up(square), &e_lo, &unused);
  sound_exp(-sound_max(sound_down(square), 0), &unused, &e_hi);
  *lo = sound_max(sound_down(sound_down(sound_down(TWO_OVER_SQRT_PI_LOW * e_lo) * sum) * (1 - rounded)), 0);
  *hi = sound_min(sound_up(sound_up(sound_up(TWO_OVER_SQRT_PI_HIGH * e_hi) * sum) * (1 + rounded)), 1);
}

void sound_erf(double x, double *lo, double *hi)
{
  double size = fabs(x), least = 1 - 0x1p-53, most = 1;
  if (size <= ERF_MOST) erf_positive(size, &least, &most);
  if (x != x) least = most = NAN;
  *lo = x < 0 ? -most : least;
  *hi = x < 0 ? -least : most;
}

/* ---- Elements ---- */

typedef void at_point(double x, double *lo, double *hi);

/* An increasing function, at both ends. */
static r4_status increasing(const struct enclosing *c, at_point *f)
{
  const size_t n = (size_t)r4_shape_count(c->shape);
  SOUND_PARALLEL
  for (size_t k = 0; k < n; k++) {
    double unused;
    f(c->lo[0][k], &c->out_lo[k], &unused);
    f(c->hi[0][k], &unused, &c->out_hi[k]);
  }
  return R4_OK;
}

static void log1p_at(double x, double *lo, double *hi)
{
  double unused;
  sound_log(sound_down(1 + x), lo, &unused);
  sound_log(sound_up(1 + x), &unused, hi);
}

static void sigmoid_at(double x, double *lo, double *hi) /* 1 / (1 + exp(-x)) */
{
  double e_lo, e_hi;
  sound_exp(-x, &e_lo, &e_hi);
  *lo = sound_max(sound_down(1 / sound_up(1 + e_hi)), 0);
  *hi = sound_min(sound_up(1 / sound_down(1 + e_lo)), 1);
}

static void tanh_at(double x, double *lo, double *hi) /* 2 sigmoid(2 x) - 1 */
{
  sigmoid_at(2 * x, lo, hi);
  *lo = sound_max(sound_down(2 * *lo - 1), -1);
  *hi = sound_min(sound_up(2 * *hi - 1), 1);
}

r4_status enclose_exp(const struct enclosing *c)
{
  return increasing(c, sound_exp);
}

r4_status enclose_log(const struct enclosing *c)
{
  return increasing(c, sound_log);
}

r4_status enclose_log1p(const struct enclosing *c)
{
  return increasing(c, log1p_at);
}

r4_status enclose_tanh(const struct enclosing *c)
{
  return increasing(c, tanh_at);
}

r4_status enclose_sigmoid(const struct enclosing *c)
{
  return increasing(c, sigmoid_at);
}

r4_status enclose_erf(const struct enclosing *c)
{
  return increasing(c, sound_erf);
}

/* ---- gelu(x) = x/2 (1 + erf(x / sqrt 2)): falls up to its valley near -0.7518, then rises ---- */

#define GELU_VALLEY_LEFT (-0.7518)
#define GELU_VALLEY_RIGHT (-0.7517)
#define GELU_LEAST (-0.16997120747991) /* below its least value, -0.169971207479903.. */
#define HALF_SQRT2 0.70710678118654752440

static void gelu_at(double x, double *lo, double *hi)
{
  double p = sound_down(x * HALF_SQRT2), q = sound_up(x * HALF_SQRT2), e_lo, e_hi, unused;
  sound_erf(p, &e_lo, &unused);
  sound_erf(q, &unused, &e_hi);
  double a = sound_max(sound_down(1 + e_lo), 0), b = sound_up(1 + e_hi); /* 2 Phi(x) */
  *lo = sound_down(x / 2 * (x < 0 ? b : a));
  *hi = sound_up(x / 2 * (x < 0 ? a : b));
}

r4_status enclose_gelu(const struct enclosing *c)
{
  const size_t n = (size_t)r4_shape_count(c->shape);
  SOUND_PARALLEL
  for (size_t k = 0; k < n; k++) {
    double a = c->lo[0][k], b = c->hi[0][k], left_lo, left_hi, right_lo, right_hi;
    gelu_at(a, &left_lo, &left_hi);
    gelu_at(b, &right_lo, &right_hi);
    bool falls = b <= GELU_VALLEY_LEFT, rises = a >= GELU_VALLEY_RIGHT;
    c->out_lo[k] = falls ? right_lo : rises ? left_lo : GELU_LEAST;
    c->out_hi[k] = sound_max(left_hi, right_hi);
    if (!(fabs(a) < INFINITY && fabs(b) < INFINITY)) c->out_lo[k] = c->out_hi[k] = NAN;
  }
  return R4_OK;
}

/* ---- Over the last axis ---- */

static int64_t width_of(const struct enclosing *c)
{
  return c->in_shape[0].dim[c->in_shape[0].rank - 1];
}

/* softmax_i = 1 / (1 + sum_{j != i} exp(x_j - x_i)): least where x_i is low and the others are high. */
static double softmax_end(const double *own, const double *other, int64_t i, int64_t n, bool lower)
{
  double sum = 0, e_lo, e_hi;
  for (int64_t j = 0; j < n; j++) {
    if (j == i) continue;
    double d = other[j] - own[i];
    sound_exp(lower ? sound_up(d) : sound_down(d), &e_lo, &e_hi);
    sum = lower ? sound_up(sum + e_hi) : sound_max(sound_down(sum + e_lo), 0);
  }
  if (lower) return sum < INFINITY ? sound_max(sound_down(1 / sound_up(1 + sum)), 0) : 0;
  return sound_min(sound_up(1 / sound_down(1 + sum)), 1);
}

r4_status enclose_softmax(const struct enclosing *c)
{
  const int64_t width = width_of(c);
  const size_t n = (size_t)r4_shape_count(c->shape);
  SOUND_PARALLEL
  for (size_t k = 0; k < n; k++) {
    size_t row = k - k % (size_t)width;
    const double *lo = c->lo[0] + row, *hi = c->hi[0] + row;
    c->out_lo[k] = softmax_end(lo, hi, (int64_t)(k - row), width, true);
    c->out_hi[k] = softmax_end(hi, lo, (int64_t)(k - row), width, false);
  }
  return R4_OK;
}

/* log sum_j exp(x_j) = M + log sum_j exp(x_j - M), for any M; increasing in each x_j. */
static double logsumexp_end(const double *x, int64_t n, bool lower)
{
  double most = x[0], sum = 0, e_lo, e_hi, lo, hi;
  for (int64_t j = 1; j < n; j++) most = sound_max(x[j], most);
  for (int64_t j = 0; j < n; j++) {
    double d = x[j] - most;
    sound_exp(lower ? sound_down(d) : sound_up(d), &e_lo, &e_hi);
    sum = lower ? sound_down(sum + e_lo) : sound_up(sum + e_hi);
  }
  sound_log(sum, &lo, &hi);
  return lower ? sound_down(most + lo) : sound_up(most + hi);
}

r4_status enclose_logsumexp(const struct enclosing *c)
{
  const int64_t width = width_of(c);
  const size_t n = (size_t)r4_shape_count(c->shape);
  SOUND_PARALLEL
  for (size_t k = 0; k < n; k++) {
    c->out_lo[k] = logsumexp_end(c->lo[0] + k * (size_t)width, width, true);
    c->out_hi[k] = logsumexp_end(c->hi[0] + k * (size_t)width, width, false);
  }
  return R4_OK;
}
