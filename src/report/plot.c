#include "report/plot.h"

#include <math.h>
#include <stdio.h>

/* ---- Scales ---- */

static bool has_place(const struct chart_scale *s, double v)
{
  return isfinite(v) && (!s->log || v > 0);
}

void scale_cover(struct chart_scale *s, double v)
{
  if (!has_place(s, v)) return;
  s->low = fmin(s->low, v);
  s->high = fmax(s->high, v);
}

void scale_round(struct chart_scale *s)
{
  double tick[CHART_TICKS];
  if (!(s->low <= s->high)) *s = (struct chart_scale){s->log, s->log ? 0.1 : 0, 1, 0};
  if (s->log) {
    s->low = pow(10, floor(log10(s->low) + 1e-9));
    s->high = pow(10, ceil(log10(s->high) - 1e-9));
    if (s->high <= s->low) s->high = 10 * s->low;
    return;
  }
  if (s->high - s->low < 1e-9 * fmax(1, fabs(s->high))) s->low -= 0.5, s->high += 0.5;
  size_t n = chart_ticks(s, tick);
  double step = n > 1 ? tick[1] - tick[0] : 1;
  s->low = step * floor(s->low / step + 1e-9);
  s->high = step * ceil(s->high / step - 1e-9);
}

/* What is beside an axis stands at its end. */
static double place_on(const struct chart_scale *s, double v)
{
  return chart_place(s, fmin(fmax(v, s->low), s->high));
}

static double x_of(const struct plot *p, double v)
{
  return p->left + place_on(&p->x, v);
}

static double y_of(const struct plot *p, double v)
{
  return p->height - p->bottom - place_on(&p->y, v);
}

/* ---- The frame ---- */

void plot_begin(struct plot *p, const char *title)
{
  p->x.length = PLOT_WIDTH - p->left - p->right;
  p->y.length = p->height - p->top - p->bottom;
  html_add(p->h, "<svg class=\"plot\" viewBox=\"0 0 %d %.0f\" role=\"img\" aria-label=\"%s\">", PLOT_WIDTH,
           p->height, title);
}

void plot_end(struct plot *p)
{
  html_add(p->h, "</svg>\n");
}

/* 0.001, 10, and 1e-5 where it would be long. */
static struct figure tick_of(double v)
{
  return figure_real(fabs(v) < 1e-12 ? 0 : v, 3);
}

void plot_y_grid(struct plot *p)
{
  double tick[CHART_TICKS];
  size_t n = chart_ticks(&p->y, tick);
  for (size_t k = 0; k < n; k++)
    html_add(p->h,
             "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/><text x=\"%.1f\" y=\"%.1f\" "
             "text-anchor=\"end\">%s</text>",
             p->left, y_of(p, tick[k]), PLOT_WIDTH - p->right, p->left - 5, y_of(p, tick[k]) + 4,
             tick_of(tick[k]).s);
}

void plot_x_grid(struct plot *p, const char *about)
{
  double tick[CHART_TICKS];
  size_t n = chart_ticks(&p->x, tick);
  for (size_t k = 0; k < n; k++)
    html_add(p->h,
             "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/><text x=\"%.1f\" y=\"%.1f\" "
             "text-anchor=\"middle\">%s</text>",
             x_of(p, tick[k]), p->top, p->height - p->bottom, x_of(p, tick[k]), p->height - p->bottom + 15,
             tick_of(tick[k]).s);
  html_add(p->h, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>", (double)PLOT_WIDTH - p->right,
           p->height - 4, about);
}

/* ---- Lines ---- */

static void add_band(struct plot *p, size_t series, size_t n, const double *x, const double *lo,
                     const double *hi)
{
  size_t points = 0;
  html_add(p->h, "<path class=\"band s%zu\" d=\"", series % PLOT_SERIES);
  for (size_t k = 0; k < n; k++)
    if (has_place(&p->y, hi[k]))
      html_add(p->h, "%c%.1f %.1f", points++ ? 'L' : 'M', x_of(p, x[k]), y_of(p, hi[k]));
  for (size_t k = n; k-- > 0;)
    if (has_place(&p->y, hi[k])) html_add(p->h, "L%.1f %.1f", x_of(p, x[k]), y_of(p, lo[k]));
  html_add(p->h, "%s\"/>", points ? "Z" : "");
}

