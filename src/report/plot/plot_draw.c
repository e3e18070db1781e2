/* A panel: its axes, and lines with bands, points or a heat map. */
#include <math.h>
#include <stdio.h>

#include "base/c_locale.h"
#include "report/plot/plot.h"

/* ---- Looks ---- */

/* Those of page.css in the light: of at least 3:1 on the ground. Dashes tell lines apart without colours. */
static const struct {
  const char *colour, *dashes;
} look[PLANE_SERIES] = {{"#bd4408", "none"}, {"#0b63c4", "7 3"},  {"#0e7a5c", "2 3"},         {"#8538b0", "9 3 2 3"},
                        {"#8a5b00", "12 4"}, {"#b01e5c", "4 4"}, {"#3a6b8c", "9 3 2 3 2 3"}, {"#5b661a", "1 4"}};

static void add_class(const struct plane *p, enum plane_mark m, size_t k)
{
  static const char *const name[] = {"grid", "line", "band", "dot", "cell"};
  html_add(p->h, " class=\"%s", name[m]);
  if (m != MARK_GRID && m != MARK_CELL) html_add(p->h, " s%zu", k);
  html_add(p->h, "\"");
}

static void add_colours(const struct plane *p, enum plane_mark m, size_t k)
{
  if (m == MARK_GRID) html_add(p->h, " fill=\"none\" stroke=\"#e4e4e1\"");
  if (m == MARK_LINE)
    html_add(p->h, " fill=\"none\" stroke=\"%s\" stroke-width=\"2.25\" stroke-dasharray=\"%s\"", look[k].colour,
             look[k].dashes);
  if (m == MARK_BAND) html_add(p->h, " fill=\"%s\" fill-opacity=\"0.16\"", look[k].colour);
  if (m == MARK_DOT) html_add(p->h, " fill=\"%s\"", look[k].colour);
  if (m == MARK_CELL) html_add(p->h, " fill=\"%s\"", look[1].colour);
}

void plane_style(const struct plane *p, enum plane_mark m, size_t series)
{
  (p->in_page ? add_class : add_colours)(p, m, series % PLANE_SERIES);
}

static void begin(const struct plane *p, const char *element, enum plane_mark m, size_t series)
{
  html_add(p->h, "<%s", element);
  plane_style(p, m, series);
}

/* ---- Text ---- */

