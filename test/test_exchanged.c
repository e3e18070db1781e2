/* Accuracy after the exchange, on predictions that are made up: by hand, and over many draws of nets whose accuracy is
 * known. */
#include "measure/exchanged.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "patch_case.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-12)

static struct score scored(const r4_data *d, const int32_t *predicted, const struct exchange *x,
                           const int32_t *after)
{
  struct score s;
  r4_error e = {0};
  if (score_exchanged(d, predicted, x, after, 0.25, &s, &e)) fail_msg("%s", e.text);
  return s;
}

/* (s (1 - s) / n), s = (n share + 1) / (n + 2) */
static double variance(double share, double n)
{
  double s = (n * share + 1) / (n + 2);
  return s * (1 - s) / n;
}

/* ---- By hand ---- */

/* Two groups of four; of the first three predictions are correct, of the second two. Exchanged, twice each:
 *
 *     example 0, of group 0, correct before: correct, wrong      example 4, of group 1, correct before: both correct
 *     example 3, of group 0, wrong before: correct, wrong        example 5, of group 1, wrong before: both wrong
 *
 * Of all, a quarter of the correct ones are lost and a quarter of the wrong ones gained, on which each group leans as
 * on 5 examples: L_0 = G_0 = (0.5 + 5/4) / 6, L_1 = G_1 = (0 + 5/4) / 6. */
static const int32_t PREDICTED[] = {0, 0, 0, 1, 1, 0, 1, 0};
static const int32_t AFTER[] = {0, 0, 1, 0, 1, 1, 1, 0}; /* of 0, 3, 4, 5, and once more */
static size_t EXCHANGED[] = {0, 3, 4, 5};

/* What stands before the exchange is a mean over groups, as what stands behind it: of groups of 6 and 2, 3 and 2 are
 * correct. */
static void the_figure_before_is_of_the_same_kind(void **state)
{
  (void)state;
  struct patch_list l = {.n = 0};
  patch_add(&l, R4_VAL, 0, 6, 6);
  patch_add(&l, R4_VAL, 1, 2, 2);
  r4_data *d = patch_list_data(&l, 2);
  const int32_t predicted[] = {0, 0, 0, 1, 1, 1, 1, 1}, after[] = {0, 1};
  size_t exchanged[] = {0, 6};
  const struct exchange x = {.n = 2, .draws = 1, .example = exchanged};
  NEAR(scored(d, predicted, &x, after).plain, .75);
  r4_data_free(d);
}

static void numbers_are_those_of_the_formula(void **state)
{
  (void)state;
  struct patch_list l = {.n = 0};
  patch_add(&l, R4_VAL, 0, 4, 4);
  patch_add(&l, R4_VAL, 1, 4, 4);
  r4_data *d = patch_list_data(&l, 3); /* the last class, and group, has no example */
  const struct exchange x = {.n = 4, .draws = 2, .example = EXCHANGED};
  struct score s = scored(d, PREDICTED, &x, AFTER);
  const double share0 = 1.75 / 6, share1 = 1.25 / 6;
  NEAR(s.group[0], 29. / 48);
  NEAR(s.group[1], 0.5);
  assert_true(isnan(s.group[2]));
  NEAR(s.avg, 53. / 96);
  NEAR(s.worst, 0.5);
  assert_int_equal(s.worst_group, 1);
  NEAR(s.loss, 0.25);
  NEAR(s.plain, 5. / 8);
  const double v0 = pow(1 - 2 * share0, 2) * variance(.75, 4) + (.5625 + .0625) * variance(share0, 6),
               v1 = pow(1 - 2 * share1, 2) * variance(.5, 4) + (.25 + .25) * variance(share1, 6);
  NEAR(s.worst_se, sqrt(v1));
  NEAR(s.avg_se, sqrt(v0 + v1) / 2);
  NEAR(s.score, s.avg); /* noise explains all of the difference */
  r4_data_free(d);
}

/* Six of eight examples are of the first group. All predictions are correct, and those of the second group's exchanged
 * example are lost. */
