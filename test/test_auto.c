/* lambda: auto: the rule that chooses, on curves that are made up: the score at so many half decades above the method's
 * own lambda, where minus infinity is a lost net. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "optim/auto.h"

typedef double curve(int at);
static double error; /* standard error of all scores */

static double rising(int at)
{
  return 0.5 + 0.02 * at;
}

static double falling(int at)
{
  return 0.5 - 0.02 * at;
}

static double flat(int at)
{
  (void)at;
  return 0.8;
}

static int64_t speaks_from;  /* runs of fewer epochs have learned nothing              */
static bool waits, diverges; /* until then no step has a penalty; a lost net has no loss */

static struct auto_try try_at(struct auto_run run, curve *f, curve *penalty)
{
  bool speaks = run.epochs >= speaks_from;
  double score = speaks ? f(run.at) : 0.2;
  return (struct auto_try){.at = run.at,
                           .score = score,
                           .se = error,
                           .penalty = penalty(run.at),
                           .lost = isinf(score),
                           .learned = score > 0.3,
                           .diverged = diverges && isinf(score),
                           .idle = speaks ? diverges && isinf(score) : waits,
                           .epochs = run.epochs};
}

/* Searches a curve; says where it looked, in order, and what it took: "0 2 -2 1 -1: 1"; "| 4:" before runs of 4
 * epochs, where the first were shorter. */
static const char *search(curve *f, curve *penalty, int64_t epochs)
{
  static char said[300];
  struct auto_try t[AUTO_RUNS];
  struct auto_run run;
  size_t n = 0, length = 0;
  for (; auto_next(t, n, epochs, &run); n++) {
    assert_true(n < AUTO_RUNS);
    t[n] = try_at(run, f, penalty);
    if (n && t[n - 1].epochs != run.epochs)
      length += (size_t)snprintf(said + length, sizeof said - length, " | %lld:", (long long)run.epochs);
    length += (size_t)snprintf(said + length, sizeof said - length, "%s%d", n ? " " : "", run.at);
  }
  size_t taken = auto_choice(t, n);
  if (taken < n)
    snprintf(said + length, sizeof said - length, ": %d", t[taken].at);
  else
    snprintf(said + length, sizeof said - length, ": none");
  return said;
}

static double peak_in_the_middle(int at)
{
  return 0.9 - 0.05 * abs(at);
}

static double peak_between(int at)
{
  return 0.9 - 0.05 * abs(at - 1);
}

static double peak_above(int at)
{
  return 0.9 - 0.05 * abs(at - 3);
}

static double peak_far_below(int at)
{
  return 0.9 - 0.05 * abs(at + 4);
}

/* Falls so slowly that two decades stay within the tolerance of the best. */
static double nearly_flat(int at)
{
  return 0.8 - 0.001 * at;
}

static double dead(int at)
{
  (void)at;
  return -INFINITY;
}

static double dead_from_the_first_on(int at)
{
  return at >= 0 ? -INFINITY : 0.7;
}

static double dead_above(int at)
{
  return at > 0 ? -INFINITY : 0.7;
}

static double no_number(int at)
{
  (void)at;
  return NAN;
}

static double no_number_above(int at)
{
  return at > 1 ? NAN : 0.7;
}

