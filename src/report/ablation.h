/* What an ablation has found, as its results.json has it. */
#ifndef R4_REPORT_ABLATION_H
#define R4_REPORT_ABLATION_H

#include "base/json.h"

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
  double epochs; /* the share of the usual ones that nets were trained for */
  int64_t seeds;
  size_t lines;
  struct ablation_line *line;
};

#endif
