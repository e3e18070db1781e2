/* Places of photos: what cells hold, which of them divide the classes, and which side is named. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "data/data.h"
#include "find/cells.h"
#include "find/divided.h"

/* ---- Cells, by hand ---- */

/* Two images of 8 x 8 cells of 2 x 2 pixels: the first has columns (.8, .2, .4) and (.4, .2, 0), the second one colour.
 * mask: of the first cell of the first image, row after row. */
static r4_data *two_cells(const uint8_t mask[8])
{
  static const float left[3] = {.8f, .2f, .4f}, right[3] = {.4f, .2f, 0};
  static float x[2][16][16][3];
  static uint8_t marked[2][16][16];
  const int32_t label[2] = {0, 1};
  for (size_t k = 0; k < 256; k++) {
    memcpy(x[0][k / 16][k % 16], k % 2 ? right : left, sizeof left);
    memcpy(x[1][k / 16][k % 16], left, sizeof left);
    marked[0][k / 16][k % 16] = k / 16 < 2 && k % 16 < 2 ? mask[k / 16 * 2 + k % 16] : 0;
  }
  const r4_data_arrays a = {.n = 2,
                            .shape = R4_SHAPE(16, 16, 3),
                            .floats = &x[0][0][0][0],
                            .labels = label,
                            .mask_bytes = &marked[0][0][0],
                            .mask_means = R4_MASKS_IRRELEVANT};
  r4_error e = {0};
  r4_data *d = r4_data_new(&a, &e);
  if (!d) fail_msg("%s", e.text);
  return d;
}

static void near(float is, double should)
{
  if (!(fabs((double)is - should) < 1e-6)) fail_msg("%g, expected %g", (double)is, should);
}

/* Lightness 1.4/3 and .6/3: mean 1/3, spread .4/3, across .8/3 for each pair, and down 0. */
static void cells_are_as_by_hand(void **state)
{
  (void)state;
  float pixel[16 * 16 * 3], c[CELL_FLOATS], *one = c;
  r4_data *d = two_cells((uint8_t[8]){0});
  struct grid g = grid_of(d);
  assert_int_equal(g.rows * g.columns, 64);
  cells_of(d, 0, &g, false, pixel, c);
  near(one[CELL_LIGHT], 1. / 3), near(one[CELL_RED_GREEN], .4), near(one[CELL_GREEN_BLUE], 0);
  near(one[CELL_RED_BLUE], .4), near(one[CELL_SATURATION], .5), near(one[CELL_SPREAD], .4 / 3);
  near(one[CELL_ACROSS], .8 / 3), near(one[CELL_DOWN], 0);
  cells_of(d, 1, &g, false, pixel, c);
  near(one[CELL_SPREAD], 0), near(one[CELL_SATURATION], .6);
  r4_data_free(d);

  d = two_cells((uint8_t[8]){1, 0, 0, 0}); /* a quarter is masked: three pixels count, two of them on the right */
  cells_of(d, 0, &g, false, pixel, c);
  near(one[CELL_LIGHT], (1.4 + .6 + .6) / 9), near(one[CELL_RED_BLUE], .4);
  cells_of(d, 0, &g, true, pixel, c);
  near(one[CELL_LIGHT], 1. / 3);
  r4_data_free(d);
  d = two_cells((uint8_t[8]){1, 1, 0, 0});
  cells_of(d, 0, &g, false, pixel, c);
  for (size_t k = 0; k < CELL_FEATURES; k++) assert_true(isnan(c[k]) && !isnan(c[CELL_FEATURES + k]));
  r4_data_free(d);
}

static void places_have_names(void **state)
{
  (void)state;
  double box[4];
  const struct grid g = {16, 16, 3, 8, 8};
  cell_box(&g, 7 * 8 + 5, box);
  assert_true(box[0] == 5. / 8 && box[1] == 7. / 8 && box[2] == 1. / 8 && box[3] == 1. / 8);
  assert_string_equal(box_place(box), "at the bottom right");
  assert_string_equal(box_place((double[4]){0, .45, .1, .1}), "at the left");
  assert_string_equal(box_place((double[4]){0, 0, 1, 1}), "in the middle");
}

/* ---- Divisions ---- */

enum { DIVIDED = 40 };

/* 40 photos, the first 20 of class 0. Three quarters of class 1 and a quarter of class 0 have a large texture, and one
 * lightness; the others' are far apart. J = 3/4 - 1/4. */
static struct division divided(double texture, double other, bool thirds)
{
  static float cells[DIVIDED * CELL_FLOATS];
  int32_t label[DIVIDED];
  float value[DIVIDED];
  struct ranking r;
  for (size_t k = 0; k < DIVIDED; k++) {
    bool planted = k < 20 ? k % 4 == 0 : k % 4 != 0;
    float *c = cells + k * CELL_FLOATS;
    label[k] = thirds ? (int32_t)(k % 3) : k >= 20;
    for (int f = 0; f < CELL_FEATURES; f++) c[f] = planted ? .5f : (float)(k % 5) / 4;
    value[k] = c[CELL_DOWN] = (float)(planted ? texture : other);
  }
  assert_int_equal(ranking_new(&r, DIVIDED, 3, label, NULL), R4_OK);
  ranking_make(&r, value);
  double usual[CELL_FEATURES];
  division_usual(DIVIDED, 1, cells, usual);
  struct division d = division_of(&r, CELL_DOWN, 0, cells, usual);
  ranking_clear(&r);
  return d;
}

