/* What programs that show photos use: the listing of a folder, images in memory, JSON that is not sealed. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "folder_make.h"
#include "scratch.h"

static void make(const char *folder)
{
  put_grey(folder, "images/a.png", 4, 6, 1, 2);
  put_grey(folder, "images/sub/b.png", 4, 6, 3, 4);
  put_grey(folder, "c.d.png", 4, 6, 5, 6);
  put_grey(folder, "masks/a_mask.png", 4, 6, 255, 0);
  put_text(folder, "metadata.csv", "file,label,split\na.png,x,train\nsub/b.png,y,test\nc.d.png,x,val\n");
}

static void photos_are_listed_with_their_masks(void **state)
{
  (void)state;
  r4_error e = {0};
  char *folder = folder_new();
  make(folder);
  put_text(folder, "boxes.csv", "file,x,y,width,height\nc.d.png,1,1,2,2\n");
  r4_photos *p = r4_photos_open(folder, &e);
  if (!p) fail_msg("%s", e.text);
  assert_int_equal(r4_photos_count(p), 3);
  static const r4_photo want[] = {
    {"images/a.png", "a.png", "x", R4_TRAIN, "masks/a_mask.png", "masks/a_mask.png", false},
    {"images/sub/b.png", "sub/b.png", "y", R4_TEST, NULL, "masks/sub/b.png", false},
    {"c.d.png", "c.d.png", "x", R4_VAL, NULL, "masks/c.d.png", true}};
  for (size_t k = 0; k < 3; k++) {
    r4_photo got = r4_photos_at(p, k);
    assert_string_equal(got.path, want[k].path);
    assert_string_equal(got.name, want[k].name);
    assert_string_equal(got.label, want[k].label);
    assert_string_equal(got.place, want[k].place);
    assert_true(got.split == want[k].split && got.outlined == want[k].outlined && !got.mask == !want[k].mask);
    if (got.mask) assert_string_equal(got.mask, want[k].mask);
  }
  assert_null(r4_photos_at(p, 3).path);
  assert_int_equal(r4_photos_count(NULL), 0);
  r4_photos_free(p);
  folder_remove(folder);
}

/* A mask that is put there is the one that the reader finds. */
static void the_reader_finds_what_is_put_in_its_place(void **state)
{
  (void)state;
  char *folder = folder_new();
  make(folder);
  r4_photos *p = r4_photos_open(folder, NULL);
  for (size_t k = 1; k < 3; k++) put_grey(folder, r4_photos_at(p, k).place, 4, 6, 255, 0);
  r4_photos_free(p);
  r4_data *d = folder_opened(folder, &(r4_data_options){.mask_means = R4_MASKS_IRRELEVANT});
  for (size_t k = 0; k < 3; k++) assert_true(r4_data_has_mask(d, k));
  r4_data_free(d);
  folder_remove(folder);
}

static void classes_may_be_folders(void **state)
{
  (void)state;
  char *folder = folder_new();
  put_grey(folder, "cat/1.png", 4, 6, 1, 2);
  put_grey(folder, "dog/1.png", 4, 6, 1, 2);
  r4_photos *p = r4_photos_open(folder, NULL);
  assert_int_equal(r4_photos_count(p), 2);
  assert_string_equal(r4_photos_at(p, 1).place, "masks/dog/1.png");
  assert_string_equal(r4_photos_at(p, 1).name, "dog/1.png");
  r4_photos_free(p);
  folder_remove(folder);
}

static void folders_without_photos_are_refused(void **state)
{
  (void)state;
  r4_error e = {0};
  char *folder = folder_new();
  assert_null(r4_photos_open(folder, &e));
  assert_error(&e, R4_E_IO, "has no photos");
  put_text(folder, "metadata.csv", "file,label\n../x.png,a\n");
  assert_null(r4_photos_open(folder, &e));
  assert_error(&e, R4_E_PARSE, "leaves the folder");
  folder_remove(folder);
}

static void failing_allocations_of_listings(void **state)
{
  (void)state;
  char *folder = folder_new();
  make(folder);
  for (long n = 1;; n++) {
    r4_error e = {0};
    r4_mem_fail_at(n);
    r4_photos *p = r4_photos_open(folder, &e);
    bool reached = r4_mem_count() >= n;
    r4_mem_fail_at(0);
    if (!p && e.status != R4_E_MEMORY) fail_msg("allocation %ld: %s", n, e.text);
    r4_photos_free(p);
    if (!reached) break;
  }
  folder_remove(folder);
}

/* ---- Images ---- */

