/* The parts of a training run: steps, predictions, fragility. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "data/data.h"
#include "measure/kappa.h"
#include "measure/predict.h"
#include "measure/score.h"
#include "train/step.h"

enum { FEATURES = 784, MASKED = 16, BATCH = 60, SIZE = FEATURES * 32 + 32 + 320 + 10 };

#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

static const char NET[] = "dense 32, relu, dense 10";

/* Digits whose first masked examples have a mask on the upper left corner. */
static r4_data *corner_digits(size_t masked)
{
  r4_error e;
  r4_data *all = r4_data_open("digits:300", NULL, &e), *d = all ? data_derive(all, &e) : NULL;
  assert_non_null(d);
  uint8_t corner[FEATURES] = {0};
  for (int k = 0; k < MASKED; k++) corner[k / 4 * 28 + k % 4] = 255;
  data_set_masks(d, masks_new(FEATURES, &e));
  uint32_t number = 0;
  assert_int_equal(masks_add(data_masks(d), corner, &number, &e), R4_OK);
  for (size_t i = 0; i < masked; i++) d->record[i].mask = number;
  r4_data_free(all);
  return d;
}

struct rig {
  r4_data *data;
  r4_net *net;
  r4_batches *batches;
  struct step *step;
  float index[FEATURES], weights[SIZE], gradient[SIZE];
  size_t masked;
};

static struct rig *rig_new(r4_objective_options objective, size_t masked)
{
  r4_error e;
  struct rig *r = calloc(1, sizeof *r);
  r->data = corner_digits(masked);
  r->net = r4_net_open(NET, R4_SHAPE(FEATURES), &e);
  assert_non_null(r->net);
  assert_int_equal(r4_net_size(r->net), SIZE);
  r4_net_init(r->net, NULL, 3, r->weights, NULL);
  r->masked = r4_data_masked_features(r->data, NULL, r->index);
  r4_batch_options batches = {.size = BATCH, .masked = r->masked, .index = r->index};
  r->batches = r4_batches_new(r->data, &batches, &e);
  assert_non_null(r->batches);
  struct step_options options = {
    .net = r->net, .objective = objective, .masked = r->masked, .index = r->index};
  r->step = step_new(&options, &e);
  return r;
}

static void rig_free(struct rig *r)
{
  step_free(r->step);
  r4_batches_free(r->batches);
  r4_net_free(r->net);
  r4_data_free(r->data);
  free(r);
}

static struct step_result rig_step_on(struct rig *r, const r4_batch *b, uint32_t n)
{
  r4_error e = {0};
  struct step_result result;
  struct step_weights at = {.lambda = {1, 1}, .eps = 0.5};
  r4_status s = step_run(r->step, b, n, &at, r->weights, r->gradient, &result, &e);
  assert_int_equal(s, R4_OK);
  return result;
}

static struct step_result rig_step(struct rig *r, uint32_t n)
{
  r4_batch b = r4_batches_next(r->batches);
  return rig_step_on(r, &b, n);
}

static const char *const METHODS[] = {"erm",     "r3",     "smooth-r3", "ibp-ex",    "ibp-ex+r3",
                                      "rand-r4", "adv-r4", "cert-r4",   "cert-r4+r3"};

static r4_objective_options options_of(const char *method)
{
  return (r4_objective_options){.method = method,
                                .lambda = {1, 1},
                                .eps = 0.5,
                                .samples = 3,
                                .steps = 3,
                                .random_start = true,
                                .tau = 1,
                                .delta = 1};
}

/* What was said to be final, as it was then. */
struct settled {
  const struct rig *rig;
  size_t from, calls;
  float gradient[SIZE];
};

static void take_settled(size_t from, void *user)
{
  struct settled *t = user;
  assert_true(from <= t->from);
  memcpy(t->gradient + from, t->rig->gradient + from, (t->from - from) * sizeof *t->gradient);
  t->calls += from < t->from;
  t->from = from;
}

/* The gradient is final from its end on, part by part, and what is said to be so does not change any more. */
static void gradients_settle_from_the_end(void **state)
{
  (void)state;
  static struct settled t;
  const double rates[] = {1, 0, 1, 1};
  for (size_t k = 0; k < sizeof METHODS / sizeof *METHODS; k++)
    for (int frozen = 0; frozen < 2; frozen++) {
      r4_objective_options o = options_of(METHODS[k]);
      if (frozen) o.rates = rates;
      struct rig *r = rig_new(o, 30);
      rig_step(r, 0);
      t = (struct settled){.rig = r, .from = SIZE};
      step_listen(r->step, take_settled, &t);
      rig_step(r, 1);
      step_listen(r->step, NULL, NULL);
      assert_int_equal(t.from, 0);
      assert_true(t.calls > 1);
      assert_memory_equal(t.gradient, r->gradient, sizeof t.gradient);
      size_t calls = t.calls;
      rig_step(r, 2);
      assert_int_equal(t.calls, calls);
      rig_free(r);
    }
}

