/* Winograd's convolutions against the definition, and where they are taken. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "conv_case.h"
#include "op/window.h"
#include "settings_case.h"
#include "small_images.h"

enum { TRIALS = 40, THREADS = 3 };

/* Rounding errors, of the largest result: a few 1e-7 as a rule. */
static const double TOLERANCE = 3e-6;

static const struct op *const ops[] = {&op_conv2d, &op_conv2d_dx, &op_conv2d_dw};

static struct conv_shapes shapes_of(r4_shape x, int64_t out, r4_window window)
{
  struct conv_shapes s = {.x = x, .w = R4_SHAPE(out, 3, 3, x.dim[3]), .window = window};
  struct attr attr = window_attr(window, 0, 0);
  s.y = R4_SHAPE(x.dim[0], window_out(&attr, 0, x.dim[1], 3), window_out(&attr, 1, x.dim[2], 3), out);
  return s;
}

static struct kernel_request allowed(const struct op *op, const struct conv_shapes *s)
{
  struct kernel_request q = conv_request(op, s);
  q.winograd = true;
  return q;
}

static bool taken(const struct kernel_request *q)
{
  r4_error e;
  struct kernel *k = conv_make(q, &e);
  assert_non_null(k);
  bool yes = conv_is(k, "winograd");
  assert_true(yes ? k->flops_share >= 0.25 && k->flops_share < 0.5 : k->flops_share == 0);
  kernel_free(k);
  return yes;
}

static const struct conv_shapes *good(void)
{
  static struct conv_shapes s;
  s = shapes_of(R4_SHAPE(4, 16, 16, 32), 48, r4_window_of(1, 1));
  return &s;
}

/* ---- Values ---- */

static int64_t draw_channels(void)
{
  return draw_below(8) ? draw_between(1, 64) : draw_between(65, 150);
}

/* Any sides, channels and padding. */
static struct conv_shapes draw_shapes(void)
{
  r4_window window = r4_window_of(1, 0);
  for (int k = 0; k < 4; k++) window.pad[k] = draw_between(0, draw_below(6) ? 2 : 5);
  int64_t high = draw_between(3, 19), wide = draw_between(3, 19);
  return shapes_of(R4_SHAPE(draw_between(1, 9), high, wide, draw_channels()), draw_channels(), window);
}

static void compare_many(const struct op *op, uint32_t stream)
{
  char what[200];
  winograd_force(true);
  for (uint32_t t = 0; t < TRIALS; t++) {
    draw_start(stream, t);
    struct conv_shapes s = draw_shapes();
    struct kernel_request q = allowed(op, &s);
    bool forward = op == &op_conv2d;
    q.bias = forward && draw_below(2);
    q.relu = q.bias && draw_below(2);
    q.accumulate = forward && !q.bias && draw_below(2);
    snprintf(what, sizeof what, "%s trial %u", op->name, (unsigned)t);
    check_now = what;
    omp_set_num_threads((int)draw_between(1, THREADS));
    conv_compare_to(&q, "winograd", TOLERANCE);
  }
  winograd_force(false);
}

static void test_conv(void **state)
{
  (void)state;
  compare_many(&op_conv2d, 21);
}

static void test_conv_dx(void **state)
{
  (void)state;
  compare_many(&op_conv2d_dx, 22);
}

static void test_conv_dw(void **state)
{
  (void)state;
  compare_many(&op_conv2d_dw, 23);
}

/* Each padding of 0 to 2 above, below, left and right. */
static void test_padding(void **state)
{
  (void)state;
  winograd_force(true);
  for (uint32_t t = 0; t < 81; t++)
    for (int k = 0; k < 3; k++) {
      r4_window window = r4_window_of(1, 0);
      for (uint32_t a = 0, rest = t; a < 4; a++, rest /= 3) window.pad[a] = rest % 3;
      draw_start(25, t);
      struct conv_shapes s = shapes_of(R4_SHAPE(2, 6, 7, 5), 9, window);
      struct kernel_request q = allowed(ops[k], &s);
      check_now = ops[k]->name;
      conv_compare_to(&q, "winograd", TOLERANCE);
    }
  winograd_force(false);
}

