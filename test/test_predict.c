/* Image files as a data set, and what nets say about them: the same as of the same files in a folder. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "folder_make.h"
#include "measure/predict.h"
#include "scratch.h"

enum { SIDE = 6, FILES = 10, CLASSES = 3, FEATURES = SIDE * SIDE * 3 };

static const r4_shape shape = {3, {SIDE, SIDE, 3}};

/* Images of many sizes and colours, two grey ones among them, as folders "ant", "bee" and "cow". */
static void make_folder(void)
{
  static const char *const classes[] = {"ant", "bee", "cow"};
  for (int k = 0; k < FILES; k++) {
    char name[64];
    snprintf(name, sizeof name, "animals/%s/%d.png", classes[k % CLASSES], k);
    const uint8_t left[3] = {(uint8_t)(20 * k), 80, (uint8_t)(255 - 9 * k)},
                  right[3] = {7, (uint8_t)(25 * k), 3};
    put_image(scratch_folder(), name, (size_t)(3 + 2 * k), (size_t)(17 - k), k < 2 ? 1 : 3, left, right);
  }
}

static r4_data *open_folder(void)
{
  r4_error e = {0};
  r4_data *d = r4_data_open(scratch_path("animals"), &(r4_data_options){.height = SIDE, .width = SIDE}, &e);
  if (!d) fail_msg("%s", e.text);
  assert_int_equal(r4_data_count(d), FILES);
  return d;
}

/* The same files by their names; r4_data_free. */
static r4_data *by_name(const r4_data *folder, r4_image_info *info)
{
  static char path[FILES][4096];
  const char *file[FILES];
  r4_error e = {0};
  for (size_t i = 0; i < FILES; i++) {
    snprintf(path[i], sizeof path[i], "%s/%s", scratch_path("animals"), r4_data_example(folder, i).file);
    file[i] = path[i];
  }
  r4_data *d = r4_data_images(file, FILES, shape, info, &e);
  if (!d) fail_msg("%s", e.text);
  assert_string_equal(r4_data_example(d, 3).file, path[3]);
  return d;
}

static r4_net *new_net(const char *layers, float **weights)
{
  r4_net *n = r4_net_open(layers, shape, NULL);
  assert_non_null(n);
  *weights = malloc(r4_net_size(n) * sizeof **weights);
  r4_net_init(n, NULL, 3, *weights, NULL);
  return n;
}

static void the_values_of_folders(void **state)
{
  (void)state;
  r4_image_info info[FILES];
  r4_data *folder = open_folder(), *d = by_name(folder, info);
  float want[FEATURES], got[FEATURES];
  assert_int_equal(r4_data_count(d), FILES);
  assert_true(r4_shape_equal(r4_data_shape(d), shape));
  for (size_t i = 0; i < FILES; i++) {
    r4_data_values(folder, i, want);
    r4_data_values(d, i, got);
    assert_memory_equal(got, want, sizeof got);
    assert_int_equal(r4_data_example(d, i).label, 0);
    assert_int_equal(info[i].error.status, R4_OK);
    assert_int_equal(info[i].height + 2 * info[i].width, 3 + 2 * 17); /* 3 + 2 k and 17 - k */
  }
  assert_int_equal(r4_data_classes(d), 1);
  assert_string_equal(r4_data_class_name(d, 0), "unknown");
  r4_data_free(d);
  r4_data_free(folder);
}

