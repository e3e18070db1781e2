/* What a trained net is worth: accuracy by group and fragility, of one net and over the seeds of a run. */
#include <math.h>
#include <string.h>

#include "base/mean_sd.h"
#include "base/mem.h"
#include "measure/attribution.h"
#include "measure/check.h"
#include "measure/evaluate.h"
#include "measure/kappa.h"
#include "measure/predict.h"
#include "measure/score.h"
#include "module/net.h"

_Static_assert((int)R4_MAX_GROUPS == (int)SCORE_GROUPS, "a metric has room for the groups of a score");

/* ---- Answers ---- */

/* All of them are of classes that the net knows. */
static r4_status count_answers(size_t classes, const r4_data *d, const int32_t *predicted, r4_answers *a,
                               r4_error *e)
{
  size_t n = r4_data_count(d);
  size_t *count = mem_new(classes, sizeof *count, "classes", e);
  if (!count) return R4_E_MEMORY;
  bool several = false;
  for (size_t i = 0; i < n; i++) {
    count[predicted[i]]++;
    several |= r4_data_example(d, i).label != r4_data_example(d, 0).label;
  }
  for (size_t k = 1; k < classes; k++)
    if (count[k] > count[a->most]) a->most = k;
  a->most_share = (double)count[a->most] / (double)n;
  a->constant = several && count[a->most] == n;
  r4_mem_free(count);
  return R4_OK;
}

/* predicted has room for all examples; probabilities is NULL, or has room for those of all classes. */
static r4_status ask(const r4_net *net, const float *weights, const r4_data *d, int64_t batch,
                     int32_t *predicted, float *probabilities, double *loss, r4_answers *a, r4_error *e)
{
  *a = (r4_answers){0};
  struct probe *p = predictor_new(net, batch, e);
  r4_status s = p ? predictor_probabilities(p, weights, d, predicted, loss, probabilities, e) : e->status;
  probe_free(p);
  if (!s) s = predicted_check(d, predicted, &a->not_finite, e);
  size_t classes = r4_net_classes(net) > 1 ? (size_t)r4_net_classes(net) : 2;
  return s ? s : count_answers(classes, d, predicted, a, e);
}

static int32_t *room_for_answers(const r4_data *d, r4_error *e)
{
  return mem_new(r4_data_count(d) + 1, sizeof(int32_t), "predictions", e);
}

r4_status eval_check(const r4_net *net, const float *weights, const r4_data *d, r4_error *e)
{
  if (!r4_data_count(d)) return r4_fail(e, R4_E_ARGUMENT, "no examples to evaluate");
  r4_status s = attribution_fits(net, d, e);
  return s ? s : net_check_finite(net, weights, "weights", e);
}

r4_status r4_predict(const r4_net *net, const float *weights, const r4_data *d, int64_t batch,
                     float *probabilities, r4_error *e)
{
  NEEDS(net, "a net", R4_E_ARGUMENT);
  NEEDS(weights, "weights", R4_E_ARGUMENT);
  NEEDS(d, "data", R4_E_ARGUMENT);
  NEEDS(probabilities, "room for the result", R4_E_ARGUMENT);
  r4_error own = {0};
  double loss;
  size_t missing;
  if (!e) e = &own;
  r4_status s = eval_check(net, weights, d, e);
  if (s) return s;
  int32_t *predicted = room_for_answers(d, e);
  struct probe *p = predicted ? predictor_new(net, batch, e) : NULL;
  s = p ? predictor_probabilities(p, weights, d, predicted, &loss, probabilities, e) : e->status;
  if (!s) s = predicted_check(d, predicted, &missing, e);
  probe_free(p);
  r4_mem_free(predicted);
  return s;
}

/* ---- Figures ---- */

static r4_status take_score(const r4_data *d, const int32_t *predicted, double loss, r4_metrics *m, r4_error *e)
{
  struct score score;
  r4_status s = score_of(d, predicted, loss, &score, e);
  if (s) return s;
  m->loss = score.loss;
  m->accuracy = score.accuracy;
  m->avg_group_accuracy = score.avg;
  m->worst_group_accuracy = score.worst;
  m->worst_group = score.worst_group;
  m->groups = score.groups;
  memcpy(m->group_accuracy, score.group, sizeof score.group);
  memcpy(m->group_count, score.count, sizeof score.count);
  return R4_OK;
}

static r4_status evaluate_accuracy(const r4_net *net, const float *weights, const r4_data *d,
                                   const r4_measure_options *o, r4_metrics *m, r4_error *e)
{
  int32_t *predicted = o->predicted ? o->predicted : room_for_answers(d, e);
  double loss = 0;
  if (!predicted) return e->status;
  r4_status s = ask(net, weights, d, o->batch, predicted, o->probabilities, &loss, &m->answers, e);
  if (!s) s = take_score(d, predicted, loss, m, e);
  if (!o->predicted) r4_mem_free(predicted);
  return s;
}

