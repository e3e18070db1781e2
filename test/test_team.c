/* Runs that several processes make together: the same bits as one, for any number of them. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/team_talk.h"
#include "exec/kernel/kernel.h"
#include "forked_team.h"
#include "objective_case.h"
#include "r4_tools.h"
#include "scratch.h"
#include "decoy_text_case.h"
#include "train/shard_sum.h"
#include "train/sharded.h"
#include "train_case.h"

enum { TOO_MANY_ASKED = 99, OUT_OF_STEP = 98, TOO_LONG = 120 };

/* ---- Sums ---- */

enum { GRADIENT = 40000, TOTAL = GRADIENT + 77 };

struct summing {
  int shards;
  bool settles; /* bit by bit */
  size_t early; /* messages that were begun before the last shard was done */
  size_t *messages;
};

/* Numbers whose sum depends on the order of the additions. */
static float term(size_t shard, size_t i)
{
  return (float)((int)(shard * 7919 + i * 104729) % 1000 - 500) * (shard % 3 ? 1e-3f : 1.0f);
}

static void fill_shard(size_t shard, float *to, struct shard_sum *settles, void *user)
{
  struct summing *w = user;
  for (size_t i = GRADIENT; i < TOTAL; i++) to[i] = term(shard, i);
  for (size_t from = GRADIENT; from > 0;) {
    size_t to_here = from;
    from -= from < 999 ? from : 999;
    for (size_t i = from; i < to_here; i++) to[i] = term(shard, i);
    if (settles && w->settles) shard_sum_settle(settles, from);
    if (from > GRADIENT / 2 && settles && w->messages) w->early = *w->messages;
  }
}

static float tree(size_t from, size_t to, size_t i)
{
  size_t k = 1;
  if (to - from == 1) return term(from, i);
  while (2 * k < to - from) k *= 2;
  return tree(from, from + k, i) + tree(from + k, to, i);
}

static int add_shards(const r4_team *t, void *user)
{
  struct summing *w = user;
  r4_error e = {0};
  struct shard_sum *s = shard_sum_new((size_t)w->shards, t, &e);
  w->messages = t ? forked_messages(t) : NULL;
  if (!s || shard_sum_size(s, GRADIENT, TOTAL, &e)) return 90;
  for (int run = 0; run < 2; run++) {
    if (w->messages) *w->messages = 0;
    if (shard_sum_run(s, fill_shard, w, &e)) return 91;
    if (w->messages && w->settles != (w->early > 0)) return 92;
    for (size_t i = 0; i < TOTAL; i += 11)
      if (shard_sum_whole(s)[i] != tree(0, (size_t)w->shards, i)) return 93;
  }
  shard_sum_free(s);
  return 0;
}

/* The same additions in the same order, for any number of processes; what is final is sent before the rest is there. */
static void sums_are_those_of_the_tree(void **state)
{
  (void)state;
  const int shards[] = {2, 3, 7, 8, 13};
  for (size_t k = 0; k < sizeof shards / sizeof *shards; k++)
    for (int ranks = 1; ranks <= RANKS && ranks <= shards[k]; ranks++)
      for (int settles = 0; settles < 2; settles++) {
        struct summing w = {.shards = shards[k], .settles = settles};
        int code[RANKS];
        together(ranks, add_shards, &w, code);
        for (int r = 0; r < ranks; r++)
          if (code[r]) fail_msg("%d shards, %d processes: process %d: %d", shards[k], ranks, r, code[r]);
      }
}

/* ---- Runs ---- */

struct order {
  const char *const *settings;
  const char *run;
  bool resume;
  int steps;     /* stop after so many; 0: none */
  int stopper;   /* the process that stops, or is killed */
  bool kill;     /* instead of stopping */
  int different; /* the process that has another setting; 0: none */
  size_t most_asked; /* validation examples that a process may be asked about; 0: any number */
  long short_at;     /* the allocation that fails in process 1; 0: none */
  bool hides[2];     /* process 0 or 1 has a CPU without bfloat16 */
  int taken;
};

