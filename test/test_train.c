/* Runs: what a person may do to one (stop it, kill it, fill the disk) and what must come of it. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "scratch.h"
#include "settings_case.h"

static const char *path_in(const char *run, const char *name)
{
  static char path[4][512];
  static int next;
  char *to = path[next++ % 4];
  snprintf(to, sizeof path[0], "%s/%s%s%s", scratch_folder(), run, *name ? "/" : "", name);
  return to;
}

/* A small run of decoy digits: 12 steps an epoch, with everything that a checkpoint must remember. */
static r4_settings *settings_with(const char *const *more)
{
  static const char *const common[] = {"data=decoy-mnist",
                                       "data.from=digits:1200",
                                       "data.val=0.25",
                                       "data.seed=3",
                                       "net=dense 16, relu, dense 10",
                                       "method=adv-r4",
                                       "lambda=0.5",
                                       "eps=0.3",
                                       "steps=2",
                                       "eps_ramp=1.5",
                                       "batch=80",
                                       "epochs=3",
                                       "rate=0.003",
                                       "schedule=cosine",
                                       "select=worst",
                                       NULL};
  return settings_case_with(common, more);
}

static bool stop_after(const r4_progress *p, void *steps)
{
  (void)p;
  return --*(int *)steps > 0;
}

static r4_status train(const char *const *more, const char *run, bool resume, int steps, bool *stopped,
                       r4_error *e)
{
  r4_settings *s = settings_with(more);
  r4_outcome end;
  r4_train_options o = {
    .folder = path_in(run, ""), .resume = resume, .report = steps ? stop_after : NULL, .user = &steps};
  r4_status status = r4_train(s, &o, &end, e);
  if (stopped) *stopped = end.stopped;
  r4_settings_free(s);
  return status;
}

static void train_or_fail(const char *const *more, const char *run, bool resume)
{
  r4_error e = {0};
  if (train(more, run, resume, 0, NULL, &e)) fail_msg("%s: %s", run, e.text);
}

static void assert_same_file(const char *a, const char *b)
{
  uint8_t *x = NULL, *y = NULL;
  size_t n = 0, m = 0;
  assert_int_equal(file_read(a, 1 << 26, &x, &n, NULL), R4_OK);
  assert_int_equal(file_read(b, 1 << 26, &y, &m, NULL), R4_OK);
  assert_int_equal(n, m);
  assert_memory_equal(x, y, n);
  r4_mem_free(x);
  r4_mem_free(y);
}

static void assert_same_model(const char *run)
{
  assert_same_file(path_in("whole", "model.safetensors"), path_in(run, "model.safetensors"));
}

/* The same lines, but for the seconds. */
static void assert_same_log(const char *run)
{
  FILE *a = fopen(path_in("whole", "log.jsonl"), "r"), *b = fopen(path_in(run, "log.jsonl"), "r");
  char x[4096], y[4096];
  int lines = 0;
  assert_true(a && b);
  for (; fgets(x, sizeof x, a); lines++) {
    assert_non_null(fgets(y, sizeof y, b));
    char *after_x = strstr(x, "\"loss\""), *after_y = strstr(y, "\"loss\"");
    assert_true(after_x && after_y);
    assert_string_equal(after_x, after_y);
  }
  assert_int_equal(lines, 3);
  assert_null(fgets(y, sizeof y, b));
  fclose(a);
  fclose(b);
}

static int whole_run(void **state)
{
  if (scratch_make(state)) return -1;
  r4_threads(1, false);
  train_or_fail(NULL, "whole", false);
  return 0;
}

