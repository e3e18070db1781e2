/* Lint: a clean data set has no findings, and each thing that is wrong gives exactly its own. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "data/data.h"
#include "folder_make.h"

enum { SIDE = 6, PIXELS = SIDE * SIDE, N = 180, CLASSES = 3 };

/* Where in the image a mask of the clean data set is: two pixels at the left, one of four rows. */
static void corner(size_t i, uint8_t mask[PIXELS])
{
  memset(mask, 0, PIXELS);
  mask[i % 4 * SIDE] = mask[i % 4 * SIDE + 1] = 255;
}

static void set_mask(r4_data *d, size_t i, const uint8_t mask[PIXELS])
{
  assert_int_equal(masks_add(data_masks(d), mask, &d->record[i].mask, NULL), R4_OK);
}

/* Random images in three classes, two thirds for training; every example has a mask. */
static r4_data *make(void)
{
  draw_start(3, 0);
  struct column *v = column_new(&bytes_column, R4_SHAPE(SIDE, SIDE, 1), N, NULL);
  r4_data *d = v ? data_new(N, v, NULL) : NULL;
  assert_non_null(d);
  data_set_masks(d, masks_new(PIXELS, NULL));
  for (size_t k = 0; k < N * PIXELS; k++) ((uint8_t *)v->data)[k] = (uint8_t)draw_below(256);
  for (size_t i = 0; i < N; i++) {
    uint8_t mask[PIXELS];
    corner(i, mask);
    set_mask(d, i, mask);
    d->record[i].label = d->record[i].group = (int)(i % CLASSES);
    d->record[i].split = i >= 2 * N / 3 ? R4_TEST : R4_TRAIN;
  }
  for (int k = 0; k < CLASSES; k++) {
    names_add(d->classes, (char[]){(char)('a' + k), 0}, NULL, NULL);
    names_add(d->groups, (char[]){(char)('A' + k), 0}, NULL, NULL);
  }
  assert_int_equal(data_finish(d, "test", NULL), R4_OK);
  return d;
}

/* ---- What may be wrong, one thing each ---- */

static void nothing(r4_data *d)
{
  (void)d;
}

static void one_colour(r4_data *d)
{
  memset(column_row(data_x(d), 7), 9, PIXELS);
}

static void copy_row(r4_data *d, size_t from, size_t to)
{
  memcpy(column_row(data_x(d), to), column_row(data_x(d), from), PIXELS);
}

static void training_in_test(r4_data *d)
{
  copy_row(d, 0, N - 3);
}

static void two_labels(r4_data *d)
{
  copy_row(d, 4, 5);
}

static void twice(r4_data *d)
{
  copy_row(d, 4, 7);
}

static void class_not_tested(r4_data *d)
{
  for (size_t i = 0; i < N; i++)
    if (d->record[i].split == R4_TEST && d->record[i].label == 2) d->record[i].label = d->record[i].group = 1;
}

static void group_of_19(r4_data *d)
{
  d->record[N - 1].group = 0; /* it was of C, which had 20 */
}

static void nothing_matters(r4_data *d)
{
  uint8_t mask[PIXELS];
  memset(mask, 255, sizeof mask);
  set_mask(d, 11, mask);
}

static void grey(r4_data *d)
{
  uint8_t mask[PIXELS];
  corner(0, mask);
  mask[0] = 100;
  set_mask(d, 11, mask);
}

static void one_without(r4_data *d)
{
  d->record[11].mask = 0;
}

static void one_class_has_masks(r4_data *d)
{
  for (size_t i = 0; i < N; i++)
    if (d->record[i].label) d->record[i].mask = 0;
}

static void a_class_has_none(r4_data *d)
{
  for (size_t i = 0; i < N; i++)
    if (d->record[i].label == 1 || (d->record[i].label == 2 && i % 9 != 2)) d->record[i].mask = 0;
}

static void inverted_patches(r4_data *d)
{
  for (size_t i = 0; i < N; i++) {
    uint8_t mask[PIXELS];
    corner(i, mask);
    for (size_t k = 0; k < PIXELS; k++) mask[k] ^= 255;
    set_mask(d, i, mask);
  }
}

/* Of the patches, these are white on the rest. */
static void some_are_inverted(r4_data *d)
{
  static const size_t inverted[] = {20, 70, 100};
  for (size_t k = 0; k < 3; k++) {
    uint8_t mask[PIXELS];
    corner(inverted[k], mask);
    for (size_t j = 0; j < PIXELS; j++) mask[j] ^= 255;
    set_mask(d, inverted[k], mask);
  }
}

