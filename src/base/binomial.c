#include "base/binomial.h"

#include <math.h>

/* From the logarithms of its terms. */
double binomial_at_most(double k, double n, double p)
{
  double sum = 0;
  for (double j = 0; j <= k; j++)
    sum += exp(lgamma(n + 1) - lgamma(j + 1) - lgamma(n - j + 1) + j * log(p) + (n - j) * log1p(-p));
  return sum;
}
