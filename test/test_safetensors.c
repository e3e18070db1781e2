/* Safetensors and models: what is written reads back, and computes the same in PyTorch's layout; a file that
 * breaks a rule of the format is refused by name. */
#include "tensor/safetensors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "scratch.h"

/* ---- Files that break a rule ---- */

static r4_status parse(const void *data, size_t size, struct st_file *f, r4_error *e)
{
  uint8_t *copy = r4_mem_new(size, 1);
  memcpy(copy, data, size);
  return st_parse(f, "m.st", copy, size, e);
}

/* A file of this header and as many bytes of data 0, 1, 2, ... */
static r4_status parse_header(const char *header, size_t data, struct st_file *f, r4_error *e)
{
  uint8_t bytes[1024];
  size_t length = strlen(header);
  memset(bytes, 0, 8);
  bytes[0] = (uint8_t)length, bytes[1] = (uint8_t)(length >> 8);
  memcpy(bytes + 8, header, length);
  for (size_t k = 0; k < data; k++) bytes[8 + length + k] = (uint8_t)k;
  return parse(bytes, 8 + length + data, f, e);
}

static void refuses(const char *header, size_t data, const char *expected)
{
  struct st_file f;
  r4_error e = {0};
  assert_error(&e, parse_header(header, data, &f, &e), expected);
}

#define ONE(dtype, shape, offsets) \
  "{\"w\":{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" offsets "}}"

static void test_rules(void **state)
{
  (void)state;
  struct st_file f;
  r4_error e;
  assert_int_equal(parse_header(ONE("\"F32\"", "[2]", "[0,8]"), 8, &f, &e), R4_OK);
  st_free(&f);
  assert_int_equal(parse_header("{}    ", 0, &f, &e), R4_OK);
  st_free(&f);
  assert_int_equal(parse_header(ONE("\"F32\"", "[0,3]", "[0,0]"), 0, &f, &e), R4_OK);
  st_free(&f);
  refuses(ONE("\"F32\"", "[2]", "[0,8]"), 7,
          "m.st: tensor \"w\": data_offsets [0,8] are outside of the 7 bytes of data");
  refuses(ONE("\"F32\"", "[2]", "[0,8]"), 9, "m.st: 9 bytes of data, but the tensors end at 8");
  refuses(ONE("\"F32\"", "[2]", "[4,12]"), 12, "tensor \"w\" begins at 4, expected 0: tensors leave a hole");
  refuses(ONE("\"F32\"", "[3]", "[0,8]"), 8, "dtype F32 and shape need 12 bytes, its data_offsets give 8");
  refuses(ONE("\"F32\"", "[1]", "[0,8]"), 8, "dtype F32 and shape need 4 bytes, its data_offsets give 8");
  refuses(ONE("\"F32\"", "[4294967296,4294967296]", "[0,8]"), 8, "its shape is too large");
  refuses(ONE("\"F32\"", "[-1]", "[0,8]"), 8, "its shape has something other");
  refuses(ONE("\"F32\"", "[2.0]", "[0,8]"), 8, "its shape has something other");
  refuses(ONE("\"F32\"", "[1,1,1,1,1,1,2]", "[0,8]"), 8, "its shape is not a list of at most 6");
  refuses(ONE("\"F32\"", "{}", "[0,8]"), 8, "its shape is not a list");
  refuses(ONE("\"F31\"", "[2]", "[0,8]"), 8, "its dtype is missing or not known");
  refuses(ONE("32", "[2]", "[0,8]"), 8, "its dtype is missing or not known");
  refuses(ONE("\"F32\"", "[2]", "[8,0]"), 8, "data_offsets [8,0] are outside");
  refuses(ONE("\"F32\"", "[2]", "[-8,0]"), 8, "data_offsets [-8,0] are outside");
  refuses(ONE("\"F32\"", "[2]", "[0]"), 8, "its data_offsets are not a list of two");
  refuses("{\"w\":3}", 0, "m.st: tensor \"w\": is not an object");
  refuses("[]", 0, "m.st: its header does not begin with {");
  refuses(" {}", 0, "m.st: its header does not begin with {");
  refuses("{}{}", 0, "m.st: header: line 1, column 3: expected nothing more");
  refuses("{\"__metadata__\":{\"a\":1}}", 0, "__metadata__: \"a\" is not text");
  refuses("{\"__metadata__\":[]}", 0, "__metadata__ is not an object");
  refuses("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
          "\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[2,6]}}",
          6, "tensor \"b\" begins at 2, expected 4: tensors overlap");
  refuses("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
          "\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[4,8]}}",
          8, "m.st: header: the key \"a\" occurs twice");
}

