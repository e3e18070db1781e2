/* What an ablation has found, as its results.json has it. */
#ifndef R4_REPORT_PLOT_ABLATION_H
#define R4_REPORT_PLOT_ABLATION_H

#include "base/json.h"
#include "r4_tools.h"
#include "report/plot/plot.h"

struct ablation_point {
  const char *x, *y; /* what stands at the axes; y is NULL where there is no second setting */
  r4_mean_sd worst;  /* a share; NaN where there is none */
  r4_mean_sd kappa;
  int64_t dead; /* seeds that give one answer to everything */
};

struct ablation_line {
  const char *name, *panel, *x, *y; /* x, y: the settings that change; y is NULL if there is one alone */
  bool labelled;                    /* what stands at the axis is not the value */
  size_t points;
  struct ablation_point *point;
};

struct r4_ablation {
  struct js *root; /* has all texts */
  const char *experiment, *name;
  bool quick;
  double epochs; /* the share of the usual ones that nets were trained for */
  int64_t seeds;
  size_t lines;
  struct ablation_line *line;
};

/* ---- ablation_plot.c ---- */

enum { ABLATION_NAMES = 256 };
enum ablation_quantity { ABLATION_WORST, ABLATION_KAPPA, ABLATION_QUANTITIES };

/* The values of a setting. Numbers stand at their places, names beside each other. */
struct ablation_axis {
  size_t n;
  const char *name[ABLATION_NAMES];
  bool numbers, more; /* more: than there is room for */
  struct scale scale; /* of numbers */
};

/* Lines, without a second setting, that share a panel and what changes along it; the first of them begins it. */
bool ablation_is_of_panel(const struct ablation_line *l, const struct ablation_line *first);
bool ablation_begins_panel(const r4_ablation *a, size_t line);
size_t ablation_panels(const r4_ablation *a);
struct ablation_axis ablation_x_axis(const r4_ablation *a, const struct ablation_line *first);
void ablation_heat_axes(const struct ablation_line *l, struct ablation_axis *x, struct ablation_axis *y);
/* NULL: there is none; y may be NULL. */
const struct ablation_point *ablation_find(const struct ablation_line *l, const char *x, const char *y);

/* The worst groups of all panels, their kappas, and the heat maps, in this order. in_page: kappa has the same axis in
 * all panels, and numbers over many powers of ten stand on a logarithm. */
r4_plot *ablation_plot(const r4_ablation *a, bool in_page);

#endif
