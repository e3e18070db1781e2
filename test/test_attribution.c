/* Attributions against their definitions, computed in double from nothing but the value of the net. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/purpose.h"
#include "check.h"
#include "data/data.h"

enum { FEATURES = 6, HIDDEN = 5, CLASSES = 3, EXAMPLES = 70, MAX_SIZE = 64 };

static const char RELU[] = "dense 5, relu, dense 3", LINEAR[] = "dense 3", BINARY[] = "dense 1";

/* ---- The definition of what is explained ---- */

static void dense(const float **w, size_t in, size_t out, const double *x, double *y)
{
  const float *bias = *w + in * out;
  for (size_t k = 0; k < out; k++) {
    y[k] = bias[k];
    for (size_t j = 0; j < in; j++) y[k] += (double)(*w)[k * in + j] * x[j];
  }
  *w = bias + out;
}

static double log_sum_exp(const double *z, size_t n, size_t without)
{
  double sum = 0;
  for (size_t k = 0; k < n; k++) sum += k == without ? 0 : exp(z[k]);
  return log(sum);
}

/* e(x) of a net of this file with this label. */
static double explained(const r4_net *net, const float *w, const double *x, size_t label, r4_explain what)
{
  double hidden[HIDDEN], z[CLASSES + 1] = {0};
  size_t classes = (size_t)r4_net_classes(net);
  if (r4_net_params(net) == 4) {
    dense(&w, FEATURES, HIDDEN, x, hidden);
    for (size_t k = 0; k < HIDDEN; k++) hidden[k] = fmax(hidden[k], 0);
    dense(&w, HIDDEN, classes, hidden, z);
  } else {
    dense(&w, FEATURES, classes, x, z);
  }
  if (classes == 1) {
    z[1] = z[0], z[0] = 0, classes = 2;
    if (what == R4_EXPLAIN_LOGIT) return label ? z[1] : -z[1];
  }
  double all = log_sum_exp(z, classes, classes), sum = 0;
  for (size_t k = 0; k < classes; k++) sum += z[k] - all;
  switch (what) {
  case R4_EXPLAIN_LOGIT:
    return z[label];
  case R4_EXPLAIN_MARGIN:
    return z[label] - log_sum_exp(z, classes, label);
  case R4_EXPLAIN_LOGPROB_SUM:
    return sum;
  default:
    return all - z[label];
  }
}

/* g(x) by differences. */
static void differences(const r4_net *net, const float *w, const double *at, size_t label, r4_explain what,
                        double *g)
{
  const double h = 1e-6;
  for (size_t j = 0; j < FEATURES; j++) {
    double x[FEATURES];
    memcpy(x, at, sizeof x);
    x[j] = at[j] + h;
    double up = explained(net, w, x, label, what);
    x[j] = at[j] - h;
    g[j] = (up - explained(net, w, x, label, what)) / (2 * h);
  }
}

/* ---- Nets and data ---- */

static r4_net *net_of(const char *layers, float w[MAX_SIZE])
{
  r4_net *net = r4_net_open(layers, R4_SHAPE(FEATURES), NULL);
  assert_non_null(net);
  assert_true(r4_net_size(net) <= MAX_SIZE);
  r4_net_init(net, NULL, 5, w, NULL);
  for (size_t k = 0; k < r4_net_size(net); k++) w[k] *= 3;
  return net;
}

/* More examples than fit into one batch; odd ones have a mask on the first two features. */
static r4_data *data_of(uint32_t classes)
{
  r4_error e;
  struct column *v = column_new(&floats_column, R4_SHAPE(FEATURES), EXAMPLES, &e);
  r4_random_fill((r4_random){1, 1, 1}, EXAMPLES * FEATURES, -1, 1, v->data);
  r4_data *d = data_new(EXAMPLES, v, &e);
  assert_non_null(d);
  uint32_t number = 0;
  const uint8_t mask[FEATURES] = {255, 255};
  for (uint32_t k = 0; k < classes; k++)
    assert_int_equal(names_add(d->classes, (const char *const[]){"a", "b", "c"}[k], &number, &e), R4_OK);
  data_set_masks(d, masks_new(FEATURES, &e));
  assert_int_equal(masks_add(data_masks(d), mask, &number, &e), R4_OK);
  for (uint32_t i = 0; i < EXAMPLES; i++) {
    d->record[i].label = (int32_t)(i % classes);
    d->record[i].mask = i % 2 ? number : 0;
    d->record[i].file = d->record[i].id = DATA_NO_ID;
  }
  assert_int_equal(data_finish(d, "test", &e), R4_OK);
  return d;
}

