/* Images: PNG files that are written here byte by byte, JPEG files of the fuzzer's corpus, and resizing against a
 * plain double loop. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/file.h"
#include "base/mem.h"
#include "make_png.h"
#include "picture/image.h"
#include "picture/resize.h"

/* What each kind of PNG becomes: two pixels, as colour and as grey. */
static const struct sample {
  const char *what;
  struct png png;
  size_t channels; /* that image_look tells */
  uint8_t rgb[6], grey[2];
} samples[] = {
  {"1 bit", {2, 1, 1, GREY, LIST(rows, 0, 0x40)}, 1, {0, 0, 0, 255, 255, 255}, {0, 255}},
  {"2 bits", {2, 1, 2, GREY, LIST(rows, 0, 0x60)}, 1, {85, 85, 85, 170, 170, 170}, {85, 170}},
  {"4 bits", {2, 1, 4, GREY, LIST(rows, 0, 0x1f)}, 1, {17, 17, 17, 255, 255, 255}, {17, 255}},
  {"grey", {2, 1, 8, GREY, LIST(rows, 0, 7, 200)}, 1, {7, 7, 7, 200, 200, 200}, {7, 200}},
  {"filtered", {2, 1, 8, GREY, LIST(rows, 1, 7, 200)}, 1, {7, 7, 7, 207, 207, 207}, {7, 207}},
  {"interlaced", {1, 2, 8, GREY, 1, LIST(rows, 0, 7, 0, 200)}, 1, {7, 7, 7, 200, 200, 200}, {7, 200}},
  {"16 bits", {2, 1, 16, GREY, LIST(rows, 0, 0x80, 0, 0x01, 0xff)}, 1, {128, 128, 128, 2, 2, 2}, {128, 2}},
  {"RGB", {2, 1, 8, RGB, LIST(rows, 0, 1, 2, 3, 255, 0, 0)}, 3, {1, 2, 3, 255, 0, 0}, {2, 76}},
  {"RGB, 16 bits",
   {2, 1, 16, RGB, LIST(rows, 0, 1, 1, 2, 2, 3, 3, 0, 0, 255, 255, 0, 0)},
   3,
   {1, 2, 3, 0, 255, 0},
   {2, 150}},
  {"palette",
   {2, 1, 4, PALETTE, LIST(palette, 9, 8, 7, 0, 0, 255), LIST(rows, 0, 0x10)},
   3,
   {0, 0, 255, 9, 8, 7},
   {29, 8}},
  {"palette, alpha",
   {2, 1, 8, PALETTE, LIST(palette, 90, 80, 70, 0, 0, 255), LIST(transparent, 51), LIST(rows, 0, 0, 1)},
   3,
   {18, 16, 14, 0, 0, 255},
   {16, 29}},
  {"grey, alpha",
   {2, 1, 8, GREY_ALPHA, LIST(rows, 0, 200, 255, 200, 128)},
   1,
   {200, 200, 200, 100, 100, 100},
   {200, 100}},
  {"grey, one transparent",
   {2, 1, 8, GREY, LIST(transparent, 0, 9), LIST(rows, 0, 9, 200)},
   1,
   {0, 0, 0, 200, 200, 200},
   {0, 200}},
  {"RGBA",
   {2, 1, 8, RGBA, LIST(rows, 0, 10, 20, 30, 0, 100, 200, 50, 51)},
   3,
   {0, 0, 0, 20, 40, 10},
   {0, 31}},
};

enum { SAMPLES = sizeof samples / sizeof *samples };

static struct bytes file;

static void every_kind_of_png(void **state)
{
  (void)state;
  for (size_t k = 0; k < SAMPLES; k++) {
    const struct sample *s = samples + k;
    struct image as, rgb, grey;
    r4_error e = {0};
    write_png(&file, s->png);
    if (image_look(file.at, file.n, s->what, &as, &e) ||
        image_decode(file.at, file.n, s->what, 3, &rgb, &e) ||
        image_decode(file.at, file.n, s->what, 1, &grey, &e))
      fail_msg("%s", e.text);
    assert_int_equal(as.channels, s->channels);
    assert_true(as.width == s->png.width && rgb.height == s->png.height && rgb.width == grey.width);
    for (int i = 0; i < 6; i++)
      if (rgb.pixel[i] != s->rgb[i]) fail_msg("%s: %d is %u, not %u", s->what, i, rgb.pixel[i], s->rgb[i]);
    for (int i = 0; i < 2; i++)
      if (grey.pixel[i] != s->grey[i])
        fail_msg("%s: %d is %u, not %u", s->what, i, grey.pixel[i], s->grey[i]);
    image_clear(&rgb);
    image_clear(&grey);
  }
}

