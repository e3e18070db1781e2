/* Clipping of the gradient: by hand, and in what becomes of the weights. */
#include <math.h>
#include <stdio.h>

#include "optim/clip.h"
#include "scratch.h"
#include "settings_case.h"

static void assert_values(const float *got, const float *expected, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (fabsf(got[i] - expected[i]) > 1e-6f)
      fail_msg("%zu: %g, not %g", i, (double)got[i], (double)expected[i]);
}

static void assert_near(double got, double expected, double within)
{
  if (!(fabs(got - expected) <= within)) fail_msg("%g, not %g", got, expected);
}

static void test_by_hand(void **state)
{
  (void)state;
  float g[] = {3, 0, -4}, half[] = {1.5f, 0, -2}, as_was[] = {3, 0, -4};
  assert_true(clip_gradient(g, 3, 0) == 0); /* off */
  assert_values(g, as_was, 3);
  assert_true(clip_gradient(g, 3, 5) == 5); /* just long enough */
  assert_values(g, as_was, 3);
  assert_true(clip_gradient(g, 3, 2.5) == 5);
  assert_values(g, half, 3);
}

/* Lengths that are no multiple of anything; and squares that float does not hold. */
static void test_sizes(void **state)
{
  (void)state;
  for (size_t n = 1; n < 40; n++) {
    float g[40];
    for (size_t i = 0; i < n; i++) g[i] = 1;
    assert_near(clip_gradient(g, n, 0.5), sqrt((double)n), 1e-12);
    assert_near(clip_gradient(g, n, 9), 0.5, 1e-6);
  }
  float huge[] = {3e30f, 4e30f}, one[] = {0.6f, 0.8f};
  clip_gradient(huge, 2, 1);
  assert_values(huge, one, 2);
  assert_true(clip_gradient(huge, 0, 1) == 0);
}

static void test_what_is_not_finite_stays(void **state)
{
  (void)state;
  float g[] = {1, INFINITY}, h[] = {1, NAN};
  clip_gradient(g, 2, 0.5);
  assert_true(g[0] == 1 && isinf(g[1]));
  clip_gradient(h, 2, 0.5);
  assert_true(h[0] == 1 && isnan(h[1]));
}

/* ---- In a run ---- */

/* Trains one step of plain SGD; how far the weights are from those that a rate of 0 leaves. */
static void train_one_step(const char *run, const char *more)
{
  r4_error e = {0};
  char folder[256];
  r4_settings *s =
    settings_case("data: digits:100\ndata.val: 0\nnet: dense 8, relu, dense 10\nepochs: 1\nbatch: 100\n"
                  "optimizer: sgd\nmomentum: 0\n");
  if (settings_case_read(s, more, &e)) fail_msg("%s", e.text);
  snprintf(folder, sizeof folder, "%s", scratch_path(run));
  if (r4_train(s, &(r4_train_options){.folder = folder}, NULL, &e)) fail_msg("%s", e.text);
  r4_settings_free(s);
}

static double moved(const char *run)
{
  r4_error e;
  char path[300];
  snprintf(path, sizeof path, "%s/model.safetensors", scratch_path("still"));
  r4_model *from = r4_model_open(path, NULL, &e);
  snprintf(path, sizeof path, "%s/model.safetensors", scratch_path(run));
  r4_model *to = r4_model_open(path, NULL, &e);
  assert_true(from && to);
  double sum = 0;
  for (size_t i = 0; i < r4_net_size(r4_model_net(from)); i++) {
    double d = (double)r4_model_weights(to)[i] - (double)r4_model_weights(from)[i];
    sum += d * d;
  }
  r4_model_free(from);
  r4_model_free(to);
  return sqrt(sum);
}

/* SGD moves by rate ||g||, and by rate clip where that is less. */
static void test_weights_move_as_far(void **state)
{
  (void)state;
  train_one_step("still", "rate: 0\n");
  train_one_step("free", "rate: 0.5\n");
  train_one_step("short", "rate: 0.5\nclip: 0.01\n");
  train_one_step("shorter", "rate: 0.5\nclip: 0.005\n");
  train_one_step("wide", "rate: 0.5\nclip: 1000\n");
  assert_true(moved("free") > 0.02);
  assert_near(moved("short"), 0.005, 2e-6);
  assert_near(moved("shorter"), 0.0025, 2e-6);
  assert_true(moved("wide") == moved("free"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_by_hand),
    cmocka_unit_test(test_sizes),
    cmocka_unit_test(test_what_is_not_finite_stays),
    cmocka_unit_test(test_weights_move_as_far),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
