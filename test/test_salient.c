/* Salient ImageNet, on a small folder of its layout: which photographs, which masks, one side of the split each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/format/format.h"
#include "folder_make.h"

enum { SIDE = 4, PIXELS = SIDE * SIDE, OWN = 8, CLASSES = 6 };

static const struct {
  const char *wnid, *name;
  int spurious[2], core[4];
} each[CLASSES] = {{"n02174001", "rhinoceros beetle", {1581}, {1941, 1247, 1326, 1390}},
                   {"n02033041", "dowitcher", {925, 1468}, {1500, 427, 957}},
                   {"n02114548", "white wolf", {1401}, {1065, 151, 2004, 6}},
                   {"n02268443", "dragonfly", {1797}, {402, 754, 1178, 1390}},
                   {"n02480855", "gorilla", {665}, {1317, 490, 960, 797}},
                   {"n02514041", "barracouta", {778}, {686, 59, 449, 227}}};

/* A photograph of the class, by its number; left and right: the map. */
static void put(const char *folder, int k, int feature, int number, uint8_t left, uint8_t right)
{
  char name[120];
  uint8_t grey = (uint8_t)(40 * k + number);
  snprintf(name, sizeof name, "%s/feature_%d/images/%s_%d.png", each[k].wnid, feature, each[k].wnid, number);
  put_image(folder, name, SIDE, SIDE, 3, (uint8_t[]){grey, 80, 80}, (uint8_t[]){grey, 90, (uint8_t)k});
  snprintf(name, sizeof name, "%s/feature_%d/cams/%s_%d.png", each[k].wnid, feature, each[k].wnid, number);
  put_grey(folder, name, SIDE, SIDE, left, right);
}

/* Of each feature, OWN photographs, and number 0 of the first core one is number 0 of the first spurious one as well.
 * Maps of the first spurious feature mark the left half, those of a second one the right half; the two share number 1.
 * Maps of core features mark everything. */
static char *photographs(void)
{
  char *folder = folder_new();
  for (int k = 0; k < CLASSES; k++) {
    int number = 0;
    for (int f = 0; f < 2 && each[k].spurious[f]; f++) {
      for (int i = 0; i < OWN; i++) put(folder, k, each[k].spurious[f], number++, f ? 127 : 128, f ? 255 : 0);
      if (f) put(folder, k, each[k].spurious[f], 1, 0, 255);
    }
    put(folder, k, each[k].core[0], 0, 255, 255);
    for (int f = 0; f < 4 && each[k].core[f]; f++) put(folder, k, each[k].core[f], number++, 255, 255);
  }
  return folder;
}

static r4_data *made(const char *folder, uint64_t seed)
{
  r4_error e = {0};
  r4_data *d =
    r4_data_make("salient-imagenet",
        &(r4_recipe_options){.from = folder, .read = {.height = SIDE, .width = SIDE, .seed = seed}}, &e);
  if (!d) fail_msg("%s", e.text);
  return d;
}

/* The number in the name of the photograph, and its class. */
static int number_of(const r4_data *d, size_t i, const char **wnid)
{
  const char *file = r4_data_example(d, i).file;
  assert_non_null(file);
  *wnid = file;
  return (int)strtol(strrchr(file, '_') + 1, NULL, 10);
}

static void check_photograph(const r4_data *d, size_t i)
{
  const r4_example x = r4_data_example(d, i);
  const char *wnid, *group = r4_data_group_name(d, (size_t)x.group);
  int number = number_of(d, i, &wnid), k = x.label;
  float mask[PIXELS * 3];
  assert_int_equal(strncmp(wnid, each[k].wnid, 9), 0);
  assert_string_equal(r4_data_class_name(d, (size_t)k), each[k].name);
  assert_int_equal(strncmp(group, each[k].name, strlen(each[k].name)), 0);
  bool second = number >= OWN && number < 2 * OWN && each[k].spurious[1], first = number < OWN;
  bool both = number == 1 && each[k].spurious[1];
  assert_string_equal(group + strlen(each[k].name), first || second ? ", spurious" : ", core");
  assert_int_equal(r4_data_mask(d, i, mask), first || second);
  for (int j = 0; j < PIXELS * 3 && (first || second); j++) {
    bool left = j / 3 % SIDE < SIDE / 2;
    assert_true((mask[j] > 0.5f) == (both || (left ? first : second)));
  }
}