static void what_cannot_be_read(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_image_info info[3];
  put_text(scratch_folder(), "bad.png", "no image");
  put_grey(scratch_folder(), "good.png", 9, 7, 10, 200);
  char bad[4096], good[4096];
  snprintf(bad, sizeof bad, "%s", scratch_path("bad.png"));
  snprintf(good, sizeof good, "%s", scratch_path("good.png"));
  const char *const file[] = {bad, good, "/nowhere/x.png"};
  r4_data *d = r4_data_images(file, 3, shape, info, &e);
  assert_non_null(d);
  assert_int_equal(r4_data_count(d), 1);
  assert_string_equal(r4_data_example(d, 0).file, good);
  float x[FEATURES];
  r4_data_values(d, 0, x);
  assert_true(x[0] == (float)10 / 255);
  assert_error(&info[0].error, info[0].error.status, "bad.png: does not start like a PNG or JPEG");
  assert_error(&info[2].error, info[2].error.status, "/nowhere/x.png: opening");
  assert_int_equal(info[2].height, 0);
  assert_int_equal(info[1].height, 9);
  r4_data_free(d);
  assert_null(r4_data_images(file, 3, shape, NULL, &e));
  assert_error(&e, e.status, "bad.png: does not start");
  assert_null(r4_data_images(file + 2, 1, shape, info, &e));
  assert_error(&e, R4_E_IO, "/nowhere/x.png: opening");
  assert_null(r4_data_images(file, 0, shape, info, &e));
  assert_error(&e, R4_E_ARGUMENT, "no image files");
  assert_null(r4_data_images(file, 3, R4_SHAPE(20), info, &e));
  assert_error(&e, R4_E_SHAPE, "got 1 dimensions");
  assert_null(r4_data_images(file, 3, R4_SHAPE(4, 4, 2), info, &e));
  assert_error(&e, R4_E_SHAPE, "1 or 3 channels");
  assert_null(r4_data_images(file, 3, R4_SHAPE(4, 1 << 20, 3), info, &e));
  assert_error(&e, R4_E_SHAPE, "1048576 x 4");
}

static void other_labels(void **state)
{
  (void)state;
  r4_error e = {0};
  static const char *const names[] = {"no", "yes"};
  int32_t label[FILES] = {0, 1, 1};
  r4_data *folder = open_folder(), *d = r4_data_relabel(folder, label, 2, names, &e);
  assert_non_null(d);
  assert_int_equal(r4_data_classes(d), 2);
  assert_string_equal(r4_data_class_name(d, 1), "yes");
  assert_string_equal(r4_data_group_name(d, 1), "yes"); /* groups were the classes, and are */
  assert_int_equal(r4_data_example(d, 2).label, 1);
  assert_int_equal(r4_data_example(d, 2).group, 1);
  assert_string_equal(r4_data_class_name(folder, 1), "bee");
  r4_data_free(d);
  label[4] = 2;
  assert_null(r4_data_relabel(folder, label, 2, names, &e));
  assert_error(&e, R4_E_ARGUMENT, "example 4 has label 2");
  assert_null(r4_data_relabel(folder, label, 0, names, &e));
  assert_error(&e, R4_E_ARGUMENT, "no classes");
  r4_data_free(folder);
}

/* By the logits of the probe that evaluation asks, and in the order of the examples, whatever the batch leaves over. */
static void the_logits_of_evaluation(void **state)
{
  (void)state;
  enum { BATCH = 4 };
  static const char *const nets[] = {"conv 4 3 p1, relu, maxpool 2, flatten, dense 3", "flatten, dense 3"};
  r4_data *folder = open_folder(), *d = by_name(folder, NULL);
  for (size_t k = 0; k < sizeof nets / sizeof *nets; k++) {
    float *w, got[FILES * CLASSES], again[FILES * CLASSES];
    r4_net *n = new_net(nets[k], &w);
    assert_int_equal(r4_predict(n, w, d, BATCH, got, NULL), R4_OK);
    assert_int_equal(r4_predict(n, w, folder, BATCH, again, NULL), R4_OK);
    assert_memory_equal(got, again, sizeof got);
    struct probe *p = predictor_new(n, BATCH, NULL);
    for (size_t i = 0; i < FILES; i++) {
      size_t first = i / BATCH * BATCH, here = FILES - first < BATCH ? FILES - first : BATCH;
      assert_int_equal(probe_run(p, w, folder, first, here, NULL), R4_OK);
      const float *z = probe_row(p, 0, i - first);
      double sum = 0, most = fmax(z[0], fmax(z[1], z[2]));
      for (int c = 0; c < CLASSES; c++) sum += exp(z[c] - most);
      for (int c = 0; c < CLASSES; c++)
        assert_true(got[i * CLASSES + (size_t)c] == (float)(exp(z[c] - most) / sum));
    }
    probe_free(p);
    free(w);
    r4_net_free(n);
  }
  r4_data_free(d);
  r4_data_free(folder);
}

