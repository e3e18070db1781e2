/* What steers a training run, by hand: schedules, dual ascent, the guard, the pulse of a net. */
#include <math.h>

#include "check.h"
#include "data/data.h"
#include "optim/dual.h"
#include "optim/guard.h"
#include "optim/schedule.h"
#include "train/collapse.h"

#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

/* Of a method with two terms. */
#define OF(first, second) ((const double[R4_TERMS]){first, second})

static void schedules_by_hand(void **state)
{
  (void)state;
  const double at[] = {4, 8};
  struct schedule s = {
    .kind = SCHEDULE_LINEAR, .epochs = 10, .warmup = 2, .decay_at = at, .decays = 2, .decay_by = 0.1};
  assert_near(schedule_rate(&s, 0.5), 0.25, 1e-12);
  assert_near(schedule_rate(&s, 2), 1, 1e-12);
  assert_near(schedule_rate(&s, 4), 0.75, 1e-12);
  assert_near(schedule_rate(&s, 10), 0, 1e-12);
  s.kind = SCHEDULE_COSINE;
  assert_near(schedule_rate(&s, 6), 0.5, 1e-12);
  assert_near(schedule_rate(&s, 4), (1 + sqrt(0.5)) / 2, 1e-12);
  s.kind = SCHEDULE_STEPS;
  assert_near(schedule_rate(&s, 3.9), 1, 1e-12);
  assert_near(schedule_rate(&s, 4), 0.1, 1e-12);
  assert_near(schedule_rate(&s, 9), 0.01, 1e-12);
  s.kind = SCHEDULE_CONSTANT;
  assert_near(schedule_rate(&s, 9), 1, 1e-12);
  assert_near(schedule_ramp(4, 1), 0.25, 1e-12);
  assert_near(schedule_ramp(4, 5), 1, 1e-12);
  assert_near(schedule_ramp(0, 0), 1, 1e-12);
}

/* Where q goes with this lambda: to delta = 0.05 at "rest". */
static double follow(double lambda, double rest)
{
  return 0.05 * pow(rest / (lambda + rest / 100), 2);
}

/* A penalty that follows lambda with some delay, and with noise, has the mean delta: from any start, and whatever
 * lambda it takes. */
static void dual_ascent_settles_at_delta(void **state)
{
  (void)state;
  for (int k = 0; k < 12; k++) {
    double rest = (const double[]){0.2, 0.01, 0.001}[k / 4], q = 8, sum_q = 0, sum_lambda = 0;
    struct dual d = dual_begin(0.05, 0.02, (const double[]){0, 0.01, 0.1, 1}[k % 4]);
    for (int n = 0; n < 8000; n++) {
      double noise = exp(0.5 * sin(1.7 * n));
      dual_step(&d, q * noise, fmin(n / 1000., 1));
      q *= exp(0.05 * (log(follow(d.lambda, rest)) - log(q)));
      assert_true(d.lambda >= 0 && d.lambda <= 1);
      if (n >= 4000) sum_q += q * noise, sum_lambda += d.lambda;
    }
    assert_near(sum_q / 4000, 0.05, 0.005);
    assert_near(sum_lambda / 4000, rest, 0.4 * rest);
  }
}

/* A penalty that does not move must not cost the net what it has learned. */
static void the_guard_lets_the_net_learn(void **state)
{
  (void)state;
  double chance = log(2), learned = 0.2, form = log1p(700 / 0.1);
  struct guard g = guard_begin(chance);
  assert_near(guard_factor(&g, OF(1, 0)), 0, 0); /* nothing was learned yet */
  for (int n = 0; n < 100; n++) guard_step(&g, chance - learned, OF(form, 0));
  assert_near(guard_factor(&g, OF(1, 0)) * form, learned / 2, 1e-9);
  assert_near(guard_factor(&g, OF(1e-3, 0)), 1, 0);
  g.form[1] = 3 * form;
  assert_near(guard_factor(&g, OF(1, 2)) * 7 * form, learned / 2, 1e-9);
  g.share = 0.25;
  assert_near(guard_factor(&g, OF(1, 2)) * 7 * form, learned / 4, 1e-9);
  for (int n = 0; n < 200; n++) guard_step(&g, chance + 0.01, OF(form, 0)); /* it has forgotten everything */
  assert_near(guard_factor(&g, OF(1, 0)), 0, 1e-12);
  g = guard_begin(chance);
  guard_step(&g, 0.5, OF(4, 1));
  guard_step(&g, 0.1, OF(2, 3));
  assert_near(g.data, 0.3, 1e-12);
  assert_near(g.form[0], 3, 1e-12);
  assert_near(g.form[1], 2, 1e-12);
}

