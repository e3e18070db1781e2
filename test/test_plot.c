/* Plots: places and ticks by hand, gaps, names that look like markup, heat maps, and every allocation that fails. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "report/plot/plot.h"

static char *drawn(r4_plot *p)
{
  char *svg = r4_plot_svg(p);
  r4_plot_free(p);
  assert_non_null(svg);
  return svg;
}

static void assert_has(const char *svg, const char *part)
{
  if (!strstr(svg, part)) fail_msg("\"%s\" is not in:\n%s", part, svg);
}

static size_t count(const char *s, const char *part)
{
  size_t n = 0;
  for (; (s = strstr(s, part)); s += strlen(part)) n++;
  return n;
}

/* The panel of a plot without a title is 260 x 190 pixels at (64, 30). */
static void lines_are_where_they_belong(void **state)
{
  (void)state;
  const double x[] = {0, 50, 100}, y[] = {0, 0.5, 1}, sd[] = {0.1, 0.1, 0.1};
  r4_plot *p = r4_plot_new(NULL, 1);
  r4_plot_panel(p, "a < b & c", "share", "worst");
  r4_plot_range(p, 'x', 0, 100);
  r4_plot_range(p, 'y', 0, 1);
  r4_plot_line(p, "Cert-R4", 3, x, y, sd);
  char *svg = drawn(p);
  assert_has(svg, "<path fill=\"none\" stroke=\"#bd4408\" stroke-width=\"2.25\" stroke-dasharray=\"none\" "
                  "d=\"M64.0 220.0L194.0 125.0L324.0 30.0\"/>");
  assert_has(svg, "<path fill=\"#bd4408\" fill-opacity=\"0.16\" "
                  "d=\"M64.0 220.0L194.0 144.0L324.0 49.0L324.0 30.0L194.0 106.0L64.0 201.0Z\"/>");
  assert_has(svg, "a &lt; b &amp; c");
  assert_has(svg, ">Cert-R4</text>");
  assert_has(svg, ">0.8</text>");
  assert_int_equal(count(svg, "<circle"), 4); /* one in the legend */
  r4_string_free(svg);
}

static void what_cannot_be_shown_is_a_gap(void **state)
{
  (void)state;
  const double x[] = {1, 2, 3, 4, 5}, y[] = {1, 0, 10, INFINITY, 100};
  r4_plot *p = r4_plot_new("gaps", 1);
  r4_plot_panel(p, NULL, NULL, NULL);
  r4_plot_log(p, 'y');
  r4_plot_range(p, 'x', 1, 5);
  r4_plot_line(p, NULL, 5, x, y, NULL);
  char *svg = drawn(p);
  assert_has(svg, "\"M64.0 246.0M194.0 151.0M324.0 56.0\""); /* a row of title: 26 pixels further down */
  assert_int_equal(count(svg, "<circle"), 3);              /* no name: no legend */
  assert_null(strstr(svg, "nan"));
  r4_string_free(svg);
}

static void ticks_are_round(void **state)
{
  (void)state;
  static const struct {
    struct scale s;
    size_t n;
    double first, last;
  } sample[] = {
    {{false, 0, 1, 1}, 6, 0, 1},          {{false, 17, 102, 1}, 5, 20, 100},
    {{true, 1e-4, 1e4, 1}, 5, 1e-4, 1e4}, {{true, 1, 100, 1}, 3, 1, 100},
    {{true, 2, 8, 1}, 7, 2, 8},           {{false, -3e-7, 3e-7, 1}, 7, -3e-7, 3e-7},
    {{true, 1e-300, 1e300, 1}, 6, 0, 0},
  };
  for (size_t k = 0; k < sizeof sample / sizeof *sample; k++) {
    double tick[SCALE_TICKS];
    size_t n = scale_ticks(&sample[k].s, tick);
    assert_int_equal(n, sample[k].n);
    if (sample[k].last == 0) continue;
    assert_true(fabs(tick[0] - sample[k].first) <= 1e-9 * fabs(sample[k].s.high));
    assert_true(fabs(tick[n - 1] - sample[k].last) <= 1e-9 * fabs(sample[k].s.high));
  }
}

