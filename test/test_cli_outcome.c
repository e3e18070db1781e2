/* Nets whose penalty counted in no step are not nets of their method: whoever shows them says so. Needs $R4, the
 * command. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "folder_make.h"

/* A net that learns nothing, which the guard holds back, and one whose penalty counts. */
static int make(void **state)
{
  if (scratch_make(state)) return -1;
  put_text(
    scratch_folder(), "table/base.yaml",
    "data: decoy-mnist\ndata.from: digits:300\ndata.val: 0.2\nepochs: 2\nbatch: 50\n"
    "net: dense 8, relu, dense 10\nmethod: r3\nlambda: 0.1\npenalty.cap: false\nrate: 0.01\nthreads: 1\n");
  put_text(scratch_folder(), "table/held.yaml", "base: base.yaml\npenalty.cap: true\nrate: 1e-9\n");
  put_text(scratch_folder(), "table/table.csv",
           "name,preset,avg,avg_sd,worst,worst_sd,kappa,settings\nMeant,base,,,,,,\nHeld,held,,,,,,\n");
  put_text(scratch_folder(), "table/ablations/rate.csv",
           "name,preset,x,values\nMeant,base,weight_decay,0.01\nHeld,held,weight_decay,0.01\n");
  EXPECT("$R4 train table/held.yaml --out held --quiet", 1, "the penalty took effect in none of 10 steps");
  EXPECT("$R4 train table/base.yaml --out meant --seeds 2 --quiet", 0, "took effect in 10 of 10 steps");
  EXPECT("cp -r held old && rm old/seed-0/outcome.json; cp -r meant mixed && "
         "cp held/seed-0/outcome.json mixed/seed-1; cp -r held torn && echo '{' > torn/seed-0/outcome.json",
         0, "");
  return 0;
}

#define SAYS "the penalty took effect in none of 10 steps: this net was not trained with r3"

static void eval_says_so(void **state)
{
  (void)state;
  EXPECT("$R4 eval held", 0, "examples of test\n" SAYS "\n\n");
  EXPECT("$R4 eval mixed", 0, "examples of test\n1 of 2 seeds: " SAYS "\n\n");
  EXPECT("$R4 eval meant held", 0, "\nheld: " SAYS "\n");
  command_lacks("meant: the penalty");
  EXPECT("$R4 eval meant", 0, "worst group");
  command_lacks("penalty");
}

static void eval_tells_machines(void **state)
{
  (void)state;
  EXPECT("$R4 eval held --json", 0, "\"unpenalised_seeds\":1,", "\"outcome\":{\"verdict\":\"",
         "\"steps\":10,\"penalised_steps\":0,\"unpenalised\":true,\"doubtful\":false}");
  EXPECT("$R4 eval meant --json", 0, "\"unpenalised_seeds\":0,",
         "\"penalised_steps\":10,\"unpenalised\":false,\"doubtful\":false}");
}

/* Runs from before there was such a file are as they were; one that is damaged is named. */
static void eval_of_runs_without_it(void **state)
{
  (void)state;
  EXPECT("$R4 eval old", 0, "worst group");
  command_lacks("penalty");
  EXPECT("$R4 eval old --json", 0, "\"unpenalised_seeds\":0,", "\"outcome\":null");
  EXPECT("$R4 eval torn", 0, "torn/seed-0/outcome.json: line 2", "worst group");
}

static void pages_say_so(void **state)
{
  (void)state;
  EXPECT("$R4 report held meant --out page.html && sed '1,/<main/d; s/<[^>]*>//g' page.html | head -40", 0,
         "The penalty took effect in none of 10 steps of held: the net was not trained with r3.",
         "Trained with masks: meant ", "Trained with masks, but its penalty never took effect: ");
  command_lacks("Trained with masks: held");
  EXPECT("$R4 report mixed --out mixed.html && sed '1,/<main/d; s/<[^>]*>//g' mixed.html | head -40", 0,
         "Trained with masks: mixed ", "The penalty took effect in none of 10 steps of 1 of 2 seeds of mixed: ");
  EXPECT("$R4 report old --out old.html && sed '1,/<main/d; s/<[^>]*>//g' old.html | head -40", 0,
         "Trained with masks: old ");
  command_lacks("The penalty took effect");
}