static void example(const r4_data *d, size_t i, double x[FEATURES])
{
  float v[FEATURES];
  r4_data_values(d, i, v);
  for (size_t j = 0; j < FEATURES; j++) x[j] = v[j];
}

static void attribute(const char *method, const r4_net *net, const float *w, const r4_data *d,
                      const r4_attribution_options *o, float *a)
{
  r4_error e = {0};
  if (r4_attribute(method, net, w, d, o, a, &e)) fail_msg("%s: %s", method, e.text);
}

static void assert_row(const char *what, const float *got, const double *want, double tolerance)
{
  double row[FEATURES];
  for (size_t j = 0; j < FEATURES; j++) row[j] = got[j];
  assert_close(what, row, want, FEATURES, tolerance, 0.1);
}

/* ---- Against the definitions ---- */

static void gradients_are_differences(void **state)
{
  (void)state;
  const char *const layers[] = {RELU, LINEAR, BINARY};
  static float w[MAX_SIZE], a[EXAMPLES * FEATURES], times[EXAMPLES * FEATURES];
  for (size_t k = 0; k < 3; k++)
    for (int what = R4_EXPLAIN_LOSS; what <= R4_EXPLAIN_LOGPROB_SUM; what++) {
      r4_net *net = net_of(layers[k], w);
      r4_data *d = data_of(k == 2 ? 2 : CLASSES);
      r4_attribution_options o = r4_attribution_defaults();
      o.explain = (r4_explain)what;
      attribute("gradient", net, w, d, &o, a);
      attribute("input-x-gradient", net, w, d, &o, times);
      for (size_t i = 0; i < EXAMPLES; i++) {
        double x[FEATURES], g[FEATURES];
        example(d, i, x);
        differences(net, w, x, (size_t)d->record[i].label, o.explain, g);
        assert_row("gradient", a + i * FEATURES, g, 1e-4);
        for (size_t j = 0; j < FEATURES; j++) g[j] *= x[j];
        assert_row("input-x-gradient", times + i * FEATURES, g, 1e-4);
      }
      r4_data_free(d);
      r4_net_free(net);
    }
}

/* The mean of gradients by differences, at the points that the formula names. */
static void smoothgrad_is_a_mean(void **state)
{
  (void)state;
  enum { SAMPLES = 7 };
  static float w[MAX_SIZE], a[EXAMPLES * FEATURES], noise[SAMPLES * FEATURES];
  r4_net *net = net_of(RELU, w);
  r4_data *d = data_of(CLASSES);
  r4_attribution_options o = {.sigma = 0.3, .samples = SAMPLES, .seed = 11};
  attribute("smoothgrad", net, w, d, &o, a);
  r4_random_fill_normal((r4_random){11, PURPOSE_SMOOTH, 0}, SAMPLES * FEATURES, noise);
  for (size_t i = 0; i < EXAMPLES; i++) {
    double x[FEATURES], g[FEATURES], mean[FEATURES] = {0};
    for (size_t s = 0; s < SAMPLES; s++) {
      example(d, i, x);
      for (size_t j = 0; j < FEATURES; j++) x[j] += (double)(0.3f * noise[s * FEATURES + j]);
      differences(net, w, x, (size_t)d->record[i].label, R4_EXPLAIN_LOSS, g);
      for (size_t j = 0; j < FEATURES; j++) mean[j] += g[j] / SAMPLES;
    }
    assert_row("smoothgrad", a + i * FEATURES, mean, 1e-4);
  }
  r4_data_free(d);
  r4_net_free(net);
}

static double distance(const float *a, const float *b)
{
  double sum = 0;
  for (size_t k = 0; k < EXAMPLES * FEATURES; k++) sum += ((double)a[k] - b[k]) * ((double)a[k] - b[k]);
  return sqrt(sum);
}

