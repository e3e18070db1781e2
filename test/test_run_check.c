/* Settings beside data: weights of classes, methods that need masks, and what is told though it is not wrong. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "data/mask/mask_places.h"
#include "scratch.h"
#include "settings_case.h"

enum { MOST = 2000, EACH = 40 }; /* examples, and of a class in training */

/* ---- Data: two classes of digits, 0 and 1, in a file ---- */

static char path[256];

static void save(const r4_data *d, size_t n, const size_t *example)
{
  r4_error e;
  r4_data *part = r4_data_subset(d, n, example, &e);
  if (!part || r4_data_save(part, path, &e)) fail_msg("%s", e.text);
  r4_data_free(part);
}

/* Of the training examples each class keeps EACH, and class 1 every k-th of these; 0: none. */
static void make_data(const char *recipe, size_t every)
{
  r4_error e;
  size_t example[MOST], n = 0, seen[10] = {0};
  r4_data *d = recipe ? r4_data_make(recipe, &(r4_recipe_options){.from = "digits:600"}, &e)
                      : r4_data_open("digits:600", NULL, &e);
  if (!d) fail_msg("%s", e.text);
  for (size_t i = 0; i < r4_data_count(d); i++) {
    r4_example x = r4_data_example(d, i);
    size_t k = x.split == R4_TRAIN ? seen[x.label]++ : 0;
    bool thin = x.split == R4_TRAIN && x.label == 1;
    if (k < EACH && !(thin && (!every || k % every))) example[n++] = i;
  }
  snprintf(path, sizeof path, "%s", scratch_path("data.npz"));
  save(d, n, example);
  r4_data_free(d);
}

/* ---- Runs ---- */

static char told[1024];

static void listen(const char *sentence, void *user)
{
  (void)user;
  size_t n = strlen(told);
  snprintf(told + n, sizeof told - n, "%s\n", sentence);
}

static r4_outcome end;

static r4_status train(const char *const *set, const char *run, r4_error *e)
{
  char data[300];
  snprintf(data, sizeof data, "data=%s", path);
  const char *const common[] = {
    data, "data.mask_means=irrelevant", "data.val=0", "net=dense 8, relu, dense 10", "epochs=1", NULL};
  r4_settings *s = settings_case_with(common, set);
  told[0] = 0;
  const r4_train_options o = {.folder = scratch_path(run), .force = true, .notice = listen};
  r4_status status = r4_train(s, &o, &end, e);
  r4_settings_free(s);
  return status;
}

#define SET(...) ((const char *const[]){__VA_ARGS__, NULL})

static void trains(const char *const *set, const char *run)
{
  r4_error e = {0};
  if (train(set, run, &e)) fail_msg("%s", e.text);
}

static void refuses(const char *const *set, const char *expected)
{
  r4_error e = {0};
  assert_error(&e, train(set, "refused", &e), expected);
}

static bool same_model(const char *a, const char *b)
{
  char name[64];
  uint8_t *x = NULL, *y = NULL;
  size_t n = 0, m = 0;
  snprintf(name, sizeof name, "%s/model.safetensors", a);
  assert_int_equal(file_read(scratch_path(name), 1 << 26, &x, &n, NULL), R4_OK);
  snprintf(name, sizeof name, "%s/model.safetensors", b);
  assert_int_equal(file_read(scratch_path(name), 1 << 26, &y, &m, NULL), R4_OK);
  bool same = n == m && !memcmp(x, y, n);
  r4_mem_free(x);
  r4_mem_free(y);
  return same;
}

/* ---- Weights of classes ---- */

static void weights_are_one_for_each_class(void **state)
{
  (void)state;
  make_data("decoy-mnist", 1);
  refuses(SET("class_weights=5"), "class_weights (test) has 1 number, but the data have 10 classes");
  refuses(SET("class_weights=1,1,1,1,1,1,1,1,1,1,1"),
          "class_weights (test) has 11 numbers, but the data have 10");
  refuses(SET("class_weights=0,0,0,0,0,0,0,0,0,0"), "class_weights (test) are all 0");
  trains(SET("class_weights=1,1,1,1,1,1,1,1,1,1"), "ones");
  trains(SET("class_weights=1,5,1,1,1,1,1,1,1,1"), "five");
  trains(SET("epochs=1"), "plain");
  assert_true(same_model("ones", "plain"));
  assert_false(same_model("five", "plain"));
}

