/* Files of PyTorch, of both kinds, that PyTorch itself has written (scripts/golden_torch.py), whole and damaged. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "scratch.h"
#include "tensor/torch.h"

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
              {"nothing.zip.pth", "its dictionary has no tensors of real numbers"}};
  for (size_t k = 0; k < 2; k++) {
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

/* A net takes its weights from such a file. */
static void a_net_takes_them(void **state)
{
  (void)state;
  r4_error e = {0};
  float w[12];
  r4_net *n = r4_net_new("flatten, whole: dense 4 nobias", R4_SHAPE(3), &e);
  r4_load_options o = {.ignore =
                         "layer1.*, view, turned, half, brain, double, scalar, empty, *\xc3\xa9, parameter"};
  assert_non_null(n);
  assert_int_equal(r4_net_load(n, FOLDER "checkpoint.old.pth", &o, w, NULL, &e), R4_E_SHAPE);
  assert_non_null(strstr(e.text, "1 missing: whole.weight"));
  r4_net_free(n);
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
    cmocka_unit_test(damage_is_survived),         cmocka_unit_test(memory_may_run_out),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("torch", tests, NULL, NULL);
}
