/* r4_measure: all that is measured of a net, in one place.
 *
 * It is here, above the room that measures, as the substitution test takes its list of words from settings. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "certify/cover.h"
#include "config/settings.h"
#include "measure/figure/figure.h"
#include "train/word_list.h"

struct work {
  const r4_net *net;
  const float *weights;
  const r4_data *d;
  const r4_measure_options *o;
  struct predictions p;
  r4_measured *to;
};

r4_measure_options r4_settings_measure(const r4_settings *s)
{
  r4_measure_options o = r4_measure_defaults();
  if (!s) return o;
  o.eps = s->values.eval.eps;
  o.kappa = s->values.eval.kappa < 0 ? SIZE_MAX : (size_t)s->values.eval.kappa;
  o.batch = s->values.eval.batch;
  o.draws = (int)s->values.eval.draws;
  return o;
}

/* ---- The parts ---- */

static void tell_stage(const struct work *w, const char *what, size_t examples)
{
  if (w->o->stage) w->o->stage(what, examples, w->o->user);
}

/* Boxes of masks, and of cores. */
static size_t asked_for_kappa(const struct work *w)
{
  size_t masked = 0;
  for (int part = 0; part < R4_SPLITS; part++) masked += r4_data_mask_count(w->d, (r4_split)part, -1);
  return 2 * (masked < w->o->kappa ? masked : w->o->kappa);
}

static r4_status measure_accuracy(const struct work *w, r4_error *e)
{
  r4_measure_options o = *w->o;
  o.predicted = w->p.answer;
  o.probabilities = w->p.probability;
  tell_stage(w, "accuracy and kappa", r4_data_count(w->d) + asked_for_kappa(w));
  return r4_evaluate(w->net, w->weights, w->d, &o, &w->to->metrics, e);
}

static r4_status measure_swaps(const struct work *w, r4_error *e)
{
  r4_swap_options swap = r4_swap_defaults();
  swap.draws = w->o->draws;
  swap.batch = w->o->batch;
  swap.donors = w->o->donors;
  r4_status s = R4_OK;
  for (size_t k = 0; k < w->o->swaps && !s; k++) {
    tell_stage(w, "swap test", 0);
    swap.content = w->o->swap[k];
    s = r4_swap_test(w->net, w->weights, w->d, &swap, &w->to->swapped[k], e);
    w->to->swaps = k + 1;
  }
  return s;
}

/* What keeps words from being replaced keeps nobody from the other figures. */
static r4_status measure_words(const struct work *w, r4_error *e)
{
  if (!w->o->words) return R4_OK;
  tell_stage(w, "substitution test", 0);
  r4_status s = substitution_test(w->net, w->weights, w->d, w->o->words, &w->to->substituted, e);
  if (!s || s == R4_E_MEMORY) return s;
  snprintf(w->to->no_words, sizeof w->to->no_words, "%.*s", (int)sizeof w->to->no_words - 1, e->text);
  w->to->substituted.none = "it failed";
  r4_error_clear(e);
  return R4_OK;
}

static r4_status measure_noise(const struct work *w, r4_error *e)
{
  if (!w->o->noise) return R4_OK;
  tell_stage(w, "core sensitivity", 0);
  return r4_core_sensitivity(w->net, w->weights, w->d, w->o->noise, &w->to->sensitivity, e);
}

/* The margin: its gradient does not vanish where a net is sure. */
static r4_status measure_pointing(const struct work *w, r4_error *e)
{
  r4_attribution_options how = r4_attribution_defaults();
  r4_status s = R4_OK;
  how.explain = R4_EXPLAIN_MARGIN;
  for (size_t k = 0; k < w->o->pointings && !s; k++) {
    tell_stage(w, "pointing games", 0);
    s = r4_pointing_game(w->o->pointing[k], w->net, w->weights, w->d, &how, &w->to->pointing[k], e);
    if (s) return s; /* the name may be missing */
    snprintf(w->to->pointed_by[k], sizeof w->to->pointed_by[k], "%s", w->o->pointing[k]);
    w->to->pointings = k + 1;
  }
  return s;
}