/* What does not learn has no gradient, and the rest has the one that it has anyway. */
static void frozen_parameters_have_no_gradient(void **state)
{
  (void)state;
  const double rates[] = {0, 1, 0.5, 0}; /* weight and bias of both layers */
  const size_t first = FEATURES * 32, last = SIZE - 10;
  r4_objective_options some = options_of("r3");
  some.rates = rates;
  struct rig *a = rig_new(options_of("r3"), 150), *b = rig_new(some, 150);
  for (size_t i = 0; i < SIZE; i++) b->gradient[i] = -7;
  double loss = rig_step(a, 0).loss;
  assert_near(rig_step(b, 0).loss, loss, 1e-6 * loss);
  for (size_t i = 0; i < SIZE; i++) {
    if (i < first || i >= last)
      assert_true(b->gradient[i] == -7);
    else
      assert_near((double)b->gradient[i], (double)a->gradient[i], 1e-6);
  }
  rig_free(a);
  rig_free(b);
}

/* 350 examples: five batches of 60 and one of 50. The first 150 have masks, so from the fourth batch on there are
 * none, and then every method is ERM to the bit. */
static void batches_of_all_kinds(void **state)
{
  (void)state;
  double erm[6] = {0};
  for (size_t k = 0; k < sizeof METHODS / sizeof *METHODS; k++) {
    struct rig *r = rig_new(options_of(METHODS[k]), 150);
    assert_int_equal(r->masked, MASKED);
    for (uint32_t n = 0; n < 6; n++) {
      struct step_result s = rig_step(r, n);
      if (k == 0) erm[n] = s.loss;
      assert_true(s.data > 0 && s.right <= BATCH);
      if (n >= 3)
        assert_true(s.penalty[0] == 0 && s.loss == erm[n]);
      else if (k > 0)
        assert_true(s.penalty[0] > 0 && s.loss > s.data);
    }
    rig_free(r);
  }
}

/* Batches of 60 and 50 examples, of which the first have masks, known to come first or not: the same loss and gradient.
 * Where points are drawn, eps is 0, as other points are drawn for a part of a batch. */
static void few_masks_are_the_same_with_less_work(void **state)
{
  (void)state;
  static const size_t with_mask[] = {1, 7, 8, 9};
  float gradient[SIZE];
  for (size_t k = 1; k < sizeof METHODS / sizeof *METHODS; k++)
    for (size_t j = 0; j < sizeof with_mask / sizeof *with_mask; j++) {
      r4_objective_options options = options_of(METHODS[k]);
      options.eps = 0;
      struct rig *r = rig_new(options, with_mask[j]);
      for (int smaller = 0; smaller < 2; smaller++) {
        assert_int_equal(r4_batches_seek(r->batches, 0, 0, NULL), R4_OK);
        r4_batch b = r4_batches_next(r->batches);
        assert_true(b.masked == with_mask[j] && !b.masked_first);
        if (smaller) b.count = 50;
        struct step_result all = rig_step_on(r, &b, 5);
        memcpy(gradient, r->gradient, sizeof gradient);
        b.masked_first = true;
        struct step_result some = rig_step_on(r, &b, 5);
        assert_true(some.penalty[0] > 0 && some.right == all.right);
        assert_near(some.loss, all.loss, 1e-5 * all.loss);
        assert_near(some.penalty[0], all.penalty[0], 1e-5 * all.penalty[0]);
        for (size_t i = 0; i < SIZE; i++) assert_near(r->gradient[i], gradient[i], 1e-5f);
      }
      rig_free(r);
    }
}

/* Masks anywhere in a batch count, unless it says that they come first. */
static void masks_at_the_end_count(void **state)
{
  (void)state;
  struct rig *r = rig_new(options_of("r3"), 2);
  r4_batch b = r4_batches_next(r->batches), back = b;
  static float x[BATCH * FEATURES], y[BATCH], m[BATCH * MASKED];
  for (size_t i = 0; i < BATCH; i++) {
    size_t from = BATCH - 1 - i;
    memcpy(x + i * FEATURES, b.x + from * FEATURES, FEATURES * sizeof *x);
    memcpy(m + i * MASKED, b.m + from * MASKED, MASKED * sizeof *m);
    y[i] = b.y[from];
  }
  back.x = x, back.y = y, back.m = m;
  double want = rig_step_on(r, &b, 0).penalty[0], got = rig_step_on(r, &back, 0).penalty[0];
  assert_near(got, want, 1e-5 * want);
  rig_free(r);
}

