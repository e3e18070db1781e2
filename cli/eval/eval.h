/* What "r4 eval" measured, and its two ways to say it. */
#ifndef R4_CLI_EVAL_EVAL_H
#define R4_CLI_EVAL_EVAL_H

#include "box_range.h"
#include "json_out.h"
#include "runs.h"

/* What the swap test puts into masks. */
struct contents {
  size_t n;
  r4_fill kind[R4_MAX_SWAPS];
};

/* The relative core sensitivity that is asked for. */
struct noise {
  bool asked;
  r4_sensitivity_options options;
};

/* The pointing games that are asked for, by attribution. */
struct pointing {
  size_t n;
  char list[200]; /* the names, cut apart */
  const char *method[R4_MAX_POINTING];
};

/* Accuracy by the values of a further column of the data; or, of data without groups, by class and mask. */
enum { MOST_VALUES_BY = R4_MAX_GROUPS };
struct by {
  const char *column; /* NULL: not asked for; "": by class and mask where some of a class have one, and others not */
  bool masks;         /* it is that */
  char (*name)[160];  /* of such values */
  size_t number, values;
  const char **value; /* in order; they live as long as the data */
  size_t *count;      /* examples of each */
  uint32_t *of;       /* by example: the number of its value */
  double *right;      /* the share of each value, of the first seed, then of the second .. */
};

/* What nets predict, example by example. */
struct predicted {
  bool asked, confusion;
  const char *path; /* a file to write it to, or "" */
  r4_table *file;
  size_t classes;
  float *probability; /* [examples, classes] of the seed that was measured last          */
  double *mean;       /* of all seeds                                                    */
  double *right;      /* [examples]: the share of seeds that are right                   */
  double *count;      /* [labels, classes]: the confusion matrix, mean over seeds        */
  r4_measured *ensemble; /* of mean; NULL of one seed */
};

struct evaluation {
  const char *path, *label, *name,
    *split; /* the run, as it can be shown, as tables call it; the part looked at */
  struct run *run;
  struct outcomes outcomes; /* how its seeds ended               */
  r4_data *data;           /* of the split                      */
  char hash[R4_HASH_SIZE]; /* of these: equal for runs that can be compared */
  r4_measured *measured;   /* of each seed                      */
  r4_summary summary;
  size_t new; /* seeds that were measured now; those of the others were kept */
  int32_t *predicted; /* of the seed that was measured last, by example */
  struct contents contents;
  bool swap_asked; /* say so, too, if there is nothing to swap */
  r4_data *train;   /* whose masked content is pasted */
  size_t elsewhere; /* masks on training examples, if the split has none */
  struct noise noise;
  const struct pointing *pointing;
  const char *cover; /* a family of covering masks, or NULL */
  const char *certify; /* a box: eps, or "range", or NULL   */
  int64_t attack;      /* starts, in that box               */
  struct box_range valid;
  bool words_asked;
  double specificity; /* 0: as usual */
  bool kappa_asked; /* by name: without it, texts are not shown theirs */
  struct by by;
  struct predicted said;
  struct eval_progress *progress; /* while it is measured */
};

/* ---- eval_progress.c ---- */

struct eval_progress {
  const struct evaluation *of;
  bool terminal;
  size_t seed;      /* its place in the run                          */
  const char *what; /* that is measured                              */
  size_t asked, all; /* examples so far, and in all; 0: nobody knows */
  double next;       /* when the line changes again                  */
};

void eval_progress_begin(struct eval_progress *p, const struct evaluation *v);
void eval_progress_stage(struct eval_progress *p, const char *what, size_t all);
void eval_progress_end(struct eval_progress *p);

/* ---- eval_measure.c ---- */

struct eval_how {
  const char *data; /* in place of those of the run, unless it is "" */
  double eps;       /* -1: the setting eval.eps                      */
  bool other_data;  /* whatever the run was trained on               */
  bool kept;        /* what is kept beside a model need not be measured */
  int64_t seeds;    /* so many alone; 0: all of them                 */
  const struct words *set; /* changes of settings, key=value; or NULL */
};

/* Fills in v, whose path, names, split and contents are given. Returns an exit code: 1 if a seed gives one answer to
 * everything. */
int eval_measure(const struct eval_how *o, struct evaluation *v, r4_split split);
void eval_forget(struct evaluation *v);
/* Of the first seed, with the k-th content. */
const r4_swapped *eval_swapped(const struct evaluation *v, size_t k);

