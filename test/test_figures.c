/* The table of figures: each line is whole, files keep what was measured, and values are those worked out by hand. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "folder_make.h"
#include "measure/figure/figure.h"
#include "scratch.h"
#include "train/run/kept.h"

static const char HASH[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

static int begin(void **state)
{
  if (scratch_make(state)) return -1;
  put_text(scratch_folder(), "config.yaml", "method: r3\n");
  put_text(scratch_folder(), "model.safetensors", "weights");
  return 0;
}

/* ---- The table ---- */

static void lines_are_whole(void **state)
{
  (void)state;
  for (size_t k = 0; k < r4_figure_count(); k++) {
    r4_figure_info f = r4_figure_describe(k);
    assert_true(f.key && f.label && f.about && *f.key && *f.label && *f.about);
    assert_true(strlen(f.key) + VARIANT_TEXT <= R4_KEY_SIZE && !strchr(f.key, '.'));
    assert_true(strlen(f.label) + VARIANT_TEXT <= R4_LABEL_SIZE);
    assert_true((strstr(f.label, "%s") != NULL) == (figure_at(k)->variant != NULL));
    assert_true(f.better >= -1 && f.better <= 1 && figure_at(k)->of);
    assert_true((unsigned)f.topic < R4_TOPICS && (!f.first || f.shown >= R4_SHOWN_APART));
    assert_true(*r4_topic_name(f.topic));
    assert_int_equal(r4_figure_find(f.key), k);
    for (size_t i = 0; i < k; i++) assert_string_not_equal(r4_figure_describe(i).key, f.key);
  }
  assert_null(r4_figure_describe(r4_figure_count()).key);
  assert_int_equal(r4_figure_find("swap_lost_share.blank"), r4_figure_find("swap_lost_share"));
  assert_int_equal(r4_figure_find("swap_lost_shares"), r4_figure_count());
  assert_int_equal(r4_figure_find(NULL), r4_figure_count());
  assert_string_equal(r4_topic_name(R4_TOPICS), "");
}

/* Something of everything, as counts. */
static r4_measured *make(void)
{
  static r4_measured m;
  memset(&m, 0, sizeof m);
  m.metrics = (r4_metrics){.accuracy = .75, .groups = 2, .group_accuracy = {.5, 1}, .group_count = {4, 4}, .eps = .1};
  m.metrics.kappa_masked_max = INFINITY;
  m.metrics.kappa_core_max = NAN;
  m.swaps = 2;
  m.swapped[0] = (r4_swapped){.content = R4_FILL_SWAP, .draws = 10, .groups = 2, .examples = {4, 4}, .found = {2, 4}};
  m.swapped[0].flipped[1] = 2;
  m.swapped[0].lost[1] = 1;
  m.swapped[1] = m.swapped[0];
  m.swapped[1].content = R4_FILL_BLANK;
  m.swapped[1].flipped[0] = 4;
  m.sensitivity = (r4_sensitivity){.n = 1, .at = {{.sigma = .5, .rcs = -.25}}};
  m.pointings = 1;
  m.pointing[0] = (r4_pointing){.energy = .125};
  snprintf(m.pointed_by[0], sizeof m.pointed_by[0], "gradcam");
  m.substituted =
    (r4_substituted){.words = 3, .groups = 1, .examples = {8}, .certified = {2}, .tried = {4}, .held = {3}};
  m.covered = (r4_cover_counts){.family = "edges:0.2", .groups = 3, .examples = {4, 0, 12}, .correct = {4, 0, 8}};
  m.covered.recovered[0] = 3, m.covered.recovered[2] = 5;
  m.covered.detected[0] = 4, m.covered.detected[2] = 6;
  m.certified = (r4_certified_counts){.box = "0.1", .attacked = true, .groups = 3, .examples = {4, 0, 12}};
  m.certified.certified[0] = 1, m.certified.certified[2] = 9;
  m.certified.unbroken[0] = 3, m.certified.unbroken[2] = 9;
  assert_int_equal(figures_measure(NULL, NULL, &m, NULL), R4_OK);
  return &m;
}

