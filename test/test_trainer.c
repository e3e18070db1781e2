/* A trainer that a program drives: on data from memory, without files; the same bits as r4_train, stopped and loaded
 * again or not; and what it refuses. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "scratch.h"
#include "settings_case.h"
#include "small_images.h"

enum { N = 160, SIDE = 6, PIXELS = SIDE * SIDE };

/* Images whose label is a bright row in the upper or lower half; a corner gives it away, and is masked. */
static r4_data *bars(void)
{
  static float x[N * PIXELS], m[N * PIXELS];
  static int32_t y[N];
  static r4_split split[N];
  for (size_t i = 0; i < N; i++) {
    y[i] = (int32_t)(i % 2);
    split[i] = i % 4 == 3 ? R4_VAL : R4_TRAIN;
    size_t row = (size_t)(y[i] * 3) + i / 2 % 3;
    for (size_t k = 0; k < PIXELS; k++) {
      x[i * PIXELS + k] = (float)(0.3 * r4_random_uniform((r4_random){1, 2, (uint32_t)i}, k));
      if (k / SIDE == row) x[i * PIXELS + k] += 0.7f;
      m[i * PIXELS + k] = k == 0;
    }
    x[i * PIXELS] = (float)y[i];
  }
  return small_images(N, SIDE, x, y, split, m);
}

static r4_settings *settings_with(const char *const *more)
{
  static const char *const common[] = {"net=dense 6, relu, dense 2",
                                       "method=adv-r4",
                                       "attack.steps=2",
                                       "batch=25",
                                       "epochs=4",
                                       "select=worst",
                                       "eps.ramp=1",
                                       NULL};
  return settings_case_with(common, more);
}

static r4_trainer *trainer_of(const r4_settings *s, const r4_data *d)
{
  r4_error e = {0};
  r4_trainer *t = r4_trainer_new(s, d, &e);
  if (!t) fail_msg("%s", e.text);
  return t;
}

static void finish(r4_trainer *t)
{
  r4_error e = {0};
  while (!r4_trainer_done(t))
    if (r4_trainer_epoch(t, NULL, &e)) fail_msg("%s", e.text);
}

static void assert_same_weights(const r4_trainer *a, const float *weights)
{
  assert_memory_equal(r4_trainer_weights(a), weights, r4_net_size(r4_trainer_net(a)) * sizeof(float));
}

static void it_learns_from_memory(void **state)
{
  (void)state;
  r4_error e = {0};
  static r4_metrics m;
  r4_data *d = bars(), *val = r4_data_part(d, R4_VAL, &e);
  r4_settings *s = settings_with((const char *const[]){"epochs=20", "rate=0.01", NULL});
  r4_trainer *t = trainer_of(s, d);
  r4_data_free(d); /* it has what it needs */
  assert_int_equal(r4_settings_set(s, "epochs=1", "test", &e), R4_OK);
  r4_settings_free(s);
  r4_progress p;
  assert_int_equal(r4_trainer_epoch(t, &p, &e), R4_OK);
  assert_true(p.epoch == 1 && p.epoch_done && p.validated && p.batches == 5);
  finish(t);
  r4_trainer_progress(t, &p);
  assert_true(p.epoch == 20);
  assert_int_equal(r4_evaluate(r4_trainer_net(t), r4_trainer_weights(t), val, NULL, &m, &e), R4_OK);
  assert_true(m.accuracy > 0.95 && m.kappa_masked_max < m.kappa_core_max);
  assert_error(&e, r4_trainer_step(t, NULL, &e), "training is done: all 20 epochs");
  r4_trainer_free(t);
  r4_data_free(val);
}

static void keep_last(const char *sentence, void *user)
{
  snprintf(user, 512, "%s", sentence);
}