static void test_lying_length(void **state)
{
  (void)state;
  struct st_file f;
  r4_error e = {0};
  assert_error(&e, parse("1234567", 7, &f, &e), "m.st: 7 bytes, too short");
  assert_error(&e, parse("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10, &f, &e),
               "would have 18446744073709551615 bytes");
  assert_error(&e, parse("\3\0\0\0\0\0\0\0{}", 10, &f, &e), "would have 3 bytes, the file has 10");
  assert_error(&e, parse("\0\0\0\0\0\0\0\0{}", 10, &f, &e), "does not begin with {");
}

/* ---- Numbers ---- */

static void reads_as(const char *dtype, size_t width, uint64_t bits, float expected)
{
  char header[200];
  uint8_t bytes[256] = {0};
  struct st_file f;
  r4_error e;
  float v = 0;
  int length = snprintf(header, sizeof header, ONE("\"%s\"", "[]", "[0,%zu]") "", dtype, width);
  bytes[0] = (uint8_t)length;
  memcpy(bytes + 8, header, (size_t)length);
  for (size_t k = 0; k < width; k++) bytes[8 + (size_t)length + k] = (uint8_t)(bits >> 8 * k);
  if (parse(bytes, 8 + (size_t)length + width, &f, &e)) fail_msg("%s", e.text);
  assert_int_equal(st_floats(&f, &f.tensor[0], &v, &e), R4_OK);
  if (isnan(expected) ? !isnan(v) : memcmp(&v, &expected, sizeof v))
    fail_msg("%s is %g, expected %g", dtype, v, expected);
  st_free(&f);
}

static void test_types(void **state)
{
  (void)state;
  reads_as("F32", 4, 0x3f800001, 1.00000012f);
  reads_as("F64", 8, 0x3ff0000000000000, 1);
  reads_as("F64", 8, 0x3ff0000010000000, 1); /* half way, to even */
  reads_as("F64", 8, 0x3ff0000010000001, 1.00000012f);
  reads_as("F64", 8, 0x3ff0000030000000, 1.00000024f);
  reads_as("F64", 8, 0x7fefffffffffffff, INFINITY);
  reads_as("BF16", 2, 0x7fc0, NAN);
  reads_as("BF16", 2, 0xbf80, -1);
  reads_as("F16", 2, 0x3c00, 1);
  reads_as("F16", 2, 0xc001, -2.001953125f);
  reads_as("F16", 2, 0x7bff, 65504);
  reads_as("F16", 2, 0x0001, 5.9604644775390625e-8f);
  reads_as("F16", 2, 0x03ff, 6.09755516e-5f);
  reads_as("F16", 2, 0x8000, -0.f);
  reads_as("F16", 2, 0xfc00, -INFINITY);
  reads_as("F16", 2, 0x7c01, NAN);
  struct st_file f;
  r4_error e;
  float v[8];
  assert_int_equal(parse_header(ONE("\"I64\"", "[1]", "[0,8]"), 8, &f, &e), R4_OK);
  assert_error(&e, st_floats(&f, &f.tensor[0], v, &e),
               "m.st: tensor \"w\" is I64, expected F32, F64, F16 or BF16");
  st_free(&f);
}

/* ---- Writing ---- */

static void test_written_bytes(void **state)
{
  (void)state;
  const float a[] = {1, 2, 3}, b[] = {4};
  const struct st_new tensor[] = {{"b", R4_SHAPE(1, 3), a}, {"a", R4_SCALAR, b}};
  const struct st_note note[] = {{"who", "me \"too\""}};
  r4_error e;
  uint8_t *data = NULL;
  size_t size = 0;
  struct st_file f;
  assert_int_equal(st_write(scratch_path("w"), 2, tensor, 1, note, &e), R4_OK);
  assert_int_equal(file_read(scratch_path("w"), 1000, &data, &size, &e), R4_OK);
  const char header[] = "{\"__metadata__\":{\"who\":\"me \\\"too\\\"\"},"
                        "\"b\":{\"dtype\":\"F32\",\"shape\":[1,3],\"data_offsets\":[0,12]},"
                        "\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[12,16]}}";
  size_t length = data[0];
  assert_true(length % 8 == 0 && length >= strlen(header) && length < strlen(header) + 8);
  assert_memory_equal(data + 8, header, strlen(header));
  for (size_t k = strlen(header); k < length; k++) assert_int_equal(data[8 + k], ' ');
  assert_int_equal(size, 8 + length + 16);
  assert_memory_equal(data + 8 + length, ((const float[]){1, 2, 3, 4}), 16);
  r4_mem_free(data);
  assert_int_equal(st_read(&f, scratch_path("w"), &e), R4_OK);
  assert_string_equal(st_note(&f, "who"), "me \"too\"");
  assert_null(st_note(&f, "what"));
  assert_string_equal(f.tensor[0].name, "b");
  assert_null(st_find(&f, "c"));
  st_free(&f);
}

/* ---- Models ---- */

static const struct {
  const char *layers;
  r4_shape input;
} nets[] = {
  {"dense 4", {1, {5}}},
  {"dense 6, relu, dense 3", {1, {5}}},
  {"flatten, dense 4", {3, {3, 4, 2}}},
  {"conv 3 2, relu, flatten, relu, dense 6, relu, dense 4", {3, {4, 5, 2}}},
  {"conv 5 3 p1, maxpool 2, conv 4 2, flatten, flatten, dense 7", {3, {6, 8, 3}}},
};

static r4_net *new_net(size_t k, float **weights)
{
  r4_error e;
  r4_net *n = r4_net_open(nets[k].layers, nets[k].input, &e);
  if (!n) fail_msg("%s", e.text);
  *weights = calloc(r4_net_size(n), sizeof **weights);
  draw_start(2, (uint32_t)k);
  for (size_t i = 0; i < r4_net_size(n); i++) (*weights)[i] = (float)draw(-1, 1);
  return n;
}

static void test_models_read_back(void **state)
{
  (void)state;
  for (size_t k = 0; k < sizeof nets / sizeof *nets; k++) {
    static const char *const names[] = {"a", "b", "c\"", "d", "e", "f", "g"};
    float *weights;
    r4_error e;
    r4_net *n = new_net(k, &weights);
    if (r4_model_save(n, weights, k ? names : NULL, scratch_path("m"), &e)) fail_msg("%s", e.text);
    for (int given = 0; given < 2; given++) {
      r4_model *m = r4_model_open(scratch_path("m"), given ? n : NULL, &e);
      if (!m) fail_msg("%s", e.text);
      assert_string_equal(r4_net_layers(r4_model_net(m)), nets[k].layers);
      assert_true(r4_shape_equal(r4_net_input(r4_model_net(m)), nets[k].input));
      assert_memory_equal(r4_model_weights(m), weights, r4_net_size(n) * sizeof *weights);
      if (k)
        assert_string_equal(r4_model_class_name(m, 2), "c\"");
      else
        assert_null(r4_model_class_name(m, 0));
      assert_null(r4_model_class_name(m, 100));
      r4_model_free(m);
    }
    free(weights);
    r4_net_free(n);
  }
}

/* What PyTorch computes from the file for "conv 3 2, relu, flatten, relu, dense 6, relu, dense 4": channels first. */
static void logits_of_file(const struct st_file *f, const double *x, double *logits)
{
  enum {
    H = 4,
    W = 5,
    C = 2,
    O = 3,
    K = 2,
    A = H - K + 1,
    B = W - K + 1,
    FLAT = O * A * B,
    N = 6,
    CLASSES = 4
  };
  float w0[O * C * K * K], b0[O], w1[N * FLAT], b1[N], w2[CLASSES * N], b2[CLASSES];
  static const char *const names[] = {"0.weight", "0.bias", "4.weight", "4.bias", "6.weight", "6.bias"};
  float *to[] = {w0, b0, w1, b1, w2, b2};
  double flat[FLAT], hidden[N];
  for (int k = 0; k < 6; k++) assert_int_equal(st_floats(f, st_find(f, names[k]), to[k], NULL), R4_OK);
  for (int o = 0; o < O; o++)
    for (int y = 0; y < A; y++)
      for (int z = 0; z < B; z++) {
        double sum = (double)b0[o];
        for (int c = 0; c < C; c++)
          for (int i = 0; i < K; i++)
            for (int j = 0; j < K; j++)
              sum += (double)w0[((o * C + c) * K + i) * K + j] * x[((y + i) * W + z + j) * C + c];
        flat[(o * A + y) * B + z] = fmax(sum, 0);
      }
  for (int n = 0; n < N; n++) {
    hidden[n] = (double)b1[n];
    for (int k = 0; k < FLAT; k++) hidden[n] += (double)w1[n * FLAT + k] * flat[k];
    hidden[n] = fmax(hidden[n], 0);
  }
  for (int n = 0; n < CLASSES; n++) {
    logits[n] = (double)b2[n];
    for (int k = 0; k < N; k++) logits[n] += (double)w2[n * N + k] * hidden[k];
  }
}

static void test_file_computes_the_same(void **state)
{
  (void)state;
  float *weights;
  r4_error e;
  r4_id param[8];
  double expected[4];
  struct st_file f;
  r4_net *n = new_net(3, &weights);
  assert_int_equal(r4_model_save(n, weights, NULL, scratch_path("m"), &e), R4_OK);
  r4_graph *g = r4_graph_new();
  r4_net_inputs(n, g, param);
  r4_id z = r4_net_apply(n, g, param, r4_input(g, "x", R4_SHAPE(1, 4, 5, 2)));
  struct runner *r = runner_new(g, 1, &z, REFERENCE);
  for (size_t k = 0; k < r4_net_params(n); k++) {
    double *to = runner_input(r, r4_net_param_name(n, k));
    for (int64_t i = 0; i < r4_shape_count(r4_net_param_shape(n, k)); i++)
      to[i] = (double)weights[r4_net_param_offset(n, k) + (size_t)i];
  }
  double *x = runner_input(r, "x");
  for (int i = 0; i < 40; i++) x[i] = draw(-1, 1);
  runner_run(r);
  assert_int_equal(st_read(&f, scratch_path("m"), &e), R4_OK);
  logits_of_file(&f, x, expected);
  assert_close("logits", r->out[0], expected, 4, 1e-12, 1);
  st_free(&f);
  runner_free(r);
  r4_graph_free(g);
  r4_net_free(n);
  free(weights);
}

/* Any bit of the numbers that has changed is noticed. Without the sum, as files of others are, nothing is compared. */
static void test_changed_bits(void **state)
{
  (void)state;
  enum { OFTEN = 40 };
  float *weights;
  uint8_t *file;
  size_t size;
  r4_error e = {0};
  r4_net *n = new_net(0, &weights);
  size_t data = r4_net_size(n) * sizeof *weights;
  assert_int_equal(r4_model_save(n, weights, NULL, scratch_path("m"), &e), R4_OK);
  assert_int_equal(file_read(scratch_path("m"), 1 << 20, &file, &size, &e), R4_OK);
  draw_start(31, 0);
  for (int k = 0; k < OFTEN; k++) {
    size_t at = size - 1 - draw_below(data);
    uint8_t bit = (uint8_t)(1 << draw_below(8));
    file[at] ^= bit;
    assert_int_equal(file_write(scratch_path("m"), file, size, &e), R4_OK);
    assert_null(r4_model_open(scratch_path("m"), NULL, &e));
    assert_error(&e, R4_E_PARSE, "/m: its numbers have changed since it was written: expected the SHA-256");
    file[at] ^= bit;
  }
  file[size - 1] ^= 1;
  assert_int_equal(file_write(scratch_path("m"), file, size, &e), R4_OK);
  scratch_unseal("m");
  r4_model *m = r4_model_open(scratch_path("m"), NULL, &e);
  if (!m) fail_msg("%s", e.text);
  r4_model_free(m);
  r4_mem_free(file);
  r4_net_free(n);
  free(weights);
}

static void refuses_model(const r4_net *net, const char *expected)
{
  r4_error e = {0};
  r4_model *m = r4_model_open(scratch_path("m"), net, &e);
  assert_error(&e, m ? R4_OK : e.status, expected);
}

static void test_models_that_do_not_fit(void **state)
{
  (void)state;
  r4_error e;
  float *weights, zeros[64] = {0};
  r4_net *n = new_net(0, &weights), *wider = r4_net_open("dense 4", R4_SHAPE(6), &e);
  r4_net *deeper = r4_net_open("dense 4, dense 2", R4_SHAPE(5), &e);
  assert_int_equal(r4_model_save(n, weights, NULL, scratch_path("m"), &e), R4_OK);
  refuses_model(wider, "/m: does not fit the net: 1 of its 2 parameters match; 1 of another shape: 0.weight is [4,5], "
                       "expected [4,6]");
  refuses_model(deeper, "2 missing: 1.weight [2,4], 1.bias [2]");
  const struct st_new tensor[] = {
    {"0.weight", R4_SHAPE(4, 5), zeros}, {"0.bias", R4_SHAPE(4), zeros}, {"0.scale", R4_SHAPE(1), zeros}};
  assert_int_equal(st_write(scratch_path("m"), 3, tensor, 0, NULL, &e), R4_OK);
  refuses_model(n, "2 of its 2 parameters match; 1 unexpected: 0.scale");
  refuses_model(NULL, "/m: does not say which net it belongs to");
  const struct st_note lying[] = {{"net", "dense 20000"}, {"input", "[20000]"}, {"classes", "[1]"}};
  assert_int_equal(st_write(scratch_path("m"), 2, tensor, 2, lying, &e), R4_OK);
  refuses_model(
    NULL, "0 of its 2 parameters match; 2 of another shape: 0.weight is [4,5], expected [20000,20000]");
  const struct st_note bad[] = {{"net", "dense x"}, {"input", "[5]"}};
  assert_int_equal(st_write(scratch_path("m"), 2, tensor, 2, bad, &e), R4_OK);
  refuses_model(NULL, "net: column 1: layer 1 \"dense x\"");
  const struct st_note shapeless[] = {{"net", "dense 4"}, {"input", "5"}};
  assert_int_equal(st_write(scratch_path("m"), 2, tensor, 2, shapeless, &e), R4_OK);
  refuses_model(NULL, "metadata: input is \"5\", expected a shape");
  assert_int_equal(st_write(scratch_path("m"), 2, tensor, 1, &lying[2], &e), R4_OK);
  refuses_model(n, "metadata: classes is not a list of 4 names");
  assert_int_equal(st_write(scratch_path("m"), 2, tensor, 0, NULL, &e), R4_OK);
  r4_model *m = r4_model_open(scratch_path("m"), n, &e);
  assert_non_null(m);
  r4_model_free(m);
  r4_net_free(n);
  r4_net_free(wider);
  r4_net_free(deeper);
  free(weights);
  assert_int_equal(r4_model_open(scratch_path("none"), NULL, &e) != NULL, false);
  assert_error(&e, e.status, "none: opening: No such file");
}

/* ---- Memory ---- */

static r4_status save_and_load(const r4_net *n, const float *weights)
{
  static const char *const names[] = {"a", "b", "c", "d"};
  r4_error e = {0};
  r4_status s = r4_model_save(n, weights, names, scratch_path("memory"), &e);
  assert_true(!s || e.text[0]);
  if (s) return s;
  r4_model *m = r4_model_open(scratch_path("memory"), NULL, &e);
  r4_model_free(m);
  return e.status;
}

static void test_failing_memory(void **state)
{
  (void)state;
  float *weights;
  r4_net *n = new_net(3, &weights);
  for (long k = 1;; k++) {
    r4_mem_fail_at(k);
    r4_status s = save_and_load(n, weights);
    bool reached = r4_mem_count() >= k;
    r4_mem_fail_at(0);
    if (s != R4_OK && s != R4_E_MEMORY) fail_msg("allocation %ld: %s", k, r4_status_name(s));
    if (!reached) break;
  }
  r4_net_free(n);
  free(weights);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_rules),
    cmocka_unit_test(test_lying_length),
    cmocka_unit_test(test_types),
    cmocka_unit_test(test_written_bytes),
    cmocka_unit_test(test_models_read_back),
    cmocka_unit_test(test_file_computes_the_same),
    cmocka_unit_test(test_changed_bits),
    cmocka_unit_test(test_models_that_do_not_fit),
    cmocka_unit_test(test_failing_memory),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