/* What was pasted on examples without a mask counts; what is filled within masks is not looked for there. */
static void pairs_are_anywhere_or_within_masks(void **state)
{
  (void)state;
  static float pasted[BATCH * FEATURES];
  for (int within = 0; within < 2; within++) {
    r4_objective_options options = options_of("pairing");
    options.filled = true;
    options.filled_within = within;
    struct rig *r = rig_new(options, BATCH);
    r4_batches_next(r->batches);
    r4_batch b = r4_batches_next(r->batches);
    assert_true(!b.masked);
    for (size_t i = 0; i < BATCH * FEATURES; i++) pasted[i] = 1 - b.x[i];
    b.filled = pasted;
    assert_true((rig_step_on(r, &b, 0).penalty[0] > 0) == !within);
    rig_free(r);
  }
}

/* Each method lowers its own penalty, and the loss, on the batch it is trained on. */
static void training_lowers_the_penalty(void **state)
{
  (void)state;
  for (size_t k = 1; k < sizeof METHODS / sizeof *METHODS; k++) {
    struct rig *r = rig_new(options_of(METHODS[k]), 300);
    r4_optimizer_options adam = r4_optimizer_defaults(R4_ADAM);
    adam.learning_rate = 3e-3;
    r4_optimizer *o = r4_optimizer_new(SIZE, &adam, NULL);
    struct step_result first = rig_step(r, 0), last = first;
    for (uint32_t n = 1; n < 40; n++) {
      assert_int_equal(r4_batches_seek(r->batches, 0, 0, NULL), R4_OK);
      r4_optimizer_step(o, r->weights, r->gradient);
      last = rig_step(r, n);
    }
    assert_true(last.loss < 0.8 * first.loss);
    assert_true(last.penalty[0] + last.penalty[1] < 0.6 * (first.penalty[0] + first.penalty[1]));
    r4_optimizer_free(o);
    rig_free(r);
  }
}

static void a_loss_that_is_not_finite_names_examples(void **state)
{
  (void)state;
  struct rig *r = rig_new(options_of("erm"), 300);
  r4_error e;
  struct step_result result;
  r4_batch b = r4_batches_next(r->batches);
  r->weights[SIZE - 10] = INFINITY; /* the bias of class 0 */
  struct step_weights at = {0};
  assert_int_equal(step_run(r->step, &b, 7, &at, r->weights, r->gradient, &result, &e), R4_E_DOMAIN);
  assert_non_null(strstr(e.text, "step 7"));
  assert_non_null(strstr(e.text, "60 of 60 examples at fault: 0, 1, 2"));
  rig_free(r);
}

static void scores_by_hand(void **state)
{
  (void)state;
  r4_data *d = corner_digits(0);
  int32_t predicted[350];
  size_t threes = 0, wrong = 0;
  for (size_t i = 0; i < d->n; i++) {
    predicted[i] = d->record[i].label;
    if (predicted[i] != 3) continue;
    if (threes++ % 2) predicted[i] = 4, wrong++;
  }
  struct score s;
  assert_int_equal(score_of(d, predicted, 0.5, &s, NULL), R4_OK);
  double share = (double)wrong / (double)threes;
  assert_near(s.worst, 1 - share, 1e-12);
  assert_int_equal(s.worst_group, 3);
  assert_near(s.avg, 1 - share / 10, 1e-12);
  assert_near(s.accuracy, 1 - (double)wrong / 350, 1e-12);
  r4_data_free(d);
}

/* The largest logit, and the mean loss, against sums written out. */
static void predictions_by_hand(void **state)
{
  (void)state;
  r4_data *d = corner_digits(0);
  r4_net *net = r4_net_open("dense 10", R4_SHAPE(FEATURES), NULL);
  static float w[FEATURES * 10 + 10], x[FEATURES];
  r4_net_init(net, NULL, 9, w, NULL);
  struct probe *p = predictor_new(net, 64, NULL);
  int32_t predicted[350];
  double loss = 0, expected = 0;
  assert_int_equal(predictor_run(p, w, d, predicted, &loss, NULL), R4_OK);
  for (size_t i = 0; i < d->n; i++) {
    double z[10], sum = 0;
    int best = 0;
    r4_data_values(d, i, x);
    for (int k = 0; k < 10; k++) {
      z[k] = w[FEATURES * 10 + k];
      for (int j = 0; j < FEATURES; j++) z[k] += (double)w[k * FEATURES + j] * x[j];
      sum += exp(z[k]);
      if (z[k] > z[best]) best = k;
    }
    assert_int_equal(predicted[i], best);
    expected += (log(sum) - z[d->record[i].label]) / 350;
  }
  assert_near(loss, expected, 1e-5);
  probe_free(p);
  r4_net_free(net);
  r4_data_free(d);
}

/* ---- Fragility ---- */

