/* The verdict at the end of a run: whether the net uses what masks mark, what is said, and what is kept. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "patch_case.h"
#include "scratch.h"
#include "settings_case.h"

enum { MOST = 4096 };
static char said[MOST];

static void collect(const char *sentence, void *user)
{
  size_t n = strlen(said);
  (void)user;
  snprintf(said + n, MOST - n, "%s\n", sentence);
}

static int make(void **state)
{
  if (scratch_make(state)) return -1;
  patch_save("patch.npz", (struct patch_planted){.train = 400, .val = 200, .masked = 1, .size = 2});
  patch_save("blind.npz", (struct patch_planted){.train = 400, .val = 200, .masked = 1, .size = 0});
  patch_save("slow.npz", (struct patch_planted){.train = 400, .val = 400, .masked = 1, .size = 0.3f});
  patch_save("few.npz", (struct patch_planted){.train = 40, .val = 20, .masked = 0.2, .size = 2});
  patch_save("one.npz",
             (struct patch_planted){.train = 400, .val = 200, .masked = 1, .size = 0, .one = true});
  patch_save("noise.npz", (struct patch_planted){.train = 400, .val = 400, .masked = 1, .size = 2, .any = true});
  patch_save("bare.npz", (struct patch_planted){.train = 40, .val = 20, .masked = 0, .size = 2});
  return 0;
}

static const char *path_of(const char *name)
{
  static char path[4][512];
  static int turn;
  turn = (turn + 1) % 4;
  snprintf(path[turn], sizeof *path, "%s/%s", scratch_folder(), name);
  return path[turn];
}

/* Trains on a file of the scratch folder; more: key=value up to NULL. */
static r4_status try(const char *run, const char *data, const char *const *more, r4_train_options o,
                     r4_outcome *end, r4_error *e)
{
  char setting[600];
  snprintf(setting, sizeof setting, "data=%s", path_of(data));
  const char *const common[] = {setting,     "net=dense 2",    "epochs=10", "batch=20",
                                "rate=0.02", "optimizer=adam", NULL};
  r4_settings *s = settings_case_with(common, more);
  *said = 0;
  o.folder = path_of(run);
  o.notice = collect;
  r4_status status = r4_train(s, &o, end, e);
  r4_settings_free(s);
  return status;
}

static r4_outcome train(const char *run, const char *data, const char *const *more)
{
  r4_error e = {0};
  r4_outcome end;
  if (try(run, data, more, (r4_train_options){0}, &end, &e)) fail_msg("%s: %s", run, e.text);
  return end;
}

static void assert_said(const char *text)
{
  if (!strstr(said, text)) fail_msg("\"%s\" is not in:\n%s", text, said);
}

#define SET(...) ((const char *const[]){__VA_ARGS__, NULL})

/* ---- Verdicts ---- */

static void words_have_limits(void **state)
{
  (void)state;
  static const struct {
    double lost, error;
    r4_verdict is;
  } want[] = {{NAN, 0, R4_VERDICT_NONE},     {NAN, 1, R4_VERDICT_NONE},       {0, 0, R4_VERDICT_NOT},
              {0.0199, 0, R4_VERDICT_NOT},   {0.02, 0, R4_VERDICT_LITTLE},    {0.0999, 0, R4_VERDICT_LITTLE},
              {0.1, 0, R4_VERDICT_USES},     {1, 0.5, R4_VERDICT_USES},       {0.13, 0.04, R4_VERDICT_UNSURE},
              {0.13, 0.02, R4_VERDICT_USES}, {0.07, 0.04, R4_VERDICT_UNSURE}, {0, 0.11, R4_VERDICT_UNSURE},
              {0, 0.09, R4_VERDICT_NOT}};
  for (size_t k = 0; k < sizeof want / sizeof *want; k++)
    if (r4_verdict_of(want[k].lost, want[k].error) != want[k].is) fail_msg("case %zu", k);
  assert_string_equal(r4_verdict_name(R4_VERDICT_USES), "uses");
  assert_string_equal(r4_verdict_name(R4_VERDICT_NOT), "does not use");
  assert_null(r4_verdict_name((r4_verdict)99));
}

