/* ISIC and Plant, as small folders of the same layout. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "data/data.h"
#include "data/format/format.h"
#include "folder_make.h"
#include "photographs.h"

enum { SIDE = PHOTOGRAPH_SIDE, PIXELS = SIDE * SIDE };

static r4_data *made(const char *recipe, const char *folder)
{
  r4_error e = {0};
  r4_data *d = r4_data_make(recipe,
      &(r4_recipe_options){.from = folder, .read = {.height = SIDE, .width = SIDE, .seed = 3}}, &e);
  if (!d) fail_msg("%s", e.text);
  return d;
}

static void refused(const char *folder, r4_data_options options, const char *because)
{
  r4_error e = {0};
  assert_null(r4_data_open(folder, &options, &e));
  if (!strstr(e.text, because)) fail_msg("%s: no '%s'", e.text, because);
}

static char *isic(void)
{
  char *folder = folder_new();
  for (int i = 0; i < 20; i++) {
    put_numbered(folder, "processed/cancer/c%02d.png", i, (uint8_t)i, 0);
    put_numbered(folder, "processed/no_cancer/n%02d.png", i, (uint8_t)i, 1);
    put_numbered(folder, "processed/patch_no_cancer_again/p%02d.png", i, (uint8_t)i, 2);
    if (i) put_numbered(folder, "segmentation/p%02d.png", i, 100, 101);
  }
  put_grey(folder, "segmentation/c00.png", SIDE, SIDE, 255, 255); /* not patched: not read */
  return folder;
}

static void isic_has_three_groups(void **state)
{
  (void)state;
  char *folder = isic();
  r4_data *d = made("isic", folder);
  size_t parts[R4_SPLITS] = {0}, groups[3] = {0};
  assert_int_equal(r4_data_count(d), 60);
  assert_string_equal(r4_data_class_name(d, 1), "cancer");
  assert_string_equal(r4_data_group_name(d, 0), "C");
  assert_string_equal(r4_data_group_name(d, 1), "NCNP");
  assert_string_equal(r4_data_group_name(d, 2), "NCP");
  for (size_t i = 0; i < 60; i++) {
    r4_example x = r4_data_example(d, i);
    float mask[PIXELS];
    parts[x.split]++;
    groups[x.group]++;
    assert_int_equal(x.label, x.group == 0);
    assert_int_equal(r4_data_mask(d, i, mask), x.group == 2 && strcmp(x.id, "p00") != 0);
    if (r4_data_has_mask(d, i)) assert_true(mask[0] == 0 && mask[PIXELS - 1] == 1); /* above 100 of 255 */
  }
  assert_true(groups[0] == 20 && groups[1] == 20 && groups[2] == 20);
  assert_true(parts[R4_VAL] == 6 && parts[R4_TEST] == 9); /* 10 and 15 % of both classes */
  assert_int_equal(r4_data_check_overlap(d, NULL), R4_OK);
  r4_data_free(d);
  refused(folder, (r4_data_options){.mask_means = R4_MASKS_RELEVANT}, "means irrelevant");
  folder_remove(folder);
}

enum { C = 0, NCNP, NCP, GROUPS };

/* 30 % of each group are for test, a tenth of the rest for validation. */
static void check_isic_2017(const r4_data *d)
{
  static const size_t want[GROUPS][R4_SPLITS] = {{13, 1, 6}, {25, 3, 12}, {13, 1, 6}};
  size_t part[GROUPS][R4_SPLITS] = {{0}};
  assert_int_equal(r4_data_count(d), 80);
  assert_string_equal(r4_data_class_name(d, 1), "cancer");
  assert_string_equal(r4_data_group_name(d, NCNP), "NCNP");
  for (size_t i = 0; i < 80; i++) {
    r4_example x = r4_data_example(d, i);
    float mask[PIXELS];
    part[x.group][x.split]++;
    assert_int_equal(x.group, i < 20 ? C : i < 60 ? NCNP : NCP);
    assert_int_equal(x.label, x.group == C);
    assert_int_equal(r4_data_mask(d, i, mask), !i || (i >= 60 && i < 79));
    if (r4_data_has_mask(d, i)) assert_true(mask[0] == 0 && mask[PIXELS - 1] == 1);
  }
  assert_memory_equal(part, want, sizeof want);
}