/* One run with all figures, and several of the same data side by side; one as an object on a line of its own. Return an
 * exit code. */
int eval_print_table(const struct evaluation *v);
int eval_print_comparison(const struct evaluation *const *v, size_t n);
/* first: NULL, or another run of the same data that it is compared with. */
int eval_print_json(const struct evaluation *v, const struct evaluation *first);

/* ---- eval_rows.c ---- */

/* By the table of figures: rows of runs side by side; of one run those without a table of their own; members of the
 * object of a run and of one of its seeds. */
void rows_add(r4_table *t, const struct evaluation *const *v, size_t n);
void rows_list(r4_table *t, const struct evaluation *v);
void rows_add_json(r4_json *w, const struct evaluation *v);
void rows_add_seed_json(r4_json *w, const struct evaluation *v, size_t seed);
/* "95 %: 78.10 to 84.00" of a figure that has an interval, else "". Returns to. */
const char *rows_interval(const struct evaluation *v, const char *key, char *to);

/* ---- eval_swap.c ---- */

/* "swap,blank"; "" is swap, "none" nothing. False after a message. */
bool swap_contents(const char *list, struct contents *to);
/* What the swap test found: below the other figures of a run, why there is nothing, as members of the object of a run
 * and of one of its seeds. */
int swap_print(const struct evaluation *v, int name_width);
void swap_print_none(const struct evaluation *v, const char *before);
/* Validation found a shortcut that this swap test does not show, and other contents can be tried. */
bool swap_may_show_more(const struct evaluation *v);
/* The verdict, by the swap test or by validation; nothing if neither knows. */
void swap_print_verdict(const struct evaluation *v, const char *prefix);
void swap_add_json(r4_json *w, const struct evaluation *v);
void swap_add_seed_json(r4_json *w, const struct evaluation *v, size_t seed);

/* ---- eval_words.c ---- */

/* The substitution test of texts, if there is one: below the other figures, and as a member. */
int words_print(const struct evaluation *v);
void words_add_json(r4_json *w, const struct evaluation *v);

/* ---- eval_noise.c ---- */

/* "0.5,1,2", "usual" or "published"; "" is nothing. False after a message. */
bool noise_levels(const char *list, struct noise *to);
/* The relative core sensitivity of a run, if it was asked for: as a table with its definition, and as a member. */
int noise_print(const struct evaluation *v);
void noise_add_json(r4_json *w, const struct evaluation *v);

/* ---- eval_pointing.c ---- */

/* "gradcam,integrated"; "" is nothing. False after a message. */
bool pointing_methods(const char *list, struct pointing *to);
/* As a table with its definition, and as a member; nothing if it was not asked for. */
int pointing_print(const struct evaluation *v);
void pointing_add_json(r4_json *w, const struct evaluation *v);

/* ---- eval_by.c ---- */

/* Finds the column and its values in the data of v, if one is asked for. Returns an exit code. */
int by_open(struct evaluation *v);
void by_close(struct evaluation *v);
/* Of one seed, by what it predicts. */
void by_count(struct evaluation *v, const int32_t *predicted, size_t seed);
/* Rows for the table of groups, if it is by class and mask; else there are none. */
size_t by_rows(const struct evaluation *v);
r4_mean_sd by_accuracy(const struct evaluation *v, size_t value);
/* As a table, and as a member; nothing if it was not asked for. */
int by_print(const struct evaluation *v);
void by_add_json(r4_json *w, const struct evaluation *v);

/* ---- eval_predicted.c ---- */

/* Room for it, if it is asked for; after each seed, v->predicted and v->said.probability being its; after the last. */
int predicted_open(struct evaluation *v, size_t classes);
void predicted_add(struct evaluation *v, size_t seed);
int predicted_end(struct evaluation *v);
void predicted_close(struct evaluation *v);
void predicted_print_ensemble(const struct evaluation *v);
int predicted_print_confusion(const struct evaluation *v);
/* Of runs of the same data, to the first of them. */
void predicted_print_differences(const struct evaluation *const *v, size_t n);
void predicted_add_json(r4_json *w, const struct evaluation *v, const struct evaluation *first);

/* A star stands at a figure that means nothing. */
const char *eval_star(const struct evaluation *v);
/* kappas of texts are not shown: each net has its own scale. */
bool eval_has_no_scale(const struct evaluation *v);

#endif
