/* The table of settings. */
#include <math.h>
#include <string.h>

#include "config/settings.h"
#include "data/batch/mask_fill.h"
#include "data/mask/mask.h"
#include "module/guide_cells.h"
#include "objective/objective.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"

/* The setting's type is its field's. */
#define TYPE(field) \
  _Generic(((struct settings *)0)->field, int64_t                            \
           : R4_SETTING_WHOLE, double                                        \
           : R4_SETTING_REAL, bool                                           \
           : R4_SETTING_FLAG, char *                                         \
           : R4_SETTING_TEXT, const char *                                   \
           : R4_SETTING_CHOICE, struct reals                                 \
           : R4_SETTING_REALS)
#define NAMED(group, key, field, initial, min, max, choices, help)                                \
  {                                                                                               \
    {group, key, TYPE(field), initial, min, max, choices, help, false}, offsetof(struct settings, field) \
  }
#define SETTING(group, field, ...) NAMED(group, #field, field, __VA_ARGS__)

#define NUMBER(group, field, initial, min, max, help) SETTING(group, field, initial, min, max, NULL, help)
#define CHOICE(group, field, initial, choices, help) SETTING(group, field, initial, 0, 0, choices, help)
#define OF(...) ((const char *const[]){__VA_ARGS__, NULL})
#define TEXT(group, field, initial, help) SETTING(group, field, initial, 0, 0, NULL, help)
#define FLAG TEXT

#define DATA "Data"
#define NET "Network"
#define METHOD "Method"
#define WEIGHTS "Weights of penalties"
#define TRAINING "Training"
#define EVALUATION "Evaluation"
#define UP HUGE_VAL
#define WHOLE_UP 9007199254740991. /* 2^53 - 1: exact in every program that reads the settings */

#define FORMS OF("default", "linear", "log")

