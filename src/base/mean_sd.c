#include "base/mean_sd.h"

#include <math.h>
#include <string.h>

static double value(const void *first, size_t stride, size_t k)
{
  double v;
  memcpy(&v, (const char *)first + k * stride, sizeof v);
  return v;
}

r4_mean_sd mean_sd_of(const void *first, size_t stride, size_t n)
{
  r4_mean_sd r = {0};
  for (size_t k = 0; k < n; k++) r.mean += value(first, stride, k) / (double)n;
  for (size_t k = 0; k < n; k++) {
    double off = value(first, stride, k) - r.mean;
    r.sd += off * off;
  }
  r.sd = n > 1 && isfinite(r.mean) ? sqrt(r.sd / (double)(n - 1)) : NAN;
  return r;
}

r4_mean_sd r4_mean_sd_of(size_t n, const double *x)
{
  return n ? mean_sd_of(x, sizeof *x, n) : (r4_mean_sd){NAN, NAN};
}
