/* Settings beside the data: what only shows when both are there. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "data/data.h"
#include "data/mask/mask.h"
#include "data/mask/mask_places.h"
#include "objective/objective.h"
#include "train/run/run.h"
#include "train/task.h"

#define LABEL(key) setting_label(r->settings, key).text

/* ---- Weights of classes ---- */

static r4_status take_list(struct run *r, size_t classes, r4_error *e)
{
  const struct reals *given = &r->s->class_weights;
  double most = 0;
  if (given->n != classes)
    return r4_fail(e, R4_E_ARGUMENT,
                   "%s has %zu number%s, but the data have %zu classes: expected one for each",
                   LABEL("class_weights"), given->n, given->n == 1 ? "" : "s", classes);
  for (size_t k = 0; k < classes; k++) {
    r->class_weights[k] = given->v[k];
    if (given->v[k] > most) most = given->v[k];
  }
  if (most > 0) return R4_OK;
  return r4_fail(e, R4_E_ARGUMENT, "%s are all 0: all weights would be 0", LABEL("class_weights"));
}

/* N_c, in the place of w_c. */
static void count_classes(struct run *r)
{
  for (size_t i = 0; i < r4_data_count(r->train); i++) r->class_weights[r4_data_example(r->train, i).label]++;
}

/* w_c = N / (C N_c): every class weighs the same in all, and the mean weight of an example is 1. */
static r4_status balance(struct run *r, size_t classes, r4_error *e)
{
  double share = (double)r4_data_count(r->train) / (double)classes;
  for (size_t k = 0; k < classes; k++) {
    if (r->class_weights[k] == 0)
      return r4_fail(
        e, R4_E_ARGUMENT,
        "%s is balanced, but no training example is of class \"%.100s\": there is nothing to weight",
        LABEL("class_weights"), r4_data_class_name(r->train, k));
    r->class_weights[k] = share / r->class_weights[k];
  }
  return R4_OK;
}

/* A penalty takes from the rare classes first: with one photo in four of a cat and a planted patch, "pairing" has 60.0
 * % on average and 27.8 in the worst group without weights, 69.8 and 65.9 with them; where nothing is planted erm has
 * 63.6 and 41.3, and 67.8 and 64.1 (experiments/gauntlet, cats). With ten reviews of one label to seven of the other,
 * 63.8 become 67.2 in the worst group. */
static const double UNEQUAL = 0.85; /* of an equal share: classes with fewer examples are rare */
static const double HEAVIEST = 10;  /* so that a handful of examples does not shake the net */

/* auto: balanced, if a class is rare: w_c = min(N / (C N_c), 10). Groups that are weighed do that already. */
static void balance_if_rare(struct run *r, size_t classes)
{
  double share = (double)r4_data_count(r->train) / (double)classes;
  bool rare = false;
  for (size_t k = 0; k < classes; k++) {
    double count = r->class_weights[k];
    rare |= count > 0 && count < UNEQUAL * share;
    r->class_weights[k] = count > 0 ? fmin(share / count, HEAVIEST) : 1;
  }
  if (rare && !r->groups.n) return;
  r4_mem_free(r->class_weights);
  r->class_weights = NULL;
}

static r4_status weigh_classes(struct run *r, r4_error *e)
{
  const struct reals *given = &r->s->class_weights;
  size_t classes = r4_data_classes(r->train);
  if (!given->n && (!given->word || !strcmp(given->word, "none"))) return R4_OK;
  if (!(r->class_weights = mem_new(classes, sizeof *r->class_weights, "classes", e))) return R4_E_MEMORY;
  if (given->n) return take_list(r, classes, e);
  count_classes(r);
  if (!strcmp(given->word, "balanced")) return balance(r, classes, e);
  balance_if_rare(r, classes);
  return R4_OK;
}

/* ---- Classes ---- */

r4_status run_check_classes(const r4_data *d, const char *name, r4_error *e)
{
  if (r4_data_classes(d) == 1)
    return r4_fail(e, R4_E_ARGUMENT,
                   "%.150s: all examples are of one class, \"%.100s\": expected two or more", name,
                   r4_data_class_name(d, 0));
  if (r4_data_groups(d) > R4_MAX_GROUPS)
    return r4_fail(e, R4_E_ARGUMENT, "%.150s: %zu groups, expected at most %d", name,
                   r4_data_groups(d), (int)R4_MAX_GROUPS);
  return R4_OK;
}

/* ---- Masks ---- */

/* The method itself is about masks: it has a penalty, or fills and does nothing else. */
static bool method_needs_masks(const struct settings *s)
{
  r4_method_info m = r4_method_describe(s->method);
  return m.guided || m.fills;
}

static bool needs_masks(const struct settings *s)
{
  return method_needs_masks(s) || (strcmp(s->fill, "none") && strcmp(s->fill, "auto"));
}

static const char *data_name(const struct run *r)
{
  return r->given ? "the data" : r->s->data.name;
}

