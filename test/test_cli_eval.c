/* r4 eval, explain and reproduce on runs that look better than they are. Needs $R4, the command. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "command.h"
#include "folder_make.h"
#include "pets.h"

static int make(void **state)
{
  if (scratch_make(state)) return -1;
  pets_make((struct pets){.folder = "pets", .cat = "cat", .dog = "dog", .test = 6, .masked = true});
  pets_make((struct pets){.folder = "bare", .cat = "cat", .dog = "dog", .test = 6});
  pets_make(
    (struct pets){.folder = "dark", .cat = "cat", .dog = "dog", .test = 6, .masked = true, .dark = true});
  pets_settings("small.yaml", "pets", "method: r3\nlambda: 0.1\n");
  pets_settings("erm.yaml", "pets", "");
  EXPECT("$R4 train small.yaml --seeds 2 --out good --quiet && cp -r good dead && cp -r good half", 0,
         "good");
  EXPECT("$R4 train erm.yaml --out erm --quiet && cp -r good odd", 0, "erm");
  pets_spoil("dead/seed-0/model.safetensors", 1, 0);
  pets_spoil("dead/seed-1/model.safetensors", 0, 0);
  pets_spoil("half/seed-1/model.safetensors", 1, 0);
  pets_spoil("erm/seed-0/model.safetensors", 1, 0);
  return 0;
}

/* ---- Nets that give one answer to everything ---- */

static void eval_names_them(void **state)
{
  (void)state;
  EXPECT("$R4 eval good", 0, "worst group");
  EXPECT("mkdir -p several/none && cp -r good several/b && cp -r erm several/a && $R4 eval several", 2,
         "r4 eval: several holds several runs: several/a, several/b\n");
  command_lacks("predicts only");
  EXPECT("$R4 eval dead", 1, "seed 0 predicts only dog; its kappa means nothing",
         "seed 1 predicts only cat; its kappa means nothing", "Try a lower lambda");
  EXPECT("$R4 eval half", 1, "\nseed 1 predicts only dog");
  command_lacks("seed 0 predicts only");
  EXPECT("$R4 eval erm", 1, "Try a lower rate.");
  EXPECT("$R4 eval good half", 1, "* half: seed 1 predicts only dog");
  command_lacks("* good:");
}

/* Files and JSON have shares, tables per cent; what one seed does not have is null, and no "+-". */
static void one_seed_has_no_deviation(void **state)
{
  (void)state;
  EXPECT("$R4 eval good", 0, " +- ");
  EXPECT("$R4 eval good/seed-0", 0, "worst group");
  command_lacks("+-");
  EXPECT("$R4 eval good/seed-0 --json", 0, "\"accuracy_sd\":null,", "\"lost_share_sd\":null");
  EXPECT("$R4 eval good/seed-0 --json | grep -o '\"worst_group_accuracy\":[^,]*' | head -1 > json; "
         "grep -o '\"worst_group_accuracy\":[^,]*' good/seed-0/eval.json | cmp - json && echo same",
         0, "same");
}

/* On images that are nearly black a net that never learns answers by its biases alone. */
static void train_gives_advice_that_helps(void **state)
{
  (void)state;
  EXPECT("$R4 train erm.yaml --set data=dark --set rate=0 --seeds 2 --out never --quiet", 1,
         "nets collapsed to one class, and their figures mean nothing. Try a lower rate.");
}

/* A net that was not trained has no rate to lower. */
static void nets_without_epochs(void **state)
{
  (void)state;
  EXPECT("$R4 train erm.yaml --set epochs=0 --set from=erm/seed-0/model.safetensors --out zero --quiet; $R4 eval zero",
         1, "epochs is 0: the weights are those of from.");
  command_lacks("Try a lower rate");
}

static void eval_tells_machines(void **state)
{
  (void)state;
  EXPECT("$R4 eval half --json", 1, "\"worst_group_accuracy\":0.5,", "\"constant\":true,\"constant_seeds\":1",
         "\"constant\":false,\"predicts_only\":null",
         "\"most_frequent_answer\":\"dog\",\"most_frequent_share\":1,\"constant\":true,\"predicts_only\":"
         "\"dog\"");
  EXPECT("$R4 eval good --json", 0, "\"constant\":false,\"constant_seeds\":0");
}

