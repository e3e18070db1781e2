/* npz files as data sets: what NumPy made, what r4 saves, and what must not be believed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "data/data.h"
#include "scratch.h"
#include "tensor/npz.h"

static char path[64]; /* of an archive */

static int make_folder(void **state)
{
  int failed = scratch_make(state);
  snprintf(path, sizeof path, "%s", scratch_path("a.npz"));
  return failed;
}

static r4_data *open_or_fail(const char *file, r4_data_options options)
{
  r4_error e;
  r4_data *d = r4_data_open(file, &options, &e);
  if (!d) fail_msg("%s", e.text);
  return d;
}

/* ---- Files of NumPy ---- */

static void opens_own_names(void **state)
{
  (void)state;
  r4_data *d = open_or_fail("test/npz/own.npz", (r4_data_options){0});
  static const int label[] = {0, 1, 1, 0, 0, 1}, group[] = {0, 1, 1, 0, 0, 1};
  assert_int_equal(r4_data_count(d), 6);
  assert_true(r4_shape_equal(r4_data_shape(d), R4_SHAPE(2, 3, 3)));
  for (size_t i = 0; i < 6; i++) {
    r4_example x = r4_data_example(d, i);
    assert_true(x.label == label[i] && x.group == group[i] && x.split == (i < 4 ? R4_TRAIN : R4_TEST));
    assert_true(!x.file && !x.id);
    assert_true(r4_data_has_mask(d, i) == (i == 1 || i == 3 || i == 5)); /* relevant, turned around */
  }
  float x[18], m[18];
  r4_data_values(d, 5, x); /* in Fortran order in the file */
  for (int k = 0; k < 18; k++) assert_true(x[k] == (float)(18 + k) / 255);
  r4_data_mask(d, 3, m); /* row 1, column 0 */
  for (int k = 0; k < 18; k++) assert_true(m[k] == (k / 3 == 3));
  assert_string_equal(r4_data_class_name(d, 1), "gr\xc3\xb6\xc3\x9f"
                                                "e");
  assert_string_equal(r4_data_group_name(d, 1), "night");
  assert_string_equal(r4_data_about(d), "made by NumPy");
  r4_data_free(d);
}

static void opens_medmnist(void **state)
{
  (void)state;
  r4_data *d = open_or_fail("test/npz/dermamnist_2.npz", (r4_data_options){0});
  static const int label[] = {5, 0, 6, 2, 4, 1, 3};
  assert_int_equal(r4_data_count(d), 7);
  for (size_t i = 0; i < 7; i++) {
    assert_int_equal(r4_data_example(d, i).label, label[i]);
    assert_int_equal(r4_data_example(d, i).split, i < 4 ? R4_TRAIN : i < 5 ? R4_VAL : R4_TEST);
  }
  assert_int_equal(r4_data_classes(d), 7);
  assert_string_equal(r4_data_class_name(d, 6), "6"); /* a part of DermaMNIST is not DermaMNIST */
  r4_data_free(d);
}

static void opens_decoy_mnist(void **state)
{
  (void)state;
  r4_data *d = open_or_fail("test/npz/decoy-mnist.npz", (r4_data_options){0});
  float x[784], m[784];
  assert_int_equal(r4_data_count(d), 4);
  assert_true(r4_shape_equal(r4_data_shape(d), R4_SHAPE(28, 28, 1)));
  r4_data_values(d, 1, x); /* the decoyed image, not the clean one */
  assert_true(r4_data_mask(d, 1, m));
  for (int k = 0; k < 784; k++) {
    bool corner = k / 28 < 4 && k % 28 < 4;
    assert_true(m[k] == corner && x[k] == (corner ? 230.f / 255 : 0));
  }
  r4_data_values(d, 3, x); /* shade 2 on a 0: test */
  assert_true(x[0] == 205.f / 255 && r4_data_example(d, 3).label == 0 &&
              r4_data_example(d, 3).split == R4_TEST);
  r4_data_free(d);
  d = open_or_fail("test/npz/six.npz", (r4_data_options){0});
  assert_int_equal(r4_data_count(d), 5);
  assert_int_equal(r4_data_example(d, 3).split, R4_VAL);
  assert_int_equal(r4_data_example(d, 4).label, 1);
  assert_false(r4_data_has_mask(d, 0));
  r4_data_free(d);
}

/* ---- Saving ---- */

enum kind {
  BYTES = 0,
  FLOATS = 1,
  SOFT = 2,
  BY_FEATURE = 4,
  VECTORS = 8,
  MIXED = 16,
  ORIGINS = 32,
  KINDS = 64
};

