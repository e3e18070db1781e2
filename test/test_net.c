/* Networks: the line of text, its errors, parameters, names, and values against plain loops. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "module/net.h"

static r4_net *make(const char *layers, r4_shape input)
{
  r4_error e;
  r4_net *n = r4_net_open(layers, input, &e);
  if (!n) fail_msg("%s", e.text);
  return n;
}

static void assert_shape(r4_shape got, r4_shape want)
{
  assert_true(r4_shape_equal(got, want));
}

static void test_params(void **state)
{
  (void)state;
  r4_net *n = make(" conv 32 3 p1,relu ,  conv 8 4 s2 p1, relu, flatten, dense 10", R4_SHAPE(28, 28, 3));
  const struct {
    const char *name;
    r4_shape shape;
    size_t offset;
  } want[] = {
    {"0.weight", R4_SHAPE(32, 3, 3, 3), 0},   {"0.bias", R4_SHAPE(32), 864},
    {"2.weight", R4_SHAPE(8, 4, 4, 32), 896}, {"2.bias", R4_SHAPE(8), 4992},
    {"5.weight", R4_SHAPE(10, 1568), 5000},   {"5.bias", R4_SHAPE(10), 20680},
  };
  assert_int_equal(r4_net_params(n), 6);
  for (size_t k = 0; k < 6; k++) {
    assert_string_equal(r4_net_param_name(n, k), want[k].name);
    assert_shape(r4_net_param_shape(n, k), want[k].shape);
    assert_int_equal(r4_net_param_offset(n, k), want[k].offset);
  }
  assert_int_equal(r4_net_size(n), 20690);
  assert_int_equal(r4_net_classes(n), 10);
  assert_shape(r4_net_input(n), R4_SHAPE(28, 28, 3));
  assert_non_null(strstr(r4_net_layers(n), "conv 8 4 s2 p1"));
  r4_net_free(n);
}

/* Sizes as PyTorch has them; a pool without a stride does not overlap. */
static void test_shapes(void **state)
{
  (void)state;
  static const struct {
    const char *layers;
    int64_t classes;
  } cases[] = {
    {"flatten", 12 * 10 * 4},
    {"maxpool 2, flatten", 6 * 5 * 4},
    {"maxpool 3 s2 p1, flatten", 6 * 5 * 4},
    {"avgpool 5, flatten", 2 * 2 * 4},
    {"avgpool 5 p2 s1, flatten", 12 * 10 * 4},
    {"conv 7 4 s2 p1, flatten", 6 * 5 * 7},
    {"conv 1 10, flatten", 3 * 1},
    {"conv 1 1 s5 p2, flatten", 4 * 3},
    {"flatten, flatten, relu", 480},
    {"flatten, dense 1", 1},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    r4_net *n = make(cases[k].layers, R4_SHAPE(12, 10, 4));
    if (r4_net_classes(n) != cases[k].classes) fail_msg("%s", cases[k].layers);
    r4_net_free(n);
  }
}

