/* The float functions of src/base/expf.h and src/base/tanhf.h against libm's in double. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/tanhf.h"

/* ---- exp ---- */

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

/* ---- tanh and erf: odd, rising, from -1 to 1 ---- */

static const struct curve {
  const char *name;
  float (*is)(float x);
  double (*want)(double x);
} curves[] = {{"tanh", r4_tanhf, tanh}, {"erf", r4_erff, erf}};

static float from_bits(uint32_t bits)
{
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Floats from the smallest denormal to 16, in the order of their bits, which is that of their values. */
static void test_curves(void **state)
{
  (void)state;
  for (size_t k = 0; k < sizeof curves / sizeof *curves; k++) {
    const struct curve *c = &curves[k];
    double worst = 0;
    float before = 0;
    for (uint32_t bits = 1; bits <= 0x41800000; bits += 1021) {
      float x = from_bits(bits), y = c->is(x);
      double want = c->want((double)x), ulp = ldexp(1, (int)fmax(ilogb(want), -126) - 23);
      double off = fabs((double)y - want) / ulp;
      if (off > worst) worst = off;
      if (y < before) fail_msg("%s falls at %.9g", c->name, (double)x);
      assert_true(y <= 1 && c->is(-x) == -y);
      before = y;
    }
    if (worst >= 2) fail_msg("%s is %.2f units in the last place off", c->name, worst);
  }
}

static void test_curve_ends(void **state)
{
  (void)state;
  for (size_t k = 0; k < sizeof curves / sizeof *curves; k++) {
    const struct curve *c = &curves[k];
    assert_true(c->is(INFINITY) == 1 && c->is(-INFINITY) == -1 && c->is(3e38f) == 1 && c->is(-3e38f) == -1);
    assert_true(c->is(0.f) == 0 && !signbit(c->is(0.f)) && signbit(c->is(-0.f)));
    assert_true(isnan(c->is(NAN)));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_accuracy), cmocka_unit_test(test_ends),
                                     cmocka_unit_test(test_curves), cmocka_unit_test(test_curve_ends)};
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("expf", tests, NULL, NULL);
}