/* A data set with everything that kind asks for. */
static r4_data *make(int kind)
{
  enum { N = 20, FEATURES = 12 };
  r4_error e;
  r4_shape shape = kind & VECTORS ? R4_SHAPE(FEATURES) : R4_SHAPE(2, 3, 2);
  struct column *v = column_new(kind & FLOATS ? &floats_column : &bytes_column, shape, N, &e);
  r4_data *d = data_new(N, v, &e);
  size_t places = kind & (VECTORS | BY_FEATURE) ? FEATURES : FEATURES / 2; /* of a mask */
  struct masks *masks = masks_new(places, &e);
  data_set_masks(d, masks);
  if (kind & ORIGINS) d->files = names_new(&e), d->ids = names_new(&e);
  draw_start(7, (uint32_t)kind);
  for (size_t k = 0; k < N * FEATURES; k++)
    if (v->is == &bytes_column)
      ((uint8_t *)v->data)[k] = (uint8_t)draw_below(256);
    else
      ((float *)v->data)[k] = (float)draw(-3, 3);
  for (uint32_t i = 0; i < N; i++) {
    struct record *r = &d->record[i];
    uint8_t mask[FEATURES] = {0};
    for (size_t k = 0; i % 3 && k < places; k++)
      mask[k] = kind & SOFT ? (uint8_t)draw_below(i == 1 ? 2 : 256) : (uint8_t)(255 * draw_below(2));
    char name[32];
    snprintf(name, sizeof name, "im\xff %u.png", i);
    r->label = (int32_t)(i % 3);
    r->group = (int32_t)(i % 2);
    r->split = (uint8_t)(kind & MIXED ? (i * 7) % 3 : i / 7);
    assert_int_equal(masks_add(masks, mask, &r->mask, &e), R4_OK);
    if (kind & ORIGINS && i % 2) assert_int_equal(names_add(d->files, name, &r->file, &e), R4_OK);
    if (kind & ORIGINS && i % 4 == 0) assert_int_equal(names_add(d->ids, name + 2, &r->id, &e), R4_OK);
  }
  static const char *const names[] = {"a", "b\xc3\xa9", "", "indoors", "out"};
  for (int k = 0; k < 5; k++)
    assert_int_equal(names_add(k < 3 ? d->classes : d->groups, names[k], NULL, &e), R4_OK);
  assert_int_equal(data_set_about(d, &e, "made for a test"), R4_OK);
  assert_int_equal(data_finish(d, "test", &e), R4_OK);
  return d;
}

static void assert_same_string(const char *a, const char *b)
{
  assert_true(!a == !b);
  if (a) assert_string_equal(a, b);
}

static void saved_is_what_was(void **state)
{
  (void)state;
  for (int kind = 0; kind < KINDS; kind++) {
    char before[R4_HASH_SIZE], after[R4_HASH_SIZE];
    r4_error e;
    r4_data *d = make(kind);
    r4_data_hash(d, before);
    if (r4_data_save(d, path, &e)) fail_msg("%s", e.text);
    r4_data *again = open_or_fail(path, (r4_data_options){0});
    r4_data_hash(again, after);
    if (strcmp(before, after)) fail_msg("kind %d: another hash", kind);
    assert_string_equal(r4_data_about(again), "made for a test");
    for (size_t i = 0; i < r4_data_count(d); i++) {
      r4_example x = r4_data_example(d, i), y = r4_data_example(again, i);
      assert_same_string(x.file, y.file);
      assert_same_string(x.id, y.id);
    }
    r4_data_free(again);
    r4_data_free(d);
  }
}

static void saves_the_same_bytes(void **state)
{
  (void)state;
  uint8_t *first = NULL, *second = NULL;
  size_t n, m;
  r4_data *d = make(SOFT | MIXED | ORIGINS);
  assert_int_equal(r4_data_save(d, path, NULL), R4_OK);
  assert_int_equal(file_read(path, 1 << 20, &first, &n, NULL), R4_OK);
  assert_int_equal(r4_data_save(d, path, NULL), R4_OK);
  assert_int_equal(file_read(path, 1 << 20, &second, &m, NULL), R4_OK);
  assert_int_equal(n, m);
  assert_memory_equal(first, second, n);
  r4_mem_free(first);
  r4_mem_free(second);
  r4_data_free(d);
}

/* ---- Files made here ---- */

/* A file of arrays; each is a key, a type, a shape, and its elements. */
struct part {
  const char *key;
  enum array_type type;
  int rank;
  int64_t dim[4];
  const void *data;
};

