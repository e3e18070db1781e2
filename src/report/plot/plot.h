/* A plot: panels, and in each lines with bands, points, or a heat map. r4_tools.h has its functions.
 *
 *     plot_build.c   what is in it        plot_scale.c   where numbers stand on an axis, and its ticks
 *     plot_svg.c     files and figures    plot_draw.c    a panel and its axes
 *
 * Files have colours of their own. In a page they come from its style by class, so that they change with it. */
#ifndef R4_REPORT_PLOT_PLOT_H
#define R4_REPORT_PLOT_PLOT_H

#include "r4_tools.h"
#include "report/html.h"

struct plot_axis {
  char *label; /* or NULL */
  bool log, whole; /* whole: numbers without a fraction alone are written */
  double low, high; /* asked for; low is not below high: what is there decides */
  size_t names;     /* at 0, 1, ..; none: numbers */
  char **name;
};

struct plot_series {
  size_t number, n; /* number: of its name in the plot, which says how it looks */
  bool line;        /* otherwise points */
  double *x, *y, *spread;
};

struct plot_panel {
  char *title; /* or NULL */
  struct plot_axis x, y;
  size_t series;
  struct plot_series *one;
  double *heat; /* rows from the top, or NULL */
};

struct r4_plot {
  char *title;
  int across; /* panels beside each other at most */
  size_t panels, names;
  struct plot_panel *panel;
  char **name; /* of series: each has its colour in all panels */
  bool failed; /* an allocation has */
};

/* As r4_plot_line, with a number in place of a name. */
void plot_numbered_line(r4_plot *p, size_t number, size_t n, const double *x, const double *y, const double *spread);
/* The x axis of the panel has whole numbers alone. */
void plot_whole_x(r4_plot *p);

/* ---- plot_scale.c ---- */

/* From the number low to high are length pixels. */
struct scale {
  bool log;
  double low, high, length;
};

struct scale scale_empty(bool log);
/* Widens a scale so that v is on it, if the scale has a place for it. */
void scale_cover(struct scale *s, double v);
/* To a range with ends that are easy to read, and never an empty one. */
void scale_round(struct scale *s);
/* With all of the numbers of a panel's series in it. which is 'x' or 'y'. */
struct scale scale_of_axis(const struct plot_panel *p, char which, double length);
/* Pixels from the low end; NaN for what the axis cannot show. */
double scale_place(const struct scale *s, double v);

enum { SCALE_TICKS = 12 };
/* Round numbers within the scale. Returns how many. */
size_t scale_ticks(const struct scale *s, double tick[SCALE_TICKS]);

/* ---- plot_draw.c ---- */

/* Where a panel is drawn. Sizes are in units of about a pixel of a phone. */
struct plane {
  struct html *h;
  bool in_page;
  double edge, left, top, width, height; /* edge: where the room for what is left of it begins */
  struct scale x, y;
};

enum { PLANE_SERIES = 8, PLANE_NAME = 20 }; /* looks of series; letters of a name that are shown beside a plane */
static const double PLANE_LETTER = 7.4;     /* the width of most */

enum plane_mark { MARK_GRID, MARK_LINE, MARK_BAND, MARK_DOT, MARK_CELL };
/* The attributes with which a mark of a series is drawn. */
void plane_style(const struct plane *p, enum plane_mark m, size_t series);
/* more: further attributes, ours. */
void plane_text(const struct plane *p, double x, double y, const char *anchor, const char *more, const char *s);
/* The width of the name as plane_name shows it: what does not fit is cut. */
double plane_name_width(const char *name);
void plane_name(const struct plane *p, const char *name, size_t most, const char *anchor, double x, double y);
/* Lines across the plane with their numbers. */
void plane_x_numbers(const struct plane *p, bool whole);
/* What the x axis is about. */
void plane_x_about(const struct plane *p, const char *about);
void plane_draw(struct plane *p, const struct plot_panel *panel);

/* ---- plot_svg.c ---- */

enum { PAGE_PLOT_WIDTH = 360 };
/* <svg> in a page, which grows with its place. title: what a screen reader says; the numbers stand beside it. */
void plot_begin_in_page(struct html *h, double height, const char *title);
/* One panel of a plot; without its title and the y axis' label, which the page says, unless that has names. */
void plot_panel_in_page(struct html *h, const r4_plot *p, size_t panel, const char *title);

#endif