/* A run without any mask is a control, if it is asked for. */
static r4_status check_masks(struct run *r, r4_error *e)
{
  if (r->touched || !needs_masks(r->s) || r->s->data.keep_masks == 0) return R4_OK;
  bool method = method_needs_masks(r->s);
  return r4_fail(
    e, R4_E_ARGUMENT,
    "%.150s: no training example has a mask that marks anything, but %s is %s; for a control without "
    "masks set data.keep_masks: 0",
    data_name(r), LABEL(method ? "method" : "fill"), method ? r->s->method : r->s->fill);
}

/* ---- The range ---- */

/* Pixels are from 0 to 1; of other features nobody knows what is valid but who has measured them. */
static r4_status check_range(struct run *r, r4_error *e)
{
  if (!task_is_whole(r->s)) return R4_OK;
  if (r4_data_vocabulary(r->train) > 0)
    return r4_fail(e, R4_E_ARGUMENT,
                   "%s is range, but the examples of %.150s are texts: expected box: words, or a number",
                   LABEL("eps"), data_name(r));
  if (r->s->range.n == 2 || r4_data_shape(r->train).rank == 3) return R4_OK;
  return r4_fail(e, R4_E_ARGUMENT,
                 "%s is range, but the examples of %.150s are not images: set range to the lowest and the highest "
                 "valid value of a feature",
                 LABEL("eps"), data_name(r));
}

r4_status run_check(struct run *r, r4_error *e)
{
  r4_status s = groups_open(&r->groups, r->settings, r->train, e);
  if (!s) s = weigh_classes(r, e);
  if (!s) s = check_range(r, e);
  return s ? s : check_masks(r, e);
}

/* ---- What is not wrong, but may not be meant ---- */

static bool was_given(const struct run *r, const char *key)
{
  return r->settings->layer[setting_number(setting_find(key))] > 0;
}

static size_t count_of(const struct run *r, size_t k)
{
  return r4_data_counts(r->train, (int32_t)k, -1).examples[R4_TRAIN];
}

/* Masks that mean the reverse leave a net that is correct for nothing but the shortcut, and whose verdict is good. Of
 * recipes and files that say it themselves the meaning is known. */
static void tell_masks(struct run *r)
{
  if (!strcmp(r->s->data.mask_means, mask_meaning_words[R4_MASKS_UNSTATED])) return;
  struct mask_places p = mask_places_of(r->train);
  enum mask_doubt doubt = mask_doubt_of(p);
  if (doubt == MASKS_RIGHT) return;
  bool large = doubt != MASKS_MIDDLE, relevant = !strcmp(r->s->data.mask_means, "relevant");
  r->doubtful = mask_places_doubtful(p);
  run_tell(r,
           "what must not matter is %s of %zu of %zu masked training examples; if the masks mean the reverse, set %s "
           "to %s",
           large ? "more than half" : "the middle", large ? p.large : p.middle, p.masked, LABEL("data.mask_means"),
           mask_meaning_words[relevant ? R4_MASKS_IRRELEVANT : R4_MASKS_RELEVANT]);
}

/* A class whose name is near that of class k, which may be a slip of the pen for it; NULL if none is. */
static const char *name_like(const struct run *r, size_t k)
{
  const char *name = r4_data_class_name(r->train, k), *best = NULL;
  size_t least = 2 * strlen(name) / 3;
  for (size_t i = 0; i < r4_data_classes(r->train); i++) {
    const char *other = r4_data_class_name(r->train, i);
    size_t distance = r4_word_distance(name, other);
    if (count_of(r, i) > 1 && distance <= least) least = distance, best = other;
  }
  return best;
}

static void tell_single_examples(struct run *r)
{
  size_t singles = 0, first = 0;
  for (size_t k = r4_data_classes(r->train); k-- > 0;)
    if (count_of(r, k) == 1) first = k, singles++;
  if (!singles) return;
  const char *name = r4_data_class_name(r->train, first), *like = name_like(r, first);
  if (like)
    run_tell(r, "class \"%.60s\" has only one training example: is it \"%.60s\", misspelt?", name, like);
  else
    run_tell(r, "%zu of %zu classes have only one training example, \"%.60s\" first", singles,
             r4_data_classes(r->train), name);
}

/* Nobody asked for it. */
static void tell_classes(struct run *r)
{
  const double *w = r->class_weights;
  size_t rare = 0, frequent = 0;
  if (!w || was_given(r, "class_weights")) return;
  for (size_t k = 1; k < r4_data_classes(r->train); k++) {
    if (w[k] > w[rare]) rare = k;
    if (w[k] < w[frequent]) frequent = k;
  }
  run_tell(r,
           "%zu training examples are of class \"%.60s\", %zu of \"%.60s\": rarer classes get a larger weight in the "
           "loss; class_weights: none turns this off",
           count_of(r, frequent), r4_data_class_name(r->train, frequent), count_of(r, rare),
           r4_data_class_name(r->train, rare));
}