static void balanced_weights_are_worked_out(void **state)
{
  (void)state;
  char list[512] = "class_weights=";
  r4_error e;
  make_data("decoy-mnist", 4);
  r4_data *d = r4_data_open(path, &(r4_data_options){.mask_means = R4_MASKS_IRRELEVANT}, &e);
  assert_non_null(d);
  double all = (double)r4_data_counts(d, -1, -1).examples[R4_TRAIN];
  for (int32_t k = 0; k < 10; k++) {
    size_t n = strlen(list);
    double count = (double)r4_data_counts(d, k, -1).examples[R4_TRAIN];
    snprintf(list + n, sizeof list - n, "%s%.17g", k ? "," : "", all / (10 * count));
  }
  r4_data_free(d);
  trains(SET("class_weights=balanced"), "balanced");
  trains(SET(list), "listed");
  trains(SET("class_weights="), "plain");
  assert_true(same_model("balanced", "listed"));
  assert_false(same_model("balanced", "plain"));
  make_data("decoy-mnist", 0);
  refuses(SET("class_weights=balanced"),
          "class_weights (test) is balanced, but no training example is of class \"1\"");
}

/* Class 1 keeps one example in 30, so that N / (10 N_1) is above 10; the others have about as many as each other. */
static void unequal_classes_are_balanced_unless_said_otherwise(void **state)
{
  (void)state;
  char list[512] = "class_weights=";
  r4_error e;
  make_data("decoy-mnist", 30);
  r4_data *d = r4_data_open(path, &(r4_data_options){.mask_means = R4_MASKS_IRRELEVANT}, &e);
  assert_non_null(d);
  double all = (double)r4_data_counts(d, -1, -1).examples[R4_TRAIN];
  for (int32_t k = 0; k < 10; k++) {
    double w = all / (10 * (double)r4_data_counts(d, k, -1).examples[R4_TRAIN]);
    size_t n = strlen(list);
    assert_true((w > 10) == (k == 1));
    snprintf(list + n, sizeof list - n, "%s%.17g", k ? "," : "", k == 1 ? 10 : w);
  }
  r4_data_free(d);
  trains(SET("method=erm"), "auto");
  assert_non_null(strstr(told, "of \"1\": rarer classes get a larger weight in the loss"));
  trains(SET("method=erm", list), "listed");
  assert_string_equal(told, "");
  trains(SET("method=erm", "class_weights=none"), "none");
  assert_string_equal(told, "");
  trains(SET("method=erm", "class_weights="), "empty");
  assert_true(same_model("auto", "listed"));
  assert_true(same_model("none", "empty"));
  assert_false(same_model("auto", "none"));
}

static void equal_classes_and_weighed_groups_are_left_alone(void **state)
{
  (void)state;
  make_data("decoy-mnist", 1);
  trains(SET("method=erm"), "auto");
  assert_string_equal(told, "");
  trains(SET("method=erm", "class_weights=none"), "none");
  assert_true(same_model("auto", "none"));
  make_data("decoy-mnist", 30);
  trains(SET("method=erm", "group_weights=balanced"), "groups");
  trains(SET("method=erm", "group_weights=balanced", "class_weights=none"), "groups-alone");
  assert_true(same_model("groups", "groups-alone"));
  make_data("decoy-mnist", 0); /* a class without training examples weighs nothing down */
  trains(SET("method=erm"), "without");
}