static void write_parts(size_t n, const struct part *part)
{
  struct npz_entry entry[16];
  r4_error e;
  assert_true(n <= 16);
  for (size_t k = 0; k < n; k++) {
    struct array *a = &entry[k].array;
    size_t width = part[k].type == ARRAY_TEXT ? strlen(part[k].data) + 1 : 0;
    assert_int_equal(array_new(a, part[k].type, width, part[k].rank, part[k].dim, &e), R4_OK);
    memcpy(a->data, part[k].data, (size_t)array_count(a) * a->width);
    entry[k].key = part[k].key;
    entry[k].level = (int)k % 2;
  }
  if (npz_write(path, n, entry, &e)) fail_msg("%s", e.text);
  for (size_t k = 0; k < n; k++) array_free(&entry[k].array);
}

#define X                                         \
  {                                               \
    "x_train", ARRAY_U8, 3, {2, 1, 2}, "\1\2\3\4" \
  }
#define T                                      \
  {                                            \
    "t_train", ARRAY_U8, 2, {2, 2}, "\1\2\3\4" \
  }
#define LEN                               \
  {                                       \
    "len_train", ARRAY_U8, 1, {2}, "\2\2" \
  }
#define Y                               \
  {                                     \
    "y_train", ARRAY_U8, 1, {2}, "\0\1" \
  }
#define MEANS(word)                        \
  {                                        \
    "mask_means", ARRAY_TEXT, 0, {0}, word \
  }

/* Writes x, y and the part, and wants these bytes of masks, of two examples of two pixels. */
static void assert_masks(struct part m, const char *word, bool soft, const char *want)
{
  write_parts(4, (struct part[]){X, Y, MEANS(word), m});
  r4_data *d = open_or_fail(path, (r4_data_options){.soft_masks = soft});
  for (size_t i = 0; i < 2; i++)
    assert_memory_equal(masks_at(data_masks(d), d->record[i].mask), want + 2 * i, 2);
  r4_data_free(d);
}

static void masks_of_every_kind(void **state)
{
  (void)state;
  static const float soft[] = {0, 1, .5f, .1f};
  static const double hard[] = {0, 1, 1, 0};
  assert_masks((struct part){"m_train", ARRAY_BOOL, 3, {2, 1, 2}, "\0\1\1\1"}, "irrelevant", false,
               "\0\xff\xff\xff");
  assert_masks((struct part){"m_train", ARRAY_BOOL, 3, {2, 1, 2}, "\0\1\1\1"}, "relevant", false,
               "\xff\0\0\0");
  assert_masks((struct part){"m_train", ARRAY_U8, 4, {2, 1, 2, 1}, "\0\1\1\1"}, "irrelevant", false,
               "\0\xff\xff\xff");
  assert_masks((struct part){"m_train", ARRAY_U8, 3, {2, 1, 2}, "\0\1\x80\x7f"}, "irrelevant", false,
               "\0\0\xff\0");
  assert_masks((struct part){"m_train", ARRAY_U8, 3, {2, 1, 2}, "\0\1\x80\x7f"}, "irrelevant", true,
               "\0\1\x80\x7f");
  assert_masks((struct part){"m_train", ARRAY_U8, 3, {2, 1, 2}, "\0\1\x80\x7f"}, "relevant", true,
               "\xff\xfe\x7f\x80");
  assert_masks((struct part){"m_train", ARRAY_F32, 3, {2, 1, 2}, soft}, "irrelevant", false,
               "\0\xff\x80\x1a");
  assert_masks((struct part){"m_train", ARRAY_F64, 3, {2, 1, 2}, hard}, "irrelevant", false, "\0\xff\xff\0");
  /* the options say it */
  write_parts(3, (struct part[]){X, Y, {"m_train", ARRAY_BOOL, 3, {2, 1, 2}, "\0\1\1\1"}});
  r4_data *d = open_or_fail(path, (r4_data_options){.mask_means = R4_MASKS_RELEVANT});
  assert_memory_equal(masks_at(data_masks(d), d->record[0].mask), "\xff\0", 2);
  r4_data_free(d);
}

static const float nan_at_3[] = {0, 1, 2, NAN}, above[] = {0, 1, 1.5f, 0}, halves[] = {0, .5f};
static const int64_t large[] = {0, 1ll << 40}, negative[] = {0, -1};

/* A file, and what opening it must say. */
struct bad {
  size_t n;
  struct part part[5];
  const char *says;
};

static void assert_refused(size_t n, const struct bad *bad)
{
  for (size_t k = 0; k < n; k++) {
    r4_error e = {0};
    write_parts(bad[k].n, bad[k].part);
    r4_data *d = r4_data_open(path, NULL, &e);
    if (d || !strstr(e.text, bad[k].says) || strncmp(e.text, path, strlen(path)))
      fail_msg("%zu: \"%s\", expected \"%s: %s\"", k, e.text, path, bad[k].says);
  }
}