/* As at the end of r4_train: a penalty that waits, and none. */
static void it_is_judged(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_outcome end;
  char told[512] = "";
  r4_data *d = bars();
  r4_settings *s =
    settings_with((const char *const[]){"method=r3", "rate=1e-9", "epochs=2", "eps.ramp=0", NULL});
  r4_trainer *t = trainer_of(s, d);
  r4_trainer_listen(t, keep_last, told);
  assert_error(&e, r4_trainer_judge(t, &end, &e), "no epoch is done yet, so there is no model to judge");
  finish(t);
  assert_int_equal(r4_trainer_judge(t, &end, &e), R4_OK);
  assert_true(end.unpenalised && !end.penalised && end.steps == 10 && end.exchanged == 40);
  assert_non_null(
    strstr(told, "the penalty took effect in none of 10 steps")); /* all of validation is one class */
  r4_trainer_free(t);
  r4_settings_free(s);
  s = settings_with((const char *const[]){"method=erm", "rate=0.01", "epochs=20", "eps.ramp=0", NULL});
  t = trainer_of(s, d);
  finish(t);
  assert_int_equal(r4_trainer_judge(t, &end, &e), R4_OK);
  assert_true(!end.unpenalised && !end.penalised && end.steps == 100 && end.lost == 0);
  r4_trainer_free(t);
  r4_settings_free(s);
  r4_data_free(d);
}

static r4_trainer *lazy_trainer(const r4_data *d, const char *every, const char *lambda)
{
  r4_settings *s = settings_with((const char *const[]){"method=r3", "penalty.cap=false", "fill=none",
                                                       "eps.ramp=0", "optimizer=sgd", every, lambda, NULL});
  r4_trainer *t = trainer_of(s, d);
  r4_settings_free(s);
  return t;
}

/* Every third step has the penalty, three times; the others are those of erm, whose plan has fewer FLOPs. */
static void a_penalty_may_be_lazy(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_data *d = bars();
  r4_trainer *lazy = lazy_trainer(d, "penalty.every=3", "lambda=2");
  r4_trainer *strong = lazy_trainer(d, "penalty.every=1", "lambda=6");
  double flops[5];
  r4_progress p;
  for (int k = 0; k < 5; k++) {
    assert_int_equal(r4_trainer_step(lazy, &p, &e), R4_OK);
    flops[k] = r4_plan_flops(r4_trainer_plan(lazy));
    assert_true(fabs(p.lambda - 2) < 1e-12);
    if (k) continue;
    assert_int_equal(r4_trainer_step(strong, NULL, &e), R4_OK);
    assert_same_weights(lazy, r4_trainer_weights(strong));
  }
  assert_true(flops[0] == flops[3] && flops[1] == flops[2] && flops[1] < flops[0]);
  r4_trainer_free(strong);
  r4_trainer_free(lazy);
  r4_data_free(d);
}

static void a_penalty_may_not_be_too_lazy(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_data *d = bars();
  r4_settings *s = settings_with((const char *const[]){"method=r3", "eps.ramp=0", "penalty.every=21", NULL});
  assert_null(r4_trainer_new(s, d, &e));
  assert_non_null(strstr(e.text, "penalty.every is 21, but the run has 20 steps"));
  r4_settings_free(s);
  r4_data_free(d);
}

static void data_without_a_name_are_called_data(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_data *all = bars(), *d = r4_data_keep_masks(all, 0, 0, &e);
  r4_settings *s = settings_with((const char *const[]){"method=r3", NULL});
  assert_null(r4_trainer_new(s, d, &e));
  assert_int_equal(strncmp(e.text, "the data: no training example has a mask", 40), 0);
  r4_settings_free(s);
  r4_data_free(d);
  r4_data_free(all);
}

/* All figures of the log but the seconds, which no two runs share. */
static void assert_same_log(r4_trainer *t, const char *path)
{
  uint8_t *file;
  size_t size;
  assert_int_equal(file_read(path, 1 << 20, &file, &size, NULL), R4_OK);
  char *own = r4_trainer_log(t), *rest[2] = {own, (char *)file};
  assert_non_null(own);
  for (char *a, *b; (a = strsep(&rest[0], ",")) && (b = strsep(&rest[1], ","));)
    if (!strstr(a, "\"seconds\"")) assert_string_equal(a, b);
  assert_true(!rest[0] && !rest[1]);
  r4_string_free(own);
  r4_mem_free(file);
}

