/* What "r4 eval" measured, and its two ways to say it. */
#ifndef R4_CLI_EVAL_H
#define R4_CLI_EVAL_H

#include "runs.h"

struct evaluation {
  const char *path, *label, *name,
    *split; /* the run, as it can be shown, as tables call it; the part looked at */
  struct run *run;
  r4_data *data;           /* of the split                      */
  char hash[R4_HASH_SIZE]; /* of these: equal for runs that can be compared */
  r4_metrics *metrics;     /* of each seed                      */
  r4_summary summary;
  r4_pasted *pasted; /* of each seed                      */
  bool paste_asked;  /* say so, too, if there is nothing to paste */
};

/* One run with all figures, and several of the same data side by side; one as an object on a line of its own. Return an
 * exit code. */
int eval_print_table(const struct evaluation *v);
int eval_print_comparison(const struct evaluation *const *v, size_t n);
int eval_print_json(const struct evaluation *v);

#endif
