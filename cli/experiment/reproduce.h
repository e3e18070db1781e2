/* r4 reproduce: the rows of a published table, what was measured of them, and the files that say so. */
#ifndef R4_CLI_EXPERIMENT_REPRODUCE_H
#define R4_CLI_EXPERIMENT_REPRODUCE_H

#include "experiment/run_plan.h"

enum { MAX_ROWS = 32, SETTINGS_SIZE = 256 };

struct reproduce_settings {
  const char *name, *out, *methods, *form;
  struct words set;
  int64_t seeds, splits, jobs;
  bool json, quiet;
  struct plan_options plan;
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
  char set[SETTINGS_SIZE]; /* what the command line changes of all rows, as the settings of rows are written */
  size_t rows;
  struct row row[MAX_ROWS];
  struct run_list list; /* of each row, of each split */
};

/* The settings of a row and those of all rows. */
struct row_settings {
  char text[2 * SETTINGS_SIZE];
};
struct row_settings row_changes(const struct table *t, const struct row *r);
/* The last part of a preset: "r3" of "../r3". */
const char *row_preset(const struct row *r);
r4_mean_sd row_figure(const struct row *r, const char *key);
/* All figures that rows which are done have. */
struct columns table_columns(const struct table *t);

/* ---- reproduce_marks.c ---- */

struct mark {
  enum { MARK_NONE, MARK_BEST, MARK_TIED } kind;
  double p; /* of the comparison with the best, corrected; NaN without */
};

/* Whether its rows are compared: figures that tables show, and of which one is better. */
bool marks_are_for(const r4_value *of);
/* Of all rows, for one figure. */
void marks_find(const struct table *t, const r4_value *of, struct mark mark[MAX_ROWS]);
const char *mark_word(struct mark m); /* "best", "tied" or NULL */

/* ---- reproduce_files.c ---- */

/* All files of the results, as far as rows are done: after every row, so that what is done is never lost. */
int results_write_all(const struct table *t);
/* On stdout, as text, markdown, latex, csv or json; the first three with what training took. */
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
