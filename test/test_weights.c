/* Weights of others' files: taken by name and shape, from one file or from shards, or refused by one sentence. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "scratch.h"
#include "tensor/safetensors.h"
#include "tensor/shards.h"

static const char NET[] = "body: conv 3 2, relu, flatten, fc: dense 4";

static r4_net *new_net(void)
{
  r4_error e;
  r4_net *n = r4_net_open(NET, R4_SHAPE(4, 5, 2), &e);
  if (!n) fail_msg("%s", e.text);
  return n;
}

/* The tensors of the net in a file, numbered through, each name behind a prefix. */
enum { TENSORS = 4, W0 = 3 * 2 * 2 * 2, B0 = 3, W1 = 4 * 36, B1 = 4, SIZE = W0 + B0 + W1 + B1 };
static float number[SIZE];
static const struct st_new tensor[TENSORS] = {{"body.weight", {4, {3, 2, 2, 2}}, number},
                                              {"body.bias", {1, {3}}, number + W0},
                                              {"fc.weight", {2, {4, 36}}, number + W0 + B0},
                                              {"fc.bias", {1, {4}}, number + W0 + B0 + W1}};

static void write_file(const char *name, size_t n, const struct st_new *t)
{
  r4_error e;
  if (st_write(scratch_path(name), n, t, 0, NULL, &e)) fail_msg("%s", e.text);
}

static void write_text(const char *name, const char *text)
{
  r4_error e;
  if (file_write(scratch_path(name), text, strlen(text), &e)) fail_msg("%s", e.text);
}

static int number_all(void **state)
{
  for (int k = 0; k < SIZE; k++) number[k] = (float)k;
  return scratch_make(state);
}

static r4_status load(const char *name, const r4_load_options *o, float *weights, r4_load_report *report,
                      r4_error *e)
{
  r4_net *n = new_net();
  assert_int_equal(r4_net_size(n), SIZE);
  r4_status s = r4_net_load(n, scratch_path(name), o, weights, report, e);
  r4_net_free(n);
  return s;
}

static void refuses(const char *name, const r4_load_options *o, r4_status status, const char *expected)
{
  r4_error e = {0};
  float weights[SIZE];
  for (int k = 0; k < SIZE; k++) weights[k] = -7;
  r4_status s = load(name, o, weights, NULL, &e);
  assert_error(&e, s, expected);
  assert_int_equal(s, status);
  for (int k = 0; k < SIZE; k++) assert_true(weights[k] == -7); /* left as they were */
}

/* body.weight[o, c, y, x] of the file is [o, y, x, c] here, and so are the columns of fc.weight, [c, y, x] there. */
static void assert_all(const float *w)
{
  for (int o = 0; o < 3; o++)
    for (int c = 0; c < 2; c++)
      for (int p = 0; p < 4; p++) assert_true(w[(o * 4 + p) * 2 + c] == number[(o * 2 + c) * 4 + p]);
  for (int k = 0; k < B0; k++) assert_true(w[W0 + k] == number[W0 + k]);
  for (int o = 0; o < 4; o++)
    for (int c = 0; c < 3; c++)
      for (int p = 0; p < 12; p++)
        assert_true(w[W0 + B0 + o * 36 + p * 3 + c] == number[W0 + B0 + o * 36 + c * 12 + p]);
  for (int k = SIZE - B1; k < SIZE; k++) assert_true(w[k] == number[k]);
}

static void test_one_file(void **state)
{
  (void)state;
  float w[SIZE] = {0};
  r4_error e;
  r4_load_report r;
  write_file("all", TENSORS, tensor);
  if (load("all", NULL, w, &r, &e)) fail_msg("%s", e.text);
  assert_all(w);
  assert_true(r.taken == 4 && r.left == 0 && r.ignored == 0);
}