/* A net that hovers at chance has learned nothing, however lucky its batches. */
static void the_guard_knows_luck(void **state)
{
  (void)state;
  double chance = log(2);
  for (int k = 0; k < 2; k++) {
    double noise = k ? 0.1 : 0.4, most = 0;
    struct guard g = guard_begin(chance);
    for (int n = 0; n < 2000; n++) {
      guard_step(&g, chance - 0.03 + noise * (n % 2 ? 1 : -1), OF(10, 0));
      if (n >= 20) most = fmax(most, guard_factor(&g, OF(1, 0)));
    }
    assert_near(most, 0, 0);
    for (int n = 0; n < 100; n++) guard_step(&g, chance - 0.1 + noise * (n % 2 ? 1 : -1), OF(10, 0));
    assert_int_equal(guard_factor(&g, OF(1, 0)) > 0, k); /* 3 se are 0.27 and 0.07 */
  }
  struct guard g = guard_begin(chance);
  for (int n = 0; n < 3; n++) guard_step(&g, (const double[]){0.7, 0.6, 0.65}[n], OF(10, 0));
  assert_near(g.noise, (0.01 + 0.0025) / 2 / 2, 1e-12);
  g = guard_begin(2.3); /* a loss that falls is not noise: what is learned counts within a short run */
  for (int n = 0; n < 5; n++) guard_step(&g, 2.3 - 0.2 * n + (n % 2 ? 0.02 : -0.02), OF(1e-3, 0));
  assert_near(guard_factor(&g, OF(1, 0)), 1, 0);
}

static void dual_steps_by_hand(void **state)
{
  (void)state;
  struct dual d = dual_begin(1, 0.5, 0);
  dual_step(&d, 16, 0);
  assert_near(d.lambda, 0, 1e-12);             /* the target begins at the first q */
  assert_near(dual_target(&d, 0.5), 8, 1e-12); /* 4 is due, but half of q is as much as is asked for */
  d.q = 6;
  assert_near(dual_target(&d, 0.5), 4, 1e-12);
  assert_near(dual_target(&d, 1), 3, 1e-12);
  d.seen = 19, d.q = 0;
  dual_step(&d, 1.5, 1);
  assert_near(d.lambda, 0.5 * 0.5 * 0.003, 1e-12);
  assert_near(d.q, 1.5 / 20, 1e-12);
  d.q = 1, d.lambda = 0.1;
  dual_step(&d, 1, 1);
  assert_near(d.lambda, 0.1, 1e-12);
  dual_step(&d, 0, 1);
  assert_near(d.lambda, 0.1 - 0.5 * 0.103, 1e-12);
  d.lambda = 0.001;
  dual_step(&d, 0, 1);
  assert_near(d.lambda, 0, 1e-12);
  d.q = 1, d.lambda = 0.1;
  dual_step(&d, 5, 1);
  assert_near(d.lambda, 0.1 + 0.5 * 2 * 0.103, 1e-12); /* moves are limited */
  d.q = 1, d.lambda = 0.9;
  dual_step(&d, 4, 1);
  assert_near(d.lambda, 1, 1e-12);
  assert_near(dual_begin(1, 0.5, 0.3).lambda, 0.3, 1e-12);
  assert_near(dual_begin(1, 0.5, 7).lambda, 1, 1e-12);
  d = dual_begin(1, 0.5, 0);
  dual_step(&d, 0.1, 0); /* a small first q asks for no less than delta */
  assert_near(dual_target(&d, 0), 1, 1e-12);
}

/* Three answers in a row, another, several. */
static void pulse_by_hand(void **state)
{
  (void)state;
  struct pulse p = {0};
  const int64_t answer[] = {2, 2, 2, 0, PULSE_SEVERAL, PULSE_SEVERAL, 0}, batches[] = {1, 2, 3, 1, 0, 0, 1};
  for (size_t k = 0; k < sizeof answer / sizeof *answer; k++) {
    pulse_beat(&p, answer[k]);
    assert_int_equal(p.batches, batches[k]);
  }
  assert_int_equal(pulse_of((const int32_t[]){3, 3, 3}, 3), 3);
  assert_int_equal(pulse_of((const int32_t[]){3, 3, 1}, 3), PULSE_SEVERAL);
  assert_int_equal(pulse_of(NULL, 0), PULSE_SEVERAL);
  assert_int_equal(pulse_of((const int32_t[]){-2, -2}, 2), PULSE_SEVERAL); /* no answers: see predict.h */
}

/* 3 examples of class 0, 1 of class 1: - 3/4 log 3/4 - 1/4 log 1/4; with weights 1 and 3 both weigh the same. */
static void chance_by_hand(void **state)
{
  (void)state;
  struct column *v = column_new(&floats_column, R4_SHAPE(1), 4, NULL);
  r4_data *d = data_new(4, v, NULL);
  d->record[2].label = 1;
  names_add(d->classes, "a", NULL, NULL);
  names_add(d->classes, "b", NULL, NULL);
  assert_int_equal(data_finish(d, "test", NULL), R4_OK);
  assert_near(pulse_chance(d, NULL, NULL), -0.75 * log(0.75) - 0.25 * log(0.25), 1e-12);
  assert_near(pulse_chance(d, (const double[]){1, 3}, NULL), 6. / 4 * log(2), 1e-12);
  assert_near(pulse_chance(d, NULL, (const double[]){2, 6}), 12. / 4 * log(2), 1e-12); /* groups: the classes */
  r4_data_free(d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(schedules_by_hand),
    cmocka_unit_test(dual_ascent_settles_at_delta),
    cmocka_unit_test(the_guard_lets_the_net_learn),
    cmocka_unit_test(the_guard_knows_luck),
    cmocka_unit_test(dual_steps_by_hand),
    cmocka_unit_test(pulse_by_hand),
    cmocka_unit_test(chance_by_hand),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("steering", tests, NULL, NULL);
}
