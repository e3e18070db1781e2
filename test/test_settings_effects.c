/* What settings do together: combinations that make no sense are refused, and each value does what it says. */
#include <glob.h>
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
  agrees("method: r3\n");                           /* with the method's own lambda */
  agrees("method: r3\nlambda: default\n");
  contradicts("method: r3\nlambda: 0\n",
              "method (a.yaml:1:9) is r3, but lambda (a.yaml:2:9) and delta (default) are 0");
  contradicts("method: ibp-ex+r3\nlambda_r3: 0\n", "lambda_r3 (a.yaml:2:12) is 0");
  agrees("method: ibp-ex+r3\nlambda: 1\nlambda_r3: 1\n");
  contradicts("range: [0]\n", "range (a.yaml:1:8): expected two numbers");
  contradicts("range: [1, 0]\n", "range (a.yaml:1:8): expected two numbers");
  contradicts("range: [0, 1, 2]\n", "expected two numbers");
  agrees("range: [0, 1]\n");
  contradicts("decay_at: [3, 3]\n", "decay_at (a.yaml:1:11): 3 comes after 3, expected ascending epochs");
  contradicts("schedule: steps\n", "schedule (a.yaml:1:11) is steps, but decay_at (default) is empty");
  agrees("schedule: steps\ndecay_at: [5]\n");
  contradicts("data.correct: 0.5\n", "data.corrupt (default) is none");
  agrees("data.correct: 0.5\ndata.corrupt: shift\n");
  contradicts("data.corrupt: shift\n",
              "data.corrupt (a.yaml:1:15) has no effect, as data.correct (default) is 1");
  agrees("data.corrupt: none\ndata.correct: 1\n");
  agrees("method: ibp-ex+r3\ndelta: 1\n");
  contradicts("method: adv-r4\nlambda: 1\npenalty.norm: sum\n",
              "penalty.norm (a.yaml:3:15) is sum, which is for cert-r4, cert-r4+r3 and cert-r4+pairing alone");
  agrees("method: cert-r4\nlambda: 1\npenalty.norm: sum\n");
  contradicts("method: smooth-r3\nlambda: 1\neps: range\n",
              "eps (a.yaml:3:6) is range, but method (a.yaml:1:9) is smooth-r3, which has noise of that size: "
              "expected a number");
  contradicts("method: cert-r4+smooth-r3\neps: range\n", "is cert-r4+smooth-r3, which has noise of that size");
  contradicts("method: cert-r4\neps: 2\nrange: [0, 1]\n",
              "eps (a.yaml:2:6) is 2, but range (a.yaml:3:8) is 0 to 1: expected at most 1, or range for any of these");
  contradicts("method: rand-r4\nrange: [0.25, 0.3]\n", "eps (default) is 0.1, but range (a.yaml:2:8) is 0.25 to 0.3");
  contradicts("method: cert-r4\neps: range\nbox: words\n",
              "eps (a.yaml:2:6) is range, but box (a.yaml:3:6) is words: expected a share from 0 to 1");
  contradicts("method: ibp-ex\neps: range\nguide: features\n",
              "eps (a.yaml:2:6) is range, but guide (a.yaml:3:8) is features, where no values are known to be valid");
  agrees("method: cert-r4\neps: 1\nrange: [0, 1]\n");
  agrees("method: smooth-r3\neps: 2\nrange: [0, 1]\n"); /* noise on all features, and nothing is limited */
  agrees("method: cert-r4+adv-r4\neps: range\neps.ramp: 2\n");
  agrees("method: r3\neps: range\nguide: features\n"); /* without an effect */
  contradicts("method: fill\nfill: none\n",
              "method (a.yaml:1:9) is fill, but fill (a.yaml:2:7) is none: it would be erm");
  contradicts(
    "method: pairing\nfill: none\n",
    "method (a.yaml:1:9) is pairing, which compares with filled examples, but fill (a.yaml:2:7) is none");
  contradicts("method: r3\ndelta: 1\nepochs: 3\ndelta.ramp: 4\n",
              "delta.ramp (a.yaml:4:13) is 4, but epochs");
  contradicts("method: r3\ndelta: 1\npenalty.form: log\n",
              "penalty.form (a.yaml:3:15) has no effect, as delta (a.yaml:2:8) is 1");
  contradicts("method: r3\ndelta: 1\npenalty.tau: 2\n", "penalty.tau (a.yaml:3:14) has no effect, as delta");
  contradicts("method: r3\ndelta: 1\npenalty.ramp: 2\n",
              "penalty.ramp (a.yaml:3:15) has no effect, as delta");
  contradicts("method: ibp-ex+r3\ndelta: 1\nlambda_r3: 2\n",
              "lambda_r3 (a.yaml:3:12) has no effect, as delta");
  contradicts("method: r3\ndelta: 1\ndelta.rate: 0\n",
              "delta.rate (a.yaml:3:13) is 0, so lambda never");
  contradicts(
    "data: mydata\ndata.from: mnist\n",
    "data.from (a.yaml:2:12) has no effect, as data (a.yaml:1:7) is \"mydata\", which is not a recipe");
  contradicts("data: a.npz\ndata.clean: true\n", "data.clean (a.yaml:2:13) has no effect, as data");
  contradicts("data: a.npz\npublished.shades: ross\n",
              "published.shades (a.yaml:2:19) has no effect, as data");
  agrees("data: a.npz\ndata.from: \"\"\ndata.clean: false\npublished.shades: default\n");
}

