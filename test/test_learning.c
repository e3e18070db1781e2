/* How nets are used: the data term learns, with statistics of the batch and dropout; penalties look at the net as it
 * will be used, from its leaf on. Buffers follow the batches, are in checkpoints, and no optimiser touches them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "check.h"
#include "module/net.h"
#include "scratch.h"
#include "settings_case.h"
#include "train/step.h"

enum { BATCH = 5, FEATURES = 4, MOST = 400, PARAMS = 16 };

static double value(uint32_t purpose, size_t k)
{
  return 2 * r4_random_uniform((r4_random){5, purpose, 0}, k) - 1;
}

/* Weights, and running statistics that are not those of the batch. */
static void fill_weights(const r4_net *n, double *w)
{
  for (size_t k = 0; k < r4_net_size(n); k++) w[k] = 0.8 * value(1, k);
  for (size_t k = 0; k < r4_net_params(n); k++)
    for (int64_t i = 0; i < r4_shape_count(r4_net_param_shape(n, k)); i++)
      if (strstr(r4_net_param_name(n, k), "running_var"))
        w[r4_net_param_offset(n, k) + (size_t)i] = 0.5 + fabs(value(2, (size_t)i));
}

static void put_all(struct runner *r, const r4_net *n, int64_t tokens)
{
  double w[MOST];
  assert_true(r4_net_size(n) <= MOST);
  fill_weights(n, w);
  for (size_t i = 0; i < r->n_in; i++)
    for (size_t j = 0; j < r->in_count[i]; j++) r->in[i][j] = value(3 + (uint32_t)i, j);
  for (size_t k = 0; k < r4_net_params(n); k++) {
    double *to = runner_input(r, r4_net_param_name(n, k));
    size_t count = (size_t)r4_shape_count(r4_net_param_shape(n, k));
    if (to) memcpy(to, w + r4_net_param_offset(n, k), count * sizeof *to);
  }
  double *x = runner_input(r, "x"), *y = runner_input(r, "y"), *m = runner_input(r, "m");
  for (size_t j = 0; j < runner_count(r, "x"); j++)
    x[j] = tokens ? floor((double)tokens * r4_random_uniform((r4_random){5, 40, 0}, j)) : value(40, j);
  double *filled = runner_input(r, "filled");
  for (size_t j = 0; filled && j < runner_count(r, "filled"); j++) filled[j] = x[j ^ 1];
  double *words = runner_input(r, "words");
  for (size_t j = 0; words && j < runner_count(r, "words"); j++) words[j] = (double)(j % (size_t)tokens);
  for (size_t j = 0; y && j < BATCH; j++) y[j] = (double)(j % 3);
  for (size_t j = 0; m && j < runner_count(r, "m"); j++) m[j] = j % 3 == 0;
  double *length = runner_input(r, "length");
  for (size_t j = 0; length && j < BATCH; j++) length[j] = (double)(1 + j % FEATURES);
}

static r4_net *net_of(const char *text)
{
  r4_error e = {0};
  r4_net *n = r4_net_open(text, R4_SHAPE(FEATURES), &e);
  if (!n) fail_msg("%s", e.text);
  return n;
}

/* mean_i || m_i . d l_i / d leaf_i ||^2 of a net as it will be used, without the objective's code. */
static r4_id plain_r3(r4_graph *g, const r4_net *n, const r4_id *param, bool rows)
{
  r4_id x = r4_input(g, "x", R4_SHAPE(BATCH, FEATURES)), m = r4_input(g, "m", R4_SHAPE(BATCH, FEATURES));
  r4_id one_hot = r4_one_hot(g, r4_input(g, "y", R4_SHAPE(BATCH)), 3),
        leaf = net_to_leaf(n, g, param, NULL, x), slope;
  r4_id loss = r4_cross_entropy(g, net_from_leaf(n, g, param, NULL, leaf), one_hot);
  r4_grad(g, r4_sum(g, loss, R4_ALL), 1, &leaf, &slope);
  if (rows) m = r4_reshape(g, m, R4_SHAPE(BATCH, FEATURES, 1));
  return r4_scale(g, r4_sum(g, r4_square(g, r4_mul(g, m, slope)), R4_ALL), 1. / BATCH);
}

