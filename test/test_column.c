/* Columns: a kind is a struct, and one that no other file knows makes batches. */
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "data/data.h"

/* ---- A kind of this file alone: whole numbers of 16 bits that count halves ---- */

static void read_halves(const struct column *c, size_t row, size_t first, size_t n, float *to)
{
  const int16_t *from = (const int16_t *)column_row(c, row) + first;
  for (size_t k = 0; k < n; k++) to[k] = (float)from[k] / 2;
}

static const struct column_kind halves = {
  .name = "halves", .element = "features", .tag = 77, .size = sizeof(int16_t), .read = read_halves};

enum { N = 11, FEATURES = 3 };

/* Example i has the values i, i + 1/2, i + 1; every second has a mask of its last feature. */
static r4_data *make(void)
{
  r4_error e = {0};
  struct column *c = column_new(&halves, R4_SHAPE(FEATURES), N, &e);
  r4_data *d = c ? data_new(N, c, &e) : NULL;
  assert_non_null(d);
  data_set_masks(d, masks_new(FEATURES, &e));
  for (size_t i = 0; i < N; i++) {
    int16_t *row = column_row(c, i);
    for (int16_t k = 0; k < FEATURES; k++) row[k] = (int16_t)(2 * i) + k;
    if (i % 2 == 0)
      assert_int_equal(masks_add(data_masks(d), (uint8_t[]){0, 0, 255}, &d->record[i].mask, &e), 0);
  }
  assert_int_equal(names_add(d->classes, "all", NULL, &e), R4_OK);
  assert_int_equal(data_finish(d, "test", &e), R4_OK);
  return d;
}

static void a_kind_of_ones_own_makes_batches(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_data *d = make();
  r4_batches *b = r4_batches_new(d, &(r4_batch_options){.size = 4, .shuffle = true, .prefetch = true}, &e);
  assert_non_null(b);
  size_t seen = 0;
  for (size_t k = 0; k < r4_batches_count(b); k++) {
    r4_batch batch = r4_batches_next(b);
    for (size_t i = 0; i < batch.count; i++, seen++)
      for (size_t j = 0; j < FEATURES; j++) {
        assert_true(batch.x[i * FEATURES + j] == (float)batch.example[i] + (float)j / 2);
        assert_true(batch.m[i * FEATURES + j] == (j == 2 && batch.example[i] % 2 == 0));
      }
  }
  assert_int_equal(seen, N);
  r4_batches_free(b);
  r4_data_free(d);
}

/* Its rows enter the hash as they are stored, after its tag. */
static void kinds_have_hashes_of_their_own(void **state)
{
  (void)state;
  char hash[3][R4_HASH_SIZE];
  static struct column_kind other;
  r4_data *d = make(), *changed = make();
  r4_data_hash(d, hash[0]);
  ((int16_t *)column_row(data_x(changed), 5))[1]++;
  r4_data_hash(changed, hash[1]);
  other = halves;
  other.tag++;
  data_x(d)->is = &other;
  r4_data_hash(d, hash[2]);
  assert_string_not_equal(hash[0], hash[1]);
  assert_string_not_equal(hash[0], hash[2]);
  r4_data_free(d);
  r4_data_free(changed);
}

/* ---- Bytes ---- */

/* byte * scale + offset; images have a loop of their own, which gives the same floats. */
static void bytes_have_a_scale(void **state)
{
  (void)state;
  struct column *c = column_new(&bytes_column, R4_SHAPE(256), 1, NULL);
  uint8_t *byte = column_row(c, 0);
  float x[256];
  for (int k = 0; k < 256; k++) byte[k] = (uint8_t)k;
  assert_true(column_is_image_bytes(c));
  column_read(c, 0, x);
  for (int k = 0; k < 256; k++) {
    assert_true(x[k] == (float)k / 255 && x[k] == (float)(k * c->number[0] + c->number[1]));
    assert_true(column_value(c, 0, (size_t)k) == x[k]);
  }
  char plain[R4_HASH_SIZE], scaled[R4_HASH_SIZE];
  r4_data *d = data_new(1, c, NULL);
  r4_data_hash(d, plain);
  c->number[0] = -.25;
  c->number[1] = 3;
  column_read(c, 0, x);
  for (int k = 0; k < 256; k++) assert_true(x[k] == 3 - (float)k / 4);
  float low, high;
  bytes_column.range(c, &low, &high);
  assert_true(low == 3 - 255. / 4 && high == 3 && !column_is_image_bytes(c));
  r4_data_hash(d, scaled);
  assert_string_not_equal(plain, scaled);
  r4_data_free(d);
}

/* ---- More than one column ---- */

static void other_columns_go_with_their_examples(void **state)
{
  (void)state;
  r4_error e = {0};
  char hash[3][R4_HASH_SIZE];
  r4_data *d = make();
  struct column *age = column_new(&floats_column, R4_SHAPE(1), N, &e);
  for (size_t i = 0; i < N; i++) *(float *)column_row(age, i) = 100 + (float)i;
  r4_data_hash(d, hash[0]);
  assert_int_equal(data_add_column(d, "age", age, &e), R4_OK);
  r4_data_hash(d, hash[1]);
  *(float *)column_row(age, 3) += 1;
  r4_data_hash(d, hash[2]);
  assert_string_not_equal(hash[0], hash[1]);
  assert_string_not_equal(hash[1], hash[2]);
  assert_ptr_equal(data_column(d, "age"), age);
  assert_ptr_equal(data_column(d, "x"), data_x(d));
  assert_null(data_column(d, "weight"));

  r4_data *some = r4_data_subset(d, 2, (size_t[]){7, 2}, &e);
  struct column *x = column_new(&floats_column, R4_SHAPE(FEATURES), 2, &e);
  some->record[0].row = 0; /* x gets rows of its own */
  some->record[1].row = 1;
  data_set_x(some, x);
  assert_true(column_value(data_column(some, "age"), some->record[0].origin, 0) == 107);
  assert_true(column_value(data_column(some, "age"), some->record[1].origin, 0) == 102);

  struct column *again = column_new(&floats_column, R4_SHAPE(1), N, &e);
  assert_int_equal(data_add_column(d, "age", again, &e), R4_E_ARGUMENT);
  assert_non_null(strstr(e.text, "age"));
  assert_int_equal(data_add_column(d, "b", column_new(&floats_column, R4_SHAPE(1), 3, &e), &e),
                   R4_E_ARGUMENT);
  assert_non_null(strstr(e.text, "3 rows for 11 examples"));
  r4_data_free(some);
  r4_data_free(d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_kind_of_ones_own_makes_batches), cmocka_unit_test(kinds_have_hashes_of_their_own),
    cmocka_unit_test(bytes_have_a_scale), cmocka_unit_test(other_columns_go_with_their_examples)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
