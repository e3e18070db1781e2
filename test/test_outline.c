/* Outlines on a grid: polygons against a test of every pixel, runs against their definition. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "picture/outline.h"

enum { H = 9, W = 11 };

static const double one[2] = {1, 1};

static struct outline_report draw_polygon(size_t n, const double *point, const double scale[2],
                                          uint8_t mask[H * W])
{
  struct outline_report report = {0};
  memset(mask, 0, H * W);
  assert_int_equal(outline_polygon(n, point, scale, H, W, mask, &report, NULL), R4_OK);
  return report;
}

static void expect(const uint8_t mask[H * W], const char *rows)
{
  for (int k = 0; k < H * W; k++) {
    assert_true(mask[k] == 0 || mask[k] == 255);
    if ((rows[k] == '#') != (mask[k] == 255)) fail_msg("pixel %d, %d is %d", k % W, k / W, mask[k]);
  }
}

static void boxes_have_whole_pixels(void **state)
{
  (void)state;
  uint8_t mask[H * W];
  const double box[] = {2, 1, 5, 1, 5, 3, 2, 3};
  struct outline_report r = draw_polygon(4, box, one, mask);
  expect(mask, "..........."
               "..###......"
               "..###......"
               "..........."
               "..........."
               "..........."
               "..........."
               "..........."
               "...........");
  assert_true(!r.outside && !r.nothing);
  const double half[] = {1, .5, 2.5, .5, 2.5, 1.5, 1, 1.5};
  draw_polygon(4, half, (double[]){2, 2}, mask); /* the same box, measured in half the size */
  assert_int_equal(mask[1 * W + 2], 255);
  assert_int_equal(mask[2 * W + 4], 255);
  assert_int_equal(mask[3 * W + 4], 0);
}

/* Two boxes in one line cross out what they share; outlines of their own are united. */
static void shapes_with_holes(void **state)
{
  (void)state;
  uint8_t mask[H * W];
  const double ring[] = {0, 0, 7, 0, 7, 7, 0, 7, 0, 0, 2, 2, 2, 5, 5, 5, 5, 2, 2, 2};
  draw_polygon(10, ring, one, mask);
  expect(mask, "#######...."
               "#######...."
               "##...##...."
               "##...##...."
               "##...##...."
               "#######...."
               "#######...."
               "..........."
               "...........");
  struct outline_report r = {0};
  const double box[] = {1, 1, 6, 1, 6, 6, 1, 6};
  assert_int_equal(outline_polygon(4, box, one, H, W, mask, &r, NULL), R4_OK);
  assert_int_equal(mask[3 * W + 3], 255);
  assert_int_equal(mask[0], 255);
}

static void what_is_outside_is_cut(void **state)
{
  (void)state;
  uint8_t mask[H * W];
  const double large[] = {-50, -50, 1000, -50, 1000, 2, -50, 2};
  struct outline_report r = draw_polygon(4, large, one, mask);
  assert_true(r.outside && !r.nothing);
  for (int k = 0; k < H * W; k++) assert_int_equal(mask[k], k < 2 * W ? 255 : 0);
  const double away[] = {-9, -9, -3, -9, -3, -3};
  r = draw_polygon(3, away, one, mask);
  assert_true(r.outside && r.nothing);
  const double edge[] = {-.5, 0, W + .9, 0, W + .9, H, -.5, H}; /* a pixel is nothing to talk about */
  r = draw_polygon(4, edge, one, mask);
  assert_true(!r.outside && !r.nothing);
  const double thin[] = {3.1, 0, 3.2, 0, 3.2, 8, 3.1, 8};
  assert_true(draw_polygon(4, thin, one, mask).nothing);
  const double huge[] = {-1e9, -1e9, 1e9, -1e9, 1e9, 1e9, -1e9, 1e9};
  r = draw_polygon(4, huge, one, mask);
  assert_true(r.outside && mask[0] == 255 && mask[H * W - 1] == 255);
}

/* A ray to the left of the centre crosses the edges an odd number of times. */
static bool is_inside(size_t n, const double *p, double x, double y)
{
  bool inside = false;
  for (size_t k = 0; k < n; k++) {
    const double *a = p + 2 * k, *b = p + 2 * ((k + 1) % n);
    if ((a[1] <= y) == (b[1] <= y)) continue;
    if (a[0] + (y - a[1]) * (b[0] - a[0]) / (b[1] - a[1]) <= x) inside = !inside;
  }
  return inside;
}

static void random_polygons(void **state)
{
  (void)state;
  draw_start(51, 0);
  for (int round = 0; round < 3000; round++) {
    double point[2 * 9];
    uint8_t mask[H * W];
    size_t n = 3 + draw_below(7);
    for (size_t k = 0; k < 2 * n; k++) point[k] = draw(-4, 15);
    draw_polygon(n, point, one, mask);
    for (int k = 0; k < H * W; k++)
      if ((mask[k] == 255) != is_inside(n, point, k % W + .5, k / W + .5))
        fail_msg("round %d: pixel %d, %d is %d", round, k % W, k / W, mask[k]);
  }
}

static void runs_by_row_and_column(void **state)
{
  (void)state;
  const uint32_t run[] = {1, 3, 2};
  uint8_t mask[6] = {0};
  struct outline_report r = {0};
  assert_int_equal(outline_runs(&(struct runs){2, 3, false, 3, run}, 2, 3, mask, &r, NULL), R4_OK);
  assert_memory_equal(mask, ((uint8_t[]){0, 255, 255, 255, 0, 0}), 6);
  memset(mask, 0, sizeof mask);
  assert_int_equal(outline_runs(&(struct runs){2, 3, true, 3, run}, 2, 3, mask, &r, NULL), R4_OK);
  assert_memory_equal(mask, ((uint8_t[]){0, 255, 0, 255, 255, 0}), 6);
  assert_false(r.nothing);
  uint8_t large[24] = {0}; /* twice the size: every pixel four times */
  assert_int_equal(outline_runs(&(struct runs){2, 3, false, 3, run}, 4, 6, large, &r, NULL), R4_OK);
  for (int k = 0; k < 24; k++)
    assert_int_equal(large[k], ((uint8_t[]){0, 255, 255, 255, 0, 0})[k / 12 * 3 + k % 6 / 2]);
  assert_int_equal(outline_runs(&(struct runs){2, 3, true, 1, (uint32_t[]){6}}, 2, 3, mask, &r, NULL), R4_OK);
  assert_true(r.nothing);
}

static void memory_may_run_out(void **state)
{
  (void)state;
  uint8_t mask[H * W] = {0};
  struct outline_report r = {0};
  r4_error e = {0};
  const double box[] = {2, 1, 5, 1, 5, 3, 2, 3};
  r4_mem_fail_at(1);
  assert_int_equal(outline_polygon(4, box, one, H, W, mask, &r, &e), R4_E_MEMORY);
  r4_mem_fail_at(1);
  assert_int_equal(outline_runs(&(struct runs){2, 3, true, 1, (uint32_t[]){6}}, 2, 3, mask, &r, &e),
                   R4_E_MEMORY);
  r4_mem_fail_at(0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(boxes_have_whole_pixels), cmocka_unit_test(shapes_with_holes),
    cmocka_unit_test(what_is_outside_is_cut),  cmocka_unit_test(random_polygons),
    cmocka_unit_test(runs_by_row_and_column),  cmocka_unit_test(memory_may_run_out)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
