/* Head first, then all: what learns when, with a fresh optimiser for the second part, and stopped and loaded again or
 * not. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scratch.h"
#include "settings_case.h"

static const double RATE = 0.01;

static r4_settings *settings_with(const char *const *more)
{
  static const char *const common[] = {
    "data=digits:200",
    "data.val=0",
    "net=conv 3 3, relu, bn: batchnorm, flatten, b: dense 8, relu, fc: dense 10",
    "from.head=fc.*",
    "from.head_epochs=1",
    "epochs=3",
    "rate=0.01",
    "batch=200",
    NULL};
  return settings_case_with(common, more);
}

#define SET(...) ((const char *const[]){__VA_ARGS__, NULL})

static r4_trainer *trainer_of(const r4_settings *s)
{
  r4_error e = {0};
  r4_trainer *t = r4_trainer_new(s, NULL, &e);
  if (!t) fail_msg("%s", e.text);
  return t;
}

static float *epoch(r4_trainer *t)
{
  r4_error e = {0};
  size_t bytes = r4_net_size(r4_trainer_net(t)) * sizeof(float);
  float *w = malloc(bytes);
  if (r4_trainer_epoch(t, NULL, &e)) fail_msg("%s", e.text);
  return memcpy(w, r4_trainer_weights(t), bytes);
}

/* The largest change of parameters whose names begin so, of those that the optimiser moves or of the buffers. */
static double moved(const r4_net *n, const float *from, const float *to, const char *begin, bool buffers)
{
  double most = 0;
  for (size_t k = 0; k < r4_net_params(n); k++) {
    size_t at = r4_net_param_offset(n, k), end = at + (size_t)r4_shape_count(r4_net_param_shape(n, k));
    if (r4_net_param_is_buffer(n, k) != buffers || strncmp(r4_net_param_name(n, k), begin, strlen(begin)))
      continue;
    for (; at < end; at++) most = fmax(most, fabs((double)to[at] - (double)from[at]));
  }
  return most;
}

/* An epoch is one step here. Adam's first step is as long as the rate, whatever the gradient. */
static void test_what_learns_when(void **state)
{
  (void)state;
  static const char *const body[] = {"0.", "bn.", "b."};
  r4_settings *s = settings_with(NULL);
  r4_trainer *t = trainer_of(s);
  const r4_net *n = r4_trainer_net(t);
  float *drawn = malloc(r4_net_size(n) * sizeof *drawn);
  r4_net_init(n, NULL, 0, drawn, NULL);
  float *first = epoch(t), *second = epoch(t);
  for (size_t k = 0; k < 3; k++) {
    assert_true(moved(n, drawn, first, body[k], false) == 0);
    assert_true(fabs(moved(n, first, second, body[k], false) - RATE) < 0.01 * RATE);
  }
  assert_true(moved(n, drawn, first, "bn.", true) == 0);
  assert_true(moved(n, first, second, "bn.", true) > 0);
  assert_true(fabs(moved(n, drawn, first, "fc.", false) - RATE) < 0.01 * RATE);
  assert_true(fabs(moved(n, first, second, "fc.", false) - RATE) < 0.01 * RATE);
  free(drawn);
  free(first);
  free(second);
  r4_trainer_free(t);
  r4_settings_free(s);
}

static void finish(r4_trainer *t)
{
  while (!r4_trainer_done(t)) free(epoch(t));
}

/* Within the first part, at its end, and within the second. */
static void test_stopped_and_loaded(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_settings *s = settings_with(SET("batch=64"));
  r4_trainer *whole = trainer_of(s);
  finish(whole);
  for (int steps = 2; steps <= 6; steps += 2) {
    r4_trainer *a = trainer_of(s), *b = trainer_of(s);
    for (int k = 0; k < steps; k++) assert_int_equal(r4_trainer_step(a, NULL, &e), R4_OK);
    if (r4_trainer_save(a, scratch_path("state"), &e)) fail_msg("%s", e.text);
    if (r4_trainer_load(b, scratch_path("state"), &e)) fail_msg("%s", e.text);
    finish(b);
    assert_memory_equal(r4_trainer_weights(b), r4_trainer_weights(whole),
                        r4_net_size(r4_trainer_net(b)) * sizeof(float));
    r4_trainer_free(a);
    r4_trainer_free(b);
  }
  r4_trainer_free(whole);
  r4_settings_free(s);
}

static void refuses(const char *const *set, const char *expected)
{
  r4_error e = {0};
  r4_settings *s = settings_with(set);
  r4_trainer *t = r4_trainer_new(s, NULL, &e);
  assert_null(t);
  assert_error(&e, e.status, expected);
  r4_settings_free(s);
}

static void test_refusals(void **state)
{
  (void)state;
  refuses(SET("from.head="), "from.head_epochs (test) has no effect, as from.head (test) is");
  refuses(SET("from.head_epochs=3"),
          "from.head_epochs (test) is 3, but epochs (test) is 3: the run would end before");
  refuses(SET("from.head=fx.*"), "from.head (test): no parameter of the net matches \"fx.*\"");
  refuses(SET("freeze=fc.*"), "from.head_epochs (test) is 1, but nothing of from.head (test) is trained");
  refuses(SET("from.head=bn.running_mean"), "nothing of from.head (test) is trained");
}

/* A fifth of 5 epochs has none for the head alone, a fifth of 20 has one of its five. */
static void test_shortened(void **state)
{
  (void)state;
  const struct {
    const char *const *set;
    int64_t epochs, head;
    double ramp;
  } sample[] = {{SET("epochs=5", "method=r3", "penalty.ramp=5"), 1, 0, 1},
                {SET("epochs=20", "from.head_epochs=5", "method=r3", "penalty.ramp=2"), 4, 1, 0.4}};
  for (size_t k = 0; k < 2; k++) {
    r4_error e = {0};
    r4_setting_value epochs, head, ramp, after;
    r4_settings *s = settings_with(sample[k].set);
    if (r4_settings_shorten(s, 0.2, &e)) fail_msg("%s", e.text);
    r4_settings_get(s, "epochs", &epochs, NULL);
    r4_settings_get(s, "head_epochs", &head, NULL);
    r4_settings_get(s, "lambda_ramp", &ramp, NULL);
    r4_settings_get(s, "penalty_after", &after, NULL);
    assert_true(epochs.whole == sample[k].epochs && head.whole == sample[k].head);
    assert_float_equal(ramp.real, sample[k].ramp, 1e-12);
    assert_string_equal(after.text, "default");
    r4_settings_free(s);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_learns_when),
                                     cmocka_unit_test(test_stopped_and_loaded),
                                     cmocka_unit_test(test_shortened), cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