static void values_come_from_counts(void **state)
{
  (void)state;
  const r4_measured *m = make();
  assert_true(r4_measured_value(m, "accuracy") == .75 && isinf(r4_measured_value(m, "kappa_masked_max")));
  assert_true(r4_measured_value(m, "swap_flipped_share") == .25);
  assert_true(r4_measured_value(m, "swap_flipped_share.blank") == .75);
  assert_true(r4_measured_value(m, "swap_lost_share") == 1. / 6);
  assert_true(isnan(r4_measured_value(m, "removed_lost_share")));             /* nothing was removed          */
  assert_true(r4_measured_value(m, "steady_worst_group_accuracy") == .5);     /* .5 (1 - 0), 1 (1 - 1 / 4)    */
  assert_true(r4_measured_value(m, "steady_avg_group_accuracy") == .625);
  assert_true(r4_measured_value(m, "core_sensitivity.0.5") == -.25);
  assert_true(r4_measured_value(m, "pointing_energy.gradcam") == .125);
  assert_true(r4_measured_value(m, "words_certified_accuracy") == .25);
  assert_true(r4_measured_value(m, "words_held_accuracy") == .75);
  assert_true(r4_measured_value(m, "cover_accuracy.edges:0.2") == .75);
  assert_true(r4_measured_value(m, "cover_certified_accuracy.edges:0.2") == .5);
  assert_true(r4_measured_value(m, "cover_certified_worst_group.edges:0.2") == 5. / 12);
  assert_true(r4_measured_value(m, "cover_reported_accuracy.edges:0.2") == .625);
  assert_true(r4_measured_value(m, "certified_accuracy.0.1") == .625);
  assert_true(r4_measured_value(m, "certified_avg_group_accuracy.0.1") == .5);
  assert_true(r4_measured_value(m, "certified_worst_group_accuracy.0.1") == .25);
  assert_true(r4_measured_value(m, "attacked_accuracy.0.1") == .75);
  assert_true(r4_measured_value(m, "attacked_avg_group_accuracy.0.1") == .75);
  assert_true(r4_measured_value(m, "attacked_worst_group_accuracy.0.1") == .75);
  assert_true(isnan(r4_measured_value(m, "swap_flipped_share.noise")) && isnan(r4_measured_value(m, "nothing")));
  size_t accuracy = r4_figure_find("accuracy"), loss = r4_figure_find("loss");
  assert_true(r4_figure_of_group(m, accuracy, 1) == 1 && isnan(r4_figure_of_group(m, loss, 1)));
  assert_true(isnan(r4_figure_of_group(m, accuracy, 2)));
  assert_true(r4_figure_of_group(m, r4_figure_find("certified_accuracy"), 0) == .25);
  assert_true(isnan(r4_figure_of_group(m, r4_figure_find("certified_worst_group_accuracy"), 0)));
}

/* Three quarters of the correct predictions of group 1 are lost by removal, and a quarter by exchange: .5 and
 * 1 (1 - 3 / 4) are left. */
static void what_is_removed_counts_if_it_costs_more(void **state)
{
  (void)state;
  r4_measured *m = make();
  m->swapped->removed = 4;
  m->swapped->removed_examples[1] = m->swapped->removed_found[1] = 4;
  m->swapped->removed_lost[1] = 3;
  m->values = 0;
  assert_int_equal(figures_measure(NULL, NULL, m, NULL), R4_OK);
  assert_true(r4_measured_value(m, "removed_lost_share") == .75);
  assert_true(r4_measured_value(m, "steady_worst_group_accuracy") == .25);
  m->swapped->content = R4_FILL_BLANK;
  m->values = 0;
  assert_int_equal(figures_measure(NULL, NULL, m, NULL), R4_OK);
  assert_true(isnan(r4_measured_value(m, "steady_worst_group_accuracy")));
}

