/* The float exponential of src/base/expf.h against libm's in double. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/expf.h"

static void test_accuracy(void **state)
{
  (void)state;
  double worst = 0;
  for (float x = -87.3f; x < 88.7f; x += 1e-3f) {
    double want = exp((double)x), ulp = ldexp(1, ilogb(want) - 23);
    double off = fabs((double)r4_expf(x) - want) / ulp;
    if (off > worst) worst = off;
  }
  assert_true(worst < 2);
}

static void test_ends(void **state)
{
  (void)state;
  assert_true(r4_expf(0) == 1);
  assert_true(r4_expf(INFINITY) == INFINITY && r4_expf(89) == INFINITY && isfinite(r4_expf(88.7f)));
  assert_true(r4_expf(-INFINITY) == 0 && r4_expf(-88) == 0 && r4_expf(-87.3f) > 0);
  assert_true(isnan(r4_expf(NAN)));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_accuracy), cmocka_unit_test(test_ends)};
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("expf", tests, NULL, NULL);
}