static void explain_names_them(void **state)
{
  (void)state;
  EXPECT("$R4 explain good dead --out pair.png", 0,
         "dead predicts only dog; its heat maps mean nothing. Try a lower");
  command_lacks("good predicts");
  EXPECT("$R4 explain dead --seed 1 --json --out one.png", 0, "\"constant\":true,\"predicts_only\":\"cat\"");
  EXPECT("cp dead/seed-1/model.safetensors . && $R4 explain model.safetensors --data bare --out file.png", 0,
         "model.safetensors predicts only cat");
}

static void reproduce_marks_them(void **state)
{
  (void)state;
  put_text(scratch_folder(), "table/table.csv",
           "name,preset,avg,avg_sd,worst,worst_sd,kappa,settings\nFine,../small,,,,,,\n"
           "Dead,../small,,,,,,data=dark rate=0\n");
  EXPECT("$R4 reproduce table --seeds 2 --out rows --quiet", 0, "| Fine ", "| Dead ", "| *",
         "\n\\* Dead: 1 of 2 seeds collapsed to one class: seed 1 predicts only ");
  command_lacks("* Fine");
  EXPECT("$R4 reproduce table --seeds 2 --out rows --quiet --json", 0,
         "\"constant\":false,\"constant_seeds\":0",
         "\"constant\":true,\"constant_seeds\":1,\"notice\":\"1 of 2 seeds");
  EXPECT("cat rows/results.md rows/results.json", 0, "seed 1 predicts only ", "\"constant_seeds\":1");
}

/* ---- Numbers that are none ---- */

static void weights_that_are_no_numbers(void **state)
{
  (void)state;
  const char *model = "odd/seed-1/model.safetensors",
             *text = "odd/seed-1/model.safetensors: \"0.weight\" is nan at [0,0], expected a finite number";
  const float number = 12345.5f, bad = NAN, worse = -INFINITY;
  pets_spoil(model, 1, number);
  scratch_patch(model, &number, &bad, sizeof bad);
  EXPECT("$R4 eval odd", 3, "odd/seed-1/model.safetensors: its numbers have changed since it was written");
  scratch_unseal(model);
  EXPECT("$R4 eval odd", 3, text);
  EXPECT("$R4 eval odd --json", 3, text);
  EXPECT("$R4 explain odd --seed 1 --out odd.png", 3, text);
  scratch_patch(model, &bad, &worse, sizeof bad);
  EXPECT("$R4 eval odd", 3, "is -inf at [0,0]");
}

/* The weight is finite, its product with a bright pixel is not. */
static void logits_that_are_no_numbers(void **state)
{
  (void)state;
  EXPECT("$R4 train small.yaml --out large --quiet", 0, "large");
  pets_spoil("large/seed-0/model.safetensors", 1, 3e38f);
  EXPECT("$R4 eval large", 1, "seed 0");
  r4_error e = {0};
  r4_model *m = r4_model_open(scratch_path("large/seed-0/model.safetensors"), NULL, &e);
  assert_non_null(m);
  float w[34];
  memcpy(w, r4_model_weights(m), sizeof w);
  for (int k = 0; k < 16; k++) w[k] = 3e38f; /* dogs are bright in 8 places as well */
  assert_int_equal(
    r4_model_save(r4_model_net(m), w, NULL, scratch_path("large/seed-0/model.safetensors"), &e), R4_OK);
  r4_model_free(m);
  EXPECT("$R4 eval large", 3,
         "large/seed-0/model.safetensors: no prediction for 6 of 6 examples: the logit of class 0 (cat)",
         "example 0 (");
  EXPECT("$R4 explain large --out large.png", 3, "large: no prediction for 6 of 6 examples");
}

/* ---- Fragility ---- */