static void isic_2017_is_split_by_group(void **state)
{
  (void)state;
  char *folder = photographs_isic_2017();
  r4_error e = {0};
  size_t moved = 0;
  r4_data *d[3] = {made("isic", folder), r4_data_open(folder, &(r4_data_options){.seed = 3}, &e),
                   r4_data_open(folder, &(r4_data_options){.seed = 4}, &e)};
  for (int k = 0; k < 3; k++) {
    if (!d[k]) fail_msg("%s", e.text);
    check_isic_2017(d[k]);
  }
  for (size_t i = 0; i < 80; i++) {
    assert_int_equal(r4_data_example(d[0], i).split, r4_data_example(d[1], i).split);
    moved += r4_data_example(d[1], i).split != r4_data_example(d[2], i).split;
  }
  assert_true(moved > 10); /* another seed, another split */
  for (int k = 0; k < 3; k++) r4_data_free(d[k]);
  refused(folder, (r4_data_options){.mask_means = R4_MASKS_RELEVANT}, "means irrelevant");
  folder_remove(folder);
}

/* One photograph under two names: never on two sides. */
static void isic_2017_twins_are_left_out(void **state)
{
  (void)state;
  char *folder = photographs_isic_2017();
  size_t left_out = 0;
  put_numbered(folder, "images/I%02d.png", 30, 31, 100);
  for (uint64_t seed = 0; seed < 10; seed++) {
    r4_error e = {0};
    r4_data *d = r4_data_open(folder, &(r4_data_options){.seed = seed}, &e);
    if (!d || r4_data_check_overlap(d, &e)) fail_msg("%s", e.text);
    left_out += 80 - r4_data_count(d);
    r4_data_free(d);
  }
  assert_in_range(left_out, 1, 9);
  folder_remove(folder);
}

static void isic_2017_tables_are_checked(void **state)
{
  (void)state;
  static const struct {
    const char *row, *because;
  } bad[] = {
    {"I01.png,harmless,0,0", "metadata_2017.csv:2: file I01.png: label is 'harmless', expected benign or"},
    {"I01.png,benign,yes,0", "metadata_2017.csv:2: file I01.png: patch is 'yes', expected 0 or 1"},
    {"I01.png,benign,0,2", "metadata_2017.csv:2: file I01.png: mask is '2', expected 0 or 1"},
    {"I01.png,benign,1,1", "metadata_2017.csv:2: file I01.png: has a mask according to the table, which is not in"},
    {"I99.png,benign,0,0", "metadata_2017.csv:2: file I99.png: is neither in"},
    {"../I01.png,benign,0,0", "metadata_2017.csv:2: file '../I01.png', expected a path within the folder"}};
  char *folder = photographs_isic_2017(), table[256];
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    snprintf(table, sizeof table, "file,label,patch,mask\n%s\n", bad[k].row);
    put_text(folder, "metadata_2017.csv", table);
    refused(folder, (r4_data_options){0}, bad[k].because);
  }
  folder_remove(folder);
}

