/* The table of figures: each line is whole, files keep what was measured, and values are those worked out by hand. */
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "folder_make.h"
#include "measure/figure/figure.h"
#include "scratch.h"

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
    for (size_t i = 0; i < k; i++) assert_string_not_equal(r4_figure_describe(i).key, f.key);
  }
  assert_null(r4_figure_describe(r4_figure_count()).key);
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
  strcpy(m.pointed_by[0], "gradcam");
  m.substituted = (r4_substituted){.words = 3, .groups = 1, .examples = {8}, .certified = {2}, .tried = {4}, .held = {3}};
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
  assert_true(r4_measured_value(m, "core_sensitivity.0.5") == -.25);
  assert_true(r4_measured_value(m, "pointing_energy.gradcam") == .125);
  assert_true(r4_measured_value(m, "words_certified_accuracy") == .25);
  assert_true(r4_measured_value(m, "words_held_accuracy") == .75);
  assert_true(isnan(r4_measured_value(m, "swap_flipped_share.noise")) && isnan(r4_measured_value(m, "nothing")));
  assert_true(r4_figure_of_group(m, 1, 1) == 1 && isnan(r4_figure_of_group(m, 0, 1)));
  assert_true(isnan(r4_figure_of_group(m, 1, 2)));
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
}

static void seeds_are_averaged(void **state)
{
  (void)state;
  static r4_measured two[2];
  two[0] = two[1] = *make();
  two[1].value[1].value = .25;
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

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(lines_are_whole),
    cmocka_unit_test(values_come_from_counts),
    cmocka_unit_test(labels_have_variants),
    cmocka_unit_test(seeds_are_averaged),
    cmocka_unit_test(files_keep_all_of_them),
    cmocka_unit_test(older_files_lack_some),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("figures", tests, begin, scratch_remove);
}
