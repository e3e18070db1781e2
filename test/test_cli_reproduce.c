/* r4 reproduce: the same tables to the byte however often it was interrupted, kept figures that are refused, and the
 * forms of its results. Needs $R4, the command. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "folder_make.h"

/* Four methods with two seeds, of which one has a lambda of its own, on digits that are drawn. */
static int make(void **state)
{
  if (scratch_make(state)) return -1;
  put_text(scratch_folder(), "table/base.yaml",
           "data: decoy-mnist\ndata.from: digits:240\nnet: dense 8, relu, dense 10\nepochs: 6\nbatch: "
           "16\nthreads: 1\nclass_weights: none\n");
  put_text(scratch_folder(), "table/erm.yaml", "base: base.yaml\nmethod: erm\n");
  put_text(scratch_folder(), "table/r3.yaml", "base: base.yaml\nmethod: r3\nlambda: 1\npenalty.cap: false\n");
  put_text(scratch_folder(), "table/ceiling.yaml", "base: base.yaml\nmethod: fill\nfill: blank\n");
  put_text(scratch_folder(), "table/table.csv",
           "name,preset,avg,avg_sd,worst,worst_sd,kappa,settings\nERM,erm,63.89,1.2,22.39,1.7,497.44,\n"
           "R3,r3,92.22,,85.43,,4.35,\nR3 strong,r3,,,,,,lambda=30\nCeiling: blank,ceiling,,,,,,\n");
  EXPECT("$R4 reproduce table --seeds 2 --out whole --quiet", 0, "| ERM ", "| R3 strong ");
  return 0;
}

static const char SAME[] =
  "for f in txt md csv json; do cmp whole/results.$f %s/results.$f || exit 9; done; echo all the same";

static void expect_same(const char *folder)
{
  char line[400];
  snprintf(line, sizeof line, SAME, folder);
  EXPECT(line, 0, "all the same");
}

/* By each of the signals, after a while that is drawn: in training, in measuring, and between the two. What it says is
 * "stopped and saved", or it was done before. The first one waits until a net is being trained, however slow the
 * machine is; after a KILL, the workers that are left end by themselves, and their locks with them. */
static void interrupted_at_random_moments(void **state)
{
  (void)state;
  EXPECT("s=7; for n in 1 2 3 4 5 6 7 8 9 10; do s=$(( (s * 1103515245 + 12345) % 2147483648 )); "
         "case $((n % 3)) in 0) k=KILL;; 1) k=INT;; *) k=TERM;; esac; "
         "$R4 reproduce table --seeds 2 --out often --quiet >/dev/null 2>>said & p=$!; "
         "while [ $n -eq 1 ] && kill -0 $p && ! ls often/*/seed-*/log.jsonl; do sleep 0.02; done >/dev/null 2>&1; "
         "[ $n -eq 1 ] || sleep 0.$(( s / 65536 % 9 ))$(( s / 1024 % 9 )); kill -$k $p 2>/dev/null; wait $p; c=$?; "
         "[ $c -le 1 ] || [ $c -eq 137 ] || [ $c -eq 143 ] || [ $c -eq 130 ] || { cat said; exit 9; }; "
         "[ $k != KILL ] || find often -name lock -exec flock {} true ';'; done; ls often; cat said",
         0, "erm", "stopped and saved; the same command continues");
  EXPECT("$R4 reproduce table --seeds 2 --out often --quiet", 0, "| R3 strong ");
  expect_same("often");
}

/* On a terminal each net has a line that changes in its place: it is never longer than the terminal is wide. */
static void progress_fits_the_terminal(void **state)
{
  (void)state;
  if (system("command -v script >/dev/null")) check_skip("no script");
  EXPECT(
    "script -qec 'stty cols 60; $R4 reproduce table --seeds 2 --methods erm --out wide' /dev/null | tr '\\r' "
    "'\\n' | sed 's/\\x1b\\[K//' | awk '/^\\[[#.]+\\]/ { bars++; if (length > 59) print \"long: \" $0 } END "
    "{ "
    "print bars ? \"bars\" : \"none\" }'",
    0, "bars\n");
  command_lacks("long: ");
}

/* Neither epochs nor figures. */
static void nothing_is_made_twice(void **state)
{
  (void)state;
  EXPECT("cp -r whole again; rm again/results.*; list() { find again -name $1 | sort | xargs ls -l "
         "--time-style=full-iso; "
         "}; (list eval.json; cat again/*/seed-*/log.jsonl) > before; "
         "$R4 reproduce table --seeds 2 --out again --quiet > /dev/null; "
         "(list eval.json; cat again/*/seed-*/log.jsonl) | cmp - before && grep -c eval.json "
         "before",
         0, "8\n");
  expect_same("again");
}

