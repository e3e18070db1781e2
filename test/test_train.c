/* Runs: what a person may do to one (stop it, kill it, fill the disk) and what must come of it. */
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
#include "train_case.h"

static void assert_same_model(const char *run)
{
  assert_same_file(train_path("whole", "model.safetensors"), train_path(run, "model.safetensors"));
}

/* The same lines, but for the seconds. */
static void assert_same_log(const char *run)
{
  FILE *a = fopen(train_path("whole", "log.jsonl"), "r"), *b = fopen(train_path(run, "log.jsonl"), "r");
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
  for (size_t k = 0; k < 5; k++) assert_true(file_exists(train_path("whole", name[k])));
  r4_error e;
  r4_model *m = r4_model_open(train_path("whole", "model.safetensors"), NULL, &e);
  assert_non_null(m);
  assert_string_equal(r4_net_layers(r4_model_net(m)), "dense 16, relu, dense 10");
  assert_string_equal(r4_model_class_name(m, 7), "7");
  r4_model_free(m);
  r4_settings *s = r4_settings_new(), *t = train_settings(NULL);
  assert_int_equal(r4_settings_read(s, train_path("whole", "config.yaml"), &e), R4_OK);
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
    assert_int_equal(train_case(NULL, run, false, first, &stopped, &e), R4_OK);
    assert_true(stopped == (first < 36));
    if (stopped) assert_false(file_exists(train_path(run, "model.safetensors")));
    assert_int_equal(train_case(NULL, run, true, 3, &stopped, &e),
                     R4_OK); /* a few more steps, and stop again */
    train_or_fail(NULL, run, true);
    assert_same_model(run);
    assert_same_log(run);
  }
}

/* A checkpoint after every step, and kill -9 at a random moment: often in the middle of writing one. */
static void killed_runs_resume_to_the_same_bits(void **state)
{
  (void)state;
  static const char *const often[] = {"checkpoint_seconds=1e-9", NULL};
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
      _exit((int)train_case(often, run, false, 0, NULL, &e));
    }
    while (!file_exists(train_path(run, "checkpoint"))) usleep(200);
    usleep((useconds_t)(r4_random_uniform((r4_random){1, 2, 3}, (uint64_t)k) * 60000));
    kill(child, SIGKILL);
    int status;
    waitpid(child, &status, 0);
    unfinished += !file_exists(train_path(run, "model.safetensors"));
    char part[64];
    snprintf(part, sizeof part, "checkpoint.%ld.part", (long)child);
    during_write += file_exists(train_path(run, part));
    train_or_fail(often, run, true);
    assert_false(file_exists(train_path(run, part)));
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
  assert_int_equal(train_case(NULL, "full", false, 12, &stopped, &e), R4_OK);
  struct rlimit before, small = {.rlim_cur = 4096, .rlim_max = RLIM_INFINITY};
  getrlimit(RLIMIT_FSIZE, &before);
  small.rlim_max = before.rlim_max;
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  r4_status s = train_case(NULL, "full", true, 0, NULL, &e);
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
  assert_int_equal(train_case(NULL, "damaged", false, 5, &stopped, &e), R4_OK);
  uint8_t *bytes = NULL;
  size_t n = 0;
  const char *path = train_path("damaged", "checkpoint");
  assert_int_equal(file_read(path, 1 << 26, &bytes, &n, &e), R4_OK);
  bytes[n / 2] ^= 4;
  assert_int_equal(file_write(path, bytes, n, &e), R4_OK);
  assert_int_not_equal(train_case(NULL, "damaged", true, 0, NULL, &e), R4_OK);
  assert_non_null(strstr(e.text, "damaged/checkpoint"));
  bytes[n / 2] ^= 4;
  assert_int_equal(file_write(train_path("damaged", "checkpoint"), bytes, n, &e), R4_OK);
  r4_mem_free(bytes);
  train_or_fail(NULL, "damaged", true);
  assert_same_model("damaged");
}

