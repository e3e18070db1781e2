/* A list of runs that several processes share, on one machine or on many that see its folder.
 *
 *     r4 sweep .. --plan       writes OUT/plan.json: the command, where it was given, and its runs
 *     r4 sweep .. --slurm 8    the same, and OUT/plan.sbatch: a job array, 8 tasks at once
 *     r4 work OUT              makes runs of it that nobody else makes; any number of these at once
 *     r4 work OUT --status     what is done, running and failed, and the tables so far
 *
 * and the same for reproduce and ablate. Whoever works gives the command again, which lists its runs again, and they
 * must be those that were planned: by the same version, with the same settings and data. */
#ifndef R4_CLI_EXPERIMENT_RUN_PLAN_H
#define R4_CLI_EXPERIMENT_RUN_PLAN_H

#include "experiment/claim.h"
#include "experiment/run_list.h"

struct plan_work;

/* What the options of a command that lists runs say about sharing them, and how "r4 work" gave it, if it did. */
struct plan_options {
  bool plan;
  int64_t slurm;
  int argc; /* the words of the command */
  char **argv;
  const struct plan_work *work;
};

/* Lines of a table of options, for a struct of settings with a "struct plan_options plan". */
/* clang-format off */
#define PLAN_OPTIONS(settings)                                                                                       \
  {"plan", OPTION_FLAG, offsetof(settings, plan.plan), NULL, 0, 0,                                                   \
   "train nothing: write OUT/plan.json, for any number of \"r4 work OUT\""},                                         \
  {"slurm", OPTION_WHOLE, offsetof(settings, plan.slurm), "0", 0, 10000,                                             \
   "the same, and OUT/plan.sbatch, a Slurm array with N tasks at once; 0: no"}
/* clang-format on */

/* The words of the command, for the plan that it may write; work: NULL, or how it is given again. */
static inline void plan_words(struct plan_options *o, int argc, char **argv, const struct plan_work *work)
{
  o->argc = argc;
  o->argv = argv;
  o->work = work;
}

/* What "r4 work" does. */
struct plan_work {
  const char *path; /* of plan.json, from anywhere */
  const struct plan *plan;
  bool status, again, wait, quiet;
  int64_t most;
};

/* What plan.json has. */
struct plan {
  r4_json_value *root;
  const char *command, *folder; /* folder: where the command was given */
  size_t words, runs;
  const char *word[4 * MAX_WORDS + 32];
  int64_t threads, beside; /* threads of a seed, which decide about bits; seeds of a run side by side */
};

/* The commands that list runs, as "r4 work" gives them. */
int sweep_list(int argc, char **argv, const struct plan_work *w);
int reproduce_list(int argc, char **argv, const struct plan_work *w);
int ablate_list(int argc, char **argv, const struct plan_work *w);

/* ---- plan_file.c ---- */

/* Writes plan.json, and plan.sbatch if asked for, and says how to go on. Returns an exit code. */
int plan_write(struct run_list *l);
/* OUT/plan.json, of this version. Returns an exit code, after a message unless it is 0. */
int plan_read(const char *path, struct plan *p);
void plan_free(struct plan *p);
/* The runs of the list are those of its plan, whose threads it gets. Returns an exit code. */
int plan_take(struct run_list *l);

/* ---- plan_slurm.c ---- */

struct plan_array {
  const char *name, *out; /* of the list; its folder, from anywhere */
  size_t runs;
  int64_t beside, cpus; /* tasks at once; CPUs of each */
};

/* An sbatch script, which makes all runs. Returns an exit code. */
int plan_slurm_print(FILE *f, const void *array);

/* ---- plan_work.c, plan_status.c ---- */

struct claim plan_claim(const struct run_list *l, size_t k);
/* Makes runs that are not done and that nobody else makes, and writes the tables when all are done. */
int plan_work_go(struct run_list *l);
/* Prints what is done, running and failed, then the tables. 1 if not all is done. */
int plan_status_print(struct run_list *l);

#endif