/* The same settings and data by r4_train: the same model. */
static void it_is_what_r4_train_does(void **state)
{
  (void)state;
  r4_error e = {0};
  char assignment[400];
  r4_data *d = bars();
  assert_int_equal(r4_data_save(d, scratch_path("bars.npz"), &e), R4_OK);
  snprintf(assignment, sizeof assignment, "data=%s", scratch_path("bars.npz"));
  r4_settings *s = settings_with((const char *const[]){assignment, "data.mask_means=irrelevant", NULL});
  if (r4_train(s, &(r4_train_options){.folder = scratch_path("run")}, NULL, &e)) fail_msg("%s", e.text);
  r4_model *m = r4_model_open(scratch_path("run/model.safetensors"), NULL, &e);
  assert_non_null(m);
  r4_trainer *a = trainer_of(s, d), *b = trainer_of(s, NULL);
  finish(a);
  finish(b);
  assert_same_weights(a, r4_model_weights(m));
  assert_same_weights(b, r4_model_weights(m));
  assert_same_log(a, scratch_path("run/log.jsonl"));
  assert_int_equal(r4_trainer_save_model(a, scratch_path("own.safetensors"), &e), R4_OK);
  r4_model *own = r4_model_open(scratch_path("own.safetensors"), NULL, &e);
  assert_same_weights(a, r4_model_weights(own));
  r4_model_free(own);
  r4_model_free(m);
  r4_trainer_free(a);
  r4_trainer_free(b);
  r4_settings_free(s);
  r4_data_free(d);
}

static void checkpoints_go_on_to_the_same_bits(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_data *d = bars();
  r4_settings *s = settings_with((const char *const[]){"select=last", NULL});
  r4_settings *other = settings_with((const char *const[]){"select=last", "seed=3", NULL});
  r4_trainer *whole = trainer_of(s, d), *first = trainer_of(s, d), *second = trainer_of(s, d);
  finish(whole);
  for (int k = 0; k < 8; k++)
    assert_int_equal(r4_trainer_step(first, NULL, &e), R4_OK); /* within the second epoch */
  assert_int_equal(r4_trainer_save(first, scratch_path("state"), &e), R4_OK);
  r4_trainer_free(first);
  assert_int_equal(r4_trainer_load(second, scratch_path("state"), &e), R4_OK);
  finish(second);
  assert_same_weights(second, r4_trainer_weights(whole));
  r4_trainer *stranger = trainer_of(other, d);
  assert_error(&e, r4_trainer_load(stranger, scratch_path("state"), &e), "seed");
  r4_trainer_free(stranger);
  r4_trainer_free(whole);
  r4_trainer_free(second);
  r4_settings_free(s);
  r4_settings_free(other);
  r4_data_free(d);
}

/* What was done may be the beginning of more. */
static void it_goes_on_after_its_end(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_data *d = bars();
  r4_settings *few = settings_with((const char *const[]){"epochs=2", NULL}),
              *more = settings_with((const char *const[]){"epochs=3", NULL});
  r4_trainer *first = trainer_of(few, d), *second = trainer_of(more, d);
  finish(first);
  assert_int_equal(r4_trainer_save(first, scratch_path("end"), &e), R4_OK);
  if (r4_trainer_load(second, scratch_path("end"), &e)) fail_msg("%s", e.text);
  assert_false(r4_trainer_done(second));
  r4_progress p;
  assert_int_equal(r4_trainer_epoch(second, &p, &e), R4_OK);
  assert_true(p.epoch == 3 && r4_trainer_done(second));
  r4_trainer_free(first);
  r4_trainer_free(second);
  r4_settings_free(few);
  r4_settings_free(more);
  r4_data_free(d);
}

/* No file appears where the program stands, nor one under the name of another format, which nobody could read. */
static void it_leaves_no_files(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_data *d = bars();
  r4_settings *s = settings_with(NULL);
  r4_trainer *t = trainer_of(s, d);
  assert_error(&e, r4_trainer_save_model(t, scratch_path("none"), &e), "no epoch is done yet");
  finish(t);
  assert_int_not_equal(access("checkpoint", F_OK), 0);
  assert_int_not_equal(access("log.jsonl", F_OK), 0);
  assert_int_not_equal(access(scratch_path("none"), F_OK), 0);
  assert_error(&e, r4_trainer_save_model(t, scratch_path("m.ONNX"), &e), "r4_onnx_save writes ONNX");
  assert_int_equal(e.status, R4_E_ARGUMENT);
  assert_int_not_equal(access(scratch_path("m.ONNX"), F_OK), 0);
  assert_int_equal(r4_trainer_save_model(t, scratch_path("onnx"), &e), R4_OK);
  r4_trainer_free(t);
  r4_settings_free(s);
  r4_data_free(d);
}