/* One pixel (h, w) of x and one (u, v) of dy meet in one weight, (h + top - u, w + left - v). */
static void assert_tap(const struct conv_shapes *s, int64_t h, int64_t w, int64_t u, int64_t v)
{
  int64_t in = s->x.dim[3], out = s->y.dim[3], p = h + s->window.pad[0] - u, q = w + s->window.pad[2] - v;
  bool meet = p >= 0 && p < 3 && q >= 0 && q < 3;
  float *x = calloc((size_t)r4_shape_count(s->x), sizeof *x),
        *dy = calloc((size_t)r4_shape_count(s->y), sizeof *dy),
        *dw = calloc((size_t)r4_shape_count(s->w), sizeof *dw);
  assert_true(x && dy && dw);
  r4_error e;
  struct kernel_request request = allowed(&op_conv2d_dw, s);
  struct kernel *k = conv_make(&request, &e);
  assert_true(k && conv_is(k, "winograd"));
  x[(h * s->x.dim[2] + w) * in + 1] = 3, dy[(u * s->y.dim[2] + v) * out + 2] = 5;
  assert_int_equal(k->run(k, (void *[]){x, dy}, dw, &e), R4_OK);
  for (int64_t i = 0; i < r4_shape_count(s->w); i++) {
    bool here = meet && i == ((2 * 3 + p) * 3 + q) * in + 1;
    assert_float_equal(dw[i], (here ? 15 : 0), 2e-5);
  }
  kernel_free(k);
  free(x);
  free(dy);
  free(dw);
}

static void test_taps(void **state)
{
  (void)state;
  static const int64_t pads[][4] = {{2, 0, 0, 1}, {0, 2, 1, 0}, {1, 0, 2, 0}, {0, 1, 0, 2}, {2, 1, 2, 0}};
  winograd_force(true);
  for (size_t t = 0; t < sizeof pads / sizeof *pads; t++) {
    r4_window window = r4_window_of(1, 0);
    memcpy(window.pad, pads[t], sizeof window.pad);
    struct conv_shapes s = shapes_of(R4_SHAPE(1, 6, 6, 2), 3, window);
    for (int64_t k = 0; k < 81; k++) assert_tap(&s, 1 + k % 3, 2 + k / 3 % 3, 1 + k / 9 % 3, 1 + k / 27);
  }
  winograd_force(false);
}

/* ---- Threads ---- */

static float *bits_of(const struct kernel_request *q, int threads, const struct conv_data *x)
{
  r4_error e;
  float *out = calloc(x->n[3], sizeof *out);
  assert_non_null(out);
  omp_set_num_threads(threads);
  struct kernel *k = conv_make(q, &e);
  assert_true(k && conv_is(k, "winograd"));
  assert_int_equal(k->run(k, (void *[]){x->f[0], x->f[1]}, out, &e), R4_OK);
  kernel_free(k);
  return out;
}

/* Same bits for any number of threads, and each time: one block of tiles or many, of channels likewise. */
static void test_bits(void **state)
{
  (void)state;
  const struct conv_shapes some[] = {shapes_of(R4_SHAPE(1, 9, 9, 150), 70, r4_window_of(1, 1)),
                                     shapes_of(R4_SHAPE(18, 30, 33, 20), 24, r4_window_of(1, 0))};
  winograd_force(true);
  for (int t = 0; t < 2 * 3; t++) {
    struct kernel_request q = allowed(ops[t % 3], &some[t / 3]);
    struct conv_data x;
    draw_start(27, (uint32_t)t);
    conv_data_make(&q, &x);
    float *once = bits_of(&q, 1, &x);
    for (int threads = 1; threads < 8; threads++) {
      float *again = bits_of(&q, threads, &x);
      assert_memory_equal(once, again, x.n[3] * sizeof *once);
      free(again);
    }
    free(once);
    conv_data_free(&x);
    conv_compare_to(&q, "winograd", TOLERANCE);
  }
  omp_set_num_threads(1);
  winograd_force(false);
}

/* ---- Choice ---- */

