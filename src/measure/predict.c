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

/* probabilities: NULL if they are not wanted. */
static r4_status ask(struct probe *p, const float *weights, const r4_data *d, int32_t *predicted,
                     double *loss, float *probabilities, r4_error *e)
{
  size_t n = r4_data_count(d), batch = probe_batch(p), classes = probe_width(p, LOGITS);
  double total = 0;
  size_t *order = probe_order(d, e);
  r4_status s = order ? R4_OK : R4_E_MEMORY;
  for (size_t first = 0; first < n && !s; first += batch) {
    size_t here = n - first < batch ? n - first : batch;
    s = probe_ask(p, weights, d, here, order + first, e);
    for (size_t k = 0; k < here && !s; k++) {
      const float *z = probe_row(p, LOGITS, k);
      size_t i = order[first + k];
      predicted[i] = answer(z, classes);
      if (probabilities) softmax(z, classes, probabilities + i * classes);
      total += *probe_row(p, LOSS, k);
    }
  }
  *loss = n ? total / (double)n : 0;
  r4_mem_free(order);
  return s;
}

r4_status predictor_run(struct probe *p, const float *weights, const r4_data *d, int32_t *predicted,
                        double *loss, r4_error *e)
{
  return ask(p, weights, d, predicted, loss, NULL, e);
}

r4_status predictor_probabilities(struct probe *p, const float *weights, const r4_data *d, int32_t *predicted,
                                  double *loss, float *to, r4_error *e)
{
  return ask(p, weights, d, predicted, loss, to, e);
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
