/* Scales: from numbers to pixels, and which numbers are written at them. */
#include <math.h>

#include "report/plot/plot.h"

static bool has_place(const struct scale *s, double v)
{
  return isfinite(v) && (!s->log || v > 0);
}

struct scale scale_empty(bool log)
{
  return (struct scale){log, INFINITY, -INFINITY, 0};
}

void scale_cover(struct scale *s, double v)
{
  if (!has_place(s, v)) return;
  s->low = fmin(s->low, v);
  s->high = fmax(s->high, v);
}

void scale_round(struct scale *s)
{
  double tick[SCALE_TICKS];
  if (!(s->low <= s->high)) s->low = s->log ? 0.1 : 0, s->high = 1;
  if (s->log) {
    s->low = pow(10, floor(log10(s->low) + 1e-9));
    s->high = pow(10, ceil(log10(s->high) - 1e-9));
    if (s->high <= s->low) s->high = 10 * s->low;
    return;
  }
  if (s->high - s->low < 1e-9 * fmax(1, fabs(s->high))) s->low -= 0.5, s->high += 0.5;
  size_t n = scale_ticks(s, tick);
  double step = n > 1 ? tick[1] - tick[0] : 1;
  s->low = step * floor(s->low / step + 1e-9);
  s->high = step * ceil(s->high / step - 1e-9);
}

static void cover_series(struct scale *to, const struct plot_series *s, char which)
{
  for (size_t k = 0; k < s->n; k++) {
    double v = which == 'x' ? s->x[k] : s->y[k], spread = which == 'y' && s->spread ? s->spread[k] : 0;
    scale_cover(to, v);
    scale_cover(to, v - spread);
    scale_cover(to, v + spread);
  }
}

struct scale scale_of_axis(const struct plot_panel *p, char which, double length)
{
  const struct plot_axis *a = which == 'x' ? &p->x : &p->y;
  if (a->names) return (struct scale){false, -0.5, (double)a->names - 0.5, length};
  if (a->low < a->high && (!a->log || a->low > 0)) return (struct scale){a->log, a->low, a->high, length};
  struct scale s = scale_empty(a->log);
  for (size_t k = 0; k < p->series; k++) cover_series(&s, &p->one[k], which);
  scale_round(&s);
  s.length = length;
  return s;
}

double scale_place(const struct scale *s, double v)
{
  if (!has_place(s, v)) return NAN;
  double share =
    s->log ? (log(v) - log(s->low)) / (log(s->high) - log(s->low)) : (v - s->low) / (s->high - s->low);
  return share < -0.001 || share > 1.001 ? NAN : share * s->length;
}

/* Every n-th power of ten. */
static size_t log_ticks(const struct scale *s, double tick[SCALE_TICKS])
{
  int low = (int)ceil(log10(s->low) - 1e-9), high = (int)floor(log10(s->high) + 1e-9);
  int step = (high - low) / 6 + 1;
  size_t n = 0;
  for (int k = low; k <= high && n < SCALE_TICKS; k += step) tick[n++] = pow(10, k);
  return n;
}

/* Multiples of 1, 2 or 5 times a power of ten: four to eight of them. */
size_t scale_ticks(const struct scale *s, double tick[SCALE_TICKS])
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
  for (; n < SCALE_TICKS && (first + (double)n) * step <= s->high + 1e-9 * step; n++)
    tick[n] = (first + (double)n) * step;
  return n;
}
