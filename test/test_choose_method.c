/* method: auto takes what fits the masks. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "patch_case.h"
#include "scratch.h"
#include "train/task.h"

/* What is taken of data of two classes of 100, so many of which have masks. */
static const char *taken(size_t masked0, size_t masked1, bool wide, bool bound, char *why)
{
  static char name[64];
  struct patch_list l = {.n = 0};
  r4_error e = {0};
  r4_setting_value v;
  patch_add(&l, R4_TRAIN, 0, 100, masked0);
  patch_add(&l, R4_TRAIN, 1, 100, masked1);
  patch_add(&l, R4_VAL, 0, 300, 300); /* are not asked */
  for (size_t i = 0; i < l.n; i++) l.x[i].wide = wide;
  r4_data *d = patch_list_data(&l, 2);
  r4_settings *s = r4_settings_new();
  assert_true(r4_method_is_open(s));
  if (bound) assert_int_equal(r4_settings_set(s, "bound=true", "test", &e), R4_OK);
  if (r4_method_choose(s, d, why, &e)) fail_msg("%s", e.text);
  assert_false(r4_method_is_open(s));
  assert_int_equal(r4_settings_get(s, "method", &v, &e), R4_OK);
  snprintf(name, sizeof name, "%s", v.text);
  r4_settings_free(s);
  r4_data_free(d);
  return name;
}

static void each_kind_of_masks_has_its_method(void **state)
{
  (void)state;
  static const struct {
    size_t masked[2];
    bool wide, bound;
    const char *method, *reason;
  } want[] = {
    {{0, 0},
     false,
     false,
     "erm",
     "erm, as no training example has a mask (0 of 200 training examples have one)"},
    {{0, 0}, false, true, "erm", "no training example has a mask"},
    {{100, 100}, false, false, "pairing", "as most examples have masks (200 of 200"},
    {{50, 50}, false, false, "pairing", "as most examples have masks (100 of 200"},
    {{50, 49}, false, false, "pairing", "as few examples have masks (99 of 200"},
    {{100, 100}, true, false, "fill", "most examples have masks, which cover most of them"},
    {{10, 10}, true, false, "pairing", "few examples have masks"},
    {{100, 0}, false, false, "pairing", "masks are much more frequent in some classes"},
    {{1, 0}, false, false, "pairing", "few examples have masks (1 of 200"},
    {{100, 100}, false, true, "cert-r4", "a bound is required, and all or nearly all examples have masks (200 of 200"},
    {{90, 90}, false, true, "cert-r4", "nearly all examples have masks (180 of 200"},
    {{90, 89}, false, true, "cert-r4+pairing", "a bound is required, and not all"},
    {{100, 0}, false, true, "cert-r4+pairing", "a bound is required, and not all examples have masks alike"},
    {{20, 20}, false, true, "cert-r4+pairing", "a bound is required, and not all"},
    {{100, 100}, true, true, "cert-r4", "a bound is required"},
  };
  for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
    char why[R4_ERROR_SIZE];
    const char *got = taken(want[k].masked[0], want[k].masked[1], want[k].wide, want[k].bound, why);
    if (strcmp(got, want[k].method) || !strstr(why, want[k].reason))
      fail_msg("case %zu: %s: %s", k, got, why);
    assert_non_null(strstr(why, "method is auto: chose "));
    bool hint = strcmp(got, "erm") && !want[k].bound;
    assert_int_equal(strstr(why, ", and bound: true asks for a method that bounds the effect") != NULL, hint);
  }
}

/* fill: auto likewise. */
static void each_kind_of_masks_has_its_filling(void **state)
{
  (void)state;
  static const struct {
    size_t masked[2];
    bool wide;
    r4_fill fill;
  } want[] = {
    {{0, 0}, false, R4_FILL_NONE},       {{100, 100}, false, R4_FILL_COLOUR}, {{100, 100}, true, R4_FILL_SWAP},
    {{49, 50}, false, R4_FILL_EXCHANGE}, {{10, 10}, true, R4_FILL_EXCHANGE},  {{100, 0}, false, R4_FILL_PASTE},
    {{100, 0}, true, R4_FILL_PASTE},
  };
  for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
    struct patch_list l = {.n = 0};
    r4_error e = {0};
    for (int32_t c = 0; c < 2; c++) patch_add(&l, R4_TRAIN, c, 100, want[k].masked[c]);
    for (size_t i = 0; i < l.n; i++) l.x[i].wide = want[k].wide;
    r4_data *d = patch_list_data(&l, 2);
    r4_settings *s = r4_settings_new();
    assert_int_equal(r4_settings_set(s, "method=fill", "test", &e), R4_OK);
    if (task_fill(&s->values, d) != want[k].fill) fail_msg("case %zu: %d", k, (int)task_fill(&s->values, d));
    assert_int_equal(r4_settings_set(s, "method=erm", "test", &e), R4_OK);
    assert_int_equal(task_fill(&s->values, d), R4_FILL_NONE);
    r4_settings_free(s);
    r4_data_free(d);
  }
}

static void mistakes_are_told(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_settings *s = r4_settings_new();
  assert_error(&e, r4_method_choose(s, NULL, NULL, &e), "data");
  assert_true(r4_method_is_open(s));
  assert_int_equal(r4_settings_set(s, "method=r3", "test", &e), R4_OK);
  assert_error(&e, r4_method_choose(s, NULL, NULL, &e), "method is not auto, but r3");
  assert_false(r4_method_is_open(NULL));
  r4_settings_free(s);
}

static void memory_may_run_out(void **state)
{
  (void)state;
  struct patch_list l = {.n = 0};
  patch_add(&l, R4_TRAIN, 0, 10, 10);
  patch_add(&l, R4_TRAIN, 1, 10, 10);
  r4_data *d = patch_list_data(&l, 2);
  for (long n = 1;; n++) {
    r4_error e = {0};
    r4_settings *s = r4_settings_new();
    r4_mem_fail_at(n);
    r4_status status = r4_method_choose(s, d, NULL, &e);
    bool reached = r4_mem_count() >= n;
    r4_mem_fail_at(0);
    assert_true(status ? status == R4_E_MEMORY && e.status == status : !reached);
    r4_settings_free(s);
    if (!reached) break;
  }
  r4_data_free(d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_kind_of_masks_has_its_method),
    cmocka_unit_test(each_kind_of_masks_has_its_filling),
    cmocka_unit_test(mistakes_are_told),
    cmocka_unit_test(memory_may_run_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
