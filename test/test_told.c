/* The objective as a run tells it: it differs where settings make another one, has their numbers, and its value is the
 * loss that the log has. Of eight examples in one batch one has a mask, so that a mean over those is its q. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "scratch.h"
#include "settings_case.h"

enum { N = 8, FEATURES = 6 };

/* ---- Runs ---- */

static char told[2048];

static void listen(const char *sentence, void *user)
{
  (void)user;
  if (strstr(sentence, " = mean loss")) snprintf(told, sizeof told, "%s", sentence);
}

static const char *data_path(void)
{
  static char path[256];
  float x[N * FEATURES];
  uint8_t mask[N * FEATURES] = {0, 255, 255};
  int32_t label[N];
  r4_error e = {0};
  for (int i = 0; i < N; i++) label[i] = i % 2;
  for (int i = 0; i < N * FEATURES; i++) x[i] = (float)((i * 37) % 11) / 11;
  r4_data *d = r4_data_new(&(r4_data_arrays){.n = N,
                                             .shape = R4_SHAPE(FEATURES),
                                             .floats = x,
                                             .labels = label,
                                             .mask_bytes = mask,
                                             .mask_means = R4_MASKS_IRRELEVANT},
                           &e);
  snprintf(path, sizeof path, "%s", scratch_path("told.npz"));
  if (!d || r4_data_save(d, path, &e)) fail_msg("%s", e.text);
  r4_data_free(d);
  return path;
}

static void trains(const char *const *set)
{
  char data[300];
  r4_error e = {0};
  snprintf(data, sizeof data, "data=%s", data_path());
  const char *const common[] = {
    data,         "data.val=0",        "net=dense 8, relu, dense 2", "epochs=1", "batch=8",
    "fill=blank", "penalty.cap=false", "penalty.after=0",            "eps=0.25", "explain=loss", NULL};
  r4_settings *s = settings_case_with(common, set);
  const r4_train_options o = {.folder = scratch_path("told"), .force = true, .notice = listen};
  *told = 0;
  if (r4_train(s, &o, NULL, &e)) fail_msg("%s", e.text);
  r4_settings_free(s);
}

#define SET(...) ((const char *const[]){__VA_ARGS__, NULL})

static char *file_of_run(const char *name)
{
  char path[64];
  uint8_t *text = NULL;
  size_t n = 0;
  snprintf(path, sizeof path, "told/%s", name);
  assert_int_equal(file_read(scratch_path(path), 1 << 20, &text, &n, NULL), R4_OK);
  char *copy = calloc(n + 1, 1);
  memcpy(copy, text, n);
  r4_mem_free(text);
  return copy;
}

static double logged(const char *key)
{
  char mark[64], *log = file_of_run("log.jsonl");
  snprintf(mark, sizeof mark, "\"%s\":", key);
  const char *at = strstr(log, mark);
  assert_non_null(at);
  double v = strtod(at + strlen(mark), NULL);
  free(log);
  return v;
}

/* ---- The value of what is told ---- */

/* " + 0.1 x mean log(1 + Q / 0.01)" or " + 0.1 x mean Q", where q is the value of Q. */
static double value(const char *sentence, double q)
{
  char *end;
  const char *at = strstr(sentence, " + ");
  assert_non_null(at);
  double lambda = strtod(at + 3, &end);
  assert_int_equal(strncmp(end, " x mean ", 8), 0);
  bool log = !strncmp(end + 8, "log(1 + ", 8);
  if (!log) return lambda * q;
  char *scale = strstr(end, " / ");
  assert_non_null(scale);
  return lambda * log1p(q / strtod(scale + 3, NULL));
}

static void told_is_computed(const char *const *set)
{
  trains(set);
  double penalty = logged("loss") - logged("data"), expected = value(told, logged("penalty"));
  assert_true(logged("penalty") > 1e-4);
  if (fabs(penalty - expected) > 1e-5 * (1 + expected)) fail_msg("%s: %g, not %g", told, expected, penalty);
}

