#include "measure/predict.h"

#include <math.h>

#include "base/mem.h"

enum { LOGITS, LOSS };

static size_t build(struct objective *o, r4_id out[PROBE_OUTPUTS])
{
  out[LOGITS] = view_logits(o, view_clean(o));
  out[LOSS] = r4_cross_entropy(o->g, out[LOGITS], o->one_hot);
  return 2;
}

struct probe *predictor_new(const r4_net *net, int64_t batch, r4_error *e)
{
  return probe_new(&(struct probe_options){.net = net, .batch = batch, .build = build, .cuts = true}, e);
}

size_t predict_class(const float *z, size_t classes)
{
  size_t best = 0;
  for (size_t k = 1; k < classes; k++)
    if (z[k] > z[best]) best = k;
  return best;
}

static int32_t answer(const float *z, size_t classes)
{
  for (size_t k = 0; k < classes; k++)
    if (!isfinite(z[k])) return -1 - (int32_t)k;
  return (int32_t)predict_class(z, classes);
}

static void softmax(const float *z, size_t classes, float *to)
{
  double most = z[predict_class(z, classes)], sum = 0;
  for (size_t k = 0; k < classes; k++) sum += exp(z[k] - most);
  for (size_t k = 0; k < classes; k++) to[k] = (float)(exp(z[k] - most) / sum);
}

/* What is known of an example after it was asked about. */
struct told {
  int32_t predicted;
  float loss;
};

/* Examples in the order in which they are asked about. */
struct asking {
  const r4_data *d;
  const float *weights;
  size_t *order, n, batches, batch;
  struct told *told; /* of each, in that order; room for whole batches */
};

static void asking_end(struct asking *a)
{
  r4_mem_free(a->order);
  r4_mem_free(a->told);
}

static r4_status asking_begin(struct asking *a, const struct probe *p, const float *weights, const r4_data *d,
                              r4_error *e)
{
  size_t n = r4_data_count(d), batch = probe_batch(p), batches = (n + batch - 1) / batch;
  *a = (struct asking){.d = d, .weights = weights, .n = n, .batches = batches, .batch = batch};
  a->order = probe_order(d, e);
  a->told = a->order ? mem_new(batches * batch + 1, sizeof *a->told, "predictions", e) : NULL;
  return a->told ? R4_OK : R4_E_MEMORY;
}

/* Batches first .. end - 1. probabilities: NULL if they are not wanted. */
static r4_status ask(struct probe *p, const struct asking *a, size_t first, size_t end, float *probabilities,
                     r4_error *e)
{
  size_t classes = probe_width(p, LOGITS);
  r4_status s = R4_OK;
  for (size_t b = first; b < end && !s; b++) {
    size_t from = b * a->batch, here = a->n - from < a->batch ? a->n - from : a->batch;
    s = probe_ask(p, a->weights, a->d, here, a->order + from, e);
    for (size_t k = 0; k < here && !s; k++) {
      const float *z = probe_row(p, LOGITS, k);
      a->told[from + k] = (struct told){answer(z, classes), *probe_row(p, LOSS, k)};
      if (probabilities) softmax(z, classes, probabilities + a->order[from + k] * classes);
    }
  }
  return s;
}

static void collect(const struct asking *a, int32_t *predicted, double *loss)
{
  double total = 0;
  for (size_t k = 0; k < a->n; k++) {
    predicted[a->order[k]] = a->told[k].predicted;
    total += a->told[k].loss;
  }
  *loss = a->n ? total / (double)a->n : 0;
}

r4_status predictor_probabilities(struct probe *p, const float *weights, const r4_data *d, int32_t *predicted,
                                  double *loss, float *to, r4_error *e)
{
  struct asking a;
  r4_status s = asking_begin(&a, p, weights, d, e);
  if (!s) s = ask(p, &a, 0, a.batches, to, e);
  if (!s) collect(&a, predicted, loss);
  asking_end(&a);
  return s;
}

r4_status predictor_run(struct probe *p, const float *weights, const r4_data *d, int32_t *predicted,
                        double *loss, r4_error *e)
{
  return predictor_probabilities(p, weights, d, predicted, loss, NULL, e);
}

r4_status predictor_run_shared(struct probe *p, const r4_team *t, const float *weights, const r4_data *d,
                               int32_t *predicted, double *loss, r4_error *e)
{
  struct asking a;
  int rank = team_rank(t);
  r4_status s = asking_begin(&a, p, weights, d, e);
  if (!s) s = ask(p, &a, team_first(t, a.batches, rank), team_first(t, a.batches, rank + 1), NULL, e);
  s = team_join(t, s, e);
  if (!s) s = team_gather(t, a.told, a.batch * sizeof *a.told, a.batches, e);
  if (!s) collect(&a, predicted, loss);
  asking_end(&a);
  return s;
}

r4_status predicted_check(const r4_data *d, const int32_t *predicted, size_t *missing, r4_error *e)
{
  size_t n = r4_data_count(d), first = 0;
  *missing = 0;
  for (size_t i = n; i-- > 0;)
    if (predicted[i] < 0) (*missing)++, first = i;
  if (!*missing) return R4_OK;
  size_t logit = (size_t)(-1 - predicted[first]);
  const char *file = r4_data_example(d, first).file, *class = r4_data_class_name(d, logit);
  return r4_fail(
    e, R4_E_DOMAIN,
    "no prediction for %zu of %zu examples: the logit of class %zu%s%.60s%s is NaN or infinite for example "
    "%zu%s%.200s%s",
    *missing, n, logit, class ? " (" : "", class ? class : "", class ? ")" : "", first, file ? " (" : "",
    file ? file : "", file ? ")" : "");
}