static void smoothgrad_without_noise_is_the_gradient(void **state)
{
  (void)state;
  static float w[MAX_SIZE], a[EXAMPLES * FEATURES], g[EXAMPLES * FEATURES];
  r4_net *net = net_of(LINEAR, w);
  r4_data *d = data_of(CLASSES);
  attribute("gradient", net, w, d, NULL, g);
  double far = 0, near = 0;
  for (int k = 0; k < 3; k++) {
    r4_attribution_options o = {.sigma = (const double[]){0.1, 0.01, 0}[k], .samples = 16};
    attribute("smoothgrad", net, w, d, &o, a);
    near = distance(a, g);
    if (k) assert_true(near < 0.2 * far);
    far = near;
  }
  assert_true(near < 1e-5);
  r4_data_free(d);
  r4_net_free(net);
}

/* Of a linear net: exactly (x - b) . w_y, with any number of points. */
static void integrated_of_a_linear_net(void **state)
{
  (void)state;
  static float w[MAX_SIZE], a[EXAMPLES * FEATURES];
  const float b[FEATURES] = {0.5f, -1, 0, 0.25f, 2, 0};
  r4_net *net = net_of(LINEAR, w);
  r4_data *d = data_of(CLASSES);
  r4_attribution_options o = {.explain = R4_EXPLAIN_LOGIT, .samples = 3, .baseline = b};
  attribute("integrated", net, w, d, &o, a);
  for (size_t i = 0; i < EXAMPLES; i++) {
    double x[FEATURES];
    example(d, i, x);
    for (size_t j = 0; j < FEATURES; j++)
      x[j] = (x[j] - b[j]) * (double)w[(size_t)d->record[i].label * FEATURES + j];
    assert_row("integrated", a + i * FEATURES, x, 1e-5);
  }
  r4_data_free(d);
  r4_net_free(net);
}

/* Of a net with corners: the midpoint rule, point by point. */
static void integrated_is_the_midpoint_rule(void **state)
{
  (void)state;
  enum { SAMPLES = 4 };
  static float w[MAX_SIZE], a[EXAMPLES * FEATURES];
  r4_net *net = net_of(RELU, w);
  r4_data *d = data_of(CLASSES);
  r4_attribution_options o = {.samples = SAMPLES};
  attribute("integrated", net, w, d, &o, a);
  for (size_t i = 0; i < EXAMPLES; i++) {
    double x[FEATURES], at[FEATURES], g[FEATURES], sum[FEATURES] = {0};
    example(d, i, x);
    for (size_t s = 0; s < SAMPLES; s++) {
      for (size_t j = 0; j < FEATURES; j++) at[j] = x[j] * (0.125 + 0.25 * (double)s);
      differences(net, w, at, (size_t)d->record[i].label, R4_EXPLAIN_LOSS, g);
      for (size_t j = 0; j < FEATURES; j++) sum[j] += x[j] * g[j] / SAMPLES;
    }
    assert_row("integrated", a + i * FEATURES, sum, 1e-4);
  }
  r4_data_free(d);
  r4_net_free(net);
}

/* Completeness: the attributions of an example sum to e(x) - e(b), the more exactly the more points. */
static void integrated_is_complete(void **state)
{
  (void)state;
  static float w[MAX_SIZE], a[EXAMPLES * FEATURES], b[FEATURES];
  r4_net *net = net_of(RELU, w);
  r4_data *d = data_of(CLASSES);
  assert_int_equal(r4_data_mean(d, b, NULL), R4_OK);
  for (int what = R4_EXPLAIN_LOSS; what <= R4_EXPLAIN_LOGIT; what++) {
    double worst[2] = {0};
    for (int k = 0; k < 2; k++) {
      r4_attribution_options o = {.explain = (r4_explain)what, .samples = k ? 1000 : 10, .baseline = b};
      attribute("integrated", net, w, d, &o, a);
      for (size_t i = 0; i < EXAMPLES; i++) {
        double x[FEATURES], from[FEATURES], sum = 0;
        size_t label = (size_t)d->record[i].label;
        example(d, i, x);
        for (size_t j = 0; j < FEATURES; j++) from[j] = b[j], sum += a[i * FEATURES + j];
        double change = explained(net, w, x, label, o.explain) - explained(net, w, from, label, o.explain);
        worst[k] = fmax(worst[k], fabs(sum - change));
      }
    }
    if (!(worst[1] < 3e-3 && worst[1] < worst[0] / 10)) fail_msg("errors %g and %g", worst[0], worst[1]);
  }
  r4_data_free(d);
  r4_net_free(net);
}

