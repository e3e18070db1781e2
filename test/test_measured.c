/* eval.json: every bit comes back, and what is not as it was written is refused with the reason. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "folder_make.h"
#include "scratch.h"

static const char HASH[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

static r4_measured *make(void)
{
  static r4_measured m;
  m = (r4_measured){.metrics = {.loss = 1. / 3,
                                .accuracy = .1,
                                .avg_group_accuracy = 2. / 3,
                                .worst_group_accuracy = 5e-324,
                                .worst_group = 1,
                                .groups = 3,
                                .group_accuracy = {.25, NAN, 1},
                                .group_count = {7, 0, 9},
                                .eps = .1,
                                .masked_examples = 12,
                                .core_examples = 11,
                                .kappa_masked_max = INFINITY,
                                .kappa_masked_mean = 1e-7,
                                .kappa_core_max = NAN,
                                .kappa_core_mean = 1e300,
                                .answers = {.most = 2, .most_share = .7, .constant = true, .not_finite = 3}},
                    .swaps = 1,
                    .swapped = {{.content = R4_FILL_SWAP,
                                 .draws = 10,
                                 .donors = 5,
                                 .inside = 4,
                                 .pasted = 8,
                                 .groups = 3,
                                 .examples = {4, 0, 8},
                                 .found = {3, 0, 6},
                                 .flipped = {.3, 0, 1. / 7},
                                 .lost = {.1, 0, .9}}}};
  return &m;
}

static const char *place(void)
{
  static char path[1200];
  snprintf(path, sizeof path, "%s/eval.json", scratch_folder());
  return path;
}

static int begin(void **state)
{
  if (scratch_make(state)) return -1;
  put_text(scratch_folder(), "config.yaml", "method: r3\n");
  put_text(scratch_folder(), "model.safetensors", "weights");
  return 0;
}

static void save(void)
{
  r4_error e = {0};
  if (r4_measured_save(make(), scratch_folder(), R4_TEST, HASH, &e)) fail_msg("%s", e.text);
}

static bool same(double a, double b)
{
  return a == b || (isnan(a) && isnan(b));
}

static void every_bit_comes_back(void **state)
{
  (void)state;
  static r4_measured got;
  r4_error e = {0};
  const r4_measured *m = make();
  save();
  if (r4_measured_load(&got, scratch_folder(), R4_TEST, HASH, .1, &e)) fail_msg("%s", e.text);
  const double *a = &m->metrics.loss, *b = &got.metrics.loss;
  assert_true(same(a[0], b[0]) && same(a[1], b[1]) && same(a[2], b[2]) && same(a[3], b[3]));
  assert_int_equal(got.metrics.groups, 3);
  for (int g = 0; g < 3; g++) {
    assert_true(same(got.metrics.group_accuracy[g], m->metrics.group_accuracy[g]));
    assert_int_equal(got.metrics.group_count[g], m->metrics.group_count[g]);
    assert_int_equal(got.swapped->examples[g], m->swapped->examples[g]);
    assert_int_equal(got.swapped->found[g], m->swapped->found[g]);
    assert_true(same(got.swapped->flipped[g], m->swapped->flipped[g]) &&
                same(got.swapped->lost[g], m->swapped->lost[g]));
  }
  assert_true(isinf(got.metrics.kappa_masked_max) && got.metrics.kappa_masked_mean == 1e-7);
  assert_true(isnan(got.metrics.kappa_core_max) && got.metrics.kappa_core_mean == 1e300 &&
              got.metrics.eps == .1);
  assert_true(got.metrics.answers.constant && got.metrics.answers.most == 2 &&
              got.metrics.answers.most_share == .7);
  assert_true(got.metrics.worst_group == 1 && got.metrics.masked_examples == 12 &&
              got.metrics.core_examples == 11);
  assert_true(got.swapped->donors == 5 && got.swapped->inside == 4 && got.swapped->pasted == 8);
  assert_true(got.swapped->draws == 10 && got.swapped->content == R4_FILL_SWAP && !got.swapped->none);
}

static void refused(const char *hash, double eps, r4_status expected, const char *why)
{
  static r4_measured got;
  r4_error e = {0};
  r4_status s = r4_measured_load(&got, scratch_folder(), R4_TEST, hash, eps, &e);
  if (s != expected || !strstr(e.text, why)) fail_msg("%d: %s, expected %d: %s", s, e.text, expected, why);
}

static void other_things_are_refused(void **state)
{
  (void)state;
  static const char OTHER[] = "to other settings, data or weights";
  remove(place());
  refused(HASH, .1, R4_E_IO, "eval.json: is not there");
  save();
  refused("fedc", .1, R4_E_ARGUMENT, OTHER);
  refused(HASH, .2, R4_E_ARGUMENT, OTHER);
  put_text(scratch_folder(), "model.safetensors", "Weights");
  refused(HASH, .1, R4_E_ARGUMENT, OTHER);
  put_text(scratch_folder(), "model.safetensors", "weights");
  put_text(scratch_folder(), "config.yaml", "method: r4\n");
  refused(HASH, .1, R4_E_ARGUMENT, OTHER);
  put_text(scratch_folder(), "config.yaml", "method: r3\n");
  static r4_measured got;
  assert_int_equal(r4_measured_load(&got, scratch_folder(), R4_TEST, HASH, .1, NULL), R4_OK);
}

/* Cut anywhere, and with any byte changed, it is never taken. */
static void damaged_files_are_refused(void **state)
{
  (void)state;
  static r4_measured got;
  uint8_t *text;
  size_t size;
  save();
  assert_int_equal(file_read(place(), 1 << 20, &text, &size, NULL), R4_OK);
  for (size_t k = 0; k < size; k++) {
    assert_int_equal(file_write(place(), text, k, NULL), R4_OK);
    assert_int_not_equal(r4_measured_load(&got, scratch_folder(), R4_TEST, HASH, .1, NULL), R4_OK);
  }
  for (size_t k = 0; k < size; k++) {
    text[k] ^= 1;
    assert_int_equal(file_write(place(), text, size, NULL), R4_OK);
    assert_int_not_equal(r4_measured_load(&got, scratch_folder(), R4_TEST, HASH, .1, NULL), R4_OK);
    text[k] ^= 1;
  }
  char *at = strstr((char *)text, "\"accuracy\":0.1");
  assert_non_null(at);
  at[strlen("\"accuracy\":0.")] = '9';
  assert_int_equal(file_write(place(), text, size, NULL), R4_OK);
  refused(HASH, .1, R4_E_ARGUMENT, "eval.json: was edited");
  r4_mem_free(text);
}

