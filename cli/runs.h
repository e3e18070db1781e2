/* Runs on the disk: a folder with config.yaml and a folder seed-K for each seed, or one such folder alone. */
#ifndef R4_CLI_RUNS_H
#define R4_CLI_RUNS_H

#include "cli.h"

enum { MAX_SEEDS = 64, PATH_SIZE = 1024 };

struct run {
  r4_settings *settings;
  size_t seeds;
  int64_t seed[MAX_SEEDS];
  char model[MAX_SEEDS][PATH_SIZE]; /* paths */
};

/* All seeds of a run that have a model, in order. NULL after a message on stderr. */
struct run *runs_open(const char *command, const char *path);
void runs_free(struct run *r);

/* Where seed k of a run lives. */
void runs_seed_folder(const char *run, int64_t seed, char path[PATH_SIZE]);
/* The numbers K of all folders seed-K of a run, in order. Returns how many. */
size_t runs_seeds(const char *run, int64_t seed[MAX_SEEDS]);

bool is_file(const char *path);

/* Metrics of a run on its test part, over its seeds: eval.c. False after a message on stderr. */
bool eval_summary(const char *path, r4_summary *summary);

#endif