static void penalties_look_at_the_net_as_it_will_be_used(void **state)
{
  (void)state;
  static const char *const nets[] = {"dense 5, batchnorm, relu, dropout 0.4, dense 3",
                                     "batchnorm, dense 4, relu, dense 3",
                                     "embedding 9 3, leaf, dropout 0.5, relu, flatten, dense 3"};
  for (size_t k = 0; k < 3; k++) {
    r4_net *n = net_of(nets[k]);
    r4_graph *g = r4_graph_new();
    r4_id param[PARAMS];
    r4_net_inputs(n, g, param);
    r4_objective_options p = {.method = "r3", .batch = BATCH, .lambda = {1}};
    r4_objective o = r4_objective_build(g, n, param, &p);
    const r4_id out[] = {o.penalty[0], plain_r3(g, n, param, k == 2)};
    struct runner *r = runner_new(g, 2, out, FAST64);
    put_all(r, n, k == 2 ? 9 : 0);
    runner_run(r);
    check_now = nets[k];
    assert_true(*r->out[1] > 1e-6);
    assert_close("penalty", r->out[0], r->out[1], 1, 1e-12, 0);
    runner_free(r);
    r4_graph_free(g);
    r4_net_free(n);
  }
}

/* (x - mean) / sqrt(var + eps) with those of the batch, a = 1, b = 0; buffers move by a tenth towards them. */
static void the_data_term_takes_statistics_of_the_batch(void **state)
{
  (void)state;
  r4_net *n = net_of("batchnorm eps 0.25, dense 3 nobias");
  r4_graph *g = r4_graph_new();
  r4_id param[PARAMS], out[PARAMS] = {0};
  r4_net_inputs(n, g, param);
  r4_objective_options p = {.method = "erm", .batch = BATCH};
  r4_objective o = r4_objective_build(g, n, param, &p);
  size_t outs = 0, mean_at = 0, var_at = 0;
  out[outs++] = o.logits;
  for (size_t k = 0; k < r4_net_params(n); k++) {
    assert_true(r4_net_param_is_buffer(n, k) == (o.updated[k].i != 0));
    if (strstr(r4_net_param_name(n, k), "running_mean")) out[mean_at = outs++] = o.updated[k];
    if (strstr(r4_net_param_name(n, k), "running_var")) out[var_at = outs++] = o.updated[k];
  }
  struct runner *r = runner_new(g, outs, out, FAST64);
  put_all(r, n, 0);
  double *old_mean = NULL, *old_var = NULL, *weight = NULL, *x = runner_input(r, "x");
  for (size_t k = 0; k < r4_net_params(n); k++) {
    const char *name = r4_net_param_name(n, k);
    double *v = runner_input(r, name);
    if (strstr(name, "running_mean"))
      old_mean = v;
    else if (strstr(name, "running_var"))
      old_var = v;
    else if (r4_net_param_shape(n, k).rank == 2)
      weight = v;
    else
      for (size_t i = 0; i < FEATURES; i++) v[i] = strstr(name, "weight") ? 1 : 0;
  }
  runner_run(r);
  double z[BATCH][FEATURES];
  for (size_t j = 0; j < FEATURES; j++) {
    double mean = 0, var = 0;
    for (size_t i = 0; i < BATCH; i++) mean += x[i * FEATURES + j] / BATCH;
    for (size_t i = 0; i < BATCH; i++) var += pow(x[i * FEATURES + j] - mean, 2) / BATCH;
    for (size_t i = 0; i < BATCH; i++) z[i][j] = (x[i * FEATURES + j] - mean) / sqrt(var + 0.25);
    double new_mean = 0.9 * (old_mean ? old_mean[j] : 0) + 0.1 * mean;
    double new_var = 0.9 * (old_var ? old_var[j] : 0) + 0.1 * var * BATCH / (BATCH - 1);
    assert_close("running mean", r->out[mean_at] + j, &new_mean, 1, 1e-12, 1);
    assert_close("running var", r->out[var_at] + j, &new_var, 1, 1e-12, 1);
  }
  for (size_t i = 0; i < BATCH; i++)
    for (size_t c = 0; c < 3; c++) {
      double logit = 0;
      for (size_t j = 0; j < FEATURES; j++) logit += weight[c * FEATURES + j] * z[i][j];
      assert_close("logit", r->out[0] + i * 3 + c, &logit, 1, 1e-12, 1);
    }
  runner_free(r);
  r4_graph_free(g);
  r4_net_free(n);
}

