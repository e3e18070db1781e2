/* Whether a net follows the label of masked content: who is asked, whose content they get, and the share by hand. The
 * patch of each example is its number, so that it tells who gave it. */
#include "measure/follow.h"

#include <math.h>

#include "check.h"
#include "patch_case.h"

enum { SEED = 3, NEEDED = 4 };

/* Of each class 9 training examples, and 4 for validation, of which so many have masks. */
static r4_data *make(int classes, const size_t *train, const size_t *val)
{
  static struct patch_list l;
  l.n = 0;
  for (int c = 0; c < classes; c++) patch_add(&l, R4_VAL, c, 4, val[c]);
  for (int c = 0; c < classes; c++) patch_add(&l, R4_TRAIN, c, 9, train[c]);
  return patch_list_data(&l, classes);
}

static r4_data *make_two(void)
{
  return make(2, (const size_t[]){8, 6}, (const size_t[]){3, 2});
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

/* Who gave row k its content: a training example. */
static r4_example giver(const r4_data *d, const struct follow *f, size_t k)
{
  r4_example is = r4_data_example(d, (size_t)patch_of(f->data, k));
  assert_int_equal(is.split, R4_TRAIN);
  return is;
}

static bool giver_has_mask(const r4_data *d, const struct follow *f, size_t k)
{
  return r4_data_has_mask(d, (size_t)patch_of(f->data, k));
}

/* Masked content of the right class, for who has a mask. */
static void each_gets_content_of_either_sort(void **state)
{
  (void)state;
  r4_data *d = make_two();
  struct follow f = made(d, NEEDED);
  assert_int_equal(f.n, 5);
  assert_int_equal(f.draws, 8);
  assert_int_equal(r4_data_count(f.data), 2 * 5 * 8);
  for (size_t k = 0; k < 80; k++) {
    int32_t label = r4_data_example(f.data, k).label;
    assert_int_equal(label, k % 5 < 3 ? 0 : 1);
    assert_true(giver_has_mask(d, &f, k));
    if ((giver(d, &f, k).label == label) != (k < 40)) fail_msg("row %zu", k);
  }
  follow_clear(&f);
  r4_data_free(d);
}

/* Masks are on one class: what it has there is taken away by what the other has there, and put on that, where an
 * example of its own class gives what it has itself. A masked example whose class gives nothing is not asked. */
static void masks_on_one_class_are_removed_and_pasted(void **state)
{
  (void)state;
  r4_data *d = make(2, (const size_t[]){9, 0}, (const size_t[]){4, 1});
  struct follow f = made(d, NEEDED);
  assert_int_equal(f.n, 4 + 3);
  for (size_t k = 0; k < 2 * f.n * f.draws; k++) {
    bool own = k < f.n * f.draws, first = k % f.n < 4;
    assert_int_equal(r4_data_example(f.data, k).label, !first);
    assert_int_equal(giver(d, &f, k).label, first == own ? 0 : 1);
  }
  follow_clear(&f);
  r4_data_free(d);
}

/* One mask of nine in a class, of nine in the other, is by chance: it gives nothing. */
static void rare_masks_give_nothing(void **state)
{
  (void)state;
  r4_data *d = make(2, (const size_t[]){9, 1}, (const size_t[]){4, 0});
  struct follow f = made(d, NEEDED);
  size_t masked = 0;
  for (size_t k = f.n * f.draws; k < 2 * f.n * f.draws; k++)
    if (k % f.n < 4) masked += giver_has_mask(d, &f, k);
  assert_true(masked < 4 * f.draws / 2); /* one in nine */
  follow_clear(&f);
  r4_data_free(d);
}

static void too_few_are_not_asked(void **state)
{
  (void)state;
  r4_data *d = make_two();
  struct follow f = made(d, 6);
  assert_true(!f.n && !f.data);
  r4_data *bare = r4_data_part(d, R4_VAL, NULL);
  f = made(bare, 0);
  assert_true(!f.n && !f.data);
  r4_data_free(bare);
  r4_data_free(d);
}

/* By hand: of 5 examples, two are correct with their own content in all 8 draws and with others' in 2; one with either
 * in 4; two never: o = 1, 1, 1/2, 0, 0 and a = 1/4, 1/4, 1/2, 0, 0, so that followed = 1.5 / 2.5, and the sum of
 * squares is 2 (3/4)^2 - 1.5^2 / 5. */
static void the_share_is_that_by_hand(void **state)
{
  (void)state;
  r4_data *d = make_two();
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
    cmocka_unit_test(masks_on_one_class_are_removed_and_pasted),
    cmocka_unit_test(rare_masks_give_nothing),
    cmocka_unit_test(too_few_are_not_asked),
    cmocka_unit_test(the_share_is_that_by_hand),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