/* ---- Broken files ---- */

/* What pixels are stored as: indexes and 16 bits are not what they show. */
static void numbers_are_as_stored(void **state)
{
  (void)state;
  for (size_t k = 0; k < SAMPLES; k++) {
    const struct sample *s = samples + k;
    bool palette = s->png.type == PALETTE, wide = s->png.type == GREY && s->png.depth == 16;
    uint16_t want[2] = {s->grey[0], s->grey[1]};
    if (wide) want[0] = 0x8000, want[1] = 0x01ff;
    if (palette) want[0] = s->png.depth == 4, want[1] = s->png.depth == 8;
    struct image_values v;
    r4_error e = {0};
    write_png(&file, s->png);
    assert_int_equal(image_has_palette(file.at, file.n), palette);
    if (image_read_values(file.at, file.n, s->what, &v, &e)) fail_msg("%s", e.text);
    assert_true(v.exact && v.indexes == palette && v.width * v.height == 2);
    if (memcmp(v.value, want, sizeof want)) fail_msg("%s: %u and %u", s->what, v.value[0], v.value[1]);
    image_values_clear(&v);
    file.at[file.n - 20] ^= 1; /* in the pixels, or their sum */
    assert_int_equal(image_read_values(file.at, file.n, s->what, &v, &e), R4_E_PARSE);
    assert_null(v.value);
  }
}

static void refused(const uint8_t *data, size_t n, const char *because)
{
  r4_error e = {0};
  struct image image;
  if (image_decode(data, n, "x.png", 3, &image, &e) != R4_E_PARSE) fail_msg("accepted (%s)", because);
  assert_null(image.pixel);
  if (!strstr(e.text, because) || strncmp(e.text, "x.png: ", 7)) fail_msg("%s: no '%s'", e.text, because);
}

static void broken_png_is_refused(void **state)
{
  (void)state;
  const struct png small = samples[7].png;
  write_png(&file, small);
  size_t whole = file.n;
  for (size_t n = 0; n < whole; n++)
    refused(file.at, n, n < 8 ? (n ? "does not start" : "empty") : "ends early");
  bytes_put(&file, "x", 1);
  refused(file.at, file.n, "the image ends here, the file does not");
  for (size_t k = 8; k < whole; k++) { /* any bit: the checksums see it */
    write_png(&file, small);
    file.at[k] ^= 4;
    refused(file.at, file.n, "");
  }
  write_png(&file, small);
  file.at[8 + 8] = 0x7f; /* the width claims two thousand million */
  refused(file.at, 8 + 8 + 4, "");
  struct png lies = small;
  lies.width = 20000;
  lies.height = 20000;
  write_png(&file, lies);
  refused(file.at, file.n, "more than 100 million");
  lies.width = lies.height = 9000;
  write_png(&file, lies);
  refused(file.at, file.n, "bytes of PNG can hold");
  refused((const uint8_t *)"GIF89a", 6, "does not start like a PNG or JPEG");
}

static long megabytes_used(void)
{
  struct rusage used;
  assert_int_equal(getrusage(RUSAGE_SELF, &used), 0);
  return used.ru_maxrss / 1024;
}

/* A row of the width that a header claims would take 6 GB. */
static void claims_take_no_memory(void **state)
{
  (void)state;
  long before = megabytes_used();
  struct png lies = samples[7].png;
  lies.width = 0x7fffffff;
  lies.height = 1;
  write_png(&file, lies);
  refused(file.at, file.n, "claims 2147483647 x 1 pixels, more than 100 million");
  lies.width = 100000000;
  write_png(&file, lies);
  refused(file.at, file.n, "bytes of PNG can hold");
  if (megabytes_used() > before + 50) fail_msg("%ld MB, %ld before", megabytes_used(), before);
}

static uint8_t *corpus(const char *name, size_t *n)
{
  char path[256];
  uint8_t *data = NULL;
  r4_error e = {0};
  snprintf(path, sizeof path, "test/fuzz/corpus/image/%s", name);
  if (file_read(path, 1 << 20, &data, n, &e)) fail_msg("%s", e.text);
  return data;
}

