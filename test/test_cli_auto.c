/* lambda: auto as a user meets it: what it leaves, killing and going on, several seeds, and mistakes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "command.h"

static void write_file(const char *name, const char *text)
{
  FILE *f = fopen(scratch_path(name), "w");
  assert_non_null(f);
  fputs(text, f);
  assert_int_equal(fclose(f), 0);
}

static int make_settings(void **state)
{
  if (scratch_make(state)) return -1;
  write_file("a.yaml", "data: decoy-mnist\ndata.from: digits:1200\ndata.val: 0.2\nmethod: r3\nlambda: auto\n"
                       "net: dense 32, relu, dense 10\nepochs: 12\nbatch: 100\nthreads: 1\n");
  write_file("table.csv", "name,preset,avg,avg_sd,worst,worst_sd,kappa\nR3,a,,,,,\n");
  return 0;
}

/* The lambda that a search in the folder of a run has chosen. */
static double chosen_in(const char *run)
{
  char line[200];
  double v = 0;
  snprintf(line, sizeof line, "cat %s/auto/curve.json", run);
  assert_int_equal(command_run(line), 0);
  struct js *root = command_json();
  assert_true(js_number(js_get(root, "chosen"), &v));
  js_free(root);
  return v;
}

/* The seeds are what they would be with the lambda that was chosen, to the bit; both are written down. */
static void takes_a_lambda_and_trains(void **state)
{
  (void)state;
  char line[300], manifest[100];
  EXPECT("$R4 train a.yaml --seeds 2 --out run", 0, "search for lambda: seed 0  epoch 3/3",
         "lambda: auto chose ", "  lambda      score  average  error    worst  penalty\n", "  chosen\n",
         "seed 1  epoch 12/12");
  double lambda = chosen_in("run");
  snprintf(line, sizeof line, "$R4 train a.yaml --set lambda=%g --seeds 2 --out plain --quiet", lambda);
  EXPECT(line, 0);
  EXPECT("cmp run/seed-0/model.safetensors plain/seed-0/model.safetensors && "
         "cmp run/seed-1/model.safetensors plain/seed-1/model.safetensors",
         0);
  snprintf(manifest, sizeof manifest, "\"lambda\":{\"setting\":\"auto\",\"chosen\":%g}", lambda);
  EXPECT("cat run/config.yaml run/seed-1/manifest.json", 0, "lambda: auto", manifest);
  EXPECT("cat plain/seed-1/manifest.json", 0);
  command_lacks("\"setting\":\"auto\"");
  EXPECT("$R4 eval run plain", 0, "run", "plain");
}

/* One search for all seeds, now and later. */
static void is_not_made_again(void **state)
{
  (void)state;
  double lambda = chosen_in("run");
  EXPECT("$R4 train run --resume", 0, "lambda: auto chose ");
  command_lacks("epoch");
  EXPECT("$R4 train a.yaml --out run", 2, "run/seed-0: has a run already");
  EXPECT("$R4 train a.yaml --out run --set seed=5", 0, "lambda: auto chose ", "seed 5  epoch 12/12");
  command_lacks("search for lambda: seed");
  EXPECT("$R4 train a.yaml --out run --set seed=5 --force", 0, "seed 5  epoch 12/12");
  command_lacks("search for lambda: seed"); /* the other seeds have their lambda from it */
  EXPECT("$R4 train run --resume --set epochs=13", 0, "seed 1  epoch 13/13");
  command_lacks("search for lambda: seed");
  assert_true(chosen_in("run") == lambda);
  EXPECT("$R4 train a.yaml --out run --seeds 2 --set seed=4 --force --quiet", 2,
         "epochs has changed from 13 to 12");
  EXPECT("rm -r run/seed-0 run/seed-1; $R4 train a.yaml --out run --set seed=5 --force", 0,
         "search for lambda: seed 5  epoch 3/3");
  EXPECT("rm -r run/seed-5; $R4 train a.yaml --out run --set rate=0.002", 2,
         "run/auto: lambda was searched with other settings: rate has changed from 0.001 to 0.002: ");
}

/* ---- Stopping ---- */

/* Lines of the shell. What does not come within half a minute or so is not waited for. */
#define BACKGROUND "setsid $R4 train a.yaml --set epochs=160 --out %s --quiet & P=$!; "
#define UNTIL(condition) "until [ " condition " ] || [ $((N += 1)) -gt 3000 ]; do sleep 0.01; done; "
#define SEARCHING UNTIL("-e %s/auto/curve.json")
#define GONE "wait $P; while kill -0 -$P 2>/dev/null; do sleep 0.01; done"