static void was_asked(size_t examples, void *user)
{
  *(size_t *)user += examples;
}

static bool count(const r4_progress *p, void *user)
{
  (void)p;
  struct order *o = user;
  if (++o->taken != o->steps) return true;
  if (o->kill) raise(SIGKILL);
  return false;
}

static bool go_on(const r4_progress *p, void *user)
{
  (void)p, (void)user;
  return true;
}

static int train(const r4_team *t, void *user)
{
  struct order o = *(struct order *)user;
  int rank = t ? t->rank : 0;
  const char *more[16] = {NULL};
  size_t n = 0;
  for (; o.settings[n]; n++) more[n] = o.settings[n];
  if (o.different && rank == o.different) more[n] = "rate=0.5";
  r4_settings *s = train_settings(more);
  const r4_train_options options = {.folder = train_path(o.run, ""),
                                    .resume = o.resume,
                                    .force = o.short_at,
                                    .report = o.steps && rank == o.stopper ? count : go_on,
                                    .user = &o,
                                    .team = t};
  r4_error e = {0};
  size_t asked = 0;
  r4_watch_asking(was_asked, &asked);
  dnn_hide_bf16(rank < 2 && o.hides[rank]);
  alarm(TOO_LONG); /* nobody waits for ever */
  r4_mem_fail_at(rank == 1 ? o.short_at : 0);
  r4_status status = r4_train(s, &options, NULL, &e);
  r4_mem_fail_at(0);
  r4_watch_asking(NULL, NULL);
  r4_settings_free(s);
  int worst = (int)status; /* as the command does: nobody may wait for something else by then */
  if (t && status != R4_E_IO && team_most(t, &worst, NULL)) return OUT_OF_STEP;
  return o.most_asked && asked > o.most_asked ? TOO_MANY_ASKED : (int)status;
}

static void all_end(int ranks, const struct order *o, int expected)
{
  int code[RANKS];
  struct order copy = *o;
  together(ranks, train, &copy, code);
  for (int k = 0; k < ranks; k++)
    if (code[k] != expected)
      fail_msg("%s, %d processes: process %d ended with %d", o->run, ranks, k, code[k]);
}

#define SETTINGS(...) ((const char *const[]){"shards=8", __VA_ARGS__, NULL})

static void same_bits_for_any_number(void **state)
{
  (void)state;
  const struct {
    const char *name;
    const char *const *settings;
  } cell[] = {
    {"erm", SETTINGS("method=erm")},
    {"r3", SETTINGS("method=r3")},
    {"rand", SETTINGS("method=rand-r4")},
    {"adv", SETTINGS("method=adv-r4", "attack.steps=2")},
    {"cert", SETTINGS("method=cert-r4")},
    {"pairing", SETTINGS("method=pairing")},
    {"sum", SETTINGS("method=cert-r4+pairing")},
    {"dro", SETTINGS("method=group-dro")},
    {"norm", SETTINGS("method=r3", "net=conv 4 3 p1, batchnorm, relu, conv 4 3 p1, batchnorm, relu, maxpool 4, "
                                   "flatten, dense 10")},
    {"dropout", SETTINGS("method=r3", "net=dense 16, relu, dropout 0.5, dense 10")},
  };
  for (size_t k = 0; k < sizeof cell / sizeof *cell; k++) {
    char one[64], many[64];
    snprintf(one, sizeof one, "%s-1", cell[k].name);
    all_end(1, &(struct order){.settings = cell[k].settings, .run = one}, R4_OK);
    for (int ranks = 2; ranks <= RANKS; ranks += ranks < 3 ? 1 : ranks < 5 ? 2 : 3) { /* 2, 3, 5, 8 */
      snprintf(many, sizeof many, "%s-%d", cell[k].name, ranks);
      all_end(ranks, &(struct order){.settings = cell[k].settings, .run = many}, R4_OK);
      char model[300];
      snprintf(model, sizeof model, "%s", train_path(one, "model.safetensors"));
      assert_same_file(model, train_path(many, "model.safetensors"));
    }
  }
}

