/* Exchanged examples: who is exchanged, and whose content they get. The patch of each example is its number, so that it
 * tells who gave it. */
#include "data/batch/exchange.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "data/batch/donors.h"
#include "patch_case.h"

enum { SEED = 3 };

static struct exchange made(const r4_data *d, const r4_data *like)
{
  struct exchange x;
  r4_error e = {0};
  size_t n = 0;
  if (exchange_make(&x, d, like, SEED, &e) || exchange_count(d, like, &n, &e)) fail_msg("%s", e.text);
  assert_true(n >= x.n);
  return x;
}

/* ---- Whose content ---- */

/* Two examples of each of three classes, all with masks: each gets, over the draws, the patch of every example of
 * another class, never its own or its neighbour's; the rest of it stays. */
static void donors_are_of_other_classes(void **state)
{
  (void)state;
  struct patch_example x[6];
  for (int i = 0; i < 6; i++)
    x[i] = (struct patch_example){.core = 100 + (float)i, .patch = (float)i, .label = i / 2, .masked = true};
  r4_data *d = patch_data(x, 6, 3);
  struct exchange got = made(d, d);
  bool seen[6][6] = {{false}};
  assert_int_equal(got.n, 6);
  assert_int_equal(got.draws, 8); /* 400 rows would be 67 of each */
  assert_int_equal(got.donors, 6);
  assert_int_equal(r4_data_count(got.data), 48);
  for (size_t k = 0; k < 48; k++) {
    size_t i = k % 6;
    float v[PATCH_FEATURES];
    r4_data_values(got.data, k, v);
    assert_int_equal(got.example[i], i);
    assert_true(v[PATCH_CORE] == 100 + (float)i);
    assert_int_equal(r4_data_example(got.data, k).label, i / 2);
    int donor = (int)v[PATCH_PATCH];
    assert_true(v[PATCH_PATCH] == (float)donor && donor >= 0 && donor < 6);
    assert_int_not_equal(donor / 2, i / 2);
    seen[i][donor] = true;
  }
  size_t pairs = 0;
  for (size_t k = 0; k < 36; k++) pairs += seen[k / 6][k % 6];
  assert_true(pairs >= 20); /* of 24: the chance that 8 draws of 4 miss a certain one is 1 in 10 */
  exchange_clear(&got);
  r4_data_free(d);
}

/* Draws are of the seed, the draw and the example alone. */
static void draws_are_the_seeds(void **state)
{
  (void)state;
  struct patch_list l = {.n = 0};
  patch_add(&l, R4_VAL, 0, 30, 30);
  patch_add(&l, R4_VAL, 1, 30, 30);
  r4_data *d = patch_list_data(&l, 2);
  struct exchange a = made(d, d), b = made(d, d), other;
  assert_int_equal(exchange_make(&other, d, d, SEED + 1, NULL), R4_OK);
  size_t same = 0, rows = r4_data_count(a.data);
  assert_int_equal(rows, 60 * 7); /* the least that is 400 */
  for (size_t k = 0; k < rows; k++) {
    assert_true(patch_of(a.data, k) == patch_of(b.data, k));
    same += patch_of(a.data, k) == patch_of(other.data, k);
  }
  assert_true(same < rows / 8);
  exchange_clear(&a);
  exchange_clear(&b);
  exchange_clear(&other);
  r4_data_free(d);
}

/* Masks are in one class alone: its examples get a random value within the range of the patches, as nobody else has
 * one; examples of the other class get patches of theirs. */
static void one_sided_masks_are_pasted(void **state)
{
  (void)state;
  struct patch_list l = {.n = 0};
  patch_add(&l, R4_VAL, 0, 10, 10);
  patch_add(&l, R4_VAL, 1, 10, 0);
  r4_data *d = patch_list_data(&l, 2);
  struct exchange got = made(d, d);
  size_t whole = 0;
  assert_int_equal(got.n, 20);
  assert_int_equal(got.donors, 10);
  for (size_t k = 0; k < r4_data_count(got.data); k++) {
    float patch = patch_of(got.data, k);
    bool is_whole = patch == floorf(patch);
    if (k % 20 < 10) {
      assert_true(patch >= 0 && patch <= 19);
      whole += is_whole;
    } else {
      assert_true(is_whole && patch >= 0 && patch < 10);
    }
  }
  assert_true(whole < 4);
  exchange_clear(&got);
  r4_data_free(d);
}

/* ---- Who ---- */

/* Two of ten have masks in one class, none in the other: as likely as 0.8^10 = 0.107, so that the others are left
 * alone. Where training has 20 of 100 and none, 0.8^100, they are not. */
