/* A list of runs, each trained and measured in a process of its own. What is done stays: eval.json beside each model
 * keeps its figures, summary.json those of the run, and a list that is started again goes on with the rest. */
#ifndef R4_CLI_EXPERIMENT_RUN_LIST_H
#define R4_CLI_EXPERIMENT_RUN_LIST_H

#include "experiment/summary.h"
#include "train.h"

struct listed_run {
  r4_settings *settings;
  char folder[PATH_SIZE];
  char doing[100]; /* before each line of progress */
  char asked[R4_HASH_SIZE];
  bool done;
  struct listed_figures {
    struct figure_list list;       /* of the part that the list measures                            */
    double kappa;                  /* the mean over these: kappa_masked_max                         */
    r4_mean_sd val_avg, val_worst; /* of the models, as the seeds' logs have them; or NaN           */
    double score, se, changed; /* what they are chosen by: means over seeds (r4_run_validation); or NaN */
    int64_t exchanged;         /* validation examples behind them; 0: none was exchanged */
    bool one_sided;            /* masks are on some classes only                         */
    r4_val_kind val_kind;
    int64_t seeds, dead; /* dead: seeds that give one answer to everything */
    int64_t unpenalised; /* seeds whose penalty counted in no step: not nets of their method */
  } figures;
};

struct run_list {
  const char *command; /* who asks, for messages */
  const char *out;     /* the folder of all of it */
  const struct plan_options *plan;
  struct listed_run *run;
  size_t runs;
  int64_t seeds; /* of each run */
  int64_t jobs;  /* side by side, 0: as many as CPUs */
  int64_t threads; /* of each seed whose settings do not say; 0: its share of the CPUs */
  bool rows;     /* seeds are side by side, one run after another, and are shown; otherwise runs are, and when done */
  r4_split split; /* of the data, which is measured */
  bool quiet;
  const char *chosen_by; /* as in r4_train_options */
  /* Called when a run is done; made: not all of it was kept, and what there is now is to be written and told. One of
   * several workers does that at the end only. Returns an exit code. */
  int (*after)(void *user, size_t k, bool made);
  int (*begin)(void *user); /* writes what results there are not yet; or NULL          */
  int (*write)(void *user); /* all files of results. Each of these returns an exit code */
  int (*print)(void *user); /* the tables, on stdout                                    */
  void *user;
  /* Set, for the time that is left: runs that are done, those that were to be made, and those that have been. */
  size_t done, missing, made;
  double began;
};

/* Trains and measures all runs that are not done, writes the results and prints them; or does with them what l->plan
 * says. Returns an exit code; 1 after Ctrl-C, with what is done saved. */
int run_list_go(struct run_list *l);
/* All figures of n runs that are done, from the first on. Returns an exit code. */
int run_list_figures(const struct run_list *l, size_t first, size_t n, struct run_figures *to);
/* Run k is done, by whomever; looks at the disk unless that is known. */
bool run_list_is_done(struct run_list *l, size_t k);
/* Trains and measures run k, in a process that the one with this number has started. Returns what that ends with. */
int run_list_make(const struct run_list *l, size_t k, pid_t parent);
/* What came of it, in the process that started it: its figures, told and handed on. Returns an exit code. */
int run_list_ended(struct run_list *l, size_t k, int code);
/* The threads of a seed of a run, and seeds of one run side by side. */
int64_t run_list_threads(const struct run_list *l, const r4_settings *s);
int64_t run_list_beside(const struct run_list *l);
/* Ends a line of progress: " group average 97.1, worst group 95.0, dead; 3 min left", or without what is not known. */
void run_list_tell(const struct run_list *l, const struct figure_list *f, const char *remark);
/* Frees what n runs have. */
void listed_runs_free(struct listed_run *run, size_t n);

/* ---- run_list_files.c ---- */

enum { MAX_VALUES = 32, VALUE_SIZE = 256, RUN_NAME_SIZE = 4096 };

/* The values of a list, with semicolons between them, or, if it has none, with the character between. False if there
 * are more than MAX_VALUES, one is too long, or one is there twice. */
bool list_split(const char *text, char between, size_t *n, char to[MAX_VALUES][VALUE_SIZE]);
/* OUT/runs/NAME. What would end a name becomes _; a long name ends with a number of its own. */
void list_folder(const char *out, const char *name, char folder[PATH_SIZE]);
/* --out, or else what the format says of the last part of a path, as far as its first dot. False after a message. */
bool list_out(const char *command, const char *out, const char *path, const char *ending, char to[PATH_SIZE / 2]);

/* A file of results. */
struct result_file {
  const char *name;
  int (*print)(FILE *f, const void *user); /* returns an exit code */
};
/* Writes n of them into a folder, which is made, each beside its place first. Returns an exit code, after a message
 * unless it is 0. */
int results_write(const char *command, const char *folder, size_t n, const struct result_file *file,
                  const void *user);
/* A plot, which is freed, as a file. Returns an exit code. */
int plot_print(FILE *f, const char *command, r4_plot *p);

#endif