static void photographs_and_their_masks(void **state)
{
  (void)state;
  char *folder = photographs();
  r4_data *d = made(folder, 0);
  size_t features = 0;
  for (int k = 0; k < CLASSES; k++) {
    for (int f = 0; f < 2 && each[k].spurious[f]; f++) features += OWN;
    for (int f = 0; f < 4 && each[k].core[f]; f++) features++;
  }
  assert_int_equal(r4_data_classes(d), CLASSES);
  assert_int_equal(r4_data_count(d), features); /* each once */
  for (size_t i = 0; i < r4_data_count(d); i++) check_photograph(d, i);
  r4_data_free(d);
  folder_remove(folder);
}

/* Whatever the seed, and also if a photograph is there under two names. */
static void nothing_is_on_two_sides(void **state)
{
  (void)state;
  char *folder = photographs();
  r4_error e = {0};
  size_t all = 0, tests = 0, fewest = 1000, most = 0;
  put_image(folder, "n02174001/feature_1941/images/twin.png", SIDE, SIDE, 3, (uint8_t[]){3, 80, 80},
            (uint8_t[]){3, 90, 0});
  for (uint64_t seed = 0; seed < 12; seed++) {
    r4_data *d = made(folder, seed);
    if (r4_data_check_overlap(d, &e)) fail_msg("%s", e.text);
    size_t n = r4_data_count(d);
    for (size_t i = 0; i < n; i++) tests += r4_data_example(d, i).split == R4_TEST;
    all += n;
    if (n < fewest) fewest = n;
    if (n > most) most = n;
    r4_data_free(d);
  }
  assert_in_range(100 * tests / all, 20, 30);
  assert_int_equal(fewest + 1, most); /* the twin, where it would be on the other side */
  folder_remove(folder);
}

static void refused(const char *what, const char *because)
{
  char *folder = photographs(), line[400];
  snprintf(line, sizeof line, "cd %s && %s", folder, what);
  assert_int_equal(system(line), 0);
  folder_refused(folder, &(r4_data_options){0}, because);
  folder_remove(folder);
}

static void what_is_missing_is_said(void **state)
{
  (void)state;
  refused("rm -r n02114548", "has no folder n02114548 (white wolf), expected those of all six classes");
  refused("rm -r n02033041/feature_1468", "n02033041/feature_1468/images");
  refused("rm n02033041/feature_427/images/*", "n02033041/feature_427/images: has no photos");
  refused("rm n02480855/feature_665/cams/n02480855_3.png",
          "n02480855/feature_665/cams/n02480855_3.png: opening: No such file");
  char *folder = photographs();
  put_grey(folder, "n02033041/feature_1468/cams/n02033041_1.png", SIDE, SIDE + 1, 0, 255);
  folder_refused(folder, &(r4_data_options){0},
                 "has 5 x 4 pixels, expected 4 x 4, as its image n02033041/feature_925");
  folder_refused(folder, &(r4_data_options){.mask_means = R4_MASKS_RELEVANT}, "irrelevant");
  folder_remove(folder);
}

static void memory_may_run_out(void **state)
{
  (void)state;
  char *folder = photographs();
  int before = r4_threads(1, false);
  for (long n = 1;; n += 1 + n / 40) {
    r4_error e = {0};
    r4_data_options options = {0};
    r4_mem_fail_at(n);
    r4_data *d = salient_format.open(folder, &options, &e);
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
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(photographs_and_their_masks),
    cmocka_unit_test(nothing_is_on_two_sides),
    cmocka_unit_test(what_is_missing_is_said),
    cmocka_unit_test(memory_may_run_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
