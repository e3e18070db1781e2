#include "onnx_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static r4_shape batch_of(r4_shape one)
{
  r4_shape s = {.rank = one.rank + 1, .dim = {ONNX_BATCH}};
  memcpy(s.dim + 1, one.dim, (size_t)one.rank * sizeof *one.dim);
  return s;
}

static void draw_weights(const r4_net *n, float *to)
{
  for (size_t k = 0; k < n->params; k++) {
    size_t count = (size_t)r4_shape_count(n->param[k].shape);
    double *v = calloc(count, sizeof *v);
    draw_param(&n->param[k], v);
    for (size_t i = 0; i < count; i++) to[n->param[k].offset + i] = (float)v[i];
    free(v);
  }
}

void onnx_case_open(struct onnx_case *c)
{
  c->net = net_of(c->text, c->input);
  c->features = (size_t)r4_shape_count(c->input);
  size_t all = ONNX_BATCH * c->features;
  c->weights = calloc(c->net->size + 1, sizeof *c->weights);
  c->x = calloc(all, sizeof *c->x);
  c->valid = c->tokens && c->input.rank == 1 ? calloc(all, sizeof *c->valid) : NULL;
  c->logits = calloc((size_t)(ONNX_BATCH * r4_net_classes(c->net)), sizeof *c->logits);
  draw_weights(c->net, c->weights);
  for (size_t k = 0; k < all; k++)
    c->x[k] = c->tokens ? (float)draw_below((uint64_t)c->tokens) : (float)draw(-1, 1);
  for (size_t k = 0; c->valid && k < all; k++)
    c->valid[k] = k % c->features <= k / c->features ? 1 : (float)draw_below(2);
  onnx_case_logits(c, c->net, c->weights, c->logits);
}

void onnx_case_close(struct onnx_case *c)
{
  r4_net_free(c->net);
  free(c->weights);
  free(c->x);
  free(c->valid);
  free(c->logits);
}

static double *doubles(const float *v, size_t n)
{
  double *d = calloc(n + 1, sizeof *d);
  for (size_t k = 0; k < n; k++) d[k] = (double)v[k];
  return d;
}

/* An input that the graph does not need is not there. */
static void bind(r4_plan *p, const char *name, const double *v)
{
  if (r4_plan_input(p, name, v, NULL)) return;
}

void onnx_case_logits(const struct onnx_case *c, const r4_net *n, const float *weights, float *to)
{
  r4_error e = {0};
  const char *message;
  size_t all = ONNX_BATCH * c->features, classes = (size_t)(ONNX_BATCH * r4_net_classes(n));
  r4_graph *g = r4_graph_new();
  r4_id *param = calloc(n->params + 1, sizeof *param), x = r4_input(g, "x", batch_of(n->input));
  struct net_use use = {0};
  if (c->valid) use.valid = r4_input(g, "valid", R4_SHAPE(ONNX_BATCH, n->input.dim[0]));
  r4_net_inputs(n, g, param);
  r4_id y = net_from_leaf(n, g, param, &use, net_to_leaf(n, g, param, &use, x));
  if (r4_graph_status(g, &message)) fail_msg("%s: %s", c->text, message);
  r4_plan *p = r4_plan_new(g, 1, &y, &(r4_plan_options){.type = R4_F64}, &e);
  if (!p) fail_msg("%s: %s", c->text, e.text);
  double *in = doubles(c->x, all), *valid = c->valid ? doubles(c->valid, all) : NULL,
         *w = doubles(weights, n->size), *out = calloc(classes, sizeof *out);
  bind(p, "x", in);
  if (valid) bind(p, "valid", valid);
  for (size_t k = 0; k < n->params; k++) bind(p, n->param[k].name, w + n->param[k].offset);
  if (r4_plan_output(p, 0, out, &e) || r4_plan_run(p, &e)) fail_msg("%s: %s", c->text, e.text);
  for (size_t k = 0; k < classes; k++) to[k] = (float)out[k];
  free(in), free(valid), free(w), free(out), free(param);
  r4_plan_free(p);
  r4_graph_free(g);
}

void assert_same_model(const struct onnx_case *c, const r4_model *m)
{
  assert_same_net(r4_model_net(m), c->net);
  assert_string_equal(r4_net_layers(r4_model_net(m)), r4_net_layers(c->net));
  assert_memory_equal(r4_model_weights(m), c->weights, c->net->size * sizeof *c->weights);
}

void assert_same_logits(const struct onnx_case *c, const r4_model *m)
{
  size_t n = (size_t)(ONNX_BATCH * r4_net_classes(c->net));
  assert_int_equal(r4_net_classes(r4_model_net(m)), r4_net_classes(c->net));
  float *got = calloc(n, sizeof *got);
  onnx_case_logits(c, r4_model_net(m), r4_model_weights(m), got);
  double *a = doubles(got, n), *b = doubles(c->logits, n);
  assert_close(c->text, a, b, n, 1e-6, 1e-3);
  free(a), free(b), free(got);
}
