/* The figure: a title, panels in rows, axes and a legend, as SVG. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/plain.h"
#include "report/chart.h"

enum {
  PANEL_WIDTH = 260,
  PANEL_HEIGHT = 190,
  LEFT = 64,
  RIGHT = 16,
  ABOVE = 26,
  BELOW = 50,
  TITLE = 30,
  LEGEND_LINE = 18,
  CHARACTER = 7 /* about as wide as one of the font is */
};

/* ---- Axes ---- */

static const char *tick_text(double v, char to[32])
{
  plain_print(to, 32, fabs(v) < 1e-12 ? "0" : "%.4g", v);
  return to;
}

static void draw_x_tick(struct text *t, struct chart_box b, double at, const char *s)
{
  double x = b.left + at, y = b.top + b.height;
  text_add(t, "<path d='M%.1f %.1fv4' stroke='#000000'/>\n", x, y);
  chart_text(t, x, y + 16, "middle", "", s);
}

static void draw_y_tick(struct text *t, struct chart_box b, double at, bool grid, const char *s)
{
  double y = b.top + b.height - at;
  if (grid) text_add(t, "<path d='M%.1f %.1fh%.1f' stroke='#e4e4e4'/>\n", b.left, y, b.width);
  text_add(t, "<path d='M%.1f %.1fh-4' stroke='#000000'/>\n", b.left, y);
  chart_text(t, b.left - 7, y + 4, "end", "", s);
}

static void draw_tick(struct text *t, const struct chart_panel *p, char which, struct chart_box b, double v,
                      const char *label)
{
  struct chart_scale s = chart_scale(p, which, which == 'x' ? b.width : b.height);
  double at = chart_place(&s, v);
  if (isnan(at)) return;
  if (which == 'x')
    draw_x_tick(t, b, at, label);
  else
    draw_y_tick(t, b, at, !p->heat, label);
}

/* Those of a heat map's rows go from the top. */
static void draw_names(struct text *t, const struct chart_panel *p, char which, struct chart_box b)
{
  const struct chart_axis *a = which == 'x' ? &p->x : &p->y;
  bool upside_down = which == 'y' && p->heat;
  for (size_t k = 0; k < a->names; k++)
    draw_tick(t, p, which, b, (double)(upside_down ? a->names - 1 - k : k), a->name[k]);
}

static void draw_numbers(struct text *t, const struct chart_panel *p, char which, struct chart_box b)
{
  struct chart_scale s = chart_scale(p, which, which == 'x' ? b.width : b.height);
  double tick[CHART_TICKS];
  char number[32];
  size_t n = chart_ticks(&s, tick);
  for (size_t k = 0; k < n; k++) draw_tick(t, p, which, b, tick[k], tick_text(tick[k], number));
}

/* Apart from each other: see test/objective_case.c on loops with a table that is used in one of two cases. */
static void draw_ticks(struct text *t, const struct chart_panel *p, char which, struct chart_box b)
{
  const struct chart_axis *a = which == 'x' ? &p->x : &p->y;
  if (a->names)
    draw_names(t, p, which, b);
  else
    draw_numbers(t, p, which, b);
}

static void draw_panel(struct text *t, const struct chart_panel *p, struct chart_box b)
{
  char turned[96];
  double y = b.top + b.height / 2, x = b.left - LEFT + 12;
  draw_ticks(t, p, 'y', b);
  draw_ticks(t, p, 'x', b);
  chart_draw(t, p, b);
  text_add(t, "<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' fill='none' stroke='#000000'/>\n", b.left,
           b.top, b.width, b.height);
  chart_text(t, b.left + b.width / 2, b.top - 8, "middle", " font-weight='bold'", p->title);
  chart_text(t, b.left + b.width / 2, b.top + b.height + 36, "middle", "", p->x.label);
  plain_print(turned, sizeof turned, " transform='rotate(-90 %.1f %.1f)'", x, y);
  chart_text(t, x, y, "middle", turned, p->y.label);
}

/* ---- The legend ---- */

static double entry_width(const char *name)
{
  return 44 + CHARACTER * (double)strlen(name);
}

/* Entries fill lines of a width. With t NULL nothing is drawn. Returns the height. */
static double draw_legend(struct text *t, const r4_plot *p, double width, double top)
{
  double x = LEFT, y = top;
  for (size_t k = 0; k < p->names; k++) {
    if (!*p->name[k]) continue;
    if (x > LEFT && x + entry_width(p->name[k]) > width) x = LEFT, y += LEGEND_LINE;
    if (t) chart_sample(t, k, x, y + 8);
    if (t) chart_text(t, x + 28, y + 12, "start", "", p->name[k]);
    x += entry_width(p->name[k]);
  }
  return x > LEFT ? y - top + LEGEND_LINE : 0;
}

/* ---- The figure ---- */

static void draw_figure(struct text *t, const r4_plot *p)
{
  size_t across = p->panels < (size_t)p->across ? p->panels : (size_t)p->across;
  if (!across) across = 1;
  size_t rows = (p->panels + across - 1) / across;
  const double wide = LEFT + PANEL_WIDTH + RIGHT, high = ABOVE + PANEL_HEIGHT + BELOW;
  double width = wide * (double)across, title = p->title && *p->title ? TITLE : 4;
  double legend = title + high * (double)rows, height = legend + draw_legend(NULL, p, width, legend) + 8;
  text_add(t,
           "<svg xmlns='http://www.w3.org/2000/svg' role='img' width='%.0f' height='%.0f' "
           "viewBox='0 0 %.0f %.0f' font-family='sans-serif' font-size='12'>\n"
           "<rect width='100%%' height='100%%' fill='#ffffff'/>\n",
           width, height, width, height);
  chart_text(t, width / 2, 20, "middle", " font-size='14' font-weight='bold'", p->title);
  for (size_t k = 0; k < p->panels; k++)
    draw_panel(t, &p->panel[k],
               (struct chart_box){LEFT + wide * (double)(k % across),
                                  title + ABOVE + high * (double)(k / across), PANEL_WIDTH, PANEL_HEIGHT});
  draw_legend(t, p, width, legend);
  text_add(t, "</svg>\n");
}

char *r4_plot_svg(const r4_plot *p)
{
  struct text t = {0};
  if (!p || p->failed) return NULL;
  draw_figure(&t, p);
  return text_take(&t);
}