static void test_ramps_end_within_the_run(void **state)
{
  (void)state;
  contradicts(
    "epochs: 3\nwarmup: 3.5\n",
    "warmup (a.yaml:2:9) is 3.5, but epochs (a.yaml:1:9) is 3: the run would end before rate is reached");
  contradicts("epochs: 3\nmethod: cert-r4\nlambda: 1\neps.ramp: 4\n",
              "eps.ramp (a.yaml:4:11) is 4, but epochs");
  contradicts("epochs: 3\nmethod: r3\nlambda: 1\npenalty.ramp: 4\n",
              "penalty.ramp (a.yaml:4:15) is 4, but epochs");
  contradicts("epochs: 3\nmethod: r3\npenalty.after: 3\n",
              "penalty.after (a.yaml:3:16) is 3, but epochs (a.yaml:1:9) is 3: the run would end before the "
              "penalty begins");
  contradicts("epochs: 3\nschedule: steps\ndecay_at: [3, 4]\n",
              "decay_at (a.yaml:3:11) begins at 3, but epochs (a.yaml:1:9) is 3: the rate would never fall");
  agrees("epochs: 3\nmethod: cert-r4\nlambda: 1\neps.ramp: 3\npenalty.ramp: 3\nwarmup: 3\n");
  agrees("epochs: 3\nschedule: steps\ndecay_at: [2, 4]\n");
  agrees("epochs: 3\nmethod: r3\nlambda: 1\neps.ramp: 4\n"); /* has no effect anyway */
}

/* ---- Settings without an effect ---- */

/* The settings that are named, in order: "steps samples". */
static void assert_idle(const r4_settings *s, const char *about, const char *expected)
{
  char keys[512] = "";
  r4_error e;
  for (size_t k = 0; r4_settings_idle(s, k, &e); k++) {
    size_t n = strlen(keys);
    snprintf(keys + n, sizeof keys - n, "%s%.*s", n ? " " : "", (int)strcspn(e.text, " "), e.text);
  }
  if (strcmp(keys, expected)) fail_msg("%s: named are \"%s\", expected \"%s\"", about, keys, expected);
}

static void idle(const char *text, const char *expected)
{
  r4_settings *s = settings_case(text);
  assert_idle(s, text, expected);
  r4_settings_free(s);
}

