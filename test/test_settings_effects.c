/* What settings do together: combinations that make no sense are refused, and each value does what it says. */
#include <stdio.h>
#include <string.h>

#include "scratch.h"
#include "settings_case.h"
#include "train/task.h"

/* ---- Combinations ---- */

static void contradicts(const char *text, const char *expected)
{
  r4_error e = {0};
  r4_settings *s = settings_case(text);
  assert_error(&e, r4_settings_check(s, &e), expected);
  r4_settings_free(s);
}

static void agrees(const char *text)
{
  r4_error e;
  r4_settings *s = settings_case(text);
  if (r4_settings_check(s, &e)) fail_msg("%s", e.text);
  r4_settings_free(s);
}

static void test_combinations(void **state)
{
  (void)state;
  agrees("");
  agrees("method: r3\nlambda: 1\n");
  agrees("method: r3\ndelta: 1\n");
  agrees("method: r3\nlambda: 0.01\ndelta: 0.1\n"); /* where lambda starts */
  contradicts("method: r3\n", "method (a.yaml:1:9) is r3, but lambda (default) and delta (default) are 0");
  contradicts("method: ibp-ex+r3\nlambda: 1\n", "lambda_r3 (default) is 0");
  agrees("method: ibp-ex+r3\nlambda: 1\nlambda_r3: 1\n");
  contradicts("range: [0]\n", "range (a.yaml:1:8): expected two numbers");
  contradicts("range: [1, 0]\n", "range (a.yaml:1:8): expected two numbers");
  contradicts("range: [0, 1, 2]\n", "expected two numbers");
  agrees("range: [0, 1]\n");
  contradicts("decay_at: [3, 3]\n", "decay_at (a.yaml:1:11): 3 stands after 3, expected rising epochs");
  contradicts("schedule: steps\n", "schedule (a.yaml:1:11) is steps, but decay_at (default) is empty");
  agrees("schedule: steps\ndecay_at: [5]\n");
  contradicts("data.correct: 0.5\n", "data.corrupt (default) is none");
  agrees("data.correct: 0.5\ndata.corrupt: shift\n");
}

/* ---- What becomes of them ---- */

static void with(r4_settings *s, const char *key, const char *word)
{
  char assignment[64];
  snprintf(assignment, sizeof assignment, "%s=%s", key, word);
  assert_int_equal(r4_settings_set(s, assignment, "--set", NULL), R4_OK);
}

static int explain_of(const struct settings *v)
{
  return (int)task_objective(v).explain;
}

static int norm_of(const struct settings *v)
{
  return (int)task_objective(v).norm;
}

static int form_of(const struct settings *v)
{
  return (int)task_objective(v).form;
}

static int optimizer_of(const struct settings *v)
{
  return (int)task_optimizer(v).kind;
}

static int schedule_of(const struct settings *v)
{
  return (int)task_schedule(v).kind;
}

static void test_words_mean_what_they_say(void **state)
{
  (void)state;
  static const struct {
    const char *key, *word;
    int (*of)(const struct settings *v);
    int value;
  } cases[] = {{"explain", "loss", explain_of, R4_EXPLAIN_LOSS},
               {"explain", "logit", explain_of, R4_EXPLAIN_LOGIT},
               {"explain", "margin", explain_of, R4_EXPLAIN_MARGIN},
               {"explain", "logprob-sum", explain_of, R4_EXPLAIN_LOGPROB_SUM},
               {"norm", "l2", norm_of, R4_NORM_L2},
               {"norm", "l1", norm_of, R4_NORM_L1},
               {"norm", "sum", norm_of, R4_NORM_SUM},
               {"form", "linear", form_of, R4_FORM_LINEAR},
               {"form", "log", form_of, R4_FORM_LOG},
               {"delta", "0.5", form_of, R4_FORM_TARGET},
               {"optimizer", "sgd", optimizer_of, R4_SGD},
               {"optimizer", "adam", optimizer_of, R4_ADAM},
               {"optimizer", "adamw", optimizer_of, R4_ADAMW},
               {"schedule", "constant", schedule_of, SCHEDULE_CONSTANT},
               {"schedule", "linear", schedule_of, SCHEDULE_LINEAR},
               {"schedule", "cosine", schedule_of, SCHEDULE_COSINE},
               {"schedule", "steps", schedule_of, SCHEDULE_STEPS}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    r4_settings *s = settings_case("");
    with(s, cases[k].key, cases[k].word);
    int value = cases[k].of(&s->values);
    if (value != cases[k].value) fail_msg("%s: %s is %d", cases[k].key, cases[k].word, value);
    r4_settings_free(s);
  }
}

/* The words of masks are seen in what becomes of the data. */
static void test_words_of_masks(void **state)
{
  (void)state;
  static const char *const word[] = {[R4_CORRUPT_MISPOSITION] = "misposition",
                                     [R4_CORRUPT_SHIFT] = "shift",
                                     [R4_CORRUPT_DILATION] = "dilation",
                                     [R4_CORRUPT_SHRINK] = "shrink"};
  for (int k = 0; k < 4; k++) {
    r4_error e = {0};
    char got[R4_HASH_SIZE], wanted[R4_HASH_SIZE];
    r4_settings *s = settings_case("data: decoy-mnist\ndata.from: digits:60\ndata.correct: 0\n");
    r4_data *plain = task_data(&s->values, &e), *wrong = NULL;
    with(s, "data.corrupt", word[k]);
    r4_data *d = plain ? task_data(&s->values, &e) : NULL;
    if (d) wrong = r4_data_corrupt_masks(plain, (r4_corruption)k, 0, 0, &e);
    if (!wrong) fail_msg("%s: %s", word[k], e.text);
    r4_data_hash(d, got);
    r4_data_hash(wrong, wanted);
    assert_string_equal(got, wanted);
    r4_data_free(plain);
    r4_data_free(wrong);
    r4_data_free(d);
    r4_settings_free(s);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_combinations),
    cmocka_unit_test(test_words_mean_what_they_say),
    cmocka_unit_test(test_words_of_masks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
