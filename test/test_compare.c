/* Student's t, Welch's test and Holm's correction against values that are known. */
#include <math.h>

#include "base/student.h"
#include "check.h"

static void near(double got, double expected, double relative)
{
  if (!(fabs(got - expected) <= relative * fabs(expected))) fail_msg("%.17g, expected %.17g", got, expected);
}

/* Closed forms: one degree of freedom is Cauchy's distribution, two are algebraic, very many are normal. */
static void students_p_in_closed_form(void **state)
{
  (void)state;
  for (double t = 1. / 64; t < 1e5; t *= 2) {
    near(student_p(t, 1), 2 / acos(-1) * atan(1 / t), 1e-13);
    near(student_p(-t, 1), 2 / acos(-1) * atan(1 / t), 1e-13);
    double root = sqrt(2 + t * t);
    near(student_p(t, 2), 2 / (root * (root + t)), 1e-13);
    if (t < 5) near(student_p(t, 1e9), erfc(t / sqrt(2)), 1e-7);
    near(student_p(t, 1e12), erfc(t / sqrt(2)), 1e-13);
  }
}

/* Quantiles as printed in tables: P(|T| >= t) = p. */
static void students_p_in_tables(void **state)
{
  (void)state;
  static const struct {
    double freedom, p, t;
  } table[] = {{1, .05, 12.70620473617471},  {3, .05, 3.182446305284263},  {4, .05, 2.776445105197793},
               {5, .01, 4.032142983557536},  {10, .05, 2.228138851986274}, {10, .01, 3.169272672616872},
               {30, .05, 2.042272456301238}, {120, .05, 1.979930405082422}};
  for (size_t k = 0; k < sizeof table / sizeof *table; k++)
    near(student_p(table[k].t, table[k].freedom), table[k].p, 1e-11);
}

/* Four degrees: p = 1 - s (3 - s^2) / 2 with s = t / sqrt(4 + t^2); half degrees lie between whole ones. */
static void students_p_between(void **state)
{
  (void)state;
  for (double t = .1; t < 4; t += .1) {
    double s = t / sqrt(4 + t * t);
    near(student_p(t, 4), 1 - s * (3 - s * s) / 2, 1e-11);
    assert_true(student_p(t, 3) > student_p(t, 3.5) && student_p(t, 3.5) > student_p(t, 4));
  }
  assert_true(student_p(0, 5) == 1 && student_p(INFINITY, 5) == 0);
  assert_true(isnan(student_p(NAN, 5)) && isnan(student_p(1, 0)) && isnan(student_p(1, NAN)));
}

/* t = -2.853 with 27.89 degrees; p by Simpson's rule over the density. */
static void welch_by_hand(void **state)
{
  (void)state;
  static const double a[] = {27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1,
                             21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4};
  static const double b[] = {27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0,
                             24.8, 20.2, 21.9, 22.1, 22.9, 30.5, 24.4};
  near(r4_welch_p(15, a, 15, b), 0.0080719381722, 1e-10);
  near(r4_welch_p(15, b, 15, a), r4_welch_p(15, a, 15, b), 1e-14);
  /* Means 2 and 4, variances 1 and 4 of three each: t = -2 / sqrt(5/3), (5/3)^2 / (1/18 + 16/18) degrees. */
  static const double c[] = {1, 2, 3}, d[] = {2, 4, 6};
  near(r4_welch_p(3, c, 3, d), student_p(2 / sqrt(5. / 3), 25. / 9 * 18 / 17), 1e-14);
  static const double same[] = {5, 5}, other[] = {6, 6}, none[] = {1, NAN}, endless[] = {1, INFINITY};
  assert_true(r4_welch_p(2, same, 2, same) == 1 && r4_welch_p(2, same, 2, other) == 0);
  assert_true(isnan(r4_welch_p(1, c, 3, d)) && isnan(r4_welch_p(2, none, 3, d)) &&
              isnan(r4_welch_p(3, d, 2, endless)));
}

static void holm_by_hand(void **state)
{
  (void)state;
  static const double p[] = {.01, .04, .03, .005}, expected[] = {.03, .06, .06, .02};
  double adjusted[5];
  r4_holm(4, p, adjusted);
  for (size_t k = 0; k < 4; k++) near(adjusted[k], expected[k], 1e-14);
  static const double equal[] = {.2, NAN, .2, .9};
  r4_holm(4, equal, adjusted);
  near(adjusted[0], .6, 1e-14);
  assert_true(isnan(adjusted[1]));
  near(adjusted[2], .6, 1e-14);
  near(adjusted[3], .9, 1e-14);
}

static void mean_and_deviation(void **state)
{
  (void)state;
  static const double x[] = {1, 2, 6};
  r4_mean_sd m = r4_mean_sd_of(3, x);
  near(m.mean, 3, 1e-15);
  near(m.sd, sqrt(7), 1e-15);
  assert_true(isnan(r4_mean_sd_of(1, x).sd) && isnan(r4_mean_sd_of(0, x).mean));
}

/* d = 1, 0, 0, -1, 1, 1: m = 1/3, the squares of d - m sum to 10/3, and s^2 = 2/3. */
static void paired_by_hand(void **state)
{
  (void)state;
  static const double a[] = {1, 1, 0, 0, 1, 1}, b[] = {0, 1, 0, 1, 0, 0};
  r4_interval d = r4_paired_difference(6, a, b);
  near(d.mean, 1. / 3, 1e-14);
  near(d.low, 1. / 3 - 1.959963984540054 / 3, 1e-14);
  near(d.high, 1. / 3 + 1.959963984540054 / 3, 1e-14);
  assert_true(isnan(r4_paired_difference(1, a, b).low) && r4_paired_difference(1, a, b).mean == 1);
  assert_true(isnan(r4_paired_difference(0, a, b).mean));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(students_p_in_closed_form),
    cmocka_unit_test(students_p_in_tables),
    cmocka_unit_test(students_p_between),
    cmocka_unit_test(welch_by_hand),
    cmocka_unit_test(holm_by_hand),
    cmocka_unit_test(mean_and_deviation),
    cmocka_unit_test(paired_by_hand),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