/* Noise with a grey level that says the class, and a masked corner that says it too. */
static void save_photos(const char *path)
{
  enum { N = 240, SIDE = 32, CORNER = 8 };
  static float x[N][SIDE][SIDE], m[N][SIDE][SIDE];
  int32_t labels[N];
  for (size_t i = 0; i < N; i++) {
    labels[i] = (int32_t)(i % 3);
    for (size_t k = 0; k < SIDE * SIDE; k++) {
      bool masked = k / SIDE < CORNER && k % SIDE < CORNER;
      float noise = (float)r4_random_uniform((r4_random){7, 1, (uint32_t)i}, (uint32_t)k);
      m[i][k / SIDE][k % SIDE] = masked && i % 2;
      x[i][k / SIDE][k % SIDE] = masked ? 0.5f * (float)labels[i] : 0.2f * (float)labels[i] + 0.4f * noise;
    }
  }
  r4_error e = {0};
  r4_data *d = r4_data_new(&(r4_data_arrays){.n = N,
                                             .shape = R4_SHAPE(SIDE, SIDE, 1),
                                             .floats = &x[0][0][0],
                                             .labels = labels,
                                             .mask_floats = &m[0][0][0],
                                             .mask_means = R4_MASKS_IRRELEVANT},
                           &e);
  if (!d || r4_data_save(d, path, &e)) fail_msg("%s", e.text);
  r4_data_free(d);
}

/* Nets of a size that this is for, in small: separable convolutions with batch norm of each shard, frozen batch norm,
 * attention with dropout; then killed, and gone on with by fewer. */
static void large_nets_have_the_same_bits(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_data *d = decoy_text_case(false);
  assert_int_equal(r4_data_save(d, scratch_path("texts.npz"), &e), R4_OK);
  r4_data_free(d);
  save_photos(scratch_path("photos.npz"));
  char texts[320], photos[320];
  snprintf(photos, sizeof photos, "data=%s", scratch_path("photos.npz"));
  snprintf(texts, sizeof texts, "data=%s", scratch_path("texts.npz"));
#define PHOTOS \
  photos, "data.from=", "data.mask_means=irrelevant", "epochs=2", "batch=48", "net=efficientnet-lite0(classes=3)"
#define TEXTS \
  texts, "data.from=", "data.mask_means=irrelevant", "epochs=2", \
    "net=bert(layers=2,width=8,heads=2,inner=16,words=16,positions=8)", "batch=48"
  const struct {
    const char *name;
    const char *const *settings;
  } cell[] = {
    {"photos-erm", SETTINGS(PHOTOS, "method=erm")},
    {"photos-r3", SETTINGS(PHOTOS, "method=r3", "frozen_statistics=true")},
    {"texts-erm", SETTINGS(TEXTS, "method=erm")},
    {"texts-r3", SETTINGS(TEXTS, "method=r3")},
    {"texts-pairing", SETTINGS(TEXTS, "method=pairing")},
  };
  for (size_t k = 0; k < sizeof cell / sizeof *cell; k++) {
    char run[32], model[300];
    snprintf(run, sizeof run, "%s-1", cell[k].name);
    all_end(1, &(struct order){.settings = cell[k].settings, .run = run}, R4_OK);
    snprintf(model, sizeof model, "%s", train_path(run, "model.safetensors"));
    for (int ranks = 2; ranks <= RANKS; ranks *= 2) {
      snprintf(run, sizeof run, "%s-%d", cell[k].name, ranks);
      all_end(ranks, &(struct order){.settings = cell[k].settings, .run = run}, R4_OK);
      assert_same_file(model, train_path(run, "model.safetensors"));
    }
    int code[RANKS];
    snprintf(run, sizeof run, "%s-killed", cell[k].name);
    struct order o = {.settings = cell[k].settings, .run = run, .steps = 6, .stopper = 3, .kill = true};
    together(4, train, &o, code);
    assert_int_equal(code[3], 128 + SIGKILL);
    assert_true(file_exists(train_path(run, "checkpoint")));
    all_end(2, &(struct order){.settings = cell[k].settings, .run = run, .resume = true}, R4_OK);
    assert_same_file(model, train_path(run, "model.safetensors"));
  }
}