static const struct {
  const char *layers;
  r4_status status;
  const char *text; /* a part of the message */
} wrong[] = {
  {"conv 64 4, relu, dense 10", R4_E_SHAPE,
   "layer 3 \"dense 10\": gets an image [7,7,64], needs a vector; put flatten before it"},
  {"flatten, conv 3 3", R4_E_SHAPE, "layer 2 \"conv 3 3\": gets a vector [100], needs an image"},
  {"flatten, maxpool 2", R4_E_SHAPE, "layer 2 \"maxpool 2\": gets a vector [100], needs an image"},
  {"conv 1 13 p1", R4_E_SHAPE, "gets an image [10,10,1], needs at least 13 x 13"},
  {"maxpool 3 p2, flatten", R4_E_ARGUMENT, "padding is 2, needs to be at most half of the window of 3"},
  {"relu", R4_E_SHAPE, "the last layer gives an image [10,10,1], needs a vector"},
  {"relu, rleu", R4_E_PARSE, "layer 2 \"rleu\": no such layer; there are dense, conv, relu, flatten"},
  {"", R4_E_PARSE, "layer 1 \"\": expected a part"},
  {"relu, , relu", R4_E_PARSE, "layer 2 \"\": expected a part"},
  {"relu,", R4_E_PARSE, "layer 2 \"\": expected a part"},
  {"dense", R4_E_PARSE, "layer 1 \"dense\": a number is missing; write dense N"},
  {"conv 3", R4_E_PARSE, "a number is missing; write conv N K [sS] [pP]"},
  {"dense 0", R4_E_PARSE, "\"0\" is not understood"},
  {"dense -5", R4_E_PARSE, "\"-5\" is not understood"},
  {"dense 5x", R4_E_PARSE, "\"5x\" is not understood"},
  {"dense 5 5", R4_E_PARSE, "\"5\" is not understood"},
  {"dense 5 s1", R4_E_PARSE, "\"s1\" is not understood"},
  {"relu 1", R4_E_PARSE, "\"1\" is not understood; write relu"},
  {"conv 3 3 s0", R4_E_PARSE, "\"s0\" is not understood"},
  {"conv 3 3 s", R4_E_PARSE, "\"s\" is not understood"},
  {"conv 3 3 s1 s1", R4_E_PARSE, "\"s1\" is not understood"},
  {"conv 3 3 p1 q1", R4_E_PARSE, "\"q1\" is not understood"},
  {"dense 1000000001", R4_E_PARSE, "\"1000000001\" is not understood"},
  {"dense 99999999999999999999999", R4_E_PARSE, "is not understood"},
  {"flatten, dense 1000000000, dense 1000000000", R4_E_SHAPE, "weight [1000000000,1000000000] is too large"},
  {"conv 1 1 p1000000000, flatten", R4_E_SHAPE, "result [2000000010,2000000010,1] is too large"},
  {"conv 1000000000 100 p50, flatten", R4_E_SHAPE, "weight [1000000000,100,100,1] is too large"},
};

static void test_errors(void **state)
{
  (void)state;
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    r4_error e;
    assert_null(net_new(wrong[k].layers, R4_SHAPE(10, 10, 1), &e));
    if (e.status != wrong[k].status || !strstr(e.text, wrong[k].text)) {
      fail_msg("\"%s\": %s: %s", wrong[k].layers, r4_status_name(e.status), e.text);
    }
  }
  r4_error e;
  assert_null(r4_net_open("relu", R4_SHAPE(2, 2), &e));
  assert_non_null(strstr(e.text, "input is [2,2], needs a vector"));
  assert_null(r4_net_open("relu", R4_SHAPE(0), NULL));
  assert_null(r4_net_open("relu", (r4_shape){.rank = 3, .dim = {1 << 20, 1 << 20, 1 << 20}}, NULL));
  assert_null(r4_net_open(NULL, R4_SHAPE(2), NULL));
  r4_net_free(NULL);
}

static void test_names(void **state)
{
  (void)state;
  r4_net *n = r4_net_open("mlp784-512-10", R4_SCALAR, NULL);
  assert_non_null(n);
  assert_string_equal(r4_net_layers(n), "dense 512, relu, dense 10");
  assert_shape(r4_net_input(n), R4_SHAPE(784));
  assert_int_equal(r4_net_size(n), 784 * 512 + 512 + 5120 + 10);
  r4_net_free(n);
  n = r4_net_open("mlp3-4-5-6-2", R4_SCALAR, NULL);
  assert_string_equal(r4_net_layers(n), "dense 4, relu, dense 5, relu, dense 6, relu, dense 2");
  r4_net_free(n);
  n = r4_net_open("derm28", R4_SCALAR, NULL);
  assert_shape(r4_net_param_shape(n, 8), R4_SHAPE(1024, 2304));
  assert_string_equal(r4_net_param_name(n, 8), "9.weight");
  r4_net_free(n);
  n = r4_net_open("derm64", R4_SCALAR, NULL);
  assert_shape(r4_net_param_shape(n, 8), R4_SHAPE(1024, 14400));
  assert_int_equal(r4_net_classes(n), 2);
  r4_net_free(n);
  static const char *const unknown[] = {
    "mlp",     "mlp5",   "mlp5-", "mlp-5",   "mlp5--5", "mlp5-0",
    "mlp5-6x", "mlp5 6", "derm",  "derm280", "",        "mlp5-99999999999",
  };
  for (size_t k = 0; k < sizeof unknown / sizeof *unknown; k++) {
    r4_error e;
    if (r4_net_open(unknown[k], R4_SCALAR, &e)) fail_msg("\"%s\" is accepted", unknown[k]);
    assert_int_equal(e.status, R4_E_ARGUMENT);
    if (!strstr(e.text, unknown[k])) fail_msg("%s", e.text);
  }
  assert_null(r4_net_open(NULL, R4_SCALAR, NULL));
}