static void images_go_to_png_and_back(void **state)
{
  (void)state;
  uint8_t pixel[2 * 3 * 3], *png;
  size_t size;
  r4_error e = {0};
  for (size_t k = 0; k < sizeof pixel; k++) pixel[k] = (uint8_t)(13 * k);
  const r4_image image = {2, 3, 3, pixel};
  r4_image got, as;
  assert_int_equal(r4_image_png(&image, &png, &size, &e), R4_OK);
  assert_int_equal(r4_image_look(png, size, "it", &as, &e), R4_OK);
  assert_true(as.height == 2 && as.width == 3 && as.channels == 3 && !as.pixel);
  assert_int_equal(r4_image_read(png, size, "it", 3, &got, &e), R4_OK);
  assert_memory_equal(got.pixel, pixel, sizeof pixel);
  r4_image_clear(&got);
  assert_null(got.pixel);
  assert_int_equal(r4_image_read(png, size, "it", 2, &got, &e), R4_E_ARGUMENT);
  assert_int_equal(r4_image_read(png, size - 5, "it", 3, &got, &e), R4_E_PARSE);
  assert_error(&e, R4_E_PARSE, "it: ");
  r4_image_clear(NULL);
  r4_bytes_free(png);
}

static void images_change_their_size(void **state)
{
  (void)state;
  uint8_t pixel[4] = {0, 100, 100, 200};
  r4_image to;
  r4_error e = {0};
  const r4_image from = {2, 2, 1, pixel}, none = {0}, odd = {2, 2, 2, pixel};
  assert_int_equal(r4_image_resize(&from, 1, 1, &to, &e), R4_OK);
  assert_int_equal(to.pixel[0], 100);
  r4_image_clear(&to);
  assert_int_equal(r4_image_resize(&from, 0, 1, &to, &e), R4_E_ARGUMENT);
  assert_int_equal(r4_image_resize(&from, 100000, 100000, &to, &e), R4_E_ARGUMENT);
  assert_int_equal(r4_image_resize(&none, 1, 1, &to, &e), R4_E_ARGUMENT);
  assert_int_equal(r4_image_png(&odd, &(uint8_t *){0}, &(size_t){0}, &e), R4_E_ARGUMENT);
}

static void failing_allocations_of_images(void **state)
{
  (void)state;
  uint8_t pixel[4] = {0, 100, 100, 200};
  const r4_image from = {2, 2, 1, pixel};
  for (long n = 1;; n++) {
    r4_error e = {0};
    r4_image to = {0}, back = {0};
    uint8_t *png = NULL;
    size_t size = 0;
    r4_mem_fail_at(n);
    r4_status s = r4_image_resize(&from, 3, 3, &to, &e);
    if (!s) s = r4_image_png(&to, &png, &size, &e);
    if (!s) s = r4_image_read(png, size, "it", 1, &back, &e);
    bool reached = r4_mem_count() >= n;
    r4_mem_fail_at(0);
    assert_true(s == R4_OK || s == R4_E_MEMORY);
    r4_image_clear(&to);
    r4_image_clear(&back);
    r4_bytes_free(png);
    if (!reached) break;
  }
}

/* ---- JSON ---- */

static void json_is_parsed(void **state)
{
  (void)state;
  static const char text[] = "{\"a\": [1, true, \"x\"], \"b\": null}";
  r4_error e = {0};
  bool flag = false;
  double v = 0;
  r4_json_value *root = r4_json_parse("it", text, sizeof text - 1, &e);
  const r4_json_value *list = r4_json_get(root, "a");
  assert_int_equal(r4_json_size(list), 3);
  assert_true(r4_json_as_real(r4_json_at(list, 0), &v) && v == 1);
  assert_true(r4_json_as_flag(r4_json_at(list, 1), &flag) && flag);
  assert_false(r4_json_as_flag(r4_json_at(list, 0), &flag));
  assert_false(r4_json_as_flag(NULL, &flag));
  assert_string_equal(r4_json_as_text(r4_json_at(list, 2)), "x");
  r4_json_value_free(root);
  assert_null(r4_json_parse("it", text, 9, &e));
  assert_error(&e, R4_E_PARSE, "it");
  assert_null(r4_json_parse("it", "", 0, &e));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(photos_are_listed_with_their_masks),
    cmocka_unit_test(the_reader_finds_what_is_put_in_its_place),
    cmocka_unit_test(classes_may_be_folders),
    cmocka_unit_test(folders_without_photos_are_refused),
    cmocka_unit_test(failing_allocations_of_listings),
    cmocka_unit_test(images_go_to_png_and_back),
    cmocka_unit_test(images_change_their_size),
    cmocka_unit_test(failing_allocations_of_images),
    cmocka_unit_test(json_is_parsed),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
