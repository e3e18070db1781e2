/* Contact sheets: outlines, and where the examples of a small data set stand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "data/data.h"
#include "folder_make.h"
#include "picture/canvas.h"

static const uint8_t strong[3] = {0, 210, 255};

static struct image white(size_t height, size_t width)
{
  struct image on;
  assert_int_equal(image_new(&on, height, width, 3, NULL), R4_OK);
  memset(on.pixel, 255, height * width * 3);
  return on;
}

static void outlines_have_two_tones(void **state)
{
  (void)state;
  static const char *const want[] = {"..........", ".oooooooo.", ".osssssso.", ".osssssso.", ".oss..sso.",
                                     ".oss..sso.", ".osssssso.", ".osssssso.", ".oooooooo.", ".........."};
  struct image on = white(10, 10);
  uint8_t mask[100] = {0};
  for (int i = 2; i < 8; i++) memset(mask + 10 * i + 2, 128, 6);
  canvas_outline(&on, 0, 0, 10, 10, mask, strong);
  for (size_t k = 0; k < 100; k++) {
    const uint8_t *p = on.pixel + 3 * k;
    char got = p[0] == 255 ? '.' : p[2] ? 's' : 'o';
    if (got != want[k / 10][k % 10]) fail_msg("pixel %zu is %c", k, got);
  }
  memset(mask, 255, sizeof mask); /* all of it: the border of the image */
  memset(on.pixel, 255, 300);
  canvas_outline(&on, 0, 0, 10, 10, mask, strong);
  assert_true(on.pixel[0] == 0 && on.pixel[3 * 99] == 0 && on.pixel[3 * 55] == 255);
  image_clear(&on);
}

/* Two classes of 3 x 2 images, which are enlarged by 32; image i has the value 10 i, example 1 a mask. */
static r4_data *make(bool floats)
{
  struct column *v = column_new(floats ? &floats_column : &bytes_column, R4_SHAPE(3, 2, 1), 5, NULL);
  r4_data *d = data_new(5, v, NULL);
  const uint8_t mask[6] = {255, 255, 255, 255, 255, 255};
  data_set_masks(d, masks_new(6, NULL));
  for (size_t i = 0; i < 5; i++) {
    for (size_t k = 0; k < 6; k++)
      if (floats)
        ((float *)v->data)[6 * i + k] = (float)i * 10 / 255;
      else
        ((uint8_t *)column_row(v, i))[k] = (uint8_t)(10 * i);
    d->record[i].label = i % 2;
    d->record[i].split = i == 3 ? R4_TEST : R4_TRAIN;
  }
  assert_int_equal(masks_add(data_masks(d), mask, &d->record[1].mask, NULL), R4_OK);
  names_add(d->classes, "a", NULL, NULL);
  names_add(d->classes, "b", NULL, NULL);
  assert_int_equal(data_finish(d, "test", NULL), R4_OK);
  return d;
}

static struct image drawn(const r4_data *d, r4_sheet_rows rows, size_t columns, const char *file)
{
  struct image sheet = {0};
  r4_error e = {0};
  uint8_t *data = NULL;
  size_t size = 0;
  if (r4_data_sheet(d, rows, columns, file, &e) || file_read(file, 1 << 24, &data, &size, &e) ||
      image_decode(data, size, file, 3, &sheet, &e))
    fail_msg("%s", e.text);
  r4_mem_free(data);
  return sheet;
}

static int at(const struct image *sheet, size_t y, size_t x)
{
  return sheet->pixel[(y * sheet->width + x) * 3];
}

enum { GAP = 10, LINE = 14, H = 96, W = 64, ROW = LINE + H + LINE + GAP, PAPER = 250 };

static void examples_stand_in_rows(void **state)
{
  (void)state;
  char *folder = folder_new();
  for (int floats = 0; floats < 2; floats++) {
    r4_data *d = make(floats);
    struct image s = drawn(d, R4_SHEET_CLASSES, 3, path_in(folder, "s.png"));
    assert_true(s.width == GAP + 3 * (W + GAP) && s.height == GAP + 2 * ROW);
    size_t y = GAP + LINE + H / 2, x = GAP + W / 2, column = W + GAP;
    assert_true(at(&s, y, x) == 0 && at(&s, y, x + column) == 20 && at(&s, y, x + 2 * column) == 40);
    assert_true(at(&s, y + ROW, x) == 10 && at(&s, y + ROW, x + column) == 30);
    assert_int_equal(at(&s, y + ROW, x + 2 * column), PAPER); /* class b has two */
    assert_true(at(&s, GAP + LINE + ROW, GAP) == 0);          /* the outline of example 1 ... */
    assert_true(s.pixel[((GAP + LINE + ROW) * s.width + GAP) * 3 + 2] == 255);
    assert_int_equal(at(&s, GAP + LINE + ROW, GAP + column), 30); /* ... and none of example 3 */
    image_clear(&s);
    s = drawn(d, R4_SHEET_SPLITS, 4, path_in(folder, "s.png"));
    assert_true(s.height == GAP + 3 * ROW && at(&s, y, x + 3 * column) == 40 && at(&s, y + 2 * ROW, x) == 30);
    image_clear(&s);
    s = drawn(d, R4_SHEET_IN_ORDER, 2, path_in(folder, "s.png"));
    assert_true(s.height == GAP + 3 * (ROW - LINE) && at(&s, y - LINE + 2 * (ROW - LINE), x) == 40);
    image_clear(&s);
    r4_data_free(d);
  }
  folder_remove(folder);
}

static void what_is_no_image_is_refused(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_data *d = make(false);
  assert_int_equal(r4_data_sheet(d, R4_SHEET_CLASSES, 5000, "no.png", &e), R4_E_ARGUMENT);
  assert_non_null(strstr(e.text, "5000 columns"));
  assert_int_equal(r4_data_sheet(d, R4_SHEET_CLASSES, 1, "no/such/folder.png", &e), R4_E_IO);
  r4_data_free(d);
  d = data_new(1, column_new(&bytes_column, R4_SHAPE(6), 1, NULL), NULL);
  assert_int_equal(r4_data_sheet(d, R4_SHEET_CLASSES, 1, "no.png", &e), R4_E_SHAPE);
  r4_data_free(d);
}

static void memory_may_run_out(void **state)
{
  (void)state;
  char *folder = folder_new();
  r4_data *d = make(false);
  for (long n = 1;; n++) {
    r4_error e = {0};
    const char *file = path_in(folder, "s.png");
    r4_mem_fail_at(n);
    r4_status s = r4_data_sheet(d, R4_SHEET_CLASSES, 1, file, &e);
    bool reached = r4_mem_count() >= n;
    r4_mem_fail_at(0);
    assert_true(!s || e.status == R4_E_MEMORY);
    if (!reached) break;
  }
  r4_data_free(d);
  folder_remove(folder);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(outlines_have_two_tones),
                                     cmocka_unit_test(examples_stand_in_rows),
                                     cmocka_unit_test(what_is_no_image_is_refused),
                                     cmocka_unit_test(memory_may_run_out)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
