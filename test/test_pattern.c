/* Patterns of names. */
#include "base/pattern.h"

#include <string.h>

#include "check.h"

static const struct {
  const char *list, *name;
  bool fits;
} cases[] = {
  {"fc.weight", "fc.weight", true},
  {"fc.weight", "fc.weights", false},
  {"fc.weight", "fc.weigh", false},
  {"fc.*", "fc.", true},
  {"fc.*", "fc.weight", true},
  {"fc.*", "fc", false},
  {"fc.*", "xfc.a", false},
  {"*", "", true},
  {"*", "anything.at.all", true},
  {"?", "", false},
  {"?", "a", true},
  {"layer4.?.conv*", "layer4.2.conv1.weight", true},
  {"layer4.?.conv*", "layer4.12.conv1.weight", false},
  {"*bias", "bias.bias", true},
  {"*.bias*.bias", "a.bias.bias", true},
  {"*ab*ab", "abab", true},
  {"*ab*ab", "aba", false},
  {"a**b", "ab", true},
  {"*a?c*", "xxabaacyy", true},
  {"x, fc.* ,y", "fc.a", true},
  {" , x ,, y ", "y", true},
  {"x,y", "x,y", false},
  {"", "", false},
  {"", "a", false},
  {" , ", "a", false},
};

static void test_cases(void **state)
{
  (void)state;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    if (pattern_any(cases[k].list, cases[k].name) != cases[k].fits)
      fail_msg("\"%s\" and \"%s\": expected %d", cases[k].list, cases[k].name, cases[k].fits);
}

/* Stars that could be tried in many ways are not. */
static void test_many_stars(void **state)
{
  (void)state;
  char name[4001];
  memset(name, 'a', sizeof name - 1);
  name[sizeof name - 1] = 0;
  assert_false(pattern_any("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", name));
}

static void test_one_by_one(void **state)
{
  (void)state;
  const char *at = " fc.* 0.1,, b ";
  struct pattern p;
  assert_true(pattern_next(&at, &p));
  assert_int_equal(p.length, strlen("fc.* 0.1"));
  assert_memory_equal(p.s, "fc.* 0.1", p.length);
  assert_true(pattern_next(&at, &p));
  assert_true(p.length == 1 && *p.s == 'b');
  assert_false(pattern_next(&at, &p));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_cases),
    cmocka_unit_test(test_many_stars),
    cmocka_unit_test(test_one_by_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
