/* A figure: one number that says how good a net is. It is a struct figure in a file of this folder, and a line of
 * figures.def; all files and tables, the page and Python have it from there. */
#ifndef R4_MEASURE_FIGURE_FIGURE_H
#define R4_MEASURE_FIGURE_FIGURE_H

#include "measure/evaluate.h"
#include "r4_tools.h"

enum { VARIANT_TEXT = 24 };

/* What a figure is made of. */
struct figure_source {
  const r4_measured *m;        /* the counts, filled in before                                   */
  const r4_data *d;            /* these two, and room, are NULL for what was kept in a file: a   */
  const struct predictions *p; /* figure with .predicts is not asked then, but read              */
  struct ranked *room;         /* for all examples                                               */
};

/* For figures that put examples in order. */
struct ranked {
  double score;
  bool positive;
};

struct figure {
  r4_figure_info info;
  bool predicts; /* needs what the net predicts for each example */
  /* How many of these there are, as one for each content of the swap test; 0: it was not measured. NULL: one. */
  size_t (*variants)(const struct figure_source *s);
  /* What variant k is called in keys and labels. NULL: the figure has no variants. */
  void (*variant)(const struct figure_source *s, size_t k, char text[VARIANT_TEXT]);
  double (*of)(const struct figure_source *s, size_t variant); /* NaN where there is none              */
  double (*of_group)(const r4_measured *m, size_t group);      /* NULL: it is not a figure of groups   */
};

/* The function of a figure that r4_evaluate has measured: a field of r4_metrics. */
#define FIGURE_OF_METRIC(field)                                       \
  static double field(const struct figure_source *s, size_t variant)  \
  {                                                                   \
    (void)variant;                                                    \
    return s->m->metrics.field;                                       \
  }

/* The k-th of the table. */
const struct figure *figure_at(size_t k);

/* Fills in to->value by the table. Without what the net predicts: those that do not need it. */
r4_status figures_measure(const r4_data *d, const struct predictions *p, r4_measured *to, r4_error *e);
/* Adds a value that was kept under this key, in the order of the table, unless there is one. False: it is no figure's,
 * or there is no room. */
bool figures_keep(r4_measured *to, const char *key, double value);
/* Counts what was certified, by group. R4_E_ARGUMENT for a box of too many letters. */
r4_status certified_count(const r4_data *d, const r4_certified *x, const char *box, bool attacked,
                          r4_certified_counts *to, r4_error *e);

#endif
