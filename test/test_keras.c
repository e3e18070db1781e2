/* cli/data/resnet50.py: Keras' ResNet-50 as TensorFlow.js has it, in a size that fits here: names, layouts, biases and
 * what is refused. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "command.h"
#include "tensor/safetensors.h"

/* ---- A model: windows of 2 x 3, 3 channels to 2; every number is one more than the one before ---- */

enum {
  H = 2,
  W = 3,
  I = 3,
  O = 2,
  KERNEL = H * W * I * O,
  DENSE_IN = 3,
  DENSE_OUT = 2,
  MOST = 53 * (KERNEL + 5 * O) + 8
};
static float number[MOST];

struct model {
  struct json_writer w;
  size_t at;
  const char *without; /* a tensor that is left out */
};

static void add(struct model *m, const char *layer, const char *what, r4_shape shape)
{
  char name[80];
  snprintf(name, sizeof name, "%s/%s", layer, what);
  if (m->without && !strcmp(m->without, name)) return;
  m->at += (size_t)r4_shape_count(shape);
  jw_open(&m->w, NULL, '{');
  jw_text(&m->w, "name", name);
  jw_open(&m->w, "shape", '[');
  for (int k = 0; k < shape.rank; k++) jw_whole(&m->w, NULL, shape.dim[k]);
  jw_close(&m->w, ']');
  jw_text(&m->w, "dtype", "float32");
  jw_close(&m->w, '}');
}

static void add_unit(struct model *m, const char *conv, const char *norm)
{
  static const char *const what[] = {"gamma", "beta", "moving_mean", "moving_variance"};
  for (int k = 0; k < 4; k++) add(m, norm, what[k], R4_SHAPE(O));
  add(m, conv, "kernel", R4_SHAPE(H, W, I, O));
  add(m, conv, "bias", R4_SHAPE(O));
}

static void add_all(struct model *m)
{
  static const int blocks[] = {3, 4, 6, 3};
  static const char *const branch[] = {"2a", "2b", "2c", "1"};
  add_unit(m, "conv1", "bn_conv1");
  for (int s = 0; s < 4; s++)
    for (int b = 0; b < blocks[s]; b++)
      for (int k = 0; k < (b ? 3 : 4); k++) {
        char conv[40], norm[40];
        snprintf(conv, sizeof conv, "res%d%c_branch%s", s + 2, 'a' + b, branch[k]);
        snprintf(norm, sizeof norm, "bn%d%c_branch%s", s + 2, 'a' + b, branch[k]);
        add_unit(m, conv, norm);
      }
  add(m, "fc1000", "kernel", R4_SHAPE(DENSE_IN, DENSE_OUT));
  add(m, "fc1000", "bias", R4_SHAPE(DENSE_OUT));
}

static void write_bytes(const char *name, const void *data, size_t size)
{
  r4_error e;
  if (file_write(scratch_path(name), data, size, &e)) fail_msg("%s", e.text);
}

/* In two shards, the first of which ends within a number. */
static void write_model(const char *without)
{
  struct model m = {.without = without};
  jw_open(&m.w, NULL, '{');
  jw_open(&m.w, "weightsManifest", '[');
  jw_open(&m.w, NULL, '{');
  jw_open(&m.w, "paths", '[');
  jw_text(&m.w, NULL, "one.bin"), jw_text(&m.w, NULL, "two.bin");
  jw_close(&m.w, ']');
  jw_open(&m.w, "weights", '[');
  add_all(&m);
  jw_close(&m.w, ']');
  jw_close(&m.w, '}');
  jw_close(&m.w, ']');
  jw_close(&m.w, '}');
  char *text = text_take(&m.w.text);
  assert_true(m.at <= MOST);
  for (int k = 0; k < MOST; k++) number[k] = (float)k;
  write_bytes("model.json", text, strlen(text));
  write_bytes("one.bin", number, 1001);
  write_bytes("two.bin", (const char *)number + 1001, m.at * sizeof *number - 1001);
  r4_string_free(text);
}

static char script[PATH_MAX];
#define NEEDS_PYTHON() \
  if (system("python3 --version > /dev/null 2>&1")) check_skip("there is no python3")

/* Its exit code. */
static int convert(void)
{
  char line[PATH_MAX + 100];
  unlink(scratch_path("out.safetensors"));
  snprintf(line, sizeof line, "python3 '%s' model.json out.safetensors 2>&1", script);
  return command_run(line);
}

static void refuses(const char *expected)
{
  assert_int_equal(convert(), 1);
  if (!strstr(command_output, expected)) fail_msg("%s", command_output);
  assert_false(file_exists(scratch_path("out.safetensors")));
}

