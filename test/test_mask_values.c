/* Masks that are label images: nothing of them vanishes in silence, and what they mark can be stated. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "data/data.h"
#include "data/format/format.h"
#include "folder_make.h"
#include "make_png.h"
#include "picture/image.h"
#include "tensor/npz.h"

enum { SIDE = 4, PIXELS = SIDE * SIDE };

#define VALUES(...)                             \
  .mask_values = (const double[]){__VA_ARGS__}, \
  .mask_value_count = sizeof((double[]){__VA_ARGS__}) / sizeof(double)
#define OPTIONS(...) (&(r4_data_options){.mask_means = R4_MASKS_IRRELEVANT, __VA_ARGS__})

static r4_data *opened(const char *source, const r4_data_options *options)
{
  r4_error e = {0};
  r4_data *d = r4_data_open(source, options, &e);
  if (!d) fail_msg("%s", e.text);
  return d;
}

static void refused(const char *source, const r4_data_options *options, const char *because)
{
  r4_error e = {0};
  r4_data *d = r4_data_open(source, options, &e);
  if (d) fail_msg("accepted: %s", because);
  if (!strstr(e.text, because)) fail_msg("%s: no '%s'", e.text, because);
  assert_int_equal(e.status, R4_E_ARGUMENT);
  assert_non_null(strstr(e.text, source));
}

/* How many elements of the mask of example i are 1, and no element is between. */
static int marked(const r4_data *d, size_t i)
{
  float mask[PIXELS];
  int n = 0;
  r4_data_mask(d, i, mask);
  for (int k = 0; k < PIXELS; k++) {
    assert_true(mask[k] == 0 || mask[k] == 1);
    n += mask[k] == 1;
  }
  return n;
}

static void put_png(const char *folder, const char *name, struct png png)
{
  static struct bytes file;
  write_png(&file, png);
  assert_int_equal(file_write(path_in(folder, name), file.at, file.n, NULL), R4_OK);
}

static char *two_images(void)
{
  char *folder = folder_new();
  put_grey(folder, "cat/a.png", SIDE, SIDE, 10, 20);
  put_grey(folder, "dog/b.png", SIDE, SIDE, 30, 40);
  return folder;
}

/* A row of zeros, of ones, of twos and of threes, of 8 bits: with a filter byte each. */
#define ROW(v) 0, v, v, v, v
#define ROWS ROW(0), ROW(1), ROW(2), ROW(3)

/* ---- Folders ---- */

static void greys_that_are_labels(void **state)
{
  (void)state;
  char *folder = two_images();
  put_png(folder, "masks/cat/a.png", (struct png){SIDE, SIDE, 8, GREY, LIST(rows, ROWS)});
  put_grey(folder, "masks/dog/b.png", SIDE, SIDE, 2, 3);
  refused(folder, OPTIONS(0), "its masks hold the values 0, 1, 2, 3, and none of them is white");
  refused(folder, OPTIONS(0), "mask_values");
  refused(folder, &(r4_data_options){.mask_means = R4_MASKS_RELEVANT}, "mask_values");
  r4_data *d = opened(folder, OPTIONS(VALUES(2, 3)));
  assert_int_equal(marked(d, 0), 8);
  assert_int_equal(marked(d, 1), PIXELS);
  assert_int_equal(r4_data_notes(d), 0);
  assert_non_null(strstr(r4_data_about(d), "values 2, 3"));
  r4_data_free(d);
  d = opened(folder, &(r4_data_options){.mask_means = R4_MASKS_RELEVANT, VALUES(1)});
  assert_int_equal(marked(d, 0), 12);
  assert_int_equal(marked(d, 1), PIXELS); /* it has no 1: nothing of it may matter */
  r4_data_free(d);
  refused(folder, OPTIONS(VALUES(4, 255)),
          "its masks hold the values 0, 1, 2, 3, but mask_values says 4, 255");
  folder_remove(folder);
}

