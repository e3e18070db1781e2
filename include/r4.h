/* r4.h - train networks that are right for the right reasons.
 *
 * You bring examples, labels and masks that mark what must not matter. r4 trains a network that does not use it, shows
 * that it does not, and bounds how far it could. This header is the manual: it is in the order of use, and a program
 * needs only as many parts as it gets to.
 *
 *   1  Errors, shapes, threads   what every program needs
 *   2  Data                      data sets: reading, arrays, recipes, splits, masks, looking at them
 *   3  Settings and training     methods, settings, r4_train, a trainer step by step, choosing lambda
 *   4  Measuring and explaining  predictions, accuracies, tests of what a net uses, heat maps, the page
 *   5  Models                    a net with its weights in a file, ONNX, pretrained weights
 *   6  Steps of your own         nets, batches, random numbers, objectives, optimisers
 *   7  Graphs                    operations, transforms (r4_grad, r4_bound), plans
 *
 * r4_tools.h has what the command and other tools need besides: JSON, tables, plots, statistics, files of runs.
 *
 * Objects  Every r4_X_new() or r4_X_open() is paired with r4_X_free(), which accepts NULL. What a function returns as a
 *          const pointer belongs to the object that was asked, and is valid as long as it, unless stated otherwise.
 *          Arguments are copied, unless stated otherwise. A char * that is not const is freed with r4_string_free.
 * Errors   Calls that can fail return r4_status, or a pointer that is NULL, and fill an r4_error, which may be NULL.
 *          Success leaves an r4_error as it is or clears it: start with {0}, and after a failure ask the result of a
 *          call, not e.status, which may be that of an earlier one. Graph builders return a node and keep
 *          the first error in the graph: later builders pass it on, and one question at the end (r4_graph_status) is
 *          enough. The library never prints, exits or aborts.
 * Files    A file that is written appears complete or not at all, and replaces one of its name. What else is there, a
 *          link, a device, a pipe or a folder, is refused with R4_E_IO and stays as it is.
 * NULL     for something that a call needs, itself or in a list, is an error of functions that take an r4_error. A
 *          graph that is NULL, as r4_graph_new returns it without memory, has no nodes: builders return R4_NONE,
 *          r4_graph_status an error. All other functions answer questions that cannot fail (r4_data_count,
 *          r4_data_values, r4_trainer_done, r4_model_net, r4_optimizer_step) and check nothing, unless stated
 *          otherwise: a NULL, or a number that is too large, is undefined behaviour there.
 * Threads  An object belongs to one thread at a time. Running a plan uses OpenMP inside.
 *          The same seed and inputs give the same bits, on the same number of threads (r4_threads).
 * Locale   Numbers in texts and files have a decimal point, whatever locale the program is in.
 * Bounds   of r4_bound hold in real arithmetic, as far as float rounding lets them; those of r4_enclose are proved. */
