/* Settings by the keys that they had before: files, assignments and runs are understood, with a notice where a person
 * wrote them. */
#include <string.h>

#include "config/settings.h"
#include "scratch.h"
#include "settings_case.h"

/* The value that a key has after it was given by another. */
static r4_setting_value given_by(r4_settings *s, const char *assignment, const char *key)
{
  r4_setting_value v;
  r4_error e;
  if (r4_settings_set(s, assignment, "--set", &e)) fail_msg("%s", e.text);
  assert_int_equal(r4_settings_get(s, key, &v, NULL), R4_OK);
  return v;
}

static void test_old_names_are_understood(void **state)
{
  (void)state;
  r4_error e;
  r4_settings *s = settings_case("steps: 3\nwarmup: 2\ndata:\n  length: 9\n");
  r4_setting_value v;
  assert_int_equal(r4_settings_get(s, "attack.steps", &v, NULL), R4_OK);
  assert_int_equal(v.whole, 3);
  assert_int_equal(r4_settings_get(s, "data.max_tokens", &v, NULL), R4_OK);
  assert_int_equal(v.whole, 9);
  assert_true(r4_settings_renamed(s, 0, &e));
  assert_string_equal(e.text, "a.yaml:4:11: data.length is now called data.max_tokens");
  assert_true(r4_settings_renamed(s, 1, &e));
  assert_string_equal(e.text, "a.yaml:1:8: steps is now called attack.steps");
  assert_false(r4_settings_renamed(s, 2, &e));
  assert_false(given_by(s, "guard=false", "penalty.cap").flag);
  assert_int_equal(given_by(s, "attack.steps=4", "steps").whole, 4); /* by its name now: no notice */
  assert_true(r4_settings_renamed(s, 1, &e));
  assert_string_equal(e.text, "--set: guard is now called penalty.cap");
  r4_settings_free(s);
}

/* No old name is the name of another setting, and each reads back as the new one does. */
static void test_old_names_are_free(void **state)
{
  (void)state;
  size_t renamed = 0;
  for (size_t k = 0; k < r4_setting_count(); k++) {
    const char *was = r4_setting_describe(k).was;
    renamed += was != NULL;
    for (size_t j = 0; was && j < r4_setting_count(); j++) {
      r4_setting_info other = r4_setting_describe(j);
      if (!strcmp(other.key, was) || (j != k && other.was && !strcmp(other.was, was))) fail_msg("%s is taken", was);
    }
  }
  assert_true(renamed >= 20);
  r4_error e = {0};
  r4_settings *s = settings_case("");
  assert_error(&e, settings_case_read(s, "steps: 3\nattack.steps: 4\n", &e),
               "a.yaml:2:1: attack.steps is set at a.yaml:1:1 already");
  r4_settings_free(s);
}

/* Settings that a run left behind under the old names, and without those that are new, say nothing. */
static void test_resolved_settings_of_before(void **state)
{
  (void)state;
  r4_error e;
  r4_settings *s = settings_case("method: erm\nattack.steps: 3\n");
  char *text = r4_settings_text(s), *at = strstr(text, "\nattack.steps: "), *noise = strstr(text, "\nnoise: default");
  assert_non_null(at);
  assert_non_null(noise);
  memcpy(at, "\n       steps: ", strlen("\nattack.steps: "));
  memmove(at + 1, at + 8, strlen(at + 8) + 1);
  memmove(noise, noise + strlen("\nnoise: default"), strlen(noise + strlen("\nnoise: default")) + 1);
  r4_settings *again = settings_case(text);
  assert_false(r4_settings_renamed(again, 0, &e));
  assert_false(r4_settings_idle(again, 0, &e));
  r4_string_free(text);
  r4_settings_free(again);
  r4_settings_free(s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_old_names_are_understood),
    cmocka_unit_test(test_old_names_are_free),
    cmocka_unit_test(test_resolved_settings_of_before),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
