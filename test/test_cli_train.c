/* r4 train, eval and reproduce as a user meets them. Needs $R4, the command. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scratch.h"

static char output[1 << 16];

/* Runs r4 with words, in which @ stands for the folder of this test; output gets both streams. */
static int r4(const char *words)
{
  char line[2048] = "\"$R4\" ";
  size_t n = strlen(line);
  for (; *words && n < sizeof line - 300; words++) {
    if (*words == '@')
      n += (size_t)snprintf(line + n, sizeof line - n, "%s", scratch_folder());
    else
      line[n++] = *words;
  }
  snprintf(line + n, sizeof line - n, " 2>&1");
  FILE *f = popen(line, "r");
  assert_non_null(f);
  output[fread(output, 1, sizeof output - 1, f)] = 0;
  while (fgetc(f) != EOF) continue;
  int status = pclose(f);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static void expect(const char *words, int code, const char *text)
{
  int got = r4(words);
  if (got != code || !strstr(output, text)) fail_msg("r4 %s: code %d, \"%.600s\"", words, got, output);
}

static void write_file(const char *name, const char *text)
{
  FILE *f = fopen(scratch_path(name), "w");
  assert_non_null(f);
  fputs(text, f);
  assert_int_equal(fclose(f), 0);
}

static int make_folder(void **state)
{
  if (scratch_make(state)) return -1;
  write_file(
    "small.yaml",
    "# a small run\ndata: decoy-mnist\ndata.from: digits:1200\ndata.val: 0.2\nmethod: cert-r4\n"
    "lambda: 0.1\npenalty.cap: false\neps: 0.5\nnet: dense 32, relu, dense 10\nepochs: 2\nbatch: 100\n");
  write_file("typo.yaml", "data: decoy-mnist\nlamda: 3\n");
  write_file("type.yaml", "data: decoy-mnist\nepochs: many\n");
  write_file("range.yaml", "data: decoy-mnist\n\ndata.val: 1.5\n");
  write_file("method.yaml", "method: r5\n");
  write_file("table.csv",
             "name,preset,avg,avg_sd,worst,worst_sd,kappa\nTiny,small,97.02,0.09,94.7,0.4,0.93\n");
  assert_int_equal(mkdir(scratch_path("below"), 0777), 0);
  write_file("below/table.csv", "name,preset,avg,avg_sd,worst,worst_sd,kappa,settings\n"
                                "Usual,../small,,,,,,\nWeak,../small,,,,,,lambda=0.01 "
                                "epochs=1\nList,../small,,,,,,\"schedule=steps decay_at=1,2\"\n");
  assert_int_equal(mkdir(scratch_path("typo"), 0777), 0);
  write_file("typo/table.csv",
             "name,preset,avg,avg_sd,worst,worst_sd,kappa,settings\nWrong,../small,,,,,,lamda=3\n");
  return 0;
}

static void trains_and_evaluates(void **state)
{
  (void)state;
  expect("train @/small.yaml --seeds 2 --out @/run", 0, "seed 1  epoch 2/2");
  expect("eval @/run", 0, "cert-r4, 2 seeds, 200 examples of test");
  expect("eval @/run --split val", 0, "examples of val");
  expect("eval @/run --json", 0, "\"worst_group_accuracy\":");
  const char *const key[] = {"avg_group_accuracy",     "group_accuracy\":{\"0\":", "kappa_masked_max",
                             "kappa_masked_mean",      "kappa_core_max",           "kappa_core_mean",
                             "\"seeds\":[{\"seed\":0,"};
  for (size_t k = 0; k < sizeof key / sizeof *key; k++) assert_non_null(strstr(output, key[k]));
  expect("eval @/run/seed-1", 0, "1 seed,");
  expect("train @/small.yaml --seeds 2 --out @/run", 2, "has a run already");
  expect("train @/run --resume", 0, "run");
  expect("train @/small.yaml --out @/run --force --quiet", 0, "run");
}

/* ---- Two at once ---- */

static void wait_for(const char *name)
{
  while (access(scratch_path(name), F_OK)) usleep(1000);
}

/* Trains seeds for a long time, in processes of a group of its own; returns when the file is there. */
static pid_t start(const char *out, const char *seed, const char *file)
{
  char yaml[256], to[256];
  snprintf(yaml, sizeof yaml, "%s", scratch_path("small.yaml"));
  snprintf(to, sizeof to, "%s", scratch_path(out));
  pid_t child = fork();
  if (!child) {
    setpgid(0, 0);
    execl(getenv("R4"), "r4", "train", yaml, "--set", "epochs=20000", "--set", seed, "--quiet", "--out", to,
          (char *)NULL);
    _exit(127);
  }
  setpgid(child, child);
  wait_for(file);
  return child;
}

/* Ends all processes of the group, and waits until their locks are free. */
static void end(pid_t group, const char *seed_folder)
{
  kill(-group, SIGKILL);
  waitpid(group, NULL, 0);
  r4_lock *l;
  while (!(l = r4_lock_take(scratch_path(seed_folder), false, NULL))) usleep(1000);
  r4_lock_free(l);
}

static void two_at_once_do_not_mix(void **state)
{
  (void)state;
  char owner[64];
  pid_t first = start("both", "seed=0", "both/seed-0/checkpoint");
  snprintf(owner, sizeof owner, "both/seed-0: process ");
  expect("train @/small.yaml --set epochs=20000 --out @/both", 3, owner);
  expect("train @/small.yaml --set epochs=20000 --out @/both --force", 3, owner);
  expect("train @/both --resume", 3, owner);
  assert_non_null(strstr(output, " has been working in this folder since 20"));
  expect("train @/small.yaml --out @/both", 2,
         "both/config.yaml: epochs has changed from 20000 to 2: choose another");
  expect("train @/small.yaml --out @/both --force", 3, "both/config.yaml: epochs has changed from 20000 to 2: ");
  assert_non_null(strstr(output, "/both: process "));
  expect("train @/small.yaml --out @/both --set seed=1", 2,
         "epochs has changed from 20000 to 2, but seed 0 in this folder would stay as it was");
  expect("eval @/both", 3, "no seed of this run has a model yet");
  pid_t second = start("both", "seed=1", "both/seed-1/checkpoint"); /* other seeds of the same run may join */
  end(second, "both/seed-1");
  end(first, "both/seed-0");
  expect("train @/small.yaml --out @/both --set seed=1 --force", 2,
         "but seed 0 in this folder would stay as it was");
  expect("train @/small.yaml --out @/both --seeds 2 --force --quiet", 0, "both");
  assert_int_not_equal(access(scratch_path("both/lock"), F_OK), 0);
  assert_int_not_equal(access(scratch_path("both/seed-0/lock"), F_OK), 0);
}

/* What has trained nothing yet stands in nobody's way. */
static void failed_beginnings_are_replaced(void **state)
{
  (void)state;
  expect("train @/small.yaml --set 'net=dense 7' --out @/begin", 2, "7 outputs");
  expect("train @/small.yaml --out @/begin --quiet", 0, "begin");
  expect("eval @/begin", 0, "cert-r4");
  expect("train @/begin/seed-0", 2, "begin/seed-0: is the folder of one seed, expected the folder of its run");
}

/* Ranges of seeds, one after the other: all are resumed, and no others. */
static void seeds_in_two_ranges(void **state)
{
  (void)state;
  expect("train @/small.yaml --set seed=1 --out @/ranges --quiet", 0, "ranges");
  expect("train @/small.yaml --set seed=7 --out @/ranges --quiet", 0, "ranges");
  expect("train @/ranges --resume --quiet", 0, "ranges");
  expect("eval @/ranges", 0, "2 seeds");
  assert_int_not_equal(access(scratch_path("ranges/seed-2"), F_OK), 0);
}

static void runs_go_on_with_other_settings(void **state)
{
  (void)state;
  expect("train @/small.yaml --seeds 2 --out @/grow --quiet", 0, "grow");
  expect("train @/grow --resume --set rate=0.1", 2,
         "grow/config.yaml: rate has changed from 0.001 to 0.1: only epochs, ");
  expect("train @/grow --resume --set epochs=1", 2, "epochs has changed from 2 to 1, but 2 epochs are done");
  expect("train @/grow --resume --set epochs=3 --seeds 1", 2,
         "but seed 1 in this folder would stay as it was");
  expect("train @/grow --resume --set epochs=3", 0, "seed 1  epoch 3/3");
  assert_null(strstr(output, "epoch 2/3"));
  expect("train @/grow --resume", 0, "grow"); /* config.yaml knows */
  assert_null(strstr(output, "epoch 3/3"));
  expect("train @/grow --resume --set eval.eps=0.25", 0, "grow");
  expect("eval @/grow", 0, "eps 0.25");
}

/* One place for all threads, which is how clang's OpenMP describes threads that are not bound, binds none. Others might
 * all be put on the same CPU. */
static void bound_threads_are_let_go(void **state)
{
  (void)state;
  static const char words[] =
    "train @/small.yaml --set epochs=1 --set method=erm --seeds 2 --jobs 2 --force --out @/bound";
  assert_int_equal(setenv("OMP_PLACES", "{0}", 1), 0);
  expect(words, 0, "bound");
  assert_null(strstr(output, "threads are not bound"));
  assert_int_equal(setenv("OMP_PLACES", "{0},{1}", 1), 0);
  r4(words);
  unsetenv("OMP_PLACES");
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2) check_skip("two places need two CPUs");
  if (strstr(output, "invalid OS proc ID")) check_skip("oneDNN's OpenMP took the places before clang's saw them");
  assert_non_null(strstr(output, "r4 train: threads are not bound to CPUs, as several processes share them"));
}

