#include "base/hypergeometric.h"

#include <math.h>

static double log_choose(double n, double k)
{
  int sign;
  return lgamma_r(n + 1, &sign) - lgamma_r(k + 1, &sign) - lgamma_r(n - k + 1, &sign);
}

/* P(X = i) = C(of, i) C(n - of, m - i) / C(n, m), and with each next i the ratio
 *
 *     P(X = i + 1) / P(X = i) = (of - i) (m - i) / ((i + 1) (n - of - m + i + 1)) */
double hypergeometric_tail(size_t n, size_t of, size_t m, size_t k)
{
  size_t least = m > n - of ? m - (n - of) : 0, most = m < of ? m : of;
  double N = (double)n, K = (double)of, M = (double)m, sum = 1, term = 1;
  if (k <= least) return 0;
  if (k > most) return -INFINITY;
  double first = log_choose(K, (double)k) + log_choose(N - K, M - (double)k) - log_choose(N, M);
  for (double i = (double)k; i < (double)most && term > 1e-17 * sum; i++) {
    term *= (K - i) * (M - i) / ((i + 1) * (N - K - M + i + 1));
    sum += term;
  }
  return fmin(0, first + log(sum));
}