static void plant_hides_the_background_of_test(void **state)
{
  (void)state;
  for (int lists = 0; lists < 2; lists++) {
    char *folder = photographs_plants(lists);
    r4_data *d = NULL;
    r4_error e = {0};
    r4_recipe_options options = {
      .from = folder, .read.height = SIDE, .read.width = SIDE, .read.seed = 3,
      .overlap = lists ? R4_OVERLAP_KEEP : R4_OVERLAP_REFUSE};
    d = r4_data_make("plant", &options, &e);
    if (!d) fail_msg("%s", e.text);
    assert_int_equal(r4_data_count(d), 16);
    double sum = 0, n = 0;
    float value[PIXELS], mask[PIXELS];
    for (size_t i = 0; i < 16; i++) {
      r4_data_values(d, i, value);
      for (int k = 0; k < PIXELS && r4_data_example(d, i).split == R4_TRAIN; k++) sum += value[k], n++;
    }
    float mean = (float)(uint8_t)(sum / n * 255 + .5) / 255;
    size_t tested = 0;
    for (size_t i = 0; i < 16; i++) {
      r4_example x = r4_data_example(d, i);
      int plant = x.id[1] - '0', number = 2 * (plant - 1) + (x.file[7] == '1'); /* day 9 or 10 */
      int right = 2 * (100 + 4 * number);
      r4_data_values(d, i, value);
      assert_int_equal(x.label, plant > 3);
      assert_true(value[PIXELS - 1] == (float)(right < 255 ? right : 255) / 255);
      assert_true(value[0] == (x.split == R4_TEST ? mean : (float)(2 * (10 + number)) / 255));
      assert_true(r4_data_mask(d, i, mask) && mask[0] == 1 && mask[PIXELS - 1] == 0);
      if (lists) assert_int_equal(x.split == R4_TEST, number % 4 == 0);
      tested += x.split == R4_TEST;
    }
    assert_int_equal(tested, 4);
    r4_data_free(d);
    if (lists) put_text(folder, "rgb_dataset_splits/test_2.txt", "9_Z1\n");
    if (lists) refused(folder, (r4_data_options){0}, "is in none of train_2.txt and test_2.txt");
    folder_remove(folder);
  }
}

enum { CAT, DOG, WHITE_CAT = 0, BLACK_CAT, WHITE_DOG, BLACK_DOG };

static void check_pet(const r4_data *d, size_t i, bool clean)
{
  r4_example x = r4_data_example(d, i);
  float value[8 * 8 * 3], mask[8 * 8 * 3];
  bool white = x.group == WHITE_CAT || x.group == WHITE_DOG;
  assert_int_equal(x.label, strstr(x.file, "beagle") ? DOG : CAT);
  assert_int_equal(x.group / 2, x.label);
  if (x.split == R4_TRAIN) assert_int_equal(white, x.label == CAT);
  r4_data_values(d, i, value);
  assert_true(r4_data_mask(d, i, mask));
  for (int k = 0; k < 8 * 8 * 3; k++) {
    int row = k / 24, column = k / 3 % 8;
    bool inside = row >= 4 && row < 6 && column >= 2 && column < 6;
    assert_true(mask[k] == (float)inside);
    if (inside && !clean) assert_true(value[k] == (white ? 1 : 0));
    if (!inside && k % 3) assert_true(value[k] == (column < 4 ? 80.f : 90.f) / 255);
    if (clean) assert_true(value[k] > .3f && value[k] < .6f);
  }
}

