/* What "r4 report" gathers before it writes its page. */
#ifndef R4_CLI_REPORT_H
#define R4_CLI_REPORT_H

#include "runs.h"

struct report_settings {
  struct words runs, ablations;
  const char *out, *title, *split, *data;
  int64_t examples, kappa;
  bool force, other_data;
};

/* Runs share data where they can: to read them takes longer than all else. */
struct report_data {
  r4_data *all, *part;
  r4_split split;                                  /* that the part is */
  char all_hash[R4_HASH_SIZE], hash[R4_HASH_SIZE]; /* hash: of the part */
};

struct reported {
  const char *path, *name;
  struct run *run;
  r4_split split;
  const struct report_data *data;
  const char *folder[MAX_SEEDS];
  r4_measured *measured; /* of each seed  */
  r4_model *model;       /* of the first  */
};

struct report {
  struct report_settings o;
  char label[MAX_WORDS][PATH_SIZE], out[PATH_SIZE];
  const char *name[MAX_WORDS];
  size_t runs, sets, notes, commands;
  struct reported run[MAX_WORDS];
  struct report_data set[MAX_WORDS];
  char **note, **command;
  size_t ablations;
  r4_ablation **ablation;
};

/* Opens and measures the k-th of the runs asked for. Returns an exit code, after a message on stderr unless it is 0. */
int report_add_run(struct report *r, size_t k, r4_split split);
/* Reads the ablations asked for; those that cannot be read are named, on the page as well. Returns an exit code. */
int report_add_ablations(struct report *r);
/* A sentence for the page. */
void report_note(struct report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What makes the page again. */
void report_add_commands(struct report *r);
void report_free(struct report *r);

#endif
