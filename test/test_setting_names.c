/* Settings by the keys that they had before: files, assignments and runs are understood, with a notice where a person
 * wrote them. */
#include <stdio.h>
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

/* What others call our settings is no setting, and leads to one. */
static void test_usual_names_are_hints(void **state)
{
  (void)state;
  static const char *const hint[][2] = {
    {"lr", "rate"},         {"learning_rate", "rate"},  {"epsilon", "eps"},
    {"batchsize", "batch"}, {"beta", "weight_penalty"}, {"mask_means", "data.mask_means"}};
  r4_settings *s = settings_case("");
  r4_error e = {0};
  for (size_t k = 0; k < sizeof hint / sizeof *hint; k++) {
    char assignment[64], expected[100];
    snprintf(assignment, sizeof assignment, "%s=1", hint[k][0]);
    snprintf(expected, sizeof expected, "no setting \"%s\"; did you mean %s?", hint[k][0], hint[k][1]);
    assert_error(&e, r4_settings_set(s, assignment, "--set", &e), expected);
    assert_string_equal(r4_setting_meant(hint[k][0]), hint[k][1]);
  }
  assert_error(&e, r4_settings_set(s, "k=1", "--set", &e), "did you mean attack.steps (adv-r4) or samples (rand-r4)?");
  assert_null(r4_setting_meant("k"));
  assert_null(r4_setting_meant("colour"));
  assert_string_equal(r4_setting_meant("rate"), "rate");
  assert_string_equal(r4_setting_meant("guard"), "penalty.cap");
  r4_settings_free(s);
}

/* As tables and papers write them. */
static void test_methods_in_any_case(void **state)
{
  (void)state;
  r4_settings *s = settings_case("");
  r4_error e = {0};
  assert_string_equal(given_by(s, "method=Cert-R4", "method").text, "cert-r4");
  assert_string_equal(given_by(s, "method=cert_r4", "method").text, "cert-r4");
  assert_string_equal(given_by(s, "method=IBP-Ex + R3", "method").text, "ibp-ex+r3");
  assert_string_equal(given_by(s, "method=ERM", "method").text, "erm");
  assert_string_equal(given_by(s, "method=Auto", "method").text, "auto");
  assert_error(&e, r4_settings_set(s, "method=cert r4", "--set", &e), "method is \"cert r4\", expected");
  assert_error(&e, r4_settings_set(s, "method=cert-r", "--set", &e), "method is \"cert-r\", expected");
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
    cmocka_unit_test(test_usual_names_are_hints),
    cmocka_unit_test(test_methods_in_any_case),
    cmocka_unit_test(test_resolved_settings_of_before),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