/* One that is cut, one that is edited, one of another version, one of another net: named, and measured again. */
static void kept_figures_are_refused(void **state)
{
  (void)state;
  EXPECT("cp -r whole bad; cd bad; head -c 300 ../whole/erm/seed-0/eval.json > erm/seed-0/eval.json; "
         "sed 's/\"accuracy\":0/\"accuracy\":1/' ../whole/erm/seed-1/eval.json > erm/seed-1/eval.json; "
         "sed 's/\"r4\":\"/\"r4\":\"9/' ../whole/r3/seed-0/eval.json > r3/seed-0/eval.json; "
         "cp r3/seed-1/eval.json ceiling/seed-0; cd ..; $R4 reproduce table --seeds 2 --out bad --quiet",
         0,
         "r4 eval: bad/erm/seed-0/eval.json: line 1, column 301: ", "bad/erm/seed-1/eval.json: was edited: ",
         "bad/r3/seed-0/eval.json: is from r4 9" R4_VERSION ", this is r4 " R4_VERSION "; measuring again",
         "bad/ceiling/seed-0/eval.json: belongs to other settings, data or weights");
  expect_same("bad");
  EXPECT("$R4 reproduce table --seeds 2 --out bad --quiet", 0, "| ERM ");
  command_lacks("measuring again");
}

/* A page keeps figures of fewer draws and examples: those of a table are measured again. */
static void figures_of_pages_are_not_those_of_tables(void **state)
{
  (void)state;
  EXPECT("cp -r whole paged; rm paged/*/seed-*/eval.json; $R4 report paged/erm paged/r3 --out paged.html; "
         "$R4 reproduce table --seeds 2 --out paged --quiet",
         0, "| ERM ");
  expect_same("paged");
}

/* Seeds that are there and not asked for do not count. */
static void other_seeds_do_not_count(void **state)
{
  (void)state;
  EXPECT("cp -r whole fewer; $R4 reproduce table --seeds 1 --out fewer --quiet > /dev/null; $R4 reproduce "
         "table --seeds 1 "
         "--out one --quiet > /dev/null; for f in txt md csv json; do cmp fewer/results.$f one/results.$f || "
         "exit 1; done",
         0, "");
}

/* Results that stand there are never read: edited ones are written again. */
static void results_are_written_again(void **state)
{
  (void)state;
  EXPECT("cp -r whole edited; for f in txt md csv json; do echo 100 > edited/results.$f; done; "
         "$R4 reproduce table --seeds 2 --out edited --quiet",
         0, "| ERM ");
  expect_same("edited");
}

static void forms_agree(void **state)
{
  (void)state;
  EXPECT("$R4 reproduce table --seeds 2 --out whole --quiet --form text", 0, "ERM  ", "kappa, masked, mean",
         "changed by swap", "AUC", "63.89 +- 1.2", "Welch's t test", "Time of training");
  command_lacks("| ERM");
  EXPECT(
    "$R4 reproduce table --seeds 2 --out whole --quiet --form csv | cmp - whole/results.csv && "
    "$R4 reproduce table --seeds 2 --out whole --quiet --form json | cmp - whole/results.json && head -2 "
    "whole/results.csv",
    0, "name,preset,settings,nets,loss,loss_sd,avg_group_accuracy,avg_group_accuracy_sd,avg_group_accuracy_mark,",
    ",swap_flipped_share,", "\nERM,erm,,2,", ",0.6389,0.012,0.2239,0.017,497.44\n");
  EXPECT("v=$(grep -o '\"auc\":[0-9.]*' whole/results.json | head -1 | cut -d: -f2 | cut -c1-8); "
         "a=$(grep -o '\"avg_group_accuracy\":[0-9.]*' whole/results.json | head -1 | cut -d: -f2 | cut -c1-8); "
         "echo $v $a; grep -c \"^ERM,.*,$a.*,$v\" whole/results.csv", 0, "\n1\n"); /* shares, in both */
  EXPECT("cat whole/results.json", 0, "\"marks\":{", "\"of_nets\":{\"loss\":[", "\"accuracy\":[", "\"p\":{",
         "\"auc\":[");
  EXPECT("cat whole/costs.csv", 0, "name,preset,settings,nets,epochs,seconds\nERM,erm,,2,12,");
  EXPECT("$R4 reproduce table --seeds 2 --out whole --quiet --form latex", 0,
         "\\begin{tabular}{llllllll}\n\\hline\n & group",
         " $\\pm$ ", "\nERM & ", "63.89 $\\pm$ 1.2 & 22.39 $\\pm$ 1.7 \\\\\n", "\\textasciicircum{}",
         "\n% Accuracy. group average",
         "% Time of training", "\\end{tabular}\n");
  EXPECT("$R4 reproduce table --seeds 2 --out whole --quiet --form latex | grep -c '^[^%\\].*[^\\]$'", 1, "0\n");
  EXPECT("cat whole/results.md", 0, " ^ ", "| Ceiling: blank ");
  command_lacks("seconds");
  EXPECT("grep Ceiling whole/results.md", 0, "| Ceiling");
  command_lacks("^"); /* does not compete */
  EXPECT("$R4 reproduce table --form xml", 2, "--form needs text, markdown, latex, csv or json, not \"xml\"");
}

