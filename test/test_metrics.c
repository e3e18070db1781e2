/* What r4_evaluate says of nets that are not worth their figures, and of data that have none to give. */
#include <math.h>
#include <string.h>

#include "data/data.h"
#include "module/net.h"
#include "scratch.h"

enum { N = 12, FEATURES = 4, CLASSES = 3 };

static const char *const NAMES[CLASSES] = {"ant", "bee", "cat"};

/* Example i has the value (i + 1) / 10 everywhere and the label i % 3; all are for test, and none has a mask. The
 * groups are the classes. */
static r4_data *make(void)
{
  struct column *v = column_new(&floats_column, R4_SHAPE(FEATURES), N, NULL);
  r4_data *d = v ? data_new(N, v, NULL) : NULL;
  assert_non_null(d);
  data_set_masks(d, masks_new(FEATURES, NULL));
  for (size_t i = 0; i < N; i++) {
    for (size_t j = 0; j < FEATURES; j++) ((float *)v->data)[i * FEATURES + j] = (float)(i + 1) / 10;
    d->record[i].label = d->record[i].group = (int)(i % CLASSES);
    d->record[i].split = R4_TEST;
  }
  for (int k = 0; k < CLASSES; k++) {
    names_add(d->classes, NAMES[k], NULL, NULL);
    names_add(d->groups, NAMES[k], NULL, NULL);
  }
  assert_int_equal(data_finish(d, "test", NULL), R4_OK);
  return d;
}

static void mask(r4_data *d, size_t i, const uint8_t bytes[FEATURES])
{
  assert_int_equal(masks_add(data_masks(d), bytes, &d->record[i].mask, NULL), R4_OK);
}

static const uint8_t PART[FEATURES] = {255, 0, 0, 0}, WHOLE[FEATURES] = {255, 255, 255, 255};

static r4_net *small_net(void)
{
  r4_net *n = r4_net_open("dense 3", R4_SHAPE(FEATURES), NULL);
  assert_non_null(n);
  return n;
}

enum { WEIGHTS = FEATURES * CLASSES + CLASSES, BIAS = FEATURES * CLASSES };

static const r4_measure_options five_at_a_time = {.eps = 0.1, .kappa = SIZE_MAX, .batch = 5};

static r4_status evaluate(const float w[WEIGHTS], const r4_data *d, r4_metrics *m, r4_error *e)
{
  r4_net *n = small_net();
  r4_status s = r4_evaluate(n, w, d, &five_at_a_time, m, e);
  r4_net_free(n);
  return s;
}

/* ---- Answers ---- */

static void one_answer_for_all_is_noticed(void **state)
{
  (void)state;
  static r4_metrics m;
  r4_data *d = make();
  float w[WEIGHTS] = {0};
  w[BIAS + 1] = 1; /* bee, whatever the example */
  mask(d, 0, PART);
  assert_int_equal(evaluate(w, d, &m, NULL), R4_OK);
  assert_true(m.answers.constant);
  assert_int_equal(m.answers.most, 1);
  assert_true(m.answers.most_share == 1);
  assert_int_equal(m.answers.not_finite, 0);
  assert_true(m.kappa_masked_max == 0); /* the best of all, and worth nothing */
  r4_summary s;
  r4_summarize(&m, 1, &s);
  assert_int_equal(s.constant, 1);
  r4_data_free(d);
}

/* ant up to 0.6, then cat: the net is no good, but it looks at its examples. */
static void two_answers_are_not_constant(void **state)
{
  (void)state;
  static r4_metrics m;
  r4_data *d = make();
  float w[WEIGHTS] = {[2 * FEATURES] = 1, [BIAS + 2] = -0.65f, [BIAS + 1] = -5};
  assert_int_equal(evaluate(w, d, &m, NULL), R4_OK);
  assert_false(m.answers.constant);
  assert_int_equal(m.answers.most, 0); /* the first at a tie */
  assert_true(m.answers.most_share == 0.5);
  r4_summary s;
  r4_summarize(&m, 1, &s);
  assert_int_equal(s.constant, 0);
  r4_data_free(d);
}