static void same_as_whole(const char *run)
{
  char line[300];
  snprintf(line, sizeof line,
           "cmp whole/auto/curve.json %s/auto/curve.json && cmp whole/seed-0/model.safetensors "
           "%s/seed-0/model.safetensors",
           run, run);
  EXPECT(line, 0);
}

static void goes_on_after_a_kill(void **state)
{
  (void)state;
  char line[500];
  EXPECT("$R4 train a.yaml --set epochs=160 --out whole --quiet", 0);
  snprintf(line, sizeof line, BACKGROUND SEARCHING "kill -KILL -$P; " GONE, "killed", "killed");
  command_run(line);
  EXPECT("ls killed/seed-0/checkpoint", 2);
  EXPECT("$R4 train a.yaml --set epochs=160 --out killed", 2,
         "killed/auto: has a search for lambda already: --resume continues it, --force replaces it");
  EXPECT("$R4 train killed --resume --quiet", 0);
  same_as_whole("killed");
}

/* In the first short run, where there is no curve yet. */
static void goes_on_after_an_interrupt(void **state)
{
  (void)state;
  char line[500];
  snprintf(line, sizeof line, BACKGROUND UNTIL("-e %s/auto/lambda-10/checkpoint") "kill -INT $P; wait $P",
           "stopped", "stopped");
  EXPECT(line, 1, "stopped and saved; continue with: r4 train stopped --resume");
  EXPECT("ls stopped/seed-0/checkpoint", 2);
  EXPECT("$R4 train a.yaml --set epochs=160 --out stopped", 2, "stopped/auto/lambda-10: has a run already");
  EXPECT("$R4 train stopped --resume --quiet", 0);
  same_as_whole("stopped");
}

/* One that replaces another begins anew, also where it is stopped on the way. */
static void nothing_is_left_of_a_search_that_was_replaced(void **state)
{
  (void)state;
  EXPECT("sed -i 's/\"lambda\":10,/\"lambda\":11,/' stopped/auto/curve.json; $R4 train stopped --resume", 3,
         "stopped/auto/curve.json: entry 1 has lambda 11 and 40 epochs, which a search does not try there");
  EXPECT("setsid $R4 train stopped --force --quiet & P=$!; " UNTIL(
           "! -e stopped/auto/curve.json") "kill -INT $P; wait $P",
         1, "stopped and saved");
  EXPECT("$R4 train stopped --resume --quiet", 0);
  same_as_whole("stopped");
}

static void two_do_not_search_at_once(void **state)
{
  (void)state;
  char line[500];
  snprintf(line, sizeof line,
           "setsid $R4 train a.yaml --set epochs=40000 --out %s --quiet & P=$!; " UNTIL(
             "-e %s/auto/lambda-10/checkpoint") "$R4 train a.yaml --set epochs=40000 --out %s --set seed=1; "
                                                "C=$?; kill -KILL -$P; " GONE "; exit $C",
           "both", "both", "both");
  EXPECT(line, 3, "both/auto: process ", "has been working in this folder since");
}

/* ---- What cannot be ---- */

static void mistakes_are_named(void **state)
{
  (void)state;
  EXPECT("$R4 train a.yaml --set delta=1 --out x", 2,
         "lambda (a.yaml:5:9) is auto, but delta (--set) is 1, which controls lambda as well");
  EXPECT("$R4 train a.yaml --set epochs=2 --out x", 2,
         "lambda (a.yaml:5:9) is auto, but epochs (--set) is 2");
  EXPECT("$R4 train a.yaml --set data.keep_masks=0 --out x", 2,
         "data.keep_masks (--set) is 0: without masks");
  EXPECT("$R4 train a.yaml --set data.val=0 --out x", 2,
         "lambda is auto, but there is no validation part: set data.val");
  EXPECT("$R4 train a.yaml --set lambda=automatic --out x", 2,
         "expected a number from 0 on, default or auto");
  EXPECT("$R4 train a.yaml --set lambda_r3=auto --out x", 2, "expected a number from 0 on or default");
  EXPECT("$R4 train a.yaml --set 'net=dense 7' --out x", 2, "7 outputs, the data 10 classes");
  EXPECT("$R4 train a.yaml --set epochs=3 --set penalty.cap=false --out x --quiet",
         0); /* none of these stands in the way */
}

