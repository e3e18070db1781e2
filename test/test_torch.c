/* Files of PyTorch, of both kinds, that PyTorch itself has written (scripts/golden_torch.py), whole and damaged. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "scratch.h"
#include "tensor/foreign/pickle.h"
#include "tensor/foreign/torch.h"

#define FOLDER "test/golden/torch/"

static void read_golden(const char *name, struct st_file *f)
{
  char path[256];
  r4_error e = {0};
  snprintf(path, sizeof path, FOLDER "%s", name);
  assert_true(torch_is_file(path));
  if (torch_read(f, path, &e)) fail_msg("%s", e.text);
}

/* One tensor as the line of values.txt that it should have. */
static char *describe(const struct st_file *f, const char *name)
{
  static char line[1024];
  float v[64];
  r4_error e = {0};
  const struct st_tensor *t = st_find(f, name);
  if (!t) fail_msg("%s has no tensor %s", f->path, name);
  assert_true(st_count(t) <= 64);
  assert_int_equal(st_floats(f, t, v, &e), R4_OK);
  int n = snprintf(line, sizeof line, "[");
  for (int k = 0; k < t->shape.rank; k++)
    n += snprintf(line + n, sizeof line - (size_t)n, "%s%lld", k ? "," : "", (long long)t->shape.dim[k]);
  n += snprintf(line + n, sizeof line - (size_t)n, "]");
  for (size_t k = 0; k < st_count(t); k++)
    n += snprintf(line + n, sizeof line - (size_t)n, " %.6g", (double)v[k]);
  return line;
}

/* The same of the end of a line of values.txt: a shape, and numbers. */
static char *expected(const char *rest)
{
  static char line[1024];
  int n = snprintf(line, sizeof line, "%.*s", (int)strcspn(rest, " \n"), rest);
  char *end;
  for (rest += n; *rest && *rest != '\n'; rest = end)
    n += snprintf(line + n, sizeof line - (size_t)n, " %.6g", strtod(rest, &end));
  return line;
}

static void values_are_pytorchs(void **state)
{
  (void)state;
  char line[1024], file[64], name[64], open[64] = "";
  int tensors = 0, at;
  struct st_file f = {0};
  FILE *in = fopen(FOLDER "values.txt", "r");
  assert_non_null(in);
  while (fgets(line, sizeof line, in)) {
    assert_int_equal(sscanf(line, "%63s %63s %n", file, name, &at), 2);
    if (strcmp(file, open)) {
      st_free(&f);
      read_golden(file, &f);
      assert_int_equal(f.n, 11); /* the counter is none */
      snprintf(open, sizeof open, "%s", file);
    }
    assert_string_equal(describe(&f, name), expected(line + at));
    tensors++;
  }
  assert_int_equal(tensors, 44);
  st_free(&f);
  fclose(in);
}

/* Protocol 4 has other instructions for the same. */
static void protocols_agree(void **state)
{
  (void)state;
  char usual[1024];
  struct st_file two, four;
  read_golden("state.zip.pth", &two);
  read_golden("four.zip.pth", &four);
  assert_int_equal(two.n, four.n);
  for (size_t k = 0; k < two.n; k++) {
    snprintf(usual, sizeof usual, "%s", describe(&two, two.tensor[k].name));
    assert_string_equal(describe(&four, two.tensor[k].name), usual);
  }
  st_free(&two);
  st_free(&four);
}

static void other_contents_are_refused(void **state)
{
  (void)state;
  static const struct {
    const char *file, *why;
  } list[] = {{"model.zip.pth", "holds an object of the class Sequential, expected a dictionary of tensors"},
              {"nothing.zip.pth", "its dictionary has no tensors of real numbers"},
              {"big.zip.pth", "its numbers have their highest byte first"}};
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
    char path[256];
    r4_error e = {0};
    struct st_file f;
    snprintf(path, sizeof path, FOLDER "%s", list[k].file);
    assert_int_equal(torch_read(&f, path, &e), R4_E_PARSE);
    if (!strstr(e.text, list[k].why)) fail_msg("%s", e.text);
  }
  assert_false(torch_is_file(FOLDER "values.txt"));
  assert_false(torch_is_file(FOLDER));
  assert_false(torch_is_file(FOLDER "nowhere"));
}

