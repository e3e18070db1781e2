/* Published data sets are known by what they hold, whatever their files are called: their classes have names, and their
 * split is kept though examples are in two of its parts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/catalog/published.h"
#include "scratch.h"
#include "tensor/npz.h"

enum { SIDE = 8, PIXELS = SIDE * SIDE, CLASSES = 7, N = 10015, TWICE = 10 };

static const char *const split_name[R4_SPLITS] = {[R4_TRAIN] = "train", [R4_VAL] = "val", [R4_TEST] = "test"};
static const int64_t per_class[R4_SPLITS][CLASSES] = {[R4_TRAIN] = {228, 359, 769, 80, 779, 4693, 99},
                                                      [R4_VAL] = {33, 52, 110, 12, 111, 671, 14},
                                                      [R4_TEST] = {66, 103, 220, 23, 223, 1341, 29}};

/* Images of random bytes with the labels of DermaMNIST; ten of the first for training are in the test set as well. */
struct derma {
  uint8_t x[R4_SPLITS][N][PIXELS], y[R4_SPLITS][N];
  int64_t n[R4_SPLITS];
};

static struct derma *derma_new(void)
{
  struct derma *a = calloc(1, sizeof *a);
  assert_non_null(a);
  for (int s = 0; s < R4_SPLITS; s++)
    for (int k = 0; k < CLASSES; k++)
      for (int64_t i = 0; i < per_class[s][k]; i++, a->n[s]++) {
        r4_random key = {7, (uint32_t)s, (uint32_t)a->n[s]};
        for (size_t p = 0; p < PIXELS; p++) a->x[s][a->n[s]][p] = (uint8_t)(256 * r4_random_uniform(key, p));
        a->y[s][a->n[s]] = (uint8_t)k;
      }
  memcpy(a->x[R4_TEST], a->x[R4_TRAIN], TWICE * PIXELS);
  return a;
}

/* As MedMNIST's files are. */
static void save(struct derma *a, const char *path)
{
  r4_error e;
  char key[2 * R4_SPLITS][24];
  struct npz_entry entry[2 * R4_SPLITS];
  for (int s = 0; s < R4_SPLITS; s++) {
    snprintf(key[2 * s], sizeof *key, "%s_images", split_name[s]);
    snprintf(key[2 * s + 1], sizeof *key, "%s_labels", split_name[s]);
    entry[2 * s] = (struct npz_entry){
      key[2 * s],
      {.type = ARRAY_U8, .width = 1, .rank = 3, .dim = {a->n[s], SIDE, SIDE}, .data = a->x[s][0]},
      0};
    entry[2 * s + 1] = (struct npz_entry){
      key[2 * s + 1], {.type = ARRAY_U8, .width = 1, .rank = 2, .dim = {a->n[s], 1}, .data = a->y[s]}, 0};
  }
  if (npz_write(path, 2 * R4_SPLITS, entry, &e)) fail_msg("%s", e.text);
}

static r4_data *opened(const char *path)
{
  r4_error e;
  r4_data *d = r4_data_open(path, NULL, &e);
  if (!d) fail_msg("%s", e.text);
  return d;
}

static void by_content(void **state)
{
  (void)state;
  struct derma *a = derma_new();
  save(a, scratch_path("moles.npz"));
  r4_data *d = opened(scratch_path("moles.npz"));
  assert_string_equal(published_find(d)->name, "dermamnist");
  assert_int_equal(r4_data_classes(d), CLASSES);
  assert_string_equal(r4_data_class_name(d, 0), "akiec");
  assert_string_equal(r4_data_class_name(d, 6), "vasc");
  d->record[3].split = R4_VAL; /* one example in another part */
  assert_null(published_find(d));
  r4_data_free(d);
  free(a);
}

static void not_by_name(void **state)
{
  (void)state;
  struct derma *a = derma_new();
  a->y[R4_TRAIN][0] = 1; /* one label is another */
  save(a, scratch_path("dermamnist.npz"));
  r4_data *d = opened(scratch_path("dermamnist.npz"));
  assert_null(published_find(d));
  assert_string_equal(r4_data_class_name(d, 6), "6");
  r4_data_free(d);
  free(a);
}

/* Others have results on a published split: it stays. One's own is refused. */
static void overlap(void **state)
{
  (void)state;
  r4_error e;
  struct derma *a = derma_new();
  save(a, scratch_path("moles.npz"));
  r4_recipe_options o = {.from = scratch_path("moles.npz")};
  r4_data *d = r4_data_make("decoy", &o, &e);
  if (!d) fail_msg("%s", e.text);
  assert_non_null(strstr(r4_data_about(d), "  # 10 examples also occur in a later split"));
  r4_data_free(d);
  o.overlap = R4_OVERLAP_REFUSE;
  assert_null(r4_data_make("decoy", &o, &e));
  a->n[R4_VAL]--;
  save(a, scratch_path("dermamnist.npz"));
  o = (r4_recipe_options){.from = scratch_path("dermamnist.npz")};
  assert_null(r4_data_make("decoy", &o, &e));
  assert_error(&e, e.status, "10 examples");
  free(a);
}

static void check_real(const char *name, const char *fourth)
{
  r4_data *d = opened(check_data(name));
  const struct published *p = published_find(d);
  assert_non_null(p);
  assert_string_equal(p->name, name);
  assert_string_equal(r4_data_class_name(d, 3), fourth);
  r4_data_free(d);
}

static void mnist(void **state)
{
  (void)state;
  CHECK_NEEDS_DATA("mnist");
  check_real("mnist", "3");
}

static void fashion_mnist(void **state)
{
  (void)state;
  CHECK_NEEDS_DATA("fashion-mnist");
  check_real("fashion-mnist", "Dress");
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(by_content), cmocka_unit_test(not_by_name),
                                     cmocka_unit_test(overlap), cmocka_unit_test(mnist),
                                     cmocka_unit_test(fashion_mnist)};
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("published", tests, scratch_make, scratch_remove);
}
