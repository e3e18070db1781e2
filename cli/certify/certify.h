/* r4 certify: claims about the examples of a run that were proved, seed by seed, and files that a stranger can check.
 * A claim is one struct in one file, and a line in the list of cmd_certify.c: it says whether it was asked for, and
 * fills the header and the lines of a certificate. Everything else (seeds, files, groups, the table) is the same for
 * all of them. */
#ifndef R4_CLI_CERTIFY_H
#define R4_CLI_CERTIFY_H

#include "box_range.h"
#include "runs.h"

struct certify_settings {
  const char *run, *eps, *words, *cover, *semantics, *method, *valid, *split, *out, *data, *data_now, *vnnlib;
  bool range, gradient, radius, detect, json, force, other_data;
  int64_t seed, examples, attack, slopes;
  double seconds;
};

enum { PART_PATH = PATH_SIZE + 200 }; /* of a file for whoever is interrupted */
enum { COVER_ROWS = 64 }; /* classes and groups that are counted, the first of them */

/* Examples, and those that are correct: by the net alone; by two-mask inference; of these, those that are proved to
 * stay so, and to stay so or to be reported. */
struct cover_counts {
  size_t examples, alone, correct, recovered, detected;
};

struct cover_row {
  char about[120];
  struct cover_counts all, class[COVER_ROWS], group[COVER_ROWS];
};

/* One model and the examples that it is certified on. */
struct certify_job {
  const struct certify_settings *o;
  const struct run *run;
  size_t seed; /* which of the run's */
  const r4_model *model;
  const r4_data *data;  /* the examples, all of one split; with --examples the first so many */
  const r4_data *train; /* the training part, for attacks with real contents                  */
  bool terminal;        /* progress is shown                                                  */
  /* Filled by the claim: the header, and a line for each example. */
  r4_certificate certificate;
  r4_certified *example;   /* [examples], zeros                          */
  char line[3][PATH_SIZE]; /* room for texts of the header               */
  struct box_range valid;
  const r4_word_ids *words; /* of the claim words, while it is made */
  char *ids;                /* its list, as the certificate has it, to be freed; or NULL */
  bool attacked;           /* example[].broken says what an attack found */
  struct cover_row *cover; /* of the claim cover, or NULL                */
};

struct claim {
  const char *name; /* as in the certificate: box, words, cover */
  bool (*asked)(const struct certify_settings *o);
  /* What was asked for makes sense: EXIT_DONE, or an exit code after a sentence on stderr. */
  int (*check)(const struct certify_settings *o);
  /* What is added to the name of a certificate's file: "box-0.1". */
  void (*file_name)(const struct certify_settings *o, char *to, size_t size);
  /* Fills j->certificate (but model, data, examples) and j->example. Returns an exit code, after a sentence if any. */
  int (*certify)(struct certify_job *j);
  /* What is kept of a seed for whoever is interrupted: whether there is something, and removed, as all certificates are
   * on the disk. j has o, run and seed alone. */
  bool (*kept)(const struct certify_job *j);
  void (*saved)(const struct certify_job *j);
  /* What was proved as figures, if they are as r4 eval has them; false: not. May be NULL. */
  bool (*figures)(const struct certify_job *j, r4_measured *to);
};

extern const struct claim claim_box, claim_words, claim_cover;

/* ---- certify_part.c ---- */

/* An exit code after a sentence, unless semantics are known, and some example has a mask: a set of one point proves
 * nothing that anybody asked. */
int certify_check_semantics(const struct certify_settings *o);
int certify_check_masks(const struct certify_job *j);
/* What lines that are kept are of: version, model, data, and what is added. Returns an exit code. */
int certify_key(const struct certify_job *j, char *to, size_t size, const char *format, ...)
  __attribute__((format(printf, 4, 5)));
/* Calls prove for the examples that are not in the file yet, and adds them as they are done. */
r4_status certify_from_part(struct certify_job *j, const char *path, const char *key, const r4_certify_options *options,
                            r4_status (*prove)(const struct certify_job *, const r4_certify_options *, r4_error *),
                            r4_error *e);

/* ---- certify_run.c ---- */

int certify_run(struct certify_settings *o, const struct claim *claim, r4_split split);
/* "r4 certify: seed 0 (1 of 3): 1200 of 10000 examples, 31 s left": on a terminal all the time, elsewhere a line every
 * few seconds. */
void certify_progress(const struct certify_job *j, const char *doing, size_t done, size_t of, double began);

/* ---- certify_print.c ---- */

/* What is remembered of a seed. */
struct certify_row {
  int64_t seed;
  r4_group_shares share[3], masked[3]; /* by r4_certified_share: of all examples, and of those with a mask */
  size_t broken;                       /* certified examples that an attack broke: a defect                */
  size_t disagree;                     /* certified for another class than the float net predicts: 0       */
  bool attacked;
  double delta, seconds, radius; /* delta: the largest; radius: the mean */
  char file[PATH_SIZE], model[PATH_SIZE], data[PATH_SIZE]; /* what r4-check takes */
  struct cover_row *cover; /* or NULL; to be freed */
};

void certify_row_of(const struct certify_job *j, struct certify_row *to);
int certify_print(const struct certify_settings *o, const struct certify_job *j, const struct certify_row *row,
                  size_t n);
int certify_print_json(const struct certify_settings *o, const struct certify_job *j, const struct certify_row *row,
                       size_t n);

/* ---- certify_vnnlib.c ---- */

/* Whether the folder may be written; an exit code after a sentence. */
int certify_check_vnnlib(const struct certify_settings *o);
/* The net, and a specification for each example with a mask, if that was asked for. Returns an exit code. */
int certify_vnnlib(const struct certify_job *j, const r4_certify_options *box);

/* ---- certify_cover.c ---- */

int cover_print(const r4_data *d, const struct cover_row *x);
void cover_json(r4_json *w, const r4_data *d, const struct cover_row *x);

#endif