static void bad_values_are_refused(void **state)
{
  (void)state;
  char *folder = two_images();
  put_grey(folder, "masks/cat/a.png", SIDE, SIDE, 0, 2);
  static const double bad[] = {-1, 65536, 1.5, NAN, INFINITY};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    r4_error e = {0};
    assert_null(r4_data_open(folder, OPTIONS(.mask_values = bad + k, .mask_value_count = 1), &e));
    assert_int_equal(e.status, R4_E_ARGUMENT);
    assert_non_null(strstr(e.text, "expected whole numbers from 0 to 65535"));
  }
  refused(folder, OPTIONS(0), "the values 0, 2,");
  folder_remove(folder);
}

/* The index of a palette counts, whatever its colour; a palette of greys is as good as grey. */
static void palettes(void **state)
{
  (void)state;
  char *folder = two_images();
  put_png(folder, "masks/cat/a.png",
          (struct png){SIDE, SIDE, 8, PALETTE, LIST(palette, 0, 0, 0, 128, 0, 0, 0, 128, 0, 255, 255, 255),
                       LIST(rows, ROWS)});
  refused(folder, OPTIONS(0), "a.png: has a palette of colours, with the indexes 0, 1, 2, 3: state");
  r4_data *d = opened(folder, OPTIONS(VALUES(1)));
  assert_int_equal(marked(d, 0), 4);
  assert_false(r4_data_has_mask(d, 1)); /* it has no file */
  r4_data_free(d);
  put_png(folder, "masks/cat/a.png", /* four pixels in a byte, and of two colours one is not used */
          (struct png){SIDE, SIDE, 2, PALETTE, LIST(palette, 0, 0, 0, 255, 255, 255, 9, 0, 0),
                       LIST(rows, 0, 0x55, 0, 0x55, 0, 0, 0, 0x01)});
  d = opened(folder, OPTIONS(0));
  assert_int_equal(marked(d, 0), 9);
  r4_data_free(d);
  d = opened(folder, OPTIONS(VALUES(0)));
  assert_int_equal(marked(d, 0), 7);
  r4_data_free(d);
  folder_remove(folder);
}

/* Of 16 bits all count, not the higher ones alone. */
static void sixteen_bits(void **state)
{
  (void)state;
  char *folder = two_images();
#define WIDE(v) 0, (v) >> 8, (v)&255, (v) >> 8, (v)&255, (v) >> 8, (v)&255, (v) >> 8, (v)&255
  put_png(folder, "masks/cat/a.png",
          (struct png){SIDE, SIDE, 16, GREY, LIST(rows, WIDE(0), WIDE(1), WIDE(2), WIDE(1000))});
  refused(folder, OPTIONS(0), "the values 0, 1, 2, 1000,");
  r4_data *d = opened(folder, OPTIONS(VALUES(2, 1000)));
  assert_int_equal(marked(d, 0), 8);
  r4_data_free(d);
  put_png(folder, "masks/cat/a.png",
          (struct png){SIDE, SIDE, 16, GREY, LIST(rows, WIDE(0), WIDE(0), WIDE(65535), WIDE(65535))});
  d = opened(folder, OPTIONS(0));
  assert_int_equal(marked(d, 0), 8);
  r4_data_free(d);
  folder_remove(folder);
}