static void objects(r4_data *d)
{
  for (size_t i = 0; i < N; i++) {
    uint8_t mask[PIXELS] = {0};
    for (size_t k = 0; k < 3; k++) mask[(2 + k) * SIDE + 3] = 255;
    set_mask(d, i, mask);
  }
}

/* One of each group is all there is for validation. */
static void thin_validation(r4_data *d)
{
  for (size_t i = 0; i < CLASSES; i++) d->record[i].split = R4_VAL;
}

/* White is all but a patch in a corner, which lies elsewhere in each: as patches are that were drawn the other way. */
static void inverted_at_many_places(r4_data *d)
{
  for (size_t i = 0; i < N; i++) {
    uint8_t mask[PIXELS];
    memset(mask, 255, sizeof mask);
    for (size_t k = 0; k < 8; k++)
      if (i >> k & 1) mask[k] = 0;
    mask[8] = 0;
    set_mask(d, i, mask);
  }
}

static void all_but_objects(r4_data *d)
{
  for (size_t i = 0; i < N; i++) {
    uint8_t mask[PIXELS];
    memset(mask, 255, sizeof mask);
    for (size_t k = 0; k < 8; k++)
      if (i >> k & 1) mask[k + 14] = 0;
    mask[3] = 0;
    set_mask(d, i, mask);
  }
}

static void relevant_objects(r4_data *d)
{
  objects(d);
  d->means = R4_MASKS_RELEVANT;
}

/* White is the same middle on all: one mask. */
static void same_relevant_middle(r4_data *d)
{
  uint8_t mask[PIXELS];
  memset(mask, 255, sizeof mask);
  mask[SIDE / 2 * SIDE + SIDE / 2] = 0;
  for (size_t i = 0; i < N; i++) set_mask(d, i, mask);
  d->means = R4_MASKS_RELEVANT;
}

static void relevant_patches(r4_data *d)
{
  inverted_patches(d);
  d->means = R4_MASKS_RELEVANT;
}

static void all_but_middles(r4_data *d)
{
  all_but_objects(d);
  for (size_t i = 0; i < N; i++) {
    uint8_t mask[PIXELS];
    memcpy(mask, data_mask_bytes(d, i), sizeof mask);
    mask[SIDE / 2 * SIDE + SIDE / 2] = 0;
    set_mask(d, i, mask);
  }
}

static void all_but_relevant(r4_data *d)
{
  all_but_objects(d);
  for (size_t i = 0; i < N; i++) {
    uint8_t mask[PIXELS];
    memcpy(mask, data_mask_bytes(d, i), sizeof mask);
    mask[SIDE / 2 * SIDE + SIDE / 2] = 255;
    set_mask(d, i, mask);
  }
  d->means = R4_MASKS_RELEVANT;
}

static void all_zero(r4_data *d)
{
  for (size_t i = 0; i < N; i++) d->record[i].mask = 0;
  data_set_masks(d, masks_new(PIXELS, NULL));
}

static void labels_kept_as_greys(r4_data *d)
{
  for (size_t i = 0; i < N; i++) {
    uint8_t mask[PIXELS] = {3, 2, 1};
    set_mask(d, i, mask);
  }
  data_masks(d)->n = d->record[0].mask + 1;
  memset(data_masks(d)->bytes + PIXELS, 0, (data_masks(d)->n - 2) * PIXELS);
}

static void bytes_in_floats(r4_data *d)
{
  struct column *v = column_new(&floats_column, R4_SHAPE(SIDE, SIDE, 1), N, NULL);
  for (size_t k = 0; k < N * PIXELS; k++) ((float *)v->data)[k] = ((uint8_t *)data_x(d)->data)[k];
  data_set_x(d, v);
}

static void one_class_only(r4_data *d)
{
  for (size_t i = 0; i < N; i++) d->record[i].label = 0;
  names_drop(d->classes);
  d->classes = names_new(NULL);
  names_add(d->classes, "a", NULL, NULL);
}

static void nothing_to_train_on(r4_data *d)
{
  for (size_t i = 0; i < N; i++) d->record[i].split = R4_TEST;
}

static void nothing_to_test_on(r4_data *d)
{
  for (size_t i = 0; i < N; i++) d->record[i].split = R4_TRAIN;
}

static void rename_to(struct names *names, size_t k, const char *name)
{
  r4_mem_free(names->name[k]);
  names->name[k] = r4_mem_new(strlen(name) + 1, 1);
  memcpy(names->name[k], name, strlen(name));
}

static void classes_alike(r4_data *d)
{
  rename_to(d->classes, 0, "cat");
  rename_to(d->classes, 2, "Cat ");
}

static void groups_alike(r4_data *d)
{
  rename_to(d->groups, 1, "North  Sea");
  rename_to(d->groups, 2, "north sea");
}