static char heard[2000];

static void hear(const char *sentence, void *user)
{
  (void)user;
  snprintf(heard + strlen(heard), sizeof heard - strlen(heard), "%s\n", sentence);
}

static void it_tells_and_refuses(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_data *d = bars();
  r4_settings *s = settings_with((const char *const[]){"rate=0", NULL});
  r4_trainer *t = trainer_of(s, d);
  r4_trainer_listen(t, hear, NULL);
  assert_non_null(strstr(heard, "rate (test) is 0"));
  r4_trainer_free(t);
  r4_settings_free(s);
  s = settings_with((const char *const[]){"net=dense {clases}", NULL});
  assert_null(r4_trainer_new(s, d, &e));
  assert_error(&e, e.status, "net: unknown {clases}; did you mean {classes}?");
  r4_settings_free(s);
  s = settings_with((const char *const[]){"net=dense 3", NULL});
  assert_null(r4_trainer_new(s, d, &e));
  assert_error(&e, e.status, "3 outputs");
  r4_settings_free(s);
  s = settings_with((const char *const[]){"lambda=auto", NULL});
  assert_null(r4_trainer_new(s, d, &e));
  assert_error(&e, e.status, "auto");
  r4_settings_free(s);
  r4_data_free(d);
}

/* Data that a program gives are used as they are: it is told which settings that leaves without an effect. */
static r4_data *grey_levels(size_t rank, float brightest)
{
  static float x[N * PIXELS];
  static int32_t y[N];
  for (size_t i = 0; i < N; i++) y[i] = (int32_t)(i % 2);
  for (size_t k = 0; k < N * PIXELS; k++) x[k] = brightest * (float)(k % 7) / 6;
  r4_data_arrays a = {.n = N, .shape = R4_SHAPE(SIDE, SIDE, 1), .floats = x, .labels = y};
  if (rank == 1) a.shape = R4_SHAPE(PIXELS);
  return r4_data_new(&a, NULL);
}

/* Pixels from 0 to 255 as floats: the first that is said. Of other features nobody knows. */
static void it_names_images_out_of_scale(void **state)
{
  (void)state;
  static const struct {
    size_t rank;
    float brightest;
    const char *says;
  } cases[] = {{3, 255, "the data: values are from 0 to 255, and those of images are meant to be in [0, 1]"},
               {3, 252, "the data: all values are whole numbers from 0 to 252, like bytes: divide them by 255"},
               {3, 1, NULL},
               {3, 127, NULL},
               {3, 256, NULL},
               {1, 252, NULL}};
  r4_settings *s = settings_with((const char *const[]){"method=erm", "net=flatten, dense 2", "select=last", NULL});
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    r4_data *d = grey_levels(cases[k].rank, cases[k].brightest);
    r4_trainer *t = trainer_of(s, d);
    *heard = 0;
    r4_trainer_listen(t, hear, NULL);
    if (cases[k].says && strncmp(heard, cases[k].says, strlen(cases[k].says)))
      fail_msg("%zu: \"%s\", expected \"%s\" first", k, heard, cases[k].says);
    if (!cases[k].says) assert_null(strstr(heard, "255"));
    r4_trainer_free(t);
    r4_data_free(d);
  }
  r4_settings_free(s);
  r4_trainer_listen(NULL, hear, NULL); /* nobody speaks */
}

static void it_names_settings_of_data_that_do_nothing(void **state)
{
  (void)state;
  r4_data *d = bars();
  static const char *const set[] = {"data.mask_means=relevant", "data.keep_masks=0.5", "data.val=0.2",
                                    "data.seed=3",              "data.val_fill=none",  "data.cache=",
                                    "select=last",              NULL};
  r4_settings *s = settings_with(set);
  r4_trainer *t = trainer_of(s, d);
  *heard = 0;
  r4_trainer_listen(t, hear, NULL);
  assert_non_null(strstr(heard, "data.mask_means (test) has no effect: the data are the program's own"));
  assert_non_null(strstr(heard, "data.keep_masks (test) has no effect"));
  assert_null(strstr(heard, "data.val ")); /* the program may have held them out */
  assert_null(strstr(heard, "data.cache")); /* as it is anyway */
  assert_null(strstr(heard, "data.seed"));
  assert_null(strstr(heard, "data.val_fill (test)"));
  r4_trainer_free(t);
  r4_settings_free(s);
  r4_data_free(d);
}

