/* Training runs: folders, seeds, and the processes that train them. */
#ifndef R4_CLI_TRAIN_H
#define R4_CLI_TRAIN_H

#include "runs.h"

struct job {
  r4_settings *settings;
  const char *command, *out; /* who asks, for messages; the folder of the run */
  int64_t seeds, jobs;       /* jobs: processes side by side; 0: chosen */
  bool resume, force, quiet;
};

/* Reads FILE, a preset's name or the folder of a run, then the assignments of the row of a table (or NULL) and those of
 * --set. NULL after a message. */
r4_settings *train_settings(const char *command, const char *file, const struct words *row,
                            const struct words *set);

/* The folder of an experiment's table.csv. */
bool train_find_experiment(const char *name, char *folder, size_t size);

/* Trains all seeds, side by side where that is faster. Returns an exit code. */
int train_all(const struct job *j);

/* ---- progress.c: what a person sees meanwhile, on stderr ---- */

struct watch; /* of all seeds of a job */
struct watch *watch_new(const struct job *j, int64_t first_seed);
void watch_show(struct watch *w, const r4_progress *p);
void watch_end(struct watch *w);

#endif
