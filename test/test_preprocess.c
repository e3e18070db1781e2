/* Inputs as weights of others expect them: who says what they are, and that it stays with the net. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module/net.h"
#include "scratch.h"
#include "tensor/safetensors.h"

enum { SIZE = 40 };
static const char IMAGENET[] = "normalize mean 0.485/0.456/0.406 std 0.229/0.224/0.225, ";

/* A net of unnamed parts, whose parameters are called by their numbers. */
static r4_net *small(void)
{
  r4_error e = {0};
  r4_net *n = r4_net_open("conv 2 3 p1, relu, globalpool, dense 3", R4_SHAPE(4, 4, 3), &e);
  if (!n) fail_msg("%s", e.text);
  return n;
}

static r4_net *with(const r4_net *n, const char *path, const char *preprocess)
{
  r4_error e = {0};
  r4_net *result = r4_net_preprocessed(n, path, preprocess, &e);
  if (!result) fail_msg("%s", e.text);
  return result;
}

static bool begins(const r4_net *n, const char *text)
{
  return !strncmp(r4_net_layers(n), text, strlen(text));
}

static void ask(const r4_net *n, const float *weights, const float *x, float *z)
{
  r4_error e = {0};
  r4_graph *g = r4_graph_new();
  r4_id param[8];
  r4_net_inputs(n, g, param);
  r4_id out = r4_net_apply(n, g, param, r4_input(g, "x", R4_SHAPE(1, 4, 4, 3)));
  r4_plan *p = r4_plan_new(g, 1, &out, NULL, &e);
  if (!p) fail_msg("%s", e.text);
  for (size_t k = 0; k < r4_net_params(n); k++)
    r4_plan_input(p, r4_net_param_name(n, k), weights + r4_net_param_offset(n, k), &e);
  r4_plan_input(p, "x", x, &e);
  r4_plan_output(p, 0, z, &e);
  if (r4_plan_run(p, &e)) fail_msg("%s", e.text);
  r4_plan_free(p);
  r4_graph_free(g);
}

/* Names of parameters stay; the answers are those to inputs that were made by hand; a model has it with it. */
static void test_it_travels(void **state)
{
  (void)state;
  static const float mean[] = {0.485f, 0.456f, 0.406f}, deviation[] = {0.229f, 0.224f, 0.225f};
  r4_error e = {0};
  r4_net *bare = small(), *n = with(bare, NULL, "imagenet");
  float x[48], by_hand[48], w[SIZE * 4], want[3], got[3];
  assert_true(begins(n, IMAGENET));
  assert_int_equal(r4_net_params(n), r4_net_params(bare));
  for (size_t k = 0; k < r4_net_params(n); k++)
    assert_string_equal(r4_net_param_name(n, k), r4_net_param_name(bare, k));
  assert_true(r4_net_size(n) <= sizeof w / sizeof *w);
  r4_net_init(n, NULL, 5, w, NULL);
  for (size_t k = 0; k < 48; k++) {
    x[k] = (float)(k * 37 % 48) / 48;
    by_hand[k] = (x[k] - mean[k % 3]) / deviation[k % 3];
  }
  ask(bare, w, by_hand, want);
  ask(n, w, x, got);
  for (int k = 0; k < 3; k++) assert_true(fabsf(got[k] - want[k]) < 1e-5f);
  if (r4_model_save(n, w, NULL, scratch_path("m.safetensors"), &e)) fail_msg("%s", e.text);
  r4_model *m = r4_model_open(scratch_path("m.safetensors"), NULL, &e);
  if (!m) fail_msg("%s", e.text);
  assert_string_equal(r4_net_layers(r4_model_net(m)), r4_net_layers(n));
  float again[3];
  ask(r4_model_net(m), r4_model_weights(m), x, again);
  assert_memory_equal(again, got, sizeof got);
  r4_model_free(m);
  r4_net_free(n);
  r4_net_free(bare);
}

static const char *file_with(const char *name, const char *note, const char *value)
{
  static const float zero[1] = {0};
  static char path[320];
  r4_error e = {0};
  const struct st_new tensor = {"x", R4_SHAPE(1), zero};
  const struct st_note notes = {note, value};
  snprintf(path, sizeof path, "%s", scratch_path(name));
  if (st_write(path, 1, &tensor, note ? 1 : 0, &notes, &e)) fail_msg("%s", e.text);
  return path;
}