/* Messages name what settings do not; without any mask, data.keep_masks: 0 says that this is meant. */
static void data_without_masks_are_a_control_if_that_is_meant(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_data *masked = bars(), *d = r4_data_keep_masks(masked, 0, 0, &e);
  r4_settings *s = settings_with((const char *const[]){"data.val_fill=none", "select=last", NULL});
  assert_null(r4_trainer_new(s, d, &e));
  assert_error(&e, e.status, "the data: no training example has a mask");
  assert_int_equal(r4_settings_set(s, "data.keep_masks=0", "test", &e), R4_OK);
  r4_trainer *t = trainer_of(s, d);
  *heard = 0;
  r4_trainer_listen(t, hear, NULL);
  assert_null(strstr(heard, "has no effect"));
  r4_trainer_free(t);
  r4_settings_free(s);
  r4_data_free(d);
  r4_data_free(masked);
}

/* The plan of the last step: it has done work, and is measured from when it is asked for. */
static void it_shows_its_plan(void **state)
{
  (void)state;
  r4_data *d = bars();
  r4_settings *s = settings_with(NULL);
  r4_trainer *t = trainer_of(s, d);
  assert_null(r4_trainer_plan(t));
  assert_int_equal(r4_trainer_step(t, NULL, NULL), R4_OK);
  r4_plan *p = r4_trainer_plan(t);
  assert_non_null(p);
  assert_true(r4_plan_flops(p) > 0);
  for (int measured = 0; measured < 2; measured++) {
    char *text = r4_plan_text(p);
    assert_int_equal(strstr(text, " ms ") != NULL, measured);
    assert_int_equal(strstr(text, "0.0000 ms     0.0") == text + 2, measured);
    r4_string_free(text);
    r4_plan_profile(p);
  }
  r4_trainer_free(t);
  r4_settings_free(s);
  r4_data_free(d);
}

/* What a run writes down about itself, without a folder. */
static void test_manifest(void **state)
{
  (void)state;
  char hash[R4_HASH_SIZE];
  r4_settings *s = settings_with((const char *const[]){"seed=3", NULL});
  r4_data *d = bars();
  r4_trainer *t = trainer_of(s, d);
  char *text = r4_trainer_manifest(t);
  r4_data_hash(d, hash);
  assert_non_null(text);
  assert_non_null(strstr(text, "\"seed\":3"));
  assert_non_null(strstr(text, hash));
  assert_null(strstr(text, "source"));
  assert_non_null(strstr(text, "\"resolved\":{\"objective\":\"adv-r4 = mean loss weighted by class on filled "));
  assert_non_null(strstr(text, "\"explain\":\"loss\""));
  assert_non_null(strstr(text, "\"penalty.form\":\"linear\""));
  r4_string_free(text);
  r4_trainer_free(t);
  r4_data_free(d);
  r4_settings_free(s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_manifest),
    cmocka_unit_test(it_learns_from_memory),
    cmocka_unit_test(it_is_judged),
    cmocka_unit_test(a_penalty_may_be_lazy),
    cmocka_unit_test(a_penalty_may_not_be_too_lazy),
    cmocka_unit_test(data_without_a_name_are_called_data),
    cmocka_unit_test(it_goes_on_after_its_end),
    cmocka_unit_test(it_is_what_r4_train_does),
    cmocka_unit_test(checkpoints_go_on_to_the_same_bits),
    cmocka_unit_test(it_leaves_no_files),
    cmocka_unit_test(it_tells_and_refuses),
    cmocka_unit_test(it_names_images_out_of_scale),
    cmocka_unit_test(it_names_settings_of_data_that_do_nothing),
    cmocka_unit_test(data_without_masks_are_a_control_if_that_is_meant),
    cmocka_unit_test(it_shows_its_plan),
  };
  return cmocka_run_group_tests_name("trainer", tests, scratch_make, scratch_remove);
}