/* What the command line changes of all rows is in every result, and a run is named in what is said of it. */
static void changes_are_told(void **state)
{
  (void)state;
  EXPECT("$R4 reproduce table --methods 'Ceiling, ERM' --seeds 1 --set epochs=1 --set rate=0.01 --out changed 2>err; "
         "cat changed/results.md", 0, "\nChanged in all rows: --set epochs=1 rate=0.01\n");
  EXPECT("cat changed/results.csv changed/results.json changed/costs.csv", 0, "\nERM,erm,epochs=1 rate=0.01,1,",
         "\"settings\":\"epochs=1 rate=0.01\"");
  command_lacks("R3");
  EXPECT("$R4 reproduce table --methods R3 --seeds 1 --set epochs=1 --out changed; head -4 changed/results.csv", 0,
         "r4 reproduce: [2/2] R3 strong: seed 0: ", "\nR3 strong,r3,lambda=30 epochs=1,1,");
  EXPECT("cat whole/results.md", 0);
  command_lacks("Changed in");
}

static void unknown_methods_are_refused(void **state)
{
  (void)state;
  EXPECT("$R4 reproduce table --methods erm,r33 --out none", 2,
         "--methods: \"r33\" is not a preset of table/table.csv");
  EXPECT("$R4 reproduce table --methods ,erm --out none", 2, "--methods: \"\" is not a preset of");
  EXPECT("ls none", 2, "No such file");
}

/* What was measured of nets besides is a figure like others: no command names it. */
static void other_figures_are_shown(void **state)
{
  (void)state;
  EXPECT("cp -r whole more; $R4 eval more/r3 --noise 1 --pointing gradient --swap swap,blank > /dev/null; "
         "$R4 reproduce table --seeds 2 --out more --quiet", 0, "\nNoise. ",
         "| core sensitivity, noise 1 |", "\nPointing games. ",
         "| changed by blank ");
  EXPECT("cat more/results.csv", 0, ",core_sensitivity.1,core_sensitivity.1_sd,core_sensitivity.1_mark,",
         ",pointing_energy.gradient,", ",swap_flipped_share_p,swap_flipped_share.blank,"); /* in order */
  EXPECT("cat more/results.json more/r3/summary.json", 0, "\"core_sensitivity.1\":", "\"pointing_hit.gradient\":[");
}

/* One line for each row, with what is left. */
static void progress_is_a_line_a_row(void **state)
{
  (void)state;
  EXPECT("$R4 reproduce table --seeds 2 --methods erm,r3 --out lines 2>&1 >/dev/null", 0,
         "[1/3] ERM: group average ", " s left\n", "[3/3] R3 strong: group average ", ", lost by swap ");
  command_lacks("epoch 1/");
  EXPECT("$R4 reproduce table --seeds 2 --methods erm,r3 --out lines 2>&1 >/dev/null | wc -l", 0, "3\n");
  EXPECT("$R4 reproduce table --seeds 1 --methods erm --set eval.kappa_examples=0 --out lines0 2>&1 >/dev/null", 0,
         "[1/1] ERM: group average ");
  command_lacks("kappa"); /* which was not measured */
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(interrupted_at_random_moments),
    cmocka_unit_test(progress_fits_the_terminal),
    cmocka_unit_test(nothing_is_made_twice),
    cmocka_unit_test(kept_figures_are_refused),
    cmocka_unit_test(figures_of_pages_are_not_those_of_tables),
    cmocka_unit_test(other_seeds_do_not_count),
    cmocka_unit_test(results_are_written_again),
    cmocka_unit_test(forms_agree),
    cmocka_unit_test(changes_are_told),
    cmocka_unit_test(unknown_methods_are_refused),
    cmocka_unit_test(other_figures_are_shown),
    cmocka_unit_test(progress_is_a_line_a_row),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  if (!check_command()) return 0;
  return cmocka_run_group_tests_name("cli_reproduce", tests, make, scratch_remove);
}