/* Three stripes of 8 x 16 pixels. */
static void every_kind_of_jpeg(void **state)
{
  (void)state;
  static const char *const names[] = {"rgb444.jpg", "rgb420.jpg", "progressive.jpg", "cmyk.jpg", "grey.jpg"};
  static const uint8_t colour[3][3] = {{200, 30, 40}, {20, 180, 60}, {90, 90, 160}};
  for (int f = 0; f < 5; f++) {
    size_t n;
    uint8_t *data = corpus(names[f], &n);
    struct image as, image;
    r4_error e = {0};
    bool grey = f == 4;
    if (image_look(data, n, names[f], &as, &e) || image_decode(data, n, names[f], 3, &image, &e))
      fail_msg("%s", e.text);
    assert_true(as.height == 16 && as.width == 24 && as.channels == (grey ? 1 : 3));
    for (int k = 0; k < 3; k++)
      for (int c = 0; c < 3; c++) { /* in the middle of the stripe: half as many colours blur its border */
        int got = image.pixel[(8 * 24 + 8 * k + 4) * 3 + c], want = grey ? 40 + 80 * k : colour[k][c];
        if (abs(got - want) > (f == 1 ? 12 : 3))
          fail_msg("%s: stripe %d: %d, not %d", names[f], k, got, want);
      }
    image_clear(&image);
    r4_mem_free(data);
  }
}

static void broken_jpeg_is_refused(void **state)
{
  (void)state;
  size_t n;
  uint8_t *data = corpus("rgb444.jpg", &n);
  for (size_t k = 0; k < n; k++) {
    r4_error e = {0};
    struct image image;
    assert_int_not_equal(image_decode(data, k, "x.jpg", 3, &image, &e), R4_OK);
    assert_null(image.pixel);
    assert_memory_equal(e.text, "x.jpg: ", 7);
  }
  uint8_t *cut = r4_mem_new(n, 1); /* an end marker where pixels should be */
  memcpy(cut, data, n - 22);
  memcpy(cut + n - 22, "\xff\xd9", 2);
  refused(cut, n - 20, "not a valid JPEG");
  r4_mem_free(cut);
  data = r4_mem_grow(data, n + 2, 1);
  memcpy(data + n, "\xff\xd9", 2);
  refused(data, n + 2, "2 bytes after the end");
  for (size_t k = 0; k + 9 < n; k++) /* the size, in the start of the frame */
    if (data[k] == 0xff && data[k + 1] == 0xc0) memcpy(data + k + 5, "\x30\0\x10\0", 4);
  refused(data, n, "bytes of JPEG can hold");
  r4_mem_free(data);
}

/* ---- Orientation ---- */

/* quarters.jpg, 32 x 16, with what EXIF says about its orientation behind the first two bytes. */
static void turned_jpeg(bool little, uint16_t orientation)
{
  static const uint8_t head[] = {0xff, 0xe1, 0, 34, 'E', 'x', 'i', 'f', 0, 0};
  uint8_t high = (uint8_t)(orientation >> 8), low = (uint8_t)orientation;
  uint8_t big[] = {'M', 'M', 0, 42, 0, 0,    0, 8,   0, 1, 1, 0x12, 0, /* one entry: */
                   3,   0,   0, 0,  1, high, low, 0, 0, 0, 0, 0,    0};
  uint8_t small[] = {'I', 'I', 42, 0, 8,   0,    0, 0, 1, 0, 0x12, 1, 3, /* the same */
                     0,   1,   0,  0, 0,   low,  high, 0, 0, 0, 0, 0, 0};
  size_t n;
  uint8_t *data = corpus("quarters.jpg", &n);
  file.n = 0;
  bytes_put(&file, data, 2);
  bytes_put(&file, head, sizeof head);
  bytes_put(&file, little ? small : big, sizeof big);
  bytes_put(&file, data + 2, n - 2);
  r4_mem_free(data);
}