static void test_settings_without_effect(void **state)
{
  (void)state;
  r4_error e;
  r4_settings *s = settings_case("attack.steps: 3\nmethod: r3\nlambda: 1\n");
  assert_true(r4_settings_idle(s, 0, &e));
  assert_string_equal(
    e.text, "attack.steps (a.yaml:1:15) has no effect, as method (a.yaml:2:9) is r3: it is for adv-r4 "
            "and word-adv-r4");
  assert_false(r4_settings_idle(s, 1, &e));
  r4_settings_free(s);
  idle("", "");
  idle("method: erm\nlambda: 1\nlambda_r3: 1\ndelta.rate: 0.1\neps: 1\neps.ramp: 1\npenalty.ramp: "
       "1\npenalty.form: log\n",
       "lambda eps eps.ramp penalty.ramp penalty.form delta.rate lambda_r3");
  idle("method: erm\nexplain: margin\npenalty.norm: l1\npenalty.tau: 2\nsamples: 8\nattack.steps: "
       "10\nattack.step: 1\nattack.random_start: true\n"
       "range: [0, 1]\n",
       "explain samples range penalty.norm penalty.tau attack.steps attack.step attack.random_start");
  idle("method: fill\nlambda: 1\npenalty.mean: all\nfill: noise\n", "lambda penalty.mean");
  idle("method: erm\npenalty.cap: true\nfrom: runs/a\ninit: xavier\n", "init penalty.cap");
  idle("init: xavier\n", "");
  idle("method: cert-r4\nexplain: margin\npenalty.norm: l1\npenalty.form: log\npenalty.tau: 2\neps: "
       "1\neps.ramp: 1\npenalty.ramp: "
       "1\nlambda: 1\n",
       "");
  idle("method: adv-r4\nsamples: 3\nattack.steps: 3\nattack.step: 1\nattack.random_start: false\nrange: [0, "
       "1]\npenalty.norm: l1\n",
       "samples");
  idle("method: rand-r4\nsamples: 3\nattack.steps: 3\nrange: [0, 1]\npenalty.norm: l1\n", "attack.steps");
  idle("method: r3\npenalty.norm: l1\neps: 1\neps.ramp: 1\nexplain: logit\npenalty.form: log\n",
       "eps eps.ramp penalty.norm");
  idle("method: ibp-ex\nexplain: logit\neps: 0\neps.ramp: 1\nlambda_r3: 1\n", "eps.ramp explain lambda_r3");
  idle("method: ibp-ex\neps: range\neps.ramp: 1\nrange: [0, 1]\n", "");
  idle("method: ibp-ex+r3\nexplain: logit\nlambda_r3: 1\n", "");
  idle("delta: 1\ndelta.rate: 0.1\nmethod: r3\n", "");
  idle("method: r3\npenalty.tau: 2\n", "penalty.tau");
  idle("method: cert-r4\npenalty.tau: 2\n", "");
  idle("method: cert-r4\npenalty.tau: 2\npenalty.form: linear\n", "penalty.tau");
  idle("method: erm\ndelta: 1\n", "delta");
  idle("momentum: 0.5\n", "momentum");
  idle("optimizer: sgd\nmomentum: 0.5\nbeta1: 0.5\nbeta2: 0.5\n", "beta1 beta2");
  idle("decay_at: [3]\ndecay_by: 0.5\nschedule: cosine\n", "decay_at decay_by");
  idle("decay_at: [3]\ndecay_by: 0.5\nschedule: steps\n", "");
  idle("patience: 3\n", "patience");
  idle("patience: 3\nselect: worst\n", "");
  idle("lambda: 0\nattack.step: 0\nrange: []\npatience: 0\neps.ramp: 0\n", ""); /* ways to say no */
}

/* What is given later overrides what was given before, and then nothing of that is wrong. */
static void test_later_places_override(void **state)
{
  (void)state;
  static const char file[] =
    "method: cert-r4\nlambda: 1\npenalty.form: log\npenalty.tau: 0.5\neps: 0.3\nattack.steps: 3\n";
  r4_error e;
  r4_settings *s = settings_case(file);
  assert_idle(s, "the file", "attack.steps");
  assert_int_equal(r4_settings_set(s, "method=erm", "--set", NULL), R4_OK);
  assert_idle(s, "--set method=erm", "");
  assert_int_equal(r4_settings_set(s, "eps=0.2", "--set", NULL), R4_OK);
  assert_idle(s, "--set eps=0.2", "eps");
  assert_true(r4_settings_idle(s, 0, &e));
  assert_string_equal(e.text, "eps (--set) has no effect, as method (--set) is erm");
  assert_int_equal(r4_settings_set(s, "method=cert-r4", "--set", NULL), R4_OK);
  assert_int_equal(r4_settings_set(s, "delta=0.1", "--set", NULL), R4_OK);
  assert_int_equal(r4_settings_check(s, NULL), R4_OK);
  assert_int_equal(r4_settings_set(s, "penalty.form=log", "--set", NULL), R4_OK);
  assert_error(&e, r4_settings_check(s, &e), "penalty.form (--set) has no effect, as delta (--set) is 0.1");
  r4_settings_free(s);
}

/* Resolved settings give all of them, and so say nothing about what was meant. */
static void assert_silent_when_resolved(const r4_settings *s, const char *about)
{
  r4_error e;
  char *text = r4_settings_text(s);
  r4_settings *again = settings_case(text);
  assert_idle(again, about, "");
  if (r4_settings_check(again, &e)) fail_msg("%s, resolved: %s", about, e.text);
  assert_int_equal(r4_settings_set(again, "schedule=constant", "--set", NULL), R4_OK);
  assert_int_equal(r4_settings_set(again, "decay_by=0.5", "--set", NULL), R4_OK);
  assert_idle(again, about, "decay_by");
  r4_string_free(text);
  r4_settings_free(again);
}

