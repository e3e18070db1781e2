/* Data sets as values: records, views, masks, hashes. */
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "data/data.h"

enum { SIDE = 4, PIXELS = SIDE * SIDE };

/* Three classes; image i is filled with the byte i, examples 0, 3, 6, ... have a mask. */
static r4_data *make(size_t n)
{
  r4_error e = {0};
  struct column *v = column_new(&bytes_column, R4_SHAPE(SIDE, SIDE, 2), n, &e);
  r4_data *d = v ? data_new(n, v, &e) : NULL;
  assert_non_null(d);
  data_set_masks(d, masks_new(PIXELS, &e));
  for (size_t i = 0; i < n; i++) {
    memset(column_row(v, i), (int)i, v->features);
    d->record[i].label = (int)(i % 3);
    d->record[i].split = i % 5 == 4 ? R4_TEST : R4_TRAIN;
    uint8_t mask[PIXELS] = {0};
    mask[i % 2] = 255;
    if (i % 3 == 0) assert_int_equal(masks_add(data_masks(d), mask, &d->record[i].mask, &e), R4_OK);
  }
  for (int k = 0; k < 3; k++)
    assert_int_equal(names_add(d->classes, (char[]){(char)('a' + k), 0}, NULL, &e), R4_OK);
  assert_int_equal(data_finish(d, "test", &e), R4_OK);
  return d;
}

static void values_and_masks_come_back(void **state)
{
  (void)state;
  r4_data *d = make(30);
  float x[2 * PIXELS], m[2 * PIXELS];
  assert_int_equal(data_masks(d)->n, 3); /* none, and two distinct ones */
  r4_data_values(d, 7, x);
  assert_true(x[0] == 7.f / 255 && x[2 * PIXELS - 1] == 7.f / 255);
  assert_true(r4_data_mask(d, 9, m));
  for (int k = 0; k < 2 * PIXELS; k++) assert_true(m[k] == (k / 2 == 1)); /* both channels of pixel 1 */
  assert_false(r4_data_mask(d, 8, m));
  for (int k = 0; k < 2 * PIXELS; k++) assert_true(m[k] == 0);
  assert_int_equal(r4_data_groups(d), 3); /* the classes */
  assert_string_equal(r4_data_group_name(d, 2), "c");
  r4_data_free(d);
}

static void views_leave_what_they_view(void **state)
{
  (void)state;
  r4_data *d = make(90);
  char before[R4_HASH_SIZE], after[R4_HASH_SIZE];
  r4_data_hash(d, before);
  r4_data *test = r4_data_part(d, R4_TEST, NULL), *third = r4_data_fraction(d, 1. / 3, 5, NULL);
  assert_int_equal(r4_data_count(test), 18);
  assert_int_equal(r4_data_count(third), 24 + 18); /* the test part stays whole */
  size_t last = 89;
  r4_data *one = r4_data_subset(d, 1, &last, NULL);
  float x[2 * PIXELS];
  r4_data_hash(d, after);
  assert_string_equal(before, after);
  r4_data_free(d); /* views stand on their own */
  r4_data_values(one, 0, x);
  assert_true(x[3] == 89.f / 255);
  for (size_t i = 0; i < r4_data_count(test); i++) assert_int_equal(r4_data_example(test, i).split, R4_TEST);
  r4_data_free(test);
  r4_data_free(third);
  r4_data_free(one);
}

static void fractions_keep_shares_and_nest(void **state)
{
  (void)state;
  r4_data *d = make(150);
  r4_data *small = r4_data_fraction(d, 0.2, 7, NULL), *large = r4_data_fraction(d, 0.6, 7, NULL);
  size_t count[3][R4_SPLITS] = {{0}};
  uint8_t in_large[150] = {0};
  for (size_t i = 0; i < large->n; i++) in_large[large->record[i].row] = 1;
  for (size_t i = 0; i < small->n; i++) {
    count[small->record[i].label][small->record[i].split]++;
    assert_true(in_large[small->record[i].row]);
  }
  for (int k = 0; k < 3; k++) {
    assert_int_equal(count[k][R4_TRAIN], 8);
    assert_int_equal(count[k][R4_TEST], 10);
  }
  r4_error e;
  assert_null(r4_data_fraction(d, 1.5, 7, &e));
  assert_non_null(strstr(e.text, "1.5"));
  size_t outside = 150;
  assert_null(r4_data_subset(d, 1, &outside, &e));
  assert_non_null(strstr(e.text, "150"));
  r4_data_free(small);
  r4_data_free(large);
  r4_data_free(d);
}

