/* Splits: shares, classes, ids; and examples that occur in two splits. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "data/data.h"

/* n different images of three classes (60, 30 and 10 %). With ids, examples 4k, 4k+1 share one, and 4k+2 and 4k+3
 * have one each or none. */
static r4_data *make(size_t n, bool with_ids)
{
  r4_error e = {0};
  struct column *v = column_new(&bytes_column, R4_SHAPE(2, 2, 1), n, &e);
  r4_data *d = v ? data_new(n, v, &e) : NULL;
  assert_non_null(d);
  if (with_ids) d->ids = names_new(&e);
  d->files = names_new(&e);
  for (size_t i = 0; i < n; i++) {
    memcpy(column_row(v, i), &(uint32_t){(uint32_t)i}, 4);
    struct record *r = d->record + i;
    r->label = i % 10 < 6 ? 0 : i % 10 < 9 ? 1 : 2;
    char name[32];
    snprintf(name, sizeof name, "image-%zu.png", i);
    assert_int_equal(names_add(d->files, name, &r->file, &e), R4_OK);
    if (with_ids && i % 4 == 1) r->id = r[-1].id;
    if (!with_ids || i % 4 % 3) continue;
    snprintf(name, sizeof name, "lesion-%zu", i);
    assert_int_equal(names_add(d->ids, name, &r->id, &e), R4_OK);
  }
  for (int k = 0; k < 3; k++)
    assert_int_equal(names_add(d->classes, (char[]){(char)('a' + k), 0}, NULL, &e), R4_OK);
  assert_int_equal(data_finish(d, "test", &e), R4_OK);
  return d;
}

static void count(const r4_data *d, size_t in[3][R4_SPLITS])
{
  memset(in, 0, 3 * sizeof *in);
  for (size_t i = 0; i < d->n; i++) in[d->record[i].label][d->record[i].split]++;
}

static void shares_are_exact_in_every_class(void **state)
{
  (void)state;
  r4_data *d = make(1000, false), *s = r4_data_split(d, .1, .2, 5, NULL);
  size_t in[3][R4_SPLITS];
  count(s, in);
  for (int k = 0; k < 3; k++) {
    size_t n = k == 0 ? 600 : k == 1 ? 300 : 100;
    assert_int_equal(in[k][R4_TRAIN], n * 7 / 10);
    assert_int_equal(in[k][R4_VAL], n / 10);
    assert_int_equal(in[k][R4_TEST], n / 5);
  }
  r4_data_free(s);
  r4_data_free(d);
}

static void ids_stay_together(void **state)
{
  (void)state;
  r4_data *d = make(1000, true), *s = r4_data_split(d, .1, .2, 5, NULL);
  size_t part[R4_SPLITS] = {0}, pairs[R4_SPLITS] = {0};
  for (size_t i = 0; i < s->n; i++) {
    part[s->record[i].split]++;
    if (i % 4 != 1) continue;
    assert_int_equal(s->record[i].split, s->record[i - 1].split);
    pairs[s->record[i].split]++;
  }
  assert_int_equal(part[R4_TRAIN], 700);
  assert_int_equal(part[R4_VAL], 100);
  assert_int_equal(part[R4_TEST], 200);
  assert_in_range(pairs[R4_TEST], 35,
                  65); /* pairs are not kept out of the small parts: 50 expected, sd 6.3 */
  assert_int_equal(r4_data_check_overlap(s, NULL), R4_OK);
  r4_data_free(s);
  r4_data_free(d);
}

/* Units of three in a class of 30: a share of a tenth is one of them, one of 0.15 (5 examples, rounded) two, since
 * six is nearer than three. A unit counts for the class of its majority. */
