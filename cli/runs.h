/* Runs on the disk: a folder with config.yaml and a folder seed-K for each seed, or one such folder alone. */
#ifndef R4_CLI_RUNS_H
#define R4_CLI_RUNS_H

#include "cli.h"
#include "experiment/figure_list.h"

enum { MAX_SEEDS = 64, MAX_SPLITS = 16, MAX_NETS = MAX_SEEDS * MAX_SPLITS, PATH_SIZE = 1024 };

struct run {
  r4_settings *settings;
  size_t seeds;
  int64_t seed[MAX_SEEDS];
  char folder[MAX_SEEDS][PATH_SIZE], model[MAX_SEEDS][PATH_SIZE]; /* paths of each seed */
  size_t missing;
  int64_t missing_seed[MAX_SEEDS]; /* those without a model */
};

/* All seeds of a run that have a model, in order. NULL after a message on stderr, with *code the exit code. */
struct run *runs_open(const char *command, const char *path, int *code);
void runs_free(struct run *r);
/* Leaves n seeds, from the setting "seed" on. */
void runs_limit(struct run *r, int64_t n);
/* The place of the seed that speaks for a run of several: the one of the highest score of validation, where each has a
 * score of the same kind, otherwise the first. r->seeds is not 0. The sentence says which and why; hint follows it. */
enum { RUNS_FIRST = -1, RUNS_BEST = -2 };
size_t runs_best(const struct run *r);
void runs_say_best(const char *command, const struct run *r, const char *hint);
/* The model of one seed of a run, or of RUNS_FIRST or RUNS_BEST; or path itself if that is a file, with *r NULL. NULL
 * after a message, with *code the exit code. *r is to be freed in any case. */
const char *runs_model(const char *command, const char *path, int64_t seed, struct run **r, int *code);

/* ---- runs_data.c ---- */

/* The data of a run, all splits, wherever they are now; or, unless it is "", those of instead. Refused if they are not
 * what it was trained on, unless any are welcome. NULL after a message, with *code the exit code. */
/* These are the data of the run but for their masks, which were drawn or changed since it was trained. */
bool run_masks_changed(const struct run *r, const r4_data *d);
r4_data *run_data(const char *command, const struct run *r, const char *instead, bool any, int *code);
/* Settings that are those of a run, or go on with one, find its data from anywhere. Returns an exit code. */
int run_locate(const char *command, r4_settings *s, const char *path);
/* The option --split: auto, until run_part knows the data, is test. False after a message. */
#define SPLIT_AUTO "auto"
#define SPLIT_HELP "train, val or test; auto: test, or val if there are no test examples"
bool run_split(const char *command, const char *word, r4_split *split);
/* The part of all that *word names; auto becomes the word and the split of the part that it is. NULL after a message,
 * with *code the exit code, if that has no examples. */
r4_data *run_part(const char *command, const char *path, const r4_data *all, const char **word, r4_split *split,
                  int *code);
/* A model with its own net, which may have more to it than the net of the settings: what weights that it started from
 * need before it. settings_net: NULL, or the net of the settings, whose weights these must be: those of another do not
 * fit. NULL and an error if there is none. */
r4_model *run_model(const char *path, const r4_net *settings_net, r4_error *e);
/* What a model tells apart; two classes for a net with one output. */
size_t run_classes(const r4_model *m);
/* False after a message, unless the classes that a model names are those of the data. */
bool run_classes_agree(const char *command, const char *path, const r4_model *m, const r4_data *d);

/* Adds figures that r4 certify proved of a seed, if there are any; what is kept of other weights is named on stderr. */
void run_add_proved(const char *command, r4_measured *m, const char *folder, r4_split part, const char *data_hash);

/* What tables and pictures call runs: the last part of the path, or all of it if another run ends in the same. label[k]
 * gets the path as it can be shown, without slashes at its end; name[k] points into it. */
void runs_name(const struct words *runs, char label[][PATH_SIZE], const char *name[]);

/* Where seed k of a run lives. */
void runs_seed_folder(const char *run, int64_t seed, char path[PATH_SIZE]);
/* The numbers K of all folders seed-K of a run, in order. Returns how many. */
size_t runs_seeds(const char *run, int64_t seed[MAX_SEEDS]);

bool is_file(const char *path);
bool is_folder(const char *path);

/* ---- runs_outcome.c ---- */

/* How the seeds of a run ended, by their outcome.json. */
struct outcomes {
  bool known[MAX_SEEDS];
  r4_outcome of[MAX_SEEDS];
  size_t unpenalised; /* seeds whose penalty counted in no step: they are not nets of their method */
  char says[200];     /* a sentence about these, or "" */
};

/* Names what is damaged on stderr, and takes it for unknown. */
void outcomes_read(const char *command, const struct run *r, struct outcomes *to);

/* ---- eval_figures.c ---- */

struct run_figures {
  struct figure_list list; /* of all nets */
  size_t measured;         /* nets that were measured now; what is known of the others was kept */
  const r4_metrics *metrics; /* of each net, until others are asked for; of a summary.json no more than groups and
                                whether the net is constant                                             */
  r4_summary summary;        /* of these: groups and constant nets; all other figures are in the list   */
  r4_run_cost cost;          /* of training all of them                                                 */
  char constant[300];        /* a sentence if some seeds give one answer to everything; else ""         */
  size_t unpenalised;        /* nets whose penalty counted in no step                                   */
  char unpenalised_says[200]; /* and a sentence about them, or ""                                       */
};

/* Of so many seeds of each of n runs, on a part of its own data, R4_TEST or R4_VAL; what is kept is not measured again.
 * f->list is to be freed. Returns an exit code, after a message on stderr unless it is 0. */
int eval_figures(const char (*path)[PATH_SIZE], size_t n, int64_t seeds, r4_split split, struct run_figures *f);

#endif
