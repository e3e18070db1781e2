/* Relative core sensitivity: of given answers against NumPy's (test/golden/sensitivity.txt), of nets that are known to
 * look at one region or both, of linear nets against the normal distribution, and what it refuses. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden_case.h"
#include "measure/sensitivity.h"
#include "scratch.h"
#include "small_images.h"

static void test_golden(void **state)
{
  (void)state;
  static const char *const cases[] = {"low", "high", "draws"};
  golden *gold = golden_open("sensitivity");
  for (size_t k = 0; k < 3; k++) {
    const golden_tensor *spurious = golden_get(gold, "%s.spurious", cases[k]);
    struct rcs r = rcs_of(spurious->count, spurious->value, golden_get(gold, "%s.core", cases[k])->value);
    assert_close(cases[k], (double[]){r.spurious, r.core, r.value, r.se},
                 golden_get(gold, "%s.rcs", cases[k])->value, 4, 1e-12, 0);
  }
  golden_free(gold);
  const double all[] = {1, 1, 1}, none[] = {0, 0, 0};
  assert_true(isnan(rcs_of(3, all, all).value) && isnan(rcs_of(3, none, none).value));
  assert_true(fabs(rcs_of(3, all, none).value - 1) < 1e-15 && fabs(rcs_of(3, none, all).value + 1) < 1e-15);
}

/* ---- Nets that are known ---- */

enum { N = 400, SIDE = 4, PIXELS = SIDE * SIDE, HALF = PIXELS / 2 };

/* 0.5 +- 0.1 by the label, in all pixels; the upper half is masked, but for the last example, which has no mask. */
static r4_data *halves(void)
{
  static float x[N * PIXELS], m[N * PIXELS];
  static int32_t y[N];
  for (size_t i = 0; i < N; i++) {
    y[i] = (int32_t)(i % 2);
    for (size_t k = 0; k < PIXELS; k++) {
      x[i * PIXELS + k] = y[i] ? 0.6f : 0.4f;
      m[i * PIXELS + k] = k < HALF && i < N - 1;
    }
  }
  return small_images(N, SIDE, x, y, NULL, m);
}

/* z = upper sum of the upper pixels + lower sum of the lower ones - bias, by which the two labels are right. */
static void ask(const char *text, double upper, double lower, const r4_sensitivity_options *o,
                r4_sensitivity *s)
{
  r4_error e = {0};
  r4_net *n = r4_net_open(text, R4_SHAPE(SIDE, SIDE, 1), &e);
  if (!n) fail_msg("%s", e.text);
  float w[PIXELS + 1];
  double middle = strncmp(text, "normalize", 9) ? 0.5 : 0;
  assert_int_equal(r4_net_size(n), PIXELS + 1);
  for (size_t k = 0; k < PIXELS; k++) w[k] = (float)(k < HALF ? upper : lower);
  w[PIXELS] = (float)(-middle * HALF * (upper + lower));
  r4_data *d = halves();
  if (r4_core_sensitivity(n, w, d, o, s, &e)) fail_msg("%s", e.text);
  r4_data_free(d);
  r4_net_free(n);
}

static const char LINEAR[] = "flatten, dense 1";

static void test_one_region_or_both(void **state)
{
  (void)state;
  r4_sensitivity s;
  ask(LINEAR, 0, 1, NULL, &s);
  assert_int_equal(s.examples, N - 1);
  assert_int_equal(s.n, 5);
  assert_true(fabs(s.clean - 1) < 1e-12 && fabs(s.unit[0] - 0.1) < 1e-4);
  for (size_t k = 3; k < s.n; k++)
    assert_true(fabs(s.at[k].rcs - 1) < 1e-12 && s.at[k].spurious_noise > 1 - 1e-12);
  ask(LINEAR, 1, 0, NULL, &s);
  for (size_t k = 3; k < s.n; k++)
    assert_true(fabs(s.at[k].rcs + 1) < 1e-12 && s.at[k].core_noise > 1 - 1e-12);
  ask(LINEAR, 1, 1, NULL, &s);
  assert_true(s.at[4].rcs_se > 0 && fabs(s.at[4].rcs) < 3 * s.at[4].rcs_se);
}

static double normal(double x)
{
  return 0.5 * erfc(-x / sqrt(2));
}

/* z moves by N(0, HALF (weight sigma u)^2) away from +- 0.1 HALF (upper + lower). */
static void test_linear_nets(void **state)
{
  (void)state;
  const r4_sensitivity_options o = {.n = 2, .sigma = {2, 8}, .draws = 20, .batch = 33, .seed = 4};
  r4_sensitivity s;
  const struct {
    const char *net;
    double unit, margin; /* of a weight of 1 */
  } each[] = {{LINEAR, 0.1, 0.1}, {"normalize mean 0.5 std 0.2, flatten, dense 1", 0.2, 0.1}};
  for (size_t k = 0; k < 2; k++) {
    ask(each[k].net, 0.5, 1, &o, &s);
    for (size_t i = 0; i < 2; i++) {
      double z = each[k].margin * HALF * 1.5, spread = o.sigma[i] * s.unit[0] * sqrt(HALF);
      assert_true(fabs(s.unit[0] - each[k].unit) < 1e-4);
      assert_true(fabs(s.at[i].spurious_noise - normal(z / (0.5 * spread))) < 0.02);
      assert_true(fabs(s.at[i].core_noise - normal(z / spread)) < 0.02);
    }
  }
}

/* What the published code measures: noise that is too small to matter. */
static void test_published(void **state)
{
  (void)state;
  const r4_sensitivity_options o = {.published = true};
  r4_sensitivity s;
  ask(LINEAR, 1, 1, &o, &s);
  assert_true(s.n == 1 && fabs(s.at[0].sigma - 2) < 1e-12 && fabs(s.unit[0] - 1 / 255.) < 1e-12);
  assert_true(s.at[0].core_noise > 1 - 1e-12 && isnan(s.at[0].rcs));
}

static void test_refusals(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_sensitivity s;
  r4_net *n = r4_net_open(LINEAR, R4_SHAPE(SIDE, SIDE, 1), &e);
  float w[PIXELS + 1] = {0};
  r4_data *d = halves(), *bare = r4_data_keep_masks(d, 0, 0, &e);
  r4_sensitivity_options o = {.n = 1};
  assert_error(&e, r4_core_sensitivity(n, w, d, &o, &s, &e), "noise of 0, expected numbers above 0");
  o.sigma[0] = NAN;
  assert_error(&e, r4_core_sensitivity(n, w, d, &o, &s, &e), "noise of nan");
  o = (r4_sensitivity_options){.n = 17};
  assert_error(&e, r4_core_sensitivity(n, w, d, &o, &s, &e), "17 levels of noise, expected at most 16");
  o = (r4_sensitivity_options){.draws = -1};
  assert_error(&e, r4_core_sensitivity(n, w, d, &o, &s, &e), "-1 draws");
  assert_error(&e, r4_core_sensitivity(n, w, bare, NULL, &s, &e),
               "no example has a mask that covers only a part of it");
  r4_data_free(d);
  r4_data_free(bare);
  r4_net_free(n);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_golden), cmocka_unit_test(test_one_region_or_both),
                                     cmocka_unit_test(test_linear_nets), cmocka_unit_test(test_published),
                                     cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
