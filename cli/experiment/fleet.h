/* Many runs: each is trained and measured in a process of its own, as many side by side as there are CPUs. What is done
 * stays: eval.json beside each model keeps its figures, and a fleet that is started again goes on with the rest. */
#ifndef R4_CLI_EXPERIMENT_FLEET_H
#define R4_CLI_EXPERIMENT_FLEET_H

#include "train.h"

struct fleet_run {
  r4_settings *settings;
  char folder[PATH_SIZE];
  bool done;
  struct fleet_figures {
    r4_mean_sd avg, worst, kappa, kappa_mean; /* of the part that the fleet measures */
    r4_mean_sd val_avg, val_worst;            /* of the models, as the seeds' logs have them; or NaN */
    double score, se, changed; /* what they are chosen by: means over seeds (r4_run_validation); or NaN */
    int64_t exchanged;         /* validation examples behind them; 0: none was exchanged */
    bool one_sided;            /* masks are on some classes only                         */
    r4_val_kind val_kind;
    int64_t seeds, dead;       /* dead: seeds that give one answer to everything */
    int64_t unpenalised;       /* seeds whose penalty counted in no step: not nets of their method */
  } figures;
};

struct fleet {
  const char *command; /* who asks, for messages */
  struct fleet_run *run;
  size_t runs;
  int64_t seeds, jobs; /* of each run; runs side by side, 0: as many as CPUs */
  r4_split split;      /* of the data, which is measured */
  bool quiet;
  const char *chosen_by; /* as in r4_train_options */
  /* Called when a run is done of which not all was kept, so that results can be written again. Returns an exit code. */
  int (*after)(void *user);
  void *user;
};

/* Trains and measures all runs that are not done. Returns an exit code; 1 after Ctrl-C, with what is done saved. */
int fleet_go(struct fleet *f);

/* ---- fleet_files.c ---- */

enum { MAX_VALUES = 32, VALUE_SIZE = 256, RUN_NAME_SIZE = 4096 };

/* The values of a list, with semicolons between them, or, if it has none, with the character between. False if there
 * are more than MAX_VALUES, one is too long, or one is there twice. */
bool fleet_split(const char *text, char between, size_t *n, char to[MAX_VALUES][VALUE_SIZE]);
/* OUT/runs/NAME. What would end a name becomes _; a long name ends with a number of its own. */
void fleet_folder(const char *out, const char *name, char folder[PATH_SIZE]);
/* Writes folder/name beside its place, and makes the folder. Returns an exit code, after a message unless it is 0. */
int fleet_write(const char *command, const char *folder, const char *name,
                int (*print)(FILE *f, const void *user), const void *user);

#endif