static void a_class_of_one_example_may_be_misspelt(void **state)
{
  (void)state;
  static uint8_t x[20];
  int32_t label[20] = {0};
  const char *const names[] = {"dog", "dgo", "cat"}, *const others[] = {"dog", "melanoma", "cat"},
                    *const short_ones[] = {"1", "2", "3"};
  for (size_t i = 0; i < 20; i++) label[i] = i == 7 ? 1 : i < 10 ? 0 : 2;
  const r4_data_arrays a = {.n = 20, .shape = R4_SHAPE(1), .bytes = x, .labels = label, .classes = 3};
  snprintf(path, sizeof path, "%s", scratch_path("named.npz"));
  const struct {
    const char *const *names;
    const char *says;
  } want[] = {{names, "class \"dgo\" has only one training example: is it \"dog\", misspelt?\n"},
              {others, "1 of 3 classes have only one training example, \"melanoma\" first\n"},
              {short_ones, "1 of 3 classes have only one training example, \"2\" first\n"}};
  for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
    r4_data_arrays named = a;
    named.class_names = want[k].names;
    r4_data *d = r4_data_new(&named, NULL);
    assert_non_null(d);
    assert_int_equal(r4_data_save(d, path, NULL), R4_OK);
    r4_data_free(d);
    trains(SET("method=erm", "net=dense 3", "data.mask_means=unstated"), "named");
    if (strncmp(told, want[k].says, strlen(want[k].says))) fail_msg("case %zu: %s", k, told);
  }
}

/* ---- Masks ---- */

enum { SIDE = 6, IMAGES = 20 };

/* Half of the images have a mask, on this rectangle. */
static r4_data *make_masked(size_t top, size_t bottom)
{
  static uint8_t x[IMAGES * SIDE * SIDE], m[IMAGES * SIDE * SIDE];
  int32_t label[IMAGES];
  memset(m, 0, sizeof m);
  for (size_t i = 0; i < IMAGES; i++) {
    label[i] = (int32_t)(i / 2 % 2);
    for (size_t q = 0; q < SIDE * SIDE; q++) m[i * SIDE * SIDE + q] = i % 2 && q / SIDE >= top && q / SIDE < bottom;
  }
  const r4_data_arrays a = {.n = IMAGES,
                            .shape = R4_SHAPE(SIDE, SIDE, 1),
                            .bytes = x,
                            .labels = label,
                            .mask_bytes = m,
                            .mask_means = R4_MASKS_IRRELEVANT};
  return r4_data_new(&a, NULL);
}

static void masks_may_mean_the_reverse(void **state)
{
  (void)state;
  static const struct {
    size_t top, bottom;
    const char *says; /* NULL: nothing about it */
    bool doubtful;
  } want[] = {{0, 4,
               "what must not matter is more than half of 10 of 10 masked training examples; if the masks mean the "
               "reverse, set data.mask_means (test) to relevant\n",
               true},
              {3, 4, "what must not matter is the middle of 10 of 10 masked training examples; if", true},
              {0, 3, NULL, false}};
  for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
    r4_data *d = make_masked(want[k].top, want[k].bottom);
    assert_non_null(d);
    snprintf(path, sizeof path, "%s", scratch_path("masked.npz"));
    assert_int_equal(r4_data_save(d, path, NULL), R4_OK);
    r4_data_free(d);
    trains(SET("method=r3", "lambda=1", "net=flatten, dense 2"), "masked");
    bool said = strstr(told, want[k].says ? want[k].says : "what must not matter");
    if (said != (want[k].says != NULL) || end.doubtful != want[k].doubtful) fail_msg("case %zu: %s", k, told);
    trains(SET("method=r3", "lambda=1", "net=flatten, dense 2", "data.mask_means=unstated"), "masked");
    assert_null(strstr(told, "what must not matter")); /* nobody said it: the file did */
  }
}

static void masks_are_doubted_by_where_they_are(void **state)
{
  (void)state;
  static const struct {
    struct mask_places p;
    bool doubtful;
  } want[] = {{{0}, false},
              {{.masked = 10, .middle = 6, .different = 10}, true},
              {{.masked = 10, .middle = 5, .different = 10}, false},
              {{.masked = 10, .large = 6, .different = 1}, true},
              {{.masked = 10, .large = 5, .different = 1}, false},
              {{.masked = 10, .large = 10, .different = 2}, false}, /* all but the object */
              {{.masked = 10, .large = 10, .different = 1, .relevant = true}, false},
              {{.masked = 10, .large = 10, .middle = 6, .different = 1, .relevant = true}, true}};
  for (size_t k = 0; k < sizeof want / sizeof *want; k++)
    if (mask_places_doubtful(want[k].p) != want[k].doubtful) fail_msg("case %zu", k);
}

