/* What "r4 sweep" tries, and what came of it. */
#ifndef R4_CLI_EXPERIMENT_SWEEP_H
#define R4_CLI_EXPERIMENT_SWEEP_H

#include "experiment/run_list.h"

enum { MAX_OVER = 16, MAX_TRIALS = 4096 };

/* A setting and the values that it takes. */
struct sweep_over {
  char key[64];
  size_t n;
  char value[MAX_VALUES][VALUE_SIZE];
};

struct sweep {
  const char *file, *out;
  bool by_average; /* what decides: the average over groups, otherwise the worst */
  size_t overs, trials;
  int64_t seeds;
  struct sweep_over over[MAX_OVER];
  uint32_t *trial; /* numbers of combinations; the last setting changes fastest */
  struct listed_run *run;
  bool looked;              /* at the groups of validation */
  char thin[R4_ERROR_SIZE]; /* a sentence where the worst group of validation hangs on few examples, or "" */
};

/* Which value of a setting a trial has. */
const char *sweep_value(const struct sweep *s, size_t trial, size_t over);

/* ---- sweep_write.c ---- */

/* results.csv, results.json, results.md, pareto.csv and pareto.svg. Returns an exit code. */
int sweep_write(const struct sweep *s);
/* What results.md has. Returns an exit code. */
int sweep_print(FILE *f, const struct sweep *s);
/* The trial that is best in validation; trials if none is done and alive. */
size_t sweep_best(const struct sweep *s);

#endif