static void the_figures_of_evaluation(void **state)
{
  (void)state;
  r4_data *folder = open_folder();
  float *w, p[FILES * CLASSES];
  r4_metrics m;
  r4_net *n = new_net("flatten, dense 3", &w);
  assert_int_equal(r4_predict(n, w, folder, 256, p, NULL), R4_OK);
  assert_int_equal(r4_evaluate(n, w, folder, NULL, &m, NULL), R4_OK);
  double loss = 0, right = 0;
  for (size_t i = 0; i < FILES; i++) {
    size_t label = (size_t)r4_data_example(folder, i).label;
    loss -= log(p[i * CLASSES + label]) / FILES;
    right += predict_class(p + i * CLASSES, CLASSES) == label;
  }
  assert_true(right / FILES == m.accuracy);
  assert_true(fabs(loss - m.loss) < 1e-6);
  free(w);
  r4_net_free(n);
  r4_data_free(folder);
}

static void one_output_is_two_classes(void **state)
{
  (void)state;
  static const char *const names[] = {"no", "yes"};
  r4_data *folder = open_folder(), *d = by_name(folder, NULL);
  float *w, p[FILES * 2];
  r4_error e = {0};
  r4_net *n = new_net("flatten, dense 1", &w);
  memset(w, 0, r4_net_size(n) * sizeof *w);
  w[FEATURES] = logf(3);
  assert_int_equal(r4_predict(n, w, d, 256, p, NULL), R4_OK);
  for (size_t i = 0; i < FILES; i++)
    assert_true(fabsf(p[2 * i] - 0.25f) < 1e-6f && fabsf(p[2 * i + 1] - 0.75f) < 1e-6f);
  assert_int_equal(r4_model_save(n, w, names, scratch_path("one"), &e), R4_OK);
  r4_model *m = r4_model_open(scratch_path("one"), NULL, &e);
  assert_non_null(m);
  assert_string_equal(r4_model_class_name(m, 0), "no");
  assert_string_equal(r4_model_class_name(m, 1), "yes");
  r4_model_free(m);
  free(w);
  r4_net_free(n);
  r4_data_free(d);
  r4_data_free(folder);
}

/* A model of what is in memory has copies of it, whichever allocation fails on the way. */
static void a_model_is_made_in_memory(void **state)
{
  (void)state;
  char name[2][8] = {"no", "yes"};
  const char *const names[] = {name[0], name[1]};
  float *w, x[FEATURES] = {0}, p[2];
  r4_error e = {0};
  r4_net *n = new_net("flatten, dense 1", &w);
  memset(w, 0, r4_net_size(n) * sizeof *w);
  w[FEATURES] = logf(3);
  r4_model *m = NULL;
  for (long k = 1; !m && k < 1000; k++) {
    r4_mem_fail_at(k);
    m = r4_model_new(n, w, names, &e);
    r4_mem_fail_at(0);
    assert_int_equal(e.status, m ? R4_OK : R4_E_MEMORY);
  }
  assert_non_null(m);
  w[0] = NAN;
  assert_null(r4_model_new(n, w, names, &e));
  assert_error(&e, e.status, "\"1.weight\" is nan");
  memset(name, 'x', sizeof name - 1);
  free(w);
  r4_net_free(n);
  const r4_data_arrays one = {.n = 1, .shape = r4_net_input(r4_model_net(m)), .floats = x, .labels = &(int32_t){0}};
  r4_data *d = r4_data_new(&one, &e);
  assert_int_equal(r4_predict(r4_model_net(m), r4_model_weights(m), d, 1, p, &e), R4_OK);
  r4_data_free(d);
  assert_int_equal(r4_model_classes(m), 2);
  assert_true(fabsf(p[0] - 0.25f) < 1e-6f && fabsf(p[1] - 0.75f) < 1e-6f);
  assert_string_equal(r4_model_class_name(m, 0), "no");
  assert_string_equal(r4_model_class_name(m, 1), "yes");
  r4_model_free(m);
}