/* Inside the limit, close to it somewhere, variance limit^2 / 3, and by the seed alone. */
static void test_init(void **state)
{
  (void)state;
  r4_net *n = r4_net_open("mlp100-400-3", R4_SCALAR, NULL);
  size_t size = r4_net_size(n);
  float *a = malloc(size * sizeof *a), *b = malloc(size * sizeof *b);
  r4_net_init(n, NULL, 5, a, NULL);
  r4_net_init(n, NULL, 5, b, NULL);
  assert_memory_equal(a, b, size * sizeof *a);
  r4_net_init(n, NULL, 6, b, NULL);
  assert_memory_not_equal(a, b, size * sizeof *a);
  double largest = 0, square = 0;
  for (size_t i = 0; i < 40000; i++) {
    largest = fmax(largest, fabs(a[i]));
    square += (double)a[i] * a[i];
  }
  assert_true(largest <= 0.1 && largest > 0.0999);
  assert_true(fabs(square / 40000 - 0.01 / 3) < 1e-4);
  for (size_t i = 40400; i < size; i++) assert_true(fabsf(a[i]) <= 0.05f); /* fan_in 400 */
  free(a);
  free(b);
  r4_net_free(n);
}

/* Deviations of the weights: fan_in 100 and fan_out 400; 36 and 576 with a kernel of 3 x 3. Biases are 0. */
static void test_init_by(void **state)
{
  (void)state;
  const struct {
    const char *name;
    double dense, conv;
  } way[] = {{"xavier", sqrt(2. / 500), sqrt(2. / (36 + 576))},
             {"kaiming", sqrt(2. / 100), sqrt(2. / 36)},
             {"ibp", sqrt(6.283185307) / 100, sqrt(6.283185307) / 36}};
  r4_net *dense = r4_net_open("mlp100-400-3", R4_SCALAR, NULL);
  r4_net *conv = r4_net_open("conv 64 3 p1, flatten, dense 2", R4_SHAPE(6, 6, 4), NULL);
  float *w = malloc(r4_net_size(dense) * sizeof *w), *v = malloc(r4_net_size(conv) * sizeof *v);
  for (int k = 0; k < 3; k++) {
    double square = 0, of_conv = 0;
    assert_int_equal(r4_net_init(dense, way[k].name, 5, w, NULL), R4_OK);
    assert_int_equal(r4_net_init(conv, way[k].name, 5, v, NULL), R4_OK);
    for (size_t i = 0; i < 40000; i++) square += (double)w[i] * w[i] / 40000;
    for (size_t i = 0; i < 64 * 36; i++) of_conv += (double)v[i] * v[i] / (64 * 36);
    assert_true(fabs(sqrt(square) / way[k].dense - 1) < 0.02);
    assert_true(fabs(sqrt(of_conv) / way[k].conv - 1) < 0.06);
    for (size_t i = 40000; i < 40400; i++) assert_true(w[i] == 0);
  }
  r4_error e;
  assert_int_equal(r4_net_init(dense, "lucky", 5, w, &e), R4_E_ARGUMENT);
  assert_non_null(strstr(e.text, "lucky"));
  free(w);
  free(v);
  r4_net_free(dense);
  r4_net_free(conv);
}

/* Every allocation may fail: an error, and no leak. */
static void test_memory(void **state)
{
  (void)state;
  for (int named = 0; named < 2; named++) {
    for (long k = 1;; k++) {
      r4_error e;
      r4_mem_fail_at(k);
      r4_net *n = named ? r4_net_open("mlp4-5-6-2", R4_SCALAR, &e)
                        : r4_net_open("conv 2 1, relu, flatten, dense 2", R4_SHAPE(3, 3, 1), &e);
      r4_mem_fail_at(0);
      if (n) {
        assert_true(k > 5);
        r4_net_free(n);
        break;
      }
      assert_int_equal(e.status, R4_E_MEMORY);
    }
  }
}

/* ---- Values against plain loops ---- */

enum { B = 2, H = 7, W = 6, C = 2, F = 3, OH = 4, OW = 3, PH = 3, PW = 2, N = 4 };

static double at(const double *x, int b, int i, int j, int c)
{
  return i < 0 || j < 0 || i >= H || j >= W ? 0 : x[((b * H + i) * W + j) * C + c];
}