/* Where masked content says little of the class, swapping it changes little or nothing. */
static void a_swap_may_hide_it(void **state)
{
  (void)state;
  static const struct {
    double lost[3], error;
    size_t seeds;
    double swap;
    bool hides;
    double validation;
  } want[] = {{{.9}, .01, 1, 0, true, .9},          {{.9}, .01, 1, .09, true, .9},
              {{.9}, .01, 1, .1, false, .9}, /* it shows by itself */
              {{.2}, .01, 1, .049, true, .2},       {{.2}, .01, 1, .0999, true, .2},
              {{.12}, .05, 1, 0, false, .12}, /* validation was not sure */
              {{.09}, .001, 1, 0, false, .09},      {{NAN}, 0, 1, 0, false, NAN},
              {{.9, NAN, .5}, .01, 3, 0, true, .7}, {{0}, 0, 0, 0, false, NAN},
              {{.9}, .01, 1, NAN, false, .9}};
  for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
    r4_outcome o[3] = {0};
    for (int i = 0; i < 3; i++)
      o[i] = (r4_outcome){.verdict = R4_VERDICT_USES, .lost = want[k].lost[i], .lost_error = want[k].error};
    r4_judgement j = r4_judge(o, want[k].seeds, want[k].swap);
    bool same = isnan(want[k].validation) ? isnan(j.validation) : fabs(j.validation - want[k].validation) < 1e-12;
    r4_verdict verdict = want[k].hides ? R4_VERDICT_USES : r4_verdict_of(want[k].swap, 0);
    if (j.hidden != want[k].hides || !same || j.verdict != verdict)
      fail_msg("case %zu: %d, %g, %s", k, j.hidden, j.validation, r4_verdict_name(j.verdict));
  }
}

static void a_collapsed_net_hides_nothing(void **state)
{
  (void)state;
  const r4_outcome o = {.verdict = R4_VERDICT_COLLAPSED, .lost = .9, .lost_error = .01};
  r4_judgement j = r4_judge(&o, 1, 0);
  assert_true(!j.hidden && isnan(j.validation) && j.verdict == R4_VERDICT_NOT);
}

/* The patch tells all, and nothing keeps a plain net from it. */
static void a_net_that_reads_the_patch_uses_it(void **state)
{
  (void)state;
  r4_outcome end = train("uses", "patch.npz", SET("method=erm")), kept;
  assert_int_equal(end.verdict, R4_VERDICT_USES);
  assert_true(end.lost > 0.5 && end.lost <= 1 && end.lost_error > 0 && end.changed > 0.2);
  assert_int_equal(end.exchanged, 200);
  assert_int_equal(end.steps, 200);
  assert_true(!end.penalised && !end.unpenalised && !end.one_sided && end.only == -1);
  assert_int_equal(end.val_kind, R4_VAL_EXCHANGED);
  assert_int_equal(strncmp(said, "uses the shortcut: it loses ", 28), 0);
  assert_said(
    " % of its correct predictions when masked content is exchanged on 200 validation examples; method: auto uses "
    "the masks\n");
  assert_int_equal(r4_outcome_read(path_of("uses"), &kept, NULL), R4_OK);
  assert_true(kept.verdict == end.verdict && kept.lost == end.lost && kept.lost_error == end.lost_error &&
              kept.changed == end.changed && kept.exchanged == end.exchanged && kept.steps == end.steps &&
              kept.penalised == end.penalised && kept.unpenalised == end.unpenalised);
}

/* It is 0 everywhere: nothing can come of it. */
static void a_net_that_cannot_see_it_does_not(void **state)
{
  (void)state;
  r4_outcome end = train("blind", "blind.npz", SET("method=erm"));
  assert_int_equal(end.verdict, R4_VERDICT_NOT);
  assert_true(end.lost == 0 && end.changed == 0);
  assert_said("does not use the shortcut: it loses 0.0 +- ");
  assert_said(" validation examples\n");
}