static void large_units_come_as_near_as_they_can(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_data *d = make(30, false);
  d->ids = names_new(&e);
  for (size_t i = 0; i < 30; i++) {
    if (i % 3 == 0) assert_int_equal(names_add(d->ids, "same text, another id", NULL, &e), R4_OK);
    d->record[i].id = (uint32_t)(i / 3);
    d->record[i].label = i % 3 == 0 ? 2 : 1; /* class 1 has the majority of each */
  }
  for (int k = 0; k < 2; k++) {
    r4_data *s = r4_data_hold_out(d, k ? .15 : .1, 9, NULL);
    size_t in[3][R4_SPLITS];
    count(s, in);
    assert_int_equal(in[1][R4_VAL], k ? 4 : 2);
    assert_int_equal(in[2][R4_VAL], k ? 2 : 1);
    r4_data_free(s);
  }
  r4_data_free(d);
}

/* Lesions 0 to 9 have labels 0, 1, 1 and lesions 10 to 19 have 0 and 2. A tenth
 * is one lesion of either kind, whatever the seed. */
static void majorities_are_the_strata(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_data *d = make(50, false);
  d->ids = names_new(&e);
  for (uint32_t k = 0; k < 20; k++) assert_int_equal(names_add(d->ids, "lesion", NULL, &e), R4_OK);
  for (size_t i = 0; i < 50; i++) {
    d->record[i].id = (uint32_t)(i < 30 ? i / 3 : 10 + (i - 30) / 2);
    d->record[i].label = i < 30 ? i % 3 > 0 : i % 2 * 2;
  }
  for (uint64_t seed = 0; seed < 20; seed++) {
    r4_data *s = r4_data_hold_out(d, .1, seed, NULL);
    size_t in[3][R4_SPLITS];
    count(s, in);
    assert_int_equal(in[1][R4_VAL], 2);
    assert_int_equal(in[2][R4_VAL], 1);
    assert_int_equal(in[0][R4_VAL], 2);
    r4_data_free(s);
  }
  r4_data_free(d);
}

static void seeds_decide_and_nothing_else(void **state)
{
  (void)state;
  r4_data *d = make(1000, true);
  char hash[4][R4_HASH_SIZE];
  r4_data_hash(d, hash[3]);
  for (int k = 0; k < 3; k++) {
    r4_data *s = r4_data_split(d, .1, .2, k == 2 ? 6 : 5, NULL);
    r4_data_hash(s, hash[k]);
    r4_data_free(s);
  }
  assert_string_equal(hash[0], hash[1]);
  assert_string_not_equal(hash[0], hash[2]);
  r4_data_hash(d, hash[0]);
  assert_string_equal(hash[0], hash[3]); /* the original is as it was */
  r4_data_free(d);
}

static void holding_out_leaves_the_test_set(void **state)
{
  (void)state;
  r4_data *d = make(1000, false), *s = r4_data_split(d, 0, .2, 5, NULL),
          *h = r4_data_hold_out(s, .25, 6, NULL);
  size_t in[3][R4_SPLITS];
  count(h, in);
  for (size_t i = 0; i < d->n; i++)
    assert_int_equal(s->record[i].split == R4_TEST, h->record[i].split == R4_TEST);
  assert_int_equal(in[0][R4_VAL], 120);
  assert_int_equal(in[1][R4_VAL], 60);
  assert_int_equal(in[2][R4_VAL], 20);
  r4_data_free(h);
  r4_data_free(s);
  r4_data_free(d);
}

static void bad_shares_are_refused(void **state)
{
  (void)state;
  r4_error e;
  r4_data *d = make(10, false);
  assert_null(r4_data_split(d, -.1, .2, 1, &e));
  assert_non_null(strstr(e.text, "-0.1"));
  assert_null(r4_data_split(d, .5, .5, 1, &e));
  assert_int_equal(e.status, R4_E_ARGUMENT);
  assert_null(r4_data_hold_out(d, 1, 1, &e));
  assert_null(r4_data_hold_out(d, 0. / 0., 1, &e));
  r4_data_free(d);
}

/* One image of training also in test, one also in validation, one of validation also in test: all are found, by their
 * values or by their id, and dropping them leaves the test set whole. */
