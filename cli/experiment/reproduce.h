/* r4 reproduce: the rows of a published table, what was measured of them, and the files that say so. */
#ifndef R4_CLI_EXPERIMENT_REPRODUCE_H
#define R4_CLI_EXPERIMENT_REPRODUCE_H

#include "experiment/run_list.h"

enum { MAX_ROWS = 32, SETTINGS_SIZE = 256 };

struct reproduce_settings {
  const char *name, *out, *methods, *form;
  struct words set;
  int64_t seeds, splits, jobs;
  bool json, quiet;
};

struct row {
  const char *name, *preset, *avg, *avg_sd, *worst, *worst_sd, *kappa, *settings; /* of table.csv */
  bool done;
  struct run_figures ours;
};

struct table {
  const struct reproduce_settings *o;
  char folder[PATH_SIZE / 2], out[PATH_SIZE / 2];
  r4_table *file;
  size_t rows;
  struct row row[MAX_ROWS];
  struct run_list list; /* of each row, of each split */
};

/* The last part of a preset: "r3" of "../r3". */
const char *row_preset(const struct row *r);
r4_mean_sd row_figure(const struct row *r, enum figure f);
/* Whether what the swap test finds is there to be shown. */
bool table_has_swap(const struct table *t);

/* ---- reproduce_marks.c ---- */

struct figure_info {
  const char *key; /* in CSV and JSON */
  double scale;
  int better; /* 1: the largest is best, -1: the least, 0: neither */
  bool swap;  /* of the swap test */
};
extern const struct figure_info figure_info[ALL_FIGURES];

struct mark {
  enum { MARK_NONE, MARK_BEST, MARK_TIED } kind;
  double p; /* of the comparison with the best, corrected; NaN without */
};

/* Of all rows, for one figure. */
void marks_find(const struct table *t, enum figure f, struct mark mark[MAX_ROWS]);
const char *mark_word(struct mark m); /* "best", "tied" or NULL */

/* ---- reproduce_files.c ---- */

/* All files of the results, as far as rows are done: after every row, so that what is done is never lost. */
int results_write_all(const struct table *t);
/* On stdout, as text, markdown, csv or json; the first two with what training took. */
int results_print(const struct table *t, const char *form);
bool results_have_form(const char *form); /* false after a message */

/* ---- reproduce_tables.c: for people, as text or Markdown ---- */

int tables_print(FILE *f, const struct table *t, r4_table_form form);
int costs_print(FILE *f, const struct table *t, r4_table_form form);

/* ---- reproduce_data.c: for programs ---- */

int csv_print(FILE *f, const void *table);
int rows_print_json(FILE *f, const void *table);
int costs_print_csv(FILE *f, const void *table);

#endif