static void kappa_needs_masks(void **state)
{
  (void)state;
  pets_settings("bare.yaml", "bare", "");
  EXPECT("$R4 train bare.yaml --seeds 2 --out bare-run --quiet && cp -r bare-run bare-too", 0, "bare-run");
  EXPECT("$R4 eval bare-run", 0, "kappa: none, as no example of test has a mask");
  EXPECT("$R4 eval bare-run bare-too | tr -s ' '", 0, "none none", "\ncat 100.00 +- 0.00 % 100.00 +- 0.00 %\n",
         "\nworst group 100.00 +- 0.00 % 100.00 +- 0.00 %\n",
         "kappa: none, as no example of test has a mask");
  EXPECT("$R4 eval bare-run --json", 0, "\"masked_examples\":0",
         "\"kappa_masked_max\":null,\"kappa_masked_max_sd\":null",
         "\"kappa_core_mean\":null,\"kappa_core_mean_sd\":null",
         "\"kappa_masked_mean\":null,\"kappa_core_max\":null");
  put_text(scratch_folder(), "bare-table/table.csv",
           "name,preset,avg,avg_sd,worst,worst_sd,kappa\nBare,../bare,,,,,\n");
  EXPECT("$R4 reproduce bare-table --seeds 2 --out bare-rows --quiet", 0, "| AUC ",
         "kappa is none if no test example has a mask");
  command_lacks("kappa, masked"); /* a table in which no row has a figure */
  EXPECT("cat bare-rows/results.json", 0, "\"kappa_masked_max\":null,\"kappa_masked_max_sd\":null");
  command_lacks("nan");
}

static void examples_without_a_core_are_counted(void **state)
{
  (void)state;
  pets_make(
    (struct pets){.folder = "whole", .cat = "cat", .dog = "dog", .test = 6, .masked = true, .wholly = true});
  pets_settings("whole.yaml", "whole", "");
  EXPECT("$R4 train whole.yaml --out whole-run --quiet", 0, "whole-run");
  EXPECT("$R4 eval whole-run", 0, "none       -\n", "core: without 6 examples that are masked entirely");
  EXPECT("$R4 eval whole-run --json", 0, "\"masked_examples\":6,\"core_examples\":0",
         "\"kappa_core_max\":null");
  EXPECT("$R4 eval whole-run --split val", 0, "fragility");
  command_lacks("core: without");
}

/* Both outputs pull as hard as floats go: the width of what each may do overflows. */
static void infinite_kappa_is_said(void **state)
{
  (void)state;
  r4_error e = {0};
  EXPECT("cp -r good wild", 0, "");
  for (int seed = 0; seed < 2; seed++) {
    char path[200];
    snprintf(path, sizeof path, "%s/wild/seed-%d/model.safetensors", scratch_folder(), seed);
    r4_model *m = r4_model_open(path, NULL, &e);
    assert_non_null(m);
    float w[34] = {[0] = 3e38f, [16] = -3e38f, [33] = 6e37f};
    assert_int_equal(r4_model_save(r4_model_net(m), w, NULL, path, &e), R4_OK);
    r4_model_free(m);
  }
  EXPECT("$R4 eval wild", 0, "\nlargest          inf ",
         "\nkappa is infinite: the interval bounds overflow, and prove nothing");
  command_lacks("nan");
  EXPECT("$R4 eval wild --json", 0, "\"kappa_masked_max\":\"inf\",\"kappa_masked_max_sd\":null");
}

/* ---- How it is measured ---- */

static void settings_of_an_evaluation(void **state)
{
  (void)state;
  EXPECT("cp -r good how && $R4 eval how && cp how/seed-0/eval.json before", 0, "worst group");
  EXPECT("$R4 eval how --kappa 2", 0, "on 2 examples with a mask");
  EXPECT("$R4 eval how --kappa 0", 0, "kappa: none, as the setting eval.kappa_examples (--kappa) is 0");
  EXPECT("$R4 eval how --set eval.eps=0.25 --set eval.batch=2 --set eval.draws=3", 0, "eps 0.25", "3 draws each");
  EXPECT("cmp before how/seed-0/eval.json && $R4 eval how --set rate=1", 2,
         "--set rate=1: is not a setting of an evaluation: expected eval.eps, ");
  EXPECT("$R4 eval how --set eval.batch=0", 2, "--set: eval.batch is");
}

/* A terminal is told how far it is, and left as it was; others hear nothing of it. */
static void progress_is_for_terminals(void **state)
{
  (void)state;
  EXPECT("$R4 eval good 2>&1 >/dev/null | wc -c", 0, "0\n");
  EXPECT("command -v script > /dev/null || { echo 'good: seed 0 (1 of 2): accuracy and kappa'; exit; }; "
         "script -qec \"$R4 eval good\" /dev/null",
         0, "good: seed 0 (1 of 2): accuracy and kappa");
}