static void a_run_leaves_its_files(void **state)
{
  (void)state;
  const char *const name[] = {"config.yaml", "manifest.json", "log.jsonl", "checkpoint", "model.safetensors"};
  for (size_t k = 0; k < 5; k++) assert_true(file_exists(path_in("whole", name[k])));
  r4_error e;
  r4_model *m = r4_model_load(path_in("whole", "model.safetensors"), NULL, &e);
  assert_non_null(m);
  assert_string_equal(r4_net_layers(r4_model_net(m)), "dense 16, relu, dense 10");
  assert_string_equal(r4_model_class_name(m, 7), "7");
  r4_model_free(m);
  r4_settings *s = r4_settings_new(), *t = settings_with(NULL);
  assert_int_equal(r4_settings_read(s, path_in("whole", "config.yaml"), &e), R4_OK);
  char *x = r4_settings_text(s), *y = r4_settings_text(t);
  assert_string_equal(x, y);
  r4_string_free(x);
  r4_string_free(y);
  r4_settings_free(s);
  r4_settings_free(t);
}

static void the_same_again_is_the_same(void **state)
{
  (void)state;
  train_or_fail(NULL, "again", false);
  assert_same_model("again");
  assert_same_log("again");
}

static void stopped_runs_resume_to_the_same_bits(void **state)
{
  (void)state;
  for (int first = 1; first <= 36; first += 5) {
    char run[32];
    bool stopped = false;
    r4_error e;
    snprintf(run, sizeof run, "stopped-%d", first);
    assert_int_equal(train(NULL, run, false, first, &stopped, &e), R4_OK);
    assert_true(stopped == (first < 36));
    if (stopped) assert_false(file_exists(path_in(run, "model.safetensors")));
    assert_int_equal(train(NULL, run, true, 3, &stopped, &e), R4_OK); /* a few more steps, and stop again */
    train_or_fail(NULL, run, true);
    assert_same_model(run);
    assert_same_log(run);
  }
}

/* A checkpoint after every step, and kill -9 at a random moment: often in the middle of writing one. */
static void killed_runs_resume_to_the_same_bits(void **state)
{
  (void)state;
  static const char *const often[] = {"checkpoint=1e-9", NULL};
  enum { KILLS = 20 };
  int unfinished = 0, during_write = 0;
  train_or_fail(often, "often", false);
  assert_same_model("often");
  for (int k = 0; k < KILLS; k++) {
    char run[32];
    snprintf(run, sizeof run, "killed-%d", k);
    pid_t child = fork();
    if (!child) {
      r4_error e = {0};
      _exit((int)train(often, run, false, 0, NULL, &e));
    }
    while (!file_exists(path_in(run, "checkpoint"))) usleep(200);
    usleep((useconds_t)(r4_random_uniform((r4_random){1, 2, 3}, (uint64_t)k) * 60000));
    kill(child, SIGKILL);
    int status;
    waitpid(child, &status, 0);
    unfinished += !file_exists(path_in(run, "model.safetensors"));
    char part[64];
    snprintf(part, sizeof part, "checkpoint.%ld.part", (long)child);
    during_write += file_exists(path_in(run, part));
    train_or_fail(often, run, true);
    assert_false(file_exists(path_in(run, part)));
    assert_same_model(run);
    assert_same_log(run);
  }
  print_message("# %d kills, %d before the end, %d while a checkpoint was written\n", KILLS, unfinished,
                during_write);
  assert_true(unfinished > 0);
}

/* The write of a checkpoint fails in the second epoch: an error, and the first one is still good. */
static void a_full_disk_loses_nothing(void **state)
{
  (void)state;
  r4_error e = {0};
  bool stopped = false;
  assert_int_equal(train(NULL, "full", false, 12, &stopped, &e), R4_OK);
  struct rlimit before, small = {.rlim_cur = 4096, .rlim_max = RLIM_INFINITY};
  getrlimit(RLIMIT_FSIZE, &before);
  small.rlim_max = before.rlim_max;
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  r4_status s = train(NULL, "full", true, 0, NULL, &e);
  setrlimit(RLIMIT_FSIZE, &before);
  assert_int_equal(s, R4_E_IO);
  assert_non_null(strstr(e.text, "full/checkpoint"));
  train_or_fail(NULL, "full", true);
  assert_same_model("full");
  assert_same_log("full");
}