/* The sentence at the end is a command that goes on, for any folder. */
static void interrupted_runs_say_how_to_go_on(void **state)
{
  (void)state;
  expect("train @/small.yaml --set epochs=20000 --seeds 2 --jobs 1 --out '@/a b' 2>&1 & P=$!; "
         "until [ -e '@/a b/seed-0/checkpoint' ]; do sleep 0.01; done; kill -INT $P; wait $P",
         1, "stopped and saved; continue with: r4 train '");
  const char *command = strstr(output, "continue with: r4 ") + strlen("continue with: r4 ");
  char line[1024];
  snprintf(line, sizeof line,
           "%.*s 2>&1 & P=$!; cd '@/a b/seed-0'; N=$(wc -l < log.jsonl); "
           "until [ $(wc -l < log.jsonl) -gt $N ]; do sleep 0.01; done; kill -TERM $P; wait $P",
           (int)strcspn(command, "\n"), command);
  assert_non_null(strstr(line, "/a b' --resume --jobs 1 2>&1"));
  expect(line, 1, "/a b' --resume --jobs 1");
}

static void mistakes_are_named(void **state)
{
  (void)state;
  write_file("bare.yaml", "data: digits:200\nepochs: 1\n");
  expect("train @/bare.yaml --out @/bare --quiet", 2,
         "net is not set: for example \"net: dense 512, relu, dense {classes}\"");
  expect("train @/bare.yaml --set 'net=dense {classes}' --set rate=0.1 --out @/bare --force --quiet", 0, "");
  expect("eval @/bare", 0, "worst group");
  expect("train", 2, "needs FILE");
  expect("train @/none.yaml", 2, "no such file, preset or run");
  expect("train @", 2, "is a folder, but not a run; expected a settings file");
  expect("train \"$(printf 'a\\033[31m')\"", 2, "a\\x1b[31m: no such file");
  expect("train @/begin --out \"@/b$(printf '\\033')\" --quiet", 0, "/b");
  expect("train @/begin --out \"@/b$(printf '\\033')/seed-0\"", 2,
         "/b\\x1b/seed-0: is the folder of one seed");
  expect("train @/typo.yaml --out @/x", 2, "typo.yaml:2:1: no setting \"lamda\"; did you mean lambda?");
  expect("train @/type.yaml --out @/x", 2, "type.yaml:2:9: epochs");
  expect("train @/range.yaml --out @/x", 2, "range.yaml:3:11: data.val");
  expect("train @/method.yaml --out @/x", 2, "method.yaml:1:9: method");
  expect("train @/small.yaml --set lambda --out @/x", 2, "--set");
  expect("train @/small.yaml --set epochs=0 --out @/x", 2, "epochs");
  expect("train @/small.yaml --set attack.steps=3 --set epochs=1 --out @/idle --quiet", 0,
         "r4 train: attack.steps (--set) has no effect, as method (");
  expect("train @/idle --resume --set epochs=1 --quiet", 0, "idle");
  assert_null(strstr(output, "no effect"));
  expect("train @/small.yaml --set method=erm --set epochs=1 --out @/plain --quiet", 0, "plain");
  assert_null(strstr(output, "no effect"));
  expect("train @/small.yaml --set delta=1 --set penalty.form=log --out @/x", 2,
         "penalty.form (--set) has no effect, as delta");
  expect("train @/small.yaml --set eps.ramp=3 --out @/x", 2, "eps.ramp (--set) is 3, but epochs (");
  expect("train @/small.yaml --set 'net=dense 7' --out @/x", 2, "7 outputs, the data 10 classes");
  expect("train @/small.yaml --out @/small.yaml/below", 3, "small.yaml");
  expect("train @/small.yaml --set rate=1e30 --set optimizer=sgd --out @/wild", 3, "examples at fault");
  expect("eval @/nothing", 3, "nothing/config.yaml");
  expect("eval @/wild", 3, "no seed of this run has a model yet");
  expect("eval @/run --split half", 2, "--split needs train, val or test");
}

