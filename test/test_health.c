/* Nets that die in training: noticed, said, brought back. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "check.h"
#include "scratch.h"
#include "settings_case.h"

enum { MOST = 4096 };

/* All notices of a run, one after the other. */
static void collect(const char *sentence, void *user)
{
  char *all = user;
  size_t n = strlen(all);
  snprintf(all + n, MOST - n, "%s\n", sentence);
}

/* Decoy digits, 12 steps an epoch. */
static r4_outcome train(const char *run, const char *const *more, char *notices)
{
  static const char *const common[] = {"data=decoy-mnist",
                                       "data.from=digits:1200",
                                       "data.val=0.25",
                                       "eps=0.3",
                                       "net=dense 16, relu, dense 10",
                                       "batch=80",
                                       "rate=0.01",
                                       NULL};
  char folder[512];
  r4_error e = {0};
  r4_outcome end;
  r4_settings *s = settings_case_with(common, more);
  snprintf(folder, sizeof folder, "%s/%s", scratch_folder(), run);
  *notices = 0;
  r4_train_options o = {.folder = folder, .notice = collect, .user = notices};
  if (r4_train(s, &o, &end, &e)) fail_msg("%s: %s", run, e.text);
  r4_settings_free(s);
  return end;
}

static void assert_logged(const char *run, const char *text)
{
  char path[512];
  uint8_t *log = NULL;
  size_t n = 0;
  snprintf(path, sizeof path, "%s/%s/log.jsonl", scratch_folder(), run);
  assert_int_equal(file_read(path, 1 << 20, &log, &n, NULL), R4_OK);
  if (!memmem(log, n, text, strlen(text))) fail_msg("%s is not in the log: %.*s", text, (int)n, (char *)log);
  r4_mem_free(log);
}

/* The text is in all lines of the log before this one, and not in this one. */
static void assert_first_without(const char *run, int line, const char *text)
{
  char path[512];
  uint8_t *log = NULL;
  size_t n = 0;
  snprintf(path, sizeof path, "%s/%s/log.jsonl", scratch_folder(), run);
  assert_int_equal(file_read(path, 1 << 20, &log, &n, NULL), R4_OK);
  const char *at = (char *)log, *end = at + n;
  for (int k = 1; k <= line; k++) {
    const char *next = memchr(at, '\n', (size_t)(end - at));
    assert_non_null(next);
    bool there = memmem(at, (size_t)(next - at), text, strlen(text));
    if (there != (k < line)) fail_msg("line %d of %s: %.*s", k, run, (int)(next - at), at);
    at = next + 1;
  }
  r4_mem_free(log);
}

static void a_living_net_is_left_alone(void **state)
{
  (void)state;
  char notices[MOST];
  const char *const set[] = {"method=r3", "lambda=0.1", "epochs=8", NULL};
  r4_outcome end = train("alive", set, notices);
  assert_int_equal(end.only, -1);
  assert_null(strstr(notices, "epoch"));
  assert_true(end.penalised > 0 && end.penalised < end.steps); /* the guard waits at first */
}

/* A lambda of a million: the net gives one answer, whatever is tried. */
static void a_dead_net_is_said_to_be_dead(void **state)
{
  (void)state;
  char notices[MOST];
  const char *const set[] = {"method=cert-r4",  "lambda=1e6", "penalty.cap=false",
                             "penalty.after=0", "epochs=14",  NULL};
  r4_outcome end = train("dead", set, notices);
  assert_true(end.only >= 0 && end.only < 10);
  if (!strstr(notices, "the net collapsed to")) fail_msg("%s", notices);
  if (!strstr(notices, "times the loss of the data")) fail_msg("%s", notices);
  assert_logged("dead", "\"answers_only\":\"");
  assert_logged("dead", "\"revivals\":");
}

/* Weights that are held at 0 without any mask: said as well, but there is no lambda to lower. */
static void a_net_can_die_without_a_penalty(void **state)
{
  (void)state;
  char notices[MOST];
  const char *const set[] = {"method=erm", "weight_penalty=1e3", "epochs=10", NULL};
  r4_outcome end = train("flat", set, notices);
  assert_true(end.only >= 0);
  if (!strstr(notices, "the net predicts only")) fail_msg("%s", notices);
  assert_null(strstr(notices, "continues from"));
}

/* The guard holds the penalty back, so that it is not to blame: going back would take what was learned on the way. */
static void a_penalty_that_waits_is_not_blamed(void **state)
{
  (void)state;
  char notices[MOST];
  const char *const set[] = {"method=r3", "weight_penalty=1e3", "epochs=10", NULL};
  r4_outcome end = train("waits", set, notices);
  assert_true(end.only >= 0 && !end.penalised);
  if (!strstr(notices, "the net predicts only")) fail_msg("%s", notices);
  if (strstr(notices, "continues from")) fail_msg("%s", notices);
}

