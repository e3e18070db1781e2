/* Data sets from arrays in memory: copied, checked, and the same as the arrays in a file. Images, features, texts. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "data/data.h"
#include "scratch.h"

enum { N = 5, SIDE = 2, CHANNELS = 3, PIXELS = SIDE * SIDE, FEATURES = PIXELS * CHANNELS, TOKENS = 4 };

static const int32_t labels[N] = {0, 2, 1, 0, 2}, groups[N] = {1, 0, 1, 0, 1};
static const r4_split splits[N] = {R4_TRAIN, R4_TRAIN, R4_TRAIN, R4_VAL, R4_TEST};
static const char *const classes[] = {"cat", "dog", "a bird"}, *const places[] = {"in", "out"};

/* What lies behind a text is anything. */
static const int32_t tokens[N][TOKENS] = {
  {5, 6, -7, 99}, {9, 8, 7, 6}, {1, 99, 99, 99}, {4, 4, 2, 99}, {3, 5, 7, 0}};
static const int32_t lengths[N] = {2, 4, 1, 3, 3};
static const float token_masks[N][TOKENS] = {{0, 1}, {1, 0, 0, 1}, {0}, {0, 1, 0, 1}, {0, 0, 1}};

static float floats[N][FEATURES];
static uint8_t bytes[N][FEATURES], pixels[N][PIXELS];

static void fill_arrays(void)
{
  for (size_t i = 0; i < N; i++) {
    for (size_t k = 0; k < FEATURES; k++) {
      floats[i][k] = (float)i - (float)k / 4;
      bytes[i][k] = (uint8_t)(50 * i + k);
    }
    for (size_t k = 0; k < PIXELS; k++) pixels[i][k] = i != 2 && k % 2 == i % 2;
  }
}

static r4_data_arrays of_bytes(void)
{
  return (r4_data_arrays){.n = N,
                          .shape = R4_SHAPE(SIDE, SIDE, CHANNELS),
                          .bytes = bytes[0],
                          .labels = labels,
                          .groups = groups,
                          .splits = splits,
                          .classes = 3,
                          .class_names = classes,
                          .group_count = 2,
                          .group_names = places,
                          .mask_bytes = pixels[0],
                          .mask_means = R4_MASKS_IRRELEVANT};
}

static r4_data_arrays of_floats(void)
{
  return (r4_data_arrays){.n = N, .shape = R4_SHAPE(FEATURES), .floats = floats[0], .labels = labels};
}

static r4_data_arrays of_tokens(void)
{
  return (r4_data_arrays){.n = N,
                          .shape = R4_SHAPE(TOKENS),
                          .tokens = tokens[0],
                          .lengths = lengths,
                          .vocabulary = 10,
                          .padding = 9,
                          .labels = labels,
                          .splits = splits,
                          .mask_floats = token_masks[0],
                          .mask_means = R4_MASKS_IRRELEVANT};
}

static r4_data *make(r4_data_arrays a)
{
  r4_error e = {0};
  r4_data *d = r4_data_new(&a, &e);
  if (!d) fail_msg("%s", e.text);
  return d;
}

/* ---- What is in it ---- */

static void arrays_become_examples(void **state)
{
  (void)state;
  r4_data *d = make(of_bytes());
  float x[FEATURES], m[FEATURES];
  for (size_t i = 0; i < N; i++) {
    r4_example one = r4_data_example(d, i);
    assert_true(one.label == labels[i] && one.group == groups[i] && one.split == splits[i]);
    r4_data_values(d, i, x);
    assert_int_equal(r4_data_mask(d, i, m), i != 2);
    for (size_t k = 0; k < FEATURES; k++) {
      assert_true(x[k] == (float)bytes[i][k] / 255);
      assert_true(m[k] == (float)pixels[i][k / CHANNELS]);
    }
  }
  assert_string_equal(r4_data_class_name(d, 2), "a bird");
  assert_string_equal(r4_data_group_name(d, 1), "out");
  assert_true(r4_data_length(d, 1) == FEATURES && r4_data_vocabulary(d) == 0);
  r4_data_free(d);
}

