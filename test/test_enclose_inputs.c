/* What r4_enclose is given: an input that is no set of numbers is refused by its name, element and both ends, and never
 * called a defect of r4; a half-line is a set. */
#include <math.h>
#include <string.h>

#include "check.h"

enum { N = 2 };

static r4_id scaled(r4_graph *g, r4_id x)
{
  return r4_scale(g, x, 3);
}

static void assert_refused(double lo, double hi, const char *expected)
{
  r4_id (*const build[])(r4_graph *, r4_id) = {scaled, r4_exp, r4_square};
  for (size_t k = 0; k < sizeof build / sizeof *build; k++) {
    r4_graph *g = r4_graph_new();
    r4_id y = build[k](g, r4_input(g, "x", R4_SHAPE(N)));
    double from[N] = {0, lo}, to[N] = {1, hi}, a[N], b[N];
    r4_error e = {0};
    r4_status s = r4_enclose(g, y, 1, &(r4_ends){"x", from, to}, R4_SEMANTICS_REAL, a, b, &e);
    if (!s) fail_msg("accepted: [%g, %g]", a[1], b[1]);
    assert_int_equal(s, R4_E_ARGUMENT);
    assert_string_equal(e.text, expected);
    r4_graph_free(g);
  }
}

static void test_empty_sets(void **state)
{
  (void)state;
  assert_refused(2, 1, "enclose: input \"x\": element 1 is from 2 to 1, expected lo <= hi");
  assert_refused(NAN, 1, "enclose: input \"x\": element 1 is from nan to 1, expected lo <= hi");
  assert_refused(1, NAN, "enclose: input \"x\": element 1 is from 1 to nan, expected lo <= hi");
  assert_refused(INFINITY, INFINITY, "enclose: input \"x\": element 1 is from inf to inf, expected lo <= hi");
  assert_refused(-INFINITY, -INFINITY, "enclose: input \"x\": element 1 is from -inf to -inf, expected lo <= hi");
}

static void test_single_values(void **state)
{
  (void)state;
  r4_graph *g = r4_graph_new();
  r4_id y = r4_square(g, r4_input(g, "x", R4_SHAPE(N)));
  double x[N] = {1, NAN}, a[N], b[N];
  r4_error e = {0};
  assert_int_equal(r4_enclose(g, y, 1, &(r4_ends){"x", x, x}, R4_SEMANTICS_REAL, a, b, &e), R4_E_ARGUMENT);
  assert_string_equal(e.text, "enclose: input \"x\": element 1 is from nan to nan, expected lo <= hi");
  r4_graph_free(g);
}

static void test_half_lines(void **state)
{
  (void)state;
  r4_graph *g = r4_graph_new();
  r4_id x = r4_input(g, "x", R4_SHAPE(N)), y = r4_relu(g, r4_neg(g, x));
  double from[N] = {0, -INFINITY}, to[N] = {INFINITY, INFINITY}, a[N], b[N];
  assert_int_equal(r4_enclose(g, y, 1, &(r4_ends){"x", from, to}, R4_SEMANTICS_REAL, a, b, NULL), R4_OK);
  for (size_t k = 0; k < N; k++) assert_true(a[k] <= 0 && b[k] >= 0);
  assert_true(b[1] == INFINITY);
  r4_graph_free(g);
}

static void test_names(void **state)
{
  (void)state;
  r4_graph *g = r4_graph_new();
  r4_id y = r4_square(g, r4_input(g, "x", R4_SCALAR));
  double one = 1, two = 2, a, b;
  r4_error e = {0};
  const r4_ends twice[] = {{"x", &one, &two}, {"x", &one, &one}}, other[] = {{"z", &one, &two}};
  assert_int_equal(r4_enclose(g, y, 2, twice, R4_SEMANTICS_REAL, &a, &b, &e), R4_E_ARGUMENT);
  assert_string_equal(e.text, "enclose: input \"x\" is given twice");
  assert_int_equal(r4_enclose(g, y, 1, other, R4_SEMANTICS_REAL, &a, &b, &e), R4_E_ARGUMENT);
  assert_string_equal(e.text, "enclose: the graph has no input \"z\"");
  assert_int_equal(r4_enclose(g, y, 0, NULL, R4_SEMANTICS_REAL, &a, &b, &e), R4_E_ARGUMENT);
  assert_string_equal(e.text, "enclose: input \"x\" has no values");
  r4_graph_free(g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_empty_sets), cmocka_unit_test(test_single_values),
                                     cmocka_unit_test(test_half_lines), cmocka_unit_test(test_names)};
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("enclose inputs", tests, NULL, NULL);
}
