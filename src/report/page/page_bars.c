#include "report/page/page_bars.h"

#include <math.h>

enum { ROW = 22, TOP = 4, BOTTOM = 34 };

struct bars bars_of(struct html *h, enum bar_mark mark, size_t letters, struct scale x)
{
  struct plane plane = {.h = h, .in_page = true, .left = 14, .top = TOP, .x = x};
  return (struct bars){.plane = plane, .mark = mark, .numbers = 10 + PLANE_LETTER * (double)letters};
}

void bars_fit(struct bars *b, const char *name)
{
  b->plane.left = fmax(b->plane.left, 11 + plane_name_width(name));
}

void bars_begin(struct bars *b, size_t rows, const char *title, const char *about)
{
  struct plane *p = &b->plane;
  p->width = p->x.length = PAGE_PLOT_WIDTH - p->left - b->numbers;
  p->height = ROW * (double)rows;
  plot_begin_in_page(p->h, TOP + p->height + BOTTOM, title);
  plane_x_numbers(p, false);
  plane_x_about(p, about);
}

void bars_end(struct bars *b)
{
  html_add(b->plane.h, "</svg>\n");
}

/* What is beside the axis stands at its end. */
static double x_of(const struct plane *p, double v)
{
  return p->left + scale_place(&p->x, fmin(fmax(v, p->x.low), p->x.high));
}

static void draw_mark(const struct plane *p, enum bar_mark mark, size_t series, double x, double y)
{
  if (mark == BAR_WHOLE)
    html_add(p->h, "<rect class=\"bar s%zu\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"14\"/>", series, p->left,
             y - 7, x - p->left);
  else
    html_add(p->h,
             "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/><circle class=\"dot s%zu\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/>",
             p->left, y, x, series, x, y);
}

void bars_row(struct bars *b, size_t series, const char *name, r4_mean_sd v, const char *number)
{
  const struct plane *p = &b->plane;
  double y = p->top + ((double)b->rows++ + 0.5) * ROW;
  bool has_place = isfinite(v.mean) && (!p->x.log || v.mean > 0);
  plane_name(p, name, PLANE_NAME, "end", p->left - 5, y);
  if (has_place) draw_mark(p, b->mark, series % PLANE_SERIES, x_of(p, v.mean), y);
  if (has_place && isfinite(v.sd) && v.sd > 0)
    html_add(p->h, "<path class=\"whisker\" d=\"M%.1f %.1fH%.1f\"/>", x_of(p, v.mean - v.sd), y,
             x_of(p, v.mean + v.sd));
  plane_text(p, PAGE_PLOT_WIDTH, y + 4, "end", "", number);
}