/* Without a penalty there is nothing to search for, which is said where auto was asked for. */
static void methods_without_penalty(void **state)
{
  (void)state;
  EXPECT("$R4 train a.yaml --set method=erm --set epochs=1 --out erm", 0, "erm");
  command_lacks("search for lambda");
  EXPECT("$R4 train a.yaml --set method=fill --set lambda=auto --set epochs=1 --out fill", 0,
         "lambda (--set) has no effect, as method (--set) is fill");
  command_lacks("search for lambda");
}

/* Schedules and ramps are as long in proportion; other methods have other lambdas. */
static void settings_of_short_runs(void **state)
{
  (void)state;
  EXPECT("$R4 train a.yaml --set method=ibp-ex+r3 --set eps.ramp=8 --set penalty.ramp=4 --set warmup=2 --set "
         "schedule=steps "
         "--set decay_at=6,10 --set select=worst --set patience=12 --out ramps --quiet",
         0);
  EXPECT("cat ramps/auto/lambda-1/config.yaml", 0, "\neps.ramp: 2\n", "\npenalty.ramp: 1\n",
         "\nwarmup: 0.5\n", "\ndecay_at: [1.5, 2.5]\n", "\nepochs: 3\n", "\nselect: last\n",
         "\npatience: 0\n", "\nlambda: 1\n", "\nlambda_r3: default\n");
  EXPECT("cat ramps/seed-0/config.yaml", 0, "\neps.ramp: 8\n", "\nselect: worst\n", "\nepochs: 12\n");
}

static void lost_nets_are_named(void **state)
{
  (void)state;
  EXPECT("$R4 train a.yaml --set class_weights=1,0,0,0,0,0,0,0,0,0 --out dead", 1,
         "3 epochs are too few to compare lambdas: the next short runs have 6",
         "all 3 short runs collapsed, the longest of 12 epochs and the smallest lambda 10");
  EXPECT("cat dead/auto/curve.json", 0, "\"chosen\":null", "\"dead\":true");
  EXPECT("ls -d dead/auto/lambda-*", 0, "dead/auto/lambda-10\n", "lambda-10-epochs-6\n", "lambda-10-epochs-12\n");
  EXPECT("$R4 train dead --resume", 1, "all 3 short runs collapsed");
  command_lacks("epoch 1/");
  EXPECT("$R4 train a.yaml --set rate=1e30 --set optimizer=sgd --out wild", 1,
         "all 3 short runs collapsed");
  EXPECT("cat wild/auto/curve.json", 0, "\"diverged\":true");
}

/* What has not learned anything yet is no reason for a larger penalty. */
static void nets_that_guess_keep_the_default(void **state)
{
  (void)state;
  EXPECT("$R4 train a.yaml --set rate=1e-9 --out guess", 1,
         "lambda is auto, but the penalty took effect in none of");
  EXPECT("$R4 train a.yaml --set rate=1e-9 --set penalty.cap=false --out guess --force", 0,
         "lambda: auto chose 10, but no short run was better than guessing",
         "no better than guessing  chosen");
}

static void tables_may_search(void **state)
{
  (void)state;
  EXPECT("$R4 reproduce . --seeds 2 --out table", 0, "lambda: auto chose ", "[1/1] R3: group average ", "| R3 ");
  EXPECT("$R4 reproduce . --seeds 2 --out table --quiet", 0, "| R3 ");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(takes_a_lambda_and_trains),
    cmocka_unit_test(is_not_made_again),
    cmocka_unit_test(goes_on_after_a_kill),
    cmocka_unit_test(goes_on_after_an_interrupt),
    cmocka_unit_test(nothing_is_left_of_a_search_that_was_replaced),
    cmocka_unit_test(two_do_not_search_at_once),
    cmocka_unit_test(mistakes_are_named),
    cmocka_unit_test(methods_without_penalty),
    cmocka_unit_test(settings_of_short_runs),
    cmocka_unit_test(lost_nets_are_named),
    cmocka_unit_test(nets_that_guess_keep_the_default),
    cmocka_unit_test(tables_may_search),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  if (!check_command()) return 0;
  return cmocka_run_group_tests_name("cli auto", tests, make_settings, scratch_remove);
}
