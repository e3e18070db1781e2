/* r4 ablate and r4 sweep: many runs side by side, what they leave, and what a person may do to them meanwhile. Needs
 * $R4, the command. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "folder_make.h"
#include "pets.h"

#define ONE "q/runs/r3_weight_decay=0.02_data.keep_masks=1/seed-0"

#define ONE2 "q2/runs/r3_weight_decay=0.02_data.keep_masks=1/seed-0"

static int make(void **state)
{
  if (scratch_make(state)) return -1;
  pets_make((struct pets){.folder = "pets", .cat = "cat", .dog = "dog", .test = 6, .masked = true});
  pets_make(
    (struct pets){.folder = "dark", .cat = "cat", .dog = "dog", .test = 6, .masked = true, .dark = true});
  pets_settings("exp/base.yaml", "pets", "");
  put_text(scratch_folder(), "exp/r3.yaml", "base: base.yaml\nmethod: r3\nlambda: 0.1\n");
  put_text(scratch_folder(), "exp/cert-r4.yaml", "base: base.yaml\nmethod: cert-r4\npenalty.after: 5\n");
  put_text(scratch_folder(), "exp/table.csv", "name,preset\nR3,r3\n");
  put_text(
    scratch_folder(), "exp/ablations/masks.csv",
    "name,preset,panel,settings,x,values,quick\nR3,r3,fixed,weight_decay=0.01,data.keep_masks,0 0.5 1,0.5 1\n"
    "Cert,cert-r4,fixed,,data.keep_masks,0.5 1,\nR3,r3,in "
    "proportion,weight_decay=0.01*x*2,data.keep_masks,0.5 1,\n"
    "Slow,r3,fixed,,rate,0.1 0.2,-\n");
  put_text(scratch_folder(), "exp/ablations/net.csv",
           "name,preset,x,values,labels,y,y_values\nR3,r3,net,\"dense 2; dense 4, relu, dense 2\",one "
           "two,rate,0.01 0.1\n");
  pets_settings("small.yaml", "pets", "data.val_fill: swap\n");
  pets_settings("few.yaml", "pets", "");
  return 0;
}

/* ---- r4 ablate ---- */

/* Two of the six points, with 0.01 and with 0.01 * 0.5 * 2, are one run. */

static void ablations_are_tables(void **state)
{
  (void)state;
  EXPECT("$R4 ablate exp --only masks --quick --out q", 0, "[1/5] ", "[5/5] ", " s left\n",
         "# exp: masks\n\n1 seed, --quick, 20 % of the epochs", "**fixed, over data.keep_masks**",
         "| group average / worst group | ", "| kappa, masked ", "| lost by swap ",
         "**in proportion, over data.keep_masks**");
  command_lacks("Slow");
  EXPECT("ls q q/masks q/runs", 0, "results.csv", "results.json", "results.md", "plot.svg",
         "r3_weight_decay=0.01_data.keep_masks=1", "r3_weight_decay=0.02_data.keep_masks=1");
  EXPECT("cat q/runs/cert-r4_data.keep_masks=1/config.yaml", 0, "\nepochs: 4\n", "\npenalty.after: 1\n");
  EXPECT("cat q/masks/results.csv", 0, "name,panel,preset,x_setting,x,y_setting,y,seeds,constant_seeds,loss,",
         "\nR3,in proportion,r3,data.keep_masks,0.5,,,1,0,");
  EXPECT("cat q/masks/plot.svg", 0, "<svg", ">in proportion</text>", ">Cert</text>", "</svg>");
  EXPECT("cat q/masks/results.json", 0, "\"quick\":true,\"epochs\":0.2,\"seeds\":1,\"lines\":[",
         "\"x\":\"0.5\",\"loss\":", "\"avg_group_accuracy\":", "\"auc\":", "\"swap_lost_share_sd\":null,");
}

