/* Recipes on real data: the counts that the papers state. Reads $R4_DATA_DIR, and skips what is not there. */
#include <string.h>

#include "chance.h"
#include "check.h"
#include "data/data.h"

static r4_data *make(const char *recipe, r4_recipe_options o)
{
  r4_error e = {0};
  r4_data *d = r4_data_make(recipe, &o, &e);
  if (!d) print_message("%s\n", e.text);
  assert_non_null(d);
  return d;
}

static void count(const r4_data *d, r4_split split, size_t classes, size_t *n)
{
  memset(n, 0, classes * sizeof *n);
  for (size_t i = 0; i < r4_data_count(d); i++)
    n[r4_data_example(d, i).label] += r4_data_example(d, i).split == split;
}

static size_t marked(const r4_data *d, size_t i, float *room)
{
  size_t n = 0;
  r4_data_mask(d, i, room);
  for (int64_t k = 0; k < r4_shape_count(r4_data_shape(d)); k++) n += room[k] == 1;
  return n;
}

static const uint8_t *image(const r4_data *d, size_t i)
{
  return column_row(data_x(d), d->record[i].row);
}

/* The class whose shade is in the corner of the image, from the mask of the corner in training and from any later. */
static int shade_shown(const r4_data *d, size_t i, const uint8_t *shade)
{
  for (size_t c = 0; c < 4; c++) {
    size_t at = (c & 2 ? 27u * 28 : 0) + (c & 1 ? 27u : 0);
    if (r4_data_example(d, i).split == R4_TRAIN && !masks_at(data_masks(d), d->record[i].mask)[at]) continue;
    for (int k = 0; k < 10; k++)
      if (image(d, i)[at] == shade[k]) return k;
  }
  return -1;
}

/* Decoy MNIST: 60000 and 10000 images, 6742 ones and 892 fives among them; 16 of 784 features of training are masked
 * and show the label in the paper's ten shades; 64 of test, and the shade there tells nothing. */
static void decoy_mnist(void **state)
{
  (void)state;
  CHECK_NEEDS_DATA("mnist");
  static const uint8_t shade[10] = {85, 76, 68, 60, 51, 43, 35, 26, 18, 10};
  static const size_t train[10] = {5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949},
                      test[10] = {980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009};
  static float room[784];
  r4_data *d = make("decoy-mnist", (r4_recipe_options){.read.seed = 1}), *base = r4_data_open("mnist", NULL, NULL);
  size_t n[10], shown[10][10] = {{0}};
  assert_int_equal(r4_data_count(d), 70000);
  count(d, R4_TRAIN, 10, n);
  assert_memory_equal(n, train, sizeof n);
  count(d, R4_TEST, 10, n);
  assert_memory_equal(n, test, sizeof n);
  for (size_t i = 0; i < 70000; i++) {
    r4_example x = r4_data_example(d, i);
    int k = shade_shown(d, i, shade);
    assert_in_range(k, 0, 9);
    if (x.split == R4_TRAIN) assert_int_equal(k, x.label);
    if (x.split == R4_TEST) shown[x.label][k]++;
    assert_int_equal(marked(d, i, room), x.split == R4_TRAIN ? 16 : 64);
    size_t changed = 0;
    for (size_t p = 0; p < 784; p++) {
      changed += image(d, i)[p] != image(base, i)[p];
      if (room[p] == 0) assert_int_equal(image(d, i)[p], image(base, i)[p]);
    }
    assert_true(changed <= 16);
  }
  assert_true(chance_independent(10, 10, shown[0]));
  assert_string_equal(r4_data_about(d), "r4 data make decoy-mnist --seed 1");
  r4_data_free(base);
  r4_data_free(d);
}

static void half_decoy_mnist(void **state)
{
  (void)state;
  CHECK_NEEDS_DATA("mnist");
  static float room[784];
  r4_data *d = make("half-decoy-mnist", (r4_recipe_options){.read.seed = 1, .val = .1});
  size_t n[10];
  count(d, R4_VAL, 10, n);
  assert_int_equal(n[5], 542); /* a tenth of 5421 */
  assert_int_equal(n[1], 674);
  for (size_t i = 0; i < r4_data_count(d); i += 7) assert_int_equal(marked(d, i, room), 392);
  r4_data_free(d);
}

