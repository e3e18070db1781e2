/* The difference of two means over the same examples. With d_i = a_i - b_i, its mean m and its standard deviation s,
 *
 *     m  -+  1.96 s / sqrt(n)
 *
 * What makes an example hard is in a_i and in b_i, and cancels: the interval is shorter than that of two sets. */
#include <math.h>

#include "base/error.h"
#include "r4_tools.h"

r4_interval r4_paired_difference(size_t n, const double *a, const double *b)
{
  double mean = 0, squares = 0;
  for (size_t i = 0; i < n; i++) mean += (a[i] - b[i]) / (double)n;
  for (size_t i = 0; i < n; i++) squares += pow(a[i] - b[i] - mean, 2);
  if (n < 2) return (r4_interval){n ? mean : NAN, NAN, NAN};
  double half = 1.959963984540054 * sqrt(squares / (double)(n - 1) / (double)n);
  return (r4_interval){mean, mean - half, mean + half};
}