/* Ablations without a row for --quick are left out, unless one is asked for. */
static void some_are_not_quick(void **state)
{
  (void)state;
  EXPECT("mkdir -p few/ablations && cp exp/*.yaml exp/table.csv few && for a in masks data decay corrupt; do "
         "printf "
         "'name,preset,x,values,quick\nR3,r3,rate,0.1 0.2,-\n' > few/ablations/$a.csv; done; "
         "printf 'name,preset,x,values\nR3,r3,rate,0.1\n' > few/ablations/rate.csv; "
         "$R4 ablate few --quick --shorten 0.3 --out few-out && ls few-out",
         0, "masks.csv: no row has a --quick form: left out", "1 seed, --quick, 30 % of the epochs",
         "\nrate\nruns\n");
  EXPECT("cat few-out/runs/*/config.yaml", 0, "\nepochs: 6\n");
  EXPECT("$R4 ablate few --quick --only masks", 2, "masks.csv: row 1: no row has a --quick");
}

/* A heat map; values with blanks and commas in them. */
static void two_settings_make_a_heat_map(void **state)
{
  (void)state;
  EXPECT("$R4 ablate exp --only net --seeds 2 --set epochs=2 --out heat --quiet", 0, "**R3**",
         "| group average / worst group, rate by net |", "one |", "two |", "| 0.01 ", "+- ");
  EXPECT("cat heat/net/plot.svg", 0, "R3: worst group, %", "0.1</text>");
  EXPECT("cat heat/runs/*dense_4*rate=0.1/config.yaml", 0, "net: \"dense 4, relu, dense 2\"");
}

/* The points of any file of settings: the preset is then a method. */
static void a_file_is_an_experiment(void **state)
{
  (void)state;
  put_text(scratch_folder(), "ablations/decay.csv", "name,preset,x,values\nR3,r3,weight_decay,0 0.1\n");
  EXPECT("$R4 ablate small.yaml --only decay --quick --out file --quiet", 0, "# small.yaml: decay", "| R3 ");
  EXPECT("cat file/runs/r3_weight_decay=0.1/config.yaml", 0, "method: r3");
  EXPECT("$R4 ablate small.yaml --only nothing", 2, "no ablation \"nothing\": expected", "decay",
         "ablations/NAME.csv");
}

static void what_is_done_is_not_done_again(void **state)
{
  (void)state;
  EXPECT("touch -d 2001-01-01 q/runs/*/seed-0/eval.json q/runs/*/seed-0/checkpoint; cp -r q/masks before; "
         "$R4 ablate exp --only masks --quick --out q; find q/runs -newermt 2002-01-01 -name eval.json -o "
         "-newermt 2002-01-01 -name checkpoint | wc -l",
         0, "| R3 ", "\n0\n");
  command_lacks("/5]");
  EXPECT("rm q/runs/r3_weight_decay=0.02_data.keep_masks=1/seed-0/eval.json; "
         "$R4 ablate exp --only masks --quick --out q",
         0, "/5] r3_weight_decay=0.02");
  command_lacks("_weight_decay=0.01");
  EXPECT("diff -r before q/masks", 0, "");
}

/* summary.json is enough: a run that it is of is left alone, with or without what training would need, and one that it
 * is not of is looked at. Nobody is told to believe an edited one. */
static void what_another_has_done_is_taken(void **state)
{
  (void)state;
#define AGAIN "$R4 ablate exp --only masks --quick --out q2"
  EXPECT("cp -r q q2; rm q2/runs/*/seed-0/checkpoint q2/masks/results.*; " AGAIN
         " && ls q2/runs/*/seed-0 | grep -c checkpoint; diff -r q/masks q2/masks && echo same",
         0, "| R3 ", "\n0\nsame\n");
  command_lacks("/5]");
  EXPECT("rm -r q2; cp -r q q2; sed -i 's/\"accuracy\":[0-9.]*/\"accuracy\":0.9375/' " ONE2 "/../summary.json; " AGAIN
         " --quiet && diff -r q/masks q2/masks && cmp " ONE2 "/../summary.json " ONE "/../summary.json && echo same",
         0, "same\n");
  EXPECT("rm -r q2; cp -r q q2; cp q2/runs/r3_weight_decay=0.01_data.keep_masks=0.5/summary.json " ONE2
         "/..; " AGAIN " --quiet && diff -r q/masks q2/masks && echo same",
         0, "same\n");
  EXPECT("rm -r q2; cp -r q q2; rm q2/runs/*/seed-0/checkpoint; " AGAIN " --set batch=3", 2,
         "batch has changed from 4 to 3");
}