/* ---- Runs and data that do not belong together ---- */

/* Columns of one table are of one set of data. */
static void other_data_have_their_own_table(void **state)
{
  (void)state;
  pets_make((struct pets){.folder = "birds", .cat = "crow", .dog = "wren", .test = 8, .masked = true});
  pets_settings("birds.yaml", "birds", "");
  EXPECT("$R4 train birds.yaml --out birds-run --quiet && cp -r birds-run birds-too", 0, "birds-run");
  EXPECT("$R4 eval good birds-run good birds-too | tr -s ' '", 0, "birds-run birds-too\n\ncrow");
  const char *pets = strstr(command_output, "accuracy of test"), *birds = strstr(command_output, "crow ");
  assert_non_null(pets);
  assert_non_null(strstr(pets, "good good\n\ncat"));
  assert_true(pets < birds && strstr(command_output, "cat ") < birds);
  assert_true(strncmp(command_output, "Data ", 5) == 0 && strstr(pets, "\nData "));
  EXPECT("$R4 eval good birds-run --json", 0, "\"cat\":", "\"crow\":", "\"data_sha256\":\"");
  EXPECT("$R4 eval good half", 1, "accuracy of test");
  command_lacks("Data ");
  EXPECT("cp -r good wide && sed -i 's/eval.eps: .*/eval.eps: 0.5/' wide/config.yaml && $R4 eval good wide | tr -s ' '",
         0, "\n at eps 0.1 0.5\n");
}

/* Two seeds, one of which says dog to all of 6 examples: 3 cats are dogs in every second net. */
static void what_is_predicted(void **state)
{
  (void)state;
  EXPECT("$R4 eval half --confusion --predictions half.csv", 1,
         "\ncat                 1.5     1.5\ndog                   0       3\n",
         "\nensemble, mean of the probabilities of 2 seeds: group average ");
  EXPECT("head -2 half.csv && wc -l < half.csv && grep -c ',mean,' half.csv", 0,
         "example,file,label,seed,prediction,cat,dog\n0,", "19\n6\n");
  EXPECT("$R4 eval half --confusion --json", 1, "\"confusion\":[[1.5,1.5],[0,3]]", "\"ensemble\":{\"loss\":",
         "\"auc\":", "\"ece_sd\":", "\"sensitivity_at_specificity.0.95\":", "\"accuracy_low\":",
         "\"group_swap_lost_share\":{\"cat\":");
  EXPECT("$R4 eval good --specificity 0.8", 0, "\nsensitivity at specificity 0.8", "95 %: ");
  EXPECT("$R4 eval good half", 1, "half minus good, all examples: -25.00 points, 95 %: ", "\nAUC ");
  EXPECT("$R4 eval good half --json | tail -1", 0,
         "\"accuracy_difference\":{\"to\":\"good\",\"mean\":-0.25,\"low\":-0.");
  EXPECT("$R4 eval good half --predictions x.csv", 2, "--predictions: expected one RUN, not 2");
  EXPECT("$R4 eval half --predictions half.csv", 2, "half.csv exists already; --force overwrites it");
  EXPECT("echo old > half.csv; $R4 eval half --predictions half.csv --force > /dev/null; head -1 half.csv; "
         "ls -A | grep part", 1, "example,file,label,seed,");
  EXPECT("$R4 eval good --predictions half.txt", 2, "a file that ends in .csv");
  EXPECT("$R4 eval good --predictions no/where.csv", 3, "no/where.csv: cannot be written");
  EXPECT("$R4 eval good --noise 1 --pointing gradient --swap swap,blank > /dev/null && cat good/seed-0/eval.json", 0,
         "\"core_sensitivity.1\":", "\"pointing_energy.gradient\":", "\"swap_lost_share.blank\":", "\"auc\":");
  EXPECT("$R4 report good --out figures.html && grep -o '\"seed\":0,\"loss\".*' figures.html", 0,
         "\"core_sensitivity.1\":", "\"ece\":");
}

