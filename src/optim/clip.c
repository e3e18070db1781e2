#include "optim/clip.h"

#include <math.h>

/* Squares of floats cannot overflow in double. Several sums at once, in an order that does not depend on threads. */
static double length(const float *g, size_t n)
{
  enum { LANES = 8 };
  double sum[LANES] = {0}, all = 0;
  size_t i = 0;
  for (; i + LANES <= n; i += LANES)
    for (size_t k = 0; k < LANES; k++) sum[k] += (double)g[i + k] * (double)g[i + k];
  for (; i < n; i++) sum[0] += (double)g[i] * (double)g[i];
  for (size_t k = 0; k < LANES; k++) all += sum[k];
  return sqrt(all);
}

double clip_gradient(float *g, size_t n, double limit)
{
  if (!(limit > 0)) return 0;
  double norm = length(g, n);
  if (!(norm > limit) || !isfinite(norm)) return norm;
  float factor = (float)(limit / norm);
  for (size_t i = 0; i < n; i++) g[i] *= factor;
  return norm;
}