/* conv 3 3 s2 p1, relu */
static double conv_at(const double *x, const double *w, const double *bias, int b, int i, int j, int o)
{
  double y = bias[o];
  for (int u = 0; u < 3; u++)
    for (int v = 0; v < 3; v++)
      for (int c = 0; c < C; c++)
        y += w[((o * 3 + u) * 3 + v) * C + c] * at(x, b, 2 * i + u - 1, 2 * j + v - 1, c);
  return fmax(y, 0);
}

/* pool 2 s1, flatten, dense 4 */
static double logit(const double *x, const double *const *p, bool mean, int b, int k)
{
  double y = p[3][k];
  for (int f = 0; f < PH * PW * F; f++) {
    int i = f / (PW * F), j = f / F % PW, o = f % F;
    double best = -1, sum = 0;
    for (int s = 0; s < 4; s++) {
      double z = conv_at(x, p[0], p[1], b, i + s / 2, j + s % 2, o);
      best = fmax(best, z);
      sum += z / 4;
    }
    y += p[2][k * PH * PW * F + f] * (mean ? sum : best);
  }
  return y;
}

static void run(const r4_net *n, const double *x, const double *const *p, double *z)
{
  r4_error e;
  r4_graph *g = r4_graph_new();
  r4_id param[4];
  r4_net_inputs(n, g, param);
  r4_id out = r4_net_apply(n, g, param, r4_input(g, "x", R4_SHAPE(B, H, W, C)));
  r4_plan *plan = r4_plan_new(g, 1, &out, &(r4_plan_options){.type = R4_F64}, &e);
  if (!plan) fail_msg("%s", e.text);
  for (size_t k = 0; k < 4; k++) assert_int_equal(r4_plan_input(plan, r4_net_param_name(n, k), p[k], &e), 0);
  assert_int_equal(r4_plan_input(plan, "x", x, &e), 0);
  assert_int_equal(r4_plan_output(plan, 0, z, &e), 0);
  if (r4_plan_run(plan, &e)) fail_msg("%s", e.text);
  r4_plan_free(plan);
  r4_graph_free(g);
}

static void test_values(void **state)
{
  (void)state;
  double x[B * H * W * C], weights[400], z[B * N];
  for (size_t i = 0; i < sizeof x / sizeof *x; i++) x[i] = r4_random_normal((r4_random){3, 0, 0}, i);
  for (size_t i = 0; i < 400; i++) weights[i] = r4_random_normal((r4_random){4, 0, 0}, i);
  for (int mean = 0; mean < 2; mean++) {
    r4_net *n = make(mean ? "conv 3 3 s2 p1, relu, avgpool 2 s1, flatten, dense 4"
                          : "conv 3 3 s2 p1, relu, maxpool 2 s1, flatten, dense 4",
                     R4_SHAPE(H, W, C));
    assert_int_equal(r4_net_params(n), 4);
    const double *p[4];
    for (size_t k = 0; k < 4; k++) p[k] = weights + r4_net_param_offset(n, k);
    run(n, x, p, z);
    for (int i = 0; i < B * N; i++) assert_true(fabs(z[i] - logit(x, p, mean, i / N, i % N)) < 1e-9);
    r4_net_free(n);
  }
}

static void test_wrong_batch(void **state)
{
  (void)state;
  const char *text;
  r4_net *n = r4_net_open("mlp4-2", R4_SCALAR, NULL);
  r4_graph *g = r4_graph_new();
  r4_id param[2];
  r4_net_inputs(n, g, param);
  r4_id z = r4_net_apply(n, g, param, r4_input(g, "x", R4_SHAPE(3, 5)));
  assert_int_equal(z.i, 0);
  assert_int_equal(r4_graph_status(g, &text), R4_E_SHAPE);
  assert_string_equal(text, "net: x is [3,5], needs a batch of examples of shape [4]");
  r4_graph_free(g);
  r4_net_free(n);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_params), cmocka_unit_test(test_shapes), cmocka_unit_test(test_errors),
    cmocka_unit_test(test_names),  cmocka_unit_test(test_init),   cmocka_unit_test(test_init_by),
    cmocka_unit_test(test_memory), cmocka_unit_test(test_values), cmocka_unit_test(test_wrong_batch),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("net", tests, NULL, NULL);
}