static void other_files_are_refused(void **state)
{
  (void)state;
  put_text(scratch_folder(), "eval.json", "{\"r4\":\"0.0.9\",\"measured\":4}");
  refused(HASH, .1, R4_E_ARGUMENT, "is from r4 0.0.9, this is r4 ");
  put_text(scratch_folder(), "eval.json", "{\"rows\":[]}");
  refused(HASH, .1, R4_E_PARSE, "does not name the r4 that made it");
  put_text(scratch_folder(), "eval.json", "{\"r4\":\"" R4_VERSION "\",\"seeds\":4,\"rows\":[]}");
  refused(HASH, .1, R4_E_PARSE, "has another form");
  put_text(scratch_folder(), "eval.json", "{\"r4\":\"" R4_VERSION "\",\"measured\":4,\"key\":\"1\"}");
  refused(HASH, .1, R4_E_ARGUMENT, "was edited");
}

/* The results that stand in experiments/ are of whole tables, and no figures of a net. */
static void results_of_tables_are_refused(void **state)
{
  (void)state;
  static const char *const old[] = {"experiments/decoy-mnist/results.json", "experiments/isic/results.json"};
  for (size_t k = 0; k < sizeof old / sizeof *old; k++) {
    uint8_t *text;
    size_t size;
    if (file_read(old[k], 1 << 24, &text, &size, NULL)) check_skip("experiments/ is not here");
    assert_int_equal(file_write(place(), text, size, NULL), R4_OK);
    refused(HASH, .1, R4_E_PARSE, "has another form");
    r4_mem_free(text);
  }
}

static void memory_may_run_out(void **state)
{
  (void)state;
  static r4_measured got;
  for (int load = 0; load < 2; load++)
    for (long k = 1;; k++) {
      r4_error e = {0};
      r4_mem_fail_at(k);
      r4_status s = load ? r4_measured_load(&got, scratch_folder(), R4_TEST, HASH, .1, &e)
                         : r4_measured_save(make(), scratch_folder(), R4_TEST, HASH, &e);
      bool reached = r4_mem_count() >= k;
      r4_mem_fail_at(0);
      assert_true(s == R4_OK || s == R4_E_MEMORY);
      assert_int_equal(e.status, s);
      if (!reached) break;
    }
}