/* What the other class has in the place of it, nobody has marked. */
static void masks_on_one_class_measure_no_other(void **state)
{
  (void)state;
  r4_outcome end = train("one", "one.npz", SET("method=erm")), kept;
  assert_int_equal(end.verdict, R4_VERDICT_NOT);
  assert_int_equal(r4_outcome_read(path_of("one"), &kept, NULL), R4_OK);
  assert_true(end.one_sided && kept.one_sided);
  assert_said(
    " validation examples; in some classes few examples or none have masks; shortcuts of theirs, if any, were not "
    "measured\n");
}

/* Content that says nothing of the class throws a net that has not learned to leave it alone: it loses as much with
 * that of its own class. */
static void a_net_that_is_thrown_off_reacts(void **state)
{
  (void)state;
  r4_outcome end = train("noise", "noise.npz", SET("method=erm", "epochs=1", "rate=1e-6", "seed=1")), kept;
  assert_int_equal(end.verdict, R4_VERDICT_REACTS);
  assert_true(end.lost > 0.15 && end.followed + end.followed_error < 0.1 && end.followed_error > 0);
  assert_said("reacts to any change of what is masked, rather than using it as a shortcut: it loses ");
  assert_said(" 400 validation examples; content of another class than its own costs ");
  assert_said("so its class is not the cause; method: auto uses the masks\n");
  assert_int_equal(r4_outcome_read(path_of("noise"), &kept, NULL), R4_OK);
  assert_true(kept.verdict == end.verdict && kept.followed == end.followed &&
              kept.followed_error == end.followed_error);
}

/* lost, followed and its error, of the outcome; what a swap test loses; the verdicts. */
static void a_loss_with_another_cause_is_no_shortcut(void **state)
{
  (void)state;
  static const struct {
    double lost, followed, error, swap;
    r4_verdict is, by_validation;
  } want[] = {
    {.3, .01, .02, .3, R4_VERDICT_REACTS, R4_VERDICT_REACTS},
    {.3, .09, .02, .3, R4_VERDICT_USES, R4_VERDICT_USES},   /* it may be 10 % */
    {.12, .05, .02, .12, R4_VERDICT_USES, R4_VERDICT_USES}, /* it may be more than half */
    {.3, .01, .02, .05, R4_VERDICT_LITTLE, R4_VERDICT_REACTS},
    {.3, -.1, .02, .3, R4_VERDICT_REACTS, R4_VERDICT_REACTS},
    {.3, NAN, NAN, .3, R4_VERDICT_USES, R4_VERDICT_USES},
    {.3, 0, 0, .3, R4_VERDICT_USES, R4_VERDICT_USES}, /* not known */
    {.3, .01, .02, 0, R4_VERDICT_NOT, R4_VERDICT_REACTS}, /* and not hidden by the test */
    {.05, .01, .02, .05, R4_VERDICT_LITTLE, R4_VERDICT_LITTLE},
  };
  for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
    const r4_outcome o = {.lost = want[k].lost,
                          .lost_error = .01,
                          .followed = want[k].followed,
                          .followed_error = want[k].error};
    const r4_outcome two[] = {o, o};
    r4_judgement j = r4_judge(two, 2, want[k].swap);
    if (j.verdict != want[k].is || j.by_validation != want[k].by_validation || j.hidden)
      fail_msg("case %zu: %s, %s", k, r4_verdict_name(j.verdict), r4_verdict_name(j.by_validation));
  }
}

static void a_method_keeps_the_patch_out(void **state)
{
  (void)state;
  r4_outcome end = train("auto", "patch.npz", SET("lambda=10"));
  assert_said("method is auto: chose pairing, as most examples have masks (400 of 400");
  assert_said("the penalty took effect in 19"); /* the guard waits for the first few */
  assert_said(" of 200 steps");
  assert_true(end.verdict == R4_VERDICT_NOT || end.verdict == R4_VERDICT_LITTLE);
  assert_true(end.penalised >= 190 && end.penalised < 200 && !end.unpenalised);
}