static void what_is_there_is_a_side(void **state)
{
  (void)state;
  struct division d = divided(.5, .2, false);
  assert_true(fabs(d.apart - .5) < 1e-12 && division_divides(&d));
  assert_true(d.label[ABOVE] == 1 && d.label[BELOW] == 0);
  assert_int_equal(division_content(&d), ABOVE);
  assert_true(fabs(d.varied[ABOVE]) < 1e-12 && d.varied[BELOW] > 1);
  assert_int_equal(division_absent(&d), 0);
  d = divided(.2, .5, false); /* what is there is smooth */
  assert_true(d.label[ABOVE] == 0 && d.label[BELOW] == 1);
  assert_int_equal(division_content(&d), BELOW);
  assert_int_equal(division_absent(&d), 0);
  d = divided(.5, .2, true); /* three classes */
  assert_true(d.tried && d.apart == 0);
  assert_false(division_divides(&d));
  d = (struct division){.label = {1, 0}, .varied = {.1, .4}}; /* either side has something of its own */
  assert_int_equal(division_absent(&d), -1);
  d.varied[BELOW] = .6;
  assert_int_equal(division_absent(&d), 0);
}

/* ---- Photos ---- */

enum { N = 600, SIDE = 32, PIXELS = SIDE * SIDE, STAMP = 8 };

struct photos {
  uint8_t pixel[N][SIDE][SIDE][3];
  int32_t label[N];
};

/* Photos of one colour each, with noise; 85 % of class 1 and 13 % of class 0 have stripes of red and white, a stamp, at
 * the bottom right. */
static struct photos *stamped_photos(bool *stamped)
{
  struct photos *p = calloc(1, sizeof *p);
  assert_non_null(p);
  draw_start(5, 0);
  for (size_t i = 0; i < N; i++) {
    size_t base[3] = {draw_below(200), draw_below(200), draw_below(200)};
    p->label[i] = i % 2;
    stamped[i] = draw_below(100) < (i % 2 ? 85 : 13);
    size_t rough = 1 + draw_below(50);
    for (size_t k = 0; k < PIXELS; k++)
      for (size_t c = 0; c < 3; c++) p->pixel[i][k / SIDE][k % SIDE][c] = (uint8_t)(base[c] + draw_below(rough));
    for (size_t k = 0; stamped[i] && k < STAMP * STAMP; k++)
      memcpy(p->pixel[i][SIDE - STAMP + k / STAMP][SIDE - STAMP + k % STAMP],
             k / STAMP % 2 ? (uint8_t[]){245, 245, 235} : (uint8_t[]){180, 20, 30}, 3);
  }
  return p;
}

static r4_data *photos_data(const struct photos *p)
{
  r4_error e = {0};
  const r4_data_arrays a = {
    .n = N, .shape = R4_SHAPE(SIDE, SIDE, 3), .bytes = &p->pixel[0][0][0][0], .labels = p->label};
  r4_data *d = r4_data_new(&a, &e);
  if (!d) fail_msg("%s", e.text);
  return d;
}

static r4_found *scan(const r4_data *d)
{
  r4_error e = {0};
  r4_found *f = r4_find_scan(d, NULL, &e);
  if (!f) fail_msg("%s", e.text);
  return f;
}

/* The stamp is named, not its absence, which is as telling. */
static void a_stamp_is_named_by_those_that_have_it(void **state)
{
  (void)state;
  bool stamped[N];
  struct photos *p = stamped_photos(stamped);
  r4_data *d = photos_data(p);
  r4_found *f = scan(d);
  r4_clue c = r4_found_at(f, 0);
  size_t right = 0;
  assert_int_equal(c.label, 1);
  assert_non_null(strstr(c.what, "at the bottom right (row "));
  assert_non_null(strstr(c.what, " than the other photos are there; "));
  assert_non_null(strstr(c.what, "(1 are 50 % of all photos)"));
  assert_true(!c.pure && c.local && c.p < 1e-20 && c.shown_on >= 200);
  for (size_t k = 0; k < c.sightings; k++) right += stamped[c.sighting[k].example];
  assert_true(10 * right >= 9 * c.sightings);
  for (size_t k = 0; k < r4_found_count(f); k++) {
    c = r4_found_at(f, k);
    bool there = strstr(c.id, "cell-7-7-") || strstr(c.id, "cell-7-8-") || strstr(c.id, "cell-8-7-") ||
                 strstr(c.id, "cell-8-8-");
    if (there && !c.label) fail_msg("%s", c.what);
  }
  r4_found_free(f);
  r4_data_free(d);
  free(p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(cells_are_as_by_hand),
    cmocka_unit_test(places_have_names),
    cmocka_unit_test(what_is_there_is_a_side),
    cmocka_unit_test(a_stamp_is_named_by_those_that_have_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