#if defined(__AVX2__) && defined(__FMA__)
enum { FAST = true };
#else
enum { FAST = false }; /* compiled for any machine: what it has is left to oneDNN */
#endif

/* Only if allowed, and where it pays. */
static void test_choice(void **state)
{
  (void)state;
  r4_window far = r4_window_of(1, 2);
  far.dilation[0] = far.dilation[1] = 2;
  r4_window one = r4_window_of(1, 1);
  struct conv_shapes few = shapes_of(R4_SHAPE(1, 16, 16, 32), 32, one),
                     ragged = shapes_of(R4_SHAPE(64, 5, 5, 32), 32, one),
                     narrow = shapes_of(R4_SHAPE(8, 16, 16, 15), 64, one),
                     thin = shapes_of(R4_SHAPE(8, 16, 16, 64), 15, one),
                     small = shapes_of(R4_SHAPE(8, 16, 16, 16), 16, one),
                     strided = shapes_of(R4_SHAPE(16, 16, 16, 32), 32, r4_window_of(2, 1)),
                     dilated = shapes_of(R4_SHAPE(8, 16, 16, 32), 32, far), grouped = *good();
  grouped.window.groups = 2;
  grouped.w.dim[3] = 16;
  const struct conv_shapes *others[] = {&few, &ragged, &narrow, &thin, &small, &strided, &dilated, &grouped};
  for (int k = 0; k < 3; k++) {
    struct kernel_request q = allowed(ops[k], good());
    assert_int_equal(taken(&q), FAST);
    q.winograd = false;
    assert_false(taken(&q));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
      q = allowed(ops[k], others[i]);
      assert_false(taken(&q));
    }
  }
}

static void test_nan(void **state)
{
  (void)state;
  winograd_force(true);
  conv_keeps_nan(allowed(&op_conv2d, good()));
  winograd_force(false);
}

/* ---- In plans ---- */

static bool plan_has(bool radius, bool asked)
{
  r4_graph *g = r4_graph_new();
  r4_id x = r4_input(g, "x", good()->x), w = r4_input(g, "w", good()->w);
  r4_id y = r4_conv2d(g, x, radius ? r4_abs(g, w) : w, good()->window);
  r4_error e;
  r4_plan *p = r4_plan_new(g, 1, &y, &(r4_plan_options){.winograd = asked}, &e);
  assert_non_null(p);
  char *text = r4_plan_text(p);
  bool found = strstr(text, "winograd") != NULL;
  double all = 2. * (double)r4_shape_count(good()->y) * 9 * 32;
  assert_true(found ? r4_plan_flops(p) < 0.3 * all : r4_plan_flops(p) == all);
  r4_string_free(text);
  r4_plan_free(p);
  r4_graph_free(g);
  return found;
}

/* What is >= 0 by definition must not come out below: radii are computed term by term. */
static void test_plan(void **state)
{
  (void)state;
  assert_int_equal(plan_has(false, true), FAST);
  assert_false(plan_has(false, false));
  assert_false(plan_has(true, true));
}

/* The gradient of sum(y^2) with respect to the input, where one row or column is padded on one side only. */
static double *gradient_of(const int64_t pad[4], bool winograd, size_t *n)
{
  r4_graph *g = r4_graph_new();
  r4_window window = r4_window_of(1, 0);
  for (int k = 0; k < 4; k++) window.pad[k] = pad[k];
  r4_id x = r4_input(g, "x", R4_SHAPE(8, 16, 16, 32)), w = r4_input(g, "w", R4_SHAPE(32, 3, 3, 32)), dx;
  r4_grad(g, r4_sum(g, r4_square(g, r4_conv2d(g, x, w, window)), R4_ALL), 1, &x, &dx);
  struct runner *r = runner_new(g, 1, &dx, (r4_plan_options){.winograd = winograd});
  draw_start(26, 0);
  for (size_t i = 0; i < r->n_in; i++)
    for (size_t k = 0; k < r->in_count[i]; k++) r->in[i][k] = draw(-1, 1);
  runner_run(r);
  *n = r->out_count[0];
  double *values = malloc(*n * sizeof *values);
  assert_non_null(values);
  memcpy(values, r->out[0], *n * sizeof *values);
  runner_free(r);
  r4_graph_free(g);
  return values;
}