/* 225 validation examples and what is exchanged of them, after each of three epochs and for the verdict, in 8 batches
 * of each: every process asks about its own, and all have the same figures. */
static void validation_is_shared_out(void **state)
{
  (void)state;
  const char *const *settings = SETTINGS("method=r3", "select=worst", "epochs=3");
  size_t all = 0;
  struct order one = {.settings = settings, .run = "asks-1"};
  r4_watch_asking(was_asked, &all);
  r4_settings *s = train_settings(settings);
  r4_error e = {0};
  r4_train_options options = {.folder = train_path(one.run, "")};
  assert_int_equal(r4_train(s, &options, NULL, &e), R4_OK);
  r4_settings_free(s);
  r4_watch_asking(NULL, NULL);
  assert_true(all > 4 * 225);
  for (int ranks = 2; ranks <= RANKS; ranks *= 2) {
    char run[32], outcome[300];
    snprintf(run, sizeof run, "asks-%d", ranks);
    struct order many = {.settings = settings, .run = run, .most_asked = all / (size_t)ranks + 64};
    all_end(ranks, &many, R4_OK);
    snprintf(outcome, sizeof outcome, "%s", train_path("asks-1", "outcome.json"));
    assert_same_file(outcome, train_path(run, "outcome.json"));
    snprintf(outcome, sizeof outcome, "%s", train_path("asks-1", "model.safetensors"));
    assert_same_file(outcome, train_path(run, "model.safetensors"));
  }
}

/* The weights of a run after one epoch, by plain steps along the gradient. */
static r4_model *stepped(const char *const *more, const char *shards, const char *run)
{
  const char *all[16] = {"optimizer=sgd", "epochs=1", "rate=0.05", "eps.ramp=0", "penalty.cap=false", shards};
  for (size_t n = 6, k = 0; more[k]; k++) all[n++] = more[k];
  train_or_fail(all, run, false);
  r4_error e = {0};
  r4_model *m = r4_model_open(train_path(run, "model.safetensors"), NULL, &e);
  if (!m) fail_msg("%s", e.text);
  return m;
}

/* The sum over shards is the gradient of the batch: masks on some examples, means over these or over all. */
static void shards_add_up_to_the_batch(void **state)
{
  (void)state;
  const char *const *cell[] = {
    SETTINGS("method=erm"),
    SETTINGS("method=erm", "class_weights=1,2,3,1,1,1,1,1,1,4", "weight_penalty=0.01"),
    SETTINGS("method=r3", "lambda=3", "data.keep_masks=0.3"),
    SETTINGS("method=r3", "lambda=3", "data.keep_masks=0.3", "penalty.mean=all"),
    SETTINGS("method=cert-r4", "data.keep_masks=0.3", "penalty.after=0"),
    SETTINGS("method=ibp-ex", "data.keep_masks=0.3", "penalty.after=0"),
    SETTINGS("method=pairing", "data.keep_masks=0.3"),
    SETTINGS("method=cert-r4+pairing", "data.keep_masks=0.3", "penalty.after=0"),
    SETTINGS("method=group-dro"),
  };
  for (size_t k = 0; k < sizeof cell / sizeof *cell; k++) {
    char run[2][32];
    for (int c = 0; c < 2; c++) snprintf(run[c], sizeof run[c], "sum-%zu-%d", k, c);
    r4_model *whole = stepped(cell[k] + 1, "shards=1", run[0]),
             *cut = stepped(cell[k] + 1, "shards=7", run[1]);
    size_t n = r4_net_size(r4_model_net(whole));
    double far = 0, moved = 0;
    for (size_t i = 0; i < n; i++) {
      double a = r4_model_weights(whole)[i], b = r4_model_weights(cut)[i];
      far = fmax(far, fabs(a - b));
      moved = fmax(moved, fabs(a));
    }
    if (!(far <= 2e-5 * moved))
      fail_msg("%s, %s: weights up to %g are %g apart", cell[k][1], cell[k][2], moved, far);
    r4_model_free(whole);
    r4_model_free(cut);
  }
}