static void a_damaged_checkpoint_is_refused(void **state)
{
  (void)state;
  bool stopped;
  r4_error e = {0};
  assert_int_equal(train(NULL, "damaged", false, 5, &stopped, &e), R4_OK);
  uint8_t *bytes = NULL;
  size_t n = 0;
  const char *path = path_in("damaged", "checkpoint");
  assert_int_equal(file_read(path, 1 << 26, &bytes, &n, &e), R4_OK);
  bytes[n / 2] ^= 4;
  assert_int_equal(file_write(path, bytes, n, &e), R4_OK);
  assert_int_not_equal(train(NULL, "damaged", true, 0, NULL, &e), R4_OK);
  assert_non_null(strstr(e.text, "damaged/checkpoint"));
  bytes[n / 2] ^= 4;
  assert_int_equal(file_write(path_in("damaged", "checkpoint"), bytes, n, &e), R4_OK);
  r4_mem_free(bytes);
  train_or_fail(NULL, "damaged", true);
  assert_same_model("damaged");
}

static void runs_are_not_mixed_up(void **state)
{
  (void)state;
  r4_error e = {0};
  assert_int_equal(train(NULL, "whole", false, 0, NULL, &e), R4_E_ARGUMENT);
  assert_non_null(strstr(e.text, "has a run already"));
  assert_int_equal(train((const char *const[]){"rate=0.004", NULL}, "whole", true, 0, NULL, &e),
                   R4_E_ARGUMENT);
  assert_non_null(strstr(e.text, "whole/checkpoint: rate was 0.003 and is 0.004 now: only epochs, patience"));
  assert_int_equal(train((const char *const[]){"data.seed=4", NULL}, "whole", true, 0, NULL, &e),
                   R4_E_ARGUMENT);
  assert_non_null(strstr(e.text, "data.seed was 3 and is 4 now"));
  assert_int_equal(file_write(path_in("a-file", ""), "x", 1, &e), R4_OK);
  assert_int_equal(train(NULL, "a-file/below", false, 0, NULL, &e), R4_E_IO);
  assert_non_null(strstr(e.text, "a-file"));
}

static bool has_text(const char *path, const char *text)
{
  uint8_t *data = NULL;
  size_t n = 0;
  assert_int_equal(file_read(path, 1 << 26, &data, &n, NULL), R4_OK);
  bool there = strstr((const char *)data, text);
  r4_mem_free(data);
  return there;
}

/* A finished run that goes on is the longer run, to the bit, and its folder says what happened. */
static void a_run_may_become_longer(void **state)
{
  (void)state;
  const char *const five[] = {"schedule=constant", "epochs=5", NULL};
  const char *const two[] = {"schedule=constant", "epochs=2", NULL};
  const char *const more[] = {"schedule=constant", "epochs=5", "checkpoint=7", "eval.eps=0.2", NULL};
  r4_error e = {0};
  bool stopped;
  train_or_fail(five, "five", false);
  train_or_fail(two, "grown", false);
  assert_int_equal(train(more, "grown", true, 15, &stopped, &e), R4_OK); /* stopped in the fourth epoch */
  assert_true(stopped);
  assert_false(file_exists(path_in("grown", "model.safetensors"))); /* it was of two epochs */
  assert_int_equal(train(two, "grown", true, 0, NULL, &e), R4_E_ARGUMENT);
  assert_non_null(strstr(e.text, "grown: epochs is 2 now, but 3 are done"));
  train_or_fail(more, "grown", true);
  assert_same_file(path_in("five", "model.safetensors"), path_in("grown", "model.safetensors"));
  assert_true(has_text(path_in("grown", "config.yaml"), "\nepochs: 5\n"));
  const char *const said[] = {"\"epoch\":2,\"step\":24,\"setting\":\"epochs\",\"from\":\"2\",\"to\":\"5\"}",
                              "\"setting\":\"checkpoint\",\"from\":\"300\",\"to\":\"7\"}",
                              "\"setting\":\"eval.eps\",\"from\":\"0.1\",\"to\":\"0.2\"}]}", "\"began\":"};
  for (size_t k = 0; k < 4; k++) assert_true(has_text(path_in("grown", "manifest.json"), said[k]));
  train_or_fail((const char *const[]){"schedule=constant", "epochs=5", "threads=1", NULL}, "grown", true);
  assert_same_file(path_in("five", "model.safetensors"), path_in("grown", "model.safetensors"));
  assert_true(has_text(path_in("grown", "manifest.json"), "\"to\":\"5\"},"));
  assert_true(
    has_text(path_in("grown", "manifest.json"), "\"setting\":\"threads\",\"from\":\"0\",\"to\":\"1\"}"));
}