static void a_group_of_one(r4_data *d)
{
  names_add(d->groups, "D", NULL, NULL);
  d->record[0].group = CLASSES;
}

static void odd_when_read(r4_data *d)
{
  data_add_note(d, NULL, "%d masks are odd", 7);
}

static const struct {
  void (*spoil)(r4_data *d);
  const char *code, *text; /* NULL: clean */
  bool note;
} cases[] = {
  {nothing, NULL, NULL, false},
  {one_colour, "constant", "1 examples have one value everywhere, example 7 first", false},
  {training_in_test, "overlap", "training example 0 and test example 177", false},
  {two_labels, "label-conflict", "example 4 and example 5", false},
  {twice, "repeated", "example 4 and example 7", true},
  {class_not_tested, "class-missing", "class c has no test examples", false},
  {group_of_19, "group-small", "1 groups have fewer than 20 test examples, C first", true},
  {nothing_matters, "mask-full", "1 masks cover the whole example, example 11 first", false},
  {grey, "mask-soft", "1 masks have values between 0 and 1, example 11 first", true},
  {one_without, "mask-missing", "1 of 120 training examples have no mask, or an empty one, example 11",
   false},
  {one_class_has_masks, "mask-one-class",
   "only examples of class a have a mask in training: no action is needed, as r4 pastes", true},
  {a_class_has_none, "mask-uneven",
   "0 % of class b have a mask in training, and 100 % of class a: having a mask tells something of the class; fill: "
   "paste",
   false},
  {all_zero, "mask-empty", "all masks are zero everywhere", false},
  {bytes_in_floats, "values-scale", "all values are whole numbers from 0 to 255", false},
  {one_class_only, "class-single", "all examples are of class a", false},
  {nothing_to_train_on, "split-empty", "no training examples", false},
  {nothing_to_test_on, "split-empty", "no test examples", false},
  {classes_alike, "names-alike",
   "1 classes differ from another one by case or blanks only, \"Cat \" and \"cat\"", false},
  {groups_alike, "names-alike", "\"North  Sea\" and \"north sea\"", false},
  {a_group_of_one, "group-single", "1 of 4 groups have one example only, D first", false},
  {odd_when_read, "reading", "7 masks are odd", false},
  {inverted_patches, "mask-inverted",
   "180 of 180 masks mark more than half of the example as what must not matter, and", false},
  {some_are_inverted, "mask-unlike", "3 of 180 masks mark more than half of the example, example 20 first, and", false},
  {objects, "mask-inverted", "180 of 180 masks mark the middle of the image", false},
  {thin_validation, "val-small", "3 of 3 groups have fewer than 5 validation examples, A first (1): the worst", true},
  {inverted_at_many_places, "mask-inverted",
   "180 of 180 masks mark more than half of the example as what must not matter, and 180 the middle, where", false},
  {all_but_objects, "mask-large",
   "180 of 180 masks mark more than half of the example as what must not matter. If white "
   "marks what *should* matter, use --mask-means relevant",
   true},
  {all_but_middles, "mask-large", "use --mask-means relevant", true},
  {same_relevant_middle, NULL, NULL, false},
  {relevant_patches, "mask-inverted",
   "of them differ. If white marks what must *not* matter, use --mask-means irrelevant", false},
  {relevant_objects, "mask-inverted", "must not matter. If white marks what must *not* matter", false},
  {all_but_relevant, "mask-inverted", "usually is. If white marks what must *not* matter", false},
};

/* Masks alone: the same sentences, and no others. */
static void assert_same_of_masks(const r4_data *d, const r4_finding *all, size_t n)
{
  r4_finding own[R4_FINDINGS];
  size_t found = 0, k = 0;
  assert_int_equal(r4_data_lint_masks(d, own, &found, NULL), R4_OK);
  for (size_t i = 0; i < n; i++)
    if (!strncmp(all[i].code, "mask-", 5)) {
      assert_true(k < found);
      assert_string_equal(own[k++].text, all[i].text);
    }
  assert_int_equal(k, found);
}

static void each_thing_is_found(void **state)
{
  (void)state;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    r4_finding finding[R4_FINDINGS];
    r4_error e = {0};
    size_t n = 0;
    r4_data *d = make();
    cases[k].spoil(d);
    assert_int_equal(r4_data_lint(d, NULL, finding, &n, &e), R4_OK);
    if (n != (cases[k].code != NULL)) fail_msg("case %zu: %zu findings, the first %s", k, n, finding[0].text);
    if (n && (strcmp(finding[0].code, cases[k].code) || !strstr(finding[0].text, cases[k].text) ||
              finding[0].note != cases[k].note))
      fail_msg("case %zu: %s: %s", k, finding[0].code, finding[0].text);
    assert_same_of_masks(d, finding, n);
    r4_data_free(d);
  }
}