static size_t build_gradient(struct objective *o, r4_id out[PROBE_OUTPUTS])
{
  out[0] = objective_explain(o, view_clean(o));
  return 1;
}

/* Moving the features of the box moves their gradient by less than kappa; with eps = 0 nothing moves. */
static void kappa_is_wider_than_samples(void **state)
{
  (void)state;
  r4_error e;
  r4_data *d = corner_digits(100);
  r4_net *net = r4_net_open(NET, R4_SHAPE(FEATURES), &e);
  static float w[SIZE], clean[100 * FEATURES];
  r4_net_init(net, NULL, 3, w, NULL);
  for (int k = 0; k < SIZE; k++) w[k] *= 2;
  for (int box = PROBE_MASKED; box <= PROBE_CORE; box++) {
    struct kappa k, none;
    assert_int_equal(kappa_of(net, w, d, (enum probe_mask)box, 0.2, 64, &k, &e), R4_OK);
    assert_int_equal(kappa_of(net, w, d, (enum probe_mask)box, 0, 64, &none, &e), R4_OK);
    assert_int_equal(k.n, 100);
    assert_true(none.max < 1e-6 && k.max > 1e-3 && k.mean > 0 && k.mean < k.max);

    struct probe *p =
      probe_new(&(struct probe_options){.net = net, .batch = 100, .build = build_gradient}, &e);
    assert_int_equal(probe_run(p, w, d, 0, 100, &e), R4_OK);
    memcpy(clean, probe_row(p, 0, 0), sizeof clean);
    r4_data *moved = data_derive(d, &e);
    struct column *v = column_new(&floats_column, R4_SHAPE(28, 28, 1), d->n, &e);
    for (size_t i = 0; i < 100; i++) {
      float x[FEATURES], m[FEATURES];
      r4_data_values(d, i, x);
      r4_data_mask(d, i, m);
      for (size_t j = 0; j < FEATURES; j++) {
        double side = r4_random_uniform((r4_random){1, 2, 3}, i * FEATURES + j) < 0.5 ? -0.2 : 0.2;
        ((float *)v->data)[d->record[i].row * FEATURES + j] =
          x[j] + (float)side * ((box == PROBE_CORE) != (m[j] > 0));
      }
    }
    data_set_x(moved, v);
    assert_int_equal(probe_run(p, w, moved, 0, 100, &e), R4_OK);
    double largest = 0;
    for (size_t i = 0; i < 100; i++) {
      float m[FEATURES];
      r4_data_mask(d, i, m);
      for (size_t j = 0; j < FEATURES; j++)
        if ((box == PROBE_CORE) != (m[j] > 0))
          largest = fmax(largest, fabs(probe_row(p, 0, i)[j] - clean[i * FEATURES + j]));
    }
    assert_true(largest > 0 && largest <= k.max + 1e-5);
    r4_data_free(moved);
    probe_free(p);
  }
  struct kappa unmasked;
  r4_data *test = r4_data_part(d, R4_TEST, &e);
  assert_int_equal(kappa_of(net, w, test, PROBE_MASKED, 0.2, 64, &unmasked, &e), R4_OK);
  assert_true(unmasked.n == 0 && isnan(unmasked.max) && isnan(unmasked.mean));
  r4_data_free(test);
  r4_net_free(net);
  r4_data_free(d);
}

/* Shards of a batch draw numbers of their own; a batch that is not cut draws as its first shard does. */
static void shards_draw_their_own(void **state)
{
  (void)state;
  struct rig *r = rig_new(options_of("rand-r4"), 40);
  r4_batch b = r4_batches_next(r->batches);
  double penalty[3];
  for (uint32_t k = 0; k < 3; k++) {
    r4_error e = {0};
    struct step_result result;
    struct step_weights at = {.lambda = {1}, .eps = 0.5, .shard = k / 2};
    assert_int_equal(step_run(r->step, &b, 1, &at, r->weights, r->gradient, &result, &e), R4_OK);
    penalty[k] = result.penalty[0];
  }
  assert_true(penalty[0] == penalty[1] && penalty[0] != penalty[2]);
  rig_free(r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(gradients_settle_from_the_end), cmocka_unit_test(frozen_parameters_have_no_gradient),
    cmocka_unit_test(batches_of_all_kinds),
    cmocka_unit_test(shards_draw_their_own),
    cmocka_unit_test(few_masks_are_the_same_with_less_work),
    cmocka_unit_test(masks_at_the_end_count),
    cmocka_unit_test(pairs_are_anywhere_or_within_masks),
    cmocka_unit_test(training_lowers_the_penalty),
    cmocka_unit_test(a_loss_that_is_not_finite_names_examples),
    cmocka_unit_test(scores_by_hand),
    cmocka_unit_test(predictions_by_hand),
    cmocka_unit_test(kappa_is_wider_than_samples),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("step", tests, NULL, NULL);
}