/* What was not attacked has no figures of an attack. */
static void certified_alone(void **state)
{
  (void)state;
  r4_measured *m = make();
  m->certified.attacked = false;
  m->values = 0;
  assert_int_equal(figures_measure(NULL, NULL, m, NULL), R4_OK);
  assert_true(r4_measured_value(m, "certified_accuracy.0.1") == .625);
  assert_true(isnan(r4_measured_value(m, "attacked_accuracy.0.1")));
  *m->certified.box = 0;
  m->values = 0;
  assert_int_equal(figures_measure(NULL, NULL, m, NULL), R4_OK);
  assert_true(isnan(r4_measured_value(m, "certified_accuracy.0.1")));
  assert_true(isnan(r4_measured_value(m, "certified_accuracy.")));
}

static void labels_have_variants(void **state)
{
  (void)state;
  const r4_measured *m = make();
  char text[R4_LABEL_SIZE], all[2000] = "";
  for (size_t k = 0; k < m->values; k++) {
    r4_value_label(&m->value[k], text);
    snprintf(all + strlen(all), sizeof all - strlen(all), "%s;", text);
  }
  assert_non_null(strstr(all, "changed by swap;changed by blank;lost by swap;lost by blank;"));
  assert_non_null(strstr(all, "core sensitivity, noise 0.5;gradcam, energy on the core;"));
  assert_non_null(strstr(all, "correct under edges:0.2;certified, edges:0.2;certified, worst group, edges:0.2;"));
  assert_non_null(strstr(all, "certified, box 0.1;certified, mean over groups, box 0.1;certified, worst group, box 0.1;"
                              "attacked, box 0.1;"));
}

static void seeds_are_averaged(void **state)
{
  (void)state;
  static r4_measured two[2];
  two[0] = two[1] = *make();
  two[1].value[r4_figure_find("accuracy")].value = .25; /* those before it have one value each */
  r4_mean_sd v = r4_value_over(two, 2, "accuracy");
  assert_true(v.mean == .5 && fabs(v.sd - .5 / sqrt(2)) < 1e-15);
}

/* ---- Files ---- */

static r4_measured *load(void)
{
  static r4_measured got;
  r4_error e = {0};
  if (r4_measured_load(&got, scratch_folder(), R4_TEST, HASH, .1, &e)) fail_msg("%s", e.text);
  return &got;
}

static void files_keep_all_of_them(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_measured *m = make();
  assert_true(figures_keep(m, "swap_lost_share.noise", .0625) && !figures_keep(m, "swap_lost_shares", 1));
  if (r4_measured_save(m, scratch_folder(), R4_TEST, HASH, &e)) fail_msg("%s", e.text);
  const r4_measured *got = load();
  assert_int_equal(got->values, m->values);
  for (size_t k = 0; k < m->values; k++) {
    double a = m->value[k].value, b = r4_measured_value(got, m->value[k].key);
    if (!(a == b || (isnan(a) && isnan(b)))) fail_msg("%s is %g, was %g", m->value[k].key, b, a);
  }
  for (size_t k = 1; k < got->values; k++) assert_true(got->value[k - 1].figure <= got->value[k].figure);
}

/* Files of before there was a table have the counts alone. */
static void older_files_lack_some(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_measured *m = make();
  m->values = 0;
  if (r4_measured_save(m, scratch_folder(), R4_TEST, HASH, &e)) fail_msg("%s", e.text);
  const r4_measured *got = load();
  assert_true(r4_measured_value(got, "accuracy") == .75 && r4_measured_value(got, "swap_flipped_share") == .25);
  assert_true(isnan(r4_measured_value(got, "pointing_energy.gradcam")));
}

/* ---- Figures of predictions ---- */

/* Examples with these labels; groups are the first half and the rest, or the classes if they are 0. */
static r4_data *labelled(size_t n, const int32_t *label, size_t classes, bool halves)
{
  static float x[64];
  static int32_t group[64];
  static r4_split split[64];
  r4_data_arrays a = {.n = n, .floats = x, .labels = label, .splits = split, .shape = R4_SHAPE(1), .classes = classes};
  for (size_t i = 0; i < n; i++) split[i] = R4_TEST, group[i] = i >= n / 2;
  if (halves) a.groups = group, a.group_count = 2;
  r4_error e = {0};
  r4_data *d = r4_data_new(&a, &e);
  if (!d) fail_msg("%s", e.text);
  return d;
}