/* A net takes its weights from such a file, or hears what is missing. */
static void a_net_takes_them(void **state)
{
  (void)state;
  r4_error e = {0};
  float w[12];
  r4_load_options one = {.ignore =
                           "whole, view, turned, half, brain, double, scalar, empty, *\xc3\xa9, parameter"};
  r4_net *same = r4_net_open("flatten, layer1: (dense 2 nobias)", R4_SHAPE(3), &e);
  assert_non_null(same);
  if (r4_net_load(same, FOLDER "checkpoint.zip.pth", &one, w, NULL, &e)) fail_msg("%s", e.text);
  for (int k = 0; k < 6; k++) assert_true(w[k] == (float)k * 0.25f - 1);
  r4_net_free(same);
  r4_net *n = r4_net_open("flatten, whole: dense 4 nobias", R4_SHAPE(3), &e);
  r4_load_options o = {.ignore =
                         "layer1.*, view, turned, half, brain, double, scalar, empty, *\xc3\xa9, parameter"};
  assert_non_null(n);
  assert_int_equal(r4_net_load(n, FOLDER "checkpoint.old.pth", &o, w, NULL, &e), R4_E_SHAPE);
  assert_non_null(strstr(e.text, "1 missing: whole.weight"));
  r4_net_free(n);
}

/* ---- Hostile files ---- */

#define ADD(text) memcpy(to + n, text, sizeof(text) - 1), n += sizeof(text) - 1
#define ADD_TEXT(text) memcpy(to + n, text, strlen(text)), n += strlen(text)

/* The pickle of {NAME: a tensor with these sizes and strides}, with a storage of so many floats. More may follow the
 * strides, and the count in the description of the storage. */
static size_t write_pickle(uint8_t *to, const char *name, const char *sizes, const char *strides,
                           const char *count)
{
  uint32_t length = (uint32_t)strlen(name);
  size_t n = 0;
  ADD("\x80\x02}X");
  memcpy(to + n, &length, 4), n += 4;
  ADD_TEXT(name);
  ADD("ctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storagectorch\nFloatStorage\nU\x01"
      "0U\x03"
      "cpu");
  ADD_TEXT(count);
  ADD("tQK\0");
  ADD_TEXT(sizes);
  ADD_TEXT(strides);
  ADD("tRs.");
  return n;
}

/* A file of the old kind, with a storage of 4 floats. */
static size_t write_old(uint8_t *to, const char *name, const char *sizes, const char *strides,
                        const char *count)
{
  static const char head[] = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."
                             "\x80\x02M\xe9\x03.\x80\x02}.";
  size_t n = sizeof head - 1;
  memcpy(to, head, n);
  n += write_pickle(to + n, name, sizes, strides, count);
  ADD("\x80\x02]U\x01"
      "0a.\x04\0\0\0\0\0\0\0\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40");
  return n;
}

static void hostile_files_are_refused(void **state)
{
  (void)state;
  static char many[1200];
  memset(many, 'n', sizeof many - 1);
  const struct {
    const char *name, *sizes, *strides, *count, *why;
  } list[] = {
    {"w", "K\x04\x85", "K\x01\x85", "K\x04", NULL},
    {"w", "K\x04\x85", "K\x01\x85", "K\x04N", NULL},
    {"w", "K\x05\x85", "K\x01\x85", "K\x04", "beyond the end of its storage"},
    {"w", "K\x04\x85", "K\x02\x85", "K\x04", "beyond the end of its storage"},
    {"w", "J\xff\xff\xff\xff\x85", "K\x01\x85", "K\x04", "its offset is not a number"},
    {"w", "K\x04\x85", "K\x01K\x01\x86", "K\x04", "its offset is not a number"},
    {"w", "\x8a\x08\x01\x01\x01\x01\x01\x01\x01\x40K\x03K\x02\x87", "K\x01K\x01K\x01\x87", "K\x04", "too large"},
    {"w", "K\x04\x85", "K\x01\x85", "K\x04(t", "view of another one"},
    {many, "K\x04\x85", "K\x01\x85", "K\x04", "text of at most 1000 bytes"},
    {"__metadata__", "K\x04\x85", "K\x01\x85", "K\x04", "not text"}};
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
    static uint8_t data[4096];
    struct st_file f;
    r4_error e = {0};
    size_t n = write_old(data, list[k].name, list[k].sizes, list[k].strides, list[k].count);
    r4_status s = torch_parse(&f, "file", data, n, &e);
    if (!list[k].why && s) fail_msg("%zu: %s", k, e.text);
    if (list[k].why && (s != R4_E_PARSE || !strstr(e.text, list[k].why)))
      fail_msg("%zu: %d %s", k, s, e.text);
    if (!s) assert_string_equal(describe(&f, "w"), "[4] 1 2 3 4");
    st_free(&f);
  }
}