static void test_prefix(void **state)
{
  (void)state;
  float w[SIZE] = {0};
  r4_error e;
  struct st_new prefixed[TENSORS];
  static const char *const names[] = {"module.body.weight", "module.body.bias", "module.fc.weight",
                                      "module.fc.bias"};
  for (int k = 0; k < TENSORS; k++) prefixed[k] = tensor[k], prefixed[k].name = names[k];
  write_file("prefixed", TENSORS, prefixed);
  if (load("prefixed", &(r4_load_options){.prefix = "module."}, w, NULL, &e)) fail_msg("%s", e.text);
  assert_all(w);
  refuses("prefixed", NULL, R4_E_SHAPE,
          "/prefixed: does not fit the net: 0 of its 4 parameters match; 4 missing: body.weight [3,2,2,2], body.bias "
          "[3], fc.weight [4,36], fc.bias [4]; 4 unexpected: module.body.weight, ");
  refuses("prefixed", &(r4_load_options){.prefix = "modul"}, R4_E_SHAPE, "0 of its 4 parameters match");
}

/* Heads are left out, whether the file has one of another shape or none. */
static void test_heads(void **state)
{
  (void)state;
  r4_error e;
  r4_load_report r;
  struct st_new other[5];
  memcpy(other, tensor, sizeof tensor);
  other[2].shape = R4_SHAPE(2, 36);
  other[3].shape = R4_SHAPE(2);
  other[4] = (struct st_new){"fc.scale", R4_SHAPE(1), number};
  for (size_t n = 2; n <= 5; n++) {
    float w[SIZE];
    for (int k = 0; k < SIZE; k++) w[k] = -1 - (float)k;
    write_file("head", n, other);
    if (load("head", &(r4_load_options){.skip = "fc.*"}, w, &r, &e)) fail_msg("%s", e.text);
    assert_true(w[0] == number[0] && w[1] == number[4] && w[W0 + 2] == number[W0 + 2]);
    for (int k = W0 + B0; k < SIZE; k++) assert_true(w[k] == -1 - (float)k);
    assert_true(r.taken == 2 && r.left == 2 && r.ignored == n - 2);
  }
  refuses("head", &(r4_load_options){.skip = "fc.*, head.*"}, R4_E_ARGUMENT,
          "no parameter of the net matches \"head.*\"; expected body.weight, body.bias, fc.weight, "
          "fc.bias");
  refuses("head", NULL, R4_E_SHAPE,
          "2 of its 4 parameters match; 1 unexpected: fc.scale; 2 of another shape: fc.weight is [2,36], expected "
          "[4,36], fc.bias is [2], expected [4]");
  write_file("head", 2, other);
  float w[SIZE] = {0};
  assert_int_equal(load("head", &(r4_load_options){.optional = "fc.*"}, w, &r, &e), R4_OK);
  assert_int_equal(r.left, 2);
  refuses("head", &(r4_load_options){.optional = "fc.bias"}, R4_E_SHAPE, "1 missing: fc.weight [4,36]");
}

/* What the net does not need is named, and counters need not be. */
static void test_unexpected(void **state)
{
  (void)state;
  struct st_new more[TENSORS + 1];
  float w[SIZE] = {0};
  r4_error e;
  r4_load_report r;
  memcpy(more, tensor, sizeof tensor);
  more[TENSORS] = (struct st_new){"pooler.dense.weight", R4_SHAPE(2), number};
  write_file("more", TENSORS + 1, more);
  refuses("more", NULL, R4_E_SHAPE, "4 of its 4 parameters match; 1 unexpected: pooler.dense.weight");
  if (load("more", &(r4_load_options){.ignore = "cls.*, pooler.*"}, w, &r, &e)) fail_msg("%s", e.text);
  assert_all(w);
  assert_int_equal(r.ignored, 1);
  more[TENSORS] = (struct st_new){"bn.num_batches_tracked", R4_SHAPE(1), number};
  write_file("more", TENSORS + 1, more);
  refuses("more", NULL, R4_E_SHAPE, "1 unexpected: bn.num_batches_tracked");
  scratch_patch("more", "tracked\":{\"dtype\":\"F32\"", "tracked\":{\"dtype\":\"I32\"",
                strlen("tracked\":{\"dtype\":\"I32\""));
  if (load("more", NULL, w, NULL, &e)) fail_msg("%s", e.text);
}

