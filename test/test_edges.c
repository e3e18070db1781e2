/* Values and requests at the edge: not a number, intervals that are points or touch zero, deep and
 * heavily shared graphs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "r4.h"

enum { N = 16 };

static const r4_plan_options modes[] = {{.type = R4_F32}, {.type = R4_F32, .keep_bytes = 1}};

static r4_status run(const r4_graph *g, r4_id y, const r4_plan_options *mode, const float *x, float *out)
{
  r4_error e;
  r4_plan *p = r4_plan_new(g, 1, &y, mode, &e);
  if (!p) fail_msg("%s", e.text);
  r4_status s = r4_plan_input(p, "x", x, &e);
  if (!s) s = r4_plan_output(p, 0, out, &e);
  if (!s) s = r4_plan_run(p, &e);
  r4_plan_free(p);
  return s;
}

/* f of a tensor with one NaN, at any place: the result is NaN, fast and by plain loops. */
static void stays_nan(r4_id (*f)(r4_graph *, r4_id), r4_shape shape)
{
  const r4_plan_options both[] = {{.type = R4_F32}, {.type = R4_F32, .reference = true}};
  r4_graph *g = r4_graph_new();
  r4_id y = f(g, r4_input(g, "x", shape));
  for (int mode = 0; mode < 2; mode++)
    for (int at = 0; at < N; at++) {
      float x[N] = {0}, out[N] = {0};
      for (int k = 0; k < N; k++) x[k] = (float)(k % 5) - 2;
      x[at] = NAN;
      assert_int_equal(run(g, y, &both[mode], x, out), R4_OK);
      assert_true(isnan(out[0]));
    }
  r4_graph_free(g);
}

static r4_id largest(r4_graph *g, r4_id x)
{
  return r4_reduce_max(g, x, R4_ALL);
}

static r4_id largest_of_rows(r4_graph *g, r4_id x)
{
  return r4_reduce_max(g, r4_reduce_max(g, r4_reshape(g, x, R4_SHAPE(4, 4)), R4_AXIS(0)), R4_ALL);
}

static r4_id pooled(r4_graph *g, r4_id x)
{
  const int64_t kernel[2] = {4, 4};
  return r4_pool_max(g, r4_reshape(g, x, R4_SHAPE(1, 4, 4, 1)), kernel, r4_window_of(4, 0));
}

/* a layer with bias and relu, the sum of its units */
static r4_id layer(r4_graph *g, r4_id x)
{
  r4_id w = r4_const(g, 0.5, R4_SHAPE(4, N)),
        b = r4_add(g, r4_iota(g, 0, R4_SHAPE(4)), r4_const(g, -9, R4_SCALAR));
  r4_id z = r4_add(g, r4_matmul(g, r4_reshape(g, x, R4_SHAPE(1, N)), w, false, true), b);
  return r4_sum(g, r4_relu(g, z), R4_ALL);
}

static r4_id exponentials(r4_graph *g, r4_id x)
{
  return r4_sum(g, r4_add(g, r4_exp(g, x), r4_add(g, r4_softmax(g, x), r4_sigmoid(g, x))), R4_ALL);
}

/* rows of 128 */
static r4_id repeated(r4_graph *g, r4_id x)
{
  return r4_reshape(g, r4_broadcast(g, x, R4_SHAPE(8, N)), R4_SHAPE(8 * N));
}

static r4_id long_row(r4_graph *g, r4_id x)
{
  return r4_sum(g, r4_softmax(g, repeated(g, x)), R4_ALL);
}

/* exp(10^4) is infinite */
static r4_id infinite_row(r4_graph *g, r4_id x)
{
  return r4_logsumexp(g, r4_exp(g, r4_scale(g, repeated(g, x), 1e4)));
}

static void test_not_a_number_stays(void **state)
{
  (void)state;
  stays_nan(largest, R4_SHAPE(N));
  stays_nan(largest_of_rows, R4_SHAPE(N));
  stays_nan(pooled, R4_SHAPE(N));
  stays_nan(layer, R4_SHAPE(N));
  stays_nan(exponentials, R4_SHAPE(N));
  stays_nan(long_row, R4_SHAPE(N));
  stays_nan(infinite_row, R4_SHAPE(N));
}