static void accuracy_is_that_after_the_exchange(void **state)
{
  (void)state;
  struct patch_list l = {.n = 0};
  patch_add(&l, R4_VAL, 0, 6, 6);
  patch_add(&l, R4_VAL, 1, 2, 2);
  r4_data *d = patch_list_data(&l, 2);
  static const int32_t predicted[] = {0, 0, 0, 0, 0, 0, 1, 1}, after[] = {0, 0};
  static size_t exchanged[] = {0, 6};
  const struct exchange x = {.n = 2, .draws = 1, .example = exchanged};
  struct score s = scored(d, predicted, &x, after);
  NEAR(s.group[0], 1 - 2.5 / 6); /* half of all is lost, on which it leans as on 5 examples */
  NEAR(s.group[1], 1 - 3.5 / 6);
  NEAR(s.accuracy, (6 * s.group[0] + 2 * s.group[1]) / 8);
  r4_data_free(d);
}

/* The classes are three, so that content is its own with w = 1/3:
 *
 *     lost      0: (1/2 + 2 * 1/2) / 3,  3: (2 * 1/2) / 3,  4 and 5: 0           5/6
 *     correct   0: (1 + 2 * 1/2) / 3,    3: (2 * 1/2) / 3,  4: 1,  5: 0          2
 *     changed   0: (1/2 + 2 * 1) / 3,    3: the same,       4 and 5: 0           5/3, of four */
static void what_is_lost_is_asked_as_the_swap_test_asks(void **state)
{
  (void)state;
  struct patch_list l = {.n = 0};
  patch_add(&l, R4_VAL, 0, 4, 4);
  patch_add(&l, R4_VAL, 1, 4, 4);
  r4_data *d = patch_list_data(&l, 3);
  const struct exchange x = {.n = 4, .draws = 2, .example = EXCHANGED};
  struct score s = scored(d, PREDICTED, &x, AFTER);
  assert_int_equal(s.exchanged, 4);
  NEAR(s.lost, 5. / 12);
  NEAR(s.lost_se, sqrt(variance(5. / 12, 2)));
  NEAR(s.changed, 5. / 12);
  r4_data_free(d);
}

/* What is pasted on an example without a mask was not there before: w is 1. Two are correct before, one of which is
 * wrong in one of two draws; one is wrong, and becomes correct in both. */
static void pasted_ones_have_no_content_of_their_own(void **state)
{
  (void)state;
  struct patch_list l = {.n = 0};
  patch_add(&l, R4_VAL, 0, 3, 0);
  patch_add(&l, R4_VAL, 1, 3, 3);
  r4_data *d = patch_list_data(&l, 2);
  static const int32_t predicted[] = {0, 0, 1, 1, 1, 1}, after[] = {0, 1, 0, 0, 0, 0};
  const struct exchange x = {.n = 3, .draws = 2, .example = (size_t[]){0, 1, 2}};
  struct score s = scored(d, predicted, &x, after);
  NEAR(s.lost, 0.5 / 2);
  NEAR(s.changed, 1.5 / 3);
  r4_data_free(d);
}

/* A net that says what the patch says loses everything, whatever the number of classes; one that does not look, nothing
 * at all; one that is always wrong has nothing to lose. */
static void all_or_nothing_is_lost(void **state)
{
  (void)state;
  enum { N = 30 };
  for (int classes = 2; classes < 5; classes++) {
    struct patch_example example[N];
    int32_t right[N], wrong[N], after[2 * N];
    size_t all[N];
    for (int i = 0; i < N; i++) {
      example[i] = (struct patch_example){.label = i % classes, .masked = true};
      all[i] = (size_t)i;
      right[i] = i % classes;
      wrong[i] = (i + 1) % classes;
    }
    r4_data *d = patch_data(example, N, classes);
    const struct exchange x = {.n = N, .draws = 2, .example = all};
    memcpy(after, wrong, sizeof wrong);
    memcpy(after + N, wrong, sizeof wrong);
    struct score uses = scored(d, right, &x, after), fails = scored(d, wrong, &x, after);
    assert_true(uses.lost == 1 && uses.avg < 1e-12 && uses.changed > 0);
    assert_true(isnan(fails.lost) && isfinite(fails.lost_se) && fails.changed == 0 && fails.avg == 0);
    memcpy(after, right, sizeof right);
    memcpy(after + N, right, sizeof right);
    struct score ignores = scored(d, right, &x, after);
    assert_true(ignores.lost == 0 && ignores.changed == 0 && ignores.avg == 1 && ignores.score == 1);
    assert_true(ignores.avg_se > 0 && ignores.avg_se < 0.2);
    r4_data_free(d);
  }
}