/* No image of the official splits occurs twice in two of them. */
static void official_splits_do_not_overlap(void **state)
{
  const char *name = *state;
  CHECK_NEEDS_DATA(name);
  r4_error e = {0};
  r4_data *d = r4_data_open(name, NULL, &e);
  assert_non_null(d);
  assert_int_equal(r4_data_check_overlap(d, &e), R4_OK);
  r4_data_free(d);
}

static void decoy_on_fashion(void **state)
{
  (void)state;
  CHECK_NEEDS_DATA("fashion-mnist");
  static float room[784];
  r4_data *d = make("decoy", (r4_recipe_options){.from = "fashion-mnist", .read.seed = 2, .val = 1. / 12});
  size_t n[10];
  count(d, R4_TRAIN, 10, n);
  for (int k = 0; k < 10; k++) assert_int_equal(n[k], 5500);
  assert_int_equal(marked(d, 0, room), r4_data_example(d, 0).split == R4_TRAIN ? 16 : 64);
  r4_data_free(d);
}

/* Decoy DERM of HAM10000: 6705 nevi and 3310 others, 70 : 10 : 20 with all photographs of a lesion on one side; 768 of
 * 12288 features of training are masked and have the colour of the label. */
static void decoy_derm(void **state)
{
  (void)state;
  CHECK_NEEDS_DATA("ham10000");
  static const uint8_t colour[2][3] = {{128, 128, 179}, {128, 179, 128}};
  static float room[3 * 64 * 64];
  r4_data *d = make("decoy-derm", (r4_recipe_options){.read.seed = 1});
  size_t part[R4_SPLITS][2], shown[2][2] = {{0}};
  for (int k = 0; k < R4_SPLITS; k++) count(d, (r4_split)k, 2, part[k]);
  assert_int_equal(part[R4_TRAIN][0] + part[R4_VAL][0] + part[R4_TEST][0], 6705);
  assert_int_equal(part[R4_TRAIN][1] + part[R4_VAL][1] + part[R4_TEST][1], 3310);
  assert_in_range(part[R4_TEST][0] + part[R4_TEST][1], 1998, 2008);
  assert_in_range(part[R4_VAL][0] + part[R4_VAL][1], 997, 1007);
  assert_int_equal(r4_data_check_overlap(d, NULL), R4_OK);
  for (size_t i = 0; i < r4_data_count(d); i++) {
    r4_example x = r4_data_example(d, i);
    assert_int_equal(marked(d, i, room), x.split == R4_TRAIN ? 768 : 3072);
    for (size_t c = 0; c < 4; c++) {
      size_t at = (c & 2 ? 63u * 64 : 0) + (c & 1 ? 63u : 0);
      if (x.split == R4_TRAIN && room[3 * at] == 0) continue;
      for (size_t k = 0; k < 2; k++) {
        if (memcmp(image(d, i) + 3 * at, colour[k], 3)) continue;
        if (x.split == R4_TRAIN) assert_int_equal(k, x.label);
        if (x.split == R4_TEST) shown[x.label][k]++;
      }
    }
  }
  assert_true(chance_independent(2, 2, shown[0]));
  assert_in_range(shown[0][0] + shown[0][1] + shown[1][0] + shown[1][1], part[R4_TEST][0] + part[R4_TEST][1],
                  part[R4_TEST][0] + part[R4_TEST][1] + 5); /* a corner of skin may have one of the colours */
  r4_data_free(d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(decoy_mnist),
    cmocka_unit_test(half_decoy_mnist),
    cmocka_unit_test_prestate(official_splits_do_not_overlap, "mnist"),
    cmocka_unit_test_prestate(official_splits_do_not_overlap, "fashion-mnist"),
    cmocka_unit_test(decoy_on_fashion),
    cmocka_unit_test(decoy_derm)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
