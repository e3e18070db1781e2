/* One run: one seed of one configuration, from data to a model, in a folder of its own.
 *
 *     config.yaml         the settings as they were given, with all defaults
 *     manifest.json       what made it: version, seed, hashes of data and settings, machine
 *     log.jsonl           a line per epoch
 *     metrics.csv         the same as a table; events.out.tfevents.r4 for TensorBoard, if asked for
 *     checkpoint          from which a killed run goes on to the same bits
 *     model.safetensors   at the end: the weights that the rule "select" chose */
#ifndef R4_TRAIN_RUN_RUN_H
#define R4_TRAIN_RUN_RUN_H

#include "base/hash.h"
#include "config/settings.h"
#include "optim/dual.h"
#include "optim/guard.h"
#include "optim/schedule.h"
#include "r4_tools.h"
#include "train/collapse.h"
#include "train/groups.h"
#include "train/run/checkpoint.h"
#include "train/run/curves.h"
#include "train/sharded.h"
#include "train/validation.h"
#include "train/word_list.h"

/* Sums over the steps of an epoch so far. */
struct run_sums {
  double steps, examples, right, loss, data; /* loss and data: times examples      */
  double masked_steps, penalty[R4_TERMS];    /* over the steps that had masks      */
  double lambda[R4_TERMS];                   /* likewise: weights that were used   */
};

/* Where a run is: all numbers that decide what comes next. */
struct run_state {
  int64_t epoch, batch; /* epochs done, and batches done of the next */
  int64_t step;
  struct run_sums sums;
  struct dual dual;
  struct guard guard;
  double best; /* the score of the best epoch so far by the rule "select" */
  int64_t best_epoch;
  int64_t finished;
  struct pulse pulse;
  double relief;                /* factor of lambda: 1, and half of it each time the net had died */
  int64_t good_epoch, revivals; /* the epoch whose weights it goes back to, and how often it did  */
  int64_t told;                 /* notices that were given, as bits                               */
  int64_t penalised;            /* steps in which a penalty counted                               */
  int64_t good_penalised;       /* the same, when the net was alive last                          */
  int64_t bf16;                 /* products of steps take bfloat16, as when it began, wherever it goes on */
};

struct run {
  const struct settings *s;
  const r4_settings *settings; /* the same, with their origins */
  r4_settings *chosen;         /* the same, if method was auto; otherwise NULL */
  char why[R4_ERROR_SIZE];     /* and the reason for what it is now            */
  char *text;                  /* and as text, for checkpoints */
  const char *folder;
  bool given; /* the data are the caller's, not those that the settings name */
  uint8_t identity[HASH_BYTES]; /* of settings, data and version */
  char data_hash[R4_HASH_SIZE], data_hash_unmasked[R4_HASH_SIZE];
  r4_data *train;
  struct validation val;
  r4_net *net;
  size_t size; /* of the weights */
  float *weights, *gradient;
  float *best, *good;    /* weights of the best epoch, and of the last one in which the net was alive */
  double penalty_after;  /* epochs */
  double chance;         /* the loss of one answer for all examples */
  double *class_weights; /* or NULL */
  struct groups groups;
  double *rates;         /* of each parameter, as factors */
  double *head_rates; /* the same in the first epochs, in which the head alone learns; NULL: there are none */
  bool head_alone;    /* what optimizer and step are made for */
  bool bf16;          /* what step is made for */
  size_t touched;     /* features that masks touch */
  bool doubtful;      /* the masks may mean the reverse */
  size_t masked;      /* as many, if they are listed; 0: all features count */
  float *index;
  struct word_list words; /* that replace masked ones */
  r4_reach *reach;        /* where masks are, if they are in small parts of images; then masked is 0 */
  r4_optimizer *optimizer;
  r4_batches *batches;
  struct shards *step;
  const r4_team *team; /* or NULL */
  struct schedule schedule;
  struct log log;
  struct text lines; /* of the log, without a folder */
  struct curves curves;
  struct run_state state;
  struct score val_score;    /* of the last epoch done in this process */
  double begun, epoch_begun; /* seconds of a clock */
  void (*notice)(const char *sentence, void *user);
  void *user;
};

/* ---- Making it: run_open.c ---- */

/* Makes all of it, at the start of the first epoch. data: NULL for those that the settings name. folder: NULL for a run
 * that leaves no files, as those of a team do but process 0. */
r4_status run_open(struct run *r, const r4_settings *settings, const r4_data *data, const char *folder,
                   const r4_team *team, r4_error *e);
void run_close(struct run *r);
/* Its objective, with what depends on the data. */
r4_objective_options run_objective(const struct run *r);
/* Step and optimiser for what learns in this epoch: what does not is not differentiated. */
r4_status run_open_phase(struct run *r, r4_error *e);