static void arrays_are_copied(void **state)
{
  (void)state;
  float own[2] = {1, 2}, x[2];
  int32_t label[1] = {0};
  r4_data *d = make((r4_data_arrays){.n = 1, .shape = R4_SHAPE(2), .floats = own, .labels = label});
  own[0] = own[1] = 7;
  r4_data_values(d, 0, x);
  assert_true(x[0] == 1 && x[1] == 2);
  assert_string_equal(r4_data_class_name(d, 0), "0");
  r4_data_free(d);
}

/* Those that are lent are looked at where they are, by all that is made of the data set. */
static void arrays_may_be_lent(void **state)
{
  (void)state;
  float x[FEATURES];
  char own[R4_HASH_SIZE], lent[R4_HASH_SIZE];
  for (int k = 0; k < 3; k++) {
    r4_data_arrays a = k == 0 ? of_floats() : k == 1 ? of_bytes() : of_tokens();
    r4_data *copy = make(a);
    a.borrow = true;
    r4_data *d = make(a), *part = r4_data_part(d, R4_TRAIN, NULL);
    r4_data_hash(copy, own);
    r4_data_hash(d, lent);
    assert_string_equal(own, lent);
    assert_true((column_row(data_x(d), 0) == (k ? (void *)bytes : (void *)floats)) == (k < 2)); /* texts never */
    r4_data_free(d);
    floats[0][1] = 7, bytes[0][1] = 255;
    r4_data_values(part, 0, x);
    assert_true((x[1] == (k ? 1 : 7)) == (k < 2));
    r4_data_values(copy, 0, x);
    assert_false(x[1] == (k ? 1 : 7));
    r4_data_free(part);
    r4_data_free(copy);
    fill_arrays();
  }
  r4_error e = {0};
  r4_data_arrays a = of_floats();
  a.borrow = true;
  floats[3][2] = NAN;
  assert_null(r4_data_new(&a, &e));
  assert_error(&e, R4_E_PARSE, "example 3 has");
  fill_arrays();
}

static void bytes_take_a_scale(void **state)
{
  (void)state;
  r4_data_arrays a = of_bytes();
  float x[FEATURES];
  a.scale = 2;
  a.offset = -1;
  r4_data *d = make(a);
  r4_data_values(d, 3, x);
  for (size_t k = 0; k < FEATURES; k++) assert_true(x[k] == 2 * (float)bytes[3][k] - 1);
  r4_data_free(d);
}

static void masks_may_have_every_feature(void **state)
{
  (void)state;
  static float all[N][FEATURES];
  float m[FEATURES];
  r4_data_arrays a = of_bytes();
  memset(all, 0, sizeof all);
  all[1][4] = .2f; /* 51 / 255 */
  a.mask_bytes = NULL;
  a.mask_floats = all[0];
  a.masks_by_feature = true;
  r4_data *d = make(a);
  assert_true(r4_data_mask(d, 1, m) && m[4] == .2f && m[3] == 0 && m[5] == 0);
  assert_false(r4_data_has_mask(d, 0));
  r4_data_free(d);
  for (size_t k = 0; k < FEATURES; k++) all[1][k] = k != 4;
  a.mask_means = R4_MASKS_RELEVANT;
  d = make(a);
  assert_true(r4_data_mask(d, 1, m) && m[4] == 1 && m[3] == 0);
  assert_int_equal(d->means, R4_MASKS_RELEVANT);
  r4_data *opposite = r4_data_invert_masks(d, NULL);
  assert_int_equal(opposite->means, R4_MASKS_IRRELEVANT);
  r4_data_free(opposite);
  r4_data_free(d);
}

/* ---- Texts ---- */