static void reproduces_a_table(void **state)
{
  (void)state;
  expect("reproduce @ --seeds 2 --out @/table", 0, "| Tiny ");
  assert_non_null(strstr(output, "97.02"));
  expect("reproduce @ --seeds 2 --out @/table --json --quiet", 0,
         "\"preset\":\"small\",\"settings\":\"\",\"loss\":");
  expect("reproduce @/below --seeds 1 --out @/rows --json --quiet", 0,
         "\"settings\":\"lambda=0.01 epochs=1\"");
  expect("eval @/rows/small @/rows/small_lambda=0.01_epochs=1", 0, "small_lambda=0.01_epochs=1");
  expect("reproduce @/below --seeds 1 --out @/rows --methods large", 2, "\"large\" is not a preset of");
  expect("reproduce @/typo --out @/rows", 2, "table.csv: no setting \"lamda\"; did you mean lambda?");
  expect("reproduce @/nothing", 2, "no experiment");
  expect("reproduce @ --methods large --out @/table", 2, "\"large\" is not a preset of");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(trains_and_evaluates),
    cmocka_unit_test(two_at_once_do_not_mix),
    cmocka_unit_test(failed_beginnings_are_replaced),
    cmocka_unit_test(seeds_in_two_ranges),
    cmocka_unit_test(runs_go_on_with_other_settings),
    cmocka_unit_test(bound_threads_are_let_go),
    cmocka_unit_test(interrupted_runs_say_how_to_go_on),
    cmocka_unit_test(mistakes_are_named),
    cmocka_unit_test(reproduces_a_table),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  if (!check_command()) return 0;
  return cmocka_run_group_tests_name("cli train", tests, make_folder, scratch_remove);
}