static const r4_measured *measure(r4_data *d, size_t classes, const float *p, double specificity)
{
  static r4_measured to;
  r4_error e = {0};
  r4_measure_options o = r4_measure_defaults();
  o.specificity = specificity;
  if (r4_measure_predictions(d, classes, p, &o, &to, &e)) fail_msg("%s", e.text);
  r4_data_free(d);
  return &to;
}

static void is_near(const r4_measured *m, const char *key, double expected)
{
  double v = r4_measured_value(m, key);
  if (!(fabs(v - expected) < 1e-12)) fail_msg("%s is %.17g, expected %.17g", key, v, expected);
}

static const int32_t TWO[] = {0, 0, 1, 1, 0, 1, 0, 1, 1, 0};

/* The probability of the second class; two ties, each between an example of either class. */
static const float *two_classes(void)
{
  static const double second[] = {.125, .5, .5, .75, .25, .875, .625, .25, .9375, .0625};
  static float p[20];
  for (int i = 0; i < 10; i++) p[2 * i] = (float)(1 - second[i]), p[2 * i + 1] = (float)second[i];
  return p;
}

/* By hand: of 25 pairs 20 are in order and 2 are ties, so (20 + 1) / 25. From the largest probability down there are 3
 * positives, a negative, a tie of both: at most 1 of 5 negatives lets 3 through, 2 of them 4. scikit-learn says the
 * same of both. Confidences are right by gaps of 1/8 in all. The Brier score is that of scikit-learn 1.9:
 * brier_score_loss(scale_by_half=False). */
static void two_classes_by_hand(void **state)
{
  (void)state;
  const r4_measured *m = measure(labelled(10, TWO, 2, false), 2, two_classes(), .8);
  is_near(m, "auc", .84);
  is_near(m, "sensitivity_at_specificity.0.8", .6);
  is_near(m, "ece", .125);
  is_near(m, "brier", 0.3234375);
  m = measure(labelled(10, TWO, 2, false), 2, two_classes(), .6);
  is_near(m, "sensitivity_at_specificity.0.6", .8);
  m = measure(labelled(10, TWO, 2, false), 2, two_classes(), .95);
  is_near(m, "sensitivity_at_specificity.0.95", .6);
  is_near(m, "accuracy", .7);
  is_near(m, "loss", -(log(.875) + log(.5) + log(.5) + log(.75) + log(.75) + log(.875) + log(.375) + log(.25) +
                       log(.9375) + log(.9375)) /
                       10);
}

/* scikit-learn 1.9: roc_auc_score(multi_class="ovr") is 0.875, brier_score_loss 0.4326171875; the error of 15 bins
 * is 0.140625. */
static void three_classes(void **state)
{
  (void)state;
  static const int32_t label[] = {0, 1, 2, 2, 0, 1, 2, 1};
  static const float p[] = {.5f,  .25f,  .25f,  .125f, .625f, .25f, .25f,   .25f,   .5f,   .25f, .5f,   .25f,
                            .75f, .125f, .125f, .375f, .25f,  .375f, .0625f, .0625f, .875f, .5f,  .375f, .125f};
  const r4_measured *m = measure(labelled(8, label, 3, false), 3, p, .95);
  is_near(m, "auc", .875);
  is_near(m, "ece", .140625);
  is_near(m, "brier", 0.4326171875);
  assert_true(isnan(r4_measured_value(m, "sensitivity_at_specificity.0.95")));
}

/* 60 examples of two classes; the first `masked` of a class have a mask, and of these `right` are correct; of the
 * others all but one. */