static void costs_are_read_from_logs(void **state)
{
  (void)state;
  r4_run_cost c;
  r4_error e = {0};
  put_text(scratch_folder(), "log.jsonl",
           "{\"epoch\":1,\"seconds\":1.5}\n{\"epoch\":2,\"seconds\":2}\n{\"epoch\":3,\"sec");
  assert_int_equal(r4_run_cost_read(scratch_folder(), &c, &e), R4_OK);
  assert_true(c.epochs == 2 && c.seconds == 3.5);
  assert_int_not_equal(r4_run_cost_read("/nowhere", &c, &e), R4_OK);
}

/* The line of the epoch that the rule "select" has kept; infinite losses are null. */
static void validation_is_that_of_the_model(void **state)
{
  (void)state;
  static const struct {
    const char *rule;
    int64_t epoch;
  } sample[] = {{"last", 4}, {"avg", 2}, {"worst", 3}, {"loss", 1}};
  put_text(scratch_folder(), "log.jsonl",
           "{\"epoch\":1,\"val\":{\"loss\":0.5,\"avg\":0.1,\"worst\":0.1}}\n"
           "{\"epoch\":2,\"val\":{\"loss\":0.75,\"avg\":0.9,\"worst\":0.2}}\n"
           "{\"epoch\":3,\"val\":{\"loss\":0.75,\"avg\":0.9,\"worst\":0.3}}\n"
           "{\"epoch\":4,\"loss\":0,\"val\":{\"loss\":null,\"avg\":0.25,\"worst\":0}}\n{\"epoch\":5,\"val");
  for (size_t k = 0; k < sizeof sample / sizeof *sample; k++) {
    char config[64];
    r4_run_validation v;
    r4_error e = {0};
    snprintf(config, sizeof config, "method: r3\nselect: %s\n", sample[k].rule);
    put_text(scratch_folder(), "config.yaml", config);
    if (r4_run_validation_read(scratch_folder(), &v, &e)) fail_msg("%s", e.text);
    assert_int_equal(v.epoch, sample[k].epoch);
    if (v.epoch == 4) assert_true(isnan(v.loss) && v.avg == .25 && v.worst == 0);
    if (v.epoch == 2) assert_true(v.loss == .75 && v.avg == .9 && v.worst == .2);
  }
}

static void without_validation_there_is_none(void **state)
{
  (void)state;
  r4_run_validation v;
  r4_error e = {0};
  put_text(scratch_folder(), "log.jsonl", "{\"epoch\":1,\"seconds\":1.5}\n");
  assert_int_equal(r4_run_validation_read(scratch_folder(), &v, &e), R4_OK);
  assert_true(!v.epoch && isnan(v.loss) && isnan(v.avg) && isnan(v.worst));
  put_text(scratch_folder(), "log.jsonl", "{\"epoch\":1,}\n");
  assert_int_equal(r4_run_validation_read(scratch_folder(), &v, &e), R4_E_PARSE);
  assert_non_null(strstr(e.text, "log.jsonl: entry 1"));
  assert_int_not_equal(r4_run_validation_read("/nowhere", &v, &e), R4_OK);
}

/* Those of one part are not taken for those of another. */
static void parts_have_files_of_their_own(void **state)
{
  (void)state;
  static r4_measured got;
  r4_error e = {0};
  assert_int_equal(r4_measured_save(make(), scratch_folder(), R4_VAL, HASH, &e), R4_OK);
  assert_int_equal(r4_measured_load(&got, scratch_folder(), R4_VAL, HASH, .1, &e), R4_OK);
  assert_true(got.metrics.loss == 1. / 3);
  assert_int_equal(r4_measured_load(&got, scratch_folder(), R4_TRAIN, HASH, .1, &e), R4_E_IO);
  assert_non_null(strstr(e.text, "eval-train.json: is not there"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_bit_comes_back),
    cmocka_unit_test(other_things_are_refused),
    cmocka_unit_test(damaged_files_are_refused),
    cmocka_unit_test(other_files_are_refused),
    cmocka_unit_test(results_of_tables_are_refused),
    cmocka_unit_test(memory_may_run_out),
    cmocka_unit_test(costs_are_read_from_logs),
    cmocka_unit_test(parts_have_files_of_their_own),
    cmocka_unit_test(validation_is_that_of_the_model),
    cmocka_unit_test(without_validation_there_is_none),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("measured", tests, begin, scratch_remove);
}