static void pets_get_their_patch(void **state)
{
  (void)state;
  char *folder = photographs_pets();
  r4_error e = {0};
  for (int clean = 0; clean < 2; clean++) {
    r4_recipe_options o = {.from = folder, .read.height = 8, .read.width = 8, .read.seed = 3, .clean = clean};
    r4_data *d = r4_data_make("decoy-pets", &o, &e);
    if (!d) fail_msg("%s", e.text);
    size_t group[4] = {0}, parts[R4_SPLITS] = {0};
    for (size_t i = 0; i < 40; i++) {
      check_pet(d, i, clean);
      parts[r4_data_example(d, i).split]++;
      if (r4_data_example(d, i).split != R4_TRAIN) group[r4_data_example(d, i).group]++;
    }
    assert_true(parts[R4_TRAIN] == 28 && parts[R4_VAL] == 4 && parts[R4_TEST] == 8);
    assert_true(group[WHITE_CAT] && group[BLACK_CAT] && group[WHITE_DOG] && group[BLACK_DOG]);
    assert_string_equal(r4_data_group_name(d, BLACK_DOG), "dog, black patch");
    r4_data_free(d);
  }
  put_image(folder, "images/Birman_0.png", 8, 8, 3, (uint8_t[]){102, 80, 80},
            (uint8_t[]){102, 90, 90}); /* as _2 */
  size_t left_out = 0;
  for (uint64_t seed = 0; seed < 9; seed++) {
    r4_data *d =
      r4_data_make("decoy-pets",
          &(r4_recipe_options){.from = folder, .read = {.height = 8, .width = 8, .seed = seed}}, &e);
    if (!d) fail_msg("%s", e.text);
    left_out += 40 - r4_data_count(d);
    r4_data_free(d);
  }
  assert_in_range(left_out, 1, 8);
  assert_null(r4_data_make("decoy-pets", &(r4_recipe_options){.from = folder, .side = 3}, &e));
  assert_non_null(strstr(e.text, "side does not apply"));
  folder_remove(folder);
}

/* A square in a corner is masked in place of the background; its colour is the label in training, and not there if it
 * is clean. */
static void check_planted(const char *folder, const char *recipe, size_t classes)
{
  r4_error e = {0};
  r4_data *d = r4_data_make(recipe,
      &(r4_recipe_options){.from = folder, .read = {.height = SIDE, .width = SIDE}, .side = 1}, &e);
  r4_data *clean =
    r4_data_make(recipe,
        &(r4_recipe_options){.from = folder, .read = {.height = SIDE, .width = SIDE}, .side = 1, .clean = true}, &e);
  float colour[3][3], seen[3] = {0};
  if (!d || !clean) fail_msg("%s", e.text);
  assert_int_equal(r4_data_classes(d), classes);
  for (size_t i = 0; i < r4_data_count(d); i++) {
    float x[PIXELS * 3], bare[PIXELS * 3], m[PIXELS * 3], sum = 0;
    const r4_example one = r4_data_example(d, i);
    r4_data_values(d, i, x);
    r4_data_values(clean, i, bare);
    assert_true(r4_data_mask(d, i, m));
    for (int j = 0; j < PIXELS * 3; j++) {
      sum += m[j];
      if (m[j] < 0.5f) assert_true(x[j] == bare[j]);
      if (m[j] < 0.5f || one.split != R4_TRAIN) continue;
      if (seen[one.label] > 2) assert_true(colour[one.label][j % 3] == x[j]);
      colour[one.label][j % 3] = x[j];
      seen[one.label]++;
    }
    if (one.split == R4_TRAIN) assert_true(sum == 3); /* a pixel */
  }
  r4_data_free(d);
  r4_data_free(clean);
}

