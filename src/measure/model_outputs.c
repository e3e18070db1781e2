/* A model asked about arrays: what a program needs that is not about training. */
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "objective/objective.h"

enum { BATCH = 256 };

r4_model *r4_model_open(const char *path, r4_error *e)
{
  NEEDS(path, "a path", NULL);
  r4_error own = {0};
  if (!e) e = &own;
  char *file = file_is_folder(path) ? file_join(path, "model.safetensors", e) : NULL;
  if (!file && file_is_folder(path)) return NULL;
  r4_model *m = r4_model_load(file ? file : path, NULL, e);
  r4_mem_free(file);
  return m;
}

size_t r4_model_classes(const r4_model *m)
{
  int64_t outputs = r4_net_classes(r4_model_net(m));
  return outputs > 1 ? (size_t)outputs : 2;
}

/* Ids of tokens come as whole numbers. */
static int32_t *whole_numbers(const float *x, size_t n)
{
  int32_t *ids = r4_mem_new(n, sizeof *ids);
  for (size_t k = 0; ids && k < n; k++) ids[k] = (int32_t)x[k];
  return ids;
}

/* labels: NULL for 0 everywhere. */
static r4_data *examples(const r4_model *m, size_t n, const float *x, const int32_t *labels, r4_error *e)
{
  const r4_net *net = r4_model_net(m);
  r4_data_arrays a = {.n = n, .shape = r4_net_input(net), .classes = r4_model_classes(m), .labels = labels};
  int32_t *zeros = labels ? NULL : mem_new(n + 1, sizeof *zeros, "labels", e), *ids = NULL;
  if (!labels) a.labels = zeros;
  if (objective_leaf_is_rows(net))
    a.tokens = ids = whole_numbers(x, n * (size_t)r4_shape_count(a.shape));
  else
    a.floats = x;
  r4_data *d = NULL;
  if (a.labels && (a.floats || a.tokens))
    d = r4_data_new(&a, e);
  else
    r4_fail(e, R4_E_MEMORY, "out of memory for %zu examples", n);
  r4_mem_free(zeros);
  r4_mem_free(ids);
  return d;
}

r4_status r4_model_predict(const r4_model *m, size_t n, const float *x, float *probabilities, r4_error *e)
{
  NEEDS(m, "a model", R4_E_ARGUMENT);
  NEEDS(x, "examples", R4_E_ARGUMENT);
  NEEDS(probabilities, "room for the result", R4_E_ARGUMENT);
  r4_error own = {0};
  if (!e) e = &own;
  r4_data *d = examples(m, n, x, NULL, e);
  if (!d) return e->status;
  r4_status s = r4_predict(r4_model_net(m), r4_model_weights(m), d, BATCH, probabilities, e);
  r4_data_free(d);
  return s;
}

/* The largest probability of each example, the first at a tie. */
static r4_status answers(const r4_model *m, size_t n, const float *x, int32_t *to, r4_error *e)
{
  size_t classes = r4_model_classes(m);
  float *p = mem_new(n * classes + 1, sizeof *p, "answers", e);
  r4_status s = p ? r4_model_predict(m, n, x, p, e) : R4_E_MEMORY;
  for (size_t i = 0; i < n && !s; i++) {
    const float *row = p + i * classes;
    for (size_t k = 1; k < classes; k++)
      if (row[k] > row[to[i]]) to[i] = (int32_t)k;
  }
  r4_mem_free(p);
  return s;
}

r4_status r4_model_explain(const r4_model *m, const char *method, size_t n, const float *x,
                           const int32_t *labels, const r4_attribution_options *options, float *to,
                           r4_error *e)
{
  NEEDS(m, "a model", R4_E_ARGUMENT);
  NEEDS(method, "a method", R4_E_ARGUMENT);
  NEEDS(x, "examples", R4_E_ARGUMENT);
  NEEDS(to, "room for the result", R4_E_ARGUMENT);
  r4_error own = {0};
  if (!e) e = &own;
  int32_t *found = labels ? NULL : mem_new(n + 1, sizeof *found, "answers", e);
  r4_status s = labels || found ? R4_OK : R4_E_MEMORY;
  if (!s && found) s = answers(m, n, x, found, e);
  r4_data *d = s ? NULL : examples(m, n, x, labels ? labels : found, e);
  if (!s) s = d ? r4_attribute(method, r4_model_net(m), r4_model_weights(m), d, options, to, e) : e->status;
  r4_data_free(d);
  r4_mem_free(found);
  return s;
}