/* The folder that the run was trained on holds other images now. */
static void replaced_data_are_noticed(void **state)
{
  (void)state;
  pets_make((struct pets){.folder = "swap", .cat = "cat", .dog = "dog", .test = 6, .masked = true});
  pets_settings("swap.yaml", "swap", "method: r3\nlambda: 0.1\n");
  EXPECT("$R4 train swap.yaml --out swap-run --quiet && $R4 eval swap-run", 0, "6 examples of test");
  command_run("rm -r swap");
  pets_make((struct pets){.folder = "swap", .cat = "cat", .dog = "dog", .test = 8, .masked = true});
  EXPECT("$R4 eval swap-run", 2, "swap-run/seed-0: trained on data with SHA-256 ", "(folder swap, 22 images",
         "but these have ", "--other-data");
  EXPECT("$R4 eval swap-run good", 2, "swap-run/seed-0: trained on", "good: r3, 2 seeds");
  EXPECT("$R4 explain swap-run --out swap.png", 2, "swap-run/seed-0: trained on data with SHA-256 ",
         "--other-data");
  EXPECT("$R4 eval swap-run --other-data", 0, "8 examples of test");
  EXPECT("$R4 explain swap-run --other-data --out swap.png", 0, "swap.png");
  command_run("rm swap-run/seed-0/manifest.json");
  EXPECT("$R4 eval swap-run", 0, "swap-run/seed-0/manifest.json",
         "it is unknown whether these are the data of the run", "8 examples");
  EXPECT("echo '{' > swap-run/seed-0/manifest.json && $R4 eval swap-run", 3,
         "swap-run/seed-0/manifest.json: line");
}

/* First without masks, as everybody does; then they are drawn, and both nets are compared with them. */
static void masks_may_come_later(void **state)
{
  (void)state;
  pets_make((struct pets){.folder = "drawn", .cat = "cat", .dog = "dog", .test = 6, .masked = true});
  pets_settings("drawn.yaml", "drawn", "");
  EXPECT("mv drawn/masks kept && $R4 train drawn.yaml --out drawn-before --quiet && mv kept drawn/masks && "
         "$R4 train drawn.yaml --set method=r3 --set lambda=0.1 --out drawn-after --quiet", 0, "drawn-after");
  EXPECT("$R4 eval drawn-before drawn-after", 0,
         "drawn-before/seed-0: masks were added or changed since it was trained",
         "kappa, masked");
  EXPECT("$R4 report drawn-before drawn-after --out drawn.html", 0, "masks were added or changed", "drawn.html");
  EXPECT("grep 'added or changed' drawn.html", 0, "Masks were added or changed since drawn-before was trained");
  command_lacks("since drawn-after");
  EXPECT("$R4 eval drawn-after", 0, "6 examples of test");
  command_lacks("masks were added");
  EXPECT("rm drawn/masks/1*.png && $R4 eval drawn-after", 0, "drawn-after/seed-0: masks were added or changed");
  EXPECT("sed -i '$d' drawn/metadata.csv && $R4 eval drawn-before", 2,
         "drawn-before/seed-0: trained on data with SHA-256");
}

/* A run reads the masks that it was trained with, whatever was put beside them since. */
static void later_boxes_are_not_read(void **state)
{
  (void)state;
  pets_make((struct pets){.folder = "later", .cat = "cat", .dog = "dog", .test = 6});
  pets_settings("later.yaml", "later", "");
  EXPECT("$R4 train later.yaml --out later-run --quiet && "
         "printf 'file,x1,y1,x2,y2\n16.png,0,0,2,2\n' > later/boxes.csv && "
         "$R4 eval later-run",
         0, "6 examples of test", "kappa: none");
  EXPECT("$R4 train later.yaml --out later-boxes --quiet && $R4 eval later-boxes", 0, "6 examples of test",
         "on 1 examples with a mask");
  EXPECT("echo '{}' > later/annotations.json && $R4 eval later-run later-boxes", 0, "kappa, masked");
  EXPECT("$R4 train later.yaml --out both --quiet", 3, "has boxes.csv and annotations.json, expected one");
  EXPECT("$R4 train later.yaml --set data.masks=none --out no-boxes --quiet && $R4 eval no-boxes", 0, "kappa: none");
}