static void heat_maps_have_cells(void **state)
{
  (void)state;
  static const char *const column[] = {"0 %", "100 %"}, *const row[] = {"none", "much", "\x1b[31m"};
  const double value[] = {1, 2, 3, NAN, 5, 1234.5};
  r4_plot *p = r4_plot_new("heat", 3);
  r4_plot_panel(p, "R3", "masks", "decay");
  r4_plot_names(p, 'x', 2, column);
  r4_plot_names(p, 'y', 3, row);
  r4_plot_range(p, 'y', 1, 5);
  r4_plot_heat(p, value);
  char *svg = drawn(p);
  assert_has(svg, "x=\"64.0\" y=\"56.0\" width=\"129.0\" height=\"62.3\" fill-opacity=\"0.030\"/>");
  assert_has(svg, "<text x=\"259.0\" y=\"155.0\" text-anchor=\"middle\">-</text>");
  assert_int_equal(count(svg, "<rect fill=\"#0b63c4\""), 5);
  assert_int_equal(count(svg, "fill-opacity=\"0.450\""), 2); /* beyond the range: as its end */
  assert_has(svg, ">1234</text>");
  assert_has(svg, "y=\"91.7\" text-anchor=\"end\">none</text>"); /* rows from the top */
  assert_has(svg, "\\x1b[31m");
  r4_string_free(svg);
}

/* More names than an axis of numbers has ticks. */
static void every_name_is_there(void **state)
{
  (void)state;
  enum { NAMES = 3 * SCALE_TICKS + 1 };
  static const char *const words[] = {"a", "b", "c"};
  const char *name[NAMES];
  double x[NAMES];
  for (size_t k = 0; k < NAMES; k++) name[k] = words[k % 3], x[k] = (double)k;
  r4_plot *p = r4_plot_new("names", 1);
  r4_plot_panel(p, "panel", "x", "y");
  r4_plot_points(p, "points", NAMES, x, x);
  r4_plot_names(p, 'x', NAMES, name);
  char *svg = drawn(p);
  assert_int_equal(count(svg, ">a</text>"), SCALE_TICKS + 1);
  assert_int_equal(count(svg, ">b</text>") + count(svg, ">c</text>"), 2 * SCALE_TICKS);
  r4_string_free(svg);
}

/* Three panels, two beside each other; a name has one colour and one line in the legend. */
static r4_plot *three(void)
{
  const double x[] = {1, 2}, y[] = {3, 4}, sd[] = {1, 1};
  static const char *const name[] = {"a", "b"};
  r4_plot *p = r4_plot_new("three", 2);
  for (int k = 0; k < 3; k++) {
    r4_plot_panel(p, "panel", "x", "y");
    r4_plot_line(p, "first", 2, x, y, sd);
    r4_plot_names(p, 'x', 2, name);
    r4_plot_points(p, "second", 2, x, y);
  }
  r4_plot_names(p, 'y', 2, name);
  r4_plot_heat(p, (const double[]){1, 2, 3, 4});
  return p;
}

static void names_have_one_colour(void **state)
{
  (void)state;
  char *svg = drawn(three());
  assert_int_equal(count(svg, ">first</text>"), 1);
  assert_int_equal(count(svg, "stroke=\"#bd4408\""), 4);
  assert_has(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"680\" height=\"588\"");
  assert_int_equal(count(svg, "<text"), count(svg, "</text>"));
  r4_string_free(svg);
}

static void allocations_may_fail(void **state)
{
  (void)state;
  r4_mem_fail_at(0);
  r4_string_free(drawn(three()));
  long all = r4_mem_count();
  assert_true(all > 40);
  for (long n = 1; n <= all; n++) {
    r4_mem_fail_at(n);
    r4_plot *p = three();
    char *svg = r4_plot_svg(p);
    r4_mem_fail_at(0);
    assert_null(svg);
    r4_plot_free(p);
  }
}

static void nothing_is_a_figure_too(void **state)
{
  (void)state;
  r4_string_free(drawn(r4_plot_new("nothing", 0)));
  r4_plot *p = r4_plot_new(NULL, 1);
  r4_plot_heat(p, NULL);
  r4_plot_line(p, "empty", 0, NULL, NULL, NULL);
  const double same[] = {5, 5};
  r4_plot_points(p, "one place", 2, same, same);
  char *svg = drawn(p);
  assert_null(strstr(svg, "nan"));
  r4_string_free(svg);
  assert_null(r4_plot_svg(NULL));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(lines_are_where_they_belong),
    cmocka_unit_test(what_cannot_be_shown_is_a_gap),
    cmocka_unit_test(ticks_are_round),
    cmocka_unit_test(heat_maps_have_cells),
    cmocka_unit_test(every_name_is_there),
    cmocka_unit_test(names_have_one_colour),
    cmocka_unit_test(allocations_may_fail),
    cmocka_unit_test(nothing_is_a_figure_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