/* What is behind the length of an example changes nothing: not its logits, and not its penalty. */
static void padding_does_not_count(void **state)
{
  (void)state;
  static const char net[] = "sum(embedding 9 4; position 8 4), leaf, attention 2, first, dense 3";
  for (size_t k = 0; k < r4_method_count(); k++) {
    r4_net *n = net_of(net);
    r4_graph *g = r4_graph_new();
    r4_id param[PARAMS];
    r4_net_inputs(n, g, param);
    r4_objective_options p = {.method = r4_method_name(k),
                              .batch = BATCH,
                              .lambda = {1, 1},
                              .eps = 0.1,
                              .samples = 2,
                              .steps = 2,
                              .random_start = true,
                              .filled = r4_method_describe(r4_method_name(k)).pairs,
                              .filled_within = true,
                              .lengths = true};
    r4_objective o = r4_objective_build(g, n, param, &p);
    const r4_id out[] = {o.logits, o.each};
    const char *why;
    if (r4_graph_status(g, &why)) {
      print_message("# %s: %s\n", p.method, why); /* a part without a rule for bounds says so */
    } else {
      double before[2][BATCH * 3];
      check_now = p.method;
      struct runner *r = runner_new(g, 2, out, FAST64);
      put_all(r, n, 9);
      runner_run(r);
      for (size_t j = 0; j < 2; j++) memcpy(before[j], r->out[j], r->out_count[j] * sizeof(double));
      double *x = runner_input(r, "x");
      for (size_t i = 0; i < BATCH; i++)
        for (size_t t = 1 + i % FEATURES; t < FEATURES; t++) x[i * FEATURES + t] = 8 - x[i * FEATURES + t];
      runner_run(r);
      for (size_t j = 0; j < 2; j++)
        assert_close(j ? "q" : "logits", r->out[j], before[j], r->out_count[j], 1e-12, 1);
      runner_free(r);
    }
    r4_graph_free(g);
    r4_net_free(n);
  }
}

/* ---- Training ---- */

static const char *const NET = "net=dense 8, batchnorm, relu, dropout 0.3, dense 10";

static r4_settings *settings_with(const char *const *more)
{
  static const char *const common[] = {NET,
                                       "data=decoy-mnist",
                                       "data.from=digits:300",
                                       "batch=50",
                                       "epochs=2",
                                       "method=r3",
                                       "drop_last=true",
                                       "clip=0.01",
                                       "weight_decay=0.1",
                                       "optimizer=adamw",
                                       "class_weights=none",
                                       NULL};
  return settings_case_with(common, more);
}

static bool stop_after(const r4_progress *p, void *steps)
{
  (void)p;
  return --*(int *)steps > 0;
}

static void train(const char *const *more, const char *run, bool resume, int steps)
{
  r4_error e = {0};
  r4_settings *s = settings_with(more);
  r4_train_options o = {
    .folder = scratch_path(run), .resume = resume, .report = steps ? stop_after : NULL, .user = &steps};
  if (r4_train(s, &o, NULL, &e)) fail_msg("%s: %s", run, e.text);
  r4_settings_free(s);
}