/* The stored quarters are a, b above c, d. As EXIF has it, 6 is stored turned to the left, and 8 to the right. */
static void photos_stand_as_they_are_shown(void **state)
{
  (void)state;
  static const char *const shown[] = {"abcd", "abcd", "badc", "dcba", "cdab",
                                      "acbd", "cadb", "dbca", "bdac", "abcd"};
  for (int k = 0; k < 20; k++) {
    uint16_t orientation = (uint16_t)(k / 2);
    bool upright = orientation < 5 || orientation > 8;
    struct image as, image;
    r4_error e = {0};
    turned_jpeg(k % 2, orientation);
    if (image_look(file.at, file.n, "x", &as, &e) || image_decode(file.at, file.n, "x", 1, &image, &e))
      fail_msg("%s", e.text);
    assert_true(as.height == image.height && as.width == image.width);
    assert_int_equal(image.height, upright ? 16 : 32);
    for (size_t q = 0; q < 4; q++) {
      size_t y = (2 * (q / 2) + 1) * image.height / 4, x = (2 * (q % 2) + 1) * image.width / 4;
      int want = 40 + 60 * (shown[orientation][q] - 'a'), got = image.pixel[y * image.width + x];
      if (abs(got - want) > 3) fail_msg("orientation %d, quarter %zu: %d, not %d", orientation, q, got, want);
    }
    image_clear(&image);
  }
}

/* What EXIF says may lead anywhere: then nothing is said. */
static void broken_exif_says_nothing(void **state)
{
  (void)state;
  enum { FROM = 2, TO = 2 + 36 };
  for (size_t at = FROM + 4; at < TO; at++)
    for (int value = 0; value < 256; value += at < FROM + 18 ? 1 : 51) {
      struct image image;
      turned_jpeg(at % 2, 6);
      file.at[at] = (uint8_t)value;
      if (image_decode(file.at, file.n, "x", 3, &image, NULL)) fail_msg("byte %zu = %d is refused", at, value);
      assert_int_equal(image.height * image.width, 32 * 16);
      image_clear(&image);
    }
}

/* ---- Writing ---- */

static void written_is_read(void **state)
{
  (void)state;
  for (size_t channels = 1; channels <= 3; channels += 2) {
    struct image image, back;
    uint8_t *data = NULL;
    size_t n = 0;
    assert_int_equal(image_new(&image, 40, 31, channels, NULL), R4_OK);
    draw_start(1, (uint32_t)channels);
    for (size_t i = 0; i < 40 * 31 * channels; i++) image.pixel[i] = (uint8_t)draw_below(256);
    assert_int_equal(image_encode(&image, &data, &n, NULL), R4_OK);
    assert_int_equal(image_decode(data, n, "own", channels, &back, NULL), R4_OK);
    assert_true(back.height == 40 && back.width == 31);
    assert_memory_equal(back.pixel, image.pixel, 40 * 31 * channels);
    r4_mem_free(data);
    image_clear(&back);
    image_clear(&image);
  }
}

/* ---- Resizing ---- */

/* The definition, pixel by pixel and in both directions at once. */
static double resized(const struct image *from, size_t height, size_t width, size_t y, size_t x, size_t c)
{
  double scale_y = (double)from->height / (double)height, scale_x = (double)from->width / (double)width;
  double sum = 0, weights = 0;
  for (size_t i = 0; i < from->height; i++)
    for (size_t j = 0; j < from->width; j++) {
      double wy = 1 - fabs((double)i + .5 - ((double)y + .5) * scale_y) / fmax(1, scale_y);
      double wx = 1 - fabs((double)j + .5 - ((double)x + .5) * scale_x) / fmax(1, scale_x);
      if (wy <= 0 || wx <= 0) continue;
      weights += wy * wx;
      sum += wy * wx * from->pixel[(i * from->width + j) * from->channels + c];
    }
  return sum / weights;
}

static void resizing_is_as_defined(void **state)
{
  (void)state;
  static const size_t sizes[][4] = {{9, 7, 4, 5}, {5, 4, 13, 11}, {16, 16, 8, 8},  {3, 40, 30, 4},
                                    {1, 1, 6, 6}, {12, 10, 1, 1}, {10, 10, 10, 9}, {33, 21, 32, 22}};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
    for (size_t channels = 1; channels <= 3; channels += 2) {
      struct image from;
      size_t height = sizes[k][2], width = sizes[k][3];
      assert_int_equal(image_new(&from, sizes[k][0], sizes[k][1], channels, NULL), R4_OK);
      draw_start(2, (uint32_t)k);
      for (size_t i = 0; i < from.height * from.width * channels; i++)
        from.pixel[i] = (uint8_t)(draw_below(2) ? draw_below(256) : 255 * draw_below(2));
      uint8_t *to = malloc(height * width * channels);
      assert_int_equal(resize(&from, height, width, to, NULL), R4_OK);
      for (size_t i = 0; i < height * width * channels; i++) {
        double want = resized(&from, height, width, i / channels / width, i / channels % width, i % channels);
        if (fabs(to[i] - want) > .5 + 1e-3) fail_msg("size %zu, byte %zu is %u, not %g", k, i, to[i], want);
      }
      free(to);
      image_clear(&from);
    }
}

