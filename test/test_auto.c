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

/* Searches a curve; says where it looked, in order, and what it took: "0 2 -2 1 -1: 1". */
static const char *search(curve *f, curve *penalty, int64_t epochs)
{
  static char said[200];
  struct auto_try t[AUTO_RUNS];
  size_t n = 0, length = 0;
  for (int at; auto_next(t, n, auto_budget(epochs), &at); n++) {
    assert_true(n < AUTO_RUNS);
    double score = f(at);
    t[n] = (struct auto_try){.at = at,
                             .score = score,
                             .se = error,
                             .penalty = penalty(at),
                             .lost = isinf(score),
                             .learned = score > 0.3};
    length += (size_t)snprintf(said + length, sizeof said - length, "%s%d", n ? " " : "", at);
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
    {dead, 10, "0 -2 -4 -6: none"},
    {dead, 12, "0 -2 -4: none"},
    {dead_from_the_first_on, 10, "0 -2 -4 -1 -3: -1"},
    {dead_above, 10, "0 2 -2 1 -1: 0"},
    {no_number, 10, "0 -2 -4 -6: none"},
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

/* There is no way up from nets that have learned nothing, but a way down. */
static void test_nets_that_guess(void **state)
{
  (void)state;
  assert_string_equal(search(guesses, falling, 10), "0 -2 -4 -6: -6");
  assert_string_equal(search(guesses, falling, 12), "0 -2 -4: -4");
  assert_string_equal(search(guesses_the_same, flat, 12), "0 -2 -4: 0");
  assert_string_equal(search(guesses_from_the_first_on, falling, 10), "0 -2 -4 -1 -3: -2");
  assert_string_equal(search(dead_or_guesses, falling, 12), "0 -2 -4: -2");
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
  struct auto_try t[] = {{0, 0.8, 0, 1, false, true},
                         {2, 0.7955, 0, 1, false, true},
                         {4, 0.7945, 0, 1, false, true},
                         {6, 1, 0, 1, true, true}};
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
    cmocka_unit_test(test_the_budget),
    cmocka_unit_test(test_lambdas_have_three_digits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
