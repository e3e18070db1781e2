/* Lint: what gives the label of images away is found, by its name; what does not, and any labels at random, give
 * nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "data/data.h"
#include "folder_make.h"
#include "picture/image.h"

enum { SIDE = 12, PIXELS = SIDE * SIDE, CHANNELS = 3, N = 400, CLASSES = 4, PERMUTATIONS = 20 };

/* ---- Images of noise ---- */

static r4_data *make(size_t n)
{
  draw_start(5, 0);
  struct column *v = column_new(&bytes_column, R4_SHAPE(SIDE, SIDE, CHANNELS), n, NULL);
  r4_data *d = v ? data_new(n, v, NULL) : NULL;
  assert_non_null(d);
  data_set_masks(d, masks_new(PIXELS, NULL));
  for (size_t k = 0; k < n * v->features; k++) ((uint8_t *)v->data)[k] = (uint8_t)draw_below(256);
  for (size_t i = 0; i < n; i++) d->record[i].label = (int)draw_below(CLASSES);
  for (int k = 0; k < CLASSES; k++) names_add(d->classes, (char[]){(char)('a' + k), 0}, NULL, NULL);
  assert_int_equal(data_finish(d, "test", NULL), R4_OK);
  return d;
}

static uint8_t *pixel(r4_data *d, size_t i, size_t y, size_t x)
{
  return (uint8_t *)column_row(data_x(d), i) + (y * SIDE + x) * CHANNELS;
}

