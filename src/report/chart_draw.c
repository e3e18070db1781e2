/* What is inside a panel: lines with bands, points, a heat map. */
#include <math.h>

#include "base/plain.h"
#include "report/chart.h"

/* Colours that people with any colour vision tell apart (Okabe and Ito). After these, lines are dashed. */
static const char *const palette[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#000000"};
enum { COLOURS = sizeof palette / sizeof *palette };

const char *chart_colour(size_t number)
{
  return palette[number % COLOURS];
}

static const char *dashes(size_t number)
{
  static const char *const kind[] = {"", " stroke-dasharray='6 3'", " stroke-dasharray='2 2'"};
  return kind[number / COLOURS % 3];
}

/* ---- Text ---- */

/* What would be markup is escaped; controls and what is no UTF-8 come as r4_text_shown shows them. */
static void add_escaped(struct text *t, const char *s)
{
  char shown[200];
  r4_text_shown(s, shown, sizeof shown);
  for (const char *c = shown; *c; c++)
    if (*c == '<')
      text_add(t, "&lt;");
    else if (*c == '&')
      text_add(t, "&amp;");
    else
      text_add(t, "%c", *c);
}

void chart_text(struct text *t, double x, double y, const char *anchor, const char *more, const char *s)
{
  if (!s || !*s) return;
  text_add(t, "<text x='%.1f' y='%.1f' text-anchor='%s'%s>", x, y, anchor, more);
  add_escaped(t, s);
  text_add(t, "</text>\n");
}

/* ---- Lines ---- */

struct place {
  double x, y;
};

struct view {
  struct chart_box b;
  struct chart_scale x, y;
};

static struct place place(const struct view *v, double x, double y)
{
  return (struct place){v->b.left + chart_place(&v->x, x), v->b.top + v->b.height - chart_place(&v->y, y)};
}

static bool is_seen(struct place p)
{
  return !isnan(p.x) && !isnan(p.y);
}

/* y - spread or y + spread, at the edge of the panel if it is outside. */
static struct place edge(const struct view *v, const struct chart_series *s, size_t k, double sign)
{
  double y = s->y[k] + sign * s->spread[k], low = v->y.low, high = v->y.high;
  return place(v, s->x[k], y < low ? low : y > high ? high : y);
}

static bool has_band(const struct view *v, const struct chart_series *s, size_t k)
{
  return s->spread && isfinite(s->spread[k]) && is_seen(place(v, s->x[k], s->y[k]));
}

/* From point first up to, but not with, last: along the lower edge and back along the upper one. */
static void draw_band(struct text *t, const struct view *v, const struct chart_series *s, size_t first,
                      size_t last)
{
  text_add(t, "<path d='");
  for (size_t k = first; k < last; k++) {
    struct place p = edge(v, s, k, -1);
    text_add(t, "%c%.1f %.1f", k == first ? 'M' : 'L', p.x, p.y);
  }
  for (size_t k = last; k-- > first;) {
    struct place p = edge(v, s, k, 1);
    text_add(t, "L%.1f %.1f", p.x, p.y);
  }
  text_add(t, "Z' fill='%s' fill-opacity='0.15'/>\n", chart_colour(s->number));
}

/* A point that cannot be shown leaves a gap. */
static void draw_bands(struct text *t, const struct view *v, const struct chart_series *s)
{
  for (size_t first = 0, last; first < s->n; first = last + 1) {
    for (last = first; last < s->n && has_band(v, s, last);) last++;
    if (last > first + 1) draw_band(t, v, s, first, last);
  }
}

static void draw_line(struct text *t, const struct view *v, const struct chart_series *s)
{
  bool down = false;
  text_add(t, "<path d='");
  for (size_t k = 0; k < s->n; k++) {
    struct place p = place(v, s->x[k], s->y[k]);
    if (is_seen(p)) text_add(t, "%c%.1f %.1f", down ? 'L' : 'M', p.x, p.y);
    down = is_seen(p);
  }
  text_add(t, "' fill='none' stroke='%s' stroke-width='1.8'%s/>\n", chart_colour(s->number),
           dashes(s->number));
}

static void draw_points(struct text *t, const struct view *v, const struct chart_series *s)
{
  for (size_t k = 0; k < s->n; k++) {
    struct place p = place(v, s->x[k], s->y[k]);
    if (is_seen(p))
      text_add(t, "<circle cx='%.1f' cy='%.1f' r='2.6' fill='%s'/>\n", p.x, p.y, chart_colour(s->number));
  }
}

static void draw_series(struct text *t, const struct view *v, const struct chart_panel *p)
{
  for (size_t k = 0; k < p->series; k++) draw_bands(t, v, &p->one[k]);
  for (size_t k = 0; k < p->series; k++) {
    if (p->one[k].line) draw_line(t, v, &p->one[k]);
    draw_points(t, v, &p->one[k]);
  }
}

void chart_sample(struct text *t, size_t number, double x, double y)
{
  text_add(t, "<path d='M%.1f %.1fh22' stroke='%s' stroke-width='1.8'%s/>\n", x, y, chart_colour(number),
           dashes(number));
  text_add(t, "<circle cx='%.1f' cy='%.1f' r='2.6' fill='%s'/>\n", x + 11, y, chart_colour(number));
}

/* ---- Heat maps ---- */

/* From light to dark: pale yellow, green-blue, dark blue. */
static void heat_colour(double share, int rgb[3])
{
  static const double stop[][3] = {{255, 247, 200}, {65, 170, 190}, {20, 40, 110}};
  double at = fmin(fmax(share, 0), 1) * 2;
  int k = at < 1 ? 0 : 1;
  for (int c = 0; c < 3; c++) rgb[c] = (int)lround(stop[k][c] + (at - k) * (stop[k + 1][c] - stop[k][c]));
}

static void draw_cell(struct text *t, struct chart_box b, double v, double share)
{
  int rgb[3] = {240, 240, 240};
  char number[32] = "-";
  if (!isnan(v)) plain_print(number, sizeof number, fabs(v) >= 1000 ? "%.0f" : "%.3g", v);
  if (!isnan(share)) heat_colour(share, rgb);
  text_add(t, "<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' fill='#%02x%02x%02x'/>\n", b.left, b.top,
           b.width, b.height, (unsigned)rgb[0], (unsigned)rgb[1], (unsigned)rgb[2]);
  bool dark = 299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2] < 130000;
  chart_text(t, b.left + b.width / 2, b.top + b.height / 2 + 4, "middle",
             dark ? " font-size='10' fill='#ffffff'" : " font-size='10'", number);
}

/* Colours go from the least to the largest value, or over the range of the y axis, whose rows have names. */
static void draw_heat(struct text *t, const struct chart_panel *p, struct chart_box b)
{
  size_t rows = p->y.names, columns = p->x.names;
  double least = INFINITY, most = -INFINITY, w = b.width / (double)columns, h = b.height / (double)rows;
  for (size_t k = 0; k < rows * columns; k++)
    if (isfinite(p->heat[k])) least = fmin(least, p->heat[k]), most = fmax(most, p->heat[k]);
  if (p->y.low < p->y.high) least = p->y.low, most = p->y.high;
  for (size_t k = 0; k < rows * columns; k++) {
    struct chart_box cell = {b.left + (double)(k % columns) * w, b.top + (double)(k / columns) * h, w, h};
    double v = p->heat[k], share = most > least ? (v - least) / (most - least) : 0.5;
    draw_cell(t, cell, v, isfinite(v) ? share : NAN);
  }
}

void chart_draw(struct text *t, const struct chart_panel *p, struct chart_box b)
{
  struct view v = {b, chart_scale(p, 'x', b.width), chart_scale(p, 'y', b.height)};
  if (p->heat) draw_heat(t, p, b);
  draw_series(t, &v, p);
}
