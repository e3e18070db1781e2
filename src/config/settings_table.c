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
#include "r4_tools.h"

/* The setting's type is its field's. */
#define TYPE(field) \
  _Generic(((struct settings *)0)->field, int64_t                            \
           : R4_SETTING_WHOLE, double                                        \
           : R4_SETTING_REAL, bool                                           \
           : R4_SETTING_FLAG, char *                                         \
           : R4_SETTING_TEXT, const char *                                   \
           : R4_SETTING_CHOICE, struct reals                                 \
           : R4_SETTING_REALS)
/* What follows the help are further facts: BASIC, WAS("old name"), ASIDE, EPOCHS, and IF(...): see struct setting. */
#define NAMED(group_, key_, field, initial_, min_, max_, choices_, help_, ...)                  \
  {                                                                                             \
    .info.group = group_, .info.key = key_, .info.type = TYPE(field), .info.initial = initial_, \
    .info.min = min_, .info.max = max_, .info.choices = choices_, .info.help = help_,           \
    .offset = offsetof(struct settings, field), __VA_ARGS__                                     \
  }
#define SETTING(group, field, initial, min, max, choices, ...) \
  NAMED(group, #field, field, initial, min, max, choices, __VA_ARGS__)

#define NUMBER(group, field, initial, min, max, ...) \
  SETTING(group, field, initial, min, max, NULL, __VA_ARGS__)
#define CHOICE(group, field, initial, choices, ...) SETTING(group, field, initial, 0, 0, choices, __VA_ARGS__)
#define OF(...) ((const char *const[]){__VA_ARGS__, NULL})
#define TEXT(group, field, initial, ...) SETTING(group, field, initial, 0, 0, NULL, __VA_ARGS__)
#define FLAG TEXT

#define READING(group, field, type, min, max, key, was, option, help) \
  NAMED(group, key, data.read.field, NOTHING_##type, min, max, NULL, help, WAS(was)),
#define NOTHING_FLAG "false"
#define NOTHING_WHOLE "0"

#define BASIC .info.basic = true
#define WAS(name) .info.was = name
#define ASIDE .harmless = R4_RUN_ASIDE
#define EPOCHS .in_epochs = true
#define IF(...) .used_if = {__VA_ARGS__}
/* clang-format off */
/* Conditions. Those with R refuse: the result would be something else than what was asked for. */
#define METHOD_USES {"method", USED, NULL, false}
#define NO_DELTA_R {"delta", IS_0, NULL, true}
#define A_RECIPE_R {"data", RECIPE, NULL, true}
/* clang-format on */

#define DATA "Data"
#define WORSE "Masks made worse, for experiments"
#define NET "Network"
#define METHOD "Method"
#define PENALTIES "Penalty"
#define WEIGHTS "Weights of penalties"
#define ATTACK "Attack (adv-r4, word-adv-r4)"
#define WORDS "Replaced words (texts)"
#define CLASSES "Classes and groups"
#define TRAINING "Training"
#define RATES "Optimiser"
#define EVALUATION "Evaluation"
#define PUBLISHED "As in the published code, for comparison"
#define UP HUGE_VAL
#define WHOLE_UP 9007199254740991. /* 2^53 - 1: exact in every program that reads the settings */

#define FORMS OF("default", "linear", "log")

/* clang-format off */
static const struct setting table[] = {
  NAMED(DATA, "data", data.name, "", 0, 0, NULL, "folder or file of your data, or a recipe (r4 data list)", BASIC),
  CHOICE(DATA, data.mask_means, "unstated", mask_meaning_words,
         "what white means in your masks: must not matter, or should", BASIC),
  NUMBER(DATA, data.size, "0", 0, 4096, "resize images to this height and width; 0: keep their size", BASIC),
  TEXT(DATA, data.mask_words, "", "texts: words that must not matter, or a file of them", BASIC),
  TEXT(DATA, data.masks, "",
       "annotation file in the data's folder; empty: boxes.csv or annotations.json, if any; or none"),
  NUMBER(DATA, data.mask_values, "", 0, 65535,
         "label images as masks: the values that count as masked; empty: white"),
  TEXT(DATA, data.mask_categories, "",
       "labels of annotations that count as masks, such as \"tag, ruler\"; empty: all"),
  R4_IMAGE_READING(READING, DATA)
  NUMBER(DATA, data.val, "0.1", 0, 0.9,
         "share of the training data held out for validation, if the data has no validation part"),
  CHOICE(DATA, data.val_fill, "auto", fill_words,
         "what replaces masked content in validation; auto: content of other examples"),
  TEXT(DATA, data.tokenizer, "", "texts: tokenizer.json or vocab.txt, or a downloaded net; empty: minilm"),
  R4_TEXT_READING(READING, DATA)
  TEXT(DATA, data.cache, "", "folder that keeps decoded data for later runs; empty: none", ASIDE),
  NUMBER(DATA, data.seed, "0", 0, WHOLE_UP, "seed of all random choices in the data"),
  TEXT(DATA, data.from, "", "recipes: the clean data to build from; empty: the recipe's own", IF(A_RECIPE_R)),
  FLAG(DATA, data.clean, "false", "recipes: leave the shortcut out, to measure the ceiling", IF(A_RECIPE_R)),
  NAMED(DATA, "data.split_by", data.split, "lesion", 0, 0, OF("lesion", "own"),
        "HAM10000: split by lesion, or as dermamnist_split.csv says", WAS("data.split")),

  NUMBER(WORSE, data.keep_masks, "1", 0, 1, "share of examples that keep their mask"),
  NUMBER(WORSE, data.keep, "1", 0, 1, "share of training examples kept in each class"),
  CHOICE(WORSE, data.corrupt, "none", corruption_words, "how masks are corrupted",
         IF({"data.correct", BELOW_1, NULL, true})),
  NUMBER(WORSE, data.correct, "1", 0, 1, "share of masks that data.corrupt leaves intact",
         IF({"data.corrupt", NONE_OF, OF("none"), true})),

  TEXT(NET, net, "", "parts in a row, or a name (r4 nets); {classes} stands for the number of classes", BASIC),
  TEXT(NET, from, "", "weights to start from: a run, a file, or a name (resnet50); empty: random (init)", BASIC),
  NAMED(NET, "from.head", head, "", 0, 0, NULL, "parameters that start at random nevertheless, such as \"fc.*\"",
        WAS("head"), IF({"from", GIVEN})),
  NAMED(NET, "from.head_epochs", head_epochs, "0", 0, 1e9, NULL,
        "epochs at the start in which only from.head is trained", WAS("head_epochs"),
        IF({"from.head", GIVEN, NULL, true})),
  NAMED(NET, "from.prefix", from_prefix, "", 0, 0, NULL,
        "prefix of the names in the file that the net's names lack, such as \"bert.\"", WAS("from_prefix"),
        IF({"from", GIVEN})),
  NAMED(NET, "from.ignore", from_ignore, "", 0, 0, NULL,
        "tensors of the file to ignore, such as \"pooler.*\"", WAS("from_ignore"),
        IF({"from", GIVEN})),
  TEXT(NET, preprocess, "auto",
       "how inputs are normalised: imagenet, none, .. (doc/nets.md); auto: as the weights need it"),
  CHOICE(NET, frozen_statistics, "auto", OF("auto", "true", "false"),
         "batch norm uses its running statistics during training; auto: if from is given"),
  CHOICE(NET, init, "default", OF("default", "xavier", "kaiming", "ibp"),
         "how weights are initialised; default: as in PyTorch", IF({"from", DRAWN})),

  {.info = {METHOD, "method", R4_SETTING_CHOICE, "auto", 0, 0, method_choices,
    "how masks are used (r4 help methods); auto: what fits your masks, erm without masks", true, true, NULL},
   .offset = offsetof(struct settings, method)},
  SETTING(METHOD, lambda, "default", 0, UP, OF("default", "auto"),
          "weight of the penalty; auto: the best of several short runs; default: the method's own", BASIC,
          IF(METHOD_USES)),
  SETTING(METHOD, eps, "0.1", 0, UP, OF("range"),
          "how far masked features may move in bounds and attacks; range: to any valid value", BASIC,
          IF(METHOD_USES)),
  NAMED(METHOD, "eps.ramp", eps_ramp, "0", 0, UP, NULL,
        "epochs over which eps, or the share of the range, grows from 0", WAS("eps_ramp"), EPOCHS,
        IF(METHOD_USES, {"eps", ABOVE_0})),
  FLAG(METHOD, bound, "false", "method auto: choose one that bounds how much masked content can matter", BASIC,
       IF({"method", HAS_ONE_OF, OF("auto", "cert-r4")})),
  CHOICE(METHOD, fill, "auto", fill_words, "what replaces masked content in the examples of the data term"),
  CHOICE(METHOD, explain, "auto", explain_words,
         "penalise the gradient of this; auto: the loss, or the margin if only one class has masks", IF(METHOD_USES)),
  TEXT(METHOD, guide, "", "where masks apply: a part such as layer4, or features (the last one); empty: the input",
       IF(METHOD_USES)),
  NAMED(METHOD, "guide.cells", guide_cells, "any", 0, 0, cell_words,
        "a cell is masked if any of its pixels is, or half of them", WAS("guide_cells"), IF({"guide", GIVEN})),
  NUMBER(METHOD, samples, "8", 1, 1e6, "random draws per example", IF(METHOD_USES)),
  NAMED(METHOD, "noise", noise, "default", 0, UP, OF("default"), "standard deviation of the noise; default: eps",
        IF(METHOD_USES)),
  NUMBER(METHOD, range, "", -UP, UP,
         "lowest and highest valid value of a feature; empty: none; of images with eps: range 0, 1",
         IF(METHOD_USES)),
  CHOICE(METHOD, box, "eps", OF("eps", "words"),
         "texts: bounds hold within eps, or for all listed words: eps is then a share, 1 for all", IF(METHOD_USES)),
  CHOICE(METHOD, bounds, "intervals", OF("intervals", "linear"),
         "how bounds are found; linear: the tighter of intervals and of walking back, slower", IF(METHOD_USES)),

  NAMED(PENALTIES, "penalty.cap", guard, "true", 0, 0, NULL,
        "lower lambda while the penalty costs more than half of what was learned", WAS("guard"), IF(METHOD_USES)),
  NAMED(PENALTIES, "penalty.after", penalty_after, "default", 0, UP, OF("default"),
        "epochs before the penalty begins; default: the method's own, 0 or a quarter of the run",
        WAS("penalty_after"), EPOCHS, IF(METHOD_USES)),
  NAMED(PENALTIES, "penalty.ramp", lambda_ramp, "0", 0, UP, NULL, "epochs over which lambda grows from 0",
        WAS("lambda_ramp"), EPOCHS, IF(METHOD_USES, NO_DELTA_R)),
  NAMED(PENALTIES, "penalty.every", penalty_every, "1", 1, 1e6, NULL,
        "apply the penalty on every N-th step only, N times as strong", WAS("penalty_every"), IF(METHOD_USES)),
  NAMED(PENALTIES, "penalty.mean", penalty_mean, "masked", 0, 0, OF("masked", "all"),
        "average over examples with a mask, or over all", WAS("penalty_mean"), IF(METHOD_USES)),
  NAMED(PENALTIES, "penalty.norm", norm, "l2", 0, 0, norm_words, "norm of the gradient", WAS("norm"),
        IF(METHOD_USES)),
  NAMED(PENALTIES, "penalty.form", form, "default", 0, 0, FORMS,
        "a penalty q is added as q or as log(1 + q / tau); default: the method's own", WAS("form"),
        IF(METHOD_USES, NO_DELTA_R)),
  NAMED(PENALTIES, "penalty.tau", objective.tau, "1", 1e-12, UP, NULL, "penalty.form log: the scale of q", WAS("tau"),
        IF(NO_DELTA_R, {"method", LOG_BY_DEFAULT}, {"penalty.form", NONE_OF, OF("linear")})),
  NUMBER(PENALTIES, delta, "0", 0, UP, "target of the penalised quantity, which lambda is adapted to reach; 0: off",
         IF(METHOD_USES)),
  NAMED(PENALTIES, "delta.rate", delta_rate, "0.04", 0, 1, NULL, "how fast lambda adapts", WAS("delta_rate"),
        IF({"delta", ABOVE_0})),
  NAMED(PENALTIES, "delta.ramp", delta_ramp, "0", 0, UP, NULL,
        "epochs over which the target falls to delta; 0: a quarter of the run", WAS("delta_ramp"), EPOCHS,
        IF({"delta", ABOVE_0})),

#define PENALTY(identifier, name)                                                                 \
  NAMED(WEIGHTS, "lambda." name, lambda_of[TERM_##identifier], "default", 0, UP, OF("default"), \
        "weight of this penalty wherever the method contains it; default: its own", IF(METHOD_USES, NO_DELTA_R)),
#include "objective/methods.def"
  SETTING(WEIGHTS, lambda_r3, "default", 0, UP, OF("default"),
          "older name for the weight of the second penalty of a method", IF(METHOD_USES, NO_DELTA_R)),

  NAMED(ATTACK, "attack.steps", steps, "10", 1, 1e6, NULL, "number of steps, the random start included", WAS("steps"),
        IF(METHOD_USES)),
  NAMED(ATTACK, "attack.step", alpha, "0", 0, UP, NULL,
        "length of a step; 0: eps, halved with each third of the steps", WAS("alpha"), IF(METHOD_USES)),
  NAMED(ATTACK, "attack.random_start", objective.random_start, "true", 0, 0, NULL,
        "start at a random point of the box", WAS("random_start"), IF(METHOD_USES)),

  NAMED(WORDS, "words.list", words, "auto", 0, 0, NULL,
        "words that replace others: a list or file, batch or vocabulary; auto: data.mask_words", WAS("words"),
        IF(METHOD_USES)),
  NAMED(WORDS, "words.candidates", candidates, "8", 0, 1e6, NULL,
        "words tried per token, the best to first order; 0: all", WAS("candidates"), IF(METHOD_USES)),
  NAMED(WORDS, "words.share", word_share, "default", 0, 1, OF("default"),
        "probability that a token is replaced; default: attack.step", IF(METHOD_USES)),

  SETTING(CLASSES, class_weights, "auto", 0, UP, OF("auto", "balanced", "none"),
          "weight of each class in the loss; auto: balanced if a class is rare; none: all 1"),
  SETTING(CLASSES, group_weights, "", 0, UP, OF("balanced"), "weight of each group in the loss; empty: all 1",
          IF({"method", NONE_OF, OF("group-dro"), true})),
  FLAG(CLASSES, group_batches, "false", "draw batches with all groups equally likely, with replacement"),
  NUMBER(CLASSES, group_step, "0.01", 0, UP, "how fast the weights of groups follow their losses", IF(METHOD_USES)),

  NUMBER(TRAINING, epochs, "10", 0, 1e9, "passes over the training data; 0: evaluate the weights of from as they are",
         BASIC, .harmless = R4_RUN_LENGTH),
  NUMBER(TRAINING, batch, "128", 1, 1e9, "examples per step; with few photos, 16 or 32", BASIC),
  FLAG(TRAINING, augment.flip, "false", "images: mirror each one with probability 1/2", BASIC),
  NUMBER(TRAINING, augment.crop, "0", 0, 4096, "images: shift by up to this many pixels each way, masks included"),
  NUMBER(TRAINING, augment.brightness, "0", 0, 1, "images: multiply by a factor from 1 - b to 1 + b"),
  NUMBER(TRAINING, augment.colour, "0", 0, 1,
         "images: multiply saturation and contrast by factors from 1 - c to 1 + c"),
  NUMBER(TRAINING, augment.cutout, "0", 0, 1, "images: hide random squares of this share of the side, for --cover"),
  NUMBER(TRAINING, augment.holes, "2", 1, 64, "augment.cutout: number of squares in each image",
         IF({"augment.cutout", ABOVE_0})),
  NUMBER(TRAINING, augment.strips, "0", 0, 0.5,
         "images: hide two random strips at edges, of up to this share of the side"),
  CHOICE(TRAINING, select, "last", OF("last", "avg", "worst", "loss"),
         "which epoch to keep: the last, or the best in validation", BASIC),
  NUMBER(TRAINING, patience, "0", 0, 1e9, "stop after this many epochs without a better one; 0: never",
         .harmless = R4_RUN_LENGTH, IF({"select", NONE_OF, OF("last")})),
  NUMBER(TRAINING, seed, "0", 0, WHOLE_UP, "seed of initial weights, order of examples and noise", BASIC),
  NUMBER(TRAINING, threads, "0", 0, 65536, "threads to compute with; 0: one for each CPU", BASIC, ASIDE),
  NUMBER(TRAINING, shards, "1", 1, 1024, "parts of a batch with a gradient each, which processes of mpirun share out"),
  FLAG(TRAINING, drop_last, "false", "leave out the last batch of an epoch if it is not full"),
  NAMED(TRAINING, "length_buckets", lengths, "8", 1, 64, NULL,
        "texts: number of lengths that batches of similar texts are padded to; 1: all to the longest", WAS("lengths")),
  NAMED(TRAINING, "checkpoint_seconds", checkpoint, "300", 0, 1e9, NULL,
        "seconds between checkpoints within an epoch; 0: only after epochs", WAS("checkpoint"), ASIDE),
  FLAG(TRAINING, tensorboard, "false", "also write the log as an event file for TensorBoard", ASIDE),
  CHOICE(TRAINING, precision, "float", OF("float", "bf16", "auto"),
         "numbers in products of training; bf16: 16 bits, up to 1.7 times as fast; auto: where faster",
         IF({"bounds", NONE_OF, OF("linear")})),
  FLAG(TRAINING, winograd, "true", "faster 3 x 3 convolutions with AVX2, with errors of about 1e-6"),

  NUMBER(RATES, rate, "0.001", 0, UP, "learning rate", BASIC),
  CHOICE(RATES, optimizer, "adam", optimizer_words, "optimisation algorithm"),
  CHOICE(RATES, schedule, "constant", schedule_words, "how the learning rate decreases"),
  NUMBER(RATES, warmup, "0", 0, UP, "epochs over which the learning rate grows from 0", EPOCHS),
  NUMBER(RATES, decay_at, "", 0, UP, "schedule steps: epochs at which the rate is multiplied by decay_by", EPOCHS,
         IF({"schedule", ONE_OF, OF("steps")})),
  NUMBER(RATES, decay_by, "0.1", 0, 1, "schedule steps: the factor", IF({"schedule", ONE_OF, OF("steps")})),
  NAMED(RATES, "rate.factors", rates, "", 0, 0, NULL,
        "factors of the rate by parameter: \"layer4.* 0.1, fc.* 2\"; the last match counts", WAS("rates")),
  TEXT(RATES, freeze, "", "parameters that stay fixed, such as \"conv1.*, layer1.*\""),
  NUMBER(RATES, weight_decay, "0", 0, UP, "sgd, adam: added to the gradient; adamw: decoupled"),
  NAMED(RATES, "weight_penalty", objective.weight_penalty, "0", 0, UP, NULL,
        "beta in beta * (sum of squared weights), added to the loss"),
  NUMBER(RATES, clip, "0", 0, UP, "largest 2-norm of the gradient of a step; 0: no limit"),
  NUMBER(RATES, momentum, "0.9", 0, 0.999999, "sgd: momentum", IF({"optimizer", ONE_OF, OF("sgd")})),
  NUMBER(RATES, beta1, "0.9", 0, 0.999999, "adam, adamw: decay of the mean of gradients",
         IF({"optimizer", ONE_OF, OF("adam", "adamw")})),
  NUMBER(RATES, beta2, "0.999", 0, 0.999999, "adam, adamw: decay of the mean of their squares",
         IF({"optimizer", ONE_OF, OF("adam", "adamw")})),

  NUMBER(EVALUATION, eval.eps, "0.1", 0, UP, "how far features may move in kappa and bounds", ASIDE),
  NUMBER(EVALUATION, eval.batch, "256", 1, 1e9, "examples at a time", ASIDE),
  NAMED(EVALUATION, "eval.kappa_examples", eval.kappa, "-1", -1, 1e9, NULL,
        "number of masked examples used to measure kappa, evenly spread; -1: all, 0: none", WAS("eval.kappa"), ASIDE),
  NUMBER(EVALUATION, eval.draws, "10", 1, 10000, "how often the swap test exchanges masked content", ASIDE),

  NAMED(PUBLISHED, "published.double_softmax", objective.double_softmax, "false", 0, 0, NULL,
        "a second softmax before the loss", WAS("double_softmax")),
  NAMED(PUBLISHED, "published.sample_max", sample_max, "norm", 0, 0, OF("norm", "element"),
        "take the largest draw by its norm, or feature by feature", WAS("sample_max"), IF(METHOD_USES)),
  NAMED(PUBLISHED, "published.shades", data.shades, "default", 0, 0, OF("default", "paper", "ross"),
        "decoys: their shades of grey; default: the recipe's", WAS("data.shades"), IF(A_RECIPE_R)),
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
    if (!strcmp(table[k].info.key, key) || (table[k].info.was && !strcmp(table[k].info.was, key)))
      return &table[k];
  return NULL;
}

r4_status setting_unknown(const char *where, const char *key, r4_error *e)
{
  const char *best = r4_setting_usual(key);
  if (best) return r4_fail(e, R4_E_ARGUMENT, "%s: no setting \"%.60s\"; did you mean %s?", where, key, best);
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