r4_status evaluate_predictions(const r4_data *d, const struct predictions *p, r4_metrics *m, r4_error *e)
{
  size_t n = r4_data_count(d);
  double loss = 0;
  *m = (r4_metrics){.kappa_masked_max = NAN, .kappa_masked_mean = NAN, .kappa_core_max = NAN, .kappa_core_mean = NAN};
  for (size_t i = 0; i < n; i++) {
    p->answer[i] = (int32_t)predict_class(p->probability + i * p->classes, p->classes);
    loss -= log(p->probability[i * p->classes + (size_t)r4_data_example(d, i).label]) / (double)n;
  }
  r4_status s = count_answers(p->classes, d, p->answer, &m->answers, e);
  return s ? s : take_score(d, p->answer, loss, m, e);
}

/* The examples with a mask, or as many as most of them, evenly spread. */
static r4_data *sample_masked(const r4_data *d, size_t most, r4_error *e)
{
  size_t n = 0, *example = mem_new(r4_data_count(d) + 1, sizeof *example, "choosing among examples", e);
  if (!example) return NULL;
  for (size_t i = 0; i < r4_data_count(d); i++)
    if (r4_data_has_mask(d, i)) example[n++] = i;
  size_t chosen = n < most ? n : most;
  for (size_t k = 0; k < chosen; k++) example[k] = example[k * n / chosen];
  r4_data *sample = r4_data_subset(d, chosen, example, e);
  r4_mem_free(example);
  return sample;
}

/* kappa over boxes of the masked features, and of all others; none has no kappa. */
static r4_status evaluate_fragility(const r4_net *net, const float *weights, const r4_data *d, int64_t batch,
                                    size_t most, r4_metrics *m, r4_error *e)
{
  struct kappa masked = {.max = NAN, .mean = NAN}, core = masked;
  r4_data *sample = most && most < r4_data_count(d) ? sample_masked(d, most, e) : NULL;
  if (!sample && most && most < r4_data_count(d)) return e->status;
  const r4_data *of = sample ? sample : d;
  r4_status s = most ? kappa_of(net, weights, of, PROBE_MASKED, m->eps, batch, &masked, e) : R4_OK;
  if (!s && most) s = kappa_of(net, weights, of, PROBE_CORE, m->eps, batch, &core, e);
  r4_data_free(sample);
  m->masked_examples = masked.n;
  m->core_examples = core.n;
  m->kappa_masked_max = masked.max;
  m->kappa_masked_mean = masked.mean;
  m->kappa_core_max = core.max;
  m->kappa_core_mean = core.mean;
  return s;
}

r4_measure_options r4_measure_defaults(void)
{
  r4_swap_options swap = r4_swap_defaults();
  return (r4_measure_options){.eps = 0.1,
                              .kappa = SIZE_MAX,
                              .batch = swap.batch,
                              .swaps = 1,
                              .swap = {swap.content},
                              .draws = swap.draws,
                              .specificity = 0.95};
}

r4_status r4_evaluate(const r4_net *n, const float *weights, const r4_data *d, const r4_measure_options *options,
                      r4_metrics *m, r4_error *e)
{
  NEEDS(n, "a net", R4_E_ARGUMENT);
  NEEDS(weights, "weights", R4_E_ARGUMENT);
  NEEDS(d, "data", R4_E_ARGUMENT);
  NEEDS(m, "room for the result", R4_E_ARGUMENT);
  r4_error own = {0};
  const r4_measure_options usual = r4_measure_defaults(), *o = options ? options : &usual;
  if (!e) e = &own;
  *m = (r4_metrics){.eps = o->eps};
  r4_status s = eval_check(n, weights, d, e);
  if (!s) s = evaluate_accuracy(n, weights, d, o, m, e);
  return s ? s : evaluate_fragility(n, weights, d, o->batch, o->kappa, m, e);
}

/* ---- Over seeds ---- */

/* n metrics, one every so many bytes. */
static void summarize(const r4_metrics *m, size_t stride, size_t n, r4_summary *to)
{
#define AT(offset) mean_sd_of((const char *)m + (offset), stride, n)
#define OVER(field) AT(offsetof(r4_metrics, field))
  *to = (r4_summary){
    .seeds = n,
    .accuracy = OVER(accuracy),
    .avg = OVER(avg_group_accuracy),
    .worst = OVER(worst_group_accuracy),
    .kappa_masked_max = OVER(kappa_masked_max),
    .kappa_masked_mean = OVER(kappa_masked_mean),
    .kappa_core_max = OVER(kappa_core_max),
    .kappa_core_mean = OVER(kappa_core_mean),
    .groups = n ? m->groups : 0,
  };
  for (size_t g = 0; g < to->groups; g++) {
    to->group[g] = AT(offsetof(r4_metrics, group_accuracy) + g * sizeof(double));
    double least = to->group[to->worst_mean_group].mean;
    if (isnan(least) || to->group[g].mean < least)
      to->worst_mean_group = g; /* a group without examples is NaN */
  }
#undef OVER
#undef AT
  for (size_t k = 0; k < n; k++)
    to->constant += ((const r4_metrics *)(const void *)((const char *)m + k * stride))->answers.constant;
}

void r4_summarize(const r4_metrics *m, size_t n, r4_summary *to)
{
  summarize(m, sizeof *m, n, to);
}

void r4_measured_summary(const r4_measured *m, size_t n, r4_summary *to)
{
  summarize(&m->metrics, sizeof *m, n, to);
}