/* A long list is cut, and says how many there are. */
static void test_another_net(void **state)
{
  (void)state;
  enum { MANY = 300 };
  static char name[MANY][40];
  static struct st_new many[MANY];
  for (int k = 0; k < MANY; k++) {
    snprintf(name[k], sizeof *name, "encoder.layer.%d.attention.weight", k);
    many[k] = (struct st_new){name[k], R4_SHAPE(1), number};
  }
  write_file("another", MANY, many);
  refuses("another", NULL, R4_E_SHAPE,
          "0 of its 4 parameters match; 4 missing: body.weight [3,2,2,2], body.bias [3], fc.weight [4,36], fc.bias "
          "[4]; 300 unexpected: encoder.layer.0.attention.weight, encoder.layer.1.attention.weight, "
          "encoder.layer.2.attention.weight, ...");
}

static void test_not_finite(void **state)
{
  (void)state;
  number[W0 + B0 + 37] = NAN;
  write_file("nan", TENSORS, tensor);
  number[W0 + B0 + 37] = W0 + B0 + 37;
  refuses("nan", NULL, R4_E_DOMAIN, "/nan: \"fc.weight\" is nan at [1,1], expected a finite number");
  float w[SIZE] = {0};
  r4_error e;
  assert_int_equal(load("nan", &(r4_load_options){.skip = "fc.*"}, w, NULL, &e), R4_OK);
}

/* ---- Shards ---- */

static void write_shards(void)
{
  write_file("s-1.safetensors", 2, tensor);
  write_file("s-2.safetensors", 2, tensor + 2);
  write_text("s.index.json", "{\"metadata\": {\"total_size\": 1}, \"weight_map\": {\n"
                             "\"fc.weight\": \"s-2.safetensors\", \"body.weight\": \"s-1.safetensors\",\n"
                             "\"body.bias\": \"s-1.safetensors\", \"fc.bias\": \"s-2.safetensors\"}}");
}

static void test_shards(void **state)
{
  (void)state;
  float w[SIZE] = {0};
  r4_error e;
  write_shards();
  if (load("s.index.json", NULL, w, NULL, &e)) fail_msg("%s", e.text);
  assert_all(w);
  unlink(scratch_path("s-2.safetensors"));
  refuses("s.index.json", NULL, R4_E_IO, "/s.index.json: a shard cannot be read: ");
  refuses("s.index.json", NULL, R4_E_IO, "/s-2.safetensors: opening: No such file");
  write_shards();
  assert_int_equal(truncate(scratch_path("s-2.safetensors"), 200), 0);
  refuses("s.index.json", NULL, R4_E_PARSE,
          "/s-2.safetensors: tensor \"fc.weight\": data_offsets [0,576] are outside");
  write_file("s-2.safetensors", 1, tensor + 2);
  refuses("s.index.json", NULL, R4_E_PARSE,
          "says that \"fc.bias\" is in s-2.safetensors, which does not have it");
  write_file("s-2.safetensors", 3, tensor + 1);
  refuses("s.index.json", NULL, R4_E_PARSE,
          "\"body.bias\" is in two shards, s-1.safetensors and s-2.safetensors");
  struct st_new more[3] = {tensor[2], tensor[3], {"extra", R4_SHAPE(1), number}};
  write_file("s-2.safetensors", 3, more);
  refuses("s.index.json", NULL, R4_E_PARSE, "does not list \"extra\", which is in s-2.safetensors");
}