/* clang-format off */
static const struct setting table[] = {
  NAMED(DATA, "data", data.name, "", 0, 0, NULL, "recipe (see r4 data list), or path of a file or folder"),
  TEXT(DATA, data.from, "", "recipes: the clean data to build from; empty: the recipe's own"),
  NUMBER(DATA, data.seed, "0", 0, WHOLE_UP, "seed of everything that is drawn to build the data"),
  NUMBER(DATA, data.val, "0.1", 0, 0.9, "share of the training data held out for validation, if the data has none"),
  CHOICE(DATA, data.split, "lesion", OF("lesion", "own"), "HAM10000: by lesion, or as dermamnist_split.csv there says"),
  CHOICE(DATA, data.val_fill, "auto", fill_words, "what replaces masked content in validation; auto: another's"),
  NUMBER(DATA, data.size, "0", 0, 4096, "height and width that images are resized to; 0: as they are"),
  CHOICE(DATA, data.shades, "default", OF("default", "paper", "ross"), "decoys: their greys; default: the recipe's"),
  FLAG(DATA, data.clean, "false", "recipes: leave the shortcut out, for the ceiling"),
  CHOICE(DATA, data.mask_means, "unstated", mask_meaning_words, "what 1 means in masks of files"),
  FLAG(DATA, data.soft_masks, "false", "keep the grey values of masks; otherwise 1 from one half up, else 0"),
  NUMBER(DATA, data.mask_values, "", 0, 65535, "label images as masks: the values that count as 1; empty: white does"),
  TEXT(DATA, data.masks, "", "annotations in the data's folder; empty: boxes.csv, annotations.json; or none"),
  TEXT(DATA, data.mask_categories, "", "labels of annotations that count, such as \"tag, ruler\"; empty: all"),
  TEXT(DATA, data.tokenizer, "", "texts: tokenizer.json or vocab.txt, or a net that was got; empty: minilm"),
  NUMBER(DATA, data.length, "0", 0, 1048576, "texts: tokens of each, longer ones are cut; 0: the longest, at most 512"),
  TEXT(DATA, data.mask_words, "", "texts: words that must not matter, or a file of them; empty: none"),
  TEXT(DATA, data.cache, "", "folder where decoded images are kept for further runs; empty: none"),
  NUMBER(DATA, data.keep_masks, "1", 0, 1, "share of examples that keep their mask"),
  NUMBER(DATA, data.keep, "1", 0, 1, "share of training examples kept, of each class"),
  CHOICE(DATA, data.corrupt, "none", corruption_words, "how masks are made wrong"),
  NUMBER(DATA, data.correct, "1", 0, 1, "share of masks that data.corrupt leaves as they are"),

  TEXT(NET, net, "", "parts, or a name (mlp784-512-10); {classes}, {words}: numbers of the data"),
  TEXT(NET, from, "", "weights to start from: a run, a file, a name (resnet50); empty: drawn by init"),
  TEXT(NET, head, "", "from: names of parameters that are drawn nevertheless, such as \"fc.*\""),
  TEXT(NET, from_prefix, "", "from: what all names there begin with, but not the net's, such as \"bert.\""),
  TEXT(NET, from_ignore, "", "from: names of what is there but not needed, such as \"pooler.*\""),
  TEXT(NET, preprocess, "auto", "how inputs are normalised: auto (as weights say), none, imagenet, lite, .."),
  CHOICE(NET, frozen_statistics, "auto", OF("auto", "true", "false"),
         "batch norm keeps its statistics while it learns; auto: if from is given"),
  CHOICE(NET, init, "default", OF("default", "xavier", "kaiming", "ibp"), "how weights are drawn; default: PyTorch's"),

  {{METHOD, "method", R4_SETTING_CHOICE, "auto", 0, 0, method_choices,
    "how masks are used; auto: what fits them, erm without masks", true},
   offsetof(struct settings, method)},
  FLAG(METHOD, bound, "false", "method auto: take one that bounds how much masked content could matter"),
  CHOICE(METHOD, fill, "auto", fill_words, "what takes the place of masked content where the net learns its answers"),
  SETTING(METHOD, lambda, "default", 0, UP, OF("default", "auto"),
          "weight of the penalty, or the first of several; auto: the best of short runs"),
  CHOICE(METHOD, penalty_mean, "masked", OF("masked", "all"), "over examples with a mask, or over all"),
  SETTING(METHOD, lambda_r3, "default", 0, UP, OF("default"), "the old name for the weight of the second of several"),
  NUMBER(METHOD, delta, "0", 0, UP, "how small the penalised quantity must become: lambda then follows; 0: off"),
  NUMBER(METHOD, delta_rate, "0.04", 0, 1, "delta: how fast lambda moves"),
  NUMBER(METHOD, delta_ramp, "0", 0, UP, "delta: epochs over which the target falls to delta; 0: a quarter of the run"),
  NUMBER(METHOD, eps, "0.1", 0, UP, "radius of the box around masked features, or deviation of noise"),
  FLAG(METHOD, guard, "true", "lower lambda while the penalty costs more than half of what was learned"),
  SETTING(METHOD, penalty_after, "default", 0, UP, OF("default"),
          "epochs before the penalty begins; default: the method's own, 0 or a quarter"),
  NUMBER(METHOD, penalty_every, "1", 1, 1e6, "N: every N-th step has the penalty, N times; the others cost less"),
  TEXT(METHOD, guide, "", "where masks act: a part as layer4, or features, the last; empty: the input"),
  CHOICE(METHOD, guide_cells, "any", cell_words, "guide: a cell is masked if any of its pixels is, or half of them"),
  NUMBER(METHOD, lambda_ramp, "0", 0, UP, "epochs over which lambda grows from 0"),
  NUMBER(METHOD, eps_ramp, "0", 0, UP, "epochs over which eps grows from 0"),
  CHOICE(METHOD, explain, "auto", explain_words, "whose gradient counts; auto: loss, or margin if one class has masks"),
  CHOICE(METHOD, norm, "l2", norm_words, "norm of the gradient"),
  CHOICE(METHOD, form, "default", FORMS, "penalty q enters as q or as log(1 + q / tau); default: the method's own"),
  NUMBER(METHOD, tau, "1", 1e-12, UP, "form log: the scale of q"),
  NUMBER(METHOD, samples, "8", 1, 1e6, "draws for each example"),
  CHOICE(METHOD, sample_max, "norm", OF("norm", "element"),
         "the largest draw is taken by its norm, or by each feature"),
  CHOICE(METHOD, box, "eps", OF("eps", "words"),
         "texts: bounds are over eps, or over all words: eps is then a share, 1: all"),
  TEXT(METHOD, words, "auto", "texts: what replaces words: a list or file, or batch; auto: data.mask_words"),
  NUMBER(METHOD, candidates, "8", 0, 1e6, "word-adv-r4: words tried at a token, those best to first order; 0: all"),
  NUMBER(METHOD, steps, "10", 1, 1e6, "steps of the attack, its random start included"),
  NUMBER(METHOD, alpha, "0", 0, UP, "length of a step; 0: eps, halved with each third of the steps"),
  FLAG(METHOD, random_start, "true", "start the attack at a random point of the box"),
  NUMBER(METHOD, range, "", -UP, UP, "lowest and highest value of a feature; empty: none"),
  FLAG(METHOD, double_softmax, "false", "control: softmax before the loss, as in the published code"),
  SETTING(METHOD, class_weights, "auto", 0, UP, OF("auto", "balanced", "none"),
          "weight of each class in the loss; auto: balanced, if one is rare; none: all 1"),
  SETTING(METHOD, group_weights, "", 0, UP, OF("balanced"), "weight of each group in the loss; empty: all 1"),
  FLAG(METHOD, group_batches, "false", "draw batches in which all groups are equally likely, with replacement"),
  NUMBER(METHOD, group_step, "0.01", 0, UP, "eta: how fast the weights of groups follow their losses"),
  NUMBER(METHOD, weight_penalty, "0", 0, UP, "beta in beta * (sum of squared weights), added to the loss"),

#define PENALTY(identifier, name)                                                                 \
  NAMED(WEIGHTS, "lambda." name, lambda_of[TERM_##identifier], "default", 0, UP, OF("default"), \
        "its weight, wherever it is a part of the method; default: its own"),
#include "objective/methods.def"

  FLAG(TRAINING, augment.flip, "false", "images: mirror half of the examples, drawn anew in each epoch"),
  NUMBER(TRAINING, augment.crop, "0", 0, 4096, "images: move by up to this many pixels each way, and masks with them"),
  NUMBER(TRAINING, augment.brightness, "0", 0, 1, "images: b; values times a factor from 1 - b to 1 + b"),
  NUMBER(TRAINING, augment.colour, "0", 0, 1, "images: c; saturation and contrast times factors from 1 - c to 1 + c"),
  NUMBER(TRAINING, augment.cutout, "0", 0, 1, "images: hide random squares of this share of the side, for --cover"),
  NUMBER(TRAINING, augment.holes, "2", 1, 64, "augment.cutout: squares of each image"),
  NUMBER(TRAINING, augment.strips, "0", 0, 0.5, "images: hide two random edge strips of up to this share of the side"),
  NUMBER(TRAINING, epochs, "10", 0, 1e9, "passes over the training data; 0: none, the net of from as it is"),
  NUMBER(TRAINING, head_epochs, "0", 0, 1e9, "the first epochs, in which only what head names learns"),
  NUMBER(TRAINING, batch, "128", 1, 1e9, "examples per step"),
  NUMBER(TRAINING, lengths, "8", 1, 64, "texts: lengths that batches of similar texts are cut to; 1: none is cut"),
  CHOICE(TRAINING, optimizer, "adam", optimizer_words, "how weights follow the gradient"),
  NUMBER(TRAINING, rate, "0.001", 0, UP, "learning rate"),
  TEXT(TRAINING, rates, "", "factors of rate, by names: \"layer4.* 0.1, fc.* 2\"; the last match counts"),
  TEXT(TRAINING, freeze, "", "names of parameters that stay as they are, such as \"conv1.*, layer1.*\""),
  NUMBER(TRAINING, momentum, "0.9", 0, 0.999999, "sgd"),
  NUMBER(TRAINING, beta1, "0.9", 0, 0.999999, "adam, adamw: decay of the mean of gradients"),
  NUMBER(TRAINING, beta2, "0.999", 0, 0.999999, "adam, adamw: decay of the mean of their squares"),
  NUMBER(TRAINING, weight_decay, "0", 0, UP, "sgd, adam: added to the gradient; adamw: apart from it"),
  NUMBER(TRAINING, clip, "0", 0, UP, "longest gradient of a step, in the 2-norm over all weights; 0: any"),
  CHOICE(TRAINING, schedule, "constant", schedule_words, "how the rate falls"),
  NUMBER(TRAINING, warmup, "0", 0, UP, "epochs over which the rate grows from 0"),
  NUMBER(TRAINING, decay_at, "", 0, UP, "schedule steps: epochs at which the rate is multiplied by decay_by"),
  NUMBER(TRAINING, decay_by, "0.1", 0, 1, "schedule steps"),
  FLAG(TRAINING, drop_last, "false", "leave out the last batch of an epoch if it is not full"),
  CHOICE(TRAINING, select, "last", OF("last", "avg", "worst", "loss"), "epoch to keep: last, or best in validation"),
  NUMBER(TRAINING, patience, "0", 0, 1e9, "stop after this many epochs without a better one by select; 0: never"),
  NUMBER(TRAINING, seed, "0", 0, WHOLE_UP, "seed of initial weights, order of examples and noise"),
  NUMBER(TRAINING, checkpoint, "300", 0, 1e9, "seconds between checkpoints within an epoch; 0: after epochs only"),
  FLAG(TRAINING, tensorboard, "false", "also write the log as an event file of TensorBoard"),
  NUMBER(TRAINING, threads, "0", 0, 65536, "threads that compute; 0: one for each CPU"),
  FLAG(TRAINING, winograd, "true", "3 x 3 convolutions with fewer products, if there is AVX2; errors of 1e-6"),

  SETTING(EVALUATION, eval.eps, "0.1", 0, UP, NULL, "radius of the box in fragility and bounds"),
  SETTING(EVALUATION, eval.batch, "256", 1, 1e9, NULL, "examples at a time"),
  SETTING(EVALUATION, eval.kappa, "-1", -1, 1e9, NULL,
          "examples with masks whose kappa is measured, evenly spread; -1: all, 0: none"),
  SETTING(EVALUATION, eval.draws, "10", 1, 10000, NULL, "how often the swap test exchanges what masks mark"),
};
/* clang-format on */

enum { COUNT = sizeof table / sizeof *table };
_Static_assert(sizeof table / sizeof *table <= SETTINGS_MOST, "SETTINGS_MOST is too small");

const struct setting *setting_at(size_t k)
{
  return k < COUNT ? &table[k] : NULL;
}

size_t setting_number(const struct setting *t)
{
  return (size_t)(t - table);
}

const struct setting *setting_find(const char *key)
{
  for (size_t k = 0; k < COUNT; k++)
    if (!strcmp(table[k].info.key, key)) return &table[k];
  return NULL;
}

r4_status setting_unknown(const char *where, const char *key, r4_error *e)
{
  const char *best = NULL;
  size_t length = strlen(key), least = length < 3 ? length : 3; /* words with something in common */
  for (size_t k = 0; k < COUNT; k++) {
    size_t distance = r4_word_distance(key, table[k].info.key);
    if (distance < least) least = distance, best = table[k].info.key;
  }
  if (best) return r4_fail(e, R4_E_ARGUMENT, "%s: no setting \"%.60s\"; did you mean %s?", where, key, best);
  return r4_fail(e, R4_E_ARGUMENT, "%s: no setting \"%.60s\"", where, key);
}

size_t r4_setting_count(void)
{
  return COUNT;
}

r4_setting_info r4_setting_describe(size_t k)
{
  return k < COUNT ? table[k].info : (r4_setting_info){0};
}