/* The weights know best, then the model that they are of, then the architecture; a person overrides them all. */
static void test_who_says_so(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_net *resnet = r4_net_open("resnet20-cifar", R4_SCALAR, &e), *own = small();
  const struct {
    const r4_net *net;
    const char *note, *value, *preprocess, *begins;
  } each[] = {
    {resnet, NULL, NULL, "auto", IMAGENET},
    {resnet, NULL, NULL, "none", "conv1: conv"},
    {resnet, NULL, NULL, "tensorflow", "normalize mean 0.5 std 0.5, conv1: conv"},
    {resnet, "preprocess", "lite", "auto", "normalize mean 0.49803921568627"},
    {resnet, "preprocess", "none", "auto", "conv1: conv"},
    {resnet, "preprocess", "normalize std 2.0", "auto", "normalize std 2.0, conv1"},
    {resnet, "net", "normalize mean 0.25 std 3.0, dense 3", "auto", "normalize mean 0.25 std 3.0, conv1"},
    {resnet, "net", "dense 3", "auto", "conv1: conv"},         /* trained on 0 to 1 */
    {resnet, "preprocessing", "words", "auto", "conv1: conv"}, /* something that nobody can read */
    {own, NULL, NULL, "auto", "conv 2 3 p1"},
    {own, "preprocess", "imagenet", "auto", IMAGENET},
  };
  for (size_t k = 0; k < sizeof each / sizeof *each; k++) {
    r4_net *n =
      with(each[k].net, file_with("f.safetensors", each[k].note, each[k].value), each[k].preprocess);
    if (!begins(n, each[k].begins)) fail_msg("%zu: %.100s", k, r4_net_layers(n));
    r4_net_free(n);
  }
  r4_net *drawn = with(resnet, NULL, "auto"); /* nothing to expect anything */
  assert_true(begins(drawn, "conv1: conv"));
  r4_net_free(drawn);
  r4_net_free(resnet);
  r4_net_free(own);
}

static void refuses(const r4_net *n, const char *path, const char *preprocess, const char *expected)
{
  r4_error e = {0};
  assert_null(r4_net_preprocessed(n, path, preprocess, &e));
  assert_error(&e, e.status, expected);
}

static void test_refusals(void **state)
{
  (void)state;
  r4_net *own = small(), *n = with(own, NULL, "caffe");
  refuses(own, NULL, "imagnet",
          "preprocess is \"imagnet\", expected auto, none, imagenet, lite, tensorflow, caffe");
  refuses(own, NULL, "normalize, relu", "expected auto, none");
  refuses(own, NULL, "normalize mean 1/2",
          "gets 3 channels, needs one number or as many as mean, which has 2");
  refuses(own, NULL, "normalize std 0", "std is 0, needs numbers above 0");
  refuses(own, NULL, "normalize mean x", "mean is \"x\", expected up to 16 numbers with / between them");
  refuses(own, NULL, "normalize mean 1//2", "mean is \"1//2\"");
  refuses(own, NULL, "normalize mean 1e40", "mean is \"1e40\"");
  refuses(own, scratch_path("nowhere"), "auto", "nowhere");
  refuses(own, file_with("f.safetensors", "preprocess", "odd"), "auto", "f.safetensors is \"odd\"");
  refuses(n, NULL, "imagenet", "preprocess is imagenet, but the net begins with normalize already");
  r4_net *same = with(n, file_with("f.safetensors", "preprocess", "imagenet"), "auto");
  assert_string_equal(r4_net_layers(same), r4_net_layers(n));
  r4_net_free(same);
  r4_net_free(n);
  r4_net_free(own);
}

static void test_small_images(void **state)
{
  (void)state;
  r4_error e = {0};
  assert_null(r4_net_open("efficientnet-lite0(classes=2)", R4_SHAPE(31, 64, 3), &e));
  assert_error(&e, e.status, "net efficientnet-lite0: images are 31 x 64, needs 32 x 32 or more (data.size");
  r4_net *n = r4_net_open("efficientnet-lite0(classes=2)", R4_SHAPE(32, 32, 3), &e);
  assert_non_null(n);
  r4_net_free(n);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_it_travels), cmocka_unit_test(test_who_says_so),
                                     cmocka_unit_test(test_refusals), cmocka_unit_test(test_small_images)};
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
