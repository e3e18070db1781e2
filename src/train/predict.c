#include "train/predict.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

struct predictor {
  const r4_net *net;
  size_t batch, features, outputs;
  r4_plan *plan;
  float *x, *z; /* [batch, features] and [batch, outputs] */
};

static r4_shape with_batch(r4_shape one, int64_t batch)
{
  r4_shape s = {.rank = one.rank + 1, .dim = {batch}};
  memcpy(s.dim + 1, one.dim, (size_t)one.rank * sizeof *s.dim);
  return s;
}

static r4_plan *compile(const r4_net *net, int64_t batch, r4_error *e)
{
  r4_plan *plan = NULL;
  r4_graph *g = r4_graph_new();
  r4_id *param = r4_mem_new(r4_net_params(net) + 1, sizeof *param);
  if (g && param) {
    r4_net_inputs(net, g, param);
    r4_id z = r4_net_apply(net, g, param, r4_input(g, "x", with_batch(r4_net_input(net), batch)));
    plan = r4_plan_new(g, 1, &z, NULL, e);
  } else {
    r4_fail(e, R4_E_MEMORY, "out of memory for a net's graph");
  }
  r4_mem_free(param);
  r4_graph_free(g);
  return plan;
}

struct predictor *predictor_new(const r4_net *net, int64_t batch, r4_error *e)
{
  struct predictor *p = r4_mem_new(1, sizeof *p);
  if (!p) {
    r4_fail(e, R4_E_MEMORY, "out of memory for a predictor");
    return NULL;
  }
  size_t features = (size_t)r4_shape_count(r4_net_input(net)), outputs = (size_t)r4_net_classes(net);
  *p = (struct predictor){.net = net, .batch = (size_t)batch, .features = features, .outputs = outputs};
  p->x = r4_mem_new_aligned(p->batch * features * sizeof *p->x);
  p->z = r4_mem_new_aligned(p->batch * outputs * sizeof *p->z);
  if (!p->x || !p->z)
    r4_fail(e, R4_E_MEMORY, "out of memory for a batch of %zu examples", p->batch);
  else
    p->plan = compile(net, batch, e);
  if (p->plan && !r4_plan_input(p->plan, "x", p->x, e) && !r4_plan_output(p->plan, 0, p->z, e)) return p;
  predictor_free(p);
  return NULL;
}

void predictor_free(struct predictor *p)
{
  if (!p) return;
  r4_plan_free(p->plan);
  r4_mem_free(p->x);
  r4_mem_free(p->z);
  r4_mem_free(p);
}

r4_status predict_bind(r4_plan *plan, const r4_net *net, const float *weights, r4_error *e)
{
  r4_status s = R4_OK;
  for (size_t k = 0; k < r4_net_params(net) && !s; k++)
    s = r4_plan_input(plan, r4_net_param_name(net, k), weights + r4_net_param_offset(net, k), e);
  return s;
}

static int32_t class_of(const float *z, size_t outputs)
{
  if (outputs == 1) return z[0] > 0;
  size_t best = 0;
  for (size_t k = 1; k < outputs; k++)
    if (z[k] > z[best]) best = k;
  return (int32_t)best;
}

/* log sum_k exp(z_k) - z_label; one output stands for the two logits 0 and z. */
static double loss_of(const float *z, size_t outputs, int32_t label)
{
  if (outputs == 1) {
    double against = label ? -z[0] : z[0];
    return fmax(against, 0) + log1p(exp(-fabs(against)));
  }
  double top = z[0], sum = 0;
  for (size_t k = 1; k < outputs; k++) top = fmax(top, z[k]);
  for (size_t k = 0; k < outputs; k++) sum += exp(z[k] - top);
  return top + log(sum) - z[label];
}

r4_status predictor_run(struct predictor *p, const float *weights, const r4_data *d, int32_t *predicted,
                        double *loss, r4_error *e)
{
  size_t n = r4_data_count(d);
  double total = 0;
  r4_status s = predict_bind(p->plan, p->net, weights, e);
  for (size_t first = 0; first < n && !s; first += p->batch) {
    size_t here = n - first < p->batch ? n - first : p->batch;
#pragma omp parallel for
    for (size_t k = 0; k < here; k++) r4_data_values(d, first + k, p->x + k * p->features);
    s = r4_plan_run(p->plan, e);
    for (size_t k = 0; k < here && !s; k++) {
      const float *z = p->z + k * p->outputs;
      predicted[first + k] = class_of(z, p->outputs);
      total += loss_of(z, p->outputs, r4_data_example(d, first + k).label);
    }
  }
  *loss = n ? total / (double)n : 0;
  return s;
}
