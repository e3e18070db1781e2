/* Text on pictures: what fits is written whole, what does not ends with dots, and nothing is drawn outside. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "picture/canvas.h"

enum { SIDE = 64, GUARD = 512 };

static const uint8_t black[3] = {0, 0, 0};
static uint8_t around[GUARD + SIDE * SIDE * 3 + GUARD];
static struct image on = {SIDE, SIDE, 3, around + GUARD};

static void clear(void)
{
  memset(around, 255, sizeof around);
}

static bool is_ink(size_t x, size_t y)
{
  return on.pixel[(y * SIDE + x) * 3] < 255;
}

/* The columns from .. to end with ink. */
static size_t inked(size_t from, size_t end)
{
  size_t n = 0;
  for (size_t x = from; x < end; x++) {
    bool any = false;
    for (size_t y = 0; y < SIDE; y++) any |= is_ink(x, y);
    n += any;
  }
  return n;
}

static void test_width(void **state)
{
  (void)state;
  assert_int_equal(canvas_text_width("", &font_small), 0);
  assert_int_equal(canvas_text_width("HH", &font_small), 2 * canvas_text_width("H", &font_small));
  assert_true(canvas_text_width("i", &font_small) < canvas_text_width("W", &font_small));
  assert_true(canvas_text_width("H", &font_small) < canvas_text_width("H", &font_large));
  /* one letter for each code point; what the font has not, and a byte that is not UTF-8, is a question mark */
  assert_int_equal(canvas_text_width("\xc3\xa4", &font_small), canvas_text_width("a", &font_small));
  assert_int_equal(canvas_text_width("\xe4\xb8\xad", &font_small), canvas_text_width("?", &font_small));
  assert_int_equal(canvas_text_width("\xff", &font_small), canvas_text_width("?", &font_small));
}

/* A capital is as high as the font says, and stands where it was put. */
static void test_place(void **state)
{
  (void)state;
  clear();
  canvas_text(&on, 10, 20, &font_large, SIDE, black, "I");
  size_t top = SIDE, bottom = 0;
  for (size_t y = 0; y < SIDE; y++)
    for (size_t x = 0; x < SIDE; x++)
      if (is_ink(x, y)) top = y < top ? y : top, bottom = y;
  assert_int_equal(top, 20);
  assert_int_equal(bottom, 20 + font_large.height - 1);
  assert_int_equal(inked(0, 11), 0); /* a letter has some room of its own at its left */
  assert_true(inked(11, 10 + canvas_text_width("I", &font_large)) > 0);
  assert_int_equal(inked(10 + canvas_text_width("I", &font_large), SIDE), 0);
}

/* An umlaut has ink where the letter without has none: above. */
static void test_latin1(void **state)
{
  (void)state;
  clear();
  canvas_text(&on, 4, 20, &font_large, SIDE, black, "\xc3\x84");
  size_t above = 0;
  for (size_t y = 0; y < 20; y++)
    for (size_t x = 0; x < SIDE; x++) above += is_ink(x, y);
  assert_true(above > 0);
}

static void test_cut(void **state)
{
  (void)state;
  size_t room = canvas_text_width("WWW", &font_small);
  clear();
  canvas_text(&on, 2, 20, &font_small, room, black, "WWW");
  size_t whole = inked(0, SIDE);
  clear();
  canvas_text(&on, 2, 20, &font_small, room, black, "WWWWWWWW");
  assert_int_equal(inked(2 + room, SIDE), 0);
  assert_true(inked(0, SIDE) < whole);
  assert_true(inked(0, SIDE) > 2); /* not nothing, and not the dots alone */
  clear();
  canvas_text(&on, 2, 20, &font_small, 1, black, "WWW"); /* no room for dots, either */
  assert_int_equal(inked(0, SIDE), 0);
}

static void test_outside(void **state)
{
  (void)state;
  static const size_t at[][2] = {{SIDE - 3, 20}, {20, SIDE - 3}, {0, 0}, {SIDE + 9, 3}, {0, SIDE + 9}};
  clear();
  for (size_t k = 0; k < sizeof at / sizeof *at; k++)
    canvas_text(&on, at[k][0], at[k][1], &font_large, 400, black, "\xc3\x84jWj(\xc3\x84");
  for (size_t k = 0; k < GUARD; k++) {
    assert_int_equal(around[k], 255);
    assert_int_equal(around[sizeof around - 1 - k], 255);
  }
}

int main(void)
{
  static const struct CMUnitTest tests[] = {cmocka_unit_test(test_width), cmocka_unit_test(test_place),
                                            cmocka_unit_test(test_latin1), cmocka_unit_test(test_cut),
                                            cmocka_unit_test(test_outside)};
  return cmocka_run_group_tests_name("canvas", tests, NULL, NULL);
}