static void add_point(struct plot *p, size_t series, double x, double y)
{
  html_add(p->h, "<circle class=\"dot s%zu\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>", series % PLOT_SERIES,
           x_of(p, x), y_of(p, y));
}

void plot_line(struct plot *p, size_t series, size_t n, const double *x, const double *y, const double *lo,
               const double *hi)
{
  if (lo && hi) add_band(p, series, n, x, lo, hi);
  html_add(p->h, "<path class=\"line s%zu\" d=\"", series % PLOT_SERIES);
  bool drawn = false;
  size_t last = n;
  for (size_t k = 0; k < n; k++) {
    bool place = has_place(&p->y, y[k]);
    if (place) html_add(p->h, "%c%.1f %.1f", drawn ? 'L' : 'M', x_of(p, x[k]), y_of(p, y[k])), last = k;
    drawn = place;
  }
  html_add(p->h, "\"/>");
  if (last < n) add_point(p, series, x[last], y[last]);
}

/* ---- Rows ---- */

enum { NAME_LETTERS = 15 };
static const double LETTER = 7.4; /* the width of most */

struct plot plot_of_rows(struct html *h, size_t rows, size_t letters, struct chart_scale x)
{
  return (struct plot){.h = h,
                       .height = 38 + (double)rows * PLOT_ROW,
                       .left = 14,
                       .right = 10 + LETTER * (double)letters,
                       .top = 4,
                       .bottom = 34,
                       .x = x};
}

/* Bytes of the first letters of a name, at most so many. */
static size_t first_letters(const char *name, size_t most, size_t *letters)
{
  size_t n = 0;
  for (*letters = 0; name[n]; n++) {
    bool begins = ((unsigned char)name[n] & 0xc0) != 0x80;
    if (begins && *letters == most) break;
    *letters += begins;
  }
  return n;
}

void plot_fit_name(struct plot *p, const char *name)
{
  size_t letters;
  bool cut = name[first_letters(name, NAME_LETTERS, &letters)];
  p->left = fmax(p->left, 11 + LETTER * (double)(letters + (cut ? 1 : 0)));
}

/* What does not fit is in the table. */
static void add_name(struct plot *p, const char *name, double y)
{
  enum { SIZE = 4 * NAME_LETTERS + 8 };
  char cut[SIZE];
  size_t letters, n = first_letters(name, NAME_LETTERS, &letters);
  if (n > SIZE - 8) n = SIZE - 8;
  snprintf(cut, sizeof cut, "%.*s%s", (int)n, name, name[n] ? "\u2026" : "");
  html_add(p->h, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>", p->left - 5, y + 4, cut);
}

void plot_row(struct plot *p, size_t k, enum plot_mark mark, size_t series, const char *name, r4_mean_sd v,
              const char *number)
{
  double y = p->top + ((double)k + 0.5) * PLOT_ROW;
  size_t s = series % PLOT_SERIES;
  add_name(p, name, y);
  if (has_place(&p->x, v.mean) && mark == PLOT_BAR)
    html_add(p->h, "<rect class=\"bar s%zu\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\"/>", s,
             p->left, y - 7, x_of(p, v.mean) - p->left, 14);
  if (has_place(&p->x, v.mean) && mark == PLOT_DOT) {
    html_add(p->h, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>", p->left, y, x_of(p, v.mean));
    html_add(p->h, "<circle class=\"dot s%zu\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/>", s, x_of(p, v.mean), y);
  }
  if (has_place(&p->x, v.mean) && isfinite(v.sd) && v.sd > 0)
    html_add(p->h, "<path class=\"whisker\" d=\"M%.1f %.1fH%.1f\"/>", x_of(p, v.mean - v.sd), y,
             x_of(p, v.mean + v.sd));
  html_add(p->h, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>", PLOT_WIDTH, y + 4, number);
}