static const r4_measured *with_masks(size_t masked, size_t right, bool halves)
{
  enum { N = 60 };
  static float x[N], mask[N], p[2 * N];
  static int32_t label[N], group[N];
  static r4_split split[N];
  r4_error e = {0};
  for (size_t i = 0; i < N; i++) {
    size_t k = i / 2;
    bool correct = k < masked ? k < right : k > masked;
    label[i] = (int32_t)(i % 2), group[i] = i >= N / 2, split[i] = R4_TEST;
    mask[i] = k < masked;
    p[2 * i] = (correct == (label[i] == 0)) ? .75f : .25f;
    p[2 * i + 1] = 1 - p[2 * i];
  }
  r4_data_arrays a = {.n = N, .floats = x, .labels = label, .splits = split, .shape = R4_SHAPE(1), .mask_floats = mask,
                      .mask_means = R4_MASKS_IRRELEVANT};
  if (halves) a.groups = group, a.group_count = 2;
  r4_data *d = r4_data_new(&a, &e);
  if (!d) fail_msg("%s", e.text);
  return measure(d, 2, p, .95);
}

/* A class of 30 is correct in 21; of those with a mask in 2 of 10. */
static void a_class_hides_its_masks(void **state)
{
  (void)state;
  const r4_measured *m = with_masks(10, 2, false);
  is_near(m, "worst_group_accuracy", .7);
  is_near(m, "worst_class_mask_accuracy", .2);
  is_near(with_masks(20, 20, false), "worst_class_mask_accuracy", .9); /* those without */
  is_near(with_masks(9, 0, false), "worst_class_mask_accuracy", 20. / 21); /* 9 are too few */
  assert_true(isnan(r4_measured_value(with_masks(30, 3, false), "worst_class_mask_accuracy"))); /* all have one */
  assert_true(isnan(r4_measured_value(with_masks(10, 2, true), "worst_class_mask_accuracy"))); /* own groups */
}

static void one_class_has_no_auc(void **state)
{
  (void)state;
  static const int32_t label[] = {1, 1};
  static const float p[] = {.25f, .75f, .5f, .5f};
  const r4_measured *m = measure(labelled(2, label, 2, false), 2, p, .95);
  assert_true(isnan(r4_measured_value(m, "auc")) && isnan(r4_measured_value(m, "sensitivity_at_specificity.0.95")));
}

/* scipy: binomtest(7, 10).proportion_ci(method="wilson"), of 3 of 5, of 4 of 5 and of 10 of 10; and the average of
 * groups with 4 and 3 of 5 by the formula in accuracy_interval.c, its ends by Wilson's for each. */
static void intervals(void **state)
{
  (void)state;
  const r4_measured *m = measure(labelled(10, TWO, 2, true), 2, two_classes(), .95);
  is_near(m, "accuracy_low", 0.39677814746114526);
  is_near(m, "accuracy_high", 0.892208732593699);
  assert_true(m->metrics.group_accuracy[0] == .8 && m->metrics.group_accuracy[1] == .6);
  is_near(m, "worst_group_accuracy_low", 0.23072428127601297);
  is_near(m, "worst_group_accuracy_high", 0.8823792257673521);
  is_near(m, "avg_group_accuracy_low", .7 - hypot(.8 - 0.3755346297625253, .6 - 0.23072428127601297) / 2);
  is_near(m, "avg_group_accuracy_high", .7 + hypot(0.9637758913675698 - .8, 0.8823792257673521 - .6) / 2);
  static const int32_t all[10] = {0};
  static float p[20];
  for (int i = 0; i < 10; i++) p[2 * i] = 1;
  m = measure(labelled(10, all, 2, false), 2, p, .95);
  is_near(m, "accuracy_low", 0.7224672001371109);
  is_near(m, "accuracy_high", 1);
}

static void bad_probabilities_are_refused(void **state)
{
  (void)state;
  static r4_measured to;
  static const int32_t label[] = {0, 1};
  float p[] = {1, 0, .5f, 1.5f};
  r4_error e = {0};
  r4_measure_options o = r4_measure_defaults();
  r4_data *d = labelled(2, label, 2, false);
  assert_int_equal(r4_measure_predictions(d, 2, p, NULL, &to, &e), R4_E_DOMAIN);
  assert_string_equal(e.text, "example 1 has the probability 1.5 for class 1, expected 0 to 1");
  assert_int_equal(r4_measure_predictions(d, 1, p, NULL, &to, &e), R4_E_ARGUMENT);
  o.specificity = 0;
  assert_int_equal(r4_measure_predictions(d, 2, p, &o, &to, &e), R4_E_ARGUMENT);
  assert_non_null(strstr(e.text, "specificity is 0"));
  r4_data_free(d);
}

