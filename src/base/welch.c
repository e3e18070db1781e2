/* Whether two lists of figures differ by more than chance.
 *
 * Welch's t test, which does not take the variances to be equal:
 *
 *     t = (mean_a - mean_b) / sqrt(u_a + u_b),    u = variance / n
 *     (u_a + u_b)^2 / (u_a^2 / (n_a - 1) + u_b^2 / (n_b - 1)) degrees of freedom
 *
 * Holm's correction for n comparisons, p_1 <= .. <= p_n: those with adjusted p <= alpha differ, and the chance
 * that any of them does not is at most alpha:
 *
 *     adjusted_k = max_{j <= k} min(1, (n - j + 1) p_j) */
#include <math.h>

#include "base/student.h"
#include "r4_tools.h"

double r4_welch_p(size_t n_a, const double *a, size_t n_b, const double *b)
{
  if (n_a < 2 || n_b < 2) return NAN;
  r4_mean_sd of_a = r4_mean_sd_of(n_a, a), of_b = r4_mean_sd_of(n_b, b);
  if (!isfinite(of_a.mean) || !isfinite(of_b.mean)) return NAN;
  double u_a = of_a.sd * of_a.sd / (double)n_a, u_b = of_b.sd * of_b.sd / (double)n_b, u = u_a + u_b;
  if (!(u > 0)) return of_a.mean == of_b.mean; /* without any spread */
  double freedom = u * u / (u_a * u_a / (double)(n_a - 1) + u_b * u_b / (double)(n_b - 1));
  return student_p((of_a.mean - of_b.mean) / sqrt(u), freedom);
}

/* How many of n are smaller than the k-th. Of equal ones the first has the largest product, and counts for all. */
static size_t smaller(size_t n, const double *p, size_t k)
{
  size_t found = 0;
  for (size_t i = 0; i < n; i++) found += p[i] < p[k];
  return found;
}

void r4_holm(size_t n, const double *p, double *adjusted)
{
  size_t all = 0;
  for (size_t k = 0; k < n; k++) if (!isnan(p[k])) all++;
  for (size_t k = 0; k < n; k++) {
    adjusted[k] = isnan(p[k]) ? NAN : 0;
    for (size_t j = 0; j < n; j++)
      if (p[j] <= p[k]) adjusted[k] = fmax(adjusted[k], fmin(1, (double)(all - smaller(n, p, j)) * p[j]));
  }
}