static void texts_have_lengths_and_padding(void **state)
{
  (void)state;
  r4_data *d = make(of_tokens());
  float x[TOKENS], m[TOKENS];
  r4_data_values(d, 0, x);
  assert_true(x[0] == 5 && x[1] == 6 && x[2] == 9 && x[3] == 9);
  assert_true(r4_data_mask(d, 3, m) && m[1] == 1 && m[3] == 0); /* not on padding */
  assert_int_equal(r4_data_length(d, 3), 3);
  assert_int_equal(r4_data_vocabulary(d), 10);
  r4_facts f = r4_data_facts(d);
  assert_true(f.low == 1 && f.high == 9 && f.values == 13 && f.shortest == 1 && f.longest == 4);
  assert_true(f.masked == 4 && f.largest_mask == .5 && f.smallest_mask == 1. / 3);
  r4_data *opposite = r4_data_invert_masks(d, NULL);
  assert_true(r4_data_mask(opposite, 3, m) && m[0] == 1 && m[1] == 0 && m[2] == 1 && m[3] == 0);
  assert_true(r4_data_mask(opposite, 0, m) && m[0] == 1 && m[1] == 0 && m[2] == 0 && m[3] == 0);
  r4_data_free(opposite);
  r4_data_free(d);
  r4_data_arrays a = of_tokens();
  a.mask_means = R4_MASKS_RELEVANT;
  a.vocabulary = 0;
  d = make(a);
  assert_true(r4_data_mask(d, 2, m) && m[0] == 1 && m[1] == 0);
  assert_int_equal(r4_data_vocabulary(d), 10); /* the largest is 9 */
  r4_data_free(d);
}

static void batches_have_lengths(void **state)
{
  (void)state;
  r4_data *d = make(of_tokens());
  for (int prefetch = 0; prefetch < 2; prefetch++) {
    r4_batches *b = r4_batches_new(
      d, &(r4_batch_options){.size = 2, .shuffle = true, .seed = 3, .prefetch = prefetch}, NULL);
    for (size_t k = 0; k < 2 * r4_batches_count(b); k++) {
      r4_batch batch = r4_batches_next(b);
      for (size_t i = 0; i < batch.count; i++) {
        size_t from = batch.example[i];
        assert_true(batch.length[i] == (float)lengths[from]);
        for (size_t t = 0; t < TOKENS; t++) {
          bool inside = t < (size_t)lengths[from];
          assert_true(batch.x[i * TOKENS + t] == (inside ? (float)tokens[from][t] : 9));
          assert_true(batch.m[i * TOKENS + t] == (inside ? token_masks[from][t] : 0));
        }
      }
    }
    r4_batches_free(b);
  }
  r4_data_free(d);
  d = make(of_bytes());
  r4_batches *b = r4_batches_new(d, &(r4_batch_options){.size = 2}, NULL);
  assert_null(r4_batches_next(b).length);
  r4_batches_free(b);
  r4_data_free(d);
}

/* What is behind a text is not content; its length is. */
static void hashes_leave_padding_out(void **state)
{
  (void)state;
  static int32_t other[N][TOKENS], longer[N];
  char hash[4][R4_HASH_SIZE];
  memcpy(other, tokens, sizeof other);
  memcpy(longer, lengths, sizeof longer);
  other[0][2] = 1;
  r4_data_arrays a = of_tokens();
  for (int k = 0; k < 4; k++) {
    if (k == 1) a.tokens = other[0];
    if (k == 2) other[0][1] = 1;
    if (k == 3) other[0][1] = tokens[0][1], longer[0] = 3, a.lengths = longer;
    r4_data *d = make(a);
    r4_data_hash(d, hash[k]);
    r4_data_free(d);
  }
  assert_string_equal(hash[0], hash[1]);
  assert_string_not_equal(hash[0], hash[2]);
  assert_string_not_equal(hash[0], hash[3]);
}

/* ---- Files ---- */