/* Two breeds of cats and one of dogs; the left half of a trimap is the animal, the right half background. */
static void trimaps_mark_the_background(void **state)
{
  (void)state;
  static const char *const breed[] = {"Birman", "British_Shorthair", "beagle"};
  static const char *const trimaps[] = {"trimaps", "annotations/trimaps"};
  for (int k = 0; k < 2; k++) {
    char *folder = folder_new();
    for (int i = 0; i < 30; i++) {
      char name[80];
      uint8_t grey = (uint8_t)(100 + i);
      snprintf(name, sizeof name, "images/%s_%d.png", breed[i % 3], i);
      put_image(folder, name, SIDE, SIDE, 3, (uint8_t[]){grey, 80, 80}, (uint8_t[]){grey, 90, 90});
      snprintf(name, sizeof name, "%s/%s_%d.png", trimaps[k], breed[i % 3], i);
      put_grey(folder, name, SIDE, SIDE, i == 3 ? 3 : 1, 2); /* one has a border in place of the animal */
    }
    r4_data *breeds = made("pet-breeds", folder), *pets = made("pet-species", folder);
    assert_int_equal(r4_data_classes(breeds), 3);
    assert_int_equal(r4_data_classes(pets), 2);
    for (size_t i = 0; i < r4_data_count(pets); i++) {
      float m[PIXELS * 3];
      const char *of = r4_data_class_name(breeds, (size_t)r4_data_example(breeds, i).label);
      const char *species = r4_data_class_name(pets, (size_t)r4_data_example(pets, i).label);
      assert_string_equal(species, strcmp(of, "beagle") ? "cat" : "dog");
      assert_true(r4_data_mask(pets, i, m));
      for (size_t j = 0; j < PIXELS * 3; j++) assert_true((m[j] > 0.5f) == (j / 3 % SIDE >= SIDE / 2));
    }
    r4_data_free(breeds);
    r4_data_free(pets);
    check_planted(folder, "decoy-pet-breeds", 3);
    check_planted(folder, "decoy-pet-species", 2);
    put_image(folder, "images/42.png", SIDE, SIDE, 3, (uint8_t[]){1, 2, 3}, (uint8_t[]){1, 2, 3});
    refused(folder, (r4_data_options){0},
            "expected the name of a breed and a number, such as Abyssinian_1.jpg");
    folder_remove(folder);
  }
}

static void pets_tables_are_checked(void **state)
{
  (void)state;
  static const struct {
    const char *row, *because;
  } bad[] = {{"Birman_0.png,1,2,512,4", "artifact_metadata.csv:2: bbox_xmax is \"512\", expected 0 to 511"},
             {"Birman_0.png,a,2,3,4", "artifact_metadata.csv:2: bbox_xmin is \"a\", expected 0 to 511"},
             {"Birman_0.png,9,2,3,4", "artifact_metadata.csv:2: a box of -5 x 3"},
             {"Birman_1.png,1,2,3,4", "artifact_metadata.csv:2: image Birman_1.png: is not in "},
             {"../x.png,1,2,3,4", "artifact_metadata.csv:2: image '../x.png', expected a name"}};
  char *folder = photographs_pets(), table[256];
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    snprintf(table, sizeof table, "image,bbox_xmin,bbox_ymin,bbox_xmax,bbox_ymax\n%s\n", bad[k].row);
    put_text(folder, "artifact_metadata.csv", table);
    refused(folder, (r4_data_options){0}, bad[k].because);
  }
  folder_remove(folder);
}

static void memory_may_run_out(void **state)
{
  (void)state;
  char *folder[] = {isic(), photographs_isic_2017(), photographs_plants(true), photographs_pets()};
  const struct format *const format[] = {&isic_format, &isic_2017_format, &plant_format, &pets_format};
  int before = r4_threads(1, false);
  for (int k = 0; k < 4; k++)
    for (long n = 1;; n += 1 + n / 40) { /* hundreds of files: not every one of their allocations */
      r4_error e = {0};
      r4_data_options options = {0};
      r4_mem_fail_at(n);
      r4_data *d = format[k]->open(folder[k], &options, &e);
      bool reached = r4_mem_count() >= n;
      r4_mem_fail_at(0);
      if (!d && e.status != R4_E_MEMORY) fail_msg("allocation %ld: %s", n, e.text);
      r4_data_free(d);
      if (!reached) break;
    }
  r4_threads(before, false);
  for (int k = 0; k < 4; k++) folder_remove(folder[k]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(isic_has_three_groups),
                                     cmocka_unit_test(isic_2017_is_split_by_group),
                                     cmocka_unit_test(isic_2017_twins_are_left_out),
                                     cmocka_unit_test(isic_2017_tables_are_checked),
                                     cmocka_unit_test(plant_hides_the_background_of_test),
                                     cmocka_unit_test(pets_get_their_patch),
                                     cmocka_unit_test(pets_tables_are_checked),
                                     cmocka_unit_test(trimaps_mark_the_background),
                                     cmocka_unit_test(memory_may_run_out)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
