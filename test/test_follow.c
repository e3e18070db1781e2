/* Whether a net follows the label of masked content: who is asked, whose content they get, and the share by hand. The
 * patch of each example is its number, so that it tells who gave it. */
#include "measure/follow.h"

#include <math.h>

#include "check.h"
#include "patch_case.h"

enum { SEED = 3, NEEDED = 4 };

/* Three classes; of the training examples of class 0 .. 2: 8, 6 and 0 have masks; of validation 3, 2 and 2. */
static r4_data *make(void)
{
  static struct patch_list l;
  static const size_t train[] = {8, 6, 0}, val[] = {3, 2, 2};
  l.n = 0;
  for (int c = 0; c < 3; c++) patch_add(&l, R4_VAL, c, 4, val[c]);
  for (int c = 0; c < 3; c++) patch_add(&l, R4_TRAIN, c, 9, train[c]);
  return patch_list_data(&l, 3);
}

static struct follow made(const r4_data *d, size_t least)
{
  struct follow f;
  r4_error e = {0};
  r4_data *train = r4_data_part(d, R4_TRAIN, &e);
  if (!train || follow_make(&f, d, train, least, SEED, &e)) fail_msg("%s", e.text);
  r4_data_free(train);
  return f;
}

/* Only training examples give, of the right class and with a mask; who has none of its own class is not asked. */
static void each_gets_content_of_either_sort(void **state)
{
  (void)state;
  r4_data *d = make();
  struct follow f = made(d, NEEDED);
  assert_int_equal(f.n, 5);
  assert_int_equal(f.draws, 8);
  assert_int_equal(r4_data_count(f.data), 2 * 5 * 8);
  for (size_t k = 0; k < r4_data_count(f.data); k++) {
    int32_t label = r4_data_example(f.data, k).label;
    r4_example donor = r4_data_example(d, (size_t)patch_of(f.data, k));
    assert_int_equal(label, k % 5 < 3 ? 0 : 1);
    assert_int_equal(donor.split, R4_TRAIN);
    assert_true(r4_data_has_mask(d, (size_t)patch_of(f.data, k)));
    if ((donor.label == label) != (k < 40)) fail_msg("row %zu", k);
  }
  follow_clear(&f);
  r4_data_free(d);
}

static void too_few_are_not_asked(void **state)
{
  (void)state;
  r4_data *d = make();
  struct follow f = made(d, 6);
  assert_true(!f.n && !f.data);
  r4_data *bare = r4_data_part(d, R4_VAL, NULL);
  f = made(bare, 0);
  assert_true(!f.n && !f.data);
  r4_data_free(bare);
  r4_data_free(d);
}

/* By hand: of 5 examples, two are correct with their own content in all 8 draws and with others' in 2; one with either
 * in 4; two never: o = 1, 1, 1/2, 0, 0 and a = 1/4, 1/4, 1/2, 0, 0, so that followed = 1.5 / 2.5, and the sum of squares
 * is 2 (3/4)^2 - 1.5^2 / 5. */
static void the_share_is_that_by_hand(void **state)
{
  (void)state;
  r4_data *d = make();
  struct follow f = made(d, NEEDED);
  static const size_t own[] = {8, 8, 4, 0, 0}, others[] = {2, 2, 4, 0, 0};
  int32_t predicted[80];
  double followed, error;
  for (size_t k = 0; k < 80; k++) {
    size_t i = k % 5, turn = k / 5;
    bool correct = turn < 8 ? turn < own[i] : turn - 8 < others[i];
    predicted[k] = correct ? r4_data_example(f.data, k).label : 2;
  }
  follow_count(&f, predicted, &followed, &error);
  assert_true(fabs(followed - 1.5 / 2.5) < 1e-12);
  assert_true(fabs(error - sqrt(1 + 2 * .5625 - 2.25 / 5) / 2.5) < 1e-12);
  for (size_t k = 0; k < 80; k++) predicted[k] = 2;
  follow_count(&f, predicted, &followed, &error);
  assert_true(isnan(followed) && isnan(error));
  follow_clear(&f);
  r4_data_free(d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_gets_content_of_either_sort),
    cmocka_unit_test(too_few_are_not_asked),
    cmocka_unit_test(the_share_is_that_by_hand),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