/* One mask of white among them: the others are told, by data show, lint and r4_data_note. */
static void some_vanish(void **state)
{
  (void)state;
  char *folder = two_images();
  r4_finding finding[R4_FINDINGS];
  size_t n = 0;
  put_grey(folder, "masks/cat/a.png", SIDE, SIDE, 0, 255);
  put_grey(folder, "masks/dog/b.png", SIDE, SIDE, 0, 1);
  r4_data *d = opened(folder, OPTIONS(0));
  assert_int_equal(r4_data_notes(d), 1);
  assert_null(r4_data_note(d, 1));
  assert_non_null(
    strstr(r4_data_note(d, 0), "1 of 2 masks hold no white (128 or more), only the values 0, 1"));
  assert_non_null(strstr(r4_data_note(d, 0), "example 1"));
  r4_data *part = r4_data_part(d, R4_TRAIN, NULL);
  assert_int_equal(r4_data_lint(part, NULL, finding, &n, NULL), R4_OK);
  assert_string_equal(finding[0].code, "reading");
  assert_string_equal(finding[0].text, r4_data_note(d, 0));
  r4_data_free(part);
  r4_data_free(d);
  put_grey(folder, "masks/dog/b.png", SIDE, SIDE, 0, 0); /* zero everywhere: it marks nothing, and says so */
  d = opened(folder, OPTIONS(0));
  assert_int_equal(r4_data_notes(d), 0);
  r4_data_free(d);
  folder_remove(folder);
}

/* A note is not lost by the cache. */
static void notes_survive_the_cache(void **state)
{
  (void)state;
  char *folder = two_images(), cache[4096];
  snprintf(cache, sizeof cache, "%s/cache", folder);
  put_grey(folder, "masks/cat/a.png", SIDE, SIDE, 0, 255);
  put_grey(folder, "masks/dog/b.png", SIDE, SIDE, 0, 1);
  for (int k = 0; k < 2; k++) {
    r4_data *d = opened(folder, OPTIONS(.cache = cache));
    assert_int_equal(r4_data_notes(d), 1);
    r4_data_free(d);
  }
  for (int k = 1; k < 3; k++) { /* other values are another file of the cache */
    put_grey(folder, "masks/cat/a.png", SIDE, SIDE, 1, 2);
    r4_data *d = opened(folder, OPTIONS(.cache = cache, VALUES(k)));
    float mask[PIXELS];
    r4_data_mask(d, 0, mask);
    assert_true(mask[0] == (k == 1));
    r4_data_free(d);
  }
  folder_remove(folder);
}

/* A single pixel is nothing any more in an image a quarter as large. */
static void too_small_to_survive(void **state)
{
  (void)state;
  char *folder = folder_new();
  put_grey(folder, "cat/a.png", 16, 16, 10, 20);
  uint8_t rows[16 * 17] = {0};
  rows[8 * 17 + 9] = 255;
  put_png(folder, "masks/cat/a.png", (struct png){16, 16, 8, GREY, .rows = rows, .n_rows = sizeof rows});
  r4_data *d = opened(folder, OPTIONS(0));
  assert_int_equal(r4_data_notes(d), 0);
  r4_data_free(d);
  d = opened(folder, OPTIONS(.height = 4, .width = 4));
  assert_non_null(strstr(r4_data_note(d, 0), "1 of 1 masks mark so little that nothing is left"));
  r4_data_free(d);
  folder_remove(folder);
}

static void jpeg_has_no_values(void **state)
{
  (void)state;
  char *folder = folder_new();
  uint8_t *jpeg = NULL;
  size_t n = 0;
  struct image as;
  assert_int_equal(file_read("test/fuzz/corpus/image/grey.jpg", 1 << 20, &jpeg, &n, NULL), R4_OK);
  assert_int_equal(image_look(jpeg, n, "x", &as, NULL), R4_OK);
  put_grey(folder, "cat/a.png", as.height, as.width, 10, 20);
  assert_int_equal(file_write(path_in(folder, "masks/cat/a.jpg"), jpeg, n, NULL), R4_OK);
  r4_mem_free(jpeg);
  refused(folder, OPTIONS(VALUES(1)), "a.jpg: is JPEG, which does not keep values exactly");
  folder_remove(folder);
}

/* ---- npz ---- */