static void refuses_what_does_not_fit(void **state)
{
  (void)state;
  static const struct bad bad[] = {
    {1,
     {{"z", ARRAY_U8, 1, {1}, "\0"}},
     "1 arrays, the first called z.npy, expected x_train or t_train and y_train, or"},
    {1, {X}, "has x_train but no y_train"},
    {2, {T, Y}, "has t_train but no len_train"},
    {4, {X, T, LEN, Y}, "has values under x_ and under t_, expected one of the two"},
    {3,
     {T, {"len_train", ARRAY_U8, 1, {2}, "\2\0"}, Y},
     "len_train: example 1 has 0, expected a whole number from 1 to 2"},
    {3,
     {{"t_train", ARRAY_F32, 2, {2, 2}, nan_at_3}, LEN, Y},
     "t_train is float32 [2, 2], expected whole numbers"},
    {3,
     {{"t_train", ARRAY_U8, 3, {2, 1, 2}, "\1\2\3\4"}, LEN, Y},
     "t_train is uint8 [2, 1, 2], expected [examples, tokens]"},
    {3,
     {{"t_train", ARRAY_I64, 2, {2, 1}, negative}, {"len_train", ARRAY_U8, 1, {2}, "\1\1"}, Y},
     "t_train: example 1 has the id -1 at 0, expected 0 to 16777215"},
    {4,
     {T, LEN, Y, {"t_vocabulary", ARRAY_U8, 0, {0}, "\4"}},
     "t_train: example 1 has the id 4 at 1, expected 0 to 3"},
    {4, {T, LEN, Y, {"t_padding", ARRAY_U8, 1, {2}, "\4\5"}}, "t_padding is uint8 [2], expected one number"},
    {4,
     {T, LEN, Y, {"t_padding", ARRAY_F32, 0, {0}, halves + 1}},
     "padding with the id 0.5, expected a whole number"},
    {3, {X, Y, {"y_val", ARRAY_U8, 1, {1}, "\0"}}, "has y_val but no x_val"},
    {3, {X, Y, {"mask_train", ARRAY_U8, 2, {2, 2}, "\0\1\0\1"}}, "has mask_train, expected masks to be called m_train"},
    {2, {{"x_train", ARRAY_U8, 0, {0}, "\1"}, Y}, "x_train is uint8 [], expected a row for each example"},
    {2, {{"x_train", ARRAY_U8, 1, {2}, "\1\2"}, Y}, "x_train is uint8 [2], expected [examples, features]"},
    {2, {{"x_train", ARRAY_U8, 2, {2, 0}, ""}, Y}, "expected dimensions of at least 1"},
    {2,
     {{"x_train", ARRAY_I8, 2, {2, 2}, "\1\2\3\4"}, Y},
     "x_train is int8 [2, 2], expected uint8 or floats"},
    {2, {{"x_train", ARRAY_F32, 2, {2, 2}, nan_at_3}, Y}, "x_train: example 1 has nan at 1, expected finite"},
    {2, {{"x_train", ARRAY_U8, 2, {0, 2}, ""}, {"y_train", ARRAY_U8, 1, {0}, ""}}, "has no examples"},
    {4,
     {X, Y, {"x_val", ARRAY_U8, 3, {1, 2, 1}, "\1\2"}, {"y_val", ARRAY_U8, 1, {1}, "\0"}},
     "x_val is uint8 [1, 2, 1], expected uint8 [2, 1, 2]"},
    {2,
     {X, {"y_train", ARRAY_U8, 1, {3}, "\0\1\0"}},
     "y_train is uint8 [3], expected 2 rows, as x_train has"},
    {2, {X, {"y_train", ARRAY_U8, 2, {2, 2}, "\0\1\0\1"}}, "expected one whole number for each example"},
    {2,
     {X, {"y_train", ARRAY_F32, 1, {2}, halves}},
     "y_train: example 1 has 0.5, expected a whole number from 0"},
    {2, {X, {"y_train", ARRAY_I64, 1, {2}, large}}, "example 1 has 1099511627776"},
    {2, {X, {"y_train", ARRAY_I64, 1, {2}, negative}}, "example 1 has -1"},
    {3,
     {X, Y, {"class_names", ARRAY_TEXT, 1, {1}, "one"}},
     "y_train: example 1 has 1, expected a whole number from 0 to 0"},
    {3, {X, Y, {"class_names", ARRAY_U8, 1, {1}, "\0"}}, "class_names is uint8 [1], expected text"},
    {5,
     {X,
      Y,
      {"x_val", ARRAY_U8, 3, {1, 1, 2}, "\1\2"},
      {"y_val", ARRAY_U8, 1, {1}, "\0"},
      {"g_train", ARRAY_U8, 1, {2}, "\0\1"}},
     "has no g_val, which other splits have"},
    {3, {X, Y, {"place_train", ARRAY_U8, 1, {2}, "\1\1"}}, "two examples have place 1"},
    {3, {X, Y, {"file_train", ARRAY_U8, 1, {2}, "\0\0"}}, "file_train: example 0 has 0"},
  };
  r4_error e;
  assert_refused(sizeof bad / sizeof *bad, bad);
  write_parts(2, (struct part[]){X, Y});
  assert_null(r4_data_open(path, &(r4_data_options){.height = 28, .width = 28}, &e));
  assert_non_null(strstr(e.text, "1 x 2"));
}