static void count_covered(const r4_data *d, const r4_covered *x, r4_cover_counts *to)
{
  to->groups = r4_data_groups(d);
  for (size_t i = 0; i < r4_data_count(d); i++) {
    r4_example one = r4_data_example(d, i);
    bool correct = x[i].predicted == one.label;
    to->examples[one.group]++;
    to->correct[one.group] += correct;
    to->recovered[one.group] += correct && x[i].recovered;
    to->detected[one.group] += correct && x[i].detected;
  }
}

static r4_status cover_with(const struct work *w, const r4_cover *c, r4_covered *x, r4_error *e)
{
  size_t masks = r4_cover_masks(c);
  if (!w->o->constant || w->o->constants != r4_cover_constants(c))
    return r4_fail(e, R4_E_ARGUMENT, "the model has no constant for what a cover hides: expected one that r4 trained");
  tell_stage(w, "cover", r4_data_count(w->d) * (masks * (masks + 1) / 2 + 1));
  const r4_cover_options o = {w->o->cover, w->o->constant};
  r4_status s = r4_cover_predict(w->net, w->weights, w->d, &o, x, e);
  if (!s) count_covered(w->d, x, &w->to->covered);
  return s;
}

static r4_status measure_cover(const struct work *w, r4_error *e)
{
  r4_cover_counts *to = &w->to->covered;
  if (!w->o->cover) return R4_OK;
  r4_cover *c = r4_cover_new(w->o->cover, r4_data_shape(w->d), e);
  if (!c) return e->status;
  snprintf(to->family, sizeof to->family, "%.*s", (int)sizeof to->family - 1, w->o->cover);
  r4_covered *x = mem_new(r4_data_count(w->d) + 1, sizeof *x, "a cover", e);
  r4_status s = x ? cover_with(w, c, x, e) : R4_E_MEMORY;
  r4_mem_free(x);
  r4_cover_free(c);
  return s;
}

/* The box, and an attack inside of it. */
static r4_status certify_box(const struct work *w, const r4_certify_options *o, r4_certified *x, r4_error *e)
{
  size_t broken = 0;
  tell_stage(w, "certified accuracy", 0);
  r4_status s = r4_certify_box(w->net, w->weights, w->d, o, x, e);
  if (!s && w->o->attack) {
    tell_stage(w, "attack", 0);
    s = r4_attack_box(w->net, w->weights, w->d, o, w->o->donors, w->o->attack, 0, x, e);
  }
  for (size_t i = 0; i < r4_data_count(w->d) && !s; i++) broken += x[i].holds && x[i].broken;
  if (!broken || s) return s;
  return r4_fail(e, R4_E_INTERNAL, "an attack broke %zu certified examples: this is a defect of r4, please report",
                 broken);
}

static bool any_mask(const r4_data *d)
{
  size_t i = 0;
  while (i < r4_data_count(d) && !r4_data_has_mask(d, i)) i++;
  return i < r4_data_count(d);
}

static r4_status measure_certified(const struct work *w, r4_error *e)
{
  if (!w->o->certify) return R4_OK;
  if (!any_mask(w->d))
    return r4_fail(e, R4_E_ARGUMENT, "certified accuracy: no example has a mask, so nothing in them may change");
  const char *eps = strcmp(w->o->certify, "range") ? w->o->certify : NULL;
  const r4_certify_options o = {.eps = eps, .low = w->o->low, .high = w->o->high};
  r4_certified *x = mem_new(r4_data_count(w->d) + 1, sizeof *x, "certificates", e);
  r4_status s = x ? certify_box(w, &o, x, e) : R4_E_MEMORY;
  if (!s) s = certified_count(w->d, x, w->o->certify, w->o->attack > 0, &w->to->certified, e);
  r4_mem_free(x);
  return s;
}

/* ---- All of it ---- */

static r4_status check_options(const r4_measure_options *o, r4_error *e)
{
  if (o->swaps > R4_MAX_SWAPS)
    return r4_fail(e, R4_E_ARGUMENT, "%zu swap tests, expected at most %d", o->swaps, (int)R4_MAX_SWAPS);
  if (o->pointings > R4_MAX_POINTING)
    return r4_fail(e, R4_E_ARGUMENT, "%zu pointing games, expected at most %d", o->pointings, (int)R4_MAX_POINTING);
  if (!(o->specificity > 0 && o->specificity <= 1))
    return r4_fail(e, R4_E_ARGUMENT, "specificity is %g, expected above 0 and at most 1", o->specificity);
  return R4_OK;
}

