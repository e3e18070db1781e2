/* The validation part: who makes it, and when it is kept. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static r4_data *make(const char *recipe, r4_recipe_options o)
{
  r4_error e = {0};
  r4_data *d = r4_data_make(recipe, &o, &e);
  if (!d) fail_msg("%s", e.text);
  return d;
}

static size_t in_split(const r4_data *d, r4_split split)
{
  return r4_data_counts(d, -1, -1).examples[split];
}

/* What the source holds out stays, is replaced by a stated share, or is for training; test is never touched. */
static void validation_of_sources_is_kept_or_not(void **state)
{
  (void)state;
  char folder[] = "/tmp/r4-test-XXXXXX", file[64], bare[64];
  assert_non_null(mkdtemp(folder));
  snprintf(file, sizeof file, "%s/split.npz", folder);
  snprintf(bare, sizeof bare, "%s/bare.npz", folder);
  r4_error e = {0};
  r4_data *d = r4_data_open("digits:600", NULL, &e), *s = r4_data_hold_out(d, .1, 1, &e),
          *train = r4_data_part(d, R4_TRAIN, &e);
  assert_int_equal(r4_data_save(s, file, &e), R4_OK);
  assert_int_equal(r4_data_save(train, bare, &e), R4_OK);
  const struct {
    double val;
    size_t low, high;
  } want[] = {{0, 58, 62}, {.25, 146, 154}, {-1, 0, 0}};
  for (int k = 0; k < 3; k++) {
    r4_data *made = make("decoy", (r4_recipe_options){.from = file, .val = want[k].val}),
            *split = make("decoy", (r4_recipe_options){.from = bare, .val = want[k].val});
    assert_in_range(in_split(made, R4_VAL), want[k].low, want[k].high);
    assert_int_equal(in_split(made, R4_TEST), 100);
    assert_in_range(in_split(split, R4_VAL), want[k].low,
                    want[k].high); /* of all, where there is no test part */
    assert_in_range(in_split(split, R4_TEST), 116, 124);
    r4_data_free(made);
    r4_data_free(split);
  }
  r4_data_free(train);
  r4_data_free(s);
  r4_data_free(d);
  assert_int_equal(remove(file) || remove(bare) || remove(folder), 0);
}

/* The data of settings that name a recipe on a source, or the source itself. */
static r4_data *by_settings(const char *data, const char *from, const char *val)
{
  r4_error e = {0};
  const char *const key[] = {"data", "data.from", "data.val"}, *const value[] = {data, from, val};
  r4_settings *s = r4_settings_new();
  for (int k = 0; k < 3; k++) {
    char assignment[128];
    snprintf(assignment, sizeof assignment, "%s=%s", key[k], value[k]);
    if (r4_settings_set(s, assignment, "test", &e)) fail_msg("%s", e.text);
  }
  r4_data *d = r4_settings_data(s, &e);
  if (!d) fail_msg("%s", e.text);
  r4_settings_free(s);
  return d;
}

static bool same_part(const r4_data *a, const r4_data *b, r4_split split)
{
  for (size_t i = 0; i < r4_data_count(a); i++)
    if ((r4_data_example(a, i).split == split) != (r4_data_example(b, i).split == split)) return false;
  return r4_data_count(a) == r4_data_count(b);
}

/* data.val is for data without a validation part, as its help says: with a recipe or without, with a test part or
 * not. */
static void validation_of_its_own_is_kept(void **state)
{
  (void)state;
  char folder[] = "/tmp/r4-test-XXXXXX", file[64];
  static const char *const shares[] = {"0", "0.1", "0.4"};
  assert_non_null(mkdtemp(folder));
  snprintf(file, sizeof file, "%s/split.npz", folder);
  r4_error e = {0};
  for (int test = 0; test < 2; test++) {
    r4_data *all = r4_data_open("digits:600", NULL, &e), *train = r4_data_part(all, R4_TRAIN, &e);
    r4_data *own = r4_data_hold_out(test ? all : train, .2, 1, &e);
    assert_int_equal(r4_data_save(own, file, &e), R4_OK);
    for (int k = 0; k < 3; k++) {
      r4_data *recipe = by_settings("decoy", file, shares[k]), *plain = by_settings(file, "", shares[k]);
      assert_true(same_part(recipe, own, R4_VAL) && same_part(plain, own, R4_VAL));
      if (test)
        assert_true(same_part(recipe, own, R4_TEST));
      else
        assert_in_range(in_split(recipe, R4_TEST), 90, 102); /* a fifth of what is for training */
      assert_null(strstr(r4_data_about(recipe), "--val"));
      r4_data_free(recipe);
      r4_data_free(plain);
    }
    r4_data *same = make("decoy", (r4_recipe_options){.from = file});
    assert_true(same_part(same, own, R4_VAL));
    r4_data_free(same);
    r4_data_free(own);
    r4_data_free(train);
    r4_data_free(all);
  }
  r4_data *bare = by_settings("decoy", "digits:600", "0.4"), *none = by_settings("decoy", "digits:600", "0");
  assert_in_range(in_split(bare, R4_VAL), 235, 245);
  assert_int_equal(in_split(none, R4_VAL), 0);
  r4_data_free(bare);
  r4_data_free(none);
  assert_int_equal(remove(file) || remove(folder), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(validation_of_sources_is_kept_or_not),
                                     cmocka_unit_test(validation_of_its_own_is_kept)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