/* The hash sees every part of the content, and nothing else. */
static void hash_sees_content(void **state)
{
  (void)state;
  char whole[R4_HASH_SIZE], bare[R4_HASH_SIZE], other[R4_HASH_SIZE];
  r4_data *d = make(40);
  r4_data_hash(d, whole);
  r4_data_hash_unmasked(d, bare);
  r4_data *same = data_derive(d, NULL);
  data_set_about(same, NULL, "another way");
  r4_data_hash(same, other);
  assert_string_equal(whole, other);
  struct record kept = same->record[3];
  for (int k = 0; k < 5; k++) {
    struct record *r = same->record + 3;
    *r = kept;
    if (k == 0) r->label = 1;
    if (k == 1) r->group = 1;
    if (k == 2) r->split = R4_VAL;
    if (k == 3) r->mask = 0;
    if (k == 4) r->row = 4;
    r4_data_hash(same, other);
    assert_string_not_equal(whole, other);
    r4_data_hash_unmasked(same, other);
    assert_int_equal(!strcmp(bare, other), k == 2 || k == 3); /* a mask, and whether it validates, make no difference */
  }
  same->record[3] = kept;
  same->record[3].split = kept.split == R4_TEST ? R4_TRAIN : R4_TEST;
  r4_data_hash_unmasked(same, other);
  assert_string_not_equal(bare, other);
  r4_data_free(same);
  r4_data_free(d);
}

static void many_masks_stay_distinct(void **state)
{
  (void)state;
  struct masks *m = masks_new(PIXELS, NULL);
  uint32_t number[1000], again;
  for (uint32_t k = 0; k < 1000; k++) {
    uint8_t bytes[PIXELS] = {(uint8_t)(k % 250 + 1), (uint8_t)(k / 250)};
    assert_int_equal(masks_add(m, bytes, &number[k], NULL), R4_OK);
    assert_int_equal(number[k], k + 1);
    assert_memory_equal(masks_at(m, number[k]), bytes, PIXELS);
    assert_int_equal(masks_add(m, bytes, &again, NULL), R4_OK);
    assert_int_equal(again, number[k]);
  }
  uint8_t none[PIXELS] = {0};
  assert_int_equal(masks_add(m, none, &again, NULL), R4_OK);
  assert_int_equal(again, 0);
  masks_drop(m);
}

static void digits_are_a_source(void **state)
{
  (void)state;
  r4_error e;
  r4_data *d = r4_data_open("digits:600", &(r4_data_options){.seed = 3}, &e);
  assert_non_null(d);
  assert_int_equal(r4_data_count(d), 700);
  assert_int_equal(r4_data_classes(d), 10);
  r4_data *test = r4_data_part(d, R4_TEST, &e);
  assert_int_equal(r4_data_count(test), 100);
  char hash[2][R4_HASH_SIZE];
  r4_data_hash(d, hash[0]);
  int before = r4_threads(1, false);
  r4_data *again = r4_data_open("digits:600", &(r4_data_options){.seed = 3}, &e);
  r4_data_hash(again, hash[1]);
  r4_threads(before, false);
  assert_string_equal(hash[0], hash[1]);
  r4_data_free(again);
  r4_data_free(test);
  r4_data_free(d);
  assert_null(r4_data_open("digits:", NULL, &e));
  assert_null(r4_data_open("digits:12x", NULL, &e));
  assert_non_null(strstr(e.text, "digits:12x"));
  assert_null(r4_data_open("no-such-set", NULL, &e));
  assert_non_null(strstr(e.text, "no-such-set"));
  assert_null(r4_data_open("digits:60", &(r4_data_options){.mask_means = (r4_mask_meaning)7}, &e));
  assert_non_null(strstr(e.text, "r4_data_open: mask_means is 7, expected R4_MASKS_UNSTATED"));
  assert_null(r4_data_make("decoy-mnist", &(r4_recipe_options){.read.mask_means = (r4_mask_meaning)7}, &e));
  assert_non_null(strstr(e.text, "r4_data_make: mask_means is 7"));
  assert_null(r4_data_make("decoy-mnist", &(r4_recipe_options){.overlap = (r4_overlap)7}, &e));
  assert_non_null(strstr(e.text, "r4_data_make: overlap is 7, expected 0 to 3"));
  const r4_data_arrays one = {.n = 1, .labels = (const int32_t[]){0}};
  assert_null(r4_data_texts(&(const char *){"a"}, NULL, NULL, &one,
                            &(r4_data_options){.mask_means = (r4_mask_meaning)7}, &e));
  assert_non_null(strstr(e.text, "r4_data_texts: mask_means is 7"));
}

/* Each allocation fails in turn: an error, no leak, no crash. */
static void memory_may_run_out(void **state)
{
  (void)state;
  for (long n = 1;; n++) {
    r4_error e = {0};
    r4_mem_fail_at(n);
    r4_data *d = r4_data_open("digits:60", NULL, &e);
    r4_data *part = d ? r4_data_part(d, R4_TRAIN, &e) : NULL,
            *some = part ? r4_data_fraction(part, .5, 1, &e) : NULL;
    bool reached = r4_mem_count() >= n;
    r4_mem_fail_at(0);
    assert_true(some || e.status == R4_E_MEMORY);
    r4_data_free(some);
    r4_data_free(part);
    r4_data_free(d);
    if (!reached) break;
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(values_and_masks_come_back),
                                     cmocka_unit_test(views_leave_what_they_view),
                                     cmocka_unit_test(fractions_keep_shares_and_nest),
                                     cmocka_unit_test(hash_sees_content),
                                     cmocka_unit_test(many_masks_stay_distinct),
                                     cmocka_unit_test(digits_are_a_source),
                                     cmocka_unit_test(memory_may_run_out)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