/* Too large a lambda kills at first; with a part of it the net lives. */
static void a_dead_net_is_brought_back(void **state)
{
  (void)state;
  char notices[MOST];
  const char *const set[] = {"method=cert-r4",  "lambda=30", "penalty.cap=false",
                             "penalty.after=0", "epochs=30", NULL};
  r4_outcome end = train("back", set, notices);
  if (!strstr(notices, "half the lambda")) fail_msg("it did not die: %s", notices);
  if (end.only != -1) fail_msg("it stayed dead: %s", notices);
  assert_logged("back", "\"lambda\":15,"); /* half of it, as the notice says */
}

/* The same lambda, but the net is let learn first. */
static void a_guarded_net_lives(void **state)
{
  (void)state;
  char notices[MOST];
  const char *const set[] = {"method=cert-r4", "lambda=1e6", "epochs=14", NULL};
  r4_outcome end = train("guarded", set, notices);
  assert_int_equal(end.only, -1);
  assert_null(strstr(notices, "\nepoch")); /* no sentence about one */
  assert_true(end.penalised > 0 && end.penalised < end.steps); /* the guard waits at first */
}

/* Weights that are held at 0 learn nothing: a penalty that never comes in is said not to. */
static void a_net_that_guesses_is_not_penalised(void **state)
{
  (void)state;
  char notices[MOST];
  const char *const set[] = {"method=r3", "weight_penalty=1e3", "epochs=3", NULL};
  train("guessing", set, notices);
  if (!strstr(notices, "so the penalty waits (penalty.cap)")) fail_msg("%s", notices);
  assert_logged("guessing", "\"lambda\":0,");
  const char *const head[] = {"method=r3",   "weight_penalty=1e3", "epochs=3",
                              "from.head=*", "from.head_epochs=2", "net=a: dense 16, relu, b: dense 10",
                              NULL};
  train("head", head, notices); /* no advice while only the head learns */
  if (!strstr(notices, "epoch 3: the net has learned little so far")) fail_msg("%s", notices);
}

/* Cert-R4 on filled examples learns for a quarter of the run before the penalty begins; not the shortcut. */
static void a_certified_net_learns_first(void **state)
{
  (void)state;
  char notices[MOST];
  const char *const set[] = {"method=cert-r4", "epochs=4", NULL};
  const char *const at_once[] = {"method=cert-r4", "epochs=4", "fill=none", NULL};
  const char *const given[] = {"method=r3", "epochs=2", "penalty.after=1.5", NULL};
  train("first", set, notices);
  assert_first_without("first", 2, "\"penalty\":0,");
  assert_first_without("first", 2, "\"lambda\":0,");
  train("at-once", at_once, notices);
  assert_first_without("at-once", 1, "\"penalty\":0,");
  train("given", given, notices);
  assert_first_without("given", 2, "\"penalty\":0,");
}

/* Few masks and few looks: epochs in which no mask was met are said. */
static void a_lazy_penalty_may_miss_all_masks(void **state)
{
  (void)state;
  char notices[MOST];
  const char *const lazy[] = {
    "method=r3", "data.keep_masks=0.01", "penalty.every=12", "penalty.after=0", "epochs=4", NULL};
  const char *const eager[] = {"method=r3", "data.keep_masks=0.01", "epochs=4", NULL};
  const char *const many[] = {"method=r3", "penalty.every=12", "penalty.after=0", "epochs=2", NULL};
  train("lazy", lazy, notices);
  const char *said = strstr(notices, "the penalty had no effect");
  if (!said || !strstr(said, "examples have one, and penalty.every is 12")) fail_msg("%s", notices);
  assert_null(strstr(said + 1, "the penalty had no effect"));
  train("eager", eager, notices);
  assert_null(strstr(notices, "the penalty had no effect"));
  train("many", many, notices);
  assert_null(strstr(notices, "the penalty had no effect"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_living_net_is_left_alone),
    cmocka_unit_test(a_dead_net_is_said_to_be_dead),
    cmocka_unit_test(a_net_can_die_without_a_penalty),
    cmocka_unit_test(a_penalty_that_waits_is_not_blamed),
    cmocka_unit_test(a_dead_net_is_brought_back),
    cmocka_unit_test(a_guarded_net_lives),
    cmocka_unit_test(a_net_that_guesses_is_not_penalised),
    cmocka_unit_test(a_certified_net_learns_first),
    cmocka_unit_test(a_lazy_penalty_may_miss_all_masks),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("health", tests, scratch_make, scratch_remove);
}