static r4_status measure_figures(const struct work *w, r4_error *e)
{
  return figures_measure(w->d, &w->p, w->to, e);
}

static r4_status measure_all(const struct work *w, r4_error *e)
{
  r4_status (*const part[])(const struct work *, r4_error *) = {measure_accuracy, measure_swaps,    measure_words,
                                                                measure_noise,    measure_pointing, measure_cover,
                                                                measure_certified, measure_figures};
  r4_status s = R4_OK;
  for (size_t k = 0; k < sizeof part / sizeof *part && !s; k++) s = part[k](w, e);
  return s;
}

/* With room for what the net predicts, where the caller has none. */
static r4_status measure_with_room(struct work *w, r4_error *e)
{
  size_t n = r4_data_count(w->d), all = n * w->p.classes;
  int32_t *answer = w->o->predicted ? NULL : mem_new(n + 1, sizeof *answer, "predictions", e);
  float *probability = w->o->probabilities ? NULL : mem_new(all + 1, sizeof *probability, "probabilities", e);
  r4_status s = R4_OK;
  w->p.answer = answer ? answer : w->o->predicted;
  w->p.probability = probability ? probability : w->o->probabilities;
  if (!w->p.answer || !w->p.probability) s = R4_E_MEMORY;
  if (!s) s = measure_all(w, e);
  r4_mem_free(answer);
  r4_mem_free(probability);
  return s;
}

r4_status r4_measure(const r4_net *n, const float *weights, const r4_data *d, const r4_measure_options *options,
                     r4_measured *to, r4_error *e)
{
  NEEDS(n, "a net", R4_E_ARGUMENT);
  NEEDS(weights, "weights", R4_E_ARGUMENT);
  NEEDS(d, "data", R4_E_ARGUMENT);
  NEEDS(to, "room for the result", R4_E_ARGUMENT);
  r4_error own = {0};
  const r4_measure_options usual = r4_measure_defaults();
  if (!e) e = &own;
  if (!options) options = &usual;
  memset(to, 0, sizeof *to);
  struct work w = {.net = n, .weights = weights, .d = d, .o = options, .to = to};
  w.p.classes = r4_net_classes(n) > 1 ? (size_t)r4_net_classes(n) : 2;
  to->specificity = options->specificity;
  r4_status s = check_options(options, e);
  return s ? s : measure_with_room(&w, e);
}

/* ---- Predictions ---- */

static r4_status check_predictions(const r4_data *d, size_t classes, const float *p, r4_error *e)
{
  size_t n = r4_data_count(d);
  if (!n) return r4_fail(e, R4_E_ARGUMENT, "no examples to evaluate");
  if (classes < 2 || classes < r4_data_classes(d))
    return r4_fail(e, R4_E_ARGUMENT, "probabilities of %zu classes, the data have %zu", classes, r4_data_classes(d));
  for (size_t i = 0; i < n * classes; i++)
    if (!(p[i] >= 0 && p[i] <= 1))
      return r4_fail(e, R4_E_DOMAIN, "example %zu has the probability %g for class %zu, expected 0 to 1", i / classes,
                     (double)p[i], i % classes);
  return R4_OK;
}

r4_status r4_measure_predictions(const r4_data *d, size_t classes, const float *probabilities,
                                 const r4_measure_options *options, r4_measured *to, r4_error *e)
{
  NEEDS(d, "data", R4_E_ARGUMENT);
  NEEDS(probabilities, "probabilities", R4_E_ARGUMENT);
  NEEDS(to, "room for the result", R4_E_ARGUMENT);
  r4_error own = {0};
  const r4_measure_options usual = r4_measure_defaults();
  if (!e) e = &own;
  if (!options) options = &usual;
  memset(to, 0, sizeof *to);
  to->specificity = options->specificity;
  r4_status s = check_options(options, e);
  if (!s) s = check_predictions(d, classes, probabilities, e);
  if (s) return s;
  int32_t *answer = mem_new(r4_data_count(d) + 1, sizeof *answer, "predictions", e);
  const struct predictions p = {classes, answer, (float *)(uintptr_t)probabilities};
  s = answer ? evaluate_predictions(d, &p, &to->metrics, e) : R4_E_MEMORY;
  if (!s) s = figures_measure(d, &p, to, e);
  r4_mem_free(answer);
  return s;
}