/* Data that are others now are noticed, though every run is done. */
static void other_data_are_noticed(void **state)
{
  (void)state;
  EXPECT("cp -r pets cats; run='$R4 sweep small.yaml --set data=cats --set epochs=12 --over rate=0.01,0.02 --out moved "
         "--quiet'; eval $run && cp cats/images/00.png cats/images/01.png && eval $run; echo code $?",
         0, "Picked", "code 2");
}

/* $run, killed at several moments; and to its end, as soon as the last process of those is gone. */
#define MOMENTS "0.02 0.05 0.1 0.2 0.4 0.8"
#define KILL "eval timeout -s KILL $t $run > log 2>&1"
#define FINISH "for i in $(seq 100); do eval $run > log 2>&1 && break; sleep 0.2; done"

/* Stopped while it looks at what is done, or writes: the tables of before are still there, if not alone. */
static void tables_do_not_shrink(void **state)
{
  (void)state;
  EXPECT("cp -r q/masks whole-tables; run='$R4 ablate exp --only masks --quick --out q'; for t in " MOMENTS
         "; do " KILL "; diff -r -x '*.part' whole-tables q/masks || exit 1; done; " FINISH
         "; diff -r whole-tables q/masks",
         0, "");
}

/* Figures that are cut off, were edited, are of another version, or of another model: named, and measured again to the
 * same tables. */
static void spoilt_figures_are_measured_again(void **state)
{
  (void)state;
  static const struct {
    const char *spoil, *why;
  } sample[] = {
    {"head -c 200 was > eval.json", "eval.json: line 1"},
    {"sed 's/\"accuracy\":[0-9.]*/\"accuracy\":0.9375/' was > eval.json", "eval.json: was edited"},
    {"sed 's/\"r4\":\"/&9/' was > eval.json", "eval.json: is from r4 9" R4_VERSION},
    {"cp ../../r3_weight_decay=0.01_data.keep_masks=0.5/seed-0/eval.json .",
     "eval.json: belongs to other settings, data or weights"},
  };
  EXPECT("rm -rf before; cp -r q/masks before; cd " ONE " && cp eval.json was", 0, "");
  for (size_t k = 0; k < sizeof sample / sizeof *sample; k++) {
    char line[400];
    snprintf(line, sizeof line, "cd " ONE " && %s", sample[k].spoil);
    EXPECT(line, 0, "");
    EXPECT("$R4 ablate exp --only masks --quick --out q --quiet", 0, sample[k].why, "; measuring again");
    EXPECT("cmp " ONE "/eval.json " ONE "/was && diff -r before q/masks", 0, "");
  }
  pets_spoil(ONE "/model.safetensors", 1, 0); /* it comes back from the checkpoint */
  EXPECT("$R4 ablate exp --only masks --quick --out q --quiet; diff -r before q/masks && echo same", 0,
         "same\n");
}

/* Stopped by a signal, it goes on; the figures are those of one that was not. */
static void stopped_ones_go_on(void **state)
{
  (void)state;
  EXPECT("$R4 ablate exp --only net --set epochs=3000000 --set batch=1 --jobs 2 --out stop --quiet > log 2>&1 & "
         "P=$!; "
         "for i in $(seq 400); do [ -s stop/runs/r3_net=dense_2_rate=0.01/seed-0/log.jsonl ] && break; sleep "
         "0.1; done; kill -TERM $P; (sleep 60; kill -KILL $P) >/dev/null 2>&1 & wait $P; "
         "echo code $?; kill $!; cat log; "
         "sleep 0.3; ls stop/runs/*/lock | wc -l",
         0, "code 1", "stopped and saved; the same command continues");
  EXPECT("$R4 ablate exp --only net --set epochs=2 --out stop --quiet", 2, "epochs");
}