static void memory_may_run_out(void **state)
{
  (void)state;
  static r4_measured to;
  r4_data *d = labelled(10, TWO, 2, false);
  for (long k = 1;; k++) {
    r4_error e = {0};
    r4_mem_fail_at(k);
    r4_status s = r4_measure_predictions(d, 2, two_classes(), NULL, &to, &e);
    bool reached = r4_mem_count() >= k;
    r4_mem_fail_at(0);
    assert_true(s == (reached ? R4_E_MEMORY : R4_OK) && e.status == s);
    if (!reached) break;
  }
  r4_data_free(d);
}

/* ---- What is proved ---- */

/* Certificates keep their figures apart, each under its key, as long as weights and data are the same. */
static void proved_figures_are_kept(void **state)
{
  (void)state;
  static r4_measured one, got;
  const char *folder = scratch_folder();
  r4_error e = {0};
  assert_int_equal(r4_proved_load(&got, folder, R4_TEST, HASH, &e), R4_E_IO);
  one = *make();
  if (r4_proved_save(&one, folder, R4_TEST, HASH, &e)) fail_msg("%s", e.text);
  r4_certified x[4] = {{.label = 0, .predicted = 0, .holds = true, .margin = 1},
                       {.label = 0, .predicted = 1, .holds = true, .margin = 1},
                       {.label = 1, .predicted = 1, .broken = true},
                       {.label = 1, .predicted = 1, .holds = true, .margin = 2}};
  const int32_t label[] = {0, 0, 1, 1};
  r4_data *d = labelled(4, label, 2, false);
  if (r4_certified_measure(d, x, "range", true, &one, &e)) fail_msg("%s", e.text);
  assert_int_equal(one.values, 6);
  assert_true(r4_measured_value(&one, "certified_accuracy.range") == .5);
  assert_true(r4_measured_value(&one, "attacked_accuracy.range") == .5);
  assert_true(one.certified.correct[0] == 1 && one.certified.correct[1] == 2);
  if (r4_proved_save(&one, folder, R4_TEST, HASH, &e)) fail_msg("%s", e.text);
  memset(&got, 0, sizeof got);
  figures_keep(&got, "certified_accuracy.range", .75);
  if (r4_proved_load(&got, folder, R4_TEST, HASH, &e)) fail_msg("%s", e.text);
  assert_true(r4_measured_value(&got, "certified_accuracy.range") == .75); /* what is measured stays */
  assert_true(r4_measured_value(&got, "certified_worst_group_accuracy.range") == .5);
  assert_true(r4_measured_value(&got, "certified_worst_group_accuracy.0.1") == .25);
  assert_true(r4_measured_value(&got, "cover_certified_accuracy.edges:0.2") == .5);
  assert_true(isnan(r4_measured_value(&got, "accuracy")));
  assert_int_equal(r4_proved_load(&got, folder, R4_VAL, HASH, &e), R4_E_IO);
  assert_error(&e, r4_certified_measure(d, x, "0.1234567890123456789012345", true, &one, &e), "at most 23 digits");
  r4_data_free(d);
}

