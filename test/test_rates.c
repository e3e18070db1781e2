/* Which parameters learn in a run, and how fast; and where their first weights come from. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scratch.h"
#include "settings_case.h"
#include "tensor/safetensors.h"

static char heard[2000]; /* notices of the last run */

static void listen(const char *sentence, void *user)
{
  (void)user;
  size_t n = strlen(heard);
  snprintf(heard + n, sizeof heard - n, "%s\n", sentence);
}

static r4_status train(const char *const *set, const char *run, r4_error *e)
{
  const char *const common[] = {
    "data=digits:300", "data.val=0", "net=flatten, a: dense 8, relu, b: dense 8, relu, fc: dense 10",
    "epochs=1",        "batch=50",   NULL};
  r4_settings *s = settings_case_with(common, set);
  const r4_train_options o = {.folder = scratch_path(run), .force = true, .notice = listen};
  heard[0] = 0;
  r4_status status = r4_train(s, &o, NULL, e);
  r4_settings_free(s);
  return status;
}

#define SET(...) ((const char *const[]){__VA_ARGS__, NULL})

static r4_model *model_of(const char *run)
{
  r4_error e;
  char path[400];
  snprintf(path, sizeof path, "%s/model.safetensors", scratch_path(run));
  r4_model *m = r4_model_open(path, NULL, &e);
  if (!m) fail_msg("%s", e.text);
  return m;
}

static r4_model *trained(const char *const *set, const char *run)
{
  r4_error e = {0};
  if (train(set, run, &e)) fail_msg("%s", e.text);
  return model_of(run);
}

static void refuses(const char *const *set, const char *expected)
{
  r4_error e = {0};
  assert_error(&e, train(set, "refused", &e), expected);
  assert_int_equal(e.status, R4_E_ARGUMENT);
}

/* Whether the parameters of a name are the same bits in both. */
static bool same(const r4_model *a, const float *b, const char *name)
{
  const r4_net *n = r4_model_net(a);
  size_t k = 0;
  while (strcmp(r4_net_param_name(n, k), name)) assert_true(++k < r4_net_params(n));
  size_t at = r4_net_param_offset(n, k), count = (size_t)r4_shape_count(r4_net_param_shape(n, k));
  return !memcmp(r4_model_weights(a) + at, b + at, count * sizeof *b);
}

static float *drawn(const r4_model *m)
{
  float *w = malloc(r4_net_size(r4_model_net(m)) * sizeof *w);
  r4_net_init(r4_model_net(m), NULL, 0, w, NULL);
  return w;
}

/* Neither the gradient, nor decay, nor the penalty of weights, nor what the optimiser remembers moves them. */
static void test_frozen(void **state)
{
  (void)state;
  static const char *const optimizers[] = {"optimizer=sgd", "optimizer=adam", "optimizer=adamw"};
  for (int k = 0; k < 3; k++) {
    r4_model *m =
      trained(SET(optimizers[k], "freeze=b.*, *c.bias", "weight_decay=0.1", "weight_penalty=0.1", "clip=1"),
              "frozen");
    float *w = drawn(m);
    assert_true(same(m, w, "b.weight") && same(m, w, "b.bias") && same(m, w, "fc.bias"));
    assert_false(same(m, w, "a.weight") || same(m, w, "a.bias") || same(m, w, "fc.weight"));
    free(w);
    r4_model_free(m);
  }
}

static double logged(const char *run, const char *key)
{
  char path[400], text[4000] = "", word[40];
  snprintf(path, sizeof path, "%s/log.jsonl", scratch_path(run));
  FILE *f = fopen(path, "r");
  assert_non_null(f);
  text[fread(text, 1, sizeof text - 1, f)] = 0;
  fclose(f);
  snprintf(word, sizeof word, "\"%s\":", key);
  const char *at = strstr(text, word);
  assert_non_null(at);
  return strtod(at + strlen(word), NULL);
}

/* What is frozen is not penalised: the penalty would say nothing but how large it was from the beginning. */
static void test_penalty_of_weights(void **state)
{
  (void)state;
  r4_model_free(trained(SET("weight_penalty=1", "freeze=*.weight"), "unpenalised"));
  assert_true(logged("unpenalised", "loss") == logged("unpenalised", "data"));
  r4_model_free(trained(SET("weight_penalty=1", "freeze=*.bias"), "penalised"));
  assert_true(logged("penalised", "loss") > logged("penalised", "data") + 1);
}

/* A factor of 0 freezes as well, 1 changes nothing, and the last that fits counts. */
static void test_factors(void **state)
{
  (void)state;
  r4_model *plain = trained(SET("clip=0.5"), "plain"), *frozen = trained(SET("freeze=a.*, b.*"), "frozen");
  r4_model *one = trained(SET("clip=0.5", "rate.factors=* 0.25, * 1"), "one"),
           *none = trained(SET("rate.factors=*.* 0, fc.* 1.0"), "0");
  r4_model *slow = trained(SET("clip=0.5", "rate.factors=fc.weight 1e-30"), "slow");
  size_t bytes = r4_net_size(r4_model_net(plain)) * sizeof(float);
  assert_memory_equal(r4_model_weights(plain), r4_model_weights(one), bytes);
  assert_memory_equal(r4_model_weights(frozen), r4_model_weights(none), bytes);
  float *w = drawn(slow);
  assert_true(same(slow, w, "fc.weight"));
  assert_false(same(slow, w, "fc.bias"));
  free(w);
  r4_model_free(plain);
  r4_model_free(frozen);
  r4_model_free(one);
  r4_model_free(none);
  r4_model_free(slow);
}

