#include "report/picture/heat.h"

#include <math.h>
#include <stdlib.h>

/* ---- Colours ---- */

struct oklab {
  double l, a, b;
};

static const struct oklab BLUE = {0.45, -0.03, -0.16}, RED = {0.45, 0.145, 0.073},
                          VIOLET = {0.32, 0.096, -0.115};

/* The transfer curve of sRGB, in bytes. */
static uint8_t byte_of(double linear)
{
  double v = linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;
  return (uint8_t)(255 * fmin(fmax(v, 0), 1) + 0.5);
}

static double cube(double x)
{
  return x * x * x;
}

/* From Oklab (B. Ottosson, 2020) by way of the cones to sRGB. */
static struct colour colour_of(struct oklab c)
{
  double l = cube(c.l + 0.3963377774 * c.a + 0.2158037573 * c.b);
  double m = cube(c.l - 0.1055613458 * c.a - 0.0638541728 * c.b);
  double s = cube(c.l - 0.0894841775 * c.a - 1.2914855480 * c.b);
  return (struct colour){{byte_of(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
                          byte_of(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
                          byte_of(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)}};
}

/* A share of the way from white to a colour. */
static struct colour mixed(struct oklab to, double share)
{
  double t = fmin(share, 1);
  return colour_of((struct oklab){1 + t * (to.l - 1), t * to.a, t * to.b});
}

struct colour heat_signed(double v)
{
  if (isnan(v)) return (struct colour){{128, 128, 128}};
  return v < 0 ? mixed(BLUE, -v) : mixed(RED, v);
}

struct colour heat_width(double v)
{
  return mixed(VIOLET, v);
}

/* ---- Values ---- */

void heat_pixels(size_t pixels, size_t channels, const float *a, float *to)
{
  for (size_t k = 0; k < pixels; k++) {
    double sum = 0;
    for (size_t c = 0; c < channels; c++) sum += a[k * channels + c];
    to[k] = (float)sum;
  }
}

static int by_value(const void *a, const void *b)
{
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

double heat_scale(size_t n, const float *v, float *work)
{
  size_t finite = 0;
  for (size_t k = 0; k < n; k++)
    if (isfinite(v[k])) work[finite++] = fabsf(v[k]);
  if (!finite) return 0;
  qsort(work, finite, sizeof *work, by_value);
  float s = work[(finite * 995 + 999) / 1000 - 1];
  return s > 0 ? s : work[finite - 1];
}
