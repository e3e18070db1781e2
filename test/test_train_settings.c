/* What settings do to a run: each changes it, they must fit the data, and some say where it starts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "scratch.h"
#include "train_case.h"

static int begin(void **state)
{
  if (scratch_make(state)) return -1;
  r4_threads(1, false);
  return 0;
}

static void a_loss_that_explodes_says_where(void **state)
{
  (void)state;
  r4_error e = {0};
  const char *const wild[] = {"rate=1e30", "optimizer=sgd", "schedule=constant", NULL};
  assert_int_equal(train_case(wild, "wild", false, 0, NULL, &e), R4_E_DOMAIN);
  assert_non_null(strstr(e.text, "step "));
  assert_non_null(strstr(e.text, "examples at fault"));
  assert_non_null(strstr(e.text, "checkpoint"));
}

static void settings_must_fit_the_data(void **state)
{
  (void)state;
  static const struct {
    const char *set, *says;
  } wrong[] = {{"net=dense 16, relu, dense 7", "7 outputs, the data 10 classes"},
               {"net=mlp100-10", "takes 100 features, the data has 784"},
               {"data=", "data is not set"},
               {"data=no-such-thing", "no-such-thing"},
               {"augment.crop=28", "augment.crop is 28, expected 0 to 27 for images of 28 x 28 pixels"},
               {"net=conv 4 30, flatten, dense 10", "conv 4 30"},
               {"eps.ramp=4", "eps.ramp (test) is 4, but epochs (test) is 3"}};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    r4_error e = {0};
    const char *const set[] = {wrong[k].set, NULL};
    assert_int_not_equal(train_case(set, "wrong", false, 0, NULL, &e), R4_OK);
    if (!strstr(e.text, wrong[k].says)) fail_msg("%s: %s", wrong[k].set, e.text);
  }
  r4_error e = {0};
  const char *const no_val[] = {"data.val=0", NULL};
  assert_int_equal(train_case(no_val, "wrong", false, 0, NULL, &e), R4_E_ARGUMENT);
  assert_non_null(strstr(e.text, "select is worst"));
}

/* Every kind of setting that changes a run really changes it. */
static void settings_matter(void **state)
{
  (void)state;
  static const char *const change[] = {"method=erm",
                                       "lambda=0.1",
                                       "eps=0.1",
                                       "eps=range",
                                       "attack.steps=3",
                                       "eps.ramp=0",
                                       "batch=81",
                                       "rate=0.002",
                                       "schedule=constant",
                                       "seed=1",
                                       "init=kaiming",
                                       "fill=noise",
                                       "penalty.cap=true",
                                       "optimizer=sgd",
                                       "weight_decay=0.01",
                                       "weight_penalty=0.01",
                                       "class_weights=1,2,1,1,1,1,1,1,1,1",
                                       "group_weights=1,2,1,1,1,1,1,1,1,1",
                                       "group_batches=true",
                                       "penalty.norm=l1",
                                       "penalty.form=log",
                                       "explain=margin",
                                       "attack.random_start=false",
                                       "range=0,1",
                                       "data.keep_masks=0.5",
                                       "data.keep=0.5",
                                       "data.corrupt=shift",
                                       "data.clean=true",
                                       "published.shades=ross",
                                       "published.double_softmax=true",
                                       "delta=0.01",
                                       "warmup=1",
                                       "penalty.ramp=1",
                                       "beta1=0.8",
                                       "beta2=0.99",
                                       "drop_last=true",
                                       "augment.flip=true",
                                       "augment.crop=1",
                                       "augment.brightness=0.2",
                                       "augment.colour=0.2",
                                       "attack.step=0.01"};
  for (size_t k = 0; k < sizeof change / sizeof *change; k++) {
    const char *const set[] = {"eps.ramp=0.75",
                               "epochs=1",
                               "penalty.cap=false",
                               change[k],
                               !strncmp(change[k], "data.corrupt", 12) ? "data.correct=0.1" : NULL,
                               NULL};
    const char *const plain[] = {"eps.ramp=0.75", "epochs=1", "penalty.cap=false", NULL};
    uint8_t *x = NULL, *y = NULL;
    size_t n = 0, m = 0;
    char run[32];
    snprintf(run, sizeof run, "change-%zu", k);
    if (k == 0) train_or_fail(plain, "plain", false);
    train_or_fail(set, run, false);
    assert_int_equal(file_read(train_path("plain", "model.safetensors"), 1 << 26, &x, &n, NULL), R4_OK);
    assert_int_equal(file_read(train_path(run, "model.safetensors"), 1 << 26, &y, &m, NULL), R4_OK);
    if (n == m && !memcmp(x, y, n)) fail_msg("%s changes nothing", change[k]);
    r4_mem_free(x);
    r4_mem_free(y);
  }
}

