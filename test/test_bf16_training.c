/* Training steps in bfloat16: every method, and the setting. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "exec/kernel/kernel.h"
#include "scratch.h"
#include "settings_case.h"
#include "small_images.h"

#define NEEDS_BF16 \
  if (r4_bf16_missing()) check_skip("%s", r4_bf16_missing())

enum { N = 64, SIDE = 16, PIXELS = SIDE * SIDE };

static r4_data *noise(void)
{
  static float x[N * PIXELS], m[N * PIXELS];
  static int32_t y[N];
  static r4_split split[N];
  draw_start(47, 0);
  for (size_t i = 0; i < N; i++) y[i] = (int32_t)(i % 2), split[i] = i < 48 ? R4_TRAIN : R4_VAL;
  for (size_t k = 0; k < N * PIXELS; k++) x[k] = (float)draw(0, 1), m[k] = k % PIXELS < PIXELS / 4;
  return small_images(N, SIDE, x, y, split, m);
}

static const char *more = "threads=0";

/* The change of the weights by a step without momentum: the gradient; the caller frees it. */
static double *step_of(const char *method, const char *precision, const char *lambda, bool *found, size_t *n)
{
  const char *const common[] = {"net=conv 8 5 s2, relu, flatten, dense 64, relu, dense 2",
                                "batch=48",
                                "optimizer=sgd",
                                "rate=1",
                                "momentum=0",
                                "penalty.after=0",
                                "explain=loss",
                                "penalty.form=linear",
                                "penalty.cap=false",
                                "penalty.mean=all",
                                NULL};
  const char *fill = r4_method_describe(method).pairs ? "threads=0" : "fill=none";
  char a[100], b[100], c[100];
  snprintf(a, sizeof a, "method=%s", method);
  snprintf(b, sizeof b, "precision=%s", precision);
  snprintf(c, sizeof c, "lambda=%s", lambda);
  r4_error e = {0};
  r4_data *d = noise();
  r4_settings *s = settings_case_with(common, (const char *const[]){a, b, c, fill, more, NULL});
  r4_trainer *t = r4_trainer_new(s, d, &e);
  if (!t) fail_msg("%s: %s", method, e.text);
  *n = r4_net_size(r4_trainer_net(t));
  double *step = malloc(*n * sizeof *step);
  assert_non_null(step);
  for (size_t k = 0; k < *n; k++) step[k] = (double)r4_trainer_weights(t)[k];
  if (r4_trainer_step(t, NULL, &e)) fail_msg("%s: %s", method, e.text);
  for (size_t k = 0; k < *n; k++) step[k] -= (double)r4_trainer_weights(t)[k];
  char *text = r4_plan_text(r4_trainer_plan(t));
  *found = strstr(text, " bf16: ") != NULL;
  r4_string_free(text);
  r4_trainer_free(t);
  r4_settings_free(s);
  r4_data_free(d);
  return step;
}

static double dot(const double *a, const double *b, size_t n)
{
  double sum = 0;
  for (size_t k = 0; k < n; k++) sum += a[k] * b[k];
  return sum;
}

static double cosine(const double *a, const double *b, size_t n)
{
  return dot(a, b, n) / sqrt(dot(a, a, n) * dot(b, b, n));
}

/* In bfloat16, too, the penalty of every method moves the weights, and in the direction that it has in float; the same
 * step gives the same bits. */
static void test_methods(void **state)
{
  (void)state;
  NEEDS_BF16;
  size_t n, tested = 0;
  bool yes, no;
  for (size_t k = 0; r4_method_name(k); k++) {
    const char *method = r4_method_name(k);
    r4_method_info m = r4_method_describe(method);
    if (!m.guided || m.terms != 1 || strstr(method, "word")) continue;
    double *half = step_of(method, "bf16", "1", &yes, &n), *full = step_of(method, "float", "1", &no, &n),
           *again = step_of(method, "bf16", "1", &yes, &n),
           *none = step_of(method, "bf16", "1e-12", &yes, &n);
    assert_true(yes && !no);
    assert_memory_equal(half, again, n * sizeof *half);
    if (cosine(half, full, n) < 0.98) fail_msg("%s: cosine %g", method, cosine(half, full, n));
    for (size_t j = 0; j < n; j++) half[j] -= none[j];
    if (!(dot(half, half, n) > 1e-6 * dot(none, none, n))) fail_msg("%s: the penalty moves nothing", method);
    free(half);
    free(full);
    free(again);
    free(none);
    tested++;
  }
  assert_true(tested > 5);
}

