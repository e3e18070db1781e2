#include "objective_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t listed[CASE_LISTED] = {1, 4, 5, 16};

/* Outputs of the plan, in this order, then the slopes. */
enum { LOSS, DATA, PENALTY, LOSSES = PENALTY + R4_TERMS, EACH, LOGITS, SLOPES };

static void fill(double *out, size_t n, uint32_t purpose)
{
  for (size_t i = 0; i < n; i++) out[i] = 2 * r4_random_uniform((r4_random){11, purpose, 0}, i) - 1;
}

struct objective_case objective_case_new(const char *layers, r4_shape input, const char *method)
{
  r4_error e;
  struct objective_case c = {.batch = 4, .features = (size_t)r4_shape_count(input)};
  c.o = (r4_objective_options){.method = method,
                               .batch = 4,
                               .eps = 0.2,
                               .lambda = {0.7, 0.4},
                               .tau = 0.3,
                               .delta = 0.2,
                               .steps = 3,
                               .samples = 3,
                               .random_start = true};
  c.net = r4_net_open(layers, input, &e);
  if (!c.net) fail_msg("%s", e.text);
  assert_true(r4_net_size(c.net) <= CASE_SIZE && r4_net_params(c.net) <= CASE_PARAMS);
  assert_true(c.features <= CASE_FEATURES && r4_net_classes(c.net) <= CASE_CLASSES);
  fill(c.x, sizeof c.x / sizeof *c.x, 1);
  fill(c.filled, sizeof c.filled / sizeof *c.filled, 5);
  fill(c.start, sizeof c.start / sizeof *c.start, 2);
  fill(c.weights, CASE_SIZE, 3);
  fill(c.noise, sizeof c.noise / sizeof *c.noise, 4);
  int64_t classes = r4_net_classes(c.net) > 1 ? r4_net_classes(c.net) : 2;
  for (size_t i = 0; i < CASE_BATCH; i++) {
    c.y[i] = (double)(i % (size_t)classes);
    for (size_t k = 0; k < CASE_LISTED; k++)
      if (listed[k] < c.features) c.m[i * c.features + listed[k]] = i == 2 ? 0 : 0.5 + 0.1 * (double)k;
  }
  return c;
}

void objective_case_free(struct objective_case *c)
{
  r4_net_free(c->net);
}

struct runner *objective_case_open(const struct objective_case *c, r4_plan_options options)
{
  r4_graph *g = r4_graph_new();
  size_t params = r4_net_params(c->net);
  r4_id param[CASE_PARAMS], out[SLOPES + 2 * CASE_PARAMS];
  r4_net_inputs(c->net, g, param);
  r4_objective o = r4_objective_build(g, c->net, param, &c->o);
  out[LOSS] = o.loss;
  out[DATA] = o.data;
  memcpy(out + PENALTY, o.penalty, sizeof o.penalty);
  out[LOSSES] = o.losses;
  out[EACH] = o.each;
  out[LOGITS] = o.logits;
  r4_grad(g, o.loss, params, param, out + SLOPES);
  r4_grad(g, o.penalty[0], params, param, out + SLOPES + params);
  check_now = c->o.method;
  struct runner *r = runner_new(g, SLOPES + 2 * params, out, options);
  r4_graph_free(g);
  return r;
}

static void put(struct runner *r, const char *name, const double *value, size_t n)
{
  double *to = runner_input(r, name);
  if (to) memcpy(to, value, n * sizeof *to);
}

/* Of each sample the rows that terms see, with all features or the listed ones, as the input has room for. Both kinds
 * of columns are a table: gcc 14 and 15 with AVX-512 take the 4 elements of listed for the most that this loop has,
 * and leave the ninth of 9 numbers alone when all is true,
 *
 *     static const size_t listed[4] = {1, 4, 5, 16};
 *     void take(double *to, const double *x, size_t n, int all)
 *     {
 *       for (size_t k = 0; k < n; k++) to[k] = x[all ? k : listed[k]];
 *     }
 *
 * with -O3 -march=znver4 or skylake-avx512; right with -fno-unswitch-loops, and with gcc 12, 13 and 16. */