/* ---- Choosing an epoch: run_told.c ---- */

/* By the rule "select"; larger is better. */
double run_epoch_score(const char *select, int64_t epoch, double loss, double avg, double score);

/* ---- Running it: run.c ---- */

/* Before the first step, and after another state was taken. */
r4_status run_seek(struct run *r, r4_error *e);
/* The next step, and after the last one of an epoch all that is due then. */
r4_status run_step(struct run *r, r4_progress *progress, r4_error *e);
r4_progress run_progress(const struct run *r);

/* Of the next step. */
struct step_weights run_weights(const struct run *r);
/* The sum over the terms. */
double run_sum(const double of_terms[R4_TERMS]);

/* All epochs are done, or none was better for too long. */
bool run_is_over(const struct run *r);

/* ---- Whose checkpoint it is: run_resume.c ---- */

enum { RUN_ORIGIN_PARTS = 3 };

/* The parts of a checkpoint that say what made it. They point into r. */
void run_origin(const struct run *r, struct checkpoint_part part[RUN_ORIGIN_PARTS]);
/* Refuses one of another run, by what differs. *was becomes the settings it was made with, which may differ in what
 * leaves the steps done so far as they are; to be freed on failure as well. */
r4_status run_check_origin(const struct run *r, const struct checkpoint *c, r4_settings **was, r4_error *e);

/* ---- In a team: run_team.c; of one process (team NULL) these do nothing ---- */

/* A failure is one of all (team_join), and so is what any process wishes: to stop, which means to save as well, or to
 * save. */
r4_status run_vote(const r4_team *t, r4_status s, bool *stop, bool *save, r4_error *e);
/* R4_E_ARGUMENT if a process has another version, settings or data. */
r4_status run_agree(const struct run *r, r4_error *e);
/* All begin where process 0 does, which alone has read the checkpoint. */
r4_status run_share(struct run *r, r4_error *e);

/* ---- Its settings beside its data: run_check.c ---- */

/* Works out the weights of the classes and groups, and refuses what cannot be meant. */
r4_status run_check(struct run *r, r4_error *e);
/* That a net can learn to tell the classes apart, and be measured then. name: of the data, for messages. */
r4_status run_check_classes(const r4_data *d, const char *name, r4_error *e);
/* Tells what may not be meant. */
void run_tell_settings(struct run *r);

/* ---- Its health: run_health.c ---- */

/* A sentence for whoever listens. */
void run_tell(struct run *r, const char *format, ...) R4_PRINTF(2, 3);

/* These are weights to go back to, where a penalty could kill the net. */
void run_keep(struct run *r);
/* What it minimises, with the numbers of these settings and data. r4_string_free; NULL when out of memory. */
char *run_objective_text(const struct run *r);
/* Before the first step: what the masks make of fill and of validation. */
void run_greet(struct run *r);
/* After a step whose examples got this one answer, or PULSE_SEVERAL: a net that its penalty has killed goes back to its
 * last good weights, with half the lambda. */
void run_revive(struct run *r, int64_t answer);
/* After an epoch, before its sums are forgotten: tells what looks wrong, and keeps the weights if nothing does. */
void run_examine(struct run *r);
/* Whether the last batches all got one prediction. */
bool run_is_dead(const struct run *r);

/* ---- The folder: run_files.c ---- */

/* Before anything in the folder is looked at; NULL if another process has it. */
r4_lock *run_lock(const r4_train_options *o, r4_error *e);
/* Makes the folder with config.yaml and manifest.json and opens the log; or, to resume, finds the last state that was
 * saved and cuts the log back to it. A folder that has a run in it already is refused otherwise. */
r4_status run_begin(struct run *r, const r4_train_options *o, r4_error *e);
/* A line of the log for the epoch that was just done. */
r4_status run_log(struct run *r, double seconds, r4_error *e);
/* The checkpoint. */
r4_status run_save(struct run *r, r4_error *e);
/* The same in any file, of a run whose log has this size; and the way back. *was becomes the settings until then, to be
 * freed on failure as well. */
r4_status run_save_state(struct run *r, const char *path, int64_t log_size, r4_error *e);
r4_status run_load_state(struct run *r, const char *path, int64_t *log_size, r4_settings **was, r4_error *e);
/* The model, in the folder; and in any file. */
r4_status run_finish(struct run *r, r4_error *e);
/* How many numbers the constant of hidden content has, of its training examples; 0: they have none. */
size_t run_constants(const struct run *r);
r4_status run_save_model(const struct run *r, const char *path, r4_error *e);

#endif