static void what_depends_on_the_length_keeps_it(void **state)
{
  (void)state;
  r4_error e = {0};
  assert_int_equal(train((const char *const[]){"epochs=6", NULL}, "whole", true, 0, NULL, &e), R4_E_ARGUMENT);
  assert_non_null(
    strstr(e.text, "epochs was 3 and is 6 now, on which all steps depend with schedule cosine"));
  assert_true(file_exists(path_in("whole", "model.safetensors")));
  assert_true(has_text(path_in("whole", "config.yaml"), "\nepochs: 3\n"));
}

static void save_data(const char *path, uint64_t seed)
{
  r4_error e;
  r4_data *d = r4_data_make("decoy-mnist", &(r4_recipe_options){.from = "digits:600", .seed = seed}, &e);
  if (!d || r4_data_save(d, path, &e)) fail_msg("%s", e.text);
  r4_data_free(d);
}

static void data_must_stay_as_they_were(void **state)
{
  (void)state;
  char path[600], set[620];
  snprintf(path, sizeof path, "%s", path_in("data.npz", ""));
  snprintf(set, sizeof set, "data=%s", path);
  const char *const more[] = {set, "data.from=", "data.mask_means=irrelevant", NULL};
  bool stopped;
  r4_error e = {0};
  save_data(path, 1);
  if (train(more, "replaced", false, 3, &stopped, &e)) fail_msg("%s", e.text);
  save_data(path, 2);
  assert_error(&e, train(more, "replaced", true, 0, NULL, &e), "the data are not those it was trained with");
  save_data(path, 1);
  train_or_fail(more, "replaced", true);
}

static void a_run_in_use_is_left_alone(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_settings *s = settings_with((const char *const[]){"epochs=1", "eps_ramp=1", NULL});
  r4_train_options o = {.folder = path_in("in-use", "")};
  assert_int_equal(r4_train(s, &o, NULL, &e), R4_OK);
  r4_lock *l = r4_lock_take(o.folder, false, &e);
  assert_non_null(l);
  for (int k = 0; k < 3; k++) {
    o.resume = k == 1;
    o.force = k == 2;
    assert_error(&e, r4_train(s, &o, NULL, &e), "in-use: process ");
    assert_int_equal(e.status, R4_E_BUSY);
    assert_true(file_exists(path_in("in-use", "model.safetensors")));
  }
  r4_lock_free(l);
  assert_int_equal(r4_train(s, &o, NULL, &e), R4_OK);
  r4_settings_free(s);
}

static void a_loss_that_explodes_says_where(void **state)
{
  (void)state;
  r4_error e = {0};
  const char *const wild[] = {"rate=1e30", "optimizer=sgd", "schedule=constant", NULL};
  assert_int_equal(train(wild, "wild", false, 0, NULL, &e), R4_E_DOMAIN);
  assert_non_null(strstr(e.text, "step "));
  assert_non_null(strstr(e.text, "examples at fault"));
  assert_non_null(strstr(e.text, "checkpoint"));
}