/* A box of the colour of its class, but for one in 20. */
static void paint(r4_data *d, size_t i, size_t y, size_t x, size_t height, size_t width)
{
  static const uint8_t colour[CLASSES][CHANNELS] = {{255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {255, 255, 0}};
  int of = draw_below(20) ? d->record[i].label : (int)draw_below(CLASSES);
  for (size_t r = y; r < y + height; r++)
    for (size_t c = x; c < x + width; c++) memcpy(pixel(d, i, r, c), colour[of], CHANNELS);
}

static void cover(r4_data *d, size_t i, size_t y, size_t x, size_t height, size_t width)
{
  uint8_t mask[PIXELS] = {0};
  for (size_t r = y; r < y + height; r++) memset(mask + r * SIDE + x, 255, width);
  assert_int_equal(masks_add(data_masks(d), mask, &d->record[i].mask, NULL), R4_OK);
}

/* ---- What may be planted ---- */

static void nothing(r4_data *d)
{
  for (size_t i = 0; i < d->n; i++)
    cover(d, i, draw_below(8), draw_below(8), 2 + draw_below(2), 2 + draw_below(2));
}

static void masked_colour(r4_data *d)
{
  for (size_t i = 0; i < d->n; i++) {
    size_t y = draw_below(SIDE - 3), x = draw_below(SIDE - 3);
    cover(d, i, y, x, 3, 3);
    paint(d, i, y, x, 3, 3);
  }
}

static void masked_texture(r4_data *d)
{
  for (size_t i = 0; i < d->n; i++) {
    cover(d, i, 4, 4, 6, 6);
    int wide = d->record[i].label < 2;
    for (size_t k = 0; k < 36; k++)
      memset(pixel(d, i, 4 + k / 6, 4 + k % 6), (wide ? k / 6 : k % 6) % 2 ? 255 : 0, CHANNELS);
  }
}

static void mask_place(r4_data *d)
{
  for (size_t i = 0; i < d->n; i++) cover(d, i, 2 * (size_t)d->record[i].label + draw_below(2), 4, 3, 3);
}

static void mask_size(r4_data *d)
{
  for (size_t i = 0; i < d->n; i++)
    cover(d, i, draw_below(4), draw_below(4), 2 + (size_t)d->record[i].label, 2);
}

/* A third has a mask, at one place; the colour is in all, or in these alone. */
static void mask_a_third(r4_data *d, bool all)
{
  for (size_t i = 0; i < d->n; i++) {
    if (i % 3 == 0) cover(d, i, 5, 5, 3, 3);
    if (i % 3 == 0 || all) paint(d, i, 5, 5, 3, 3);
  }
}

static void masked_in_part(r4_data *d)
{
  mask_a_third(d, false);
}

static void masked_in_part_only(r4_data *d)
{
  mask_a_third(d, true);
}

/* Images of any brightness, where the grey of some pixels is the class. */
static void shade(r4_data *d, bool (*is_shaded)(size_t y, size_t x))
{
  for (size_t i = 0; i < d->n; i++) {
    uint8_t light = (uint8_t)draw_below(200);
    for (size_t k = 0; k < PIXELS; k++) {
      size_t y = k / SIDE, x = k % SIDE;
      memset(pixel(d, i, y, x), is_shaded(y, x) ? 40 * d->record[i].label : light + *pixel(d, i, y, x) / 5,
             CHANNELS);
    }
  }
}

static bool is_nowhere(size_t y, size_t x)
{
  (void)y, (void)x;
  return false;
}

static void corner(r4_data *d)
{
  shade(d, is_nowhere);
  for (size_t i = 0; i < d->n; i++) paint(d, i, SIDE - 2, 0, 2, 2);
}

static void covered_corner(r4_data *d)
{
  for (size_t i = 0; i < d->n; i++) {
    paint(d, i, SIDE - 2, 0, 2, 2);
    cover(d, i, SIDE - 2, 0, 2, 2);
  }
}

static void any_corner(r4_data *d)
{
  shade(d, is_nowhere);
  for (size_t i = 0; i < d->n; i++) paint(d, i, draw_below(2) * (SIDE - 2), draw_below(2) * (SIDE - 2), 2, 2);
}

static bool is_edge(size_t y, size_t x)
{
  return !y || !x || y == SIDE - 1 || x == SIDE - 1;
}

static void frame(r4_data *d)
{
  shade(d, is_edge);
}

/* The middle half, and the corner at the top left. */
static bool is_object(size_t y, size_t x)
{
  return (y < 2 && x < 2) || (y > 2 && y < 9 && x > 2 && x < 9);
}

static void object_to_the_corner(r4_data *d)
{
  shade(d, is_object);
}

/* What a class looks like all over, or in the middle, gives nothing away that is not plain. */
static void tint(r4_data *d)
{
  for (size_t i = 0; i < d->n; i++)
    for (size_t y = 0; y < SIDE; y++)
      for (size_t x = 0; x < SIDE; x++)
        *pixel(d, i, y, x) = (uint8_t)(*pixel(d, i, y, x) / 4 + 40 * d->record[i].label);
}

static void object(r4_data *d)
{
  for (size_t i = 0; i < d->n; i++) paint(d, i, 4, 4, 4, 4);
}

static const struct {
  void (*plant)(r4_data *d);
  const char *code, *text; /* NULL: nothing */
  bool note;
} cases[] = {
  {nothing, NULL, NULL, false},
  {masked_colour, "mask-label", "from its colour alone ", true},
  {masked_texture, "mask-label", "from its texture alone ", true},
  {mask_place, "mask-label", "from its place alone ", true},
  {mask_size, "mask-label", "from its size alone ", true},
  {masked_in_part, "mask-label", "have no mask: is the same in some of them?", false},
  {masked_in_part_only, "mask-label", "so does the same place in images without a mask: there ", false},
  {corner, "place-label", "the bottom left corner gives the label away", false},
  {covered_corner, "mask-label", "from its colour alone ", true},
  {any_corner, "place-label", "the corner that differs most from the others gives the label away", false},
  {frame, "place-label", "the border gives the label away", false},
  {tint, NULL, NULL, false},
  {object, NULL, NULL, false},
  {object_to_the_corner, NULL, NULL, false},
};

enum { CASES = sizeof cases / sizeof *cases };

/* ---- Asking ---- */

/* How many findings say that something gives the label away; the last of them. */
static size_t giveaways(const r4_data *d, const char *source, r4_finding *last)
{
  r4_finding finding[R4_FINDINGS];
  r4_error e = {0};
  size_t n = 0, found = 0;
  if (r4_data_lint(d, source, finding, &n, &e)) fail_msg("%s", e.text);
  for (size_t k = 0; k < n; k++)
    if (strstr(finding[k].code, "-label")) *last = finding[k], found++;
  return found;
}

static void expect(const r4_data *d, const char *source, const char *code, const char *text, bool note)
{
  r4_finding f = {.text = "none"};
  size_t n = giveaways(d, source, &f);
  if (n != (code != NULL))
    fail_msg("%s (%s): %zu found: %s", code ? code : "nothing", text ? text : "", n, f.text);
  if (code && (strcmp(f.code, code) || !strstr(f.text, text) || f.note != note))
    fail_msg("%s (%s): %s: %s", code, text, f.code, f.text);
}

/* Labels change places; what was planted stays where it is. */
static void permute(r4_data *d)
{
  for (size_t i = d->n; i-- > 1;) {
    size_t j = draw_below(i + 1);
    int32_t label = d->record[i].label;
    d->record[i].label = d->record[j].label;
    d->record[j].label = label;
  }
}

static void expect_nothing_permuted(r4_data *d, const char *source)
{
  draw_start(7, 0);
  for (int k = 0; k < PERMUTATIONS; k++) {
    permute(d);
    expect(d, source, NULL, NULL, false);
  }
}

static void each_is_found(void **state)
{
  (void)state;
  for (size_t k = 0; k < CASES; k++) {
    r4_data *d = make(N);
    cases[k].plant(d);
    expect(d, NULL, cases[k].code, cases[k].text, cases[k].note);
    r4_data_free(d);
  }
}

/* Guessing is one in four, and paint leaves out one in 20, of which a quarter is right anyway: 96 %. */
static void shares_are_right(void **state)
{
  (void)state;
  r4_data *d = make(N);
  r4_finding f = {.text = "none"};
  masked_colour(d);
  assert_int_equal(giveaways(d, NULL, &f), 1);
  const char *at = strstr(f.text, "alone ");
  unsigned right = 0, tested = 0, share = 0, guess = 0;
  assert_non_null(at);
  assert_int_equal(
    sscanf(at,
           "alone %u of %u training images (%u %%) are classified correctly, "
           "after learning from as many others, against %u",
           &right, &tested, &share, &guess),
    4);
  assert_in_range(tested, N / 2 - 60, N / 2);
  assert_in_range(right * 100, 92 * tested, 99 * tested);
  assert_in_range(share, (right * 100 - 50) / tested, (right * 100 + 50) / tested + 1);
  assert_int_equal(guess, 25);
  r4_data_free(d);
}

static void labels_at_random_give_nothing(void **state)
{
  (void)state;
  for (size_t k = 0; k < CASES; k++) {
    r4_data *d = make(N / 4); /* few: where chance goes far */
    cases[k].plant(d);
    expect_nothing_permuted(d, NULL);
    r4_data_free(d);
  }
}

static void digits_give_nothing(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_data *d = r4_data_open("digits:600", NULL, &e);
  if (!d) fail_msg("%s", e.text);
  expect(d, NULL, NULL, NULL, false);
  r4_data *other = data_derive(d, NULL);
  expect_nothing_permuted(other, NULL);
  r4_data_free(other);
  r4_data_free(d);
}

/* ---- Files ---- */

enum { FILES = 80, COMMENT = 400 };

static uint8_t *corpus(const char *name, size_t *n)
{
  char path[256];
  uint8_t *data = NULL;
  snprintf(path, sizeof path, "test/fuzz/corpus/image/%s", name);
  assert_int_equal(file_read(path, 1 << 20, &data, n, NULL), R4_OK);
  return data;
}

/* A JPEG with a comment of so many bytes; coarse: its table has another last number, which its pixels do not use. */
static void put_jpeg(const char *path, size_t comment, bool coarse)
{
  size_t n = 0;
  uint8_t *data = corpus("rgb444.jpg", &n), *to = calloc(1, n + 4 + comment);
  memcpy(to, (uint8_t[]){0xff, 0xd8, 0xff, 0xfe, (uint8_t)((comment + 2) >> 8), (uint8_t)(comment + 2)}, 6);
  for (size_t k = 0; coarse && k + 69 < n; k++)
    if (data[k] == 0xff && data[k + 1] == 0xdb) {
      data[k + 5 + 63]++;
      break;
    }
  memcpy(to + 6 + comment, data + 2, n - 2);
  FILE *f = fopen(path, "wb"); /* not file_write, which waits for the disk */
  assert_true(f && fwrite(to, 1, n + 4 + comment, f) == n + 4 + comment && !fclose(f));
  r4_mem_free(data);
  free(to);
}

/* What the file of an image of the first or the second class is. */
static void plain_files(const char *path, bool second)
{
  (void)second;
  put_jpeg(path, draw_below(COMMENT), false);
}

static void long_files(const char *path, bool second)
{
  put_jpeg(path, draw_below(COMMENT) + (second ? COMMENT : 0), false);
}

static void coarse_files(const char *path, bool second)
{
  put_jpeg(path, draw_below(COMMENT), second);
}

static void put_flat(const char *path, size_t side)
{
  char folder[4096];
  snprintf(folder, sizeof folder, "%s", path);
  *strrchr(folder, '/') = 0;
  put_grey(folder, strrchr(path, '/') + 1, side, side, 9, (uint8_t)(10 + draw_below(200)));
}

static void wide_files(const char *path, bool second)
{
  put_flat(path, second ? 16 : 24);
}

/* Noise makes them large, and can be seen. */
static void noisy_files(const char *path, bool second)
{
  struct image image;
  assert_int_equal(image_new(&image, 16, 16, 1, NULL), R4_OK);
  for (size_t k = 0; k < 256; k++) image.pixel[k] = (uint8_t)(100 + (second ? draw_below(100) : k % 2));
  assert_int_equal(image_write(&image, path, NULL), R4_OK);
  image_clear(&image);
}

/* The same image. */
static void two_formats(const char *path, bool second)
{
  size_t n = 0;
  struct image image = {0};
  uint8_t *data = corpus("rgb444.jpg", &n);
  assert_int_equal(image_decode(data, n, "", 3, &image, NULL), R4_OK);
  if (second)
    assert_int_equal(image_write(&image, path, NULL), R4_OK);
  else
    put_jpeg(path, 0, false);
  image_clear(&image);
  r4_mem_free(data);
}

/* Letters alone, each name once; or those of a class begin alike. */
static const char *letters(size_t i, bool second)
{
  static char name[8];
  (void)second;
  snprintf(name, sizeof name, "%c%c%c", (char)('a' + i / 26), (char)('a' + i % 26), 'x');
  return name;
}

static const char *cameras(size_t i, bool second)
{
  static char name[16];
  snprintf(name, sizeof name, "%s%zu", second ? "IMG_" : "DSC", i);
  return name;
}

static const char *classes(size_t i, bool second)
{
  static char name[16];
  snprintf(name, sizeof name, "%s_%zu", second ? "Dog" : "Cat", i);
  return name;
}

static const struct {
  void (*put)(const char *path, bool second);
  const char *(*call)(size_t i, bool second);
  const char *code, *text;
  bool note;
} file_cases[] = {
  {plain_files, letters, NULL, NULL, false},
  {long_files, letters, "file-label", "the size in bytes of its file gives", false},
  {coarse_files, letters, "file-label", "the JPEG quality of its file gives", false},
  {wide_files, letters, "file-label", "the height and width of its file gives", false},
  {two_formats, letters, "file-label", "the format (PNG or JPEG) of its file gives", false},
  {plain_files, cameras, "name-label", "the name up to the first digit gives", true},
  {plain_files, classes, NULL, NULL, false},
  {noisy_files, letters, NULL, NULL, false},
};

static void files_are_looked_at(void **state)
{
  (void)state;
  const r4_data_options options = {.height = 16, .width = 16};
  for (size_t k = 0; k < sizeof file_cases / sizeof *file_cases; k++) {
    char *folder = folder_new(), name[64];
    draw_start(9, (uint32_t)k);
    for (size_t i = 0; i < FILES; i++) {
      bool second = draw_below(2);
      snprintf(name, sizeof name, "%s/%s.png", second ? "dog" : "cat", file_cases[k].call(i, second));
      file_cases[k].put(path_in(folder, name), second);
    }
    r4_data *d = folder_opened(folder, &options);
    for (size_t i = 0; i < d->n; i++) d->record[i].split = R4_TRAIN;
    expect(d, folder, file_cases[k].code, file_cases[k].text, file_cases[k].note);
    expect(d, NULL, NULL, NULL, false);
    if (k == 1) expect_nothing_permuted(d, folder);
    r4_data_free(d);
    folder_remove(folder);
  }
}

/* Which format a folder has may stay unknown then, and files are not looked at. */
static void memory_may_run_out(void **state)
{
  (void)state;
  char *folder = folder_new(), name[64];
  for (size_t i = 0; i < 40; i++) {
    snprintf(name, sizeof name, "%s/%s.png", i % 2 ? "dog" : "cat", letters(i, false));
    put_flat(path_in(folder, name), 8);
  }
  r4_data *d = folder_opened(folder, NULL);
  r4_finding finding[R4_FINDINGS];
  for (long n = 1;; n += 1 + n / 8) {
    r4_error e = {0};
    size_t found = 0;
    r4_mem_fail_at(n);
    r4_status s = r4_data_lint(d, folder, finding, &found, &e);
    bool reached = r4_mem_count() >= n;
    r4_mem_fail_at(0);
    if (s && (s != R4_E_MEMORY || !*e.text)) fail_msg("allocation %ld: %d", n, (int)s);
    if (!reached) break;
  }
  r4_data_free(d);
  folder_remove(folder);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_is_found),       cmocka_unit_test(shares_are_right),
    cmocka_unit_test(digits_give_nothing), cmocka_unit_test(labels_at_random_give_nothing),
    cmocka_unit_test(files_are_looked_at), cmocka_unit_test(memory_may_run_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