static void tell_words(struct run *r)
{
  const struct word_list *w = &r->words;
  if (w->unknown)
    run_tell(r, "%s: %zu of %zu words are not in the vocabulary, \"%s\" first", LABEL("words.list"),
             w->unknown, w->listed, w->first_unknown);
  if (w->several && method_replaces_words(r->s->method)) /* boxes have all pieces in them */
    run_tell(r,
             "%s: %zu of %zu words are of several pieces, \"%s\" first: each masked token is one piece, so they "
             "replace none%s",
             LABEL("words.list"), w->several, w->listed, w->first_several,
             w->id ? "" : "; masked tokens of the batch are drawn instead");
}

static bool is_told(const struct run *r, const char *note)
{
  return r4_data_vocabulary(r->train) || !strncmp(note, DATA_UNKEPT, strlen(DATA_UNKEPT));
}

/* What reading has noted: of texts, how many are cut, and words that mask nothing; of all data, that they are not where
 * they should be. */
static void tell_notes(struct run *r)
{
  for (size_t k = 0; k < r4_data_notes(r->train); k++)
    if (is_told(r, r4_data_note(r->train, k))) run_tell(r, "%s: %s", LABEL("data"), r4_data_note(r->train, k));
}

static void tell_groups(struct run *r)
{
  const struct groups *g = &r->groups;
  const char *one = groups_of_one(g, r->train);
  if (!g->n) return;
  if (groups_are_classes(r->train))
    run_tell(r, "the data have no groups, so their %zu classes are weighted", g->n);
  if (g->present < g->n)
    run_tell(r, "%zu of %zu groups have no training example and are ignored", g->n - g->present, g->n);
  if (one) run_tell(r, "group \"%.100s\" has only one training example, which represents the whole group", one);
}

/* Data that were given are used as they are: of the settings that say how to read and change data a few count still,
 * and the last two may have counted before, for a program that holds out and cuts by itself, as the Python package. */
static bool counts_for_given(const struct run *r, const struct setting *t)
{
  static const char *const keys[] = {"data.val_fill",  "data.seed", "data.mask_words",
                                     "data.tokenizer", "data.val",  "data.max_tokens"};
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
    if (!strcmp(t->info.key, keys[k])) return true;
  return strncmp(t->info.key, "data.", 5) != 0 ||
         (!strcmp(t->info.key, "data.keep_masks") && r->s->data.keep_masks == 0);
}

static void tell_ignored_data(struct run *r)
{
  bool own = r->given && !*r->s->data.name; /* else they may well be those that the settings name */
  r4_settings *usual = own ? r4_settings_new() : NULL;
  const struct setting *t;
  for (size_t k = 0; usual && (t = setting_at(k)); k++) {
    if (!was_given(r, t->info.key) || counts_for_given(r, t)) continue;
    char *value = setting_text(t, r->settings), *nothing = setting_text(t, usual);
    if (value && nothing && strcmp(value, nothing))
      run_tell(r, "%s has no effect: the data are the program's own, and are used as they are", LABEL(t->info.key));
    r4_string_free(value);
    r4_string_free(nothing);
  }
  r4_settings_free(usual);
}

/* Pixels that are far out of [0, 1], before anything that follows from it is said: a net that hardly learns. */
static void tell_scale(struct run *r)
{
  char text[R4_ERROR_SIZE];
  bool images = r4_data_shape(r->train).rank == 3;
  if (images && column_doubt(data_x(r->train), text, sizeof text)) run_tell(r, "%s: %s", data_name(r), text);
}

static void tell_precision(struct run *r)
{
  const char *missing = r4_bf16_missing();
  if (missing && !strcmp(r->s->precision, "bf16"))
    run_tell(r, "%s is bf16, but %s: training in float", LABEL("precision"), missing);
}

void run_tell_settings(struct run *r)
{
  const struct settings *s = r->s;
  size_t examples = r4_data_count(r->train);
  tell_scale(r);
  if (!r->touched && needs_masks(s))
    run_tell(r, "%s is 0: no training example has a mask, so %s is the same as %s", LABEL("data.keep_masks"),
             s->method, r4_method_name(0));
  if ((size_t)s->batch > examples && was_given(r, "batch"))
    run_tell(r, "%s is %lld, but there are only %zu training examples: a step uses no more", LABEL("batch"),
             (long long)s->batch, examples);
  if (s->delta > 0 && !r->state.step && r->state.dual.lambda < s->lambda)
    run_tell(r, "%s is %g, but with delta it starts at %g at most", LABEL("lambda"), s->lambda,
             r->state.dual.lambda);
  tell_masks(r);
  tell_single_examples(r);
  tell_ignored_data(r);
  tell_classes(r);
  tell_groups(r);
  tell_notes(r);
  tell_words(r);
  tell_precision(r);
  if (s->rate == 0) run_tell(r, "%s is 0: the net keeps its initial weights", LABEL("rate"));
}
