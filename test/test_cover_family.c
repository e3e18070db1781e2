/* Families of regions: every region of a family is inside of some mask, by brute force over small sides. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "certify/cover.h"
#include "scratch.h"

enum { SIDE = 13, MARK = 7, MOST = 256 };

static r4_cover *cover_of(const char *family, r4_shape s)
{
  r4_error e = {0};
  r4_cover *c = r4_cover_new(family, s, &e);
  if (!c) fail_msg("%s", e.text);
  return c;
}

/* What each mask hides, [masks, height * width], by what is put into zeros. */
struct hidden {
  size_t masks, height, width;
  bool at[MOST][SIDE * SIDE];
};

static void look(const r4_cover *c, size_t height, size_t width, size_t length, struct hidden *to)
{
  float x[SIDE * SIDE * 2], constant[2] = {MARK, MARK + 1};
  size_t channels = r4_cover_constants(c);
  to->masks = r4_cover_masks(c);
  to->height = height, to->width = width;
  assert_true(to->masks <= MOST);
  for (size_t k = 0; k < to->masks; k++) {
    memset(x, 0, sizeof x);
    r4_cover_put(c, k, length, constant, x);
    for (size_t p = 0; p < height * width; p++) {
      to->at[k][p] = x[p * channels] == MARK;
      for (size_t j = 0; j < channels; j++)
        assert_true(x[p * channels + j] == (to->at[k][p] ? constant[j] : 0));
    }
  }
}

/* Some mask hides rows [top, bottom) of columns [left, right). */
static bool is_covered(const struct hidden *h, size_t top, size_t bottom, size_t left, size_t right)
{
  for (size_t k = 0; k < h->masks; k++) {
    bool all = true;
    for (size_t r = top; r < bottom && all; r++)
      for (size_t c = left; c < right && all; c++) all = h->at[k][r * h->width + c];
    if (all) return true;
  }
  return false;
}

static size_t hidden_by(const struct hidden *h, size_t k)
{
  size_t n = 0;
  for (size_t p = 0; p < h->height * h->width; p++) n += h->at[k][p];
  return n;
}

/* Two masks leave something to see. */
static bool leaves_something(const struct hidden *h)
{
  for (size_t i = 0; i < h->masks; i++)
    for (size_t j = i; j < h->masks; j++) {
      size_t n = 0;
      for (size_t p = 0; p < h->height * h->width; p++) n += h->at[i][p] || h->at[j][p];
      if (n == h->height * h->width) return false;
    }
  return true;
}

static void squares_are_covered(void **state)
{
  (void)state;
  static struct hidden h;
  size_t made = 0;
  for (size_t height = 2; height <= SIDE; height++)
    for (size_t width = 2; width <= SIDE; width += 3)
      for (size_t p = 1; p < (height < width ? height : width); p++)
        for (size_t k = 2; k <= 6; k++) {
          char family[40];
          snprintf(family, sizeof family, "square:%zu,%zu", p, k);
          r4_cover *c = cover_of(family, R4_SHAPE((int64_t)height, (int64_t)width, 1));
          made++;
          look(c, height, width, 0, &h);
          assert_true(h.masks <= k * k);
          assert_true(leaves_something(&h));
          for (size_t top = 0; top + p <= height; top++)
            for (size_t left = 0; left + p <= width; left++)
              assert_true(is_covered(&h, top, top + p, left, left + p));
          r4_cover_free(c);
        }
  assert_true(made > 500);
}

static void published_masks(void **state)
{
  (void)state;
  r4_cover *c = cover_of("square:32", R4_SHAPE(224, 224, 3));
  assert_int_equal(r4_cover_masks(c), 36);
  struct cover_hidden last = cover_hidden(c, 35, 0), second = cover_hidden(c, 1, 0);
  assert_int_equal(last.top, 160);
  assert_int_equal(last.left, 160);
  assert_int_equal(last.height, 64);
  assert_int_equal(second.left, 33);
  r4_cover_free(c);
}

static void strips_are_covered(void **state)
{
  (void)state;
  static struct hidden h;
  for (size_t height = 3; height <= SIDE; height++)
    for (size_t width = 3; width <= SIDE; width += 2)
      for (int share = 1; share < 50; share += 3) {
        char family[40];
        size_t rows = (height * (size_t)share + 99) / 100, columns = (width * (size_t)share + 99) / 100;
        snprintf(family, sizeof family, "edges:0.%02d", share);
        r4_cover *c = r4_cover_new(family, R4_SHAPE((int64_t)height, (int64_t)width, 2), NULL);
        assert_int_equal(c != NULL, 2 * rows < height && 2 * columns < width);
        if (!c) continue;
        look(c, height, width, 0, &h);
        assert_int_equal(h.masks, 4);
        assert_true(is_covered(&h, 0, rows, 0, width) && is_covered(&h, height - rows, height, 0, width));
        assert_true(is_covered(&h, 0, height, 0, columns) &&
                    is_covered(&h, 0, height, width - columns, width));
        for (size_t k = 0; k < 4; k++)
          assert_int_equal(hidden_by(&h, k), k < 2 ? rows * width : columns * height);
        assert_true(leaves_something(&h));
        r4_cover_free(c);
      }
}