/* The guard waits until it can tell that something is learned, which two steps do not show. */
static void a_penalty_that_never_counted_is_told(void **state)
{
  (void)state;
  r4_outcome end = train("late", "patch.npz", SET("method=r3", "lambda=1", "batch=400", "epochs=2")), kept;
  assert_true(end.unpenalised && end.penalised == 0 && end.steps == 2);
  assert_said(
    "the penalty took effect in none of 2 steps: this net was not trained with r3; try more epochs, smaller batches, "
    "or penalty.cap: false\n");
  assert_int_equal(r4_outcome_read(path_of("late"), &kept, NULL), R4_OK);
  assert_true(kept.unpenalised);
}

/* ---- What is not known ---- */

static void why_it_is_not_known_is_told(void **state)
{
  (void)state;
  static const struct {
    const char *run, *data, *set, *why;
  } want[] = {
    {"few", "few.npz", "seed=0",
     ": the masked content of 4 validation examples can be exchanged, and 20 are needed"},
    {"as-is", "patch.npz", "data.val_fill=none", ": data.val_fill is none; auto would measure it"},
    {"filled", "patch.npz", "data.val_fill=colour", ": data.val_fill is colour; auto would measure it"},
  };
  for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
    r4_outcome end = train(want[k].run, want[k].data, SET("method=erm", want[k].set)), kept;
    assert_int_equal(end.verdict, R4_VERDICT_NONE);
    assert_true(isnan(end.lost) && isnan(end.changed) && !end.exchanged);
    assert_said("whether it uses the shortcut is unknown: ");
    assert_said(want[k].why);
    assert_int_equal(r4_outcome_read(path_of(want[k].run), &kept, NULL), R4_OK);
    assert_true(kept.verdict == R4_VERDICT_NONE && isnan(kept.lost) && isnan(kept.changed));
  }
  r4_outcome end = train("bare", "bare.npz", SET("method=erm"));
  assert_true(end.verdict == R4_VERDICT_NONE && end.val_kind == R4_VAL_PLAIN);
  assert_string_equal(said, ""); /* there is no shortcut to speak of */
}

/* ---- The file ---- */

static bool stop_at_once(const r4_progress *p, void *user)
{
  (void)p;
  (void)user;
  return false;
}

/* What was found out about a model that is gone goes with it. */
static void an_outcome_goes_with_its_model(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_outcome end;
  char outcome[600];
  snprintf(outcome, sizeof outcome, "%s/stale/outcome.json", scratch_folder());
  for (int longer = 0; longer < 2; longer++) {
    const char *const *more = longer ? SET("method=erm", "epochs=11") : SET("method=erm");
    const r4_train_options o = {.force = !longer, .resume = longer, .report = stop_at_once};
    r4_train_options whole = {.force = true};
    if (try("stale", "patch.npz", SET("method=erm"), whole, &end, &e)) fail_msg("%s", e.text);
    assert_true(file_exists(outcome));
    if (try("stale", "patch.npz", more, o, &end, &e)) fail_msg("%s", e.text);
    assert_true(end.stopped);
    assert_false(file_exists(outcome));
    assert_int_equal(r4_outcome_read(path_of("stale"), &end, &e), R4_E_IO);
  }
}

/* A run that is taken up again says the same, to the bit. */
static bool stop_after_30(const r4_progress *p, void *user)
{
  (void)user;
  return p->epoch * p->batches + p->batch < 30;
}