static void methods_need_masks(void **state)
{
  (void)state;
  make_data(NULL, 1);
  refuses(SET("method=cert-r4", "lambda=1"),
          "data.npz: no training example has a mask that marks anything, but method (test) is cert-r4");
  refuses(SET("method=r3", "delta=1"), "no training example has a mask");
  refuses(SET("method=fill"), "method (test) is fill");
  refuses(SET("fill=noise"), "fill (test) is noise");
  trains(SET("method=erm"), "erm");
  assert_string_equal(told, "");
  make_data("decoy-mnist", 1);
  refuses(SET("method=r3", "lambda=1", "data.keep_masks=0.0001"), "no training example has a mask");
  trains(SET("method=r3", "lambda=1", "data.keep_masks=0"), "control");
  assert_string_equal(
    told, "data.keep_masks (test) is 0: no training example has a mask, so r3 is the same as erm\n");
  trains(SET("method=r3", "lambda=1", "penalty.cap=false"), "guided"); /* it guesses, still */
  assert_string_equal(told,
                      "r3 = mean loss on filled examples + 1 x mean ||m . g(x)||_2^2; g is the gradient of the loss; "
                            "the mean of the penalty is over examples with a mask; fill: colour\n"
                            "the penalty took effect in 4 of 4 steps\n");
  trains(SET("method=erm"), "erm");
  assert_string_equal(told, "");
  assert_true(same_model("control", "erm"));
}

/* ---- Sizes ---- */

static void sizes_that_do_not_fit_are_told(void **state)
{
  (void)state;
  make_data("decoy-mnist", 1);
  trains(SET("batch=100000"), "large");
  assert_non_null(strstr(told, "batch (test) is 100000, but there are only "));
  trains(SET("method=r3", "delta=1", "lambda=5"), "start");
  assert_non_null(strstr(told, "lambda (test) is 5, but with delta it starts at 1 at most\n"));
  assert_non_null(strstr(told, "the penalty took effect in none of 4 steps"));
  trains(SET("method=erm", "rate=0"), "still");
  assert_string_equal(told, "rate (test) is 0: the net keeps its initial weights\n");
}

/* ---- Classes ---- */

/* So many examples, one of each class. */
static void make_classes(size_t n)
{
  enum { ROOM = 2048 };
  static int32_t label[ROOM];
  static uint8_t x[ROOM];
  r4_error e = {0};
  for (size_t i = 0; i < n; i++) label[i] = (int32_t)i;
  r4_data *d = r4_data_new(&(r4_data_arrays){.n = n, .shape = R4_SHAPE(1), .bytes = x, .labels = label}, &e);
  snprintf(path, sizeof path, "%s", scratch_path("classes.npz"));
  if (!d || r4_data_save(d, path, &e)) fail_msg("%s", e.text);
  r4_data_free(d);
}

/* A model that nothing can measure is not trained in the first place. */
static void classes_are_two_or_more(void **state)
{
  (void)state;
  make_classes(1);
  refuses(SET("net=dense 1", "data.mask_means=unstated"), "all examples are of one class, \"0\"");
  make_classes(2);
  trains(SET("net=dense 1", "data.mask_means=unstated"), "two");
  make_classes(1024);
  trains(SET("net=dense 1024", "data.mask_means=unstated"), "many");
  make_classes(1025);
  refuses(SET("net=dense 1025", "data.mask_means=unstated"), "1025 groups, expected at most 1024");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(weights_are_one_for_each_class),
    cmocka_unit_test(balanced_weights_are_worked_out),
    cmocka_unit_test(unequal_classes_are_balanced_unless_said_otherwise),
    cmocka_unit_test(equal_classes_and_weighed_groups_are_left_alone),
    cmocka_unit_test(a_class_of_one_example_may_be_misspelt),
    cmocka_unit_test(masks_may_mean_the_reverse),
                                     cmocka_unit_test(masks_are_doubted_by_where_they_are),
    cmocka_unit_test(methods_need_masks),
    cmocka_unit_test(sizes_that_do_not_fit_are_told),
    cmocka_unit_test(classes_are_two_or_more),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("run check", tests, scratch_make, scratch_remove);
}