static void settings_must_fit_the_data(void **state)
{
  (void)state;
  static const struct {
    const char *set, *says;
  } wrong[] = {{"net=dense 16, relu, dense 7", "7 outputs, the data 10 classes"},
               {"net=mlp100-10", "takes 100 features, the data has 784"},
               {"data=", "data is not set"},
               {"data=no-such-thing", "no-such-thing"},
               {"augment.crop=28", "augment.crop is 28, expected 0 to 27 for images of 28 x 28 pixels"},
               {"net=conv 4 30, flatten, dense 10", "conv 4 30"},
               {"eps_ramp=4", "eps_ramp (test) is 4, but epochs (test) is 3"}};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    r4_error e = {0};
    const char *const set[] = {wrong[k].set, NULL};
    assert_int_not_equal(train(set, "wrong", false, 0, NULL, &e), R4_OK);
    if (!strstr(e.text, wrong[k].says)) fail_msg("%s: %s", wrong[k].set, e.text);
  }
  r4_error e = {0};
  const char *const no_val[] = {"data.val=0", NULL};
  assert_int_equal(train(no_val, "wrong", false, 0, NULL, &e), R4_E_ARGUMENT);
  assert_non_null(strstr(e.text, "select is worst"));
}

/* Every kind of setting that changes a run really changes it. */
static void settings_matter(void **state)
{
  (void)state;
  static const char *const change[] = {"method=erm",
                                       "lambda=0.1",
                                       "eps=0.1",
                                       "steps=3",
                                       "eps_ramp=0",
                                       "batch=81",
                                       "rate=0.002",
                                       "schedule=constant",
                                       "seed=1",
                                       "init=kaiming",
                                       "fill=noise",
                                       "guard=true",
                                       "optimizer=sgd",
                                       "weight_decay=0.01",
                                       "weight_penalty=0.01",
                                       "class_weights=1,2,1,1,1,1,1,1,1,1",
                                       "norm=l1",
                                       "form=log",
                                       "explain=margin",
                                       "random_start=false",
                                       "range=0,1",
                                       "data.keep_masks=0.5",
                                       "data.keep=0.5",
                                       "data.corrupt=shift",
                                       "data.clean=true",
                                       "data.shades=ross",
                                       "double_softmax=true",
                                       "delta=0.01",
                                       "warmup=1",
                                       "lambda_ramp=1",
                                       "beta1=0.8",
                                       "beta2=0.99",
                                       "drop_last=true",
                                       "augment.flip=true",
                                       "augment.crop=1",
                                       "augment.brightness=0.2",
                                       "alpha=0.01"};
  for (size_t k = 0; k < sizeof change / sizeof *change; k++) {
    const char *const set[] = {"eps_ramp=0.75", "epochs=1", "guard=false", change[k],
                               !strncmp(change[k], "data.corrupt", 12) ? "data.correct=0.1" : NULL, NULL};
    const char *const plain[] = {"eps_ramp=0.75", "epochs=1", "guard=false", NULL};
    uint8_t *x = NULL, *y = NULL;
    size_t n = 0, m = 0;
    char run[32];
    snprintf(run, sizeof run, "change-%zu", k);
    if (k == 0) train_or_fail(plain, "plain", false);
    train_or_fail(set, run, false);
    assert_int_equal(file_read(path_in("plain", "model.safetensors"), 1 << 26, &x, &n, NULL), R4_OK);
    assert_int_equal(file_read(path_in(run, "model.safetensors"), 1 << 26, &y, &m, NULL), R4_OK);
    if (n == m && !memcmp(x, y, n)) fail_msg("%s changes nothing", change[k]);
    r4_mem_free(x);
    r4_mem_free(y);
  }
}

/* A number of the first line of a log. */
static double logged(const char *run, const char *key)
{
  uint8_t *text = NULL;
  size_t n = 0;
  assert_int_equal(file_read(path_in(run, "log.jsonl"), 1 << 20, &text, &n, NULL), R4_OK);
  char *at = strstr((char *)text, key);
  if (!at) fail_msg("%s: no %s", run, key);
  double v = strtod(at + strlen(key), NULL);
  r4_mem_free(text);
  return v;
}

