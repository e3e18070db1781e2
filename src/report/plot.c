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
  return figure_real(fabs(v) < 1e-12 ? 0 : v, fabs(v) >= 1000 && fabs(v) < 1e6 ? 6 : 3);
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

/* What the x axis is about. */
static void add_about(struct plot *p, const char *about)
{
  html_add(p->h, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>", (double)PLOT_WIDTH - p->right,
           p->height - 4, about);
}

void plot_x_grid(struct plot *p, const char *about)
{
  double tick[CHART_TICKS];
  size_t n = chart_ticks(&p->x, tick);
  for (size_t k = 0; k < n; k++)
    if (!p->whole || fabs(tick[k] - round(tick[k])) < 1e-9)
      html_add(p->h,
               "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/><text x=\"%.1f\" y=\"%.1f\" "
               "text-anchor=\"middle\">%s</text>",
               x_of(p, tick[k]), p->top, p->height - p->bottom, x_of(p, tick[k]), p->height - p->bottom + 15,
               tick_of(tick[k]).s);
  add_about(p, about);
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

void plot_dots(struct plot *p, size_t series, size_t n, const double *x, const double *y)
{
  for (size_t k = 0; k < n; k++)
    if (has_place(&p->y, y[k])) add_point(p, series, x[k], y[k]);
}

/* ---- Names ---- */

enum { NAME_LETTERS = 20 };
static const double LETTER = 7.4; /* the width of most */

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

/* What does not fit is in the table. */
static void add_name(struct plot *p, const char *name, size_t most, const char *anchor, double x, double y)
{
  enum { SIZE = 4 * NAME_LETTERS + 8 };
  char cut[SIZE];
  size_t letters, n = first_letters(name, most, &letters);
  if (n > SIZE - 8) n = SIZE - 8;
  snprintf(cut, sizeof cut, "%.*s%s", (int)n, name, name[n] ? "\u2026" : "");
  html_add(p->h, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>", x, y + 4, anchor, cut);
}

/* In so many columns of this width; if they are narrow, every second, third .. has its name. */
static void add_names_below(struct plot *p, size_t n, const char *const *name, double first, double width)
{
  enum { LEAST_WIDTH = 30 };
  size_t stride = n ? (size_t)ceil(LEAST_WIDTH / width) : 1;
  double letters = fmin(floor((double)stride * width / LETTER), NAME_LETTERS);
  for (size_t k = 0; k < n; k += stride)
    add_name(p, name[k], (size_t)letters, "middle", first + (double)k * width, p->height - p->bottom + 11);
}

void plot_x_names(struct plot *p, size_t n, const char *const *name, const char *about)
{
  for (size_t k = 0; k < n; k++)
    html_add(p->h, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>", x_of(p, (double)k), p->top,
             p->height - p->bottom);
  add_names_below(p, n, name, x_of(p, 0), x_of(p, 1) - x_of(p, 0));
  add_about(p, about);
}

/* ---- Cells ---- */

enum { CELL = 28 }; /* height */

struct plot plot_of_cells(struct html *h, size_t rows, const char *const *name)
{
  struct plot p = {
    .h = h, .height = 58 + (double)rows * CELL, .left = 14, .right = 4, .top = 20, .bottom = 38};
  for (size_t k = 0; k < rows; k++) plot_fit_name(&p, name[k]);
  return p;
}

static double cell_width(const struct plot *p, size_t columns)
{
  return p->x.length / (double)columns;
}

/* Faint enough for the number to be read on it, in the dark as well. */
void plot_cell(struct plot *p, size_t columns, size_t column, size_t row, double percent)
{
  enum { NUMBER = 34 };
  const double faint = 0.03, strong = 0.45;
  double width = cell_width(p, columns), height = CELL, x = p->left + (double)column * width,
         y = p->top + (double)row * height;
  if (isnan(percent)) return;
  html_add(
    p->h, "<rect class=\"cell\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill-opacity=\"%.3f\"/>",
    x, y, width - 1, height - 1, faint + (strong - faint) * percent / 100);
  if (width >= NUMBER)
    html_add(p->h, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%.1f</text>", x + width / 2,
             y + height / 2 + 4, percent);
}

void plot_cell_names(struct plot *p, size_t columns, const char *const *x, const char *x_about, size_t rows,
                     const char *const *y, const char *y_about)
{
  double width = cell_width(p, columns);
  for (size_t k = 0; k < rows; k++)
    add_name(p, y[k], NAME_LETTERS, "end", p->left - 5, p->top + ((double)k + 0.5) * CELL);
  add_names_below(p, columns, x, p->left + width / 2, width);
  html_add(p->h, "<text x=\"2\" y=\"13\">%s</text>", y_about);
  add_about(p, x_about);
}

/* ---- Rows ---- */

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

void plot_fit_name(struct plot *p, const char *name)
{
  size_t letters;
  bool cut = name[first_letters(name, NAME_LETTERS, &letters)];
  p->left = fmax(p->left, 11 + LETTER * (double)(letters + (cut ? 1 : 0)));
}

void plot_row(struct plot *p, size_t k, enum plot_mark mark, size_t series, const char *name, r4_mean_sd v,
              const char *number)
{
  double y = p->top + ((double)k + 0.5) * PLOT_ROW;
  size_t s = series % PLOT_SERIES;
  add_name(p, name, NAME_LETTERS, "end", p->left - 5, y);
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
