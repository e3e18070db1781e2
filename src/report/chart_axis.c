/* Axes: from numbers to pixels, and which numbers are written at them. */
#include <float.h>
#include <math.h>

#include "report/chart.h"

struct range {
  double low, high;
};

static void widen(struct range *r, bool log, double v)
{
  if (!isfinite(v) || (log && v <= 0)) return;
  r->low = fmin(r->low, v);
  r->high = fmax(r->high, v);
}

static struct range range_of(const struct chart_panel *p, char which, bool log)
{
  struct range r = {DBL_MAX, -DBL_MAX};
  for (const struct chart_series *s = p->one; s < p->one + p->series; s++)
    for (size_t k = 0; k < s->n; k++) {
      double v = which == 'x' ? s->x[k] : s->y[k], spread = which == 'y' && s->spread ? s->spread[k] : 0;
      widen(&r, log, v);
      if (isfinite(spread)) widen(&r, log, v - spread), widen(&r, log, v + spread);
    }
  return r;
}

/* Round numbers at both ends: 5 % more, or whole powers of ten. */
static struct range roomy(struct range r, bool log)
{
  if (r.low > r.high) return log ? (struct range){1, 10} : (struct range){0, 1};
  if (log) {
    double low = floor(log10(r.low)), high = ceil(log10(r.high));
    return (struct range){pow(10, low), pow(10, high > low ? high : low + 1)};
  }
  double more = r.high > r.low ? 0.05 * (r.high - r.low) : fmax(0.5, 0.05 * fabs(r.high));
  return (struct range){r.low - more, r.high + more};
}

struct chart_scale chart_scale(const struct chart_panel *p, char which, double length)
{
  const struct chart_axis *a = which == 'x' ? &p->x : &p->y;
  bool log = a->log && !a->names;
  struct range r = roomy(range_of(p, which, log), log);
  if (a->names) r = (struct range){-0.5, (double)a->names - 0.5};
  if (!a->names && a->low < a->high && (!log || a->low > 0)) r = (struct range){a->low, a->high};
  return (struct chart_scale){log, r.low, r.high, length};
}

double chart_place(const struct chart_scale *s, double v)
{
  if (!isfinite(v) || (s->log && v <= 0)) return NAN;
  double share =
    s->log ? (log(v) - log(s->low)) / (log(s->high) - log(s->low)) : (v - s->low) / (s->high - s->low);
  return share < -0.001 || share > 1.001 ? NAN : share * s->length;
}

/* Every n-th power of ten. */
static size_t log_ticks(const struct chart_scale *s, double tick[CHART_TICKS])
{
  int low = (int)ceil(log10(s->low) - 1e-9), high = (int)floor(log10(s->high) + 1e-9);
  int step = (high - low) / 6 + 1;
  size_t n = 0;
  for (int k = low; k <= high && n < CHART_TICKS; k += step) tick[n++] = pow(10, k);
  return n;
}

/* Multiples of 1, 2 or 5 times a power of ten: four to eight of them. */
size_t chart_ticks(const struct chart_scale *s, double tick[CHART_TICKS])
{
  if (s->log) {
    size_t n = log_ticks(s, tick);
    if (n > 1) return n;
  }
  static const double factor[] = {1, 2, 5, 10};
  double rough = (s->high - s->low) / 7, unit = pow(10, floor(log10(rough)));
  int k = 0;
  while (k < 3 && factor[k] * unit < rough * (1 - 1e-9)) k++;
  double step = factor[k] * unit, first = ceil(s->low / step - 1e-9);
  size_t n = 0;
  for (; n < CHART_TICKS && (first + (double)n) * step <= s->high + 1e-9 * step; n++)
    tick[n] = (first + (double)n) * step;
  return n;
}