static r4_model *model_of(const char *run)
{
  r4_error e = {0};
  char name[80];
  snprintf(name, sizeof name, "%s/model.safetensors", run);
  r4_model *m = r4_model_open(scratch_path(name), NULL, &e);
  if (!m) fail_msg("%s", e.text);
  return m;
}

static const float *buffer_of(const r4_model *m, const char *part, size_t *count)
{
  const r4_net *n = r4_model_net(m);
  for (size_t k = 0; k < r4_net_params(n); k++)
    if (strstr(r4_net_param_name(n, k), part)) {
      *count = (size_t)r4_shape_count(r4_net_param_shape(n, k));
      return r4_model_weights(m) + r4_net_param_offset(n, k);
    }
  fail_msg("no parameter %s", part);
  return NULL;
}

static void assert_same_model(const char *a, const char *b, bool same)
{
  r4_model *x = model_of(a), *y = model_of(b);
  size_t bytes = r4_net_size(r4_model_net(x)) * sizeof(float);
  if ((memcmp(r4_model_weights(x), r4_model_weights(y), bytes) == 0) != same)
    fail_msg("%s and %s are %s", a, b, same ? "not the same" : "the same");
  r4_model_free(x);
  r4_model_free(y);
}

/* Dropout is drawn by seed and step: a run that was stopped draws what it would have drawn. */
static void stopped_runs_resume_to_the_same_bits(void **state)
{
  (void)state;
  train(NULL, "whole", false, 0);
  train(NULL, "stopped", false, 4);
  train(NULL, "stopped", true, 0);
  assert_same_model("whole", "stopped", true);
  static const char *const other[] = {"net=dense 8, batchnorm, relu, dropout 0.31, dense 10", NULL};
  train(other, "other", false, 0);
  assert_same_model("whole", "other", false);
}

/* With all weights held still by a rate of 0 the statistics of the net converge to those of the data; nothing but the
 * batches moves them, so that neither clip nor weight decay nor momentum is in them. */
static void buffers_follow_the_batches_alone(void **state)
{
  (void)state;
  static const char *const still[] = {"rate=0", "net=flatten, batchnorm, dropout 0.5, dense 10", NULL};
  static const char *const other[] = {"rate=0",         "net=flatten, batchnorm, dropout 0.5, dense 10",
                                      "clip=0",         "optimizer=sgd",
                                      "weight_decay=0", NULL};
  static const char *const frozen[] = {"rate=0", "net=flatten, batchnorm, dropout 0.5, dense 10",
                                       "frozen_statistics=true", NULL};
  train(still, "still", false, 0);
  train(other, "sgd", false, 0);
  assert_same_model("still", "sgd", true);
  r4_model *m = model_of("still");
  size_t n = 0;
  const float *mean = buffer_of(m, "running_mean", &n), *var = buffer_of(m, "running_var", &n);
  double largest = 0, least = INFINITY;
  for (size_t k = 0; k < n; k++) largest = fmax(largest, mean[k]), least = fmin(least, var[k]);
  assert_true(largest > 0.2 && largest < 1 && least > 0.2 &&
              least < 0.4); /* from 0, 1: 10 or 12 steps of 0.1 */
  r4_model_free(m);
  train(frozen, "frozen", false, 0);
  m = model_of("frozen");
  mean = buffer_of(m, "running_mean", &n);
  for (size_t k = 0; k < n; k++) assert_true(mean[k] == 0);
  r4_model_free(m);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(penalties_look_at_the_net_as_it_will_be_used),
    cmocka_unit_test(the_data_term_takes_statistics_of_the_batch),
    cmocka_unit_test(padding_does_not_count),
    cmocka_unit_test(stopped_runs_resume_to_the_same_bits),
    cmocka_unit_test(buffers_follow_the_batches_alone),
  };
  return cmocka_run_group_tests_name("learning", tests, scratch_make, scratch_remove);
}