/* Where all examples are of one class, one answer is what is wanted. */
static void one_class_alone_is_no_reproach(void **state)
{
  (void)state;
  static r4_metrics m;
  r4_data *d = make();
  float w[WEIGHTS] = {0};
  w[BIAS + 1] = 1;
  for (size_t i = 0; i < N; i++) d->record[i].label = 1;
  assert_int_equal(evaluate(w, d, &m, NULL), R4_OK);
  assert_true(m.answers.most_share == 1);
  assert_false(m.answers.constant);
  r4_data_free(d);
}

/* ---- Numbers that are none ---- */

static void weights_must_be_finite(void **state)
{
  (void)state;
  static r4_metrics m;
  static const float bad[] = {NAN, INFINITY, -INFINITY};
  static const char *const text[] = {"\"0.weight\"", "is inf at [2,1]", "is -inf at [2,1]"};
  r4_data *d = make();
  for (int k = 0; k < 3; k++) {
    float w[WEIGHTS] = {0};
    r4_error e = {0};
    w[2 * FEATURES + 1] = bad[k];
    assert_int_equal(evaluate(w, d, &m, &e), R4_E_DOMAIN);
    assert_error(&e, R4_E_DOMAIN, text[k]);
  }
  r4_data_free(d);
}

static void models_with_such_weights_are_not_written_or_read(void **state)
{
  (void)state;
  r4_net *n = r4_net_open("conv 2 3 p1, flatten, dense 3", R4_SHAPE(2, 2, 2), NULL);
  float w[256] = {0};
  r4_error e = {0};
  const char *path = scratch_path("bad.safetensors");
  assert_non_null(n);
  assert_in_range(r4_net_size(n), 1, 256);
  size_t conv = 37, here = 1 * 18 + 2 * 6 + 0 * 2 + 1; /* [1, 2, 0, 1] of [out, height, width, in] */
  assert_int_equal(r4_net_param_offset(n, 1), conv - 1);
  w[here] = NAN;
  assert_int_equal(r4_model_save(n, w, NULL, path, &e), R4_E_DOMAIN);
  assert_error(&e, R4_E_DOMAIN,
               "bad.safetensors: \"0.weight\" is nan at [1,2,0,1], expected a finite number");
  /* The same written by others: the bits of the one element are changed in the file. */
  w[here] = 12345.5f;
  assert_int_equal(r4_model_save(n, w, NULL, path, &e), R4_OK);
  scratch_unseal("bad.safetensors");
  scratch_patch("bad.safetensors", &w[here], &(float){-INFINITY}, sizeof *w);
  assert_null(r4_model_open(path, NULL, &e));
  assert_error(&e, R4_E_DOMAIN,
               "bad.safetensors: \"0.weight\" is -inf at [1,1,2,0], expected"); /* as in the file */
  r4_net_free(n);
}

/* Finite weights whose logits overflow for the two largest examples only. */
static void logits_must_be_finite(void **state)
{
  (void)state;
  static r4_metrics m;
  r4_error e = {0};
  r4_data *d = make();
  float w[WEIGHTS] = {0};
  for (size_t j = 0; j < FEATURES; j++) w[j] = 3.3e38f / 4; /* the sum overflows from x > 1.03 on */
  assert_int_equal(evaluate(w, d, &m, &e), R4_E_DOMAIN);
  assert_error(&e, R4_E_DOMAIN,
               "no prediction for 2 of 12 examples: the logit of class 0 (ant) is NaN or infinite for example 10");
  assert_int_equal(m.answers.not_finite, 2);
  r4_data_free(d);
}

/* A net for other examples, or for fewer classes, is refused before anything is measured. */
static void net_and_data_must_fit(void **state)
{
  (void)state;
  static r4_metrics m;
  r4_error e = {0};
  r4_data *d = make();
  float w[64] = {0};
  r4_net *wide = r4_net_open("dense 3", R4_SHAPE(FEATURES + 1), NULL),
         *few = r4_net_open("dense 2", R4_SHAPE(4), NULL);
  assert_int_equal(r4_evaluate(wide, w, d, NULL, &m, &e), R4_E_SHAPE);
  assert_error(&e, R4_E_SHAPE, "takes 5 features, the data has 4");
  assert_int_equal(r4_evaluate(few, w, d, NULL, &m, &e), R4_E_SHAPE);
  assert_error(&e, R4_E_SHAPE, "knows 2 classes, the data has 3");
  r4_net_free(wide);
  r4_net_free(few);
  r4_data_free(d);
}