/* The weights of another net, or of a net for other classes, in the folder of a run. */
static void other_models_are_noticed(void **state)
{
  (void)state;
  EXPECT("$R4 train small.yaml --set 'net=dense 5, relu, dense 2' --out deep --quiet && cp -r good mixed", 0,
         "deep");
  EXPECT("cp deep/seed-0/model.safetensors mixed/seed-1 && $R4 eval mixed", 2,
         "mixed/seed-1/model.safetensors: does not fit the net", "0.weight is [5,16], expected [2,16]");
  EXPECT("cp birds-run/seed-0/model.safetensors mixed/seed-1 && $R4 eval mixed", 2,
         "mixed/seed-1/model.safetensors: class 0 of the net is \"crow\", but \"cat\" in the data");
  EXPECT("$R4 explain good birds-run --out both.png", 2, "birds-run: class 0 of the net is \"crow\"");
  EXPECT("$R4 explain good birds-run --out both.png --other-data", 0, "both.png");
}

/* Without groups a class hides where a net is wrong: with what is masked, or without it. */
static void accuracy_by_class_and_mask(void **state)
{
  (void)state;
  EXPECT("$R4 eval no-boxes", 0, "group average");
  command_lacks(", no mask ");
  EXPECT("$R4 eval later-boxes", 0, ", masked  ", " 1 example\n", ", no mask  ", " 2 examples\n", "\n\ngroup average ");
  EXPECT("$R4 eval later-boxes later-boxes", 0, ", masked  ", ", no mask  ");
  EXPECT("$R4 eval later-boxes --json", 0, "\"by\":{\"column\":\"class, mask\",\"values\":[{\"value\":\"");
  js_free(command_json());
}

/* ---- What is missing ---- */

/* The column is added after training: it is no part of what the net has seen. Cats are of site 9, dogs of site 10;
 * one of two seeds says dog to everything. */
static void accuracy_by_a_column(void **state)
{
  (void)state;
  EXPECT("sed -i 's/split$/split,Site,only/; s/cat,test$/&,9,/; s/dog,test$/&,10,x/; s/,train$/&,,/; s/,val$/&,,/' "
         "pets/metadata.csv && $R4 eval half --by site | grep -A9 Site",
         0, "Site             accuracy           examples\n9                 50.00 +- 70.71 %         3\n",
         "\n10               100.00 +- 0.00 %          3\n");
  EXPECT("$R4 eval half --by only --json", 1,
         "\"by\":{\"column\":\"only\",\"values\":[{\"value\":\"\",\"examples\":3,\"accuracy\":0.5,",
         "{\"value\":\"x\",\"examples\":3,\"accuracy\":1,\"accuracy_sd\":0}]");
  js_free(command_json());
  EXPECT("$R4 eval good half --by only", 1, "\ngood\n", "\n(empty) ", "\nhalf\n");
  EXPECT("$R4 data show pets --mask-means irrelevant", 0, "\nfurther columns: Site, only\n");
  EXPECT("$R4 eval half --by age", 2, "the data have no column \"age\"; expected Site, only\n");
  EXPECT("$R4 train erm.yaml --set data=bare --out plain --quiet && $R4 eval plain --by age", 2, "expected none\n");
}

static void splits_without_examples(void **state)
{
  (void)state;
  pets_make((struct pets){.folder = "untested", .cat = "cat", .dog = "dog", .masked = true});
  pets_settings("untested.yaml", "untested", "");
  EXPECT("$R4 train untested.yaml --out untested-run --quiet", 0, "untested-run");
  const char *text =
    "untested-run: no examples of test, but --split train has 12, --split val 4 and --split test 0";
  EXPECT("$R4 eval untested-run --split test", 2, text);
  EXPECT("$R4 explain untested-run --split test", 2, text);
  EXPECT("$R4 eval untested-run --split val", 0, "4 examples of val");
  EXPECT("$R4 eval good --split=", 2, "--split needs train, val or test");
  EXPECT("$R4 explain good --split=", 2, "--split needs train, val or test");
  EXPECT("$R4 eval good 2>&1 | grep -c 'no test examples'", 1, "0\n");
}