/* What PyTorch keeps of a tensor beside its place: its values are those of its storage, negated (torch._neg_view). */
static void negated_tensors_are_read(void **state)
{
  (void)state;
  static const struct {
    const char *strides, *want; /* with what follows: requires_grad, hooks, metadata */
  } list[] = {{"K\x01\x85\x89N", "[4] 1 2 3 4"},
              {"K\x01\x85\x89NN", "[4] 1 2 3 4"},
              {"K\x01\x85\x89N}", "[4] 1 2 3 4"},
              {"K\x01\x85\x89N}U\x03neg\x88s", "[4] -1 -2 -3 -4"},
              {"K\x01\x85\x89N}U\x03neg\x89s", "[4] 1 2 3 4"},
              {"K\x01\x85\x89N}U\x04"
               "conj\x88s",
               NULL},
              {"K\x01\x85\x89NK\x01", NULL}};
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
    static uint8_t data[4096];
    struct st_file f;
    r4_error e = {0};
    size_t n = write_old(data, "w", "K\x04\x85", list[k].strides, "K\x04");
    r4_status s = torch_parse(&f, "file", data, n, &e);
    if (list[k].want && s) fail_msg("%zu: %s", k, e.text);
    if (list[k].want) assert_string_equal(describe(&f, "w"), list[k].want);
    if (!list[k].want) {
      assert_int_equal(s, R4_E_PARSE);
      assert_non_null(strstr(e.text, "tensor \"w\": it has metadata other than the negative bit"));
    }
    st_free(&f);
  }
}

/* One storage may be many tensors, within reason. */
static void sharing_has_limits(void **state)
{
  (void)state;
  struct st_file f;
  r4_error e = {0};
  read_golden("expanded.zip.pth", &f);
  assert_string_equal(describe(&f, "w"), "[5] 0 0 0 0 0");
  st_free(&f);
  static uint8_t data[4096];
  size_t n = write_old(data, "w", "J\x01\x01\x01\x01\x85", "\x89\x85", "K\x04"); /* 17 million times the first */
  assert_int_equal(torch_parse(&f, "file", data, n, &e), R4_E_PARSE);
  assert_non_null(strstr(e.text, "more than 16 times the bytes of the file"));
}

/* ---- Archives that claim much ---- */

struct member {
  const char *name;
  const uint8_t *data;
  uint32_t size, claims; /* claims: bytes that it is said to have when it is unpacked, or 0: it is not packed */
};

static uint32_t crc_of(const uint8_t *data, size_t n)
{
  uint32_t c = ~0u;
  for (size_t k = 0; k < n; k++) {
    c ^= data[k];
    for (int bit = 0; bit < 8; bit++) c = c >> 1 ^ (c & 1 ? 0xedb88320u : 0);
  }
  return ~c;
}

static size_t put(uint8_t *to, int bytes, size_t value)
{
  for (int k = 0; k < bytes; k++) to[k] = (uint8_t)(value >> 8 * k);
  return (size_t)bytes;
}

/* What both headers of a member have: version 20, no flags, how it is packed, no time, its sum and its sizes. */
static size_t put_facts(uint8_t *to, const struct member *m)
{
  size_t n = put(to, 2, 20), whole = m->claims ? m->claims : m->size;
  n += put(to + n, 2, 0), n += put(to + n, 2, m->claims ? 8 : 0), n += put(to + n, 4, 33 << 16);
  n += put(to + n, 4, crc_of(m->data, m->size)), n += put(to + n, 4, m->size), n += put(to + n, 4, whole);
  n += put(to + n, 2, strlen(m->name)), n += put(to + n, 2, 0);
  return n;
}

static size_t write_zip(uint8_t *to, size_t members, const struct member *m)
{
  size_t n = 0, at[4], list;
  for (size_t k = 0; k < members; k++) {
    at[k] = n;
    ADD("PK\x03\x04");
    n += put_facts(to + n, &m[k]);
    ADD_TEXT(m[k].name);
    memcpy(to + n, m[k].data, m[k].size), n += m[k].size;
  }
  list = n;
  for (size_t k = 0; k < members; k++) {
    ADD("PK\x01\x02\x14\0");
    n += put_facts(to + n, &m[k]);
    n += put(to + n, 6, 0), n += put(to + n, 4, 0), n += put(to + n, 4, at[k]);
    ADD_TEXT(m[k].name);
  }
  size_t size = n - list;
  ADD("PK\x05\x06\0\0\0");
  n += put(to + n, 1, 0), n += put(to + n, 2, members), n += put(to + n, 2, members);
  n += put(to + n, 4, size), n += put(to + n, 4, list), n += put(to + n, 2, 0);
  return n;
}

