/* Many runs: each is trained and measured in a process of its own, as many side by side as there are CPUs. What is done
 * stays: a run's folder keeps its figures, and a fleet that is started again goes on with what is missing. */
#ifndef R4_CLI_FLEET_H
#define R4_CLI_FLEET_H

#include "train.h"

struct fleet_run {
  r4_settings *settings;
  char folder[PATH_SIZE];
  bool done;
  struct kept_figures {
    r4_mean_sd avg, worst, kappa, kappa_mean; /* of the test part */
    r4_mean_sd val_avg, val_worst;            /* of the last epoch, as the seeds' logs have them; or NaN */
    int64_t seeds, dead;                      /* dead: seeds that give one answer to everything */
  } figures;
};

struct fleet {
  const char *command; /* who asks, for messages */
  struct fleet_run *run;
  size_t runs;
  int64_t seeds, jobs; /* of each run; runs side by side, 0: as many as CPUs */
  bool quiet;
  /* Called when a run is done, so that results can be written again. Returns an exit code. */
  int (*after)(void *user);
  void *user;
};

/* Trains and measures all runs that are not done. Returns an exit code; 1 after Ctrl-C, with what is done saved. */
int fleet_go(struct fleet *f);

/* ---- kept.c: figures.csv in a run's folder ---- */

/* False if they are not there, or are not those of the models beside them; says so in the latter case. */
bool kept_read(const char *command, const char *folder, int64_t seeds, struct kept_figures *to);
/* Returns an exit code, after a message unless it is 0. */
int kept_write(const char *command, const char *folder, const struct kept_figures *f);

#endif