void plane_text(const struct plane *p, double x, double y, const char *anchor, const char *more, const char *s)
{
  if (!s || !*s) return;
  html_add(p->h, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"", x, y, anchor);
  html_copy(p->h, more);
  html_add(p->h, ">%s</text>\n", s);
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

double plane_name_width(const char *name)
{
  size_t letters;
  bool cut = name[first_letters(name, PLANE_NAME, &letters)];
  return PLANE_LETTER * (double)(letters + (cut ? 1 : 0));
}

void plane_name(const struct plane *p, const char *name, size_t most, const char *anchor, double x, double y)
{
  enum { SIZE = 256 };
  char cut[SIZE];
  size_t letters, n = first_letters(name, most, &letters);
  if (n > SIZE - 8) n = SIZE - 8;
  snprintf(cut, sizeof cut, "%.*s%s", (int)n, name, name[n] ? "\u2026" : "");
  plane_text(p, x, y + 4, anchor, "", cut);
}

/* ---- Axes ---- */

struct place {
  double x, y;
};

static struct place place(const struct plane *p, double x, double y)
{
  return (struct place){p->left + scale_place(&p->x, x), p->top + p->height - scale_place(&p->y, y)};
}

static bool is_seen(struct place p)
{
  return !isnan(p.x) && !isnan(p.y);
}

static void draw_x_grid(const struct plane *p, double x)
{
  begin(p, "path", MARK_GRID, 0);
  html_add(p->h, " d=\"M%.1f %.1fV%.1f\"/>", x, p->top, p->top + p->height);
}

static void draw_y_grid(const struct plane *p, double y)
{
  begin(p, "path", MARK_GRID, 0);
  html_add(p->h, " d=\"M%.1f %.1fH%.1f\"/>", p->left, y, p->left + p->width);
}

/* 0.001, 10, and 1e-5 where it would be long. */
static struct figure tick_of(double v)
{
  return figure_real(fabs(v) < 1e-12 ? 0 : v, fabs(v) >= 1000 && fabs(v) < 1e6 ? 6 : 3);
}

void plane_x_numbers(const struct plane *p, bool whole)
{
  double tick[SCALE_TICKS];
  size_t n = scale_ticks(&p->x, tick);
  for (size_t k = 0; k < n; k++) {
    double x = p->left + scale_place(&p->x, tick[k]);
    if (whole && fabs(tick[k] - round(tick[k])) > 1e-9) continue;
    draw_x_grid(p, x);
    plane_text(p, x, p->top + p->height + 15, "middle", "", tick_of(tick[k]).s);
  }
}

static void draw_y_numbers(const struct plane *p)
{
  double tick[SCALE_TICKS];
  size_t n = scale_ticks(&p->y, tick);
  for (size_t k = 0; k < n; k++) {
    double y = p->top + p->height - scale_place(&p->y, tick[k]);
    draw_y_grid(p, y);
    plane_text(p, p->left - 5, y + 4, "end", "", tick_of(tick[k]).s);
  }
}

/* In a page they are cut to their room, and every second, third .. is there if it is narrow: a table has them. */
static void draw_x_names(const struct plane *p, const struct plot_axis *a, bool grid)
{
  enum { LEAST_WIDTH = 30, MOST_LETTERS = 60 };
  double width = p->width / (double)a->names;
  size_t stride = p->in_page ? (size_t)ceil(LEAST_WIDTH / width) : 1;
  double letters = p->in_page ? fmin(floor((double)stride * width / PLANE_LETTER), PLANE_NAME) : MOST_LETTERS;
  for (size_t k = 0; k < a->names; k++) {
    double x = p->left + ((double)k + 0.5) * width;
    if (grid) draw_x_grid(p, x);
    if (k % stride == 0) plane_name(p, a->name[k], (size_t)letters, "middle", x, p->top + p->height + 11);
  }
}

/* Those of a heat map's rows go from the top. */
static void draw_y_names(const struct plane *p, const struct plot_axis *a, bool from_top)
{
  for (size_t k = 0; k < a->names; k++) {
    double row = (double)(from_top ? k : a->names - 1 - k) + 0.5, y = p->top + row * p->height / (double)a->names;
    if (!from_top) draw_y_grid(p, y);
    plane_name(p, a->name[k], PLANE_NAME, "end", p->left - 5, y);
  }
}

void plane_x_about(const struct plane *p, const char *about)
{
  plane_text(p, p->left + p->width, p->top + p->height + 32, "end", "", about);
}

static void draw_y_about(const struct plane *p, const char *about)
{
  char turned[96];
  double x = p->edge + 12, y = p->top + p->height / 2;
  c_locale_print(turned, sizeof turned, " transform=\"rotate(-90 %.1f %.1f)\"", x, y);
  plane_text(p, x, y, "middle", turned, about);
}

static void draw_axes(const struct plane *p, const struct plot_panel *panel)
{
  if (panel->y.names)
    draw_y_names(p, &panel->y, panel->heat);
  else
    draw_y_numbers(p);
  if (panel->x.names)
    draw_x_names(p, &panel->x, !panel->heat);
  else
    plane_x_numbers(p, panel->x.whole);
  plane_x_about(p, panel->x.label);
  if (!p->in_page || panel->y.names) draw_y_about(p, panel->y.label);
}

/* ---- Lines ---- */

/* y - spread or y + spread, at the edge of the panel if it is outside. */
static void add_edge(const struct plane *p, const struct plot_series *s, size_t k, double sign, char letter)
{
  double y = s->y[k] + sign * s->spread[k];
  struct place at = place(p, s->x[k], fmin(fmax(y, p->y.low), p->y.high));
  html_add(p->h, "%c%.1f %.1f", letter, at.x, at.y);
}

static bool has_band(const struct plane *p, const struct plot_series *s, size_t k)
{
  return s->spread && isfinite(s->spread[k]) && is_seen(place(p, s->x[k], s->y[k]));
}

/* From point first up to, but not with, last: along the lower edge and back along the upper one. */
static void draw_band(const struct plane *p, const struct plot_series *s, size_t first, size_t last)
{
  begin(p, "path", MARK_BAND, s->number);
  html_add(p->h, " d=\"");
  for (size_t k = first; k < last; k++) add_edge(p, s, k, -1, k == first ? 'M' : 'L');
  for (size_t k = last; k-- > first;) add_edge(p, s, k, 1, 'L');
  html_add(p->h, "Z\"/>\n");
}

/* A point that cannot be shown leaves a gap. */
static void draw_bands(const struct plane *p, const struct plot_series *s)
{
  for (size_t first = 0, last; first < s->n; first = last + 1) {
    for (last = first; last < s->n && has_band(p, s, last);) last++;
    if (last > first + 1) draw_band(p, s, first, last);
  }
}

static void draw_line(const struct plane *p, const struct plot_series *s)
{
  bool down = false;
  begin(p, "path", MARK_LINE, s->number);
  html_add(p->h, " d=\"");
  for (size_t k = 0; k < s->n; k++) {
    struct place at = place(p, s->x[k], s->y[k]);
    if (is_seen(at)) html_add(p->h, "%c%.1f %.1f", down ? 'L' : 'M', at.x, at.y);
    down = is_seen(at);
  }
  html_add(p->h, "\"/>\n");
}

/* Of a long line the last one alone: more would hide it. */
static void draw_points(const struct plane *p, const struct plot_series *s)
{
  enum { LONG = 40 };
  bool one = s->line && s->n > LONG;
  for (size_t k = s->n; k-- > 0;) {
    struct place at = place(p, s->x[k], s->y[k]);
    if (!is_seen(at)) continue;
    begin(p, "circle", MARK_DOT, s->number);
    html_add(p->h, " cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n", at.x, at.y);
    if (one) return;
  }
}

static void draw_series(const struct plane *p, const struct plot_panel *panel)
{
  for (size_t k = 0; k < panel->series; k++) draw_bands(p, &panel->one[k]);
  for (size_t k = 0; k < panel->series; k++) {
    if (panel->one[k].line) draw_line(p, &panel->one[k]);
    draw_points(p, &panel->one[k]);
  }
}

/* ---- Heat maps ---- */

/* Faint enough for the number to be read on it, in the dark as well. share is NaN where there is none. */
static void draw_cell(const struct plane *p, double x, double y, double width, double height, double v, double share)
{
  enum { NUMBER = 30 };
  const double faint = 0.03, strong = 0.45;
  char number[32] = "-";
  if (!isnan(v)) c_locale_print(number, sizeof number, fabs(v) >= 1000 ? "%.0f" : "%.3g", v);
  if (!isnan(share)) {
    begin(p, "rect", MARK_CELL, 0);
    html_add(p->h, " x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill-opacity=\"%.3f\"/>\n", x, y, width - 1,
             height - 1, faint + (strong - faint) * fmin(fmax(share, 0), 1));
  }
  if (width >= NUMBER) plane_text(p, x + width / 2, y + height / 2 + 4, "middle", "", number);
}

/* Colours go from the least to the largest value, or over the range of the y axis, whose rows have names. */
static void draw_heat(const struct plane *p, const struct plot_panel *panel)
{
  size_t rows = panel->y.names, columns = panel->x.names;
  double width = p->width / (double)columns, height = p->height / (double)rows;
  struct scale s = scale_empty(false);
  for (size_t k = 0; k < rows * columns; k++) scale_cover(&s, panel->heat[k]);
  if (panel->y.low < panel->y.high) s.low = panel->y.low, s.high = panel->y.high;
  for (size_t k = 0; k < rows * columns; k++) {
    double v = panel->heat[k], share = s.high > s.low ? (v - s.low) / (s.high - s.low) : 0.5;
    draw_cell(p, p->left + (double)(k % columns) * width, p->top + (double)(k / columns) * height, width, height, v,
              isfinite(v) ? share : NAN);
  }
}

void plane_draw(struct plane *p, const struct plot_panel *panel)
{
  p->x = scale_of_axis(panel, 'x', p->width);
  p->y = scale_of_axis(panel, 'y', p->height);
  draw_axes(p, panel);
  if (panel->heat) draw_heat(p, panel);
  draw_series(p, panel);
}