/* As many numbers in other places are another image; sides of 1 move none, and a vector has no places. */
static void images_lie_as_the_net_takes_them(void **state)
{
  (void)state;
  static const struct {
    r4_shape net, data;
    bool fits;
  } want[] = {{R4_SHAPE(4, 2, 3), R4_SHAPE(4, 2, 3), true},  {R4_SHAPE(4, 2, 3), R4_SHAPE(2, 4, 3), false},
              {R4_SHAPE(4, 2, 3), R4_SHAPE(3, 4, 2), false}, {R4_SHAPE(4, 6, 1), R4_SHAPE(1, 4, 6), true},
              {R4_SHAPE(4, 2, 3), R4_SHAPE(24), true},       {R4_SHAPE(24), R4_SHAPE(4, 2, 3), true}};
  const float x[24] = {0};
  const int32_t label[1] = {0};
  for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
    r4_error e = {0};
    const r4_data_arrays arrays = {.n = 1, .shape = want[k].data, .floats = x, .labels = label, .classes = 2};
    r4_data *d = r4_data_new(&arrays, &e);
    r4_net *n = r4_net_open(want[k].net.rank == 1 ? "dense 2" : "flatten, dense 2", want[k].net, &e);
    float p[2], *w = n ? calloc(r4_net_size(n), sizeof *w) : NULL;
    if (!d || !w) fail_msg("%s", e.text);
    if (r4_predict(n, w, d, 1, p, &e) != (want[k].fits ? R4_OK : R4_E_SHAPE)) fail_msg("case %zu: %s", k, e.text);
    if (!want[k].fits) assert_non_null(strstr(e.text, "the net takes images of shape [4,2,3], the data has ["));
    free(w);
    r4_net_free(n);
    r4_data_free(d);
  }
}

static void refused(void **state)
{
  (void)state;
  static r4_metrics figures;
  r4_error e = {0};
  r4_data *folder = open_folder();
  float *w, p[FILES * CLASSES], *small;
  r4_net *n = new_net("flatten, dense 3", &w), *other = r4_net_open("dense 3", R4_SHAPE(4), NULL);
  small = calloc(r4_net_size(other), sizeof *small);
  assert_int_equal(r4_predict(other, small, folder, 4, p, &e), R4_E_SHAPE);
  assert_error(&e, R4_E_SHAPE, "the net takes 4 features, the data has 108");
  assert_int_equal(r4_predict(n, w, folder, 0, p, &e), R4_E_ARGUMENT);
  assert_error(&e, R4_E_ARGUMENT, "a batch of 0 examples");
  assert_int_equal(r4_evaluate(n, w, folder, &(r4_measure_options){.batch = -1}, &figures, &e), R4_E_ARGUMENT);
  w[7] = NAN;
  assert_int_equal(r4_predict(n, w, folder, 4, p, &e), R4_E_DOMAIN);
  for (size_t k = 0; k < r4_net_size(n); k++) w[k] = 3e38f;
  assert_int_equal(r4_predict(n, w, folder, 4, p, &e), R4_E_DOMAIN);
  assert_error(&e, R4_E_DOMAIN, "no prediction for");
  free(w);
  free(small);
  r4_net_free(n);
  r4_net_free(other);
  r4_data_free(folder);
}

static void memory_that_fails(void **state)
{
  (void)state;
  r4_data *folder = open_folder();
  float *w, p[FILES * CLASSES];
  r4_net *n = new_net("flatten, dense 3", &w);
  char path[4096];
  snprintf(path, sizeof path, "%s", scratch_path("animals/ant/0.png"));
  const char *const file[] = {path}, *const names[] = {"no"};
  r4_status s = R4_E_MEMORY;
  for (long k = 1; s; k++) {
    r4_error e = {0};
    r4_mem_fail_at(k);
    r4_data *d = r4_data_images(file, 1, shape, NULL, &e);
    r4_data *other = d ? r4_data_relabel(d, (const int32_t[]){0}, 1, names, &e) : NULL;
    s = other ? r4_predict(n, w, other, 2, p, &e) : e.status;
    r4_mem_fail_at(0);
    if (s && s != R4_E_MEMORY) fail_msg("allocation %ld: %s", k, e.text);
    r4_data_free(other);
    r4_data_free(d);
  }
  free(w);
  r4_net_free(n);
  r4_data_free(folder);
}

static int prepare(void **state)
{
  int failed = scratch_make(state);
  if (!failed) make_folder();
  return failed;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_values_of_folders),
    cmocka_unit_test(what_cannot_be_read),
    cmocka_unit_test(other_labels),
    cmocka_unit_test(the_logits_of_evaluation),
    cmocka_unit_test(the_figures_of_evaluation),
    cmocka_unit_test(one_output_is_two_classes),
    cmocka_unit_test(a_model_is_made_in_memory),
    cmocka_unit_test(images_lie_as_the_net_takes_them), cmocka_unit_test(refused),
    cmocka_unit_test(memory_that_fails),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("predict", tests, prepare, scratch_remove);
}