static void few_masks_are_not_rare_ones(void **state)
{
  (void)state;
  struct patch_list few = {.n = 0}, many = {.n = 0};
  size_t n = 0;
  patch_add(&few, R4_VAL, 0, 10, 2);
  patch_add(&few, R4_VAL, 1, 10, 0);
  patch_add(&many, R4_TRAIN, 0, 100, 20);
  patch_add(&many, R4_TRAIN, 1, 100, 0);
  r4_data *d = patch_list_data(&few, 2), *like = patch_list_data(&many, 2);
  struct exchange alone = made(d, d), as_training = made(d, like);
  assert_int_equal(alone.n, 2);
  assert_true(alone.example[0] == 0 && alone.example[1] == 1);
  assert_int_equal(as_training.n, 12);
  for (size_t k = 0; k < 10; k++) assert_int_equal(as_training.example[2 + k], 10 + k);
  for (size_t k = 2; k < 12; k++) assert_true(patch_of(as_training.data, k) < 2);
  assert_int_equal(exchange_count(d, like, &n, NULL), R4_OK);
  assert_int_equal(n, 12);
  exchange_clear(&alone);
  exchange_clear(&as_training);
  r4_data_free(d);
  r4_data_free(like);
}

/* Masks on every tenth example of both classes alike: only these are exchanged. */
static void scattered_masks_leave_others_alone(void **state)
{
  (void)state;
  struct patch_list l = {.n = 0};
  patch_add(&l, R4_VAL, 0, 100, 10);
  patch_add(&l, R4_VAL, 1, 100, 10);
  r4_data *d = patch_list_data(&l, 2);
  struct exchange got = made(d, d);
  assert_int_equal(got.n, 20);
  for (size_t k = 0; k < 20; k++) assert_int_equal(got.example[k], k < 10 ? k : 90 + k);
  exchange_clear(&got);
  r4_data_free(d);
}

/* Of more than 1000, every so many are taken, twice each. */
static void many_are_spread(void **state)
{
  (void)state;
  static struct patch_list l;
  patch_add(&l, R4_VAL, 0, 1500, 1500);
  patch_add(&l, R4_VAL, 1, 1000, 1000);
  r4_data *d = patch_list_data(&l, 2);
  struct exchange got = made(d, d);
  size_t n = 0;
  assert_int_equal(got.n, 1000);
  assert_int_equal(got.draws, 2);
  for (size_t k = 0; k < 1000; k++) assert_int_equal(got.example[k], k * 5 / 2);
  assert_int_equal(exchange_count(d, d, &n, NULL), R4_OK);
  assert_int_equal(n, 2500);
  exchange_clear(&got);
  r4_data_free(d);
}

static void nothing_without_masks(void **state)
{
  (void)state;
  struct patch_list l = {.n = 0}, masks = {.n = 0};
  patch_add(&l, R4_VAL, 0, 5, 0);
  patch_add(&l, R4_VAL, 1, 5, 0);
  patch_add(&masks, R4_TRAIN, 0, 100, 100);
  patch_add(&masks, R4_TRAIN, 1, 100, 0);
  r4_data *d = patch_list_data(&l, 2), *like = patch_list_data(&masks, 2);
  struct exchange got = made(d, like);
  assert_true(!got.n && !got.data && !got.donors); /* rare in class 1, but there is nobody to give */
  exchange_clear(&got);
  r4_data_free(d);
  r4_data_free(like);
}

/* ---- Rare masks ---- */

static void rare_is_a_matter_of_chance(void **state)
{
  (void)state;
  assert_false(masks_are_rare(0, 6, 50, 100));        /* 1/2^6 = 0.0156         */
  assert_true(masks_are_rare(0, 7, 50, 100));         /* 1/2^7 = 0.0078         */
  assert_false(masks_are_rare(1, 10, 50, 100));       /* (1 + 10)/2^10 = 0.0107 */
  assert_true(masks_are_rare(1, 11, 50, 100));        /* (1 + 11)/2^11 = 0.0059 */
  assert_false(masks_are_rare(2, 3, 9, 10));          /* more than half as many */
  assert_false(masks_are_rare(350, 1000, 700, 1000)); /* half of them: not fewer than that */
  assert_true(masks_are_rare(349, 1000, 700, 1000));
  assert_true(masks_are_rare(0, 1, 5, 5)); /* all others have one */
  assert_false(masks_are_rare(0, 0, 5, 5));
  assert_false(masks_are_rare(0, 5, 0, 5));
  assert_false(masks_are_rare(5, 5, 0, 0));
}