static void test_wrong_indices(void **state)
{
  (void)state;
  write_text("i.json", "{\"weight_map\": {\"a\": \"../s-1.safetensors\"}}");
  refuses("i.json", NULL, R4_E_PARSE, "\"a\" is in \"../s-1.safetensors\", expected a file next to the index");
  write_text("i.json", "{\"weight_map\": {\"a\": \"/etc/passwd\"}}");
  refuses("i.json", NULL, R4_E_PARSE, "\"a\" is in \"/etc/passwd\", expected a file next to the index");
  write_text("i.json", "{\"weight_map\": {\"a\": \"..\"}}");
  refuses("i.json", NULL, R4_E_PARSE, "expected a file next to the index");
  write_text("i.json", "{\"weight_map\": {\"a\": \"\"}}");
  refuses("i.json", NULL, R4_E_PARSE, "expected a file next to the index");
  write_text("i.json", "{\"weight_map\": {\"a\": 3}}");
  refuses("i.json", NULL, R4_E_PARSE, "weight_map: \"a\" is not text");
  write_text("i.json", "{\"weight_map\": [\"a\"]}");
  refuses("i.json", NULL, R4_E_PARSE, "has no object \"weight_map\"");
  write_text("i.json", "{\"weight_map\": {\"a\": \"x\", \"a\": \"y\"}}");
  refuses("i.json", NULL, R4_E_PARSE, "the key \"a\" occurs twice");
  write_text("i.json", "{\"weight_map\": {}}");
  refuses("i.json", NULL, R4_E_SHAPE, "0 of its 4 parameters match");
}

/* A folder is its model, or the index of it. */
static void test_folders(void **state)
{
  (void)state;
  float w[SIZE] = {0};
  r4_error e;
  refuses("", NULL, R4_E_IO, "/model.safetensors: opening: No such file");
  write_shards();
  uint8_t *data = NULL;
  size_t size = 0;
  assert_int_equal(file_read(scratch_path("s.index.json"), 10000, &data, &size, &e), R4_OK);
  assert_int_equal(file_write(scratch_path("model.safetensors.index.json"), data, size, &e), R4_OK);
  r4_mem_free(data);
  if (load("", NULL, w, NULL, &e)) fail_msg("%s", e.text);
  assert_all(w);
  write_file("model.safetensors", 2, tensor);
  refuses("", NULL, R4_E_SHAPE, "/model.safetensors: does not fit the net: 2 of its 4");
}

static void test_memory(void **state)
{
  (void)state;
  write_shards();
  for (long k = 1;; k++) {
    float w[SIZE] = {0};
    r4_error e = {0};
    r4_net *n = new_net();
    r4_mem_fail_at(k);
    r4_status s = r4_net_load(n, scratch_path("s.index.json"),
                              &(r4_load_options){.skip = k % 2 ? "fc.*" : NULL}, w, NULL, &e);
    bool reached = r4_mem_count() >= k;
    r4_mem_fail_at(0);
    r4_net_free(n);
    if (s != R4_OK && s != R4_E_MEMORY) fail_msg("allocation %ld: %s", k, e.text);
    if (!reached) break;
  }
  write_file("more", 1, tensor);
  for (long k = 1; k < 40; k++) {
    float w[SIZE] = {0};
    r4_error e = {0};
    r4_net *n = new_net();
    r4_mem_fail_at(k);
    r4_status s = r4_net_load(n, scratch_path("more"), NULL, w, NULL, &e);
    r4_mem_fail_at(0);
    r4_net_free(n);
    if (s != R4_E_SHAPE && s != R4_E_MEMORY) fail_msg("allocation %ld: %s", k, e.text);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_one_file),    cmocka_unit_test(test_prefix),
    cmocka_unit_test(test_heads),       cmocka_unit_test(test_unexpected),
    cmocka_unit_test(test_another_net), cmocka_unit_test(test_not_finite),
    cmocka_unit_test(test_shards),      cmocka_unit_test(test_wrong_indices),
    cmocka_unit_test(test_folders),     cmocka_unit_test(test_memory),
  };
  return cmocka_run_group_tests(tests, number_all, scratch_remove);
}