/* A number of the first line of a log. */
static double logged(const char *run, const char *key)
{
  uint8_t *text = NULL;
  size_t n = 0;
  assert_int_equal(file_read(train_path(run, "log.jsonl"), 1 << 20, &text, &n, NULL), R4_OK);
  char *at = strstr((char *)text, key);
  if (!at) fail_msg("%s: no %s", run, key);
  double v = strtod(at + strlen(key), NULL);
  r4_mem_free(text);
  return v;
}

/* While Cert-R4's part of cert-r4+r3 waits, for the first epoch, R3's does not: that epoch is one of R3. */
static void r3_leads_while_cert_r4_waits(void **state)
{
  (void)state;
#define COMMON "penalty.cap=false", "fill=none", "penalty.ramp=0", "eps.ramp=0", "epochs=2", "rate=0.01"
  const char *const r3[] = {COMMON, "method=r3", "lambda=50", "penalty.form=linear", NULL};
  const char *const both[] = {COMMON,         "method=cert-r4+r3", "lambda=3",
                              "lambda_r3=50", "penalty.after=1",   NULL};
  const char *const late[] = {COMMON,         "method=ibp-ex+r3", "lambda=3",
                              "lambda_r3=50", "penalty.after=1",  NULL};
#undef COMMON
  train_or_fail(r3, "lead-r3", false);
  train_or_fail(both, "lead-both", false);
  train_or_fail(late, "lead-late", false);
  double data = logged("lead-r3", "\"data\":"), without = logged("lead-late", "\"data\":");
  assert_true(fabs(data - without) > 1e-3); /* the penalty matters, or this shows nothing */
  assert_true(fabs(logged("lead-both", "\"data\":") - data) < 1e-5 * data);
  assert_true(fabs(logged("lead-both", "\"loss\":") - logged("lead-r3", "\"loss\":")) < 1e-5);
}

/* A run that starts from another's weights, by folder or file: of its own seed where there are several. */
static void weights_of_another_run(void **state)
{
  (void)state;
  char from[600], file[600];
  r4_error e = {0};
  train_or_fail(NULL, "whole", false);
  snprintf(from, sizeof from, "from=%s", train_path("whole", ""));
  snprintf(file, sizeof file, "from=%s", train_path("whole", "model.safetensors"));
  const char *const by_folder[] = {from,         "rate=0", "weight_decay=0", "select=last", "epochs=1",
                                   "eps.ramp=0", NULL};
  const char *const by_file[] = {file,         "rate=0", "weight_decay=0", "select=last", "epochs=1",
                                 "eps.ramp=0", NULL};
  train_or_fail(by_folder, "later", false);
  train_or_fail(by_file, "later-file", false);
  assert_same_file(train_path("whole", "model.safetensors"), train_path("later", "model.safetensors"));
  assert_same_file(train_path("whole", "model.safetensors"), train_path("later-file", "model.safetensors"));
  const char *const other[] = {from, "net=dense 8, relu, dense 10", NULL}, *const missing[] = {"from=nowhere",
                                                                                               NULL};
  assert_int_equal(train_case(other, "misfit", false, 0, NULL, &e), R4_E_SHAPE);
  assert_non_null(strstr(e.text, "model.safetensors"));
  assert_int_equal(train_case(missing, "misfit", false, 0, NULL, &e), R4_E_IO);
  assert_non_null(strstr(e.text, "nowhere"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_loss_that_explodes_says_where),
    cmocka_unit_test(settings_must_fit_the_data),
    cmocka_unit_test(settings_matter),
    cmocka_unit_test(r3_leads_while_cert_r4_waits),
    cmocka_unit_test(weights_of_another_run),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("train_settings", tests, begin, scratch_remove);
}
