/* Student's t distribution, by the incomplete beta function:
 *
 *     P(|T| >= |t|) = I_x(n/2, 1/2),    x = n / (n + t^2),    n degrees of freedom
 *
 *     I_x(a, b) = x^a (1 - x)^b / (a B(a, b)) * 1 / (1 + d_1 / (1 + d_2 / (1 + ...)))
 *     d_2k+1 = -(a + k)(a + b + k) x / ((a + 2k)(a + 2k + 1)),    d_2k = k (b - k) x / ((a + 2k - 1)(a + 2k))
 *
 * which converges fast for x < (a + 1) / (a + b + 2), and otherwise I_x(a, b) = 1 - I_1-x(b, a). */
#include "base/student.h"

#include <math.h>

/* The k-th coefficient, k = 1, 2, .. */
static double coefficient(double a, double b, double x, int k)
{
  int m = k / 2;
  if (k % 2) return -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
  return m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
}

/* 1 + d_1 / (1 + d_2 / ..) from its front (Lentz): the product of the ratios of neighbouring approximations. */
static double fraction(double a, double b, double x)
{
  enum { MOST = 100000 };
  static const double tiny = 1e-300, exact = 1e-16;
  double c = 1, d = 0, f = 1;
  for (int k = 1; k < MOST; k++) {
    double term = coefficient(a, b, x, k);
    d = 1 + term * d;
    d = 1 / (fabs(d) < tiny ? tiny : d);
    c = 1 + term / c;
    if (fabs(c) < tiny) c = tiny;
    f *= c * d;
    if (fabs(c * d - 1) < exact) break;
  }
  return f;
}

/* log B(a, 1/2); for large a by the asymptotic series of log(Gamma(a + 1/2) / Gamma(a)), whose logarithms are large. */
static double log_beta_half(double a)
{
  int sign;
  double root_pi = .57236494292470008707, b = 1 / a;
  if (a < 100) return root_pi + lgamma_r(a, &sign) - lgamma_r(a + .5, &sign);
  return root_pi - (.5 * log(a) - b / 8 + b * b * b / 192 - b * b * b * b * b / 640);
}

/* I_x(a, b), y = 1 - x: whoever has it without rounding keeps small results exact. */
static double incomplete_beta(double a, double b, double x, double y, double log_beta)
{
  if (x <= 0) return 0;
  if (y <= 0) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incomplete_beta(b, a, y, x, log_beta);
  return exp(a * log(x) + b * log(y) - log_beta) / (a * fraction(a, b, x));
}

double student_p(double t, double freedom)
{
  if (isnan(t) || !(freedom > 0)) return NAN;
  if (isinf(t)) return 0;
  if (freedom > 1e10) return erfc(fabs(t) / sqrt(2)); /* the normal distribution, but for 1e-10 */
  double square = t * t, x = freedom / (freedom + square), y = square / (freedom + square);
  return incomplete_beta(freedom / 2, .5, x, y, log_beta_half(freedom / 2));
}