static void files_give_the_same_hash(void **state)
{
  (void)state;
  r4_data_arrays scaled = of_bytes(), unstated = of_tokens();
  scaled.scale = 3;
  scaled.offset = -1. / 3;
  unstated.vocabulary = unstated.padding = 0;
  const r4_data_arrays all[] = {of_bytes(), of_floats(), of_tokens(), scaled, unstated};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    r4_error e = {0};
    char hash[2][R4_HASH_SIZE];
    const char *path = scratch_path("d.npz");
    r4_data *d = make(all[k]);
    r4_data_hash(d, hash[0]);
    assert_int_equal(r4_data_save(d, path, &e), R4_OK);
    r4_data *read = r4_data_open(path, NULL, &e);
    if (!read) fail_msg("%s", e.text);
    r4_data_hash(read, hash[1]);
    assert_string_equal(hash[0], hash[1]);
    assert_memory_equal(data_x(d)->number, data_x(read)->number, sizeof data_x(d)->number);
    assert_memory_equal(data_x(d)->data, data_x(read)->data, N * data_x(d)->features * data_x(d)->is->size);
    r4_data_free(read);
    r4_data_free(d);
  }
}

/* ---- Errors ---- */

static void refuse(r4_data_arrays a, r4_status status, const char *says)
{
  r4_error e = {0};
  assert_null(r4_data_new(&a, &e));
  if (e.status != status || !strstr(e.text, says))
    fail_msg("expected %s, \"%s\"; got %s, \"%s\"", r4_status_name(status), says, r4_status_name(e.status),
             e.text);
}

#define REFUSE(make, change, status, says) \
  do {                                     \
    r4_data_arrays a = make();             \
    change;                                \
    refuse(a, status, says);               \
  } while (0)

/* What could be done about it in a file cannot be done here. */
static void mask_values_are_for_files(void **state)
{
  (void)state;
  static float two[N][FEATURES] = {{2}};
  r4_error e = {0};
  r4_data_arrays a = of_bytes();
  a.mask_bytes = NULL, a.mask_floats = two[0], a.masks_by_feature = true;
  assert_null(r4_data_new(&a, &e));
  assert_string_equal(e.text, "arrays: masks: example 0 has 2 at 0, expected 0 to 1");
}

static void wrong_names_are_refused(void **state)
{
  (void)state;
  static const char *const twice[] = {"cat", "dog", "cat"}, *const latin[] = {"cat", "caf\xe9", "dog"};
  REFUSE(of_bytes, a.class_names = twice, R4_E_ARGUMENT,
         "class_names: 0 and 2 are both \"cat\", expected different names");
  REFUSE(of_bytes, a.class_names = latin, R4_E_ARGUMENT, "class_names: name 1 is not UTF-8");
  REFUSE(of_bytes, a.classes = 0, R4_E_ARGUMENT, "class_names are given and classes is 0");
  REFUSE(of_bytes, a.group_count = 0, R4_E_ARGUMENT, "group_names are given and group_count is 0");
  REFUSE(of_bytes, a.group_names = twice; a.group_count = 3, R4_E_ARGUMENT, "group_names: 0 and 2 are both");
  REFUSE(of_bytes, a.classes = SIZE_MAX; a.class_names = NULL, R4_E_ARGUMENT, "classes is 18446744073709551615");
  REFUSE(of_bytes, a.classes = (1 << 20) + 1; a.class_names = NULL, R4_E_ARGUMENT,
         "classes is 1048577, expected at most 1048576");
}