#ifndef R4_H
#define R4_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#include <initializer_list>
extern "C" {
#endif

/* What is declared here and in r4_tools.h, and nothing else, is a name of the library. */
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#define R4_VERSION_MAJOR 0
#define R4_VERSION_MINOR 1
#define R4_VERSION_PATCH 0
#define R4_VERSION "0.1.0"

/* ==== Part 1: errors, shapes, threads ========================================================= */

/* ---- Errors --------------------------------------------------------------------------------- */

typedef enum {
  R4_OK = 0,
  R4_E_MEMORY,   /* an allocation failed                                            */
  R4_E_SHAPE,    /* shapes do not fit together                                      */
  R4_E_ARGUMENT, /* a value is out of its range, a name is unknown                  */
  R4_E_RULE,     /* an operation has no such rule (see "r4 ops")                    */
  R4_E_DOMAIN,   /* r4_check failed while running, also one that r4_bound added; or a
                    number is NaN or infinite where only finite ones make sense.
                    log(-1) alone does not fail: it is NaN, as in C                 */
  R4_E_PARSE,    /* a text or a file is damaged, or not what it should be           */
  R4_E_IO,       /* a file could not be opened, read or written                     */
  R4_E_INTERNAL, /* an invariant of r4 itself does not hold: please report it       */
  R4_E_BUSY,     /* another process is working there                                */
  R4_E_CPU,      /* this CPU lacks what the library was compiled for                */
  R4_E_TEAM,     /* another process of the team failed, and has the reason          */
} r4_status;

enum { R4_ERROR_SIZE = 512 };

typedef struct {
  r4_status status;
  char text[R4_ERROR_SIZE]; /* one sentence: what, where, and what was expected */
} r4_error;

/* The name of a status, for example "shape". */
const char *r4_status_name(r4_status s);

void r4_string_free(char *s);

/* ---- Shapes --------------------------------------------------------------------------------- */

enum { R4_MAX_RANK = 6 };

/* Row-major: the last dimension is contiguous. Rank 0 is a scalar. Dimensions are at least 1. */
typedef struct {
  int rank;
  int64_t dim[R4_MAX_RANK];
} r4_shape;

/* R4_SHAPE(256, 784) and R4_SCALAR, as expressions. */
#ifdef __cplusplus
#define R4_SHAPE(...) (r4_shape{(int)std::initializer_list<int64_t>{__VA_ARGS__}.size(), {__VA_ARGS__}})
#define R4_SCALAR (r4_shape{0, {}})
#else
#define R4_SHAPE(...) \
  ((r4_shape){.rank = (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), .dim = {__VA_ARGS__}})
#define R4_SCALAR ((r4_shape){.rank = 0})
#endif

/* Number of elements: the product of the dimensions. */
int64_t r4_shape_count(r4_shape s);
bool r4_shape_equal(r4_shape a, r4_shape b);

/* ---- The objects ---------------------------------------------------------------------------- */

typedef struct r4_data r4_data;           /* examples with labels and masks: part 2                 */
typedef struct r4_settings r4_settings;   /* what a training run can be told: part 3                */
typedef struct r4_trainer r4_trainer;     /* a training run, step by step: part 3                   */
typedef struct r4_model r4_model;         /* a net with its weights: part 5                         */
typedef struct r4_net r4_net;             /* an architecture: part 6                                */
typedef struct r4_batches r4_batches;     /* a data set, cut into batches: part 6                   */
typedef struct r4_reach r4_reach;         /* how far masks reach into a conv net: part 6            */
typedef struct r4_optimizer r4_optimizer; /* a rule that moves weights: part 6                      */
typedef struct r4_graph r4_graph;         /* nodes, each an operation on others: part 7             */
typedef struct r4_plan r4_plan;           /* a graph that can run: part 7                           */

/* A node of a graph. */
typedef struct {
  uint32_t i; /* 0 means "none" */
} r4_id;

#define R4_NONE ((r4_id){0})

/* ---- Threads and CPUs ----------------------------------------------------------------------- */

/* How many CPUs the process may use. */
int r4_cpus(void);

/* How many threads plans use from now on, at most r4_cpus(); 0 keeps the number, which at first is that of OpenMP:
 * OMP_NUM_THREADS, or all CPUs. With pin each thread stays on a CPU of its own. Process-wide. Returns how many the
 * calling thread really gets. OpenMP may give fewer, and ends the program if the system refuses it one: r4_threads
 * tries first, so call it before anything else where that may happen. */
int r4_threads(int n, bool pin);

/* Why the last r4_threads of the calling thread gave fewer than asked for, as "OMP_THREAD_LIMIT allows no more"; NULL
 * if it gave all of them. */
const char *r4_threads_why(void);

/* What the library was compiled for, as "x86-64-v3: sse4.2 avx2 fma", and which of the features that r4 knows this CPU
 * has. */
const char *r4_cpu_built_for(void);
const char *r4_cpu_features(void);
/* NULL, or a sentence that says which of the features that the library was compiled for this CPU lacks. A program that
 * may meet an older CPU asks before any other call: most of those with an r4_error fail with R4_E_CPU then, but others
 * may not get that far. */
const char *r4_cpu_missing(void);

/* The oneDNN that is loaded, as "3.7.2". */
enum { R4_VERSION_SIZE = 32 };
void r4_onednn_version(char to[R4_VERSION_SIZE]);
/* NULL if training can take products in bfloat16 (precision: bf16); else a sentence that says why not. */
const char *r4_bf16_missing(void);

/* ==== Part 2: data ============================================================================ */

/* ---- Data sets ------------------------------------------------------------------------------ */

/* A data set is a value: images, feature vectors or texts (ids of tokens) with labels and, where known, a mask of what
 * must not matter, a group, and the split an example belongs to. Nothing changes it once it is made: a function that
 * would change something returns a new data set, which shares memory with the old one. Every r4_data is freed on its
 * own, in any order. Several threads may use the same data set, or some that share memory: each is freed by one. */
void r4_data_free(r4_data *d);

typedef enum { R4_TRAIN = 0, R4_VAL, R4_TEST, R4_SPLITS } r4_split;

size_t r4_data_count(const r4_data *d);   /* examples */
r4_shape r4_data_shape(const r4_data *d); /* of one example: [height, width, channels], [features] or [tokens] */
/* The length of a text in tokens; what follows is padding. For other examples the number of features. */
size_t r4_data_length(const r4_data *d, size_t i);
/* How many ids of tokens there are: as stated, or one more than the largest; 0 unless examples are tokens. */
int64_t r4_data_vocabulary(const r4_data *d);

typedef struct {
  int32_t label, group; /* numbers of a class and of a group; without groups the classes are the groups */
  r4_split split;
  const char *file, *id; /* where it came from, and what it belongs to (a patient, a lesion); or NULL */
} r4_example;

r4_example r4_data_example(const r4_data *d, size_t i);
/* The features of example i, as floats: images are in [0, 1], tokens are ids. to has room for
 * r4_shape_count(r4_data_shape(d)) floats, here and below. */
void r4_data_values(const r4_data *d, size_t i, float *to);
/* The mask of example i, shaped as the example (a pixel's value for each of its channels), in [0, 1], 1 = must not
 * matter. Returns whether it has one; without, to gets zeros. */
bool r4_data_mask(const r4_data *d, size_t i, float *to);
bool r4_data_has_mask(const r4_data *d, size_t i);
/* Further columns of the table that a folder of images or a file of texts came with: how many, their names, and what
 * example i has in one, "" for nothing. NULL: there is no such column. They go with their examples into every data set
 * made from this one, but not into npz files, and do not count for the hash. */
size_t r4_data_extras(const r4_data *d);
const char *r4_data_extra_name(const r4_data *d, size_t k);
const char *r4_data_extra(const r4_data *d, size_t i, size_t k);

size_t r4_data_classes(const r4_data *d);
const char *r4_data_class_name(const r4_data *d, size_t k);
size_t r4_data_groups(const r4_data *d);
const char *r4_data_group_name(const r4_data *d, size_t k);
/* What a token looks like; NULL if the data do not know. */
const char *r4_data_piece(const r4_data *d, int32_t id);

/* One line that says how the data set was made. */
const char *r4_data_about(const r4_data *d);
/* Sentences about what was odd when it was read: empty masks, outlines that leave their image. */
size_t r4_data_notes(const r4_data *d);
const char *r4_data_note(const r4_data *d, size_t k); /* NULL: k is too large */

enum { R4_HASH_SIZE = 65 };
/* SHA-256 of the content (values, labels, groups, splits, masks, names; not of how it is stored), in hex digits. */
void r4_data_hash(const r4_data *d, char hex[R4_HASH_SIZE]);
/* The same without masks, and with no difference between training and validation. */
void r4_data_hash_unmasked(const r4_data *d, char hex[R4_HASH_SIZE]);

/* ---- Reading and writing -------------------------------------------------------------------- */

/* What 1, or white, means in masks. */
typedef enum { R4_MASKS_UNSTATED = 0, R4_MASKS_IRRELEVANT, R4_MASKS_RELEVANT } r4_mask_meaning;

typedef struct {
  r4_mask_meaning mask_means;  /* must be stated for masks that do not say it themselves                            */
  bool soft_masks;             /* keep grey values of images and bytes; otherwise 1 from the half on. Masks of floats
                                  are always kept, in steps of 1 / 255                                              */
  const double *mask_values;   /* label images as masks: the stored values that count as 1, greys or indexes of a   */
  size_t mask_value_count;     /* palette, whole numbers from 0 to 65535; none: white does                          */
  const char *masks;           /* folders of images: a file with annotations (doc/formats.md), in the folder, or else
                                  relative to the working directory; NULL: boxes.csv or annotations.json of the
                                  folder, if any; "none": no annotations                                            */
  const char *mask_categories; /* labels of annotations that count, "tag, ruler"; NULL: all                         */
  int64_t height, width;       /* images are resized to this; 0: as they are, all the same                          */
  const char *cache;           /* folder for decoded data; NULL: none                                               */
  bool cache_only_read;        /* what is kept there is used; nothing is added, and no folder is made               */
  const char *tokenizer;       /* texts: a tokenizer.json, a vocab.txt (a piece in each line; in lower case, unless a
                                  tokenizer_config.json next to it says otherwise), a folder with one of them, or the
                                  name of a net; NULL or "": "minilm"                                               */
  int64_t length;              /* texts: tokens of each, with [CLS] and [SEP]; 0: of the longest, at most 512       */
  const char *mask_words;      /* texts: words that must not matter, "spielberg, jonah", or a file of them          */
  bool unlabelled;             /* texts: they need no labels, and have none: the class "unknown"; a .txt file is one */
  const char *folder;          /* where "r4 data get" puts data sets; NULL: r4_data_folder()                        */
  uint64_t seed;               /* of the built-in digits, and of the split of sources that have none (HAM10000)     */
  bool own_split;              /* HAM10000: as its table dermamnist_split.csv says, instead of a split by lesion    */
} r4_data_options;

/* A source is the name of a known data set ("mnist", "fashion-mnist", "digits", see "r4 data list"), or a path: an
 * npz file, a table of texts, or a folder of idx files, of texts, or of images with metadata.csv (see doc/data.md and
 * doc/formats.md). options may be NULL. */
r4_data *r4_data_open(const char *source, const r4_data_options *options, r4_error *e);

/* $R4_DATA_DIR, or r4 in $XDG_DATA_HOME or in $HOME/.local/share. r4_string_free. NULL if none of them is set. */
char *r4_data_folder(r4_error *e);

/* An npz file that numpy and r4_data_open read: x_train (t_train and len_train for tokens), y_train, m_train, g_train,
 * and so on for val and test. */
r4_status r4_data_save(const r4_data *d, const char *file, r4_error *e);

/* What became of one image file. */
typedef struct {
  int64_t height, width; /* as it is shown; 0 if it could not be read */
  r4_error error;        /* why not                                   */
} r4_image_info;

/* PNG and JPEG files in this order, [height, width, 1 or 3] as shape says, resized and converted as folders of images
 * are: the same file gives the same values. All have the label 0, of the one class "unknown", and are for training.
 * info, [n], says what each file was, and those that cannot be read are left out; without it (NULL), or if none can,
 * the first of them is the error. */
r4_data *r4_data_images(const char *const *file, size_t n, r4_shape shape, r4_image_info *info, r4_error *e);

/* ---- Data in memory ------------------------------------------------------------------------- */

/* A data set from arrays in memory, in row-major order, which are copied unless borrow says otherwise. n, shape, labels
 * and one of floats, bytes and tokens are required; with tokens also lengths, with masks mask_means. What else is NULL
 * or 0 is not there. */
typedef struct {
  size_t n;               /* examples: required                                                                  */
  r4_shape shape;         /* of one: [height, width, channels], [features] or [tokens]: required                 */
  const float *floats;    /* one of these three, [n, shape]: finite numbers;                                     */
  const uint8_t *bytes;   /* value = byte * scale + offset, and without a scale byte / 255;                      */
  const int32_t *tokens;  /* ids of tokens, from 0 to vocabulary - 1, or below 2^24 if none is stated,           */
  const int32_t *lengths; /* with the length of each text, [n], from 1 on; what follows it becomes padding       */
  double scale, offset;
  int64_t vocabulary;
  int32_t padding;
  const int32_t *labels;          /* [n], from 0 on: required                                  */
  const int32_t *groups;          /* [n], from 0 on; without, the classes are the groups       */
  const r4_split *splits;         /* [n]; without, all are for training                        */
  size_t classes, group_count;    /* 0: one more than the largest label, or group              */
  /* As many, which must then be stated, and all different, in UTF-8; NULL: names are numbers. */
  const char *const *class_names, *const *group_names;
  const float *mask_floats;   /* one of these two, from 0 to 1, kept in steps of 1 / 255, soft_masks or not;     */
  const uint8_t *mask_bytes;  /* 0 or 1, or if any is above 1: byte / 255, then 1 from 128 on unless soft_masks  */
  bool masks_by_feature;      /* masks are [n, shape]; otherwise those of images are [n, height, width]          */
  bool soft_masks;            /* of mask_bytes                     */
  r4_mask_meaning mask_means; /* must be stated if there are masks */
  bool borrow; /* floats and bytes are not copied: they must be there, and stay as they are, until this data set and all
                  that was made of it or holds it (data sets, batches, trainers) is freed */
} r4_data_arrays;

/* Has the hash of the same data in an npz file. Errors name the example, its value and what was expected. */
r4_data *r4_data_new(const r4_data_arrays *arrays, r4_error *e);

/* Characters of a text: the first, counted from 0, and the one behind the last. */
typedef struct {
  int64_t from, to;
} r4_span;

/* A data set from texts in memory, [n] of UTF-8, which become tokens as those of a file do: it has the hash of the same
 * texts in a table. spans, [n]: how many of the entries of span are marked in each text, in order; NULL: none is.
 * arrays has n, labels, groups, splits and names, and neither values nor masks. options: tokenizer, length, mask_words,
 * mask_means, folder; NULL: the defaults. Errors name a text by its number, from 0 on. */
r4_data *r4_data_texts(const char *const *text, const size_t *spans, const r4_span *span,
                       const r4_data_arrays *arrays, const r4_data_options *options, r4_error *e);

/* The same examples with other labels, one for each, with this number of classes and these names. */
r4_data *r4_data_relabel(const r4_data *d, const int32_t *label, size_t classes, const char *const *name,
                         r4_error *e);

/* ---- Recipes -------------------------------------------------------------------------------- */

/* What to do when examples of the source occur in two splits: refuse; drop those of training and validation that occur
 * later; keep them and say so in r4_data_about. The default keeps published splits (own_split is one) and refuses
 * others. */
typedef enum { R4_OVERLAP_DEFAULT = 0, R4_OVERLAP_REFUSE, R4_OVERLAP_DROP, R4_OVERLAP_KEEP } r4_overlap;

typedef struct {
  const char *from; /* the source; NULL: the recipe's own                                                  */
  r4_data_options read; /* of the source; seed is that of every draw, and a height and width of 0 the recipe's own */
  double val;       /* share for validation of what is not for test; 0: as the source has it; less than 0: none.
                       A source without a test part is split by the recipe (doc/recipes.md)                */
  bool keep_val;    /* val is for sources without a validation part; those that have one keep it           */
  const char *shades; /* grey decoys: "paper" or "ross", three times as bright; NULL: as the recipe says   */
  int64_t side;       /* of the decoy, in pixels; 0: as the recipe says                                    */
  bool clean;         /* the same examples, splits and masks without the decoy: the ceiling to compare with */
  r4_overlap overlap;
} r4_recipe_options;

/* A data set by recipe, the same for the same options and source. r4_data_about is the command that makes it again. */
r4_data *r4_data_make(const char *recipe, const r4_recipe_options *options, r4_error *e);

typedef struct {
  const char *name, *about, *from; /* from: the source when none is given */
} r4_recipe_info;

size_t r4_recipe_count(void);
r4_recipe_info r4_recipe_describe(size_t k);

/* ---- Parts and splits ----------------------------------------------------------------------- */

/* These two may give data without examples: count, save, split, fill and look at them like others. Training, batches,
 * predictions and measurements refuse them with R4_E_ARGUMENT; r4_attribute then has nothing to do. R4_E_ARGUMENT also
 * if there is no such split. */
r4_data *r4_data_part(const r4_data *d, r4_split split, r4_error *e);
r4_data *r4_data_subset(const r4_data *d, size_t n, const size_t *examples, r4_error *e);
/* A share of each class of the training part, at random, and all of validation and test. */
r4_data *r4_data_fraction(const r4_data *d, double share, uint64_t seed, r4_error *e);

/* A new split by seed: shares of every class for validation and test, the rest for training. Examples with the same
 * id stay together, in the class most of them have; shares count examples. */
r4_data *r4_data_split(const r4_data *d, double val, double test, uint64_t seed, r4_error *e);
/* The same, moving a share of the training part only to validation: what was for test or validation stays. */
r4_data *r4_data_hold_out(const r4_data *d, double val, uint64_t seed, r4_error *e);

/* R4_E_ARGUMENT when two splits have an example with the same values or with the same id in common: how many
 * examples, and where the first are. */
r4_status r4_data_check_overlap(const r4_data *d, r4_error *e);
/* Without the training examples that occur in validation or test, and the validation examples that occur in test, by
 * values or by id. *dropped (if not NULL) becomes their number. */
r4_data *r4_data_drop_overlap(const r4_data *d, size_t *dropped, r4_error *e);

/* ---- Masks ---------------------------------------------------------------------------------- */

/* How many examples of a split and a class (-1: of any) have a mask. */
size_t r4_data_mask_count(const r4_data *d, r4_split split, int32_t label);
/* The masks of a share of each class of the training part; the others of training have none. A smaller share is
 * within a larger one of the same seed. */
r4_data *r4_data_keep_masks(const r4_data *d, double share, uint64_t seed, r4_error *e);
/* 1 - m: what must not matter becomes what may. An example without a mask still has none. */
r4_data *r4_data_invert_masks(const r4_data *d, r4_error *e);
/* alpha mean m + (1 - alpha) m in training, where mean is that of the masks of training, element by element. */
r4_data *r4_data_soften_masks(const r4_data *d, double alpha, r4_error *e);

typedef enum { R4_CORRUPT_MISPOSITION = 0, R4_CORRUPT_SHIFT, R4_CORRUPT_DILATION, R4_CORRUPT_SHRINK } r4_corruption;

/* Masks of images made wrong, but for a share of each class of the training part: at another place, moved a little,
 * larger or smaller (doc/recipes.md has the ranges). A smaller correct share is within a larger one of the same seed.
 * Masks of validation and test stay. */
r4_data *r4_data_corrupt_masks(const r4_data *d, r4_corruption kind, double correct, uint64_t seed, r4_error *e);

/* What replaces masked content, so that a net that learns from it gains nothing from the shortcut. Tokens have no mean,
 * blur or blank; their colour is one other token for all, their noise another one for each. */
typedef enum {
  R4_FILL_NONE = 0,
  R4_FILL_COLOUR, /* one random colour                                                                 */
  R4_FILL_NOISE,  /* a random value for each feature                                                   */
  R4_FILL_MEAN,   /* the mean of the examples                                                          */
  R4_FILL_BLUR,   /* the surroundings, of images alone                                                 */
  R4_FILL_SWAP,   /* the masked content of another example                                             */
  R4_FILL_PASTE,  /* every second example, masked or not, gets the masked content of another put on it */
  R4_FILL_BLANK,  /* 0: black in images                                                                */
  R4_FILL_EXCHANGE /* swap where an example has a mask, paste where it has none                        */
} r4_fill;

/* "swap", as settings and commands call it; NULL behind the last. */
const char *r4_fill_name(r4_fill kind);

/* The examples as they are seen in an epoch. Masks stay as they are. */
r4_data *r4_data_fill(const r4_data *d, r4_fill kind, uint64_t seed, uint32_t epoch, r4_error *e);

/* ---- Looking at data ------------------------------------------------------------------------ */

typedef struct {
  size_t examples[R4_SPLITS], masked[R4_SPLITS]; /* masked: of the examples, those with a mask */
} r4_counts;

/* Of a class and a group; -1: of any. */
r4_counts r4_data_counts(const r4_data *d, int32_t label, int32_t group);

typedef struct {
  double low, high, mean;                        /* of all values, without padding                     */
  size_t values, shortest, longest;              /* number of values, in all, and of an example        */
  size_t median_length, length_95;               /* at most this many values: half, and 95 %, of the examples */
  size_t masked_values;                          /* pixels, features or tokens with a mask of 1/2 or more */
  size_t masked;                                 /* examples with a mask                               */
  double mean_mask, smallest_mask, largest_mask; /* share of an example that its mask covers, of these */
} r4_facts;

r4_facts r4_data_facts(const r4_data *d);

/* The mean of the examples, in to; ids of tokens have none. */
r4_status r4_data_mean(const r4_data *d, float *to, r4_error *e);

/* What is probably wrong with a data set. */
typedef struct {
  bool note;        /* worth knowing, but nothing to fix          */
  const char *code; /* a word for it: see doc/data.md             */
  char text[R4_ERROR_SIZE];
} r4_finding;

enum { R4_FINDINGS = 32 }; /* at most; each kind is reported once, with its number and the first example */

/* source is where the data set was read from, whose files are checked as well; or NULL. */
r4_status r4_data_lint(const r4_data *d, const char *source, r4_finding finding[R4_FINDINGS], size_t *n,
                       r4_error *e);
/* A sentence where a group has training examples and fewer than 5 for validation, which the worst group of validation
 * then hangs on; false and "" where none has, or nothing is for validation. */
bool r4_data_thin_validation(const r4_data *d, char text[R4_ERROR_SIZE]);

typedef enum { R4_SHEET_CLASSES = 0, R4_SHEET_SPLITS, R4_SHEET_IN_ORDER } r4_sheet_rows;

/* A contact sheet as a PNG file: a row with the first examples of each class or split, or all examples in order, with
 * the names of their class and group and the outline of their mask. columns 0 means 10. */
r4_status r4_data_sheet(const r4_data *d, r4_sheet_rows rows, size_t columns, const char *file, r4_error *e);

/* ---- What gives the label away -------------------------------------------------------------- */

/* A search for shortcuts, before anything is marked: what is alike on examples of one class. Nothing but a person can
 * say whether it may matter: a smooth lesion may be benign for that reason, a patch next to it not. doc/find.md. */
typedef enum {
  R4_CLUE_BRIGHTNESS = 0, /* images: how light a place is                           */
  R4_CLUE_COLOUR,
  R4_CLUE_EDGES,    /* and how even, how many edges it has                          */
  R4_CLUE_BORDER,   /* any of these, of a place at the border                       */
  R4_CLUE_PLACE,    /* the very same values at a place of many images               */
  R4_CLUE_WORD,     /* texts: a word, two words after each other, a word at an end  */
  R4_CLUE_PHRASE,
  R4_CLUE_POSITION,
  R4_CLUE_LENGTH,
  R4_CLUE_FILE,     /* how the file of an image is, or is called                    */
  R4_CLUE_CLUSTER,  /* cells that decide, by a net                                  */
  R4_CLUE_KINDS
} r4_clue_kind;
const char *r4_clue_kind_name(r4_clue_kind kind); /* "brightness"; NULL: there is none */

/* Where a clue is seen. */
typedef struct {
  size_t example;
  double score;  /* how clearly: 1 to 0                                                          */
  double box[4]; /* of an image: left, top, width and height as shares of it; width 0: no place  */
  int64_t token; /* of a text: where it is; -1: no place                                         */
} r4_sighting;

typedef struct {
  const char *id; /* a short name, unique in its list: a-z, 0-9 and "-" */
  r4_clue_kind kind;
  const char *what, *where; /* a sentence; a place in words            */
  const char *words;        /* texts: what to mask, or NULL            */
  int32_t label;
  size_t shown_on, of_class; /* training examples that show it, and how many of them are of the class           */
  double base;               /* the share of the class among all that were looked at                            */
  double p;                  /* of as many or more by chance, times the number of things tried; NaN: not tested */
  bool pure, local;          /* 98 % or more are of the class; it is at a place                                 */
  double lean, lean_se;      /* of the margin of a net, the share that is lost where it is filled; NaN: not measured */
  size_t sightings;          /* on examples of all parts: of the label before others, each the clearest first   */
  const r4_sighting *sighting;
} r4_clue;

/* What lean says, "painted over, the net loses 60 % of its margin"; r4_string_free. NULL: it was not measured. */
char *r4_clue_leaning(const r4_clue *c);

typedef struct {
  const char *source; /* where images were read from, whose files are looked at as well; or NULL */
  size_t most;        /* clues; 0: 20                                                            */
  bool masked;        /* what masks cover is looked at, too                                      */
  bool all;           /* examples of all parts are looked at, not those for training alone       */
  double level;       /* the chance that anything is found where there is nothing; 0: 0.05       */
  uint64_t seed;      /* where clusters begin                                                    */
  /* Called now and then with what is being done, as "looking". May be NULL. */
  void (*report)(const char *stage, size_t done, size_t all, void *user);
  void *user;
} r4_find_options;

typedef struct r4_found r4_found; /* a list of clues, in the order in which a person should see them */
void r4_found_free(r4_found *f);
size_t r4_found_count(const r4_found *f);
r4_clue r4_found_at(const r4_found *f, size_t k); /* all zero behind the last */
uint64_t r4_found_tried(const r4_found *f);       /* things tried, for p      */
/* The first that can be marked: that has a place in images, or words. The count if none can. */
size_t r4_found_markable(const r4_found *f);

/* The data as a search looks at them: images of folders at 64 x 64 pixels unless options say otherwise, all else as
 * r4_data_open has it. */
r4_data *r4_find_data(const char *source, const r4_data_options *options, r4_error *e);

/* Without a net, in training examples: places, colours, edges and files of images; words, phrases, ends and lengths of
 * texts. What masks cover is not looked at. options may be NULL. R4_E_ARGUMENT if the examples are of one class. */
r4_found *r4_find_scan(const r4_data *d, const r4_find_options *options, r4_error *e);

/* With a net, images only. What was found is filled with the mean colour of its image, and the share of the margin that
 * is lost measured: lean. And cells of the last feature map that decide are clustered, each class apart, and added:
 * those that lean * label purity puts first. R4_E_ARGUMENT if no part of the net gives an image. */
r4_status r4_find_clusters(r4_found *f, const r4_net *n, const float *weights, const r4_data *d,
                           const r4_find_options *options, r4_error *e);

/* A small net to be asked so, of images: a trainer that has not begun, r4_trainer_free. */
r4_trainer *r4_find_quick_net(const r4_data *d, uint64_t seed, r4_error *e);

/* ---- Masks for what was found ---- */

/* A mask that a person may accept. */
typedef struct {
  size_t example;
  double score; /* how clearly the example shows it: 1 to 0                      */
  double area;  /* the share of the image that is marked                         */
  double sure;  /* 0 to 1: how far the example is from where the list ends       */
} r4_proposal;

/* Masks for all images, of all parts, that show a clue: pixels that would not be there without it, by what images of
 * other classes look like (doc/find.md). R4_E_ARGUMENT if it has no place in images. */
typedef struct r4_proposed r4_proposed;
r4_proposed *r4_find_propose(const r4_data *d, const r4_clue *c, const r4_find_options *options, r4_error *e);
void r4_proposed_free(r4_proposed *p);
size_t r4_proposed_count(const r4_proposed *p);
/* Least sure first: the order in which a person should look at them. All zero behind the last. */
r4_proposal r4_proposed_at(const r4_proposed *p, size_t k);
/* The share of the masks that are likely on images that show the clue, 0 to 1, from how often images of other classes
 * are listed (doc/find.md): no true masks are needed. */
double r4_proposed_right(const r4_proposed *p);
/* Why these masks of clue c are not to be trusted, as a sentence for r4_string_free: less than half are likely right.
 * NULL: nothing speaks against them. */
char *r4_proposed_doubt(const r4_proposed *p, const r4_clue *c);
/* folder/masks/NAME.png for each, 255 where it marks, of the size of the photo in source (NULL: as the data are), and
 * folder/proposals.json. Files that are there are replaced. */
r4_status r4_proposed_save(const r4_proposed *p, const r4_data *d, const char *clue, const char *source,
                           const char *folder, r4_error *e);

/* find.json (doc/find.md), and what a search of the same data has written there; source: where the data are, and run:
 * the net's folder, "quick" or NULL, as commands that continue name them. Loading fails with R4_E_ARGUMENT if the file
 * is of other data. */
r4_status r4_found_save(const r4_found *f, const r4_data *d, const char *source, const char *run, const char *file,
                        r4_error *e);
r4_found *r4_found_load(const char *file, const r4_data *d, r4_error *e);
/* The same text as r4_found_save writes; r4_string_free. */
char *r4_found_json(const r4_found *f, const r4_data *d, const char *source, const char *run, r4_error *e);
/* Pictures for a person, as PNG files, of images with 1 or 3 channels (R4_E_SHAPE): a row of the clearest examples of
 * each of the first 40 clues, with their places outlined; and the 100 masks that are least sure. */
r4_status r4_found_sheet(const r4_found *f, const r4_data *d, const char *file, r4_error *e);
r4_status r4_proposed_sheet(const r4_proposed *p, const r4_data *d, const char *file, r4_error *e);
/* What was found, in one sentence; r4_string_free. NULL when out of memory. */
char *r4_found_sentence(const r4_found *f);
/* Words of an example around a token, of texts; r4_string_free. */
char *r4_data_snippet(const r4_data *d, size_t i, int64_t token, r4_error *e);

/* What the words of a list, separated as in data.mask_words, would mask in texts of all parts. */
typedef struct r4_listed_words r4_listed_words;
typedef struct {
  const char *word;
  bool known;             /* the vocabulary has all of it */
  size_t texts;           /* with it as a whole word      */
  const size_t *of_class; /* [classes], of these          */
} r4_listed_word;

/* options: tokenizer and folder, as of the texts. R4_E_ARGUMENT if the examples are not texts, or not of it. */
r4_listed_words *r4_listed_words_count(const r4_data *d, const char *list, const r4_data_options *options,
                                       r4_error *e);
void r4_listed_words_free(r4_listed_words *w);
size_t r4_listed_words_size(const r4_listed_words *w);
size_t r4_listed_words_texts(const r4_listed_words *w);                /* with one of them or more */
r4_listed_word r4_listed_words_at(const r4_listed_words *w, size_t k); /* all zero: k is too large */

/* ==== Part 3: settings and training =========================================================== */

/* ---- Methods -------------------------------------------------------------------------------- */

/* What training minimises is a data term and up to R4_TERMS penalties; a method says which. "erm" has none, "cert-r4"
 * has one, "r3+pairing" is a sum of two. doc/objectives.md has the definitions, part 6 the graphs. */
enum { R4_TERMS = 4 }; /* penalties of a method, at most */

/* How a penalty enters the loss, with q_i its quantity for example i. */
typedef enum {
  R4_FORM_LINEAR = 0, /* lambda mean_i q_i                                                  */
  R4_FORM_LOG,        /* lambda mean_i log(1 + q_i / tau)                                   */
  R4_FORM_TARGET,     /* lambda log(1 + mean_i q_i / delta): lambda is then for dual ascent */
} r4_form;

/* The methods, by number; the first is plain learning, without a penalty and without filled examples. NULL after the
 * last. */
size_t r4_method_count(void);
const char *r4_method_name(size_t k);

/* The defaults of a method, which may be a sum: those of a sum follow from its parts. All zero for an unknown name. */
typedef struct {
  bool guided; /* it has a penalty                                                               */
  bool fills;  /* the data term sees filled examples                                             */
  bool waits;  /* for a fresh net, the penalty begins after a quarter of the epochs              */
  bool texts;  /* it is for nets of tokens only                                                  */
  bool pairs;  /* its penalty compares examples with filled ones: the data term must be filled   */
  bool groups; /* it weighs examples by group, by their losses: the data term must be weighted   */
  size_t terms;               /* penalties, with a weight each                                   */
  const char *term[R4_TERMS]; /* their names, the first is the main one                          */
  double lambda[R4_TERMS];    /* their weights                                                   */
  bool leads[R4_TERMS];       /* it does not wait, but another does: it has no ramp, and is linear where the form is
                                 log                                                             */
  r4_form form;
  const char *formula[R4_TERMS]; /* of each term, for people: q of one example; g: the input gradient, _p: the norm */
  const char *about;             /* what it does and when to use it, in lines; NULL: it is a sum              */
} r4_method_info;

r4_method_info r4_method_describe(const char *method);
/* Whether a setting, which has the name of an option, has an effect on the method's penalty, or on its weights; for a
 * sum, whether it has one on a part of it. "norm=sum": whether all parts that the setting is for know this value. */
bool r4_method_uses(const char *method, const char *setting);

/* ---- Settings ------------------------------------------------------------------------------- */

/* Everything that a training run can be told, by key, with a default each. The table of settings (r4_setting_describe,
 * below) feeds the help, the file, changes on the command line, the checks and the resolved text; "r4 help train --all"
 * prints it. The value of net may have {classes} and {words}, the number of classes and of tokens of the data;
 * r4_net_open, which sees no data, does not know them. */
r4_settings *r4_settings_new(void); /* the defaults; NULL when out of memory */
void r4_settings_free(r4_settings *s);

/* Reads a YAML file of "key: value" lines. Maps may be used for dotted keys, and "base: FILE" (relative to the file
 * itself) starts from another file's settings. Strict: errors name file, line and column, what was found and what
 * was expected. What was read before an error stays. */
r4_status r4_settings_read(r4_settings *s, const char *path, r4_error *e);
/* One assignment "key=value"; lists are written "1,2.5". origin says in messages where it comes from: "--set". */
r4_status r4_settings_set(r4_settings *s, const char *assignment, const char *origin, r4_error *e);
/* Refuses combinations that contradict each other, or whose result would not be what was asked for. */
r4_status r4_settings_check(const r4_settings *s, r4_error *e);
/* The k-th setting that was given and has no effect, as a sentence in to->text; false after the last. What is given
 * later overrides what was given before (a file its base, an assignment a file) and makes nothing of it wrong. */
bool r4_settings_idle(const r4_settings *s, size_t k, r4_error *to);
/* The k-th setting that was given by an older key, as a sentence in to->text that names the new one; false after the
 * last. */
bool r4_settings_renamed(const r4_settings *s, size_t k, r4_error *to);
/* All settings as YAML with headings; reads back as the same settings. r4_string_free; NULL when out of memory. */
char *r4_settings_text(const r4_settings *s);
/* The same as a file. */
r4_status r4_settings_save(const r4_settings *s, const char *path, r4_error *e);

typedef enum {
  R4_SETTING_WHOLE = 0, /* a whole number                     */
  R4_SETTING_REAL,      /* a finite number                    */
  R4_SETTING_FLAG,      /* true or false                      */
  R4_SETTING_TEXT,      /* UTF-8                              */
  R4_SETTING_CHOICE,    /* one of a few words                 */
  R4_SETTING_REALS,     /* a list of numbers, possibly empty  */
} r4_setting_type;

typedef struct {
  r4_setting_type type; /* says which of the following holds */
  int64_t whole;
  double real;
  bool flag;
  const char *text; /* of a text or choice, or the word for numbers, or NULL; valid until the setting changes */
  size_t n;         /* of a list */
  const double *reals;
} r4_setting_value;

r4_status r4_settings_get(const r4_settings *s, const char *key, r4_setting_value *value, r4_error *e);

/* A line of the table. */
typedef struct {
  const char *group; /* a heading; lines of a group are together */
  const char *key;
  r4_setting_type type;
  const char *initial;        /* the default, as a user would write it */
  double min, max;            /* of numbers; infinite where there is no limit */
  const char *const *choices; /* of a choice, or the words that may replace a list; ends with NULL; or NULL */
  const char *help;           /* one line */
  bool sums;                  /* of a choice: several of them, joined by "+", are a value as well */
  bool basic;                 /* one of the few that most users change */
  const char *was;            /* an older key, which is understood as well; or NULL */
} r4_setting_info;

size_t r4_setting_count(void);
r4_setting_info r4_setting_describe(size_t k);
/* The key of the setting that is meant by a name: its key, an older one, or what others call it ("lr"); NULL if there
 * is none, or more than one. */
const char *r4_setting_meant(const char *name);
/* What others' name for a setting is called here, to be read: "lr" is "rate", "k" is "attack.steps (adv-r4) or samples
 * (rand-r4)"; NULL if nobody is known to call anything so. */
const char *r4_setting_usual(const char *name);

/* The data, with all of its splits, and the net that settings speak of. */
r4_data *r4_settings_data(const r4_settings *s, r4_error *e);
r4_net *r4_settings_net(const r4_settings *s, const r4_data *d, r4_error *e);

/* method: auto. It is chosen by the training examples with masks: how many there are, in which classes, how much the
 * masks cover. Training chooses by itself; to know before, or to train several seeds, ask. */
bool r4_method_is_open(const r4_settings *s);
/* Sets method to what fits d (NULL: the data that the settings name); why gets a sentence, may be NULL. */
r4_status r4_method_choose(r4_settings *s, const r4_data *d, char why[R4_ERROR_SIZE], r4_error *e);

/* ---- Training ------------------------------------------------------------------------------- */

/* What figures of validation are measured on. */
typedef enum {
  R4_VAL_NONE,      /* there is no validation part                                                          */
  R4_VAL_PLAIN,     /* examples as they are; there are no masks                                             */
  R4_VAL_EXCHANGED, /* masked content was exchanged between classes: the shortcut says nothing              */
  R4_VAL_FILLED,    /* masked content was replaced as data.val_fill says                                    */
  R4_VAL_CARRIES    /* examples as they are, as too few have masks: a net that uses the shortcut looks good */
} r4_val_kind;

/* A term of the method: its mean penalty over the epoch so far, and its weight in the last step. */
typedef struct {
  char name[32]; /* a copy, so that a progress can be sent to another process */
  double penalty, lambda;
} r4_term_progress;

/* Where a run is. Shares are 0 to 1; loss, penalty and accuracy are means over the epoch so far. */
typedef struct {
  uint64_t seed;
  int64_t epoch, epochs;  /* done, and to do in all                                   */
  int64_t batch, batches; /* of this epoch                                            */
  double loss, penalty, accuracy; /* penalty: the sum of those of all terms           */
  double lambda, eps, rate;       /* of the last step; lambda is that of the first term */
  size_t terms;
  r4_term_progress term[R4_TERMS];
  bool epoch_done, validated;
  double val_avg, val_worst; /* of the last epoch, if validated                       */
  double val_se;             /* the standard error of val_avg                         */
  double val_plain;          /* val_avg before masked content was exchanged, if it is: with the shortcut in it */
  r4_val_kind val_kind;
  int64_t val_examples;      /* behind these figures: exchanged ones, if they are     */
  double seconds;            /* since training began, or was resumed                  */
} r4_progress;

/* Whether a model uses what masks mark, by the share of its correct predictions that it loses when masked content is
 * exchanged. */
typedef enum {
  R4_VERDICT_NONE,      /* not known                            */
  R4_VERDICT_COLLAPSED, /* one class for everything             */
  R4_VERDICT_USES,      /* R4_USES or more                      */
  R4_VERDICT_UNSURE,    /* within one standard error of R4_USES */
  R4_VERDICT_REACTS,    /* as the two above, but see followed in r4_outcome: most of the loss has another cause */
  R4_VERDICT_LITTLE,    /* R4_USES_LITTLE or more               */
  R4_VERDICT_NOT
} r4_verdict;
#define R4_USES 0.1
#define R4_USES_LITTLE 0.02
/* lost: NaN is R4_VERDICT_NONE. error: its standard error; 0: lost is exact. */
r4_verdict r4_verdict_of(double lost, double error);
/* "unknown" and "collapsed"; of the others, from R4_VERDICT_USES on, a verb with the net as its subject: "uses", "may
 * use", "reacts", "uses a little", "does not use". */
const char *r4_verdict_name(r4_verdict v);
/* As the predicate of a sentence: "uses the shortcut a little", "collapsed to one class". */
const char *r4_verdict_text(r4_verdict v);

/* How a run ended. */
typedef struct {
  bool stopped; /* before its end: it can be resumed                                               */
  int64_t only; /* the class that the model predicts for every validation example (without these, for the last
                   batches): the net has collapsed, and no figure about it means anything; -1: it has not */
  int64_t steps, penalised; /* all of them, and those in which a penalty counted                   */
  bool unpenalised;         /* a penalty was asked for, and counted in none                        */
  r4_val_kind val_kind;
  r4_verdict verdict;
  double lost, lost_error, changed; /* shares of correct predictions lost, and of all that change, when the masked
                                       content of validation examples is exchanged; NaN: not known */
  int64_t exchanged;        /* examples behind them                                                */
  double followed, followed_error; /* of the correct predictions of validation examples with masked content of their
                                      own class, from training examples, the share lost with that of another, and its
                                      standard error: what the class of the content decides; NaN: not known */
  bool one_sided;           /* some classes have no masks, or so few that it is chance: what gives these away was not
                               measured */
  bool doubtful;            /* masks mark what usually is the object: they may mean the reverse    */
} r4_outcome;

/* Processes that train one model together, on one machine or several: each calls r4_train with the same settings, and
 * computes its part of the setting "shards" of every batch. The bits are the same for any number of them, and for one
 * without a team, with as many threads each. All read the data and the folder; process 0 writes. send and receive
 * begin to pass bytes between two of them and return; what passes from one to another keeps its order. wait returns
 * when all that this process has begun is done; the bytes must stay until then. nudge is called often while this
 * process computes, so that what was begun continues; NULL: it does so by itself. */
typedef struct r4_team {
  int rank, ranks; /* 0 .. ranks - 1; at most as many as shards */
  r4_status (*send)(void *user, int to, const void *bytes, size_t size, r4_error *e);
  r4_status (*receive)(void *user, int from, void *bytes, size_t size, r4_error *e);
  r4_status (*wait)(void *user, r4_error *e);
  r4_status (*nudge)(void *user, r4_error *e);
  void *user;
} r4_team;

typedef struct {
  const char *folder; /* of the run; made if it is missing                                            */
  bool resume;        /* continue from the checkpoint in it, if there is one                          */
  bool force;         /* replace what is in it                                                        */
  /* Who will choose among models by validation, as the subject of a sentence; NULL: nobody. Refused where validation
   * carries the shortcut. */
  const char *chosen_by;
  /* Called after each step. false ends the run: it is saved and can be resumed. May be NULL. */
  bool (*report)(const r4_progress *p, void *user);
  /* Called with a sentence about what looks wrong, or what was done about it. May be NULL. */
  void (*notice)(const char *sentence, void *user);
  void *user;
  const r4_team *team; /* NULL: this process alone */
} r4_train_options;

/* Trains one seed of one configuration, from data to folder/model.safetensors. A run that was interrupted, at any
 * moment, and resumed ends with the same bits as one that was not, with the same number of threads. The folder is
 * locked meanwhile: R4_E_BUSY if another process trains in it. */
r4_status r4_train(const r4_settings *settings, const r4_train_options *options, r4_outcome *outcome,
                   r4_error *e);

/* ---- A trainer that a program drives -------------------------------------------------------- */

/* One seed of one configuration, step by step, without files but those asked for. r4_train is a loop around the same
 * steps: the bits are the same.
 *
 * d: the data; its parts for training and validation are used as they are. Of the settings of the data there count:
 * data.val_fill (if it is auto, and too few validation examples have masks, some training examples that have one are
 * held out for validation), data.seed, for that, data.mask_words and data.tokenizer, where words are replaced, and
 * data.keep_masks: 0, which says that training without any mask is meant. All others have no effect; r4_trainer_listen
 * names those that were given, but for data.val and data.max_tokens, if the settings name no data. NULL: the data that
 * the settings name. Neither s nor d need outlive it. */
r4_trainer *r4_trainer_new(const r4_settings *s, const r4_data *d, r4_error *e);
void r4_trainer_free(r4_trainer *t);

/* Calls notice with what is already known to look wrong, and with what does from now on, as r4_train_options.notice;
 * notice NULL: nobody is told. Of t NULL nothing is known. */
void r4_trainer_listen(r4_trainer *t, void (*notice)(const char *sentence, void *user), void *user);

/* The next step, and after the last step of an epoch validation and what the setting "select" asks for. p may be NULL.
 * R4_E_ARGUMENT after the end. */
r4_status r4_trainer_step(r4_trainer *t, r4_progress *p, r4_error *e);
/* All steps up to the end of the epoch. p, which may be NULL, is that of the last one. R4_E_ARGUMENT after the end. */
r4_status r4_trainer_epoch(r4_trainer *t, r4_progress *p, r4_error *e);
bool r4_trainer_done(const r4_trainer *t); /* all epochs are done, or none was better for too long */
void r4_trainer_progress(const r4_trainer *t, r4_progress *p);

const r4_net *r4_trainer_net(const r4_trainer *t);
/* The weights of the epoch that "select" chose so far; before the first is done, those of the last step. Valid until
 * the next step. */
const float *r4_trainer_weights(const r4_trainer *t);
/* How training ended, as r4_train says it at its end: whether these weights use what masks mark, by validation, and in
 * how many steps the penalty counted. Calls notice with it. R4_E_ARGUMENT before an epoch is done. */
r4_status r4_trainer_judge(r4_trainer *t, r4_outcome *to, r4_error *e);

/* A checkpoint: a trainer of the same settings and data that loads it continues bit-identically. */
r4_status r4_trainer_save(r4_trainer *t, const char *path, r4_error *e);
r4_status r4_trainer_load(r4_trainer *t, const char *path, r4_error *e);
/* Saves net, weights (r4_trainer_weights), class names and constant as a model file (safetensors), for r4_model_open.
 * R4_E_ARGUMENT before an epoch is done, and for a name that ends with .onnx: r4_onnx_save writes ONNX. */
r4_status r4_trainer_save_model(const r4_trainer *t, const char *path, r4_error *e);

/* ---- Choosing lambda ------------------------------------------------------------------------ */

enum { R4_LAMBDA_TRIES = 12 };

/* A short run with one lambda: a quarter of the epochs, or more where that is too short to tell. */
typedef struct {
  double lambda, avg, worst; /* accuracies in validation at its end, 0 to 1                               */
  double score, se;          /* what it is chosen by, and the standard error of avg                       */
  double penalty;            /* mean of its last epoch                                                    */
  bool learned;              /* its score is above that of guessing, 1 / classes                          */
  bool penalised;            /* the penalty counted in some step                                          */
  bool dead;                 /* it collapsed: it predicts one class for all, so its scores mean nothing   */
  bool diverged;             /* its loss was not a number or not finite: there are no scores              */
  int64_t epochs;            /* its length: runs shorter than the last one have shown nothing             */
} r4_lambda_try;

typedef struct {
  size_t n, chosen; /* chosen: a number below n; n if all nets collapsed or diverged */
  r4_lambda_try tried[R4_LAMBDA_TRIES];
} r4_lambda_curve;

/* The setting lambda is "auto", and matters: r4_train refuses such settings. */
bool r4_lambda_is_open(const r4_settings *s);
/* Tries lambdas in short runs of the seed in s, one after the other, in folders below options->folder; the curve is in
 * curve.json there. Then lambda is set in s to the one that was chosen, for all seeds of a run. A search that is done
 * is not repeated, but read, and one that was stopped or killed is resumed; not with force. *stopped: it was stopped,
 * by report, and lambda is as it was. R4_E_DOMAIN if all nets collapsed or diverged. */
r4_status r4_lambda_search(r4_settings *s, const r4_train_options *options, r4_lambda_curve *curve,
                           bool *stopped, r4_error *e);

/* ==== Part 4: measuring and explaining ======================================================== */

/* r4_measure, under "Measuring" below, is the usual call: it runs all tests that its options ask for, and gives the
 * figures by name. What comes before it are its parts, each of which can be called by itself. r4_judge, under "The
 * verdict", says what these figures and the end of training mean together: a swap test alone misses a shortcut that all
 * classes of a test part have alike.
 *
 * All of them take a net and its weights, an array of r4_net_size floats: r4_trainer_net and r4_trainer_weights, or
 * r4_model_net and r4_model_weights. batch is how many examples are computed at a time, for memory and speed. */

/* ---- Predictions ---------------------------------------------------------------------------- */

/* The probabilities of all classes for each example of d, [examples, classes], 2 columns for a net with one output:
 * softmax, in double. The prediction is the class of the largest, the first at a tie. Labels do not matter. R4_E_DOMAIN
 * if weights or logits are not finite: names the first example. */
r4_status r4_predict(const r4_net *n, const float *weights, const r4_data *d, int64_t batch, float *probabilities,
                     r4_error *e);

/* ---- Accuracy and fragility ----------------------------------------------------------------- */

/* What a net predicts for all examples of a data set. With too strong a penalty a net collapses: it predicts one class
 * for everything; its gradient is then 0, and its kappa the best of all. */
typedef struct {
  size_t most;       /* the class that it predicts most often, the first at a tie                   */
  double most_share; /* and how often: 0 to 1                                                       */
  bool constant;     /* it predicts no other, though the examples are of several classes            */
  size_t not_finite; /* examples with a logit that is NaN or infinite, which is not a prediction    */
} r4_answers;

enum { R4_MAX_GROUPS = 1024 };

/* Of one net on one data set, by r4_evaluate or r4_measure. Accuracies are shares, 0 to 1; groups without examples are
 * NaN and do not count. */
typedef struct {
  r4_answers answers;
  double loss, accuracy;
  double avg_group_accuracy, worst_group_accuracy; /* mean and least over groups */
  size_t worst_group, groups;
  double group_accuracy[R4_MAX_GROUPS];
  size_t group_count[R4_MAX_GROUPS];
  /* Fragility: the width hi - lo of the bounds of the input gradient of the loss while the masked (or all other)
   * features move by up to eps; the largest, and the mean over examples and features. NaN where there is none: an
   * example without a mask has neither, one that is masked all over has no core. Infinite where bounds overflowed. */
  double eps;
  size_t masked_examples, core_examples; /* that count: those with a mask, and of these those with a core */
  double kappa_masked_max, kappa_masked_mean, kappa_core_max, kappa_core_mean;
} r4_metrics;

/* ---- The swap test -------------------------------------------------------------------------- */

/* Does the prediction for an example change when the masked content of an example of another class is put into its
 * mask? With f(x) the prediction, y the label, m the mask of example i, c what is put there and g a group,
 *
 *     x'_i = (1 - m) x_i + m c
 *     flipped_g = |{ i in g : f(x'_i) != f(x_i) }|,    share of the examples in g
 *     lost_g    = |{ i in g : f(x_i) = y_i != f(x'_i) }|,    share of found_g = |{ i in g : f(x_i) = y_i }|
 *
 * each the mean over draws of a donor j, y_j != y_i, from the examples with a mask. Its content is stretched from the
 * box of its mask to that of m; where the donor's mask has a hole in it, as that of a background has, the masked
 * content around the hole is mirrored into it, so that nothing comes along that may matter. In classes that have masks
 * less than half as often as the others (a count so low has a chance below 1 %), the donor's region is put on examples
 * without a mask at its own place: m is the donor's. So data are tested, too, where one class alone has masks and
 * accuracy cannot tell whether a net relies on what is masked. Other contents are put at the same places: what blank
 * or noise change as well was not the donor's doing.
 *
 * An exchange cannot tell whether a net needs content that no other class has, or only by chance (masks are that rare
 * there): a mark on one class alone. Its examples are also tested by removal, which is a result of its own:
 *
 *     x'_i = (1 - m_i) x_i + m_i x_j,    y_j != y_i
 *
 * is what another example has in that place, and removed is the share of correct predictions that are wrong then.
 *
 * A net that uses nothing masked has 0 in both. The converse does not hold: they are 0 also where all classes have the
 * same masked content, which a donor of another class does not change; then use R4_FILL_BLANK, or R4_FILL_PASTE with
 * donors from training.
 *
 * R4_FILL_PASTE is for data whose masks are elsewhere, as on training examples alone: every example has the region of a
 * donor j of other data put on it, whatever its own mask,
 *
 *     x'_i = (1 - m_j) x_i + m_j x_j,    y_j != y_i */
typedef struct {
  r4_fill content; /* R4_FILL_SWAP, or any other but _NONE                                 */
  int draws;       /* of each example, over which is averaged                              */
  uint64_t seed;   /* of the draws                                                         */
  int64_t batch;   /* examples at a time                                                   */
  const r4_data *donors; /* R4_FILL_PASTE: whose masked content is put on examples, with as many features and classes;
                            NULL: their own */
} r4_swap_options;

/* Swap, 10 draws, seed 0, batches of 256. */
r4_swap_options r4_swap_defaults(void);

typedef struct {
  const char *none; /* why there is nothing to report; NULL: there is                          */
  r4_fill content;
  int draws;
  size_t donors;            /* examples with a mask                                            */
  size_t inside, pasted;    /* examples tested within their own mask, and at that of a donor   */
  size_t groups;            /* of the data; for each of them, those that are tested:           */
  size_t examples[R4_MAX_GROUPS];
  size_t found[R4_MAX_GROUPS];   /* of these, correct before                                   */
  double flipped[R4_MAX_GROUPS]; /* of examples, how many predictions change: a count, mean over draws; the share is
                                    flipped / examples                                         */
  double lost[R4_MAX_GROUPS];    /* of found, how many are wrong then: likewise, lost / found  */
  size_t removed;                /* examples tested by removal, with content R4_FILL_SWAP alone; by group: */
  size_t removed_examples[R4_MAX_GROUPS], removed_found[R4_MAX_GROUPS];
  double removed_lost[R4_MAX_GROUPS]; /* as lost                                                */
} r4_swapped;

/* options may be NULL. R4_E_ARGUMENT if the content is not for these data (tokens have no mean), R4_E_SHAPE if donors
 * do not fit. */
r4_status r4_swap_test(const r4_net *n, const float *weights, const r4_data *d, const r4_swap_options *options,
                       r4_swapped *to, r4_error *e);
/* What nets are chosen by in validation, on any data with masks: accuracies where the shortcut says nothing, from all
 * examples as they are and those that can be exchanged. For a group g, with P_g the share of correct predictions of all
 * its examples, and of the exchanged ones L_g the share of correct predictions that are lost and G_g that of wrong ones
 * that become correct, it is A_g = P_g (1 - L_g) + (1 - P_g) G_g; avg and worst are mean and least over groups. */
typedef struct {
  double score;         /* half way between avg and worst, which leans on avg as far as noise explains it */
  double avg, avg_se, worst;
  double changed, lost; /* shares of predictions that change, and of correct ones that are lost           */
  size_t exchanged;     /* examples behind it; 0: all else is NaN                                         */
} r4_exchanged;

r4_status r4_exchanged_score(const r4_net *n, const float *weights, const r4_data *d, uint64_t seed, int64_t batch,
                             r4_exchanged *to, r4_error *e);

/* ---- The substitution test of texts --------------------------------------------------------- */

/* Is the prediction correct whatever words of a list replace the masked ones? A masked word is replaced by one of the W
 * words of the list that have as many pieces, or kept: k of them make (W + 1)^k texts. Bounds prove it for all at once
 * (certified), and may fail to; where they are few, each is tried (held): certified is never more than held. */
typedef struct {
  const char *none; /* why there is nothing to report; NULL: there is                              */
  size_t words;     /* of the list, each once, as far as the vocabulary has them                   */
  size_t unknown;   /* those that it does not have, which replace nothing, and the first           */
  char first_unknown[48];
  size_t kept; /* masked words that the list has no other of as many pieces for, and the first     */
  char first_kept[48];
  size_t tries;     /* a text with at most this many replacements is tried with each               */
  size_t groups;    /* for each of them: texts with masked tokens, at most 1000 evenly spread      */
  size_t examples[R4_MAX_GROUPS], right[R4_MAX_GROUPS], certified[R4_MAX_GROUPS];
  size_t tried[R4_MAX_GROUPS];
  size_t held[R4_MAX_GROUPS], proved[R4_MAX_GROUPS]; /* of these: correct with each, and certified */
  size_t overflowed; /* of all: texts whose bounds, or whose neighbours' in a batch, overflowed, and prove nothing */
} r4_substituted;

/* ---- Relative core sensitivity -------------------------------------------------------------- */

/* Which noise hurts more, that on the core of an image or that on what is masked (Singla and Feizi, 2022; Moayeri and
 * others, 2022)? Over the examples that have both,
 *
 *     spurious_noise   accuracy with noise sigma u_c m . xi added, xi ~ N(0, 1), u_c the unit of the feature's channel
 *     core_noise       the same with 1 - m instead of m, of the same examples, with the same xi
 *     a                (spurious_noise + core_noise) / 2
 *     rcs              (spurious_noise - core_noise) / (2 min(a, 1 - a)),  from -1 to 1
 *
 * 1: only the core matters; -1: only what is masked does; 0: both alike. u_c is the std of the net's first part, if
 * that is "normalize", otherwise the standard deviation of the channel over these examples. See doc/figures.md. */
enum { R4_MAX_NOISES = 16 };

typedef struct {
  size_t n;                    /* levels of noise; 0: 0.25, 0.5, 1, 2, 4                  */
  double sigma[R4_MAX_NOISES]; /* above 0                                                 */
  int draws;                   /* of noise for each example, over which is averaged; 0: 1 */
  uint64_t seed;               /* of the noise                                            */
  int64_t batch;               /* examples at a time; 0: 64                               */
  bool published;              /* u_c is 1 / 255 and n = 0 is sigma 2, as in the code published with the paper, whose
                                  images are 0 to 255: nobody sees such noise */
} r4_sensitivity_options;

typedef struct {
  size_t examples, channels;  /* examples that have a mask and a core           */
  double unit[R4_MAX_NOISES]; /* of each channel                                */
  double clean;               /* accuracy without noise, of these examples      */
  size_t n;
  struct {
    double sigma, spurious_noise, core_noise;
    double rcs, rcs_se; /* NaN: all predictions are correct, or all wrong; se: by the jackknife over examples */
  } at[R4_MAX_NOISES];
} r4_sensitivity;

/* options may be NULL. R4_E_ARGUMENT if no example has a mask and a core, or for texts. */
r4_status r4_core_sensitivity(const r4_net *n, const float *weights, const r4_data *d,
                              const r4_sensitivity_options *options, r4_sensitivity *to, r4_error *e);

/* ---- Attributions --------------------------------------------------------------------------- */

/* What is explained: the explanation g_i is its derivative with respect to the example x_i, with l_i the loss, z the
 * logits, p the probabilities and y the label. */
typedef enum {
  R4_EXPLAIN_LOSS = 0,    /* l_i = -log p_y                                                  */
  R4_EXPLAIN_LOGIT,       /* z_y, the label's logit; with one output the margin, z or -z     */
  R4_EXPLAIN_MARGIN,      /* z_y - log sum_{k != y} exp(z_k)                                 */
  R4_EXPLAIN_LOGPROB_SUM, /* sum_k log p_k                                                   */
} r4_explain;

/* An attribution says how much each feature has to do with the prediction: an array shaped as the example, made of the
 * explanation. doc/explain.md has the formulas. */
typedef struct {
  const char *name, *about;
  bool width;  /* the width of an interval: 0 or more, infinite where nothing is known. Others have a sign. */
  bool images; /* only of nets of images, some part of which gives an image */
} r4_attribution_info;

size_t r4_attribution_count(void);
r4_attribution_info r4_attribution_describe(size_t k);

typedef struct {
  r4_explain explain;
  double eps;            /* bounds: how far features move                                        */
  double sigma;          /* smoothgrad: standard deviation of the noise                          */
  int samples;           /* smoothgrad: noisy copies; integrated: points on the way; 1 to 1000   */
  uint64_t seed;         /* smoothgrad: of the noise, which is the same for all examples         */
  const float *baseline; /* integrated: an example to start from; NULL is all zeros              */
  int window;            /* occlusion: side of the windows; 0: an eighth of the shorter side of the image */
  int stride;            /* occlusion: from one to the next, up to the side; 0: half of it       */
  double fill;           /* occlusion: what windows are filled with, in all channels             */
} r4_attribution_options;

/* The loss is explained; eps 0.1, sigma 0.1, 32 samples, seed 0, from zeros; windows are filled with 0. */
r4_attribution_options r4_attribution_defaults(void);

/* Attributions of all examples of d to the labels they have, [examples, features], in to. options may be NULL. */
r4_status r4_attribute(const char *method, const r4_net *n, const float *weights, const r4_data *d,
                       const r4_attribution_options *options, float *to, r4_error *e);

/* The share of an attribution that is inside the mask, sum_j m_j |a_j| / sum_j |a_j|; NaN if a is 0 or infinite. */
double r4_mask_share(size_t features, const float *a, const float *mask);

/* Pointing games: does an attribution point at the core of an example? A_p is the attribution of pixel p, summed over
 * its channels, with the sign that speaks for the label (minus the attribution, if the loss is explained), and c_p is
 * 1 - m_p, as a mean over its channels. Over the examples that have a mask and a core,
 *
 *     energy   sum_p c_p max(0, A_p) / sum_p max(0, A_p)     (Wang and others, 2020: Score-CAM)
 *     share    sum_p c_p |A_p| / sum_p |A_p|
 *     hit      1 if c_p > 1/2 at the largest A_p, or at one of several, else 0     (Zhang and others, 2018)
 *     area     mean_p c_p: the energy and the share of a map that is the same everywhere
 *
 * as means. Examples whose map has no positive pixel, or one that is not finite, are left out, and counted. */
typedef struct {
  size_t examples, left_out;
  double energy, share, hit, area; /* NaN if there are no examples */
} r4_pointing;

/* Maps by a method of r4_attribute; options may be NULL. R4_E_ARGUMENT if no example has a mask and a core. */
r4_status r4_pointing_game(const char *method, const r4_net *n, const float *weights, const r4_data *d,
                           const r4_attribution_options *options, r4_pointing *to, r4_error *e);

/* ---- Measuring ------------------------------------------------------------------------------ */

enum { R4_MAX_SWAPS = 8, R4_MAX_POINTING = 4 };

typedef struct {
  double eps;    /* fragility: how far features move                                                       */
  size_t kappa;  /* a number of examples: kappa is measured on at most this many that have a mask, evenly spread; 0:
                    it is not measured                                                                     */
  int64_t batch; /* examples at a time                                                                     */
  size_t swaps;  /* swap tests: what each puts into masks, with this many draws of an example by seed 0    */
  r4_fill swap[R4_MAX_SWAPS];
  int draws;
  const r4_data *donors;    /* of R4_FILL_PASTE, as in r4_swap_options                                     */
  const r4_settings *words; /* the substitution test of texts: whose list, "words" or else "data.mask_words", is taken;
                               NULL: it is not measured                                                     */
  const r4_sensitivity_options *noise; /* relative core sensitivity; NULL: it is not measured              */
  size_t pointings;                    /* pointing games by these attributions of the margin               */
  const char *pointing[R4_MAX_POINTING];
  double specificity; /* with two classes: that of the figure sensitivity_at_specificity                   */
  const char *cover;  /* a family of covering masks; NULL: it is not measured                              */
  const float *constant; /* what it puts there: that of the model (r4_model_constant), with as many numbers */
  size_t constants;
  const char *certify;    /* certified accuracy (r4_certify_box): eps, or "range"; NULL: it is not measured */
  const char *low, *high; /* of it: valid values, as in r4_certify_options                                */
  size_t attack;          /* of it: starts of r4_attack_box in the same boxes, with contents of donors    */
  /* Predictions, if there is room for them: [examples], and [examples, r4_model_classes]; or NULL. */
  int32_t *predicted;
  float *probabilities;
  /* Called before each part of it, with the number of examples that the net is asked about; 0: not known. Or NULL. */
  void (*stage)(const char *what, size_t examples, void *user);
  void *user;
} r4_measure_options;

/* eps 0.1, all examples, batches of 256, one swap test with 10 draws, specificity 0.95, and nothing else. */
r4_measure_options r4_measure_defaults(void);
/* The same with the settings eval.*. */
r4_measure_options r4_settings_measure(const r4_settings *s);

enum { R4_MAX_VALUES = 128, R4_KEY_SIZE = 64, R4_LABEL_SIZE = 64 };

typedef struct {
  size_t figure; /* its number in the table of figures, for r4_figure_describe */
  char key[R4_KEY_SIZE];
  double value;
} r4_value;

enum { R4_FAMILY_SIZE = 24 };

/* Predictions under covering masks, by group: of the examples those that two-mask inference predicts correctly, and of
 * these those that are certified (r4_covered: recovered, and detected). */
typedef struct {
  char family[R4_FAMILY_SIZE]; /* "": it was not asked for */
  size_t groups;
  size_t examples[R4_MAX_GROUPS], correct[R4_MAX_GROUPS], recovered[R4_MAX_GROUPS], detected[R4_MAX_GROUPS];
} r4_cover_counts;

/* What r4_certify_box proved, by group: of the examples those that are predicted correctly, and of these those that are
 * certified, and those that no attack broke. */
typedef struct {
  char box[R4_FAMILY_SIZE]; /* eps, or "range"; "": it was not asked for */
  bool attacked;            /* an attack was made                        */
  size_t groups;
  size_t examples[R4_MAX_GROUPS], correct[R4_MAX_GROUPS], certified[R4_MAX_GROUPS], unbroken[R4_MAX_GROUPS];
} r4_certified_counts;

/* Of one net on one data set. It is large, 370 KB: static, or from malloc. */
typedef struct {
  size_t values; /* all figures that were measured, in the order of the table of figures (r4_figure_describe) */
  r4_value value[R4_MAX_VALUES];
  r4_metrics metrics; /* what they come from */
  double specificity; /* of the options      */
  size_t swaps;
  r4_swapped swapped[R4_MAX_SWAPS]; /* by what was put into masks, in the order of the options           */
  r4_substituted substituted;       /* words is 0 unless it was asked for                                */
  char no_words[200];               /* why the substitution test failed, or "": the rest is there anyway */
  r4_sensitivity sensitivity;       /* n is 0 unless it was asked for                                    */
  size_t pointings;
  r4_pointing pointing[R4_MAX_POINTING]; /* in the order of the options */
  char pointed_by[R4_MAX_POINTING][24];  /* the attributions            */
  r4_cover_counts covered;
  r4_certified_counts certified;
} r4_measured;

/* options may be NULL: the defaults. For a run, take the net of its model, which may begin with what its pretrained
 * weights need, not that of the settings. R4_E_DOMAIN if weights or logits are not finite. */
r4_status r4_measure(const r4_net *n, const float *weights, const r4_data *d, const r4_measure_options *options,
                     r4_measured *to, r4_error *e);
/* Accuracies and fragility alone, by eps, kappa and batch of the options; fills predicted and probabilities. On
 * R4_E_DOMAIN m->answers.not_finite has the number of examples. */
r4_status r4_evaluate(const r4_net *n, const float *weights, const r4_data *d, const r4_measure_options *options,
                      r4_metrics *m, r4_error *e);
/* What follows from predictions alone, by whatever made them: accuracies and the figures that come from probabilities,
 * [examples, classes], such as the means over several nets. The class is the largest, the first at a tie. R4_E_DOMAIN
 * if one is not from 0 to 1. */
r4_status r4_measure_predictions(const r4_data *d, size_t classes, const float *probabilities,
                                 const r4_measure_options *options, r4_measured *to, r4_error *e);
/* By its key, "worst_group_accuracy". NaN if it was not measured. */
double r4_measured_value(const r4_measured *m, const char *key);

/* ---- The verdict ---------------------------------------------------------------------------- */

/* The verdict on a run, by all that is known of it: a swap test in which it loses this share of its correct
 * predictions (the figure "swap_lost_share"; NaN: there was none), and how its seeds ended (outcome: one for each, of
 * r4_trainer_judge or r4_train; of a run's folder r4_outcome_read in r4_tools.h). The test decides, unless it hides the
 * shortcut: validation, at the end of training, found that the run uses it, and this part of the data shows less than
 * R4_USES. Where all classes have the same masked content, swapping it changes nothing; where it is independent of the
 * class, every second swap or so changes little. */
typedef struct {
  r4_verdict verdict, by_validation;
  bool hidden, doubtful; /* doubtful: masks may mean the reverse, by one of the seeds                  */
  double followed;       /* of r4_outcome, likewise: most of a loss that it does not explain has another cause than
                            the class of the content (R4_VERDICT_REACTS)                               */
  double validation;     /* lost in validation, mean over the seeds that know it and have not collapsed; NaN: none */
} r4_judgement;
r4_judgement r4_judge(const r4_outcome *outcome, size_t seeds, double lost);

/* ---- Covering masks ------------------------------------------------------------------------- */

/* Predictions that no content of any one region of a family can change, for any net, by forward passes alone: the
 * two-mask test of PatchCleanser (Xiang, Mahloujifar and Mittal, USENIX Security 2022). doc/cover.md has the theorems
 * and their proofs.
 *
 *     edges:F      any one strip of at most F of the side at one edge of an image; 4 masks
 *     square:P,K   any one square of at most P x P pixels; K masks a side, 6 if it is not given
 *     frame:F      the frame of F of the side around an image; 1 mask
 *     tokens:N,K   any one window of at most N tokens of a text, replaced in place; K masks, 6 if it is not given
 *
 * Every region of the family is inside of some mask. What a mask hides becomes a constant, before anything else. */
typedef struct r4_cover r4_cover;

/* For examples of this shape: [height, width, channels] or [tokens]. R4_E_ARGUMENT if the family cannot be read, does
 * not fit the shape, or leaves nothing to see under two masks. */
r4_cover *r4_cover_new(const char *family, r4_shape example, r4_error *e);
void r4_cover_free(r4_cover *c);
size_t r4_cover_masks(const r4_cover *c);
size_t r4_cover_constants(const r4_cover *c); /* numbers of the constant: one for each channel, of tokens 1 */
/* "any one edge strip of at most 0.33 of the side" */
const char *r4_cover_about(const r4_cover *c);
/* Puts the constant into x, an example, where mask k is. Those of texts depend on the length, in tokens. */
void r4_cover_put(const r4_cover *c, size_t k, size_t length, const float *constant, float *x);

/* The constant: of images the mean of all pixels of these examples, by channel; of texts the id of [MASK] or, if the
 * vocabulary has none, of [UNK]. n: r4_cover_constants. A run that is trained keeps that of its training examples in
 * its model: training (augment.cutout, augment.strips), certifying and predicting use the same one. R4_E_ARGUMENT for
 * tokens without names. */
r4_status r4_data_constant(const r4_data *d, size_t n, float *to, r4_error *e);
/* The constant of a trainer's training examples: how many numbers it has, and these; 0, or false: there is none. That
 * of a model is r4_model_constant, in part 5. */
size_t r4_trainer_constants(const r4_trainer *t);
bool r4_trainer_constant(const r4_trainer *t, size_t n, float *to);

typedef struct {
  const char *family;
  const float *constant; /* r4_cover_constants of the family, finite */
} r4_cover_options;

/* Of one example. f_i is the prediction with mask i, f_ij with both of i and j. A prediction is -1 where a logit is
 * not finite. */
typedef struct {
  int32_t alone;     /* of the net for the example as it is                                                          */
  int32_t predicted; /* by two-mask inference: (1) what all f_i are, if they agree; (2) else the first f_i, of those
                        that are not what most are, with f_ij = f_i for all j; (3) else what most f_i are             */
  bool agreed;       /* all f_i are the same. If not: what is in one place decides the prediction                     */
  bool detected;     /* agreed, and no logit is tied: whatever is put into one region, all f_i agree on predicted or
                        they do not agree                                                                             */
  bool recovered;    /* all f_ij are the same, and no logit is tied: whatever is put into one region, two-mask
                        inference gives predicted                                                                     */
  float one_margin;  /* if detected, the smallest z_predicted - z_k over all other classes k and all f_i; else 0      */
  float margin;      /* if recovered, the same over all f_ij; else 0                                                  */
} r4_covered;

/* to: [examples of d]. The same masked example has the same bits at any place of d, whatever else is in it. */
r4_status r4_cover_predict(const r4_net *n, const float *weights, const r4_data *d, const r4_cover_options *options,
                           r4_covered *to, r4_error *e);

/* Image files as r4_data_images, each with what its mask marks replaced by the constant, so that predictions cannot
 * depend on what is there, whatever it is: of the resized image, every pixel that some marked pixel would have had a
 * part in. mask: [n] image files of the size of the images; what is white is marked, or if relevant, what is not. */
r4_data *r4_data_images_hidden(const char *const *file, const char *const *mask, bool relevant, size_t n,
                               r4_shape shape, const float *constant, r4_image_info *info, r4_error *e);

/* ---- Certificates --------------------------------------------------------------------------- */

/* What is enclosed: the values of the stored numbers in real arithmetic, or those of every float evaluation, whatever
 * the order of its sums, with or without FMA. */
typedef enum { R4_SEMANTICS_REAL = 0, R4_SEMANTICS_ANY_FLOAT } r4_semantics;

/* How bounds are found (r4_bound_by, r4_certify_box). Intervals go forward and forget what elements have in common;
 * linear bounds walk back from y with coefficients, so that what cancels does, and cost more: a product for each
 * element of a row of y. */
typedef enum {
  R4_BOUND_INTERVALS = 0, /* as r4_bound: one pass */
  R4_BOUND_LINEAR,        /* linear alone */
  R4_BOUND_BEST           /* the tighter of both, everywhere */
} r4_bound_method;

/* What proved a claim: the first of these that did. */
typedef enum {
  R4_PROVED_NOT = 0,
  R4_PROVED_INTERVALS,
  R4_PROVED_LINEAR,
  R4_PROVED_SLOPES,   /* linear bounds with slopes that were searched for */
  R4_PROVED_BRANCHING /* r4_branch_box */
} r4_proved_by;

/* What was proved of one example. */
typedef struct {
  int32_t label, predicted;
  double margin; /* box: z_predicted - z_j is at least this for every other class j and every x' of its box; -infinity:
                    nothing is known. Other claims: see doc/certificates.md */
  bool holds;    /* the claim is proved; then margin > 0 */
  r4_proved_by by; /* box: by what; R4_PROVED_NOT: it does not hold, or it is another claim */
  bool broken;   /* an attack found a counter-example: another prediction for an x' of the same box */
  double radius; /* box, if asked for: the largest eps for which it holds, as far as bisection went; NaN: not asked */
  double delta;  /* box, if asked for: the masked explanation || m . g(x') ||_2, g = d loss / d x, is at most this for
                    every x' of the box; NaN: not asked, infinite: not known */
} r4_certified;

/* Shares of examples, 0 to 1; NaN where there are none. */
typedef struct {
  size_t examples;
  double all, avg_group, worst_group; /* of all examples; mean and least over groups that have any */
  size_t worst;                       /* which group that is                                       */
} r4_group_shares;

typedef enum {
  R4_SHARE_CORRECT,   /* predicted is the label                                                    */
  R4_SHARE_CERTIFIED, /* and the claim is proved                                                   */
  R4_SHARE_ATTACKED   /* predicted is the label, and no attack found a counter-example             */
} r4_certified_share;

/* x: one for each example of d. masked_only: of examples that have a mask. */
r4_group_shares r4_certified_shares(const r4_data *d, const r4_certified *x, r4_certified_share which,
                                    bool masked_only);

/* A certificate: a claim about each of some examples, of one model. Texts that a claim does not have are NULL. */
typedef struct {
  const char *claim;          /* "box", "words" or "cover"                                             */
  const char *semantics;      /* "real", "any-float" or "this-program"                                 */
  const char *method;         /* "intervals", "two-mask", ..                                           */
  const char *eps;            /* box: a decimal, as it was given, or "range"                           */
  const char *low, *high;     /* box: the valid values of a feature, decimals                          */
  const char *words, *cover, *fill; /* of the claims words and cover                                   */
  char model[R4_HASH_SIZE], data[R4_HASH_SIZE]; /* r4_file_hash of the model's file and of the examples */
  size_t examples;
  const r4_certified *example;
} r4_certificate;

/* The claim "box": for every x' that differs from x in masked features alone, by at most eps times the mask, or, if eps
 * is not given, by whatever is valid, the prediction is the same. */
typedef struct {
  const char *eps;        /* a decimal, as "0.1", which is taken exactly; NULL: the whole range of valid values */
  const char *low, *high; /* valid values of a feature, decimals; NULL: there are no limits                    */
  r4_semantics semantics;
  r4_bound_method method; /* best: linear where intervals cannot tell. In real arithmetic only, but for intervals */
  int64_t slopes; /* steps of a search for better slopes of relus, where linear bounds cannot tell; 0: none */
  double seconds; /* r4_branch_box: for each example, at most */
  bool radius;   /* also the largest eps for which it holds, by bisection up to high - low, or 1; by intervals */
  bool gradient; /* also how large the masked explanation can be; by intervals                         */
  int64_t batch; /* examples at a time; 0: by their size                                                */
  size_t done;   /* to continue what was interrupted: this many first examples are in "to" as an earlier call left them;
                    of an attack: this many starts were made. 0 for linear bounds, which come back to examples */
  bool (*progress)(size_t done, size_t of, void *user); /* false ends it; or NULL. Those done are in "to"; an attack
                                                           counts examples of all its starts, one after the other */
  void *user;
} r4_certify_options;

/* Fills to[k] for each example of d, which are not texts: its label, what the net predicts, and the proved margin.
 * R4_E_RULE if the net has an operation without a sound rule. */
r4_status r4_certify_box(const r4_net *n, const float *weights, const r4_data *d, const r4_certify_options *options,
                         r4_certified *to, r4_error *e);

/* The other side: looks for a counter-example in the box of each correct example, by projected ascent of the cross
 * entropy and of minus the margin from this many starts: the example, contents of the masks of donors (NULL: none),
 * corners and points inside; sets broken where one is found. x is what r4_certify_box gave, of the same box. A
 * certified example that is broken is a defect of r4. */
r4_status r4_attack_box(const r4_net *n, const float *weights, const r4_data *d, const r4_certify_options *box,
                        const r4_data *donors, size_t starts, uint64_t seed, r4_certified *x, r4_error *e);

/* Branch and bound, for examples that are correct, not proved, and not broken by an attack: what linear bounds do not
 * prove of a box is cut in two by the sign of what goes into a relu that is undecided, and so on, for up to
 * options->seconds on each example. Any relu net with fully connected and convolutional layers may be decided, given
 * time; large ones will not be. Sets margin, holds and by where it proves the claim, and broken where it finds a
 * counter-example. In real arithmetic. R4_E_RULE names an operation without a linear rule. What time allows depends on
 * the machine: a certificate need not have the same lines again. */
r4_status r4_branch_box(const r4_net *n, const float *weights, const r4_data *d, const r4_certify_options *options,
                        r4_certified *x, r4_error *e);

/* The claim "words": whatever tokens of a list (ids) are at the masked tokens of a text, each on its own, or what is
 * there, the prediction is the same; the margin is over all of these texts. Of the options it takes semantics, batch,
 * done and progress; the method is intervals. R4_E_ARGUMENT if the net has no leaf behind its embedding, before tokens
 * see each other. */
r4_status r4_certify_words(const r4_net *n, const float *weights, const r4_data *d, const int32_t *word, size_t words,
                           const r4_certify_options *options, r4_certified *to, r4_error *e);
/* The list of a run: what its setting "words.list" names, or else "data.mask_words", as ids of tokens: all pieces of
 * all words. R4_E_ARGUMENT if they name none. */
typedef struct {
  int32_t *id;
  size_t n;
  size_t listed, unknown; /* words, and those that the vocabulary does not have, which replace nothing; the first: */
  char first_unknown[48];
} r4_word_ids;
r4_status r4_settings_words(const r4_settings *s, const r4_data *d, r4_word_ids *to, r4_error *e);
void r4_word_ids_free(r4_word_ids *w);

/* ---- Specifications of others ---- */

/* What a specification of VNN-LIB says of a net, as far as r4 reads it: constants X_0 .. in boxes, and what must not be
 * true of the Y_0 .. of any point there: constraints that are linear, in (and ..) and (or ..). doc/certificates.md. */
typedef enum {
  R4_VERIFY_UNKNOWN, /* neither: time or memory was not enough, or rounding decides */
  R4_VERIFY_HOLDS,   /* proved by sound bounds: no point fulfils all assertions */
  R4_VERIFY_VIOLATED /* a point does */
} r4_verified;

typedef struct {
  r4_verified is;
  size_t inputs, outputs;
  double *x, *y;         /* violated: a point, in the order of the file, and what the net makes of it, in double; before
                            a softmax, if its file ends with one */
  size_t subproblems;    /* sub-domains that were proved */
  double seconds;
} r4_verification;

/* m: a model, of r4 or of others; its inputs in the order of its file, images channels first unless a file of ONNX has
 * channels last. R4_E_PARSE names the line and what is not understood; R4_E_SHAPE: the numbers of inputs or outputs
 * differ; R4_E_RULE names an operation without a linear rule; R4_E_ARGUMENT: a box that has no ends, seconds not above
 * 0, a softmax behind the logits where more is asked than which is larger. */
r4_status r4_verify(const r4_model *m, const char *vnnlib, double seconds, r4_verification *to, r4_error *e);
void r4_verification_free(r4_verification *v);

/* The claim "box" about example i of d as a specification: for the class it is predicted as, predicted, no other one is
 * as large in the box. The model's ONNX (r4_onnx_save) is what it is about. */
r4_status r4_vnnlib_save(const r4_net *n, const r4_data *d, size_t i, int32_t predicted, const r4_certify_options *box,
                         const char *path, r4_error *e);

/* As text that r4-check reads; doc/certificates.md has the format. */
r4_status r4_certificate_save(const r4_certificate *c, const char *path, r4_error *e);
/* The examples of a certificate as an npz file: x as the net takes it, channels first, y, mask, and of texts length. */
r4_status r4_certificate_data_save(const r4_net *n, const r4_data *d, const char *path, r4_error *e);
/* SHA-256 of the bytes of a file, in hex digits. */
r4_status r4_file_hash(const char *path, char hex[R4_HASH_SIZE], r4_error *e);

/* ==== Part 5: models ========================================================================== */

/* ---- Models --------------------------------------------------------------------------------- */

/* A model is a net with its weights, in a safetensors file that PyTorch reads: names and layouts are those of a
 * torch.nn.Sequential of the same layers on images [channels, height, width]. The metadata of the file has the line
 * of layers ("net"), the shape of the input as r4 has it ("input"), names of classes ("classes") and the version of
 * r4 ("r4"). */

/* path: a file, or the folder of a run's seed. net: NULL for the one that the file names, otherwise the caller's, which
 * must outlive the model: files from elsewhere do not name one. Weights may be F32, F64, F16 or BF16. A file whose name
 * ends with .onnx is read as ONNX, also by r4_net_open and r4_net_load: what r4 has written, and graphs of others that
 * nets have parts for. Errors name the tensor, its shape and what was expected, or the node and the operator. */
r4_model *r4_model_open(const char *path, const r4_net *net, r4_error *e);
/* The same in memory: the net, its weights and the names are copied. */
r4_model *r4_model_new(const r4_net *n, const float *weights, const char *const *class_names, r4_error *e);
void r4_model_free(r4_model *m);

const r4_net *r4_model_net(const r4_model *m);
const float *r4_model_weights(const r4_model *m);             /* r4_net_size of them                              */
size_t r4_model_classes(const r4_model *m);                   /* columns of its probabilities: 2 for a net with one
                                                                 output                                           */
const char *r4_model_class_name(const r4_model *m, size_t k); /* NULL if the file names none                      */

/* As safetensors; a path that ends with .onnx is refused, as r4_onnx_save writes that.
 * class_names: one for each class (two for a net with one output), or NULL. Weights that are NaN or infinite are
 * refused, here and when a file is loaded (R4_E_DOMAIN); the error names the parameter and the index. */
r4_status r4_model_save(const r4_net *n, const float *weights, const char *const *class_names, const char *path,
                        r4_error *e);

/* What covers masked places (r4_data_constant, part 4): how many numbers it has; 0: the model has none, as models of
 * other programs. */
size_t r4_model_constants(const r4_model *m);
/* False if the model has none, or one of another length. */
bool r4_model_constant(const r4_model *m, size_t n, float *to);
/* n finite numbers, or none. */
r4_status r4_model_set_constant(r4_model *m, size_t n, const float *constant, r4_error *e);
/* r4_model_save of all that a model has: net, weights, names of classes, constant. */
r4_status r4_model_write(const r4_model *m, const char *path, r4_error *e);

/* Net, weights and names as a file of ONNX (opset 17), for programs that run nets: input [batch, channels, height,
 * width] or [batch, features], or "input_ids" and "attention_mask" [batch, tokens]; output "logits" [batch, classes].
 * normalize is part of the graph; names of classes, the net's text, layout and scale are in its metadata. Less than
 * 2 GB. doc/onnx.md. */
r4_status r4_onnx_save(const r4_net *n, const float *weights, const char *const *class_names, const char *path,
                       r4_error *e);

/* ---- Pretrained weights --------------------------------------------------------------------- */

/* Where a file may differ from the net. Lists are patterns of names, as "fc.*, layer4.?.conv1.weight": a star matches
 * any letters, a question mark one. NULL: none. */
typedef struct {
  const char *skip;     /* parameters that are not taken: heads; each pattern must fit one                          */
  const char *optional; /* parameters that may be missing                                                           */
  const char *ignore;   /* tensors that the net does not need: "pooler.*". Tensors of whole numbers (counters,
                           positions) are never weights, and always ignored                                         */
  const char *prefix;   /* what names in the file begin with and those of the net do not: "bert."                   */
} r4_load_options;

typedef struct {
  size_t taken, left; /* parameters: from the file, and as they were */
  size_t ignored;     /* tensors                                     */
} r4_load_report;

/* Weights by name and shape from safetensors files, F32, F64, F16 or BF16, in PyTorch's names and layouts: one file, an
 * index of shards (model.safetensors.index.json; all shards next to it), or a folder with one of these. Parameters that
 * are not taken stay as they are in weights, and on failure all of them do. What is missing, unexpected or of another
 * shape is listed in one error; numbers that are NaN or infinite are refused (R4_E_DOMAIN). options and report may be
 * NULL. */
r4_status r4_net_load(const r4_net *n, const char *path, const r4_load_options *options, float *weights,
                      r4_load_report *report, r4_error *e);

/* The net with a first part "normalize" that makes of inputs from 0 to 1 what weights were trained on; it is part of
 * the net from then on, in its text and in models. preprocess: "none", "imagenet", "lite", "tensorflow", "caffe", a
 * part "normalize mean M/M/M std S/S/S", or "auto" (NULL): what the weights at path say, or if they say nothing what is
 * usual for the architecture that n was made from. path NULL: there are no weights, and auto is none. */
r4_net *r4_net_preprocessed(const r4_net *n, const char *path, const char *preprocess, r4_error *e);

/* ==== Part 6: steps of your own =============================================================== */

/* A step of training by hand is: a net, a batch, an objective built for both (a graph), its gradient (r4_grad), a plan
 * of these (part 7), and an optimiser. examples/own_steps.c does it. */

/* ---- Nets ----------------------------------------------------------------------------------- */

/* A net as text: parts in a row, separated by commas,
 *     conv 32 3 p1, relu, maxpool 2, residual(conv 32 3 p1, relu, conv 32 3 p1), relu, globalpool, dense 10
 * with brackets, names and repetitions (doc/nets.md has the language, "r4 nets" the kinds of parts). Images are
 * [height, width, channels], tokens [tokens]; the last part must give a vector, the logits. */

/* net: such a text; or a name: "mlp784-512-10" (any sizes), an architecture that r4 brings along ("derm28",
 * "resnet18"), or a file NAME.net or NAME.onnx. In brackets what may be chosen: "resnet18(classes=6)". What ends with
 * .net, .net and brackets, or .onnx is a file, also with blanks in its name, unless it has a # or a line break in it.
 * example: the shape of one example, where the net allows it; an image goes into a dense first part as a vector.
 * R4_SCALAR: that of the net itself, by name. Errors name the part, what it got and what it needs, and the place in the
 * text. {classes} and {words} are for the setting net: write numbers here. */
r4_net *r4_net_open(const char *net, r4_shape example, r4_error *e);
void r4_net_free(r4_net *n);

/* Text that makes the net again, with nothing left to choose. */
const char *r4_net_layers(const r4_net *n);
r4_shape r4_net_input(const r4_net *n);  /* of one example */
int64_t r4_net_classes(const r4_net *n); /* outputs        */
/* Token ids that the net knows, from 0 on: the rows of its smallest embedding; 0: it takes no tokens. */
int64_t r4_net_vocabulary(const r4_net *n);
/* Of products and convolutions, for one example; 0 when out of memory. */
double r4_net_flops(const r4_net *n);

/* Parameters in order, named as PyTorch names them ("0.weight", "layer1.0.conv1.weight"), dense weights [out, in], one
 * after the other in one flat array of r4_net_size floats. */
size_t r4_net_size(const r4_net *n);
size_t r4_net_params(const r4_net *n);
const char *r4_net_param_name(const r4_net *n, size_t k);
r4_shape r4_net_param_shape(const r4_net *n, size_t k);
size_t r4_net_param_offset(const r4_net *n, size_t k);
/* A buffer is not a weight: it has no gradient, and training sets it (running statistics of batch norm). */
bool r4_net_param_is_buffer(const r4_net *n, size_t k);

/* Fresh weights, by name: "default" (NULL), PyTorch's U(-1/sqrt(fan_in), 1/sqrt(fan_in)) for weights and biases;
 * "xavier", "kaiming"; "ibp", which keeps interval bounds from growing. */
r4_status r4_net_init(const r4_net *n, const char *name, uint64_t seed, float *weights, r4_error *e);

/* Explanations are taken, and perturbations act, at the result of a part from now on, instead of at the input: a name
 * as "layer4", which means the last part that is called so or begins so, "features" for the last part that gives an
 * image (or tokens), "input". Masks then mark the places of that result. Text and models stay as they are.
 * R4_E_ARGUMENT, with the parts that there are, if there is no such part, if it is inside a branch, or if it has no
 * places to mark. */
r4_status r4_net_guide_at(r4_net *n, const char *part, r4_error *e);

/* The inputs of g for the parameters, param[0 .. r4_net_params). */
void r4_net_inputs(const r4_net *n, r4_graph *g, r4_id *param);
/* Logits [batch, classes] of x [batch, input...]. */
r4_id r4_net_apply(const r4_net *n, r4_graph *g, const r4_id *param, r4_id x);

/* ---- Batches -------------------------------------------------------------------------------- */

/* An epoch is every example once (unless by_group), cut into batches: shuffled by seed and epoch, and by nothing else.
 * Masks may change the order within a batch (masked_first). A batch has all that a training step reads, as floats,
 * ready to be bound to a plan. */

/* Images that look different in each epoch, and their masks with them. All 0: as they are. */
typedef struct {
  bool flip;         /* left and right are exchanged, with probability 1/2 */
  int64_t crop;      /* moved by up to this many pixels up or down, left or right; the edge is repeated, without mask */
  double brightness; /* b: all values times one factor, uniform in [1 - b, 1 + b]; those of bytes stay in [0, 1] */
  double colour;     /* c: saturation and contrast times a factor each, uniform in [1 - c, 1 + c]; likewise */
  double cutout; /* squares of this share of the shorter side, anywhere, cut at the edges, become r4_data_constant */
  int64_t holes;     /* their number; 0: 2 */
  double strips;     /* and so do two strips, each at a random edge, of up to this share of the side. Masks stay */
} r4_augment;

typedef struct {
  size_t size;        /* examples of a batch; the last of an epoch has what is left */
  bool drop_last;     /* leave out the last batch of an epoch if it is smaller */
  bool shuffle;       /* otherwise in the order of the data set */
  uint64_t seed;      /* of the shuffle */
  bool masked_first;  /* in each batch, examples with a mask come before those without */
  bool no_masks;      /* m is not made, and NULL */
  size_t masked;      /* 0: m has all features; U: the U features of index */
  const float *index; /* whole numbers, as the input "index" of an objective; what masks touch must be listed */
  r4_augment augment; /* by seed, epoch and example; flip and crop: what moved masks can touch must be listed */
  r4_fill fill;       /* what replaces masked content in filled, by seed, epoch and example */
  bool prefetch;      /* the next batch is made on a thread of its own while this one is used */
  size_t lengths;     /* texts: batches are of similar length, cut to one of at most this many lengths; 0, 1: not */
  bool by_group;      /* each example is drawn by seed, epoch and place: a group that has examples, all equally likely,
                         then one of its examples, likewise and with replacement; each time it is augmented and filled
                         anew. shuffle has no effect; an epoch has as many batches as without */
} r4_batch_options;

typedef struct {
  size_t count;           /* examples: rows 0 .. count - 1 are filled */
  size_t masked;          /* of them with a mask in the data set; crop may move all of it out of the image */
  bool masked_first;      /* and these come first */
  const float *x, *y, *m; /* [count, features], [count], [count, features or U]; aligned to 64 bytes */
  const float *length;    /* [size]: of the texts, in tokens; NULL unless examples are tokens */
  size_t features;        /* of an example: the width of x; of texts that were cut, their tokens */
  const float *filled;    /* as x, with masked content replaced; x itself if nothing is replaced */
  const size_t *example;  /* [size]: their numbers in the data set */
  uint32_t epoch;
  size_t index; /* of this batch in its epoch */
} r4_batch;

/* The data set may be freed before the batches. */
r4_batches *r4_batches_new(const r4_data *d, const r4_batch_options *options, r4_error *e);
void r4_batches_free(r4_batches *b);
size_t r4_batches_count(const r4_batches *b); /* batches of an epoch */
/* The next batch will be the index-th of that epoch, as if all before it had been asked for. */
r4_status r4_batches_seek(r4_batches *b, uint32_t epoch, size_t index, r4_error *e);
/* Never ends: after the last batch of an epoch comes the first of the next. A batch stays as it is until the
 * next one is asked for. Allocates nothing and cannot fail. */
r4_batch r4_batches_next(r4_batches *b);

/* ---- Random numbers ------------------------------------------------------------------------- */

/* Counter-based (Philox 4x32-10): the value depends on the key alone, never on order or threads. */
typedef struct {
  uint64_t seed;
  uint32_t purpose, step; /* who draws, and when */
} r4_random;

double r4_random_uniform(r4_random key, uint64_t index);             /* in [0, 1)          */
double r4_random_normal(r4_random key, uint64_t index);              /* mean 0, variance 1 */
uint64_t r4_random_below(r4_random key, uint64_t index, uint64_t n); /* in 0 .. n-1        */
/* n floats, uniform in [low, high): element i depends on the key and i alone. On all threads. */
void r4_random_fill(r4_random key, size_t n, float low, float high, float *to);
/* n floats, normal with mean 0 and variance 1, two from each pair of 24 random bits: at most 5.8 in size. */
void r4_random_fill_normal(r4_random key, size_t n, float *to);
/* Draws of any kind with the same key and index share their bits: give each use a purpose of its
 * own. The library itself uses purposes from 0x72340000 on. */

/* ---- Objectives ----------------------------------------------------------------------------- */

/* What training minimises, with q the quantity of the method (part 3), one number per example:
 *
 *     mean_i v_i w[y_i] l_i  +  beta sum W^2  +  lambda mean_i q_i
 *
 * All definitions are in doc/objectives.md. A net with one output is a binary one: its labels are 0 and 1
 * and its loss is the logistic one; everywhere else it has two classes with the logits [0, z]. */

/* -log softmax(logits)[label] per example: logsumexp(z) - z_y. one_hot is [batch, classes]. */
r4_id r4_cross_entropy(r4_graph *g, r4_id logits, r4_id one_hot);

/* How large an explanation is on the mask, for methods that use the setting "norm". */
typedef enum {
  R4_NORM_L2 = 0,
  R4_NORM_L1,
  R4_NORM_SUM, /* of bounds, as published: sum_j m_j (|lo_j| + |hi_j|); its factor 1/features is left to lambda */
} r4_norm;

typedef struct {
  const char *method; /* a name that r4_method_name gives, or a sum of up to R4_TERMS with a penalty: "r3+pairing" */
  int64_t batch;
  int64_t masked;   /* 0: masks on all features; U: on the U features listed by "index"        */
  int64_t guided;   /* 0: any example may have a mask; G: only the first G of a batch may      */
  const r4_reach *reach; /* where masks are, or NULL; not with masked. Must outlive the call         */
  bool filled;      /* the data term looks at the input "filled" instead of x                  */
  bool filled_within; /* which differs from x in masked features alone: penalties share its work */
  bool lengths;     /* examples are tokens: of each, only the first "length" are there         */
  bool frozen_statistics; /* the data term uses running statistics instead of those of the batch */
  bool over_masked; /* penalties are means over the examples with a mask, not over all of them */
  double lambda[R4_TERMS]; /* weight of each term's penalty; the constant 0 is ERM, to the bit */
  double eps;       /* radius of the box, or standard deviation of noise on all features       */
  bool whole;       /* the box is all valid values: eps is the share of high - low that masked features move by, 1 for
                       all, whatever their mask is above 0; needs ranged                       */
  bool live;        /* "eps" and the weights ("lambda", of further terms "lambda_2" to "lambda_4") are scalar
                       inputs, not constants                                                   */
  r4_explain explain;
  r4_norm norm;
  r4_form form;
  double tau, delta; /* of the forms log and target, above 0                                    */
  int samples;       /* points that are drawn for each example                                  */
  int steps;         /* of an attack, its random start included; the best point counts          */
  double noise;      /* smooth-r3: standard deviation of the noise; 0: eps, which ramps                  */
  double word_share; /* word-smooth-r3: chance that a token is replaced; 0: alpha, or a quarter          */
  double alpha;      /* size of a step; 0 or less: eps at first, then halved with each third of the
                        steps, which starts at the best point so far                            */
  bool random_start; /* an attack starts at eps m "start", else at the example                  */
  bool ranged;       /* points that are looked at, and boxes, stay between low and high         */
  double low, high;
  const double *class_weights; /* w, one per class (2 for one output), or NULL for all 1        */
  bool weighted;               /* v is the input "v", a number for each example; otherwise all 1 */
  double weight_penalty;       /* beta: adds beta sum W^2 over weights, not biases              */
  const double *rates;         /* factors of the learning rate, one per parameter, or NULL: weight_penalty leaves out
                                  those with 0                                                  */
  bool double_softmax;         /* data term as published: l_i = -log softmax(softmax(z))_y              */
  /* Texts: what replaces masked tokens. */
  const float *words; /* ids, each a word; NULL: tokens of the batch. They must outlive what is drawn      */
  size_t word_count;
  int candidates; /* of a search through words: those that a first-order estimate puts first; 0: all       */
  int64_t places; /* of it: no text has more masked tokens; 0: not known, "steps" of them are looked at    */
  bool element_max; /* the largest of several explanations is taken feature by feature, not by its norm   */
  bool word_box;  /* bounds are over all words, not over eps                                              */
  bool linear_bounds; /* bounds are the tighter of intervals and linear ones (r4_bound_by, ends inside by intervals) */
  bool used;      /* the result has leaf, mask and used, for penalties of the caller's own; not with masked, guided or
                     reach                                                                                */
} r4_objective_options;

/* Inputs of the graph by their names; R4_NONE for those that this objective does not have. Shapes:
 * r4_node_shape. One that the outputs of a plan do not need may be left unbound. */
typedef struct {
  r4_id x, y;  /* [batch, input...] and labels [batch]                                          */
  r4_id filled; /* as x: what the data term sees                                                */
  r4_id m;     /* masks in [0, 1], 1 = must not matter, shaped as the leaf of the net, which is x unless
                  the net names another; or [batch, U]; of tokens [batch, tokens]; of images that are
                  explained behind the input, [batch, height, width] there. With guided, the first G
                  rows of that                                                                  */
  r4_id v;      /* [batch], if examples are weighted: from 0 on                                 */
  r4_id length; /* [batch], if lengths are given                                                */
  r4_id index; /* [U], the features of the flattened input that m is about                      */
  r4_id at;    /* [batch or G, r4_reach_places], from r4_reach_find                             */
  r4_id lambda[R4_TERMS], eps; /* scalars, from 0 on                                            */
} r4_objective_inputs;

/* An input whose numbers are drawn anew for each step: points that a method looks at, or the start of an attack. */
typedef struct {
  const char *name;
  r4_id node;
  size_t count;     /* of its elements                                                          */
  uint32_t purpose; /* of its random numbers: no two inputs of an objective share one            */
  void (*fill)(r4_random key, const r4_batch *batch, size_t n, float *to);
  const float *list; /* NULL, or what is drawn from, uniformly, instead of fill                  */
  size_t listed;
} r4_drawn;

/* The numbers of a step. What is drawn may depend on the batch; NULL if it is known that it does not. */
void r4_drawn_fill(const r4_drawn *d, uint64_t seed, uint32_t step, const r4_batch *batch, float *to);

/* Scalars whose quotient is a mean. Over the parts of a batch, both are added first. */
typedef struct {
  r4_id sum, count;
} r4_total;

typedef struct {
  r4_id loss;       /* scalar: what is minimised                                                */
  r4_id data;       /* scalar: mean_i v_i w[y_i] l_i                                            */
  /* Of each term of the method: */
  r4_id penalty[R4_TERMS]; /* scalar: mean of q, without lambda and before the form; 0 without such a term */
  r4_total total[R4_TERMS]; /* what it is the mean of; R4_NONE without such a term                */
  r4_id form[R4_TERMS]; /* scalar: what lambda is multiplied by; 0 without such a term          */
  r4_id losses;     /* [batch]: w[y_i] l_i                                                      */
  r4_id each;       /* [batch]: q_i, the sum of those of all terms                              */
  r4_id logits;     /* [batch, classes], 2 columns for one output: the prediction is the largest */
  r4_objective_inputs in;
  const r4_drawn *drawn; /* further inputs: as long as the graph lives                          */
  size_t draws;
  const r4_id *updated; /* for each parameter, R4_NONE or, of a buffer, its new value; as drawn */
  /* If options ask for used, otherwise R4_NONE: the net as it will be used, with running statistics and nothing
   * dropped, so that examples do not see each other. */
  r4_id leaf; /* the examples where explanations are taken: x, or another node that the net names   */
  r4_id mask; /* m, shaped as leaf                                                                  */
  r4_id used; /* as logits, a function of leaf                                                      */
} r4_objective;

/* What these options make training minimise, for people and with their numbers: "mean loss on filled examples + 10 x
 * mean ||m . g(x)||_2^2; ..". batch, masked, guided and reach change nothing. r4_string_free; NULL for an unknown
 * method, and when out of memory. */
char *r4_objective_text(const r4_objective_options *options);
/* The method's training objective for a batch. An example whose mask is 0 has q_i = 0. All zeros, and an
 * error in g, if an option is out of its range. */
r4_objective r4_objective_build(r4_graph *g, const r4_net *n, const r4_id *param,
                                const r4_objective_options *options);

/* ---- Less work where masks are small -------------------------------------------------------- */

/* The features of the flattened example that some mask touches, or can touch when augment moves it (NULL: it stays), in
 * order, in index, which has room for all features. Returns their number: U, for "masked" of batches and objectives. */
size_t r4_data_masked_features(const r4_data *d, const r4_augment *augment, float *index);

typedef struct {
  int64_t top, left, height, width;
} r4_rect;

/* Images: the smallest rectangle around each mask, in rect, which has room for all examples; larger if augment repeats
 * masks at the edge (NULL: it does not). Returns the number of masks, 0 if examples are not images. */
size_t r4_data_mask_rects(const r4_data *d, const r4_augment *augment, r4_rect *rect);

/* How far masked parts of images reach into a conv net, layer by layer. Objectives that know it compute penalties in
 * windows around the masks alone: the same numbers for less work. For masks inside the given rectangles; anywhere: or
 * inside any that are not larger than the largest of them. The net takes images. */
r4_reach *r4_reach_new(const r4_net *net, size_t n, const r4_rect *rect, bool anywhere, r4_error *e);
void r4_reach_free(r4_reach *r);

double r4_reach_share(const r4_reach *r);  /* work of convolutions in windows, as a share of that in whole images */
size_t r4_reach_places(const r4_reach *r); /* numbers that say where the windows of an example are                */

/* The places at [rows, r4_reach_places] of the masks m [rows, height, width, channels]. R4_E_ARGUMENT if a mask is not
 * as r4_reach_new was told. */
r4_status r4_reach_find(const r4_reach *r, size_t rows, int64_t channels, const float *m, float *at, r4_error *e);

/* ---- Optimisers ----------------------------------------------------------------------------- */

typedef enum { R4_SGD = 0, R4_ADAM, R4_ADAMW } r4_optimizer_kind;

typedef struct {
  r4_optimizer_kind kind;
  double learning_rate;
  double momentum;     /* SGD: v <- momentum v + g,  w <- w - rate v                             */
  double beta1, beta2; /* Adam and AdamW: decay of the means of g and of g^2                     */
  double epsilon;      /* Adam and AdamW: w <- w - rate m^ / (sqrt(v^) + epsilon)                */
  double weight_decay; /* SGD and Adam: g <- g + decay w;  AdamW: w <- w - rate decay w (apart)  */
} r4_optimizer_options;

/* Usual values: rate 1e-3 (SGD 1e-2), momentum 0.9, beta 0.9 and 0.999, epsilon 1e-8, no decay. */
r4_optimizer_options r4_optimizer_defaults(r4_optimizer_kind kind);

/* For n float parameters in one array. */
r4_optimizer *r4_optimizer_new(size_t n, const r4_optimizer_options *options, r4_error *e);
void r4_optimizer_free(r4_optimizer *o);

/* One step in one pass over memory: weights[i] moves against gradient[i]. */
void r4_optimizer_step(r4_optimizer *o, float *weights, const float *gradient);
/* R4_E_ARGUMENT, and no change, unless the rate is finite and not negative. */
r4_status r4_optimizer_set_rate(r4_optimizer *o, double learning_rate, r4_error *e);

/* Weights with a rate of their own: factor times that of the optimizer. 0 freezes them: they are neither moved nor
 * decayed, whatever their gradient is. */
typedef struct {
  size_t first, count;
  double factor;
} r4_rate_range;

/* From now on, instead of the ranges before; in order, and none of them over another. The other weights have factor 1.
 * The state stays as it is. */
r4_status r4_optimizer_set_ranges(r4_optimizer *o, size_t n, const r4_rate_range *range, r4_error *e);

/* What the steps so far have left behind: *n floats, valid until the next step, and the number of steps. Given to a
 * new optimizer with the same options it continues bit-identically. */
const float *r4_optimizer_state(const r4_optimizer *o, size_t *n, int64_t *steps);
r4_status r4_optimizer_restore(r4_optimizer *o, size_t n, const float *state, int64_t steps, r4_error *e);

/* ==== Part 7: graphs ========================================================================== */

/* A network, its loss, the gradient of the loss with respect to the input, bounds of that gradient over a box, and the
 * gradient of all of those with respect to the weights are one kind of thing: a graph of a small set of operations.
 * Three transforms work on graphs and compose:
 *
 *     r4_grad    the reverse-mode derivative, as new nodes of the same graph
 *     r4_bound   interval bounds over a box, as new nodes of the same graph
 *     r4_plan    a graph as a fixed list of kernel calls over one buffer, ready to run
 *
 * so the certified penalty of Cert-R4 is bound(grad(loss)), and training it is grad(bound(grad(loss))). */

/* ---- Graphs --------------------------------------------------------------------------------- */

/* An append-only list of nodes; equal nodes are one node. */
r4_graph *r4_graph_new(void); /* NULL when out of memory */
void r4_graph_free(r4_graph *g);

/* The first error of building, or R4_OK; *message (if not NULL) is valid as long as g. R4_E_ARGUMENT if g is NULL. */
r4_status r4_graph_status(const r4_graph *g, const char **message);
/* Forgets that error, so that building can continue. Nodes that were made before it stay as they are. */
void r4_graph_forget_error(r4_graph *g);

size_t r4_graph_size(const r4_graph *g); /* number of nodes; ids are 1 .. size */

/* Shape of a node; a scalar for R4_NONE. */
r4_shape r4_node_shape(const r4_graph *g, r4_id x);

/* The k-th input, or R4_NONE after the last; *name (if not NULL) is valid until a node is added. */
r4_id r4_graph_input(const r4_graph *g, size_t k, const char **name);

/* The nodes that out[0..n) need, as text that r4_graph_parse reads back, or for Graphviz. The
 * result is freed with r4_string_free; NULL when out of memory, when the graph holds an error or when
 * an output is not one of its nodes. */
char *r4_graph_text(const r4_graph *g, size_t n, const r4_id *out);
char *r4_graph_dot(const r4_graph *g, size_t n, const r4_id *out);

/* Reads the text form. *out gets the "output" lines in order, at most n_max; *n_out their number.
 * Errors name the line. Returns NULL on error. */
r4_graph *r4_graph_parse(const char *text, size_t n_max, r4_id *out, size_t *n_out, r4_error *e);

/* ---- Leaves --------------------------------------------------------------------------------- */

/* A named input, bound to memory when a plan runs. The same name and shape is the same node. */
r4_id r4_input(r4_graph *g, const char *name, r4_shape shape);

/* Every element equal to value, which must be finite. */
r4_id r4_const(r4_graph *g, double value, r4_shape shape);

/* Element [i0, i1, ...] equals its index along axis. */
r4_id r4_iota(r4_graph *g, int axis, r4_shape shape);

/* ---- Element-wise operations ---------------------------------------------------------------- */

/* Broadcasting, as in NumPy: shapes are aligned at their last dimension; a missing dimension or a
 * dimension of 1 is repeated; anything else must be equal. The graph then holds an explicit
 * "broadcast" node, so that every rule sees equal shapes. */

r4_id r4_add(r4_graph *g, r4_id a, r4_id b);
r4_id r4_sub(r4_graph *g, r4_id a, r4_id b);
r4_id r4_mul(r4_graph *g, r4_id a, r4_id b);
r4_id r4_div(r4_graph *g, r4_id a, r4_id b);
r4_id r4_min(r4_graph *g, r4_id a, r4_id b);             /* at a tie the derivative goes to a */
r4_id r4_max(r4_graph *g, r4_id a, r4_id b);             /* at a tie the derivative goes to a */
/* Comparisons, r4_step and r4_sign of NaN give NaN. */
r4_id r4_less(r4_graph *g, r4_id a, r4_id b);            /* 1 where a < b, else 0  */
r4_id r4_equal(r4_graph *g, r4_id a, r4_id b);           /* 1 where a == b, else 0 */
r4_id r4_select(r4_graph *g, r4_id c, r4_id a, r4_id b); /* a where c > 0, else b */

r4_id r4_neg(r4_graph *g, r4_id x);
r4_id r4_abs(r4_graph *g, r4_id x);
r4_id r4_sign(r4_graph *g, r4_id x); /* -1, 0 or 1 */
r4_id r4_square(r4_graph *g, r4_id x);
r4_id r4_sqrt(r4_graph *g, r4_id x); /* derivative at 0 is 0, so that norms have one everywhere */
r4_id r4_rsqrt(r4_graph *g, r4_id x);
r4_id r4_exp(r4_graph *g, r4_id x);
r4_id r4_log(r4_graph *g, r4_id x); /* NaN below 0, -infinity at 0; its bounds over a box have an r4_check */
r4_id r4_log1p(r4_graph *g, r4_id x);
r4_id r4_tanh(r4_graph *g, r4_id x);
r4_id r4_sigmoid(r4_graph *g, r4_id x);
r4_id r4_erf(r4_graph *g, r4_id x);
r4_id r4_gelu(r4_graph *g, r4_id x); /* x/2 (1 + erf(x/sqrt 2)) */
r4_id r4_relu(r4_graph *g, r4_id x);
r4_id r4_step(r4_graph *g, r4_id x);   /* 1 where x > 0, else 0: the derivative of relu */
r4_id r4_detach(r4_graph *g, r4_id x); /* x, but a constant for r4_grad */
r4_id r4_scale(r4_graph *g, r4_id x, double factor);

/* x, but running fails with R4_E_DOMAIN unless every element of ok is > 0. */
r4_id r4_check(r4_graph *g, r4_id x, r4_id ok);

/* ---- Reductions ----------------------------------------------------------------------------- */

/* Bit k of axes is axis k; R4_ALL all of them. Reduced axes disappear. R4_AXIS of a number that no axis can have is a
 * bit that every function refuses. */
#define R4_AXIS(k) (1u << ((unsigned)(k) < 31 ? (unsigned)(k) : 31))
#define R4_ALL (~0u)

r4_id r4_sum(r4_graph *g, r4_id x, unsigned axes);
r4_id r4_mean(r4_graph *g, r4_id x, unsigned axes);
r4_id r4_reduce_max(r4_graph *g, r4_id x, unsigned axes);

r4_id r4_softmax(r4_graph *g, r4_id x);   /* over the last axis */
r4_id r4_logsumexp(r4_graph *g, r4_id x); /* over the last axis, which disappears */

/* ---- Shape operations ----------------------------------------------------------------------- */

r4_id r4_broadcast(r4_graph *g, r4_id x, r4_shape shape);
r4_id r4_reshape(r4_graph *g, r4_id x, r4_shape shape);
r4_id r4_transpose(r4_graph *g, r4_id x, const int *perm); /* result axis k is axis perm[k] of x */

/* y[i] = x[start + i * step] along each axis, for i < size. step may be NULL for all 1. */
r4_id r4_slice(r4_graph *g, r4_id x, const int64_t *start, const int64_t *size, const int64_t *step);

/* The transpose of slice: zeros of the given shape with x at start + i * step. */
r4_id r4_pad(r4_graph *g, r4_id x, const int64_t *start, const int64_t *step, r4_shape shape);

r4_id r4_concat(r4_graph *g, size_t n, const r4_id *x, int axis); /* at most 64 operands */

/* Along one axis: y[.., k, ..] = x[.., index[k], ..]. index has rank 1 and holds whole numbers;
 * one that is out of range fails the run if the result is needed. Derivatives do not go to index. */
r4_id r4_gather(r4_graph *g, r4_id x, r4_id index, int axis);

/* The transpose of gather: y[.., index[k], ..] += x[.., k, ..], y of the given size along axis. */
r4_id r4_scatter_add(r4_graph *g, r4_id x, r4_id index, int axis, int64_t size);

/* A window of size[0] x size[1] of each image x [batch, height, width, channels], from row at[n, 0] and column at[n, 1]
 * on; zeros outside the image. at [rows, 2] holds whole numbers, for the first rows of x, and has no derivatives. */
r4_id r4_crop(r4_graph *g, r4_id x, r4_id at, const int64_t *size);

/* The transpose of crop: windows in images of zeros, size[0] images of size[1] x size[2]. */
r4_id r4_place(r4_graph *g, r4_id x, r4_id at, const int64_t *size);

/* [.., n] with 1 at the label: labels are whole numbers in 0 .. n-1. */
r4_id r4_one_hot(r4_graph *g, r4_id labels, int64_t n);

/* ---- Linear operations ---------------------------------------------------------------------- */

/* A B over the last two axes, each transposed first if asked; leading axes must be equal. */
r4_id r4_matmul(r4_graph *g, r4_id a, r4_id b, bool transpose_a, bool transpose_b);

/* Images are [batch, height, width, channels], weights [out, height, width, in / groups]. With several groups the
 * channels and the outputs are cut into as many equal parts, and the outputs of a part see its channels alone; with as
 * many groups as channels the convolution is depthwise. */
typedef struct {
  int64_t stride[2], pad[4] /* top, bottom, left, right */, dilation[2];
  int64_t groups; /* of a convolution; 0 is 1 */
} r4_window;

/* Stride and padding the same on both axes and sides, no dilation, one group. */
r4_window r4_window_of(int64_t stride, int64_t pad);

r4_id r4_conv2d(r4_graph *g, r4_id x, r4_id w, r4_window win);
/* The transposes of conv2d in x and in w; together the three are closed under r4_grad. */
r4_id r4_conv2d_dx(r4_graph *g, r4_id dy, r4_id w, r4_window win, int64_t height, int64_t width);
r4_id r4_conv2d_dw(r4_graph *g, r4_id x, r4_id dy, r4_window win, int64_t kernel_h, int64_t kernel_w);

/* Pooling over kernel[0] x kernel[1] windows; outside of the image is 0 for sums and means (and
 * counts), and is left out for max. At a tie max takes the first element in row-major order. */
r4_id r4_pool_max(r4_graph *g, r4_id x, const int64_t kernel[2], r4_window win);
r4_id r4_pool_sum(r4_graph *g, r4_id x, const int64_t kernel[2], r4_window win);
r4_id r4_pool_mean(r4_graph *g, r4_id x, const int64_t kernel[2], r4_window win);

/* ---- Transforms ----------------------------------------------------------------------------- */

/* dx[k] = d y / d x[k] for a scalar y, for k < n; zeros where y does not depend on x[k]. */
void r4_grad(r4_graph *g, r4_id y, size_t n, const r4_id *x, r4_id *dx);

/* A set of values of the node x: all between lo and hi, element by element. */
typedef struct {
  r4_id x, lo, hi, centre, radius;
} r4_box;
r4_box r4_box_around(r4_id x, r4_id centre, r4_id radius); /* centre -+ radius; radius >= 0 */
r4_box r4_box_between(r4_id x, r4_id lo, r4_id hi);        /* lo <= hi                      */

typedef struct {
  r4_id lo, hi; /* equal for a node that the boxes do not touch */
} r4_pair;

/* Bounds of y while each box[k].x ranges over its box; y may itself come from r4_grad or r4_bound. An end that
 * overflowed is infinite, never NaN. A negative radius, or lo above hi, is an error if these are constants. Where they
 * are computed while running, nothing looks, and the bounds of an empty box mean nothing: if they come from outside,
 * guard them, as with r4_check(g, radius, r4_sub(g, one, r4_less(g, radius, zero))). */
r4_pair r4_bound(r4_graph *g, r4_id y, size_t n, const r4_box *box);

/* How r4_bound_by does it. */
typedef struct {
  r4_bound_method method;
  bool inner_intervals; /* ends inside by intervals, not by walking back from there, too: cheaper, and wider */
  int64_t most;         /* only from inner nodes with at most that many elements in a row; 0: 4096, or what fits */
} r4_bound_options;

/* r4_bound by another method. Rows, along the first axis, are bounded by themselves: where rows meet, and where an
 * operation has no linear rule (r4 ops says so), the interval is taken, which holds as well. options may be NULL. */
r4_pair r4_bound_by(r4_graph *g, r4_id y, size_t n, const r4_box *box, const r4_bound_options *options);

/* ---- Sound enclosures ----------------------------------------------------------------------- */

/* The values of an input of a graph, element by element: lo <= x <= hi. Ends may be infinite: x is finite nevertheless.
 * One array for both: single values. */
typedef struct {
  const char *name;
  const double *lo, *hi;
} r4_ends;

/* Ends of y while its inputs range over these sets, rounding included, unlike r4_bound: lo and hi get as many elements
 * as y has, infinite where nothing is known. R4_E_ARGUMENT if an input that y needs is not given or one is given twice,
 * or if an element has lo > hi or NaN. R4_E_RULE names an operation without a sound rule. y may come from r4_grad:
 * where a function has kinks, its derivative is then enclosed whichever value a program takes there. */
r4_status r4_enclose(const r4_graph *g, r4_id y, size_t n, const r4_ends *input, r4_semantics semantics, double *lo,
                     double *hi, r4_error *e);

/* ---- Plans ---------------------------------------------------------------------------------- */

typedef enum { R4_F32 = 0, R4_F64 } r4_type;

typedef struct {
  r4_type type;
  bool reference;      /* plain loops in double only, node by node: slow, and the oracle of the tests */
  bool profile;        /* measure each kernel                                                      */
  bool winograd;       /* convolutions of 3 x 3 by Winograd's algorithm where that is faster: half of the time, and
                          rounding errors of 1e-6 of the result; never with weights known to be >= 0: radii of
                          bounds stay >= 0. No effect if compiled for less than AVX2 */
  bool bf16;           /* operands of large products in bfloat16, sums in float: errors of 2^-7 of the sum of all
                          terms' sizes, radii of bounds never below. No effect if r4_bf16_missing() */
  size_t keep_bytes;   /* above this size of all values that are needed at once, large cheap ones are computed
                          twice rather than kept for long; 0 means 192 MiB, as long as that makes a run
                          little longer */
  const size_t *place; /* NULL, or by output: where in one block of the caller's memory it will be bound, in
                          elements; R4_ELSEWHERE: not in the block. Until an output is written, its part of the
                          block is memory for other values; what lies between outputs is not touched */
} r4_plan_options;

#define R4_ELSEWHERE SIZE_MAX

/* Compiles what out[0..n) needs; options may be NULL for float. g is not needed afterwards. An error
 * of the graph itself is handed on: no need to ask for it before. */
r4_plan *r4_plan_new(const r4_graph *g, size_t n, const r4_id *out, const r4_plan_options *options,
                     r4_error *e);
void r4_plan_free(r4_plan *p);

/* Binds memory of the caller to an input by name, and to the k-th output. Elements are float or
 * double, as the plan was made; the memory must stay until the last run. An input that the
 * outputs do not need is accepted and ignored, a name that the graph does not have is an error. The memory
 * of an output must not overlap that of an input or of another output. */
r4_status r4_plan_input(r4_plan *p, const char *name, const void *data, r4_error *e);
r4_status r4_plan_output(r4_plan *p, size_t k, void *data, r4_error *e);

/* Runs all kernels, on the threads that there are now. Every needed input and every output must be bound. Allocates
 * nothing, unless there are more or fewer threads than in the run before: then kernels are made anew, and the result
 * has the bits of a plan that was made for this number. Inside of a parallel region of the caller that is one. */
r4_status r4_plan_run(r4_plan *p, r4_error *e);

size_t r4_plan_slab_bytes(const r4_plan *p); /* the one buffer of all intermediate values     */
double r4_plan_flops(const r4_plan *p);      /* of products and convolutions, per run         */
size_t r4_plan_kernels(const r4_plan *p);    /* kernel calls per run                          */
/* One line per kernel: what it computes, its shape, and its time if profiled. r4_string_free. */
char *r4_plan_text(const r4_plan *p);
void r4_plan_profile(r4_plan *p); /* measures each kernel from now on */

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif
#endif