/* Killed wherever it was, it ends with the tables of one that was not, to the byte. */
static void killed_ones_end_with_the_same_tables(void **state)
{
  (void)state;
  EXPECT("$R4 ablate exp --only net --seeds 2 --set epochs=40 --jobs 2 --out whole --quiet", 0, "R3");
  EXPECT("run='$R4 ablate exp --only net --seeds 2 --set epochs=40 --jobs 2 --out killed --quiet'; for t "
         "in " MOMENTS "; do " KILL "; done; " FINISH "; diff -r whole/net killed/net && echo same",
         0, "same\n");
}

static void mistakes_in_ablations_are_named(void **state)
{
  (void)state;
  static const struct {
    const char *table, *text;
    int code;
  } sample[] = {
    {"name,preset,x,values\nR3,r3,lamda,1 2\n", "no setting \"lamda\"; did you mean lambda?", 2},
    {"name,preset,x,values\nR3,r3,lambda,\n", "row 1: expected values of x", 2},
    {"name,preset,x,values\nR3,r3,lambda,1 1\n", "row 1: expected values that differ", 2},
    {"name,preset,x,values\n,r3,lambda,1\n", "row 1: expected a name, a preset and x", 2},
    {"name,preset,x,values,y\nR3,r3,lambda,1,rate\n", "row 1: expected both y and y_values", 2},
    {"name,preset,x,values,labels\nR3,r3,lambda,1 2,one\n", "as many labels or none", 2},
    {"name,preset,settings,x,values\nR3,r3,rate=2*y,lambda,1\n",
     "\"rate=2*y\": expected key=value, or a product", 2},
    {"name,preset,x,values\nR3,r4,lambda,1\n", "exp/r4.yaml: no such file", 2},
    {"name,preset,x,values\n", "there is no row", 2},
    {"name,preset\n\"R3\n", "bad.csv", 3},
    {"name,preset,x,values\nR3,r3,rate,1 2\n", "--set rate: the ablation \"bad\" sets it itself", 2},
  };
  for (size_t k = 0; k < sizeof sample / sizeof *sample; k++) {
    put_text(scratch_folder(), "exp/ablations/bad.csv", sample[k].table);
    EXPECT("$R4 ablate exp --only bad --out bad --set rate=0.1", sample[k].code, sample[k].text);
  }
  EXPECT("rm exp/ablations/bad.csv; $R4 ablate nowhere", 2,
         "no experiment \"nowhere\": expected a file of settings, or");
  EXPECT("touch file-in-the-way; $R4 ablate exp --only masks --quick --out file-in-the-way", 3,
         "file-in-the-way");
}

/* ---- r4 sweep ---- */

static void sweeps_pick_by_validation(void **state)
{
  (void)state;
  EXPECT(
    "$R4 sweep small.yaml --set method=r3 --set epochs=4 --over lambda=0.01,0.1 --over rate=0,0.02 --out s",
    0, "[4/4] ", "| lambda | rate |", "the test part was not used",
    "Picked by validation alone, by the score", "rate=0.02\n", "r4 eval s/runs/lambda=0.",
    "\n2 of 2 groups have fewer than 5 validation examples, cat first (2): the worst group of validation");
  EXPECT("cat s/results.md", 0, "\n2 of 2 groups have fewer than 5 validation examples");
  EXPECT("cat s/results.csv", 0, "lambda,rate,val_avg_group_accuracy,val_avg_group_accuracy_sd,", ",1\n",
         ",as_is_auc,as_is_auc_sd,", ",as_is_swap_lost_share,");
  EXPECT("cat s/results.json", 0, "\"as_is\":{\"loss\":", "\"ece\":", "\"val_kappa_masked_max\":");
  EXPECT("cat s/pareto.csv s/pareto.svg s/results.json", 0, "lambda,rate,val_avg_group_accuracy", "<svg",
         "\"picked\":true", "\"picked_by\":\"validation: score\"");
  EXPECT(
    "$R4 sweep small.yaml --set method=r3 --set epochs=4 --over lambda=0.01,0.1 --over rate=0,0.02 --out s",
    0, "Picked");
  command_lacks("[4/4]");
  EXPECT("$R4 sweep few.yaml --over method=erm,r3 --out few --quiet", 2,
         "the sweep picks by validation, but validation contains the shortcut",
         "4 validation examples can be exchanged, and 20 are needed");
  EXPECT("ls s/runs/*/seed-0/eval*.json", 0, "s/runs/lambda=0.1_rate=0.02/seed-0/eval-val.json");
  command_lacks("eval.json");
}