/* A frozen batch norm keeps its statistics as well, and takes them while the net learns. */
static void test_frozen_statistics(void **state)
{
  (void)state;
  const char net[] = "net=c: conv 4 5 s3, bn: batchnorm, relu, flatten, fc: dense 10";
  r4_model *frozen = trained(SET(net, "freeze=bn.*"), "frozen"),
           *moved = trained(SET(net, "freeze=bn.weight"), "moved");
  r4_model *flag = trained(SET(net, "freeze=bn.weight, bn.bias", "frozen_statistics=true"), "flag");
  float *w = drawn(frozen);
  assert_true(same(frozen, w, "bn.running_mean") && same(frozen, w, "bn.running_var") &&
              same(frozen, w, "bn.bias"));
  assert_false(same(moved, w, "bn.running_mean") || same(moved, w, "bn.running_var") ||
               same(moved, w, "bn.bias"));
  assert_true(same(moved, w, "bn.weight"));
  assert_memory_equal(r4_model_weights(frozen), r4_model_weights(flag),
                      r4_net_size(r4_model_net(flag)) * sizeof(float));
  free(w);
  r4_model_free(frozen);
  r4_model_free(moved);
  r4_model_free(flag);
}

static void test_wrong_patterns(void **state)
{
  (void)state;
  refuses(SET("freeze=a.*, layer4.*"),
          "freeze (test): no parameter of the net matches \"layer4.*\"; expected a.weight, a.bias, b.weight, b.bias, "
          "fc.weight, fc.bias");
  refuses(SET("rate.factors=x 2"), "rate.factors (test): no parameter of the net matches \"x\"");
  refuses(SET("rate.factors=a.* 2, fc.*"),
          "rate.factors (test): \"fc.*\", expected names and a factor of at least 0");
  refuses(SET("rate.factors=fc.* -1"), "\"fc.* -1\", expected names and a factor");
  refuses(SET("rate.factors=fc.* 1x"), "\"fc.* 1x\", expected names and a factor");
  refuses(SET("rate.factors=fc.* nan"), "\"fc.* nan\", expected names and a factor");
  refuses(SET("rate.factors=fc.* inf"), "\"fc.* inf\", expected names and a factor");
  refuses(SET("rate.factors= 2"), "\"2\", expected names and a factor");
  refuses(SET("freeze=*"),
          "freeze (test) and rate.factors (default) leave nothing to train: all 6 parameters");
  refuses(SET("freeze=a.*,b.*", "rate.factors=fc.* 0"), "leave nothing to train");
}

/* A head is drawn, and the rest is taken: as it was, since it is frozen. */
static void test_heads(void **state)
{
  (void)state;
  char from[300];
  r4_model *first = trained(SET("seed=3"), "first");
  snprintf(from, sizeof from, "from=%s", scratch_path("first"));
  r4_model *second = trained(SET(from, "from.head=fc.*", "rate=0"), "second");
  float *w = drawn(second);
  assert_true(same(second, r4_model_weights(first), "a.weight") &&
              same(second, r4_model_weights(first), "b.bias"));
  assert_true(same(second, w, "fc.weight") && same(second, w, "fc.bias"));
  free(w);
  r4_error e = {0};
  refuses(SET(from, "from.head=head.*"), "no parameter of the net matches \"head.*\"");
  assert_error(&e,
               train(SET(from, "net=flatten, a: dense 8, relu, b: dense 9, relu, fc: dense 10"), "third", &e),
               "does not fit the net: 3 of its 6 parameters match; 3 of another shape: b.weight is [8,8], expected "
               "[9,8]");
  r4_model *third = trained(
    SET(from, "net=flatten, a: dense 8, relu, b: dense 9, relu, fc: dense 10", "from.head=b.*, fc.weight"),
    "x");
  r4_model_free(first);
  r4_model_free(second);
  r4_model_free(third);
}

/* Weights that say what they were trained on: a person who starts from them is told. */
static void test_preprocessing_is_told(void **state)
{
  (void)state;
  static float zeros[10 * 784];
  r4_error e = {0};
  char from[320], path[300];
  const struct st_new tensor[] = {{"fc.weight", R4_SHAPE(10, 784), zeros}, {"fc.bias", R4_SHAPE(10), zeros}};
  const struct st_note note = {"preprocessing", "0 to 255, minus 123"};
  snprintf(path, sizeof path, "%s", scratch_path("theirs.safetensors"));
  snprintf(from, sizeof from, "from=%s", path);
  for (size_t notes = 0; notes < 2; notes++) {
    assert_int_equal(st_write(path, 2, tensor, notes, &note, &e), R4_OK);
    if (train(SET(from, "net=flatten, fc: dense 10"), "told", &e)) fail_msg("%s", e.text);
    assert_int_equal(strstr(heard, "(0 to 255, minus 123)") != NULL, notes);
  }
}

/* A name that r4 data get knows. */
static void test_known_names(void **state)
{
  (void)state;
  r4_error e = {0};
  setenv("R4_DATA_DIR", scratch_folder(), 1);
  assert_error(&e, train(SET("from=resnet50"), "x", &e),
               "/resnet50/resnet50.safetensors: r4 data get resnet50 fetches it");
  assert_int_equal(e.status, R4_E_IO);
  assert_error(&e, train(SET("from=mnist"), "x", &e), "mnist: opening: No such file");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_frozen),         cmocka_unit_test(test_penalty_of_weights),
    cmocka_unit_test(test_factors),        cmocka_unit_test(test_frozen_statistics),
    cmocka_unit_test(test_wrong_patterns), cmocka_unit_test(test_heads),
    cmocka_unit_test(test_known_names),    cmocka_unit_test(test_preprocessing_is_told),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