/* A group of one example, which was not exchanged, leans on the others: half of these lose. */
static void a_group_without_exchanged_examples_leans_on_others(void **state)
{
  (void)state;
  struct patch_list l = {.n = 0};
  patch_add(&l, R4_VAL, 0, 4, 4);
  patch_add(&l, R4_VAL, 1, 1, 0);
  r4_data *d = patch_list_data(&l, 2);
  static const int32_t predicted[] = {0, 0, 0, 0, 1}, after[] = {0, 0, 1, 1};
  const struct exchange x = {.n = 4, .draws = 1, .example = (size_t[]){0, 1, 2, 3}};
  struct score s = scored(d, predicted, &x, after);
  NEAR(s.group[0], 0.5);
  NEAR(s.group[1], 0.5);
  assert_int_equal(s.worst_group, 0); /* the first of equal ones */
  NEAR(s.worst_se, sqrt(0.25 * variance(1, 4) + variance(.5, 9)));
  assert_true(isfinite(s.avg_se) && isfinite(s.score));
  r4_data_free(d);
}

/* Groups of 100 with 90 and 50 correct: se^2 is 0.00096213 and 0.0025, T = 0.08 - 0.00173106 = 0.07826894, and the
 * lower one moves up to 0.7 - 0.2 * T / (T + 0.0025) = 0.5061905. */
static void the_least_moves_towards_the_mean(void **state)
{
  (void)state;
  struct score s = {.groups = 3, .avg = 0.7, .worst_group = 1, .group = {0.9, 0.5, NAN}, .count = {100, 100}};
  assert_int_equal(score_plain(&s, NULL), R4_OK);
  assert_true(fabs(s.score - (0.7 + 0.5061905) / 2) < 1e-7);
  NEAR(s.worst_se, 0.05);
  assert_true(fabs(s.avg_se - sqrt(0.00096213 + 0.0025) / 2) < 1e-7);
  struct score one = {.groups = 1, .avg = 0.6, .group = {0.6}, .count = {10}};
  assert_int_equal(score_plain(&one, NULL), R4_OK);
  NEAR(one.score, 0.6);
  NEAR(one.avg_se, one.worst_se);
}

/* ---- Over many nets ---- */

/* Correct with chance p; of these lost with chance l, of the others gained with chance g. */
struct truth {
  double p, l, g;
};

static double after_exchange(struct truth t)
{
  return t.p * (1 - t.l) + (1 - t.p) * t.g;
}

static void draw_net(const struct truth *t, size_t n, const r4_data *d, const struct exchange *x,
                     int32_t *predicted, int32_t *after)
{
  for (size_t i = 0; i < n; i++) {
    int32_t label = r4_data_example(d, i).label;
    predicted[i] = draw(0, 1) < t[label].p ? label : 1 - label;
  }
  for (size_t k = 0; k < x->n; k++) {
    int32_t label = r4_data_example(d, x->example[k]).label;
    bool was = predicted[x->example[k]] == label;
    bool stays = draw(0, 1) < (was ? 1 - t[label].l : t[label].g);
    after[k] = stays ? label : 1 - label;
  }
}

enum { EACH = 150, PART = 2 * EACH, NETS = 1000 };

/* Both groups alike, 60 of 300 exchanged: the mean over the nets is the truth, and the error says how far they are from
 * it. */
static void estimates_are_true_in_the_mean(void **state)
{
  (void)state;
  static const struct truth cases[][2] = {
    {{.9, .1, .1}, {.9, .1, .1}}, {{.95, .6, .2}, {.7, .6, .2}}, {{.6, .05, .02}, {.8, .05, .02}}};
  struct patch_list l = {.n = 0};
  size_t which[60];
  patch_add(&l, R4_VAL, 0, EACH, EACH);
  patch_add(&l, R4_VAL, 1, EACH, EACH);
  for (size_t k = 0; k < 60; k++) which[k] = k * 5;
  r4_data *d = patch_list_data(&l, 2);
  const struct exchange x = {.n = 60, .draws = 1, .example = which};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    double sum[2] = {0}, square[2] = {0}, inside = 0;
    const double want[] = {after_exchange(cases[c][0]), after_exchange(cases[c][1])},
                 avg = (want[0] + want[1]) / 2;
    for (uint32_t k = 0; k < NETS; k++) {
      int32_t predicted[PART], after[60];
      draw_start((uint32_t)c, k);
      draw_net(cases[c], PART, d, &x, predicted, after);
      struct score s = scored(d, predicted, &x, after);
      for (size_t g = 0; g < 2; g++) sum[g] += s.group[g], square[g] += s.group[g] * s.group[g];
      inside += fabs(s.avg - avg) < s.avg_se;
    }
    for (size_t g = 0; g < 2; g++) {
      double mean = sum[g] / NETS, sd = sqrt(square[g] / NETS - mean * mean);
      if (!(fabs(mean - want[g]) < 4 * sd / sqrt(NETS) + 0.002))
        fail_msg("case %zu, group %zu: %g, expected %g", c, g, mean, want[g]);
    }
    if (!(inside / NETS > 0.6 && inside / NETS < 0.85)) fail_msg("case %zu: %g inside", c, inside / NETS);
  }
  r4_data_free(d);
}