/* The same of the grid each time. */
static void some_of_a_grid(void **state)
{
  (void)state;
  EXPECT(
    "$R4 sweep small.yaml --set epochs=12 --over rate=0.01,0.02,0.03 --over batch=2,3,4 --random 3 --out "
    "some --quiet && "
    "ls some/runs | wc -l",
    0, "\n3\n");
  EXPECT(
    "$R4 sweep small.yaml --set epochs=12 --over rate=0.01,0.02,0.03 --over batch=2,3,4 --random 3 --out "
    "some --quiet && "
    "ls some/runs | wc -l",
    0, "\n3\n");
  EXPECT("$R4 sweep small.yaml --set epochs=12 --over 'net=dense 2; dense 3, relu, dense 2' --random 9 --out "
         "nets --quiet",
         0, "dense 3, relu, dense 2 |");
}

static void mistakes_in_sweeps_are_named(void **state)
{
  (void)state;
  EXPECT("$R4 sweep small.yaml", 2, "--over lambda=0.01,0.1,1");
  EXPECT("$R4 sweep small.yaml --over lamda=1,2", 2, "--over: no setting \"lamda\"; did you mean lambda?");
  EXPECT("$R4 sweep small.yaml --over lambda=", 2, "--over lambda=: expected at least one value");
  EXPECT("$R4 sweep small.yaml --over lambda", 2, "expected key=value,value,..");
  EXPECT("$R4 sweep small.yaml --over rate=1,1", 2, "expected values that differ from each other");
  EXPECT("$R4 sweep small.yaml --over rate=0.1,fast", 2, "--over: rate");
  EXPECT("$R4 sweep small.yaml --over rate=0.1 --over rate=1", 2, "this setting is given twice");
  EXPECT("$R4 sweep small.yaml --over seed=0,1", 2, "--seeds sets their number");
  EXPECT("$R4 sweep small.yaml --over rate=0.1 --pick best", 2, "--pick needs worst or avg");
  EXPECT("$R4 sweep nothing.yaml --over rate=0.1 --out none", 2, "nothing.yaml: no such file");
  EXPECT("$R4 sweep small.yaml --set data=dark --set rate=0 --over lambda_ramp=1,2 --set method=r3 --set "
         "epochs=2 --out dead --quiet",
         1, "there is none to pick");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(ablations_are_tables),
    cmocka_unit_test(some_are_not_quick),
    cmocka_unit_test(two_settings_make_a_heat_map),
    cmocka_unit_test(a_file_is_an_experiment),
    cmocka_unit_test(what_is_done_is_not_done_again),
    cmocka_unit_test(what_another_has_done_is_taken),
    cmocka_unit_test(other_data_are_noticed),
    cmocka_unit_test(tables_do_not_shrink),
    cmocka_unit_test(spoilt_figures_are_measured_again),
    cmocka_unit_test(stopped_ones_go_on),
    cmocka_unit_test(killed_ones_end_with_the_same_tables),
    cmocka_unit_test(mistakes_in_ablations_are_named),
    cmocka_unit_test(sweeps_pick_by_validation),
    cmocka_unit_test(some_of_a_grid),
    cmocka_unit_test(mistakes_in_sweeps_are_named),
  };
  if (!check_command()) return 0;
  return cmocka_run_group_tests(tests, make, scratch_remove);
}