/* 10 epochs: 6 runs of 2; 12 epochs: 5 runs of 3. */
static void test_where_it_looks_and_what_it_takes(void **state)
{
  (void)state;
  static const struct {
    curve *f;
    int64_t epochs;
    const char *expected;
  } cases[] = {
    {peak_in_the_middle, 10, "0 2 -2 1 -1: 0"},
    {peak_in_the_middle, 12, "0 2 -2 1 -1: 0"},
    {peak_between, 10, "0 2 4 -2 3 1: 1"}, /* 0 and 2 tie: nothing says on which side it lies */
    {peak_between, 12, "0 2 4 3 1: 1"},
    {peak_above, 10, "0 2 4 6 5 3: 3"},
    {peak_above, 12, "0 2 4 5 3: 3"},
    {peak_far_below, 10, "0 2 -2 -4 -3 -5: -4"},
    {rising, 10, "0 2 4 6 7 5: 7"},
    {rising, 12, "0 2 4 5 3: 5"},
    {falling, 10, "0 2 -2 -4 -3 -5: -5"},
    {falling, 12, "0 2 -2 -1 -3: -3"},
    {flat, 10, "0 2 4 6 7 5: 7"}, /* all tie: the largest */
    {nearly_flat, 10, "0 2 4 6 5 3: 5"},
    {dead, 10, "0 -2 -4 -6 | 4: 0 -2 -4 -6 | 8: 0: none"},
    {dead, 12, "0 -2 -4 | 6: 0 -2 -4 -6 | 12: 0: none"},
    {dead_from_the_first_on, 10, "0 -2 -4 -1 -3: -1"},
    {dead_above, 10, "0 2 -2 1 -1: 0"},
    {no_number, 10, "0 -2 -4 -6 | 4: 0 -2 -4 -6 | 8: 0: none"},
    {no_number_above, 10, "0 2 -2 1 -1: 1"},
    {peak_in_the_middle, 3, "0 2 1 -1: 0"}, /* 4 runs of 1 */
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const char *got = search(cases[k].f, falling, cases[k].epochs);
    if (strcmp(got, cases[k].expected)) fail_msg("case %zu: %s, expected %s", k, got, cases[k].expected);
  }
}

static double guesses(int at)
{
  return 0.2 - 0.01 * at;
}

static double guesses_the_same(int at)
{
  (void)at;
  return 0.2;
}

static double guesses_from_the_first_on(int at)
{
  return at < -1 ? 0.7 : 0.2;
}

static double dead_or_guesses(int at)
{
  return at < 0 ? 0.2 : -INFINITY;
}

/* There is no way up from nets that have learned nothing, but a way down, and then longer runs. */
static void test_nets_that_guess(void **state)
{
  (void)state;
  assert_string_equal(search(guesses, falling, 10), "0 -2 -4 -6 | 4: 0 -2 -4 -6 | 8: 0: 0");
  assert_string_equal(search(guesses, falling, 12), "0 -2 -4 | 6: 0 -2 -4 -6 | 12: 0: 0");
  assert_string_equal(search(guesses_the_same, flat, 12), "0 -2 -4 | 6: 0 -2 -4 -6 | 12: 0: 0");
  assert_string_equal(search(guesses_from_the_first_on, falling, 10), "0 -2 -4 -1 -3: -2");
  assert_string_equal(search(dead_or_guesses, falling, 12), "0 -2 -4 | 6: 0 -2 -4 -6 | 12: 0: -2");
}

/* From some lambda on the guard holds the penalty back: all larger ones give the same, to the bit. */
static double held_above(int at)
{
  return 0.8 + 0.02 * (at < 2 ? at : 2);
}

static double held_far_below(int at)
{
  return 0.8 + 0.02 * (at < -3 ? at : -3);
}

static void test_lambdas_that_show_nothing(void **state)
{
  (void)state;
  assert_string_equal(search(held_above, held_above, 10), "0 2 4 3 1: 2");
  assert_string_equal(search(flat, held_above, 10), "0 2 4 -2 3 1: 2");
  assert_string_equal(search(flat, held_far_below, 10), "0 2 -2 -4 -1 -3: -3");
  assert_string_equal(search(flat, flat, 10), "0 2 -2 -4 -3 -5: -5");
}

/* One standard error of the best below it is enough, and 0.005 at least. */
static void test_the_choice(void **state)
{
  (void)state;
  struct auto_try t[] = {{.at = 0, .score = 0.8, .penalty = 1, .learned = true},
                         {.at = 2, .score = 0.7955, .penalty = 1, .learned = true},
                         {.at = 4, .score = 0.7945, .penalty = 1, .learned = true},
                         {.at = 6, .score = 1, .penalty = 1, .lost = true, .learned = true}};
  assert_int_equal(auto_choice(t, 4), 1);
  t[1].score = 0.775;
  assert_int_equal(auto_choice(t, 4), 0);
  t[0].se = 0.02; /* what is closer cannot be told apart */
  assert_int_equal(auto_choice(t, 4), 2);
  t[0].se = 0.03;
  t[2].score = 0.6;
  assert_int_equal(auto_choice(t, 4), 1);
  t[2].score = 0.7945;
  t[0].lost = true;
  assert_int_equal(auto_choice(t, 4), 2);
  t[2].score = NAN;
  assert_int_equal(auto_choice(t, 4), 1);
  t[1].lost = t[2].lost = true;
  assert_int_equal(auto_choice(t, 4), 4);
  assert_int_equal(auto_choice(t, 0), 0);
}