/* A decimal is what it says: as a float, 0.07 of 100 would be 8. */
static void shares_are_exact(void **state)
{
  (void)state;
  r4_cover *c = cover_of("edges:0.07", R4_SHAPE(100, 100, 1));
  assert_int_equal(cover_hidden(c, 0, 0).height, 7);
  r4_cover_free(c);
  c = cover_of("edges:0.070000001", R4_SHAPE(100, 100, 1));
  assert_int_equal(cover_hidden(c, 3, 0).width, 8);
  r4_cover_free(c);
}

static void frames_are_covered(void **state)
{
  (void)state;
  static struct hidden h;
  r4_cover *c = cover_of("frame:0.2", R4_SHAPE(7, 11, 1));
  look(c, 7, 11, 0, &h);
  assert_int_equal(h.masks, 1);
  for (size_t r = 0; r < 7; r++)
    for (size_t k = 0; k < 11; k++)
      assert_int_equal(h.at[0][r * 11 + k], r < 2 || r >= 5 || k < 3 || k >= 8); /* ceil(1.4), ceil(2.2) */
  assert_string_equal(r4_cover_about(c), "the outer frame of 0.2 of the side");
  r4_cover_free(c);
}

/* Of texts of any length, and nothing behind their end. */
static void windows_are_covered(void **state)
{
  (void)state;
  static struct hidden h;
  for (size_t p = 1; p <= 4; p++)
    for (size_t k = 3; k <= 7; k++) {
      char family[40];
      snprintf(family, sizeof family, "tokens:%zu,%zu", p, k);
      r4_cover *c = r4_cover_new(family, R4_SHAPE(SIDE), NULL);
      for (size_t length = 1; c && length <= SIDE; length++) {
        look(c, 1, SIDE, length, &h);
        assert_int_equal(h.masks, k);
        for (size_t from = 0; from < length; from++)
          assert_true(is_covered(&h, 0, 1, from, from + p < length ? from + p : length));
        for (size_t i = 0; i < h.masks; i++)
          for (size_t at = length; at < SIDE; at++) assert_false(h.at[i][at]);
      }
      assert_true(c || 2 * (p + (SIDE - p + k) / k - 1) >= SIDE);
      r4_cover_free(c);
    }
}

static void bad_families_are_named(void **state)
{
  (void)state;
  static const struct {
    const char *family, *says;
    int rank;
  } wrong[] = {
    {"", "expected edges:F, square:P, frame:F or tokens:N", 3},
    {"edge:0.3", "expected edges:F", 3},
    {"edges", "expected edges:F with F above 0 and below 0.5", 3},
    {"edges:", "expected edges:F with", 3},
    {"edges:0", "expected edges:F with", 3},
    {"edges:0.0", "expected edges:F with", 3},
    {"edges:0.5", "above 0 and below 0.5", 3},
    {"edges:0.6", "above 0 and below 0.5", 3},
    {"edges:1.2", "above 0 and below 0.5", 3},
    {"edges:0.1234567891", "expected edges:F with", 3},
    {"edges:-0.1", "expected edges:F with", 3},
    {"edges:0.3 ", "expected edges:F with", 3},
    {"edges:0.49", "strips of 5 pixels at two edges leave nothing of a side of 10", 3},
    {"frame:0.49", "leave nothing of a side of 10", 3},
    {"square:0", "expected square:P or square:P,K", 3},
    {"square:3,1", "K from 2 to 16", 3},
    {"square:3,17", "K from 2 to 16", 3},
    {"square:3,", "expected square:P", 3},
    {"square:3,4,5", "expected square:P", 3},
    {"square:10", "images are 10 x 10 pixels, expected a square of at most 9", 3},
    {"square:4000000000000", "expected square:P", 3},
    {"tokens:2", "is for texts, and examples are images", 3},
    {"edges:0.3", "is for images, and examples are not", 1},
    {"tokens:10", "texts have up to 10 tokens, expected a window of at most 9", 1},
    {"tokens:9", "leave nothing of the longest texts, of 10", 1},
  };
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    r4_error e = {0};
    r4_cover *c = r4_cover_new(wrong[k].family, wrong[k].rank == 3 ? R4_SHAPE(10, 10, 3) : R4_SHAPE(10), &e);
    if (c) fail_msg("%s was taken", wrong[k].family);
    assert_int_equal(e.status, R4_E_ARGUMENT);
    assert_error(&e, e.status, wrong[k].says);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(squares_are_covered),    cmocka_unit_test(published_masks),
    cmocka_unit_test(strips_are_covered),     cmocka_unit_test(shares_are_exact),
    cmocka_unit_test(frames_are_covered),     cmocka_unit_test(windows_are_covered),
    cmocka_unit_test(bad_families_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