/* While Cert-R4's part of cert-r4+r3 waits, for the first epoch, R3's does not: that epoch is one of R3. */
static void r3_leads_while_cert_r4_waits(void **state)
{
  (void)state;
#define COMMON "guard=false", "fill=none", "lambda_ramp=0", "eps_ramp=0", "epochs=2", "rate=0.01"
  const char *const r3[] = {COMMON, "method=r3", "lambda=50", "form=linear", NULL};
  const char *const both[] = {COMMON, "method=cert-r4+r3", "lambda=3", "lambda_r3=50", "penalty_after=1", NULL};
  const char *const late[] = {COMMON, "method=ibp-ex+r3", "lambda=3", "lambda_r3=50", "penalty_after=1", NULL};
#undef COMMON
  train_or_fail(r3, "lead-r3", false);
  train_or_fail(both, "lead-both", false);
  train_or_fail(late, "lead-late", false);
  double data = logged("lead-r3", "\"data\":"), without = logged("lead-late", "\"data\":");
  assert_true(fabs(data - without) > 1e-3); /* the penalty matters, or this shows nothing */
  assert_true(fabs(logged("lead-both", "\"data\":") - data) < 1e-5 * data);
  assert_true(fabs(logged("lead-both", "\"loss\":") - logged("lead-r3", "\"loss\":")) < 1e-5);
}

/* A run that starts from another's weights, by folder or file: of its own seed where there are several. */
static void weights_of_another_run(void **state)
{
  (void)state;
  char from[600], file[600];
  r4_error e = {0};
  snprintf(from, sizeof from, "from=%s", path_in("whole", ""));
  snprintf(file, sizeof file, "from=%s", path_in("whole", "model.safetensors"));
  const char *const by_folder[] = {from,         "rate=0", "weight_decay=0", "select=last", "epochs=1",
                                   "eps_ramp=0", NULL};
  const char *const by_file[] = {file,         "rate=0", "weight_decay=0", "select=last", "epochs=1",
                                 "eps_ramp=0", NULL};
  train_or_fail(by_folder, "later", false);
  train_or_fail(by_file, "later-file", false);
  assert_same_model("later");
  assert_same_model("later-file");
  const char *const other[] = {from, "net=dense 8, relu, dense 10", NULL}, *const missing[] = {"from=nowhere",
                                                                                               NULL};
  assert_int_equal(train(other, "misfit", false, 0, NULL, &e), R4_E_SHAPE);
  assert_non_null(strstr(e.text, "model.safetensors"));
  assert_int_equal(train(missing, "misfit", false, 0, NULL, &e), R4_E_IO);
  assert_non_null(strstr(e.text, "nowhere"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(killed_runs_resume_to_the_same_bits), /* first: it forks, and threads do not follow */
    cmocka_unit_test(a_run_leaves_its_files),
    cmocka_unit_test(the_same_again_is_the_same),
    cmocka_unit_test(stopped_runs_resume_to_the_same_bits),
    cmocka_unit_test(a_full_disk_loses_nothing),
    cmocka_unit_test(a_damaged_checkpoint_is_refused),
    cmocka_unit_test(runs_are_not_mixed_up),
    cmocka_unit_test(a_run_may_become_longer),
    cmocka_unit_test(what_depends_on_the_length_keeps_it),
    cmocka_unit_test(data_must_stay_as_they_were),
    cmocka_unit_test(a_run_in_use_is_left_alone),
    cmocka_unit_test(a_loss_that_explodes_says_where),
    cmocka_unit_test(settings_must_fit_the_data),
    cmocka_unit_test(settings_matter),
    cmocka_unit_test(r3_leads_while_cert_r4_waits),
    cmocka_unit_test(weights_of_another_run),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("train", tests, whole_run, scratch_remove);
}