/* ---- Memory ---- */

/* ---- Of a net ---- */

/* 40 examples of each class, all with masks: core and patch tell the class, patches of others say the opposite. */
static r4_exchanged scored_net(float of_core, float of_patch, bool masked)
{
  static struct patch_example x[80];
  r4_error e = {0};
  for (size_t i = 0; i < 80; i++)
    x[i] = (struct patch_example){.core = i % 2 ? 1 : -1, .patch = i % 2 ? 3 : -3, .label = (int)(i % 2),
                                  .masked = masked, .split = R4_VAL};
  x[0].core = 1; /* which is wrong without the patch */
  r4_data *d = patch_data(x, 80, 2);
  r4_net *net = r4_net_open("dense 2", R4_SHAPE(PATCH_FEATURES), &e);
  const float weights[] = {-of_core, -of_patch, of_core, of_patch, 0, 0};
  r4_exchanged s;
  assert_int_equal(r4_exchanged_score(net, weights, d, 1, 32, &s, &e), R4_OK);
  r4_net_free(net);
  r4_data_free(d);
  return s;
}

static void nets_are_scored_by_the_rule_of_validation(void **state)
{
  (void)state;
  r4_exchanged core = scored_net(1, 0, true), patch = scored_net(0, 1, true), none = scored_net(1, 0, false);
  assert_int_equal(core.exchanged, 80);
  assert_true(core.changed == 0 && core.lost == 0);
  NEAR(core.avg, (39. / 40 + 1) / 2);
  NEAR(core.worst, 39. / 40);
  NEAR(core.score, core.avg); /* one example is noise */
  assert_true(patch.avg < 0.1 && patch.score < 0.1 && patch.lost > 0.9); /* it is correct in all as they are */
  assert_int_equal(none.exchanged, 0);
  assert_true(isnan(none.score) && isnan(none.avg) && isnan(none.lost));
}

static void memory_may_run_out(void **state)
{
  (void)state;
  struct patch_list l = {.n = 0};
  patch_add(&l, R4_VAL, 0, 4, 4);
  patch_add(&l, R4_VAL, 1, 4, 4);
  r4_data *d = patch_list_data(&l, 2);
  const struct exchange x = {.n = 4, .draws = 2, .example = EXCHANGED};
  for (long n = 1;; n++) {
    r4_error e = {0};
    struct score s;
    r4_mem_fail_at(n);
    r4_status status = score_exchanged(d, PREDICTED, &x, AFTER, 0, &s, &e);
    if (!status) status = score_plain(&s, &e);
    bool reached = r4_mem_count() >= n;
    r4_mem_fail_at(0);
    assert_true(status ? status == R4_E_MEMORY && e.status == status : !reached);
    if (!reached) break;
  }
  r4_data_free(d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_figure_before_is_of_the_same_kind),
    cmocka_unit_test(numbers_are_those_of_the_formula),
    cmocka_unit_test(accuracy_is_that_after_the_exchange),
    cmocka_unit_test(what_is_lost_is_asked_as_the_swap_test_asks),
    cmocka_unit_test(pasted_ones_have_no_content_of_their_own),
    cmocka_unit_test(all_or_nothing_is_lost),
    cmocka_unit_test(a_group_without_exchanged_examples_leans_on_others),
    cmocka_unit_test(the_least_moves_towards_the_mean),
    cmocka_unit_test(estimates_are_true_in_the_mean),
    cmocka_unit_test(nets_are_scored_by_the_rule_of_validation),
    cmocka_unit_test(memory_may_run_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