/* Longer runs where short ones are too short; and only these count. */
static void test_runs_that_are_too_short(void **state)
{
  (void)state;
  waits = true;
  speaks_from = 4;
  assert_string_equal(search(peak_in_the_middle, falling, 10), "0 | 4: 0 2 -2 1 -1: 0");
  speaks_from = 8;
  assert_string_equal(search(rising, falling, 10), "0 | 4: 0 | 8: 0 2 3 1: 3");
  speaks_from = 10;
  assert_string_equal(search(rising, falling, 10), "0 | 4: 0 | 8: 0 | 10: 0 1: 1");
  speaks_from = 11;
  assert_string_equal(search(rising, falling, 10), "0 | 4: 0 | 8: 0 | 10: 0: 0");
  waits = false;
  speaks_from = 6;
  assert_string_equal(search(peak_in_the_middle, falling, 12), "0 -2 -4 | 6: 0 2 -2 1 -1: 0");
  speaks_from = 0;
}

/* More epochs do not help a loss that is no number. */
static void test_losses_that_are_no_numbers(void **state)
{
  (void)state;
  diverges = true;
  assert_string_equal(search(dead, falling, 10), "0 -2 -4 -6: none");
  assert_string_equal(search(dead, falling, 12), "0 -2 -4: none");
  assert_string_equal(search(dead_or_guesses, falling, 12), "0 -2 -4 | 6: 0 -2 -4 -6 | 12: 0: -2");
  diverges = false;
}

/* Whatever is not learned, and whenever: 4 E epochs, and room for all runs. */
static void test_the_budget_of_longer_runs(void **state)
{
  (void)state;
  for (int64_t epochs = AUTO_EPOCHS; epochs < 300; epochs++)
    for (speaks_from = 1; speaks_from <= epochs + 1; speaks_from++) {
      struct auto_try t[AUTO_RUNS];
      struct auto_run run;
      int64_t spent = 0, longest = 0;
      waits = speaks_from % 2;
      for (size_t n = 0; auto_next(t, n, epochs, &run); n++) {
        assert_true(n < AUTO_RUNS);
        t[n] = try_at(run, peak_above, falling);
        assert_true(run.epochs >= longest && run.epochs <= epochs);
        longest = run.epochs;
        spent += longest;
      }
      assert_true(spent <= 4 * epochs);
    }
  speaks_from = 0;
  waits = false;
}

/* A quarter of the epochs, 6 runs at most, and a fifth of 7 E in all, whatever E is. */
static void test_the_budget(void **state)
{
  (void)state;
  for (int64_t epochs = AUTO_EPOCHS; epochs < 1000; epochs++) {
    int64_t each = auto_epochs(epochs), runs = (int64_t)auto_budget(epochs);
    assert_true(each == (epochs < 4 ? 1 : epochs / 4));
    assert_true(runs >= 4 && runs <= 6);
    assert_true(5 * each * runs <= 7 * epochs);
  }
  assert_int_equal(auto_budget(12), 5);
  assert_int_equal(auto_budget(10), 6);
}

static void test_lambdas_have_three_digits(void **state)
{
  (void)state;
  assert_true(auto_lambda(0.1, 0) == 0.1);
  assert_true(auto_lambda(0.1, 1) == 0.316);
  assert_true(auto_lambda(10, -1) == 3.16);
  assert_true(auto_lambda(10, 4) == 1000);
  assert_true(auto_lambda(10, 7) == 31600);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_where_it_looks_and_what_it_takes),
    cmocka_unit_test(test_nets_that_guess),
    cmocka_unit_test(test_lambdas_that_show_nothing),
    cmocka_unit_test(test_the_choice),
    cmocka_unit_test(test_runs_that_are_too_short),
    cmocka_unit_test(test_losses_that_are_no_numbers),
    cmocka_unit_test(test_the_budget_of_longer_runs),
    cmocka_unit_test(test_the_budget),
    cmocka_unit_test(test_lambdas_have_three_digits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
