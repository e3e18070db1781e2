/* Settings. One table (settings_table.c) feeds the help, the file, --set, the range checks and the resolved
 * text. A setting is one line there and one field here, whose C type is the type of the setting. */
#ifndef R4_CONFIG_SETTINGS_H
#define R4_CONFIG_SETTINGS_H

#include "base/error.h"
#include "objective/composition.h"
#include "r4_tools.h"

enum { SETTINGS_MOST = 128, REALS_MOST = 256, FOUND_MOST = 4 };

struct reals {
  const char *word; /* that stands for the list; NULL: it is given */
  size_t n;
  double v[REALS_MOST];
};

/* int64_t: a whole number, double: a real one, bool: a flag, char *: text, const char *: one of the choices,
 * struct reals: a list. Comments are in the table. */
struct settings {
  struct {
    char *name, *from;
    int64_t seed, size;
    double val;
    const char *shades, *mask_means, *corrupt, *val_fill, *split;
    bool clean;
    r4_data_options read; /* its numbers and flags are settings without more ado; task.c adds the others */
    char *masks, *mask_categories, *cache, *tokenizer, *mask_words;
    char masks_read[24]; /* no setting: what the run took where masks is empty; "": what is there. See run_data.c */
    struct reals mask_values;
    double keep_masks, keep, correct;
    struct {
      char *written, *path; /* no settings: where the file of this name was found, or NULL; see run_data.c */
    } found[FOUND_MOST];
  } data;

  char *net, *from, *head, *from_prefix, *from_ignore, *preprocess, *guide;
  const char *init, *frozen_statistics;

  char *method; /* one of the choices, or a sum of them */
  const char *guide_cells, *fill, *penalty_mean, *explain, *norm, *form, *sample_max, *box, *bounds;
  char *words;
  double lambda, lambda_r3, delta, delta_rate, delta_ramp, eps, penalty_after, lambda_ramp, eps_ramp, alpha,
    group_step;
  double noise, word_share;     /* NaN: eps and alpha, which they were once called; eps is NaN: the whole range */
  double lambda_of[TERM_COUNT]; /* NaN: as lambda and lambda_r3 say, or the term's own */
  int64_t samples, steps, candidates, penalty_every;
  bool guard, bound, group_batches;
  r4_objective_options objective; /* as data.read: its numbers and flags */
  struct reals range, class_weights, group_weights;
  bool searched; /* no setting: lambda was auto, and is now one that the search tries or has chosen */

  r4_augment augment;

  int64_t epochs, head_epochs, batch, shards, lengths, patience, seed, threads;
  const char *optimizer, *schedule, *select, *precision;
  double rate, momentum, beta1, beta2, weight_decay, clip, warmup, decay_by, checkpoint;
  struct reals decay_at;
  bool drop_last, tensorboard, winograd;
  char *freeze, *rates;

  struct {
    double eps;
    int64_t batch, kappa, draws;
  } eval;
};

struct r4_settings {
  struct settings values;
  char *origin[SETTINGS_MOST]; /* where the value comes from, "a.yaml:3:9" or "--set"; NULL: the default */
  int layer
    [SETTINGS_MOST]; /* which of the files and lists of assignments it comes from, the last is the highest;
                                  0: none that says what was meant */
  bool by_old_name[SETTINGS_MOST]; /* the key that was given is an old one */
  int layers;
  char assigning[32]; /* the origin of the assignments of this layer; "": it is a file */
};

/* The same, with origins; NULL when out of memory. */
r4_settings *settings_copy(const r4_settings *from);

/* All that a file or a list of assignments says is a layer. One that gives nearly every setting, as resolved settings
 * do, says nothing about what was meant. */
void settings_begin_layer(r4_settings *s);
void settings_end_layer(r4_settings *s);

/* A setting has an effect only if this holds of another one, the decider. */
enum condition {
  ALWAYS,
  USED,
  ONE_OF,
  HAS_ONE_OF,
  NONE_OF,
  GIVEN,
  DRAWN,
  IS_0,
  ABOVE_0,
  BELOW_1,
  RECIPE,
  LOG_BY_DEFAULT
};

struct used_if {
  const char *decider;
  enum condition condition;
  const char *const *words; /* that it is one of, or none of; NULL ends them. USED: by the method */
  bool refuse;              /* else a sentence says so: the result is what was asked for without it */
};

enum { CONDITIONS_MOST = 3 };

/* A line of the table: all facts of a setting. */
struct setting {
  r4_setting_info info;
  size_t offset;          /* in struct settings */
  r4_run_change harmless; /* a run that is resumed with another value; 0: it is another run */
  bool in_epochs;         /* counted in epochs: a shorter run has as much less of it */
  struct used_if used_if[CONDITIONS_MOST]; /* all of them; without a decider: no more */
};

/* The k-th setting, NULL after the last. */
const struct setting *setting_at(size_t k);
/* By its key, or by the key that it had before; NULL if there is none. */
const struct setting *setting_find(const char *key);
size_t setting_number(const struct setting *t);
/* The settings that are meant by a name that other programs have for them, or NULL: settings_usual.c. */
/* Says that there is no such setting, and which may have been meant. */
r4_status setting_unknown(const char *where, const char *key, r4_error *e);

/* Reads text, strictly, into the setting's place in v, which must hold a value before. */
r4_status setting_read(const struct setting *t, const char *where, const char *text, struct settings *v,
                       r4_error *e);
/* The word that stands for a number: the first of two is NaN and the second infinity, which no number is. NULL if it is
 * a number. */
const char *setting_word(const r4_setting_info *i, double value);
/* For lists: appends one number. */
r4_status setting_append(const struct setting *t, const char *where, const char *text, struct settings *v,
                         r4_error *e);
/* Says what was found instead of what: "a.yaml:3:9: epochs is a map, expected a whole number from 1 on". */
r4_status setting_refuse(const struct setting *t, const char *where, const char *what, r4_error *e);

/* The value as the resolved text has it. r4_string_free; NULL when out of memory. */
char *setting_text(const struct setting *t, const r4_settings *s);
/* Also when out of memory. */
bool setting_differs(const struct setting *t, const r4_settings *a, const r4_settings *b);

/* "lambda (a.yaml:3:9)": a setting, and where its value comes from. */
struct setting_label {
  char text[160];
};

struct setting_label setting_label(const r4_settings *s, const char *key);

/* The weight of term k of the method, of those that it has: by its name, or by its place, which is "lambda" for the
 * first and, from the time when there were two, "lambda_r3" for the second. Not finite: none was given. */
double settings_weight(const struct settings *v, size_t k);

/* lambda is auto, and matters. */
bool settings_lambda_is_open(const struct settings *v);
/* Whether its method is auto. */
bool settings_method_is_open(const struct settings *v);

/* So many epochs, and as much less of all that is counted in epochs. */
void settings_shorten(struct settings *v, int64_t epochs);

/* A setting that was given and has no effect, where the result would not be what was asked for. */
r4_status settings_check_effects(const r4_settings *s, r4_error *e);

/* The value of t was given at where, by this key, which may be its old one. */
r4_status settings_note_origin(r4_settings *s, const struct setting *t, const char *key, const char *where,
                               r4_error *e);

/* Reads YAML from memory; file is its name for messages. "base" is refused. */
r4_status settings_parse(r4_settings *s, const char *file, const void *data, size_t size, r4_error *e);

#endif