/* Sizes are compared before anything is unpacked: what is packed here could not be. */
static void claims_are_compared_first(void **state)
{
  (void)state;
  enum { JUNK = 4096, LARGE = 1000 * JUNK, EVEN = 4 * 0x0f0101 };
  static uint8_t junk[JUNK], four[16], pickle[256], data[3 * JUNK];
  const struct {
    uint32_t order, pickle, storage; /* claims, or 0: plain, and right */
    const char *count, *why;
  } list[] = {{0, 0, 0, "K\x04", NULL},
              {0, 0, 0, "K\x05", "storage \"0\" has 16 bytes, expected 20"},
              {0, 0, 0, "J\xff\xff\xff\xff", "storage \"0\" does not say how many elements it has"},
              {0, 0, LARGE, "K\x04", "storage \"0\" has 4096000 bytes, expected 16"},
              {0, 0, EVEN, "\x8a\x03\x01\x01\x0f", "more than 16 times the bytes of the file"},
              {0, LARGE, 0, "K\x04", "data.pkl is larger than the file"},
              {LARGE, 0, 0, "K\x04", "its numbers have their highest byte first"}};
  memset(junk, 0xff, sizeof junk);
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
    struct st_file f;
    r4_error e = {0};
    size_t n = write_pickle(pickle, "w", "K\x04\x85", "K\x01\x85", list[k].count);
    struct member m[3] = {{"a/byteorder", (const uint8_t *)"little", 6, 0},
                          {"a/data.pkl", pickle, (uint32_t)n, 0},
                          {"a/data/0", four, sizeof four, 0}};
    const uint32_t claims[3] = {list[k].order, list[k].pickle, list[k].storage};
    for (int i = 0; i < 3; i++)
      if (claims[i]) m[i] = (struct member){m[i].name, junk, JUNK, claims[i]};
    r4_status s = torch_parse(&f, "file", data, write_zip(data, 3, m), &e);
    if (!list[k].why && s) fail_msg("%zu: %s", k, e.text);
    if (list[k].why && (s != R4_E_PARSE || !strstr(e.text, list[k].why)))
      fail_msg("%zu: %d %s", k, s, e.text);
    st_free(&f);
  }
}

/* A value takes many times the byte that makes it. */
static void values_have_limits(void **state)
{
  (void)state;
  enum { MANY = 1 << 22 };
  static const char makers[] = ")(N]";
  uint8_t *data = malloc(MANY);
  assert_non_null(data);
  for (const char *make = makers; *make; make++) {
    r4_error e = {0};
    size_t used;
    memset(data, *make, MANY);
    assert_null(pickle_read("file", data, MANY, &used, &e));
    if (!strstr(e.text, "there are more than 2000000 values")) fail_msg("%c: %s", *make, e.text);
  }
  free(data);
}

/* ---- Damage ---- */

static uint8_t *load(const char *name, size_t *size)
{
  char path[256];
  uint8_t *data = NULL;
  r4_error e = {0};
  snprintf(path, sizeof path, FOLDER "%s", name);
  if (file_read(path, 1 << 20, &data, size, &e)) fail_msg("%s", e.text);
  return data;
}

/* Whatever a file holds, it is read or refused with a reason; the old kind, cut off anywhere, is refused. */
static void damage_is_survived(void **state)
{
  (void)state;
  for (int old = 0; old < 2; old++) {
    size_t size;
    uint8_t *data = load(old ? "state.old.pth" : "state.zip.pth", &size);
    for (size_t n = 0; n <= size; n++) {
      struct st_file f;
      r4_error e = {0};
      r4_status s = torch_parse(&f, "cut", data, n, &e);
      assert_true(s == e.status && !s == (n == size));
      st_free(&f);
    }
    for (size_t k = 0; k < size; k++)
      for (int bit = 0; bit < 8; bit += 3) {
        struct st_file f;
        r4_error e = {0};
        data[k] ^= (uint8_t)(1 << bit);
        r4_status s = torch_parse(&f, "damaged", data, size, &e);
        assert_int_equal(s, e.status);
        st_free(&f);
        data[k] ^= (uint8_t)(1 << bit);
      }
    r4_mem_free(data);
  }
}

static void memory_may_run_out(void **state)
{
  (void)state;
  for (int old = 0; old < 2; old++) {
    size_t size;
    uint8_t *data = load(old ? "checkpoint.old.pth" : "checkpoint.zip.pth", &size);
    for (long k = 1;; k++) {
      struct st_file f;
      r4_error e = {0};
      r4_mem_fail_at(k);
      r4_status s = torch_parse(&f, "file", data, size, &e);
      bool reached = r4_mem_count() >= k;
      r4_mem_fail_at(0);
      assert_true((s == R4_OK || s == R4_E_MEMORY) && s == e.status);
      st_free(&f);
      if (!reached) break;
    }
    r4_mem_free(data);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(values_are_pytorchs),        cmocka_unit_test(protocols_agree),
    cmocka_unit_test(other_contents_are_refused), cmocka_unit_test(a_net_takes_them),
    cmocka_unit_test(hostile_files_are_refused),  cmocka_unit_test(negated_tensors_are_read),
    cmocka_unit_test(sharing_has_limits),         cmocka_unit_test(claims_are_compared_first),
    cmocka_unit_test(values_have_limits),         cmocka_unit_test(damage_is_survived),
    cmocka_unit_test(memory_may_run_out),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("torch", tests, NULL, NULL);
}