static const char *put_npz(const char *folder, enum array_type type, const double *values, bool floats)
{
  const char *path = path_in(folder, "d.npz");
  struct npz_entry entry[4] = {
    {.key = "x_train"}, {.key = "y_train"}, {.key = "m_train"}, {.key = "x_train"}};
  int64_t dim[] = {2, SIDE, SIDE};
  assert_int_equal(array_new(&entry[0].array, ARRAY_U8, 0, 3, dim, NULL), R4_OK);
  assert_int_equal(array_new(&entry[1].array, ARRAY_U8, 0, 1, dim, NULL), R4_OK);
  assert_int_equal(array_new(&entry[2].array, type, 0, 3, dim, NULL), R4_OK);
  for (int k = 0; k < 2 * PIXELS; k++) {
    double v = values[k * 4 / (2 * PIXELS)];
    void *m = entry[2].array.data;
    if (floats)
      ((float *)m)[k] = (float)v;
    else if (type == ARRAY_I64)
      ((int64_t *)m)[k] = (int64_t)v;
    else
      ((uint8_t *)m)[k] = (uint8_t)v;
    ((uint8_t *)entry[0].array.data)[k] = (uint8_t)k;
  }
  ((uint8_t *)entry[1].array.data)[1] = 1;
  r4_error e = {0};
  if (npz_write(path, 3, entry, &e)) fail_msg("%s", e.text);
  for (int k = 0; k < 3; k++) array_free(&entry[k].array);
  return path;
}

static void arrays_that_are_labels(void **state)
{
  (void)state;
  char *folder = folder_new();
  static const double labels[] = {0, 1, 2, 3}, twos[] = {0, 2, 0, 0}, bits[] = {0, 1, 1, 0},
                      mixed[] = {0, 7, 0, 255};
  const char *file = put_npz(folder, ARRAY_U8, labels, false);
  refused(file, OPTIONS(0), "its masks hold the values 0, 1, 2, 3, and none of them is white");
  r4_data *d = opened(file, OPTIONS(VALUES(1, 3)));
  assert_int_equal(marked(d, 0), 8);
  assert_int_equal(marked(d, 1), 8);
  r4_data_free(d);
  file = put_npz(folder, ARRAY_U8, twos, false);
  refused(file, OPTIONS(0), "the values 0, 2,");
  file = put_npz(folder, ARRAY_U8, bits, false); /* 0 and 1 are clear */
  d = opened(file, OPTIONS(0));
  assert_int_equal(marked(d, 0), 8);
  r4_data_free(d);
  file = put_npz(folder, ARRAY_U8, mixed, false);
  d = opened(file, OPTIONS(0));
  assert_non_null(
    strstr(r4_data_note(d, 0), "1 of 2 masks hold no white (128 or more), only the values 0, 7"));
  r4_data_free(d);
  file = put_npz(folder, ARRAY_I64, labels, false);
  r4_error e = {0};
  assert_null(r4_data_open(file, OPTIONS(0), &e));
  assert_non_null(
    strstr(e.text, "m_train is int64 [2, 4, 4], expected bool, uint8 or floats, or mask_values"));
  d = opened(file, OPTIONS(VALUES(2)));
  assert_int_equal(marked(d, 0), 0);
  assert_int_equal(marked(d, 1), 8);
  r4_data_free(d);
  file = put_npz(folder, ARRAY_F32, labels, true);
  refused(file, OPTIONS(0), "has 2 at 0, expected 0 to 1, or mask_values");
  d = opened(file, OPTIONS(VALUES(3)));
  assert_int_equal(marked(d, 1), 8);
  r4_data_free(d);
  folder_remove(folder);
}

static void arrays_of_zeros(void **state)
{
  (void)state;
  char *folder = folder_new();
  r4_finding finding[R4_FINDINGS];
  size_t n = 0;
  static const double zeros[4] = {0};
  r4_data *d = opened(put_npz(folder, ARRAY_U8, zeros, false), OPTIONS(0));
  assert_int_equal(r4_data_lint(d, NULL, finding, &n, NULL), R4_OK);
  bool found = false;
  for (size_t k = 0; k < n; k++) found |= !strcmp(finding[k].code, "mask-empty") && !finding[k].note;
  assert_true(found);
  r4_data_free(d);
  folder_remove(folder);
}