static void rare_is_asked_of_a_class(void **state)
{
  (void)state;
  struct patch_list l = {.n = 0};
  struct donors s;
  patch_add(&l, R4_VAL, 0, 7, 0);
  patch_add(&l, R4_VAL, 1, 6, 3);
  patch_add(&l, R4_VAL, 2, 4, 2);
  r4_data *d = patch_list_data(&l, 4); /* the last class has no example */
  assert_int_equal(donors_find(&s, d, NULL), R4_OK);
  assert_int_equal(donors_all(&s), 5);
  assert_true(donors_are_rare(&s, 0) && !donors_are_rare(&s, 1) && !donors_are_rare(&s, 2));
  assert_false(donors_are_rare(&s, 3));
  assert_true(donors_for(&s, 0) == 5 && donors_for(&s, 1) == 2 && donors_for(&s, 2) == 3);
  assert_true(donors_at(&s, 1, 0) == 13 && donors_at(&s, 1, 1) == 14);
  assert_true(donors_at(&s, 2, 0) == 7 && donors_at(&s, 2, 2) == 9);
  donors_clear(&s);
  r4_data_free(d);
}

/* ---- Texts ---- */

/* The masked token of a text becomes that of a text of the other class, and texts stay as long as they are. */
static void tokens_are_exchanged(void **state)
{
  (void)state;
  enum { N = 4, TOKENS = 3 };
  static const int32_t tokens[N][TOKENS] = {{7, 10, 0}, {8, 11, 5}, {20, 7, 9}, {21, 8, 0}},
                       lengths[N] = {2, 3, 3, 2}, labels[N] = {0, 0, 1, 1};
  static const float masks[N][TOKENS] = {{0, 1}, {0, 1}, {1}, {1}};
  const r4_data_arrays arrays = {.n = N,
                                 .shape = R4_SHAPE(TOKENS),
                                 .tokens = tokens[0],
                                 .lengths = lengths,
                                 .vocabulary = 30,
                                 .labels = labels,
                                 .mask_floats = masks[0],
                                 .mask_means = R4_MASKS_IRRELEVANT};
  r4_error e = {0};
  r4_data *d = r4_data_new(&arrays, &e);
  if (!d) fail_msg("%s", e.text);
  struct exchange got = made(d, d);
  for (size_t k = 0; k < r4_data_count(got.data); k++) {
    float x[TOKENS];
    size_t i = k % N, at = labels[i] ? 0 : 1;
    r4_data_values(got.data, k, x);
    assert_int_equal(r4_data_length(got.data, k), lengths[i]);
    for (size_t t = 0; t < (size_t)lengths[i]; t++)
      if (t != at) assert_true(x[t] == (float)tokens[i][t]);
    assert_true(labels[i] ? x[at] == 10 || x[at] == 11 : x[at] == 20 || x[at] == 21);
  }
  exchange_clear(&got);
  r4_data_free(d);
}

/* ---- Memory ---- */

static void memory_may_run_out(void **state)
{
  (void)state;
  struct patch_list l = {.n = 0};
  patch_add(&l, R4_VAL, 0, 10, 10);
  patch_add(&l, R4_VAL, 1, 10, 0);
  r4_data *d = patch_list_data(&l, 2);
  for (long n = 1;; n++) {
    r4_error e = {0};
    struct exchange x;
    size_t count;
    r4_mem_fail_at(n);
    r4_status s = exchange_count(d, d, &count, &e);
    if (!s) s = exchange_make(&x, d, d, SEED, &e);
    bool reached = r4_mem_count() >= n;
    r4_mem_fail_at(0);
    assert_true(s ? s == R4_E_MEMORY && e.status == s && *e.text : !reached);
    if (!s) exchange_clear(&x);
    if (!reached) break;
  }
  r4_data_free(d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(donors_are_of_other_classes),
    cmocka_unit_test(draws_are_the_seeds),
    cmocka_unit_test(one_sided_masks_are_pasted),
    cmocka_unit_test(few_masks_are_not_rare_ones),
    cmocka_unit_test(scattered_masks_leave_others_alone),
    cmocka_unit_test(many_are_spread),
    cmocka_unit_test(nothing_without_masks),
    cmocka_unit_test(rare_is_a_matter_of_chance),
    cmocka_unit_test(rare_is_asked_of_a_class),
    cmocka_unit_test(tokens_are_exchanged),
    cmocka_unit_test(memory_may_run_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