/* A flat image stays flat to the last bit, and the same size is a copy. */
static void resizing_keeps_flat_images(void **state)
{
  (void)state;
  struct image from;
  uint8_t to[64 * 64];
  for (int v = 0; v < 256; v += 15) {
    assert_int_equal(image_new(&from, 37, 53, 1, NULL), R4_OK);
    memset(from.pixel, v, 37 * 53);
    for (size_t side = 1; side <= 64; side += 9) {
      assert_int_equal(resize(&from, side, 65 - side, to, NULL), R4_OK);
      for (size_t i = 0; i < side * (65 - side); i++) assert_int_equal(to[i], v);
    }
    image_clear(&from);
  }
}

/* ---- Memory ---- */

static void memory_may_run_out(void **state)
{
  (void)state;
  size_t n;
  size_t turned_size;
  uint8_t *jpeg = corpus("cmyk.jpg", &n), *turned = corpus("turned6.jpg", &turned_size);
  write_png(&file, samples[5].png);
  for (long at = 1;; at++) {
    r4_error e = {0};
    struct image image[3] = {0};
    struct image_values values = {0};
    uint8_t *data = NULL, to[6];
    size_t size;
    r4_mem_fail_at(at);
    bool done = !image_decode(file.at, file.n, "x", 3, &image[0], &e) && !resize(&image[0], 1, 2, to, &e) &&
                !image_encode(&image[0], &data, &size, &e) && !image_decode(jpeg, n, "y", 1, &image[1], &e) &&
                !image_decode(turned, turned_size, "z", 1, &image[2], &e);
    if (done) done = !image_read_values(file.at, file.n, "x", &values, &e);
    bool reached = r4_mem_count() >= at;
    r4_mem_fail_at(0);
    if (!done && e.status != R4_E_MEMORY) fail_msg("allocation %ld: %s", at, e.text);
    r4_mem_free(data);
    image_values_clear(&values);
    image_clear(&image[0]);
    image_clear(&image[1]);
    image_clear(&image[2]);
    if (!reached) break;
  }
  r4_mem_free(jpeg);
  r4_mem_free(turned);
}

/* What a pixel has a part in is touched, by setting each in turn; and hardly more is. */
static void marked_pixels_touch_what_they_have_a_part_in(void **state)
{
  (void)state;
  static const size_t sizes[][4] = {{9, 7, 4, 5}, {3, 4, 8, 7}, {5, 5, 5, 5}, {13, 6, 2, 6}};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    uint8_t pixel[100] = {0}, to[100], touched[100];
    size_t height = sizes[k][2], width = sizes[k][3], sure = 0, all = 0;
    struct image from = {sizes[k][0], sizes[k][1], 1, pixel};
    for (size_t p = 0; p < from.height * from.width; p++) {
      pixel[p] = 255;
      assert_int_equal(resize(&from, height, width, to, NULL), R4_OK);
      pixel[p] = 1;
      assert_int_equal(resize_touched(&from, height, width, touched, NULL), R4_OK);
      pixel[p] = 0;
      for (size_t i = 0; i < height * width; i++) {
        assert_true(touched[i] == 1 || (!touched[i] && !to[i]));
        sure += to[i] > 0;
        all += touched[i];
      }
    }
    assert_true(all >= sure && all <= 4 * sure);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(marked_pixels_touch_what_they_have_a_part_in),
    cmocka_unit_test(every_kind_of_png),      cmocka_unit_test(numbers_are_as_stored),
    cmocka_unit_test(broken_png_is_refused),  cmocka_unit_test(claims_take_no_memory),
    cmocka_unit_test(every_kind_of_jpeg),     cmocka_unit_test(broken_jpeg_is_refused),
    cmocka_unit_test(photos_stand_as_they_are_shown), cmocka_unit_test(broken_exif_says_nothing),
    cmocka_unit_test(written_is_read),        cmocka_unit_test(resizing_is_as_defined),
    cmocka_unit_test(resizing_keeps_flat_images), cmocka_unit_test(memory_may_run_out)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