/* What validation is of stands at its curve; older logs do not say. */
static void pages_say_what_validation_is_of(void **state)
{
  (void)state;
  static const char WITH[] = "Worst group of the validation examples, with ";
  EXPECT("$R4 report meant --out kind.html && grep -o 'Worst group of[^<]*cent' kind.html", 0, WITH,
         "masked content exchanged between classes, in per cent\n");
  EXPECT("sed -i 's/\"of\":\"exchanged\"/\"of\":\"carries the shortcut\"/' mixed/seed-1/log.jsonl && "
         "$R4 report mixed --out kind.html --force && grep -o 'Worst group of[^<]*cent' kind.html",
         0, "examples, which are not the same for all nets, in per cent\n");
  EXPECT("sed -i 's/\"of\":\"exchanged\",//' held/seed-0/log.jsonl && "
         "$R4 report held --out kind.html --force && grep -o 'Worst group of[^<]*cent' kind.html",
         0, "Worst group of the validation examples, in per cent\n");
}

/* What learns nothing has a kappa of almost 0, and is not picked for it. */
static void sweeps_do_not_pick_them(void **state)
{
  (void)state;
  EXPECT("$R4 sweep table/base.yaml --over penalty.cap=false,true --over rate=1e-9,0.01 --out s", 0,
         ", not penalised", "| not penalised |", "Picked by validation alone",
         "penalty.cap=false rate=0.01\n",
         "Not penalised: the penalty never took effect, so the net was not trained by its method, and is not picked.");
  EXPECT("cat s/results.csv", 0, "constant_seeds,unpenalised_seeds,pareto,picked\n", "true,1e-9,");
  EXPECT("grep -c '\"unpenalised_seeds\":1,\"pareto\":false,\"picked\":false' s/results.json", 0, "");
  EXPECT("$R4 sweep table/held.yaml --over lambda=0.1,0.2 --out none --quiet", 0, "| picked, not penalised |",
         "|         not penalised |", "Picked by validation alone",
         "\nThe penalty never took effect in any of them: try more epochs");
}

static void tables_mark_them(void **state)
{
  (void)state;
  EXPECT("$R4 reproduce table --seeds 1 --out rows --quiet", 0, "| Held # ",
         "\n\\# Held: " SAYS ", and it is not compared.\n");
  command_lacks("# Meant");
  EXPECT("cat rows/results.json", 0, "\"marks\":{}");
  command_lacks("\"best\""); /* one row alone competes */
  EXPECT("$R4 reproduce table --seeds 1 --out rows --quiet --json", 0, "\"unpenalised_seeds\":1",
         "\"unpenalised\":\"" SAYS "\"");
  EXPECT("$R4 ablate table --only rate --seeds 1 --out a", 0, ", not penalised", "| \\#",
         "\\#: a net whose penalty never took effect.");
  EXPECT("cat a/rate/results.csv a/rate/results.json", 0, "steady_worst_group_accuracy_sd,unpenalised_seeds\n",
         "\"constant_seeds\":0,\"unpenalised_seeds\":0}", "\"constant_seeds\":0,\"unpenalised_seeds\":1}");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(eval_says_so),
    cmocka_unit_test(eval_tells_machines),
    cmocka_unit_test(eval_of_runs_without_it),
    cmocka_unit_test(pages_say_so),
    cmocka_unit_test(pages_say_what_validation_is_of),
    cmocka_unit_test(sweeps_do_not_pick_them),
    cmocka_unit_test(tables_mark_them),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  if (!check_command()) return 0;
  return cmocka_run_group_tests_name("cli outcome", tests, make, scratch_remove);
}