/* Greys may be soft on purpose: then the note that they count in part comes with a warning that all count little. */
static void faint_masks_are_found(void **state)
{
  (void)state;
  r4_data *d = make();
  r4_finding finding[R4_FINDINGS];
  size_t n = 0;
  labels_kept_as_greys(d);
  assert_int_equal(r4_data_lint(d, NULL, finding, &n, NULL), R4_OK);
  assert_int_equal(n, 2);
  assert_string_equal(finding[0].code, "mask-soft");
  assert_string_equal(finding[1].code, "mask-faint");
  assert_non_null(strstr(finding[1].text, "no mask has a value above 0.012"));
  r4_data_free(d);
}

static const r4_finding *find(const r4_finding *finding, size_t n, const char *code)
{
  for (size_t k = 0; k < n; k++)
    if (!strcmp(finding[k].code, code)) return finding + k;
  return NULL;
}

static void masks_without_an_image_are_found(void **state)
{
  (void)state;
  char *folder = folder_new(), name[32];
  r4_finding finding[R4_FINDINGS];
  r4_error e = {0};
  size_t n = 0;
  for (int i = 0; i < 4; i++) {
    snprintf(name, sizeof name, "%s/%d.png", i % 2 ? "one" : "two", i);
    put_grey(folder, name, SIDE, SIDE, (uint8_t)i, (uint8_t)(100 + i));
    snprintf(name, sizeof name, "masks/%s/%d.png", i % 2 ? "one" : "two", i);
    put_grey(folder, name, SIDE, SIDE, 255, 0);
  }
  for (int stray = 0; stray < 2; stray++) {
    if (stray) put_grey(folder, "masks/nobody.png", SIDE, SIDE, 255, 0);
    r4_data *d = r4_data_open(folder, &(r4_data_options){.mask_means = R4_MASKS_IRRELEVANT}, &e);
    if (!d) fail_msg("%s", e.text);
    assert_int_equal(r4_data_lint(d, folder, finding, &n, &e), R4_OK);
    const r4_finding *found = find(finding, n, "mask-stray");
    assert_int_equal(found != NULL, stray);
    if (found)
      assert_non_null(strstr(found->text, "1 mask files belong to no image, masks/nobody.png first"));
    r4_data_free(d);
  }
  folder_remove(folder);
}

static void counts_and_facts_are_right(void **state)
{
  (void)state;
  r4_data *d = make();
  d->record[0].mask = 0;
  d->record[0].group = 2;
  r4_counts a = r4_data_counts(d, 0, -1), both = r4_data_counts(d, 0, 2), all = r4_data_counts(d, -1, -1);
  assert_int_equal(a.examples[R4_TRAIN], 40);
  assert_int_equal(a.masked[R4_TRAIN], 39);
  assert_int_equal(a.examples[R4_TEST], 20);
  assert_int_equal(a.examples[R4_VAL], 0);
  assert_int_equal(both.examples[R4_TRAIN], 1);
  assert_int_equal(both.masked[R4_TRAIN], 0);
  assert_int_equal(all.examples[R4_TRAIN] + all.examples[R4_TEST], N);
  memset(data_x(d)->data, 51, N * PIXELS);
  ((uint8_t *)data_x(d)->data)[5] = 255;
  nothing_matters(d);
  r4_facts f = r4_data_facts(d);
  assert_int_equal(f.masked, N - 1);
  assert_true(f.low == .2 && f.high == 1 && f.smallest_mask == 2. / PIXELS && f.largest_mask == 1);
  assert_true(fabs(f.mean - (0.2 + 0.8 / (N * PIXELS))) < 1e-12);
  assert_true(fabs(f.mean_mask - (1 + (N - 2) * 2. / PIXELS) / (N - 1)) < 1e-12);
  r4_data_free(d);
}

static void memory_may_run_out(void **state)
{
  (void)state;
  r4_data *d = make();
  r4_finding finding[R4_FINDINGS];
  for (long n = 1;; n++) {
    r4_error e = {0};
    size_t found = 0;
    r4_mem_fail_at(n);
    r4_status s = r4_data_lint(d, NULL, finding, &found, &e);
    bool reached = r4_mem_count() >= n;
    r4_mem_fail_at(0);
    assert_int_equal(s, reached ? R4_E_MEMORY : R4_OK);
    assert_true(!reached || *e.text);
    if (!reached) break;
  }
  r4_data_free(d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_thing_is_found),
    cmocka_unit_test(faint_masks_are_found),
    cmocka_unit_test(masks_without_an_image_are_found),
    cmocka_unit_test(counts_and_facts_are_right),
    cmocka_unit_test(memory_may_run_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