static void assert_same_weights(const char *a, const char *b)
{
  r4_error e = {0};
  r4_model *x = r4_model_open(a, NULL, &e), *y = r4_model_open(b, NULL, &e);
  if (!x || !y) fail_msg("%s", e.text);
  assert_memory_equal(r4_model_weights(x), r4_model_weights(y),
                      r4_net_size(r4_model_net(x)) * sizeof *r4_model_weights(x));
  r4_model_free(x);
  r4_model_free(y);
}

/* Any process may stop it, and any number go on with it. */
static void stopped_runs_go_on_with_others(void **state)
{
  (void)state;
  const char *const *settings = SETTINGS("method=r3");
  all_end(1, &(struct order){.settings = settings, .run = "whole"}, R4_OK);
  char whole[300];
  snprintf(whole, sizeof whole, "%s", train_path("whole", "model.safetensors"));
  for (int stopper = 0; stopper < 4; stopper += 3) {
    char run[32];
    snprintf(run, sizeof run, "stopped-%d", stopper);
    all_end(4, &(struct order){.settings = settings, .run = run, .steps = 7, .stopper = stopper}, R4_OK);
    assert_false(file_exists(train_path(run, "model.safetensors")));
    all_end(2, &(struct order){.settings = settings, .run = run, .resume = true, .steps = 9}, R4_OK);
    all_end(3, &(struct order){.settings = settings, .run = run, .resume = true}, R4_OK);
    assert_same_file(whole, train_path(run, "model.safetensors"));
  }
}

/* A process that is killed ends the others; its last checkpoint is good for fewer. */
static void a_killed_process_ends_all(void **state)
{
  (void)state;
  const char *const *settings = SETTINGS("method=r3");
  int code[RANKS];
  struct order o = {.settings = settings, .run = "killed", .steps = 20, .stopper = 2, .kill = true};
  together(4, train, &o, code);
  for (int k = 0; k < 4; k++) assert_int_equal(code[k], k == 2 ? 128 + SIGKILL : R4_E_IO);
  assert_true(file_exists(train_path("killed", "checkpoint")));
  all_end(2, &(struct order){.settings = settings, .run = "killed", .resume = true}, R4_OK);
  all_end(1, &(struct order){.settings = settings, .run = "unhurt"}, R4_OK);
  char model[300];
  snprintf(model, sizeof model, "%s", train_path("unhurt", "model.safetensors"));
  assert_same_file(model, train_path("killed", "model.safetensors"));
}

/* Who differs has the sentence, all others know that somebody has; nobody waits. */
static void differences_are_refused(void **state)
{
  (void)state;
  int code[RANKS];
  struct order o = {.settings = SETTINGS("method=r3"), .run = "different", .different = 2};
  together(3, train, &o, code);
  assert_int_equal(code[2], R4_E_ARGUMENT);
  assert_int_equal(code[0], R4_E_TEAM);
  assert_int_equal(code[1], R4_E_TEAM);
  assert_false(file_exists(train_path("different", "checkpoint")));
  struct order few = {.settings = (const char *const[]){"method=r3", "shards=2", NULL}, .run = "few"};
  all_end(3, &few, R4_E_ARGUMENT);
}

/* A loss that is not finite is known by the process that computed it. */
static void failures_reach_all(void **state)
{
  (void)state;
  int code[RANKS], own = 0;
  struct order o = {.settings = SETTINGS("method=erm", "rate=1e30", "optimizer=sgd"), .run = "diverges"};
  together(4, train, &o, code);
  for (int k = 0; k < 4; k++) {
    own += code[k] == R4_E_DOMAIN;
    if (code[k] != R4_E_DOMAIN && code[k] != R4_E_TEAM) fail_msg("process %d ended with %d", k, code[k]);
  }
  assert_true(own >= 1);
}