static void overlap_is_found_and_dropped(void **state)
{
  (void)state;
  r4_error e = {0};
  for (int by_id = 0; by_id < 2; by_id++) {
    r4_data *d = make(1000, by_id), *s = r4_data_split(d, .1, .2, 5, NULL);
    assert_int_equal(r4_data_check_overlap(s, &e), R4_OK);
    size_t at[R4_SPLITS][2] = {{0}}, n[R4_SPLITS] = {0}, dropped = 0, tested = 0;
    for (size_t i = 3; i < s->n; i += 4)
      if (n[s->record[i].split] < 2) at[s->record[i].split][n[s->record[i].split]++] = i;
    const size_t pair[3][2] = {
      {at[R4_TRAIN][0], at[R4_TEST][0]}, {at[R4_TRAIN][1], at[R4_VAL][0]}, {at[R4_VAL][1], at[R4_TEST][1]}};
    for (int k = 0; k < 3; k++) {
      struct record *a = s->record + pair[k][0], *b = s->record + pair[k][1];
      if (by_id)
        a->id = b->id;
      else
        a->row = b->row;
    }
    assert_int_equal(r4_data_check_overlap(s, &e), R4_E_ARGUMENT);
    assert_non_null(strstr(e.text, "3 examples"));
    assert_non_null(strstr(e.text, by_id ? "same id lesion-" : "same values"));
    r4_data *rest = r4_data_drop_overlap(s, &dropped, &e);
    assert_int_equal(dropped, 3);
    assert_int_equal(r4_data_count(rest), 997);
    assert_int_equal(r4_data_check_overlap(rest, &e), R4_OK);
    for (size_t i = 0; i < rest->n; i++) tested += rest->record[i].split == R4_TEST;
    assert_int_equal(tested, 200);
    r4_data_free(rest);
    r4_data_free(s);
    r4_data_free(d);
  }
}

/* The message names the pair that comes first. */
static void overlap_names_the_first_pair(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_data *d = make(20, false);
  d->record[17].split = d->record[18].split = R4_TEST;
  d->record[9].row = d->record[17].row;
  d->record[5].row = d->record[18].row;
  assert_int_equal(r4_data_check_overlap(d, &e), R4_E_ARGUMENT);
  assert_string_equal(e.text,
                      "2 examples occur in a later split as well: training example 5 (image-5.png) and test "
                      "example 18 (image-18.png) have the same values");
  r4_data_free(d);
}

/* Equal images within one split are nobody's harm. */
static void copies_within_a_split_may_stay(void **state)
{
  (void)state;
  r4_data *d = make(20, true);
  d->record[9].row = d->record[17].row;
  assert_int_equal(r4_data_check_overlap(d, NULL), R4_OK);
  r4_data_free(d);
}

static void memory_may_run_out(void **state)
{
  (void)state;
  r4_data *d = make(100, true);
  for (long n = 1;; n++) {
    r4_error e = {0};
    r4_mem_fail_at(n);
    r4_data *s = r4_data_split(d, .1, .2, 5, &e), *rest = s ? r4_data_drop_overlap(s, NULL, &e) : NULL;
    r4_status status = rest ? r4_data_check_overlap(rest, &e) : e.status;
    bool reached = r4_mem_count() >= n;
    r4_mem_fail_at(0);
    assert_int_equal(status, reached ? R4_E_MEMORY : R4_OK);
    r4_data_free(rest);
    r4_data_free(s);
    if (!reached) break;
  }
  r4_data_free(d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(shares_are_exact_in_every_class),
                                     cmocka_unit_test(ids_stay_together),
                                     cmocka_unit_test(large_units_come_as_near_as_they_can),
                                     cmocka_unit_test(majorities_are_the_strata),
                                     cmocka_unit_test(seeds_decide_and_nothing_else),
                                     cmocka_unit_test(holding_out_leaves_the_test_set),
                                     cmocka_unit_test(bad_shares_are_refused),
                                     cmocka_unit_test(overlap_is_found_and_dropped),
                                     cmocka_unit_test(overlap_names_the_first_pair),
                                     cmocka_unit_test(copies_within_a_split_may_stay),
                                     cmocka_unit_test(memory_may_run_out)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