/* ---- Fragility ---- */

/* "None" is not 0. */
static void no_mask_has_no_kappa(void **state)
{
  (void)state;
  static r4_metrics m[2];
  r4_data *d = make();
  float w[WEIGHTS] = {[0] = 1, [2 * FEATURES] = 2};
  for (int k = 0; k < 2; k++) assert_int_equal(evaluate(w, d, &m[k], NULL), R4_OK);
  assert_int_equal(m->masked_examples, 0);
  assert_int_equal(m->core_examples, 0);
  assert_true(isnan(m->kappa_masked_max) && isnan(m->kappa_masked_mean));
  assert_true(isnan(m->kappa_core_max) && isnan(m->kappa_core_mean));
  for (size_t seeds = 1; seeds <= 2; seeds++) {
    r4_summary s;
    r4_summarize(m, seeds, &s);
    assert_true(isnan(s.kappa_masked_max.mean) && isnan(s.kappa_masked_max.sd));
    assert_true(isnan(s.kappa_core_mean.mean) && isnan(s.kappa_core_mean.sd));
  }
  r4_data_free(d);
}

/* An example that is masked all over has no core: it is left out there, and counted. */
static void whole_masks_have_no_core(void **state)
{
  (void)state;
  static r4_metrics m;
  r4_data *d = make();
  float w[WEIGHTS] = {[0] = 1, [2 * FEATURES] = 2};
  mask(d, 2, WHOLE);
  mask(d, 5, WHOLE);
  assert_int_equal(evaluate(w, d, &m, NULL), R4_OK);
  assert_int_equal(m.masked_examples, 2);
  assert_int_equal(m.core_examples, 0);
  assert_true(m.kappa_masked_max > 0);
  assert_true(isnan(m.kappa_core_max) && isnan(m.kappa_core_mean));
  mask(d, 7, PART);
  assert_int_equal(evaluate(w, d, &m, NULL), R4_OK);
  assert_int_equal(m.masked_examples, 3);
  assert_int_equal(m.core_examples, 1);
  assert_true(m.kappa_core_max >= 0);
  r4_data_free(d);
}

/* Over seeds an infinite kappa stays infinite; how far it spreads is unknown. */
static void infinite_kappa_stays_so(void **state)
{
  (void)state;
  static r4_metrics m[2];
  m[0] = (r4_metrics){.groups = 1, .kappa_masked_max = INFINITY, .kappa_masked_mean = 1};
  m[1] = (r4_metrics){.groups = 1, .kappa_masked_max = 2, .kappa_masked_mean = 3};
  r4_summary s;
  r4_summarize(m, 2, &s);
  assert_true(isinf(s.kappa_masked_max.mean) && isnan(s.kappa_masked_max.sd));
  assert_true(s.kappa_masked_mean.mean == 2 && fabs(s.kappa_masked_mean.sd - sqrt(2)) < 1e-12);
}

/* ---- Groups ---- */

/* A first group without examples is not the worst: the others are still compared. */
static void empty_groups_are_not_the_worst(void **state)
{
  (void)state;
  static r4_metrics m[2];
  static const double share[2][3] = {{NAN, 0.75, 0.25}, {NAN, 0.5, 0.5}};
  for (int k = 0; k < 2; k++) {
    m[k] = (r4_metrics){.groups = 3};
    memcpy(m[k].group_accuracy, share[k], sizeof share[k]);
  }
  r4_summary s;
  r4_summarize(m, 2, &s);
  assert_int_equal(s.worst_mean_group, 2);
  assert_true(s.group[2].mean == 0.375);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(one_answer_for_all_is_noticed),
    cmocka_unit_test(two_answers_are_not_constant),
    cmocka_unit_test(one_class_alone_is_no_reproach),
    cmocka_unit_test(weights_must_be_finite),
    cmocka_unit_test(models_with_such_weights_are_not_written_or_read),
    cmocka_unit_test(logits_must_be_finite),
    cmocka_unit_test(net_and_data_must_fit),
    cmocka_unit_test(no_mask_has_no_kappa),
    cmocka_unit_test(whole_masks_have_no_core),
    cmocka_unit_test(infinite_kappa_stays_so),
    cmocka_unit_test(empty_groups_are_not_the_worst),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("metrics", tests, scratch_make, scratch_remove);
}