/* Who has a folder for each class, and no folders for parts, gets from training to a verdict and a page. */
static void without_a_test_part(void **state)
{
  (void)state;
  const char *said = "untested-run: there are no test examples, so these are figures of the 4 for validation";
  EXPECT("$R4 eval untested-run", 0, said, "4 examples of val");
  EXPECT("$R4 eval untested-run --json 2>/dev/null", 0, "\"split\":\"val\"");
  EXPECT("$R4 explain untested-run", 0, said, "untested-run/explain.png");
  EXPECT("$R4 report untested-run", 0, said, "untested-run/report.html");
  EXPECT("cat untested-run/report.html", 0, "There are no test examples: the figures are of those for validation.");
  EXPECT("mkdir -p folders && for c in cat dog; do mkdir folders/$c && cp $(sed -n \"s/,$c,.*//p\" "
         "untested/metadata.csv | sed 's/^/untested\\/images\\//') folders/$c; done; $R4 data lint folders",
         1, "split-empty: there are no test examples: data.val holds some out for validation, and the net is "
            "evaluated");
  EXPECT("$R4 train untested.yaml --set data=folders --set data.mask_means=unstated --set method=erm --set "
         "data.val=0.3 "
         "--out by-folder --quiet && $R4 eval by-folder", 0, "by-folder: there are no test examples", "examples of "
                "val");
}

/* The worst of all codes wins, whatever comes last; what could be evaluated is printed. */
static void the_worst_code_wins(void **state)
{
  (void)state;
  EXPECT("$R4 eval dead untested-run good --split test", 2, "no examples of test", "accuracy of test", "* dead: seed "
         "0");
  EXPECT("$R4 eval untested-run nowhere dead --split test", 3, "no examples of test", "nowhere/config.yaml",
         "dead: r3, 2 seeds");
  EXPECT("$R4 eval nowhere untested-run", 3, "nowhere/config.yaml");
  EXPECT("$R4 explain untested-run/config.yaml", 3, "config.yaml");
}

static void pictures_are_not_lost(void **state)
{
  (void)state;
  EXPECT("echo mine > keep.npz && $R4 explain good --out keep.npz", 2, "ends in .png, got \"keep.npz\"");
  EXPECT("$R4 explain good --out keep.npz --force", 2, ".png");
  EXPECT("cat keep.npz", 0, "mine");
  EXPECT("echo mine > keep.png && $R4 explain good --out keep.png", 2, "keep.png exists already; --force");
  EXPECT("cat keep.png", 0, "mine");
  EXPECT("$R4 explain good --out keep.png --force && head -c 4 keep.png", 0, "PNG");
  EXPECT("$R4 explain good && $R4 explain good", 0, "good/explain.png");
}

/* A run that is still in training is evaluated as far as it is, and that is said. */
static void seeds_without_a_model(void **state)
{
  (void)state;
  EXPECT("cp -r good begun && rm begun/seed-0/model.safetensors && $R4 eval begun", 0,
         "r4 eval: begun: seed 0 has no model yet: left out", "begun: r3, 1 seed, 6 examples");
  EXPECT("$R4 eval begun --json 2>/dev/null", 0, "\"seeds_without_model\":[0],\"seeds\":[{\"seed\":1,");
  EXPECT("$R4 eval good --json", 0, "\"seeds_without_model\":[],\"seeds\":[{\"seed\":0,");
  EXPECT("$R4 explain begun --seed 0 --out begun.png", 3, "begun has no model of seed 0");
  EXPECT("rm begun/seed-1/model.safetensors && $R4 eval begun", 3, "no seed of this run has a model yet");
}

static void folders_that_are_not_runs(void **state)
{
  (void)state;
  const char *text = "; expected a folder made by r4 train";
  EXPECT("mkdir -p empty && $R4 eval empty", 3, "empty/config.yaml: ", text);
  EXPECT("$R4 eval small.yaml", 3, "small.yaml/config.yaml: ", text);
  EXPECT("$R4 eval nowhere", 3, "nowhere/config.yaml: ", text);
  EXPECT("$R4 explain empty", 3, "empty/config.yaml: ", text);
  EXPECT("$R4 reproduce empty", 2, "expected empty/table.csv or experiments/empty/table.csv");
}

/* A row that is not made is not forgotten in silence. */
static void tables_with_too_many_rows(void **state)
{
  (void)state;
  EXPECT("mkdir -p long && (echo name,preset,avg,avg_sd,worst,worst_sd,kappa; for k in $(seq 33); do echo "
         "R$k,../small,,,,,; done) > "
         "long/table.csv && "
         "$R4 reproduce long --out long-rows --quiet",
         2, "long/table.csv: more than 32 rows");
  EXPECT("$R4 reproduce long --methods erm --out long-rows --quiet", 2,
         "--methods: \"erm\" is not a preset of long/table.csv");
  EXPECT("$R4 reproduce table --out $(printf '%0600d' 1) --quiet", 2, "--out");
}