/* Allocations of a process that opens a run, and is about to take its first step. */
static long allocations(const char *const *settings)
{
  r4_error e = {0};
  r4_settings *s = train_settings(settings);
  r4_mem_fail_at(0);
  r4_trainer *t = r4_trainer_new(s, NULL, &e);
  long n = r4_mem_count();
  if (!t) fail_msg("%s", e.text);
  r4_trainer_free(t);
  r4_settings_free(s);
  return n;
}

/* Whatever a process lacks room for between opening its run and its first step, nobody waits for it. What it can do
 * without is no failure. */
static void who_lacks_memory_ends_all(void **state)
{
  (void)state;
  enum { BEFORE = 60, AFTER = 40 };
  const char *const *settings = SETTINGS("method=erm", "epochs=1");
  long n = allocations(settings), failed = 0;
  for (long at = n - BEFORE; at < n + AFTER; at++) {
    int code[RANKS];
    struct order o = {.settings = settings, .run = "short", .short_at = at};
    together(2, train, &o, code);
    bool both_fail = code[1] == R4_E_MEMORY && code[0] == R4_E_TEAM;
    failed += both_fail;
    if (!both_fail && (code[0] || code[1]))
      fail_msg("allocation %ld of %ld: processes ended with %d and %d", at, n, code[0], code[1]);
  }
  assert_true(failed > BEFORE);
}

/* Products of all are what those of process 0 are. */
static void all_have_one_precision(void **state)
{
  (void)state;
  if (r4_bf16_missing()) check_skip("%s", r4_bf16_missing());
#define WIDE "method=r3", "epochs=1", "net=dense 128, relu, dense 10"
  const char *const *by_auto = SETTINGS(WIDE, "precision=auto"), *const *in_float = SETTINGS(WIDE);
  char model[300];
  int code[RANKS];
  all_end(1, &(struct order){.settings = by_auto, .run = "half-1"}, R4_OK);
  snprintf(model, sizeof model, "%s", train_path("half-1", "model.safetensors"));
  all_end(4, &(struct order){.settings = by_auto, .run = "half-4"}, R4_OK);
  assert_same_file(model, train_path("half-4", "model.safetensors"));
  all_end(1, &(struct order){.settings = in_float, .run = "float-1"}, R4_OK);
  snprintf(model, sizeof model, "%s", train_path("float-1", "model.safetensors"));
  all_end(2, &(struct order){.settings = by_auto, .run = "hidden", .hides = {true, false}}, R4_OK);
  char other[300];
  snprintf(other, sizeof other, "%s", train_path("hidden", "model.safetensors"));
  assert_same_weights(model, other);
  struct order cannot = {.settings = by_auto, .run = "cannot", .hides = {false, true}};
  together(2, train, &cannot, code);
  assert_int_equal(code[1], R4_E_ARGUMENT);
  assert_int_equal(code[0], R4_E_TEAM);
}

static void what_is_no_sum_is_refused(void **state)
{
  (void)state;
  const char *const *bad[] = {SETTINGS("batch=4"), SETTINGS("method=r3", "delta=0.1"),
                              SETTINGS("method=r3", "guide=relu")};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
    all_end(1, &(struct order){.settings = bad[k], .run = "bad"}, R4_E_ARGUMENT);
}

/* Processes are forked: no thread may have run before. */
static int one_thread(void **state)
{
  r4_threads(1, false);
  return scratch_make(state);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(sums_are_those_of_the_tree),
    cmocka_unit_test(validation_is_shared_out),
    cmocka_unit_test(large_nets_have_the_same_bits),
    cmocka_unit_test(same_bits_for_any_number),       cmocka_unit_test(shards_add_up_to_the_batch),
    cmocka_unit_test(stopped_runs_go_on_with_others), cmocka_unit_test(a_killed_process_ends_all),
    cmocka_unit_test(differences_are_refused),        cmocka_unit_test(failures_reach_all),
    cmocka_unit_test(who_lacks_memory_ends_all),      cmocka_unit_test(all_have_one_precision),
    cmocka_unit_test(what_is_no_sum_is_refused),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests(tests, one_thread, scratch_remove);
}