static void runs_are_not_mixed_up(void **state)
{
  (void)state;
  r4_error e = {0};
  assert_int_equal(train_case(NULL, "whole", false, 0, NULL, &e), R4_E_ARGUMENT);
  assert_non_null(strstr(e.text, "has a run already"));
  assert_int_equal(train_case((const char *const[]){"rate=0.004", NULL}, "whole", true, 0, NULL, &e),
                   R4_E_ARGUMENT);
  assert_non_null(strstr(e.text, "whole/checkpoint: rate has changed from 0.003 to 0.004: only epochs, patience"));
  assert_int_equal(train_case((const char *const[]){"data.seed=4", NULL}, "whole", true, 0, NULL, &e),
                   R4_E_ARGUMENT);
  assert_non_null(strstr(e.text, "data.seed has changed from 3 to 4"));
  assert_int_equal(file_write(train_path("a-file", ""), "x", 1, &e), R4_OK);
  assert_int_equal(train_case(NULL, "a-file/below", false, 0, NULL, &e), R4_E_IO);
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
  const char *const more[] = {"schedule=constant", "epochs=5", "checkpoint_seconds=7", "eval.eps=0.2", NULL};
  r4_error e = {0};
  bool stopped;
  train_or_fail(five, "five", false);
  train_or_fail(two, "grown", false);
  assert_int_equal(train_case(more, "grown", true, 15, &stopped, &e),
                   R4_OK); /* stopped in the fourth epoch */
  assert_true(stopped);
  assert_false(file_exists(train_path("grown", "model.safetensors"))); /* it was of two epochs */
  assert_int_equal(train_case(two, "grown", true, 0, NULL, &e), R4_E_ARGUMENT);
  assert_non_null(strstr(e.text, "grown: epochs is now 2, but 3 are done"));
  train_or_fail(more, "grown", true);
  assert_same_file(train_path("five", "model.safetensors"), train_path("grown", "model.safetensors"));
  assert_true(has_text(train_path("grown", "config.yaml"), "\nepochs: 5\n"));
  const char *const said[] = {"\"epoch\":2,\"step\":24,\"setting\":\"epochs\",\"from\":\"2\",\"to\":\"5\"}",
                              "\"setting\":\"checkpoint_seconds\",\"from\":\"300\",\"to\":\"7\"}",
                              "\"setting\":\"eval.eps\",\"from\":\"0.1\",\"to\":\"0.2\"}]}", "\"began\":"};
  for (size_t k = 0; k < 4; k++) assert_true(has_text(train_path("grown", "manifest.json"), said[k]));
  train_or_fail((const char *const[]){"schedule=constant", "epochs=5", "threads=1", NULL}, "grown", true);
  assert_same_file(train_path("five", "model.safetensors"), train_path("grown", "model.safetensors"));
  assert_true(has_text(train_path("grown", "manifest.json"), "\"to\":\"5\"},"));
  assert_true(
    has_text(train_path("grown", "manifest.json"), "\"setting\":\"threads\",\"from\":\"0\",\"to\":\"1\"}"));
}

static void what_depends_on_the_length_keeps_it(void **state)
{
  (void)state;
  r4_error e = {0};
  assert_int_equal(train_case((const char *const[]){"epochs=6", NULL}, "whole", true, 0, NULL, &e),
                   R4_E_ARGUMENT);
  assert_non_null(
    strstr(e.text, "epochs has changed from 3 to 6, which affects all steps with schedule cosine"));
  assert_true(file_exists(train_path("whole", "model.safetensors")));
  assert_true(has_text(train_path("whole", "config.yaml"), "\nepochs: 3\n"));
}

static void save_data(const char *path, uint64_t seed)
{
  r4_error e;
  r4_data *d = r4_data_make("decoy-mnist", &(r4_recipe_options){.from = "digits:600", .read.seed = seed}, &e);
  if (!d || r4_data_save(d, path, &e)) fail_msg("%s", e.text);
  r4_data_free(d);
}

static void data_must_stay_as_they_were(void **state)
{
  (void)state;
  char path[600], set[620];
  snprintf(path, sizeof path, "%s", train_path("data.npz", ""));
  snprintf(set, sizeof set, "data=%s", path);
  const char *const more[] = {set, "data.from=", "data.mask_means=irrelevant", NULL};
  bool stopped;
  r4_error e = {0};
  save_data(path, 1);
  if (train_case(more, "replaced", false, 3, &stopped, &e)) fail_msg("%s", e.text);
  save_data(path, 2);
  assert_error(&e, train_case(more, "replaced", true, 0, NULL, &e),
               "the data have changed");
  save_data(path, 1);
  train_or_fail(more, "replaced", true);
}

static void a_run_in_use_is_left_alone(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_settings *s = train_settings((const char *const[]){"epochs=1", "eps.ramp=1", NULL});
  r4_train_options o = {.folder = train_path("in-use", "")};
  assert_int_equal(r4_train(s, &o, NULL, &e), R4_OK);
  r4_lock *l = r4_lock_take(o.folder, false, &e);
  assert_non_null(l);
  for (int k = 0; k < 3; k++) {
    o.resume = k == 1;
    o.force = k == 2;
    assert_error(&e, r4_train(s, &o, NULL, &e), "in-use: process ");
    assert_int_equal(e.status, R4_E_BUSY);
    assert_true(file_exists(train_path("in-use", "model.safetensors")));
  }
  r4_lock_free(l);
  assert_int_equal(r4_train(s, &o, NULL, &e), R4_OK);
  r4_settings_free(s);
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
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("train", tests, whole_run, scratch_remove);
}
