/* A plot: panels, and in each lines with bands, points, or a heat map. r4.h has its functions.
 *
 *     chart_build.c   what is in it        chart_axis.c   where numbers stand on an axis, and its ticks
 *     chart_svg.c     the figure           chart_draw.c   what is inside a panel */
#ifndef R4_REPORT_CHART_H
#define R4_REPORT_CHART_H

#include "base/text.h"

struct chart_axis {
  char *label; /* or NULL */
  bool log;
  double low, high; /* asked for; low is not below high: what is there decides */
  size_t names;     /* at 0, 1, ..; none: numbers */
  char **name;
};

struct chart_series {
  size_t number, n; /* number: of its name in the plot */
  bool line;        /* otherwise points */
  double *x, *y, *spread;
};

struct chart_panel {
  char *title; /* or NULL */
  struct chart_axis x, y;
  size_t series;
  struct chart_series *one;
  double *heat; /* rows from the top, or NULL */
};

struct r4_plot {
  char *title;
  int across; /* panels beside each other at most */
  size_t panels, names;
  struct chart_panel *panel;
  char **name; /* of series: each has its colour in all panels */
  bool failed; /* an allocation has */
};

/* ---- chart_axis.c ---- */

/* From the number low to high are length pixels. */
struct chart_scale {
  bool log;
  double low, high, length;
};

/* With all of the numbers of a panel's series in it. which is 'x' or 'y'. */
struct chart_scale chart_scale(const struct chart_panel *p, char which, double length);
/* Pixels from the low end; NaN for what the axis cannot show. */
double chart_place(const struct chart_scale *s, double v);

enum { CHART_TICKS = 12 };
/* Round numbers within the scale. Returns how many. */
size_t chart_ticks(const struct chart_scale *s, double tick[CHART_TICKS]);

/* ---- chart_draw.c ---- */

struct chart_box {
  double left, top, width, height;
};

const char *chart_colour(size_t number);
/* Text that may hold anything, at a place; anchor is start, middle or end. */
void chart_text(struct text *t, double x, double y, const char *anchor, const char *more, const char *s);
void chart_draw(struct text *t, const struct chart_panel *p, struct chart_box b);
/* How a series looks in the legend, at a place. */
void chart_sample(struct text *t, size_t number, double x, double y);

#endif