/* 1 / [-1, 1]: both bounds are refused, not only the one that divides by the lower end. */
static void test_quotient(void **state)
{
  (void)state;
  r4_graph *g = r4_graph_new();
  r4_id x = r4_input(g, "x", R4_SHAPE(1)), one = r4_const(g, 1, R4_SHAPE(1));
  r4_box box = r4_box_around(x, x, one);
  r4_pair b = r4_bound(g, r4_div(g, one, x), 1, &box);
  float zero = 0, three = 3, tiny = 0, out = 0;
  assert_int_equal(run(g, b.lo, modes, &zero, &out), R4_E_DOMAIN);
  assert_int_equal(run(g, b.hi, modes, &zero, &out), R4_E_DOMAIN);
  assert_int_equal(run(g, b.lo, modes, &three, &out), R4_OK);
  assert_true(out == 0.25f);
  r4_box small = r4_box_between(x, r4_const(g, 1e-25, R4_SHAPE(1)), r4_const(g, 2e-25, R4_SHAPE(1)));
  b = r4_bound(g, r4_div(g, one, x), 1, &small);
  assert_int_equal(run(g, b.lo, modes, &tiny, &out), R4_OK);
  r4_graph_free(g);
}

static void test_box_of_one_point(void **state)
{
  (void)state;
  r4_graph *g = r4_graph_new();
  r4_id x = r4_input(g, "x", R4_SHAPE(3)), a = r4_const(g, 2, R4_SHAPE(3));
  r4_box box = r4_box_between(x, a, a);
  r4_pair b = r4_bound(g, r4_sum(g, r4_mul(g, r4_add(g, x, x), x), R4_ALL), 1, &box);
  float in[3] = {0}, out = 0;
  assert_int_equal(r4_graph_status(g, NULL), R4_OK);
  assert_int_equal(run(g, b.hi, modes, in, &out), R4_OK);
  assert_true(out == 24);
  r4_graph_free(g);
}

/* A chain longer than the stack, and a sum that shares its terms 2^40 times. */
static void test_deep_and_shared(void **state)
{
  (void)state;
  r4_graph *g = r4_graph_new();
  r4_id x = r4_input(g, "x", R4_SHAPE(2, 2)), y = x, s = x;
  for (int k = 0; k < 100000; k++) y = r4_abs(g, r4_sub(g, y, x));
  for (int k = 0; k < 40; k++) s = r4_scale(g, r4_add(g, s, s), 0.5);
  r4_id doubled = x;
  for (int k = 0; k < 40; k++) doubled = r4_add(g, doubled, doubled);
  float in[4] = {1, 2, 3, 4}, out[4];
  for (int mode = 0; mode < 2; mode++) {
    assert_int_equal(run(g, y, &modes[mode], in, out), R4_OK);
    assert_true(out[3] == 4); /* 4, 0, 4, 0, ... an even number of times */
  }
  assert_int_equal(run(g, r4_matmul(g, s, x, false, false), modes, in, out), R4_OK);
  assert_true(out[0] == 7 && out[3] == 22);
  assert_int_equal(run(g, r4_matmul(g, doubled, x, false, false), modes, in, out), R4_OK);
  assert_true(out[0] == 7 * 0x1p40f);
  r4_graph_free(g);
}

/* The results may go where the inputs came from. */
static void test_grad_in_place(void **state)
{
  (void)state;
  r4_graph *g = r4_graph_new();
  r4_id x = r4_input(g, "x", R4_SHAPE(2)), d = x;
  r4_grad(g, r4_sum(g, r4_square(g, x), R4_ALL), 1, &d, &d);
  float in[2] = {3, 4}, out[2];
  assert_int_equal(run(g, d, modes, in, out), R4_OK);
  assert_true(out[0] == 6 && out[1] == 8);
  r4_graph_free(g);
}

static void test_fill_below(void **state)
{
  (void)state;
  static float x[1 << 20];
  for (uint32_t step = 0; step < 32; step++) {
    r4_random_fill((r4_random){1, 2, step}, 1 << 20, 1, 2, x);
    for (size_t i = 0; i < 1 << 20; i++) assert_true(x[i] < 2);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_not_a_number_stays), cmocka_unit_test(test_quotient),
    cmocka_unit_test(test_box_of_one_point),   cmocka_unit_test(test_deep_and_shared),
    cmocka_unit_test(test_grad_in_place),      cmocka_unit_test(test_fill_below),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("edges", tests, NULL, NULL);
}