/* auto takes it where the CPU can; on others it is float, to the bit; and so are linear bounds, whose ends are
 * products. */
static void test_setting(void **state)
{
  (void)state;
  NEEDS_BF16;
  size_t n;
  bool by_auto, hidden, by_default;
  double *a = step_of("r3", "auto", "1", &by_auto, &n), *f = step_of("r3", "float", "1", &by_default, &n);
  dnn_hide_bf16(true);
  double *h = step_of("r3", "bf16", "1", &hidden, &n);
  dnn_hide_bf16(false);
  assert_true(by_auto && !hidden && !by_default);
  bool linear;
  more = "bounds=linear";
  double *l = step_of("cert-r4", "bf16", "1", &linear, &n);
  more = "threads=0";
  assert_false(linear);
  free(l);
  assert_memory_equal(h, f, n * sizeof *h);
  assert_true(memcmp(a, f, n * sizeof *a));
  free(a);
  free(f);
  free(h);
}

/* ---- Going on ---- */

static const char *const GOES_ON[] = {"net=dense 64, relu, dense 2", "batch=48", "method=r3", "lambda=1", "epochs=3",
                                      "precision=auto", NULL};

static r4_trainer *trainer(r4_settings *s, r4_data *d)
{
  r4_error e = {0};
  r4_trainer *t = r4_trainer_new(s, d, &e);
  if (!t) fail_msg("%s", e.text);
  return t;
}

/* The weights after all epochs: begun with bfloat16 or as without, and gone on with after so many on the other kind of
 * CPU if that is possible. */
static r4_status goes_on(bool began, bool goes, int after, float *weights)
{
  r4_error e = {0};
  const char *checkpoint = scratch_path("checkpoint");
  r4_data *d = noise();
  r4_settings *s = settings_case_with(GOES_ON, NULL);
  dnn_hide_bf16(!began);
  r4_trainer *t = trainer(s, d);
  for (int k = 0; k < after; k++) assert_int_equal(r4_trainer_epoch(t, NULL, &e), R4_OK);
  assert_int_equal(r4_trainer_save(t, checkpoint, &e), R4_OK);
  r4_trainer_free(t);
  dnn_hide_bf16(!goes);
  t = trainer(s, d);
  r4_status status = r4_trainer_load(t, checkpoint, &e);
  if (status) assert_non_null(strstr(e.text, "the run began with products in bfloat16, and this CPU has no"));
  while (!status && !r4_trainer_done(t)) status = r4_trainer_epoch(t, NULL, &e);
  if (!status) memcpy(weights, r4_trainer_weights(t), r4_net_size(r4_trainer_net(t)) * sizeof *weights);
  dnn_hide_bf16(false);
  r4_trainer_free(t);
  r4_settings_free(s);
  r4_data_free(d);
  return status;
}

/* A run that began in float goes on in float on any CPU; one that began in bfloat16 needs a CPU that has it. */
static void test_going_on(void **state)
{
  (void)state;
  NEEDS_BF16;
  static float whole[PIXELS * 64 + 64 + 128 + 2], other[sizeof whole / sizeof *whole];
  assert_int_equal(goes_on(false, false, 1, whole), R4_OK);
  assert_int_equal(goes_on(false, true, 1, other), R4_OK);
  assert_memory_equal(whole, other, sizeof whole);
  assert_int_equal(goes_on(true, true, 1, other), R4_OK);
  assert_true(memcmp(whole, other, sizeof whole));
  assert_int_equal(goes_on(true, false, 1, other), R4_E_ARGUMENT);
  assert_int_equal(goes_on(true, false, 3, other), R4_OK); /* there is nothing left to do */
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_methods),
    cmocka_unit_test(test_setting),
    cmocka_unit_test(test_going_on),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("bf16_training", tests, scratch_make, scratch_remove);
}