static void proved_of_others_is_refused(void **state)
{
  (void)state;
  static r4_measured got;
  const char *folder = scratch_folder();
  r4_error e = {0};
  if (r4_proved_save(make(), folder, R4_TEST, HASH, &e)) fail_msg("%s", e.text);
  put_text(folder, "model.safetensors", "Weights");
  assert_error(&e, r4_proved_load(&got, folder, R4_TEST, HASH, &e), "to other settings, data or weights");
  assert_int_equal(got.values, 0);
  r4_measured *m = make();
  m->values = 0;
  assert_true(figures_keep(m, "certified_accuracy.range", .25));
  if (r4_proved_save(m, folder, R4_TEST, HASH, &e)) fail_msg("%s", e.text);
  assert_int_equal(r4_proved_load(&got, folder, R4_TEST, HASH, &e), R4_OK);
  assert_int_equal(got.values, 1); /* those of the other weights are gone */
  put_text(folder, "model.safetensors", "weights");
  assert_error(&e, r4_proved_load(&got, folder, R4_TEST, "fedc", &e), "to other settings, data or weights");
  put_text(folder, "proved.json",
           "{\"r4\":\"" R4_VERSION "\",\"proved\":1,\"key\":\"1\",\"certified_accuracy.range\":1}");
  assert_error(&e, r4_proved_load(&got, folder, R4_TEST, HASH, &e), "was edited");
  put_text(folder, "proved.json", "{\"r4\":\"" R4_VERSION "\",\"measured\":1,\"key\":\"1\"}");
  assert_error(&e, r4_proved_load(&got, folder, R4_TEST, HASH, &e), "expected \"proved\":1");
}

/* Nothing else is in the file, and nothing else is taken from it. */
static void proved_figures_alone(void **state)
{
  (void)state;
  static r4_measured got;
  const char *folder = scratch_folder();
  uint8_t *text;
  size_t size;
  char key[R4_HASH_SIZE];
  r4_error e = {0};
  if (r4_proved_save(make(), folder, R4_TEST, HASH, &e)) fail_msg("%s", e.text);
  assert_int_equal(file_read(scratch_path("proved.json"), 1 << 20, &text, &size, &e), R4_OK);
  text[size - 1] = 0;
  assert_non_null(strstr((char *)text, "\"certified_accuracy.0.1\":0.625"));
  assert_null(strstr((char *)text, "\"accuracy\""));
  r4_mem_free(text);
  struct json_writer w = {0};
  assert_int_equal(kept_key(folder, HASH, 0, key, &e), R4_OK);
  kept_open(&w, "proved", 1, key);
  jw_real(&w, "accuracy", 1);
  jw_real(&w, "certified_accuracy.0.5", .5);
  assert_int_equal(kept_write(scratch_path("proved.json"), &w, &e), R4_OK);
  memset(&got, 0, sizeof got);
  if (r4_proved_load(&got, folder, R4_TEST, HASH, &e)) fail_msg("%s", e.text);
  assert_int_equal(got.values, 1);
  assert_true(r4_measured_value(&got, "certified_accuracy.0.5") == .5);
}

static void proved_and_memory(void **state)
{
  (void)state;
  static r4_measured got;
  for (int load = 0; load < 2; load++)
    for (long k = 1;; k++) {
      r4_error e = {0};
      r4_mem_fail_at(k);
      r4_status s = load ? r4_proved_load(&got, scratch_folder(), R4_TEST, HASH, &e)
                         : r4_proved_save(make(), scratch_folder(), R4_TEST, HASH, &e);
      bool reached = r4_mem_count() >= k;
      r4_mem_fail_at(0);
      if (s && s != R4_E_MEMORY) fail_msg("allocation %ld: %s", k, e.text);
      assert_int_equal(e.status, s);
      if (!reached) break;
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(lines_are_whole),
    cmocka_unit_test(values_come_from_counts),
    cmocka_unit_test(what_is_removed_counts_if_it_costs_more),
    cmocka_unit_test(certified_alone),
    cmocka_unit_test(labels_have_variants),
    cmocka_unit_test(seeds_are_averaged),
    cmocka_unit_test(files_keep_all_of_them),
    cmocka_unit_test(older_files_lack_some),
    cmocka_unit_test(two_classes_by_hand),
    cmocka_unit_test(three_classes),
    cmocka_unit_test(a_class_hides_its_masks),
                                     cmocka_unit_test(one_class_has_no_auc),
    cmocka_unit_test(intervals),
    cmocka_unit_test(bad_probabilities_are_refused),
    cmocka_unit_test(memory_may_run_out),
    cmocka_unit_test(proved_figures_are_kept),
    cmocka_unit_test(proved_of_others_is_refused),
    cmocka_unit_test(proved_figures_alone),
    cmocka_unit_test(proved_and_memory),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("figures", tests, begin, scratch_remove);
}