static const float *floats_of(const struct st_file *f, const char *name, r4_shape shape, float *to)
{
  const struct st_tensor *t = st_find(f, name);
  if (!t) fail_msg("no %s", name);
  assert_true(r4_shape_equal(t->shape, shape));
  assert_int_equal(st_floats(f, t, to, NULL), R4_OK);
  return to;
}

/* Unit k of the model begins here. */
static size_t unit_at(size_t k)
{
  return k * (KERNEL + 5 * O);
}

static void check_unit(const struct st_file *f, size_t k, const char *conv, const char *norm, bool reversed)
{
  char name[80];
  float v[KERNEL];
  const float *from = number + unit_at(k), *kernel = from + 4 * O, *bias = kernel + KERNEL;
  snprintf(name, sizeof name, "%s.weight", conv);
  floats_of(f, name, R4_SHAPE(O, I, H, W), v);
  for (int o = 0; o < O; o++)
    for (int i = 0; i < I; i++)
      for (int p = 0; p < H * W; p++)
        assert_true(v[(o * I + i) * H * W + p] == kernel[(p * I + (reversed ? I - 1 - i : i)) * O + o]);
  static const char *const what[] = {"weight", "bias", "running_mean", "running_var"};
  for (int n = 0; n < 4; n++) {
    snprintf(name, sizeof name, "%s.%s", norm, what[n]);
    floats_of(f, name, R4_SHAPE(O), v);
    for (int o = 0; o < O; o++) assert_true(v[o] == from[n * O + o] - (n == 2 ? bias[o] : 0));
  }
}

static void test_conversion(void **state)
{
  (void)state;
  NEEDS_PYTHON();
  r4_error e;
  struct st_file f;
  float v[8];
  write_model(NULL);
  if (convert()) fail_msg("%s", command_output);
  if (st_read(&f, scratch_path("out.safetensors"), &e)) fail_msg("%s", e.text);
  assert_int_equal(f.n, 53 * 5 + 2);
  check_unit(&f, 0, "conv1", "bn1", true);
  check_unit(&f, 1, "layer1.0.conv1", "layer1.0.bn1", false);
  check_unit(&f, 4, "layer1.0.downsample.0", "layer1.0.downsample.1", false);
  check_unit(&f, 6, "layer1.1.conv2", "layer1.1.bn2", false);
  check_unit(&f, 52, "layer4.2.conv3", "layer4.2.bn3", false);
  const float *dense = number + unit_at(53);
  floats_of(&f, "fc.weight", R4_SHAPE(DENSE_OUT, DENSE_IN), v);
  for (int k = 0; k < 6; k++) assert_true(v[k] == dense[k % 3 * 2 + k / 3]);
  floats_of(&f, "fc.bias", R4_SHAPE(DENSE_OUT), v);
  assert_true(v[0] == dense[6] && v[1] == dense[7]);
  assert_string_equal(st_note(&f, "architecture"), "resnet50(first=2, second=1, eps=0.001)");
  assert_non_null(strstr(st_note(&f, "preprocessing"), "minus 123.68, 116.779, 103.939"));
  st_free(&f);
}

/* Its names are those of the architecture. */
static void test_names(void **state)
{
  (void)state;
  NEEDS_PYTHON();
  r4_error e;
  struct st_file f;
  write_model(NULL);
  assert_int_equal(convert(), 0);
  assert_int_equal(st_read(&f, scratch_path("out.safetensors"), &e), R4_OK);
  r4_net *n = r4_net_open(st_note(&f, "architecture"), R4_SHAPE(224, 224, 3), &e);
  if (!n) fail_msg("%s", e.text);
  assert_int_equal(r4_net_params(n), f.n);
  for (size_t k = 0; k < f.n; k++)
    if (!st_find(&f, r4_net_param_name(n, k))) fail_msg("no %s", r4_net_param_name(n, k));
  r4_net_free(n);
  st_free(&f);
}

/* All else is seen by the checksum of what comes out. */
static void test_refused(void **state)
{
  (void)state;
  NEEDS_PYTHON();
  write_model("res4f_branch2b/bias");
  refuses("model.json: not Keras' ResNet50: KeyError('res4f_branch2b/bias')");
  write_model(NULL);
  scratch_patch("model.json", "weightsManifest", "weightsMonifest", 15);
  refuses("not Keras' ResNet50: KeyError('weightsManifest')");
  write_model(NULL);
  unlink(scratch_path("two.bin"));
  refuses("No such file");
}

static int start(void **state)
{
  if (!realpath("cli/data/resnet50.py", script)) return 1;
  return scratch_make(state);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_conversion), cmocka_unit_test(test_names),
                                     cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, start, scratch_remove);
}