static void wrong_arrays_are_refused(void **state)
{
  (void)state;
  static int32_t bad[N];
  static r4_split part[N];
  static float odd[N][FEATURES];
  memcpy(bad, labels, sizeof bad);
  bad[3] = 3;
  REFUSE(of_bytes, a.labels = bad, R4_E_PARSE,
         "labels: example 3 has 3, expected a whole number from 0 to 2");
  bad[3] = -1;
  REFUSE(of_floats, a.labels = bad, R4_E_PARSE, "labels: example 3 has -1");
  REFUSE(of_bytes, a.groups = bad, R4_E_PARSE,
         "groups: example 1 has 2, expected a whole number from 0 to 1");
  part[1] = (r4_split)3;
  REFUSE(of_bytes, a.splits = part, R4_E_ARGUMENT, "splits: example 1 has 3, expected 0 to 2");
  memcpy(odd, floats, sizeof odd);
  odd[4][7] = NAN;
  REFUSE(of_floats, a.floats = odd[0], R4_E_PARSE, "values: example 4 has nan at 7, expected finite numbers");
  memset(odd, 0, sizeof odd);
  odd[0][5] = 1.5f;
  REFUSE(of_bytes, (a.mask_bytes = NULL, a.mask_floats = odd[0], a.masks_by_feature = true), R4_E_ARGUMENT,
         "masks: example 0 has 1.5 at 5, expected 0 to 1");
  REFUSE(of_bytes, a.mask_means = (r4_mask_meaning)7, R4_E_ARGUMENT, "r4_data_new: mask_means is 7, expected");
  REFUSE(of_bytes, (a.mask_bytes = NULL, a.mask_means = (r4_mask_meaning)-1), R4_E_ARGUMENT, "mask_means is -1");
  REFUSE(of_bytes, a.mask_means = R4_MASKS_UNSTATED, R4_E_ARGUMENT, "mask_means");
  REFUSE(of_bytes, a.mask_floats = odd[0], R4_E_ARGUMENT, "as floats and as bytes");
  REFUSE(of_bytes, a.floats = odd[0], R4_E_ARGUMENT, "2 of floats, bytes and tokens");
  REFUSE(of_floats, a.floats = NULL, R4_E_ARGUMENT, "0 of floats, bytes and tokens");
  REFUSE(of_floats, a.n = 0, R4_E_ARGUMENT, "0 examples, expected 1");
  REFUSE(of_floats, a.shape = R4_SHAPE(2, 3), R4_E_SHAPE, "rank 2");
  REFUSE(of_floats, a.shape = R4_SHAPE(0), R4_E_SHAPE, "at least 1");
  REFUSE(of_floats, a.shape = R4_SHAPE(INT64_MAX), R4_E_ARGUMENT, "more than memory can hold");
  REFUSE(of_floats, a.shape = R4_SHAPE(INT64_MAX / 8), R4_E_ARGUMENT, "more than memory can hold");
  REFUSE(of_floats, a.n = SIZE_MAX, R4_E_ARGUMENT, "examples, expected 1 to");
  REFUSE(of_bytes, (a.scale = INFINITY), R4_E_PARSE, "scale of bytes is inf");
  REFUSE(of_bytes, a.class_names = ((const char *const[]){"a", NULL, "c"}), R4_E_ARGUMENT, "name 1 of 3");
}

/* Parts without examples are data as well; there are three. */
static void parts_are_three(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_data *d = make(of_floats()), *test = r4_data_part(d, R4_TEST, &e);
  assert_int_equal(r4_data_count(test), 0);
  const int none[] = {R4_SPLITS, 7, -1};
  for (size_t k = 0; k < 3; k++) {
    assert_null(r4_data_part(d, (r4_split)none[k], &e));
    assert_int_equal(e.status, R4_E_ARGUMENT);
    assert_non_null(strstr(e.text, "expected 0 to 2"));
  }
  r4_data_free(test);
  r4_data_free(d);
}

/* There is room for what there is, whatever the size that is asked for. */
static void batches_are_no_larger_than_the_data(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_data *d = make(of_bytes());
  r4_batches *b = r4_batches_new(d, &(r4_batch_options){.size = SIZE_MAX / 2}, &e);
  if (!b) fail_msg("%s", e.text);
  assert_int_equal(r4_batches_count(b), 1);
  assert_int_equal(r4_batches_next(b).count, N);
  r4_batches_free(b);
  r4_data_free(d);
}