static void resumed_runs_say_the_same(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_outcome straight = train("straight", "patch.npz", SET("lambda=1")), end;
  if (try("broken", "patch.npz", SET("lambda=1"), (r4_train_options){.report = stop_after_30}, &end, &e))
    fail_msg("%s", e.text);
  assert_true(end.stopped);
  if (try("broken", "patch.npz", SET("lambda=1"), (r4_train_options){.resume = true}, &end, &e))
    fail_msg("%s", e.text);
  assert_true(end.penalised == straight.penalised && end.steps == straight.steps &&
              end.lost == straight.lost);
  uint8_t *a = NULL, *b = NULL;
  size_t n = 0, m = 0;
  assert_int_equal(file_read(path_of("straight/outcome.json"), 1 << 16, &a, &n, NULL), R4_OK);
  assert_int_equal(file_read(path_of("broken/outcome.json"), 1 << 16, &b, &m, NULL), R4_OK);
  assert_true(n == m && !memcmp(a, b, n));
  r4_mem_free(a);
  r4_mem_free(b);
}

/* ---- The epoch that is kept ---- */

/* A small patch is learned late: accuracy as it is goes on rising, and that after the exchange falls. */
static void the_epoch_is_kept_by_the_exchanged_score(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_run_validation v;
  uint8_t *log = NULL;
  size_t n = 0;
  double best = -1;
  long epoch = 0, kept = 0;
  train("select", "slow.npz", SET("method=erm", "select=worst", "epochs=30"));
  assert_int_equal(r4_run_validation_read(path_of("select"), &v, &e), R4_OK);
  assert_int_equal(file_read(path_of("select/log.jsonl"), 1 << 20, &log, &n, NULL), R4_OK);
  for (char *line = (char *)log, *end; (end = memchr(line, '\n', n - (size_t)(line - (char *)log)));
       line = end + 1) {
    struct js *root = NULL;
    double score = 0;
    if (js_parse("log", line, (size_t)(end - line), &root, &e)) fail_msg("%s", e.text);
    const struct js *val = js_get(root, "val");
    epoch++;
    assert_true(js_number(js_get(val, "score"), &score));
    assert_string_equal(js_text(js_get(val, "of")), "exchanged");
    if (score > best) best = score, kept = epoch;
    js_free(root);
  }
  assert_int_equal(epoch, 30);
  assert_int_equal(v.epoch, kept);
  assert_true(v.score == best && kept < 30);
  r4_mem_free(log);
}

static void choosing_by_the_shortcut_is_refused(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_outcome end;
  r4_status s = try("refused", "few.npz", SET("method=erm", "select=worst"), (r4_train_options){0}, &end, &e);
  assert_error(&e, s, "select is worst, but validation contains the shortcut");
  s =
    try("refused", "few.npz", SET("method=erm"), (r4_train_options){.chosen_by = "somebody picks"}, &end, &e);
  assert_error(&e, s, "somebody picks, but validation contains the shortcut");
  s = try("refused", "few.npz", SET("method=erm", "select=worst", "data.val_fill=swap"),
          (r4_train_options){0}, &end, &e);
  assert_int_equal(s, R4_OK);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(words_have_limits),
    cmocka_unit_test(a_swap_may_hide_it),
    cmocka_unit_test(a_collapsed_net_hides_nothing),
    cmocka_unit_test(a_net_that_reads_the_patch_uses_it),
    cmocka_unit_test(a_net_that_cannot_see_it_does_not),
    cmocka_unit_test(a_net_that_is_thrown_off_reacts),
    cmocka_unit_test(a_loss_with_another_cause_is_no_shortcut),
    cmocka_unit_test(masks_on_one_class_measure_no_other),
    cmocka_unit_test(a_method_keeps_the_patch_out),
    cmocka_unit_test(a_penalty_that_never_counted_is_told),
    cmocka_unit_test(why_it_is_not_known_is_told),
    cmocka_unit_test(an_outcome_goes_with_its_model),
    cmocka_unit_test(resumed_runs_say_the_same),
    cmocka_unit_test(the_epoch_is_kept_by_the_exchanged_score),
    cmocka_unit_test(choosing_by_the_shortcut_is_refused),
  };
  return cmocka_run_group_tests(tests, make, scratch_remove);
}