static void its_value_is_the_loss(void **state)
{
  (void)state;
  told_is_computed(SET("method=cert-r4", "lambda=0.5", "penalty.form=linear"));
  told_is_computed(SET("method=cert-r4", "lambda=0.5", "penalty.form=log"));
  told_is_computed(SET("method=cert-r4", "penalty.tau=0.01"));
  told_is_computed(SET("method=cert-r4", "penalty.norm=sum", "penalty.tau=0.01"));
  told_is_computed(SET("method=r3", "lambda=3"));
  told_is_computed(SET("method=r3", "penalty.form=log", "penalty.tau=0.5"));
  told_is_computed(SET("method=rand-r4", "penalty.norm=l1"));
}

/* ---- Its words ---- */

static void tells(const char *const *set, const char *expected)
{
  trains(set);
  if (!strstr(told, expected)) fail_msg("\"%s\" is not in \"%s\"", expected, told);
}

static void it_has_the_settings(void **state)
{
  (void)state;
  tells(SET("method=cert-r4", "penalty.tau=0.01"),
        "cert-r4 = mean loss on filled examples + 0.1 x mean log(1 + ||m . max(|lo|, |hi|)||_2 / 0.01); lo <= g <= hi "
        "everywhere in the box of x; g is the gradient of the loss; the box: |x' - x| <= 0.25 m; the mean of the "
        "penalty is over examples with a mask; fill: blank");
  tells(SET("method=cert-r4", "penalty.form=linear"), " + 0.1 x mean ||m . max(|lo|, |hi|)||_2; lo");
  tells(SET("method=cert-r4", "penalty.form=linear", "penalty.norm=sum"), " x mean sum(m . (|lo| + |hi|)); lo");
  tells(SET("method=cert-r4", "penalty.norm=l1", "lambda=2"), " + 2 x mean log(1 + ||m . max(|lo|, |hi|)||_1 / 1); lo");
  tells(SET("method=cert-r4", "delta=0.01"), " + lambda x log(1 + mean ||m . max(|lo|, |hi|)||_2 / 0.01); lambda is "
                                             "chosen so that mean ||m . max(|lo|, |hi|)||_2 = 0.01; lo");
  tells(SET("method=cert-r4", "explain=margin"), "; g is the gradient of the margin");
  tells(SET("method=cert-r4", "eps=range", "range=0,1"), "; the box: any valid values of masked features, in [0, 1]");
  tells(SET("method=cert-r4", "fill=none"), "cert-r4 = mean loss + 0.1 x");
  tells(SET("method=r3", "weight_penalty=0.25"), " + 0.25 x sum of squared weights; g");
  tells(SET("method=r3", "penalty.mean=all"), "; the mean of the penalty is over all examples");
  tells(SET("method=r3", "epochs=4", "penalty.every=3", "penalty.ramp=2"),
        "; lambda grows from 0 over 2 epochs; the penalty acts on one step in 3, that many times as strong");
  tells(SET("method=cert-r4", "penalty.after=0.5"), "; the penalty begins after 0.5 epochs");
  tells(SET("method=r3", "penalty.cap=true"), "; penalty.cap is on");
  tells(SET("method=smooth-r3", "noise=0.75"), "; noise_s is normal, of standard deviation 0.75");
  tells(SET("method=cert-r4+pairing", "penalty.after=0.5"), "; cert-r4 begins after 0.5 epochs"); /* it alone waits */
  tells(SET("method=rand-r4", "samples=7"), "; s = 1 .. 7");
  tells(SET("method=adv-r4", "attack.steps=5", "attack.step=0.125", "attack.random_start=true"),
        "; the attack visits 5 points from a random start, by the sign of the slope times 0.125");
  tells(SET("method=adv-r4", "attack.steps=6", "attack.random_start=false"),
        "; the attack visits 6 points from x, by the sign of the slope times eps, halved with each third of them");
  tells(SET("method=cert-r4+pairing"), " / 1) + 3 x mean ||d - mean d||_2^2; lo"); /* pairing leads: linear */
  tells(SET("method=r3", "published.double_softmax=true"), "r3 = mean loss of a double softmax on filled");
  tells(SET("method=r3", "class_weights=1,2"), "r3 = mean loss weighted by class on filled");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(its_value_is_the_loss),
    cmocka_unit_test(it_has_the_settings),
  };
  return cmocka_run_group_tests_name("told", tests, scratch_make, scratch_remove);
}