/* ---- Names of strangers ---- */

/* Nothing but lines of text on the terminal, and every line of JSON can be read. */
static void assert_harmless(const char *line, int code, bool json)
{
  EXPECT(line, code, json ? "c\\u001b[31mat" : "c\\x1b[31mat", "d\\");
  for (const char *c = command_output; *c; c++)
    if ((unsigned char)*c >= 0x7f || (*c < ' ' && *c != '\n')) fail_msg("%s: prints byte %d", line, *c);
  for (char *at = command_output, *end; json && (end = strchr(at, '\n')); at = end + 1) {
    struct js *root = NULL;
    r4_error e = {0};
    if (js_parse("output", at, (size_t)(end - at), &root, &e)) fail_msg("%s: %s", line, e.text);
    js_free(root);
  }
}

static void names_do_no_harm(void **state)
{
  (void)state;
  pets_make(
    (struct pets){.folder = "evil", .cat = "c\x1b[31mat", .dog = "d\xff\xc3og", .test = 6, .masked = true});
  pets_settings("evil.yaml", "evil", "");
  EXPECT("$R4 train evil.yaml --out evil-run --quiet && cp -r evil-run \"$(printf 'evil\\033[2Jrun')\"", 0,
         "evil-run");
  assert_harmless("$R4 eval evil-run", 0, false);
  assert_harmless("$R4 eval evil*run", 0, false);
  assert_harmless("$R4 eval evil*run --json", 0, true);
  assert_harmless("$R4 eval evil-run birds-run; exit 0", 0, false);
  EXPECT("$R4 explain evil*run --out evil.png; $R4 explain evil*run --out evil.png; $R4 eval evil*/seed-0 "
         "--split val "
         "evil*/nothing",
         3, "evil\\x1b[2Jrun");
  if (strchr(command_output, '\x1b')) fail_msg("%s", command_output);
  for (int answer = 0; answer < 2; answer++) {
    pets_spoil("evil-run/seed-0/model.safetensors", answer, 0);
    EXPECT("$R4 eval evil-run; $R4 explain evil-run; $R4 eval evil-run --json; exit 0", 0, "predicts only ",
           answer ? "only d\\xff\\xc3og" : "only c\\x1b[31mat");
    if (strchr(command_output, '\x1b') || strchr(command_output, '\xff')) fail_msg("%s", command_output);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(eval_names_them),
    cmocka_unit_test(train_gives_advice_that_helps),
    cmocka_unit_test(nets_without_epochs),
    cmocka_unit_test(eval_tells_machines),
    cmocka_unit_test(one_seed_has_no_deviation),
    cmocka_unit_test(explain_names_them),
    cmocka_unit_test(reproduce_marks_them),
    cmocka_unit_test(weights_that_are_no_numbers),
    cmocka_unit_test(logits_that_are_no_numbers),
    cmocka_unit_test(kappa_needs_masks),
    cmocka_unit_test(examples_without_a_core_are_counted),
    cmocka_unit_test(infinite_kappa_is_said),
    cmocka_unit_test(settings_of_an_evaluation),
    cmocka_unit_test(progress_is_for_terminals),
    cmocka_unit_test(other_data_have_their_own_table),
    cmocka_unit_test(what_is_predicted),
    cmocka_unit_test(replaced_data_are_noticed),
    cmocka_unit_test(other_models_are_noticed),
    cmocka_unit_test(masks_may_come_later),
    cmocka_unit_test(later_boxes_are_not_read),
    cmocka_unit_test(accuracy_by_class_and_mask), cmocka_unit_test(accuracy_by_a_column),
    cmocka_unit_test(splits_without_examples),
    cmocka_unit_test(without_a_test_part),
    cmocka_unit_test(the_worst_code_wins),
    cmocka_unit_test(pictures_are_not_lost),
    cmocka_unit_test(seeds_without_a_model),
    cmocka_unit_test(folders_that_are_not_runs),
    cmocka_unit_test(tables_with_too_many_rows),
    cmocka_unit_test(names_do_no_harm),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  if (!check_command()) return 0;
  return cmocka_run_group_tests_name("cli eval", tests, make, scratch_remove);
}