static void test_uneven_padding(void **state)
{
  (void)state;
  static const int64_t pads[][4] = {{0, 1, 0, 1}, {1, 0, 1, 0}, {0, 1, 1, 1}, {1, 1, 0, 1}, {2, 0, 1, 1}};
  winograd_force(true);
  for (size_t t = 0; t < sizeof pads / sizeof *pads; t++) {
    size_t n;
    double *fast = gradient_of(pads[t], true, &n), *slow = gradient_of(pads[t], false, &n);
    assert_close("dx", fast, slow, n, 1e-5, 0);
    free(fast);
    free(slow);
  }
  winograd_force(false);
}

/* ---- In training ---- */

enum { N = 40, SIDE = 8, PIXELS = SIDE * SIDE };

static r4_data *noise(void)
{
  static float x[N * PIXELS], m[N * PIXELS];
  static int32_t y[N];
  static r4_split split[N];
  draw_start(24, 0);
  for (size_t i = 0; i < N; i++) y[i] = (int32_t)(i % 2), split[i] = i < 32 ? R4_TRAIN : R4_VAL;
  for (size_t k = 0; k < N * PIXELS; k++) x[k] = (float)draw(0, 1), m[k] = k % PIXELS < 10;
  return small_images(N, SIDE, x, y, split, m);
}

/* The weights after a step of R3; the caller frees them. */
static double *step_of(const char *winograd, bool *found, size_t *n)
{
  static const char *const common[] = {"net=conv 32 3 p1, relu, conv 32 3 p1, relu, flatten, dense 2",
                                       "method=r3",
                                       "batch=32",
                                       "fill=none",
                                       "optimizer=sgd",
                                       NULL};
  r4_error e = {0};
  r4_data *d = noise();
  r4_settings *s = settings_case_with(common, (const char *const[]){winograd, NULL});
  r4_trainer *t = r4_trainer_new(s, d, &e);
  if (!t || r4_trainer_step(t, NULL, &e)) fail_msg("%s", e.text);
  char *text = r4_plan_text(r4_trainer_plan(t));
  *found = strstr(text, "winograd") != NULL;
  *n = r4_net_size(r4_trainer_net(t));
  double *weights = malloc(*n * sizeof *weights);
  assert_non_null(weights);
  for (size_t k = 0; k < *n; k++) weights[k] = (double)r4_trainer_weights(t)[k];
  r4_string_free(text);
  r4_trainer_free(t);
  r4_settings_free(s);
  r4_data_free(d);
  return weights;
}

/* Training takes it unless told otherwise, to nearly the same weights. */
static void test_training(void **state)
{
  (void)state;
  bool by_default, off;
  size_t n;
  double *fast = step_of("threads=0", &by_default, &n), *slow = step_of("winograd=false", &off, &n);
  assert_int_equal(by_default, FAST);
  assert_false(off);
  assert_close("weights", fast, slow, n, 1e-6, 0);
  free(fast);
  free(slow);
}

static void test_out_of_memory(void **state)
{
  (void)state;
  winograd_force(true);
  for (int k = 0; k < 3; k++) {
    struct kernel_request q = allowed(ops[k], good());
    r4_error e = {0};
    r4_mem_fail_at(1);
    assert_null(conv_make(&q, &e));
    r4_mem_fail_at(0);
    assert_int_equal(e.status, R4_E_MEMORY);
  }
  winograd_force(false);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_conv),     cmocka_unit_test(test_conv_dx),
    cmocka_unit_test(test_conv_dw),  cmocka_unit_test(test_padding),
    cmocka_unit_test(test_taps),     cmocka_unit_test(test_bits),
    cmocka_unit_test(test_choice),   cmocka_unit_test(test_nan),
    cmocka_unit_test(test_plan),     cmocka_unit_test(test_uneven_padding),
    cmocka_unit_test(test_training), cmocka_unit_test(test_out_of_memory),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("winograd", tests, NULL, NULL);
}