static void wrong_texts_are_refused(void **state)
{
  (void)state;
  static int32_t bad[N], id[N][TOKENS];
  static const float masks[N][TOKENS] = {{0, 2}};
  memcpy(bad, lengths, sizeof bad);
  memcpy(id, tokens, sizeof id);
  bad[2] = 0;
  REFUSE(of_tokens, a.lengths = bad, R4_E_PARSE,
         "lengths: example 2 has 0, expected a whole number from 1 to 4");
  bad[2] = 5;
  REFUSE(of_tokens, a.lengths = bad, R4_E_PARSE, "lengths: example 2 has 5");
  REFUSE(of_tokens, a.lengths = NULL, R4_E_ARGUMENT, "without lengths");
  id[4][2] = 10;
  REFUSE(of_tokens, a.tokens = id[0], R4_E_PARSE, "tokens: example 4 has the id 10 at 2, expected 0 to 9");
  id[4][2] = -2;
  REFUSE(of_tokens, a.tokens = id[0], R4_E_PARSE, "tokens: example 4 has the id -2 at 2");
  id[4][2] = 1 << 24;
  REFUSE(of_tokens, (a.tokens = id[0], a.vocabulary = 0), R4_E_PARSE, "expected 0 to 16777215");
  REFUSE(of_tokens, a.vocabulary = -1, R4_E_PARSE, "a vocabulary of -1 ids");
  REFUSE(of_tokens, a.padding = 10, R4_E_PARSE,
         "padding with the id 10, expected a whole number from 0 to 9");
  REFUSE(of_tokens, a.shape = R4_SHAPE(2, 2, 1), R4_E_SHAPE, "expected [tokens]");
  REFUSE(of_tokens, a.mask_floats = masks[0], R4_E_ARGUMENT, "masks: example 0 has 2 at 1");
}

static void memory_may_run_out(void **state)
{
  (void)state;
  const r4_data_arrays all[] = {of_bytes(), of_tokens()};
  for (size_t k = 0; k < 2; k++)
    for (long n = 1;; n++) {
      r4_error e = {0};
      r4_mem_fail_at(n);
      r4_data *d = r4_data_new(&all[k], &e), *opposite = d ? r4_data_invert_masks(d, &e) : NULL;
      r4_batches *b = opposite ? r4_batches_new(opposite, &(r4_batch_options){.size = 2}, &e) : NULL;
      bool reached = r4_mem_count() >= n;
      r4_mem_fail_at(0);
      assert_true(b || e.status == R4_E_MEMORY);
      r4_batches_free(b);
      r4_data_free(opposite);
      r4_data_free(d);
      if (!reached) break;
    }
}

int main(void)
{
  fill_arrays();
  const struct CMUnitTest tests[] = {cmocka_unit_test(arrays_become_examples),
                                     cmocka_unit_test(arrays_are_copied),
                                     cmocka_unit_test(arrays_may_be_lent),
                                     cmocka_unit_test(bytes_take_a_scale),
                                     cmocka_unit_test(masks_may_have_every_feature),
                                     cmocka_unit_test(texts_have_lengths_and_padding),
                                     cmocka_unit_test(batches_have_lengths),
                                     cmocka_unit_test(hashes_leave_padding_out),
                                     cmocka_unit_test(files_give_the_same_hash),
                                     cmocka_unit_test(mask_values_are_for_files),
                                     cmocka_unit_test(wrong_arrays_are_refused),
                                     cmocka_unit_test(wrong_names_are_refused),
                                     cmocka_unit_test(parts_are_three),
                                     cmocka_unit_test(batches_are_no_larger_than_the_data),
                                     cmocka_unit_test(wrong_texts_are_refused),
                                     cmocka_unit_test(memory_may_run_out)};
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