/* One output: g_j = w_j (sigmoid(z) - y), and z moves by at most eps sum_j r_j |w_j|, where r is the mask or 1. */
static void bounds_of_a_logistic_net(void **state)
{
  (void)state;
  static float w[MAX_SIZE], masked[EXAMPLES * FEATURES], all[EXAMPLES * FEATURES];
  r4_net *net = net_of(BINARY, w);
  r4_data *d = data_of(2);
  r4_attribution_options o = {.eps = 0.3, .samples = 1};
  attribute("bounds", net, w, d, &o, masked);
  attribute("bounds-all", net, w, d, &o, all);
  for (size_t i = 0; i < EXAMPLES; i++) {
    double x[FEATURES], z = w[FEATURES], move[2] = {0}, expected[2][FEATURES];
    example(d, i, x);
    for (size_t j = 0; j < FEATURES; j++) {
      z += (double)w[j] * x[j];
      if (i % 2 && j < 2) move[0] += 0.3 * fabs((double)w[j]);
      move[1] += 0.3 * fabs((double)w[j]);
    }
    for (size_t k = 0; k < 2; k++)
      for (size_t j = 0; j < FEATURES; j++)
        expected[k][j] = fabs((double)w[j]) * (1 / (1 + exp(-z - move[k])) - 1 / (1 + exp(-z + move[k])));
    assert_row("bounds", masked + i * FEATURES, expected[0], 1e-5);
    assert_row("bounds-all", all + i * FEATURES, expected[1], 1e-5);
  }
  r4_data_free(d);
  r4_net_free(net);
}

/* ---- The same whatever is around ---- */

static void the_same_bits_again(void **state)
{
  (void)state;
  static float w[MAX_SIZE], a[EXAMPLES * FEATURES], b[EXAMPLES * FEATURES], alone[FEATURES];
  r4_net *net = net_of(RELU, w);
  r4_data *d = data_of(CLASSES), *last = r4_data_subset(d, 1, (const size_t[]){EXAMPLES - 1}, NULL);
  int before = r4_threads(0, false);
  for (size_t k = 0; k < r4_attribution_count(); k++) {
    const char *name = r4_attribution_describe(k).name;
    if (r4_attribution_describe(k).images) continue; /* these nets are of vectors */
    attribute(name, net, w, d, NULL, a);
    attribute(name, net, w, d, NULL, b);
    attribute(name, net, w, last, NULL, alone);
    assert_memory_equal(a, b, sizeof a);
    assert_memory_equal(a + (EXAMPLES - 1) * FEATURES, alone, sizeof alone);
    r4_threads(1, false); /* oneDNN's sums may then have another order */
    attribute(name, net, w, d, NULL, b);
    r4_threads(before, false);
    for (size_t i = 0; i < EXAMPLES * FEATURES; i++) assert_true(fabsf(a[i] - b[i]) <= 1e-5f);
  }
  r4_data_free(last);
  r4_data_free(d);
  r4_net_free(net);
}

static void widths_that_overflow_are_infinite(void **state)
{
  (void)state;
  static float w[MAX_SIZE], a[EXAMPLES * FEATURES];
  r4_net *net = net_of(RELU, w);
  r4_data *d = data_of(CLASSES);
  for (size_t k = 0; k < r4_net_size(net); k++) w[k] *= 1e20f;
  r4_attribution_options o = {.eps = 1, .samples = 1};
  attribute("bounds-all", net, w, d, &o, a);
  bool infinite = false;
  for (size_t k = 0; k < EXAMPLES * FEATURES; k++) {
    assert_true(!isnan(a[k]));
    infinite |= isinf(a[k]);
  }
  assert_true(infinite);
  r4_data_free(d);
  r4_net_free(net);
}

/* ---- Numbers by hand, and errors ---- */

static void shares_and_means_by_hand(void **state)
{
  (void)state;
  assert_true(r4_mask_share(4, (const float[]){-3, 1, 2, -2}, (const float[]){1, 0, 0.5f, 0}) == 0.5);
  assert_true(isnan(r4_mask_share(2, (const float[]){0, 0}, (const float[]){1, 0})));
  assert_true(isnan(r4_mask_share(2, (const float[]){INFINITY, 1}, (const float[]){1, 0})));
  r4_data *d = data_of(CLASSES);
  float mean[FEATURES];
  double sum = 0, x[FEATURES];
  assert_int_equal(r4_data_mean(d, mean, NULL), R4_OK);
  for (size_t i = 0; i < EXAMPLES; i++) {
    example(d, i, x);
    sum += x[2];
  }
  assert_true(fabs(mean[2] - sum / EXAMPLES) < 1e-7);
  r4_data_free(d);
}