static void test_resolved_settings_are_silent(void **state)
{
  (void)state;
  r4_settings *s =
    settings_case("method: cert-r4\npenalty.form: log\npenalty.tau: 2\nattack.steps: 3\nmomentum: 0.5\n");
  assert_int_equal(r4_settings_set(s, "delta=0.1", "--set", NULL), R4_OK);
  assert_silent_when_resolved(s, "a run");
  r4_settings_free(s);
}

/* ---- Presets ---- */

static void check_preset(const char *path, const char *assignments)
{
  char list[256], *rest = list;
  r4_error e;
  r4_settings *s = settings_case("");
  if (r4_settings_read(s, path, &e)) fail_msg("%s", e.text);
  snprintf(list, sizeof list, "%s", assignments);
  for (char *word; (word = strsep(&rest, " "));)
    if (*word && r4_settings_set(s, word, "table.csv", &e)) fail_msg("%s: %s", path, e.text);
  if (r4_settings_check(s, &e)) fail_msg("%s %s: %s", path, assignments, e.text);
  assert_idle(s, path, "");
  assert_silent_when_resolved(s, path);
  r4_settings_free(s);
}

/* The rows of a table: preset in the second field, settings in the eighth. */
static int check_table(const char *path)
{
  char line[512], preset[512];
  int rows = 0;
  FILE *f = fopen(path, "r");
  assert_true(f && fgets(line, sizeof line, f));
  for (; fgets(line, sizeof line, f); rows++) {
    char *rest = line, *field[8] = {0};
    for (int k = 0; k < 8; k++) field[k] = strsep(&rest, k == 7 ? "\r\n" : ",\r\n");
    snprintf(preset, sizeof preset, "%.*s/%s.yaml", (int)(strrchr(path, '/') - path), path, field[1]);
    check_preset(preset, field[7] ? field[7] : "");
  }
  fclose(f);
  return rows;
}

static void test_presets_are_silent(void **state)
{
  (void)state;
  static const char *const pattern[] = {"experiments/*/*.yaml", "experiments/*/*/*.yaml"};
  static const char *const table[] = {"experiments/*/table.csv", "experiments/*/*/table.csv"};
  size_t files = 0, rows = 0;
  for (int k = 0; k < 2; k++) {
    glob_t found;
    if (!glob(pattern[k], 0, NULL, &found))
      for (size_t n = 0; n < found.gl_pathc; n++, files++)
        if (!strstr(found.gl_pathv[n], "/base.yaml"))
          check_preset(found.gl_pathv[n], ""); /* no preset of its own */
    globfree(&found);
    if (!glob(table[k], 0, NULL, &found))
      for (size_t n = 0; n < found.gl_pathc; n++) rows += (size_t)check_table(found.gl_pathv[n]);
    globfree(&found);
  }
  assert_true(files >= 20 && rows >= 40);
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
  return (int)task_explain(v, NULL);
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

/* Without shades of their own, the settings leave them to the recipe, as "r4 data make" does. */
static void test_shades_are_the_recipes(void **state)
{
  (void)state;
  static const char *const recipe[] = {"decoy", "decoy-mnist"};
  for (int k = 0; k < 2; k++) {
    r4_error e = {0};
    char got[R4_HASH_SIZE], wanted[R4_HASH_SIZE];
    r4_settings *s = settings_case("data.from: digits:60\ndata.val: 0\n");
    with(s, "data", recipe[k]);
    r4_data *d = task_data(&s->values, &e);
    r4_data *made = r4_data_make(recipe[k], &(r4_recipe_options){.from = "digits:60", .val = -1}, &e);
    if (!d || !made) fail_msg("%s", e.text);
    r4_data_hash(d, got);
    r4_data_hash(made, wanted);
    assert_string_equal(got, wanted);
    r4_data_free(d);
    r4_data_free(made);
    r4_settings_free(s);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_combinations),
    cmocka_unit_test(test_ramps_end_within_the_run),
    cmocka_unit_test(test_settings_without_effect),
    cmocka_unit_test(test_later_places_override),
    cmocka_unit_test(test_resolved_settings_are_silent),
    cmocka_unit_test(test_presets_are_silent),
    cmocka_unit_test(test_words_mean_what_they_say),
    cmocka_unit_test(test_words_of_masks),
    cmocka_unit_test(test_shades_are_the_recipes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
