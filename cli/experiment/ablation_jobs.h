/* An ablation: what becomes of figures when one setting changes, or two. A table says which runs that takes;
 * ablation_read.c has its columns. */
#ifndef R4_CLI_EXPERIMENT_ABLATION_JOBS_H
#define R4_CLI_EXPERIMENT_ABLATION_JOBS_H

#include "experiment/run_list.h"

enum { MAX_LINES = 64 };

struct value_list {
  size_t n;
  char text[MAX_VALUES][VALUE_SIZE];
  char label[MAX_VALUES][64];
};

/* One row of the table: a line of the plot, or a heat map if y has values. */
struct ablation_line {
  const char *name, *panel, *preset, *settings, *x, *y;
  struct value_list xs, ys;
  size_t run[MAX_VALUES * MAX_VALUES]; /* of the list: of each y, of each x */
};

struct ablation {
  char name[64], path[PATH_SIZE]; /* of the table: masks, experiments/ablations/masks.csv */
  r4_table *table;
  size_t lines;
  struct ablation_line line[MAX_LINES];
};

/* ---- ablation_read.c ---- */

/* Reads a->path; quick: the values for that, of which there are none, and no lines, unless they are needed. Returns an
 * exit code, after a message unless it is 0. */
int ablation_read(struct ablation *a, bool quick, bool needed);
void ablation_free(struct ablation *a);

/* One key=value a line of a point: the settings of the line, in which a product such as 0.001*x is worked out, then x
 * and y. False after a message. */
bool ablation_point(const struct ablation *a, const struct ablation_line *l, size_t ix, size_t iy, char *to,
                    size_t size);

/* ---- ablation_write.c ---- */

struct ablation_about {
  const char *experiment, *out;
  bool quick;
  double epochs; /* the share of them that nets are trained for */
  int64_t seeds;
};

/* results.csv, results.json, results.md and plot.svg in OUT/NAME. Returns an exit code. */
int ablation_write(const struct ablation *a, const struct ablation_about *o, const struct listed_run *run);
/* What results.md has. Returns an exit code. */
int ablation_print(FILE *f, const struct ablation *a, const struct ablation_about *o,
                   const struct listed_run *run);

#endif