static void expect(r4_status status, const char *words, const char *method, const r4_net *net, const float *w,
                   const r4_data *d, r4_attribution_options o)
{
  static float a[EXAMPLES * FEATURES];
  r4_error e = {0};
  assert_int_equal(r4_attribute(method, net, w, d, &o, a, &e), status);
  if (!strstr(e.text, words)) fail_msg("\"%s\" does not say \"%s\"", e.text, words);
  assert_int_equal(r4_attribute(method, net, w, d, &o, a, NULL), status);
}

static void errors_say_what_was_expected(void **state)
{
  (void)state;
  static float w[MAX_SIZE];
  r4_net *net = net_of(RELU, w), *other = r4_net_open("dense 3", R4_SHAPE(7), NULL);
  r4_net *binary = net_of(BINARY, w);
  r4_data *d = data_of(CLASSES);
  const r4_attribution_options good = r4_attribution_defaults();
  r4_attribution_options o = good;
  expect(R4_E_ARGUMENT, "\"lime\"; expected gradient, input-x", "lime", net, w, d, good);
  expect(R4_E_SHAPE, "takes 7 features, the data has 6", "gradient", other, w, d, good);
  expect(R4_E_SHAPE, "knows 2 classes, the data has 3", "gradient", binary, w, d, good);
  o.samples = 0;
  expect(R4_E_ARGUMENT, "samples is 0: expected 1 to 1000", "integrated", net, w, d, o);
  o = good, o.eps = NAN;
  expect(R4_E_ARGUMENT, "eps is nan", "bounds", net, w, d, o);
  o = good, o.explain = (r4_explain)4;
  expect(R4_E_ARGUMENT, "explain is 4: expected 0 to 3", "gradient", net, w, d, o);
  o = good, o.sigma = -1;
  expect(R4_E_ARGUMENT, "sigma is -1", "smoothgrad", net, w, d, o);
  assert_null(r4_attribution_describe(r4_attribution_count()).name);
  r4_data_free(d);
  r4_net_free(binary);
  r4_net_free(other);
  r4_net_free(net);
}

/* Whichever allocation fails. */
static void memory_that_fails(void **state)
{
  (void)state;
  static float w[MAX_SIZE], a[EXAMPLES * FEATURES];
  r4_net *net = net_of(LINEAR, w);
  r4_data *d = data_of(CLASSES);
  for (size_t k = 0; k < r4_attribution_count(); k++) {
    const char *name = r4_attribution_describe(k).name;
    if (r4_attribution_describe(k).images) continue; /* these nets are of vectors */
    r4_status s = R4_E_MEMORY;
    for (long n = 1; s; n++) {
      r4_error e = {0};
      r4_mem_fail_at(n);
      s = r4_attribute(name, net, w, d, NULL, a, &e);
      r4_mem_fail_at(0);
      if (s && s != R4_E_MEMORY) fail_msg("%s, allocation %ld: %s", name, n, e.text);
    }
  }
  for (long n = 1; n <= 2; n++) {
    r4_mem_fail_at(n);
    assert_int_equal(r4_data_mean(d, a, NULL), R4_E_MEMORY);
    r4_mem_fail_at(0);
  }
  r4_data_free(d);
  r4_net_free(net);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(gradients_are_differences),
    cmocka_unit_test(smoothgrad_is_a_mean),
    cmocka_unit_test(smoothgrad_without_noise_is_the_gradient),
    cmocka_unit_test(integrated_of_a_linear_net),
    cmocka_unit_test(integrated_is_the_midpoint_rule),
    cmocka_unit_test(integrated_is_complete),
    cmocka_unit_test(bounds_of_a_logistic_net),
    cmocka_unit_test(the_same_bits_again),
    cmocka_unit_test(widths_that_overflow_are_infinite),
    cmocka_unit_test(shares_and_means_by_hand),
    cmocka_unit_test(errors_say_what_was_expected),
    cmocka_unit_test(memory_that_fails),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("attribution", tests, NULL, NULL);
}