static void refuses_masks_that_do_not_fit(void **state)
{
  (void)state;
  static const struct bad bad[] = {
    {3,
     {X, Y, {"m_train", ARRAY_BOOL, 3, {2, 1, 2}, "\0\1\1\1"}},
     "does not say what its masks mark: add mask_means"},
    {4,
     {X, Y, {"m_train", ARRAY_BOOL, 3, {2, 1, 2}, "\0\1\1\1"}, MEANS("important")},
     "mask_means is \"important\", expected irrelevant or relevant"},
    {4,
     {X, Y, {"m_train", ARRAY_BOOL, 3, {2, 2, 1}, "\0\1\1\1"}, MEANS("relevant")},
     "m_train is bool [2, 2, 1], expected"},
    {4,
     {X, Y, {"m_train", ARRAY_BOOL, 2, {2, 2}, "\0\1\1\1"}, MEANS("relevant")},
     "m_train is bool [2, 2], expected"},
    {4,
     {X, Y, {"m_train", ARRAY_I8, 3, {2, 1, 2}, "\0\1\1\1"}, MEANS("relevant")},
     "expected bool, uint8 or floats"},
    {4,
     {X, Y, {"m_train", ARRAY_F32, 3, {2, 1, 2}, above}, MEANS("relevant")},
     "m_train: example 1 has 1.5 at 0, expected 0 to 1"},
    {4,
     {X, Y, {"m_train", ARRAY_F32, 3, {2, 1, 2}, nan_at_3}, MEANS("relevant")},
     "m_train: example 1 has 2 at 0, expected 0 to 1"},
  };
  r4_error e;
  assert_refused(sizeof bad / sizeof *bad, bad);
  write_parts(4, (struct part[]){X, Y, {"m_train", ARRAY_BOOL, 3, {2, 1, 2}, "\0\1\1\1"}, MEANS("relevant")});
  assert_null(r4_data_open(path, &(r4_data_options){.mask_means = R4_MASKS_IRRELEVANT}, &e));
  assert_non_null(strstr(e.text, "the options say the opposite"));
}

/* ---- Memory ---- */

static void survives_failed_allocations(void **state)
{
  (void)state;
  r4_data *d = make(SOFT | MIXED | ORIGINS);
  bool done = false;
  long n = 0;
  while (!done) {
    r4_error e = {0};
    r4_mem_fail_at(++n);
    r4_status s = r4_data_save(d, path, &e);
    done = r4_mem_count() < n;
    r4_mem_fail_at(0);
    if (s && (done || s != R4_E_MEMORY)) fail_msg("%ld: %s", n, e.text);
  }
  r4_data_free(d);
  assert_true(n > 20);
  for (n = 0, done = false; !done;) {
    r4_error e = {0};
    r4_mem_fail_at(++n);
    d = r4_data_open(path, NULL, &e);
    done = r4_mem_count() < n;
    r4_mem_fail_at(0);
    if (!d && (done || e.status != R4_E_MEMORY)) fail_msg("%ld: %s", n, e.text);
    r4_data_free(d);
  }
  assert_true(n > 50);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(opens_own_names),
    cmocka_unit_test(opens_medmnist),
    cmocka_unit_test(opens_decoy_mnist),
    cmocka_unit_test(saved_is_what_was),
    cmocka_unit_test(saves_the_same_bytes),
    cmocka_unit_test(masks_of_every_kind),
    cmocka_unit_test(refuses_what_does_not_fit),
    cmocka_unit_test(refuses_masks_that_do_not_fit),
    cmocka_unit_test(survives_failed_allocations),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("npz_data", tests, make_folder, scratch_remove);
}
