/* Photographs whose place gives the label away: Waterbirds and PlantVillage, as small folders of the same layouts. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "data/data.h"
#include "data/format/format.h"
#include "folder_make.h"
#include "photographs.h"

enum { SIDE = PHOTOGRAPH_SIDE, PIXELS = SIDE * SIDE };

static r4_data *made(const char *recipe, const char *folder, bool clean)
{
  r4_error e = {0};
  r4_data *d = r4_data_make(
    recipe, &(r4_recipe_options){.from = folder, .clean = clean, .read = {.height = SIDE, .width = SIDE}}, &e);
  if (!d) fail_msg("%s", e.text);
  return d;
}

/* Every mask is 1 in one half of the image and 0 in the other. */
static void masks_are(const r4_data *d, float left, float right)
{
  for (size_t i = 0; i < r4_data_count(d); i++) {
    float mask[PIXELS];
    assert_true(r4_data_mask(d, i, mask));
    assert_true(mask[0] == left && mask[PIXELS - 1] == right);
  }
}

static void count(const r4_data *d, size_t in[4][R4_SPLITS])
{
  memset(in, 0, 4 * sizeof *in);
  for (size_t i = 0; i < r4_data_count(d); i++) {
    r4_example x = r4_data_example(d, i);
    in[x.group][x.split]++;
    assert_int_equal(x.label, x.group / 2);
  }
}

static void leaves_keep_their_shortcut_in_training(void **state)
{
  (void)state;
  static const size_t shortcut[4][R4_SPLITS] = {{2, 2, 2}, {8, 2, 2}, {8, 2, 2}, {2, 2, 2}},
                      twin[4][R4_SPLITS] = {{8, 2, 2}, {8, 2, 2}, {8, 2, 2}, {8, 2, 2}};
  char *folder = photographs_leaves();
  size_t in[4][R4_SPLITS];
  for (int clean = 0; clean < 2; clean++) {
    r4_data *d = made("plantvillage", folder, clean);
    assert_string_equal(r4_data_class_name(d, 1), "late blight");
    assert_string_equal(r4_data_group_name(d, 0), "healthy, GH");
    assert_string_equal(r4_data_group_name(d, 3), "late blight, RS");
    count(d, in);
    assert_memory_equal(in, clean ? twin : shortcut, sizeof in);
    masks_are(d, 1, 0);
    r4_data_free(d);
  }
  folder_remove(folder);
}

static void birds_are_what_may_matter(void **state)
{
  (void)state;
  static const size_t want[4][R4_SPLITS] = {{2, 2, 2}, {2, 2, 2}, {2, 2, 2}, {2, 2, 2}};
  char *folder = photographs_birds();
  size_t in[4][R4_SPLITS];
  r4_data *d = made("waterbirds", folder, false);
  assert_string_equal(r4_data_class_name(d, 0), "landbird");
  assert_string_equal(r4_data_group_name(d, 1), "landbird, water");
  assert_string_equal(r4_data_group_name(d, 2), "waterbird, land");
  count(d, in);
  assert_memory_equal(in, want, sizeof want);
  masks_are(d, 0, 1); /* white is on the bird, the mask on the rest */
  r4_data_free(d);
  folder_remove(folder);
}

/* The table of the birds on other backgrounds: masks are of the background. */
static void other_backgrounds_are_masked_as_they_are(void **state)
{
  (void)state;
  char *folder = folder_new();
  put_text(folder, "metadata.csv",
           "file,label,place,group,split,bird_fraction\na.png,1,0,2,train,.3\nb.png,0,0,0,test,.2\n");
  put_grey(folder, "images/a.png", SIDE, SIDE, 1, 2);
  put_grey(folder, "images/b.png", SIDE, SIDE, 3, 4);
  put_grey(folder, "masks/a.png", SIDE, SIDE, 255, 0);
  put_grey(folder, "masks/b.png", SIDE, SIDE, 255, 0);
  r4_data *d = made("waterbirds", folder, false);
  assert_string_equal(r4_data_group_name(d, (size_t)r4_data_example(d, 0).group), "waterbird, land");
  masks_are(d, 1, 0);
  r4_data_free(d);
  folder_remove(folder);
}

static void refused(const char *recipe, const char *folder, r4_recipe_options options, const char *because)
{
  r4_error e = {0};
  options.from = folder;
  assert_null(r4_data_make(recipe, &options, &e));
  if (!strstr(e.text, because)) fail_msg("%s: no '%s'", e.text, because);
}

static void tables_are_checked(void **state)
{
  (void)state;
  static const struct {
    const char *row, *because;
  } bad[] = {
    {"l01.png,2,train,GH,1", "metadata.csv:2: file l01.png: label is '2', expected 0 or 1"},
    {"l01.png,1,later,GH,1", "metadata.csv:2: file l01.png: split is 'later', expected train, val or test"},
    {"../l01.png,1,train,GH,1", "file is '../l01.png', expected a path within the folder"},
    {"l77.png,1,train,GH,1", "metadata.csv:2: file l77.png: is neither in"},
  };
  char *folder = photographs_leaves(), table[256];
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    snprintf(table, sizeof table, "file,label,split,site,train95\n%s\n", bad[k].row);
    put_text(folder, "metadata.csv", table);
    refused("plantvillage", folder, (r4_recipe_options){0}, bad[k].because);
  }
  put_text(folder, "metadata.csv", "img_filename,y,split,place,place_filename\nl01.png,1,0,5,x\n");
  refused("waterbirds", folder, (r4_recipe_options){0}, "place is '5', expected 0 or 1");
  refused("waterbirds", folder, (r4_recipe_options){.read.mask_means = R4_MASKS_IRRELEVANT}, "means relevant");
  refused("waterbirds", folder, (r4_recipe_options){.clean = true}, "no decoys");
  put_text(folder, "metadata.csv", "file,label,split,site\nl01.png,1,train,GH\nl02.png,0,test,GH\n");
  refused("plantvillage", folder, (r4_recipe_options){.read.mask_means = R4_MASKS_IRRELEVANT}, "no column train95");
  r4_data *d = folder_opened(folder, &(r4_data_options){.mask_means = R4_MASKS_IRRELEVANT}); /* somebody's own folder */
  assert_string_equal(r4_data_class_name(d, 0), "0");
  r4_data_free(d);
  folder_remove(folder);
}

static void memory_may_run_out(void **state)
{
  (void)state;
  char *folder = photographs_birds();
  int before = r4_threads(1, false);
  for (long n = 1;; n += 1 + n / 40) {
    r4_error e = {0};
    r4_mem_fail_at(n);
    r4_data *d = places_format.open(folder, &(r4_data_options){0}, &e);
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
  const struct CMUnitTest tests[] = {cmocka_unit_test(leaves_keep_their_shortcut_in_training),
                                     cmocka_unit_test(birds_are_what_may_matter),
                                     cmocka_unit_test(other_backgrounds_are_masked_as_they_are),
                                     cmocka_unit_test(tables_are_checked),
                                     cmocka_unit_test(memory_may_run_out)};
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("places", tests, NULL, NULL);
}