/* ---- Recipes and settings ---- */

static void recipes_say_what_they_do(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_recipe_options o = {.from = "digits:60", .read.soft_masks = true};
  assert_null(r4_data_make("decoy-mnist", &o, &e));
  assert_int_equal(e.status, R4_E_ARGUMENT);
  assert_non_null(strstr(e.text, "decoy-mnist draws its own masks"));
  o = (r4_recipe_options){.from = "digits:60", .read = {VALUES(1)}};
  assert_null(r4_data_make("decoy-mnist", &o, &e));
}

static void settings_reach_the_reader(void **state)
{
  (void)state;
  char *folder = two_images(), assignment[4096];
  r4_error e = {0};
  put_grey(folder, "masks/cat/a.png", SIDE, SIDE, 1, 2);
  r4_settings *s = r4_settings_new();
  snprintf(assignment, sizeof assignment, "data=%s", folder);
  assert_int_equal(r4_settings_set(s, assignment, "test", &e), R4_OK);
  assert_int_equal(r4_settings_set(s, "data.mask_means=irrelevant", "test", &e), R4_OK);
  assert_int_equal(r4_settings_set(s, "data.mask_values=2,3", "test", &e), R4_OK);
  assert_int_equal(r4_settings_set(s, "data.val=0", "test", &e), R4_OK);
  r4_data *d = r4_settings_data(s, &e);
  if (!d) fail_msg("%s", e.text);
  assert_int_equal(marked(d, 0), 8);
  r4_data_free(d);
  put_grey(folder, "masks/cat/a.png", SIDE, SIDE, 51, 255);
  assert_int_equal(r4_settings_set(s, "data.mask_values=", "test", &e), R4_OK);
  assert_int_equal(r4_settings_set(s, "data.soft_masks=true", "test", &e), R4_OK);
  d = r4_settings_data(s, &e);
  if (!d) fail_msg("%s", e.text);
  float soft[PIXELS];
  r4_data_mask(d, 0, soft);
  assert_true(soft[0] == .2f && soft[SIDE - 1] == 1);
  r4_data_free(d);
  assert_int_equal(r4_settings_set(s, "data.mask_values=65536", "test", &e), R4_E_ARGUMENT);
  r4_settings_free(s);
  folder_remove(folder);
}

static void memory_may_run_out(void **state)
{
  (void)state;
  char *folder = two_images();
  put_grey(folder, "masks/cat/a.png", SIDE, SIDE, 0, 255);
  put_grey(folder, "masks/dog/b.png", SIDE, SIDE, 0, 1);
  int before = r4_threads(1, false);
  for (int stated = 0; stated < 2; stated++)
    for (long n = 1;; n++) {
      r4_error e = {0};
      r4_mem_fail_at(n);
      r4_data *d = folder_format.open(folder, stated ? OPTIONS(VALUES(1)) : OPTIONS(0), &e);
      bool reached = r4_mem_count() >= n;
      r4_mem_fail_at(0);
      if (!d && e.status != R4_E_MEMORY) fail_msg("allocation %ld: %s", n, e.text);
      r4_data_free(d);
      if (!reached) break;
    }
  r4_threads(before, false);
  folder_remove(folder);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(greys_that_are_labels),
                                     cmocka_unit_test(bad_values_are_refused),
                                     cmocka_unit_test(palettes),
                                     cmocka_unit_test(sixteen_bits),
                                     cmocka_unit_test(some_vanish),
                                     cmocka_unit_test(notes_survive_the_cache),
                                     cmocka_unit_test(too_small_to_survive),
                                     cmocka_unit_test(jpeg_has_no_values),
                                     cmocka_unit_test(arrays_that_are_labels),
                                     cmocka_unit_test(arrays_of_zeros),
                                     cmocka_unit_test(recipes_say_what_they_do),
                                     cmocka_unit_test(settings_reach_the_reader),
                                     cmocka_unit_test(memory_may_run_out)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
