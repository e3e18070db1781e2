/* Plots in a page, as part of its text. Sizes are in units of about a pixel of a phone, and the picture grows with its
 * place. Colours come from the page's style by class: s0 .. s7 are series, which lines also tell apart by their
 * dashes. */
#ifndef R4_REPORT_PLOT_H
#define R4_REPORT_PLOT_H

#include "report/chart.h"
#include "report/html.h"

enum { PLOT_WIDTH = 360, PLOT_SERIES = 8 };

struct plot {
  struct html *h;
  double height, left, right, top, bottom; /* margins: what is between them is the plane */
  struct chart_scale x, y;                 /* their lengths follow from the margins */
  bool whole;                              /* x has whole numbers alone */
};

/* Widens a scale so that v is on it, if the scale has a place for it. An empty scale is {inf, -inf}. */
void scale_cover(struct chart_scale *s, double v);
/* To a range with ends that are easy to read, and never an empty one. */
void scale_round(struct chart_scale *s);

/* title: what a screen reader says; the numbers stand in a table beside it. */
void plot_begin(struct plot *p, const char *title);
void plot_end(struct plot *p);

/* Lines across the plane with their numbers; what the x axis is about. */
void plot_y_grid(struct plot *p);
void plot_x_grid(struct plot *p, const char *about);

/* Points that are not finite, or have no place on the scale, break a line. lo and hi: a band, or NULL. */
void plot_line(struct plot *p, size_t series, size_t n, const double *x, const double *y, const double *lo,
               const double *hi);

void plot_dots(struct plot *p, size_t series, size_t n, const double *x, const double *y);
/* Names in place of numbers, at 0, 1, ..: the scale of x has all of them. What does not fit is cut. */
void plot_x_names(struct plot *p, size_t n, const char *const *name, const char *about);

/* A plot of cells in rows and columns, with a share in per cent in each. */
struct plot plot_of_cells(struct html *h, size_t rows, const char *const *name);
void plot_cell(struct plot *p, size_t columns, size_t column, size_t row, double percent);
void plot_cell_names(struct plot *p, size_t columns, const char *const *x, const char *x_about, size_t rows,
                     const char *const *y, const char *y_about);

/* Row k of a plot whose y axis is a list: its name, a bar from the left end or a dot, a whisker as long as sd to both
 * sides, and the number as text. */
enum { PLOT_ROW = 22 };
enum plot_mark { PLOT_BAR, PLOT_DOT };
/* Such a plot, with room for numbers of so many letters; and, before it begins, room for each of its names. */
struct plot plot_of_rows(struct html *h, size_t rows, size_t letters, struct chart_scale x);
void plot_fit_name(struct plot *p, const char *name);
void plot_row(struct plot *p, size_t k, enum plot_mark mark, size_t series, const char *name, r4_mean_sd v,
              const char *number);

#endif
