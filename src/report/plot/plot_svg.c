/* A plot as an SVG file, with a title, panels in rows and a legend; and one panel of it in a page. */
#include <math.h>
#include <string.h>

#include "report/plot/plot.h"

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

/* Room for numbers, or for names and what they are. */
static double left_of(const struct plot_panel *p, double least)
{
  for (size_t k = 0; k < p->y.names; k++) least = fmax(least, 26 + plane_name_width(p->y.name[k]));
  return least;
}

/* ---- The legend ---- */

static double entry_width(const char *name)
{
  return 44 + CHARACTER * (double)strlen(name);
}

static void draw_entry(const struct plane *p, size_t number, const char *name, double x, double y)
{
  html_add(p->h, "<path");
  plane_style(p, MARK_LINE, number);
  html_add(p->h, " d=\"M%.1f %.1fh22\"/>\n<circle", x, y + 8);
  plane_style(p, MARK_DOT, number);
  html_add(p->h, " cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n", x + 11, y + 8);
  plane_text(p, x + 28, y + 12, "start", "", name);
}

/* Entries fill lines of a width. With file NULL nothing is drawn. Returns the height. */
static double draw_legend(const struct plane *file, const r4_plot *p, double width, double top)
{
  double x = LEFT, y = top;
  for (size_t k = 0; k < p->names; k++) {
    if (!*p->name[k]) continue;
    if (x > LEFT && x + entry_width(p->name[k]) > width) x = LEFT, y += LEGEND_LINE;
    if (file) draw_entry(file, k, p->name[k], x, y);
    x += entry_width(p->name[k]);
  }
  return x > LEFT ? y - top + LEGEND_LINE : 0;
}

/* ---- Files ---- */

static void draw_panel(struct html *h, const struct plot_panel *p, double edge, double top, double left)
{
  struct plane plane = {.h = h, .edge = edge, .left = edge + left, .top = top + ABOVE, .width = PANEL_WIDTH,
                        .height = PANEL_HEIGHT};
  plane_draw(&plane, p);
  plane_text(&plane, plane.left + PANEL_WIDTH / 2, plane.top - 8, "middle", " font-weight=\"bold\"", p->title);
}

static void draw_figure(struct html *h, const r4_plot *p)
{
  const struct plane file = {.h = h};
  size_t across = p->panels < (size_t)p->across ? p->panels : (size_t)p->across;
  if (!across) across = 1;
  size_t rows = (p->panels + across - 1) / across;
  double left = LEFT;
  for (size_t k = 0; k < p->panels; k++) left = left_of(&p->panel[k], left);
  const double wide = left + PANEL_WIDTH + RIGHT, high = ABOVE + PANEL_HEIGHT + BELOW;
  double width = wide * (double)across, title = p->title && *p->title ? TITLE : 4;
  double legend = title + high * (double)rows, height = legend + draw_legend(NULL, p, width, legend) + 8;
  html_add(h,
           "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%.0f\" height=\"%.0f\" "
           "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" font-size=\"12\">\n"
           "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
           width, height, width, height);
  plane_text(&file, width / 2, 20, "middle", " font-size=\"14\" font-weight=\"bold\"", p->title);
  for (size_t k = 0; k < p->panels; k++)
    draw_panel(h, &p->panel[k], wide * (double)(k % across), title + high * (double)(k / across), left);
  draw_legend(&file, p, width, legend);
  html_add(h, "</svg>\n");
}

char *r4_plot_svg(const r4_plot *p)
{
  struct html h = {0};
  if (!p || p->failed) return NULL;
  draw_figure(&h, p);
  return text_take(&h.text);
}

/* ---- Pages ---- */

void plot_begin_in_page(struct html *h, double height, const char *title)
{
  html_add(h, "<svg class=\"plot\" viewBox=\"0 0 %d %.0f\" role=\"img\" aria-label=\"%s\">", PAGE_PLOT_WIDTH, height,
           title);
}

void plot_panel_in_page(struct html *h, const r4_plot *p, size_t panel, const char *title)
{
  enum { TOP = 10, BOTTOM = 36, HEIGHT = 174, ROW = 28, NUMBERS = 52 };
  h->text.failed |= !p || p->failed;
  if (h->text.failed) return;
  const struct plot_panel *one = &p->panel[panel];
  struct plane plane = {.h = h, .in_page = true, .top = TOP, .left = left_of(one, one->y.names ? 0 : NUMBERS),
                        .height = one->heat ? ROW * (double)one->y.names : HEIGHT};
  plane.width = PAGE_PLOT_WIDTH - RIGHT - plane.left;
  plot_begin_in_page(h, TOP + plane.height + BOTTOM, title);
  plane_draw(&plane, one);
  html_add(h, "</svg>\n");
}