static void put_rows(const struct objective_case *c, struct runner *r, const char *name, const double *value,
                     size_t samples)
{
  double *to = runner_input(r, name);
  size_t rows = c->o.guided ? (size_t)c->o.guided : c->batch;
  bool all = runner_count(r, name) == samples * rows * c->features;
  size_t every[CASE_FEATURES], columns = all ? c->features : CASE_LISTED;
  const size_t *column = all ? every : listed;
  for (size_t k = 0; k < CASE_FEATURES; k++) every[k] = k;
  for (size_t s = 0; to && s < samples; s++, value += c->batch * c->features)
    for (size_t i = 0; i < rows; i++)
      for (size_t k = 0; k < columns; k++) *to++ = value[i * c->features + column[k]];
}

/* The same for every term that draws it. */
static void put_drawn(const struct objective_case *c, struct runner *r, const char *name, const double *value,
                      size_t samples)
{
  char own[32];
  put_rows(c, r, name, value, samples);
  for (int k = 2; k <= R4_TERMS; k++) {
    snprintf(own, sizeof own, "%s %d", name, k);
    put_rows(c, r, own, value, samples);
  }
}

static void put_inputs(const struct objective_case *c, struct runner *r)
{
  double index[CASE_LISTED];
  for (size_t k = 0; k < CASE_LISTED; k++) index[k] = (double)listed[k];
  put(r, "x", c->x, c->batch * c->features);
  put(r, "filled", c->filled, c->batch * c->features);
  put(r, "y", c->y, c->batch);
  put(r, "index", index, CASE_LISTED);
  put(r, "lambda", &c->o.lambda[0], 1);
  put(r, "lambda_2", &c->o.lambda[1], 1);
  put(r, "lambda_3", &c->o.lambda[2], 1);
  put(r, "lambda_4", &c->o.lambda[3], 1);
  put(r, "eps", &c->o.eps, 1);
  put_rows(c, r, "m", c->m, 1);
  put_drawn(c, r, "start", c->start, 1);
  put_drawn(c, r, "noise", c->noise, (size_t)c->o.samples);
  for (size_t k = 0; k < r4_net_params(c->net); k++)
    put(r, r4_net_param_name(c->net, k), c->weights + r4_net_param_offset(c->net, k),
        (size_t)r4_shape_count(r4_net_param_shape(c->net, k)));
}

struct objective_numbers objective_case_go(const struct objective_case *c, struct runner *r)
{
  struct objective_numbers n = {0};
  size_t params = r4_net_params(c->net);
  put_inputs(c, r);
  check_now = c->o.method;
  runner_run(r);
  n.loss = *r->out[LOSS];
  n.data = *r->out[DATA];
  n.penalty = *r->out[PENALTY];
  for (size_t k = 0; k < R4_TERMS; k++) n.penalties[k] = *r->out[PENALTY + k];
  memcpy(n.losses, r->out[LOSSES], c->batch * sizeof(double));
  memcpy(n.each, r->out[EACH], c->batch * sizeof(double));
  memcpy(n.logits, r->out[LOGITS], r->out_count[LOGITS] * sizeof(double));
  for (size_t k = 0; k < params; k++) {
    size_t offset = r4_net_param_offset(c->net, k), count = r->out_count[SLOPES + k];
    memcpy(n.slope + offset, r->out[SLOPES + k], count * sizeof(double));
    memcpy(n.penalty_slope + offset, r->out[SLOPES + params + k], count * sizeof(double));
  }
  return n;
}

struct objective_numbers objective_case_run(const struct objective_case *c)
{
  struct runner *r = objective_case_open(c, FAST64);
  struct objective_numbers n = objective_case_go(c, r);
  runner_free(r);
  return n;
}

void assert_near(double a, double b, double tolerance, const char *what)
{
  if (!(fabs(a - b) <= tolerance * (1 + fabs(b)))) fail_msg("%s: %.12g is not %.12g", what, a, b);
}
