/* The swap test in "r4 eval", and splits of the data in "r4 reproduce", on photographs in the layout of ISIC 2017 of
 * which benign ones have a white patch on the right. Needs $R4, the command. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "command.h"
#include "folder_make.h"

enum { SIDE = 4, MALIGNANT = 40, BENIGN = 80, PATCHED = 40, PHOTOS = MALIGNANT + BENIGN + PATCHED };

/* Malignant ones are darker on the left. */
static void make_photographs(void)
{
  char name[64], *table = malloc(1 << 14);
  assert_non_null(table);
  int n = snprintf(table, 1 << 14, "file,label,patch,mask\n");
  for (int i = 0; i < PHOTOS; i++) {
    bool malignant = i < MALIGNANT, patch = i >= MALIGNANT + BENIGN;
    snprintf(name, sizeof name, "photos/images/p%03d.png", i);
    put_grey(scratch_folder(), name, SIDE, SIDE, (uint8_t)((malignant ? 60 : 120) + i % 7),
             patch ? 255 : (uint8_t)i);
    snprintf(name, sizeof name, "photos/masks/p%03d.png", i);
    if (patch) put_grey(scratch_folder(), name, SIDE, SIDE, 0, 255);
    n += snprintf(table + n, (size_t)((1 << 14) - n), "p%03d.png,%s,%d,%d\n", i,
                  malignant ? "malignant" : "benign", patch, patch);
  }
  put_text(scratch_folder(), "photos/metadata_2017.csv", table);
  free(table);
}

/* A plain folder: photographs for training, of which half of the benign have a patch and its mask, and photographs for
 * the test without either. */
static void make_masks_of_training(void)
{
  char name[64], *table = malloc(1 << 14);
  assert_non_null(table);
  int n = snprintf(table, 1 << 14, "file,label,split\n");
  for (int i = 0; i < PHOTOS; i++) {
    bool malignant = i % 2, test = i >= PHOTOS / 2, patch = i % 4 == 0 && !test;
    snprintf(name, sizeof name, "own/p%03d.png", i);
    put_grey(scratch_folder(), name, SIDE, SIDE, (uint8_t)((malignant ? 60 : 120) + i % 7), patch ? 255 : 0);
    snprintf(name, sizeof name, "own/masks/p%03d.png", i);
    if (patch) put_grey(scratch_folder(), name, SIDE, SIDE, 0, 255);
    n += snprintf(table + n, (size_t)((1 << 14) - n), "p%03d.png,%s,%s\n", i,
                  malignant ? "malignant" : "benign", test ? "test" : "train");
  }
  put_text(scratch_folder(), "own/metadata.csv", table);
  put_text(scratch_folder(), "own.yaml",
           "data: own\ndata.mask_means: irrelevant\nnet: dense 8, relu, dense 2\nepochs: 30\nrate: 0.01\n"
           "batch: 16\ndata.val: 0\nthreads: 1\n");
  free(table);
}

static int make(void **state)
{
  if (scratch_make(state)) return -1;
  make_photographs();
  make_masks_of_training();
  put_text(
    scratch_folder(), "base.yaml",
    "data: photos\nnet: dense 8, relu, dense 2\nepochs: 30\nrate: 0.01\nbatch: 32\nclass_weights: balanced\n"
    "threads: 1\n");
  put_text(scratch_folder(), "erm.yaml", "base: base.yaml\nmethod: erm\n");
  put_text(scratch_folder(), "fill.yaml", "base: base.yaml\nmethod: fill\nfill: paste\n");
  put_text(
    scratch_folder(), "table.csv",
    "name,preset,avg,avg_sd,worst,worst_sd,kappa,settings\nERM,erm,,,,,,\nPaste,fill,,,,,,rate=0.02\n");
  put_text(scratch_folder(), "decoy.yaml",
           "data: decoy-mnist\ndata.from: digits:100\nnet: dense 10\nmethod: erm\nepochs: 1\nthreads: 1\n");
  EXPECT("$R4 train erm.yaml --out erm --seeds 2 --quiet && $R4 train fill.yaml --out fill --quiet", 0,
         "fill");
  put_text(scratch_folder(), "bare.yaml", "base: decoy.yaml\ndata: digits:100\n");
  EXPECT("$R4 train decoy.yaml --out decoy --quiet && $R4 train bare.yaml --out bare --quiet", 0, "decoy");
  return 0;
}

/* "lost_share" of an object of eval --json. */
static double lost_share(const char *line)
{
  EXPECT(line, 0,
         "\"swap\":{\"swap\":{\"donors\":12,\"draws\":10,\"inside\":0,\"pasted\":12,\"removed\":12,\"flipped_share\":");
  const char *at = strstr(command_output, "\"lost_share\":");
  return strtod(at + strlen("\"lost_share\":"), NULL);
}

static void eval_puts_content_on_examples_without_a_mask(void **state)
{
  (void)state;
  EXPECT("$R4 eval erm", 0,
         "swap test: masked content is replaced by that of other classes (12 donors, 10 draws each)",
         "pasted on 12 examples without a mask, where the donor has it", "12 of 48 examples",
         "predictions changed", "correct predictions lost", "all   ");
  EXPECT("$R4 eval erm fill", 0, "changed by swap", "lost by swap");
  double erm = lost_share("$R4 eval erm --json"), fill = lost_share("$R4 eval fill --json");
  assert_true(erm > 0.6 && fill < 0.3); /* a net that reads the patch, and one that learned not to */
  assert_true(lost_share("$R4 eval erm --json") == erm);
  EXPECT("$R4 eval erm --json", 0, "\"swap_none\":null", "\"examples\":12,\"flipped\":");
}

static void eval_swaps_where_all_have_masks(void **state)
{
  (void)state;
  EXPECT("$R4 eval decoy", 0, "worst group", "swap test: masked content is replaced by that of other classes (");
  command_lacks("pasted on");
  EXPECT("$R4 eval decoy --swap swap,blank,mean,noise,blank", 0,
         "swap test: masked content is replaced by blank (1 draw each)",
         "swap test: masked content is replaced by mean",
         "swap test: masked content is replaced by noise (10 draws each)");
  EXPECT("$R4 eval decoy decoy --swap noise,colour", 0, "changed by noise", "lost by colour");
  command_lacks("by swap");
  EXPECT("$R4 eval decoy --swap none", 0, "worst group");
  command_lacks("swap test");
  EXPECT("$R4 eval decoy --swap none --json", 0, "\"swap_none\":\"not asked for\",\"swap\":null");
}

static void eval_says_why_there_is_nothing_to_swap(void **state)
{
  (void)state;
  EXPECT("$R4 eval bare", 0, "worst group");
  command_lacks("swap test");
  EXPECT("$R4 eval bare --swap swap", 0, "swap test: none, as no example has a mask");
  EXPECT("$R4 eval bare bare --swap swap", 0, "swap test: none, as no example has a mask");
  EXPECT("$R4 eval bare --json", 0, "\"swap_none\":\"no example has a mask\",\"swap\":null");
  EXPECT("$R4 eval bare --swap paste", 0, "swap test: none, as no example to take content from has a mask");
  command_lacks("training examples do");
  EXPECT("$R4 eval bare --swap patch", 2, "--swap: \"patch\", expected none, or swap, blank", "or paste");
  EXPECT("$R4 eval bare --swap swap,", 2, "--swap: \"\", expected");
}

/* The test has no mask, and what training marks is pasted on it: a net that reads the patch loses the malignant. */
static void eval_pastes_what_training_marks(void **state)
{
  (void)state;
  EXPECT("$R4 train own.yaml --set method=erm --out own-erm --quiet", 0, "own-erm");
  EXPECT("$R4 eval own-erm", 0,
         "the test part has no masks, but 20 training examples do: --swap paste pastes their masked content on");
  command_lacks("swap test");
  EXPECT("$R4 eval own-erm own-erm", 0, "--swap paste pastes");
  EXPECT("$R4 eval own-erm --split train", 0, "swap test: masked content is replaced by that of other classes");
  command_lacks("--swap paste");
  EXPECT("$R4 eval own-erm --swap paste", 0,
         "swap test: masked content of training examples of other classes is pasted on (20 donors, 10 draws each)",
         "40 of 80 examples; for the rest, no other class has masked content\n", "malignant ",
         "correct predictions lost", "\nuses the shortcut: it loses 100.0 % of its correct predictions");
  command_lacks("pastes their masked content");
  EXPECT("$R4 eval own-erm own-erm --swap paste", 0, "changed by paste", "lost by paste");
  EXPECT("$R4 eval own-erm --swap swap,paste --json", 0,
         "\"swap_none\":null,\"swap\":{\"paste\":{\"donors\":20,\"draws\":10,\"inside\":0,\"pasted\":40,",
         "\"malignant\":{\"examples\":40,\"flipped\":");
  command_lacks("\"swap\":{\"swap\"");
  const char *at = strstr(command_output, "\"lost_share\":");
  assert_non_null(at);
  assert_true(strtod(at + strlen("\"lost_share\":"), NULL) > 0.6);
}

/* Of one thread and of two: the same counts. */
static void threads_do_not_show(void **state)
{
  (void)state;
  EXPECT("for t in 1 2; do OMP_NUM_THREADS=$t $R4 eval decoy --swap swap,noise | sed -n '/^swap test/,$p' > "
         "of-$t; done; "
         "cmp of-1 of-2 && grep -c predictions.changed of-1",
         0, "2\n");
}

/* The same bits, with a folder of decoded images and without; the second run takes them from there. */
static void decoded_images_are_kept(void **state)
{
  (void)state;
  EXPECT("$R4 train erm.yaml --set data.cache=kept --set epochs=2 --out one --quiet && ls kept", 0,
         ".images\n");
  EXPECT("$R4 train erm.yaml --set data.cache=kept --set epochs=2 --out two --quiet && ls kept | grep -c images$", 0,
         "1\n");
  EXPECT("$R4 train erm.yaml --set epochs=2 --out three --quiet; cmp one/seed-0/model.safetensors "
         "two/seed-0/model.safetensors && cmp one/seed-0/model.safetensors three/seed-0/model.safetensors && "
         "echo same",
         0, "same");
  EXPECT("$R4 train one --resume --set data.cache=other --quiet && $R4 eval one", 0, "worst group");
}

static void reproduce_goes_over_splits(void **state)
{
  (void)state;
  EXPECT("$R4 reproduce . --splits 2 --seeds 2 --set epochs=3 --out rows --quiet", 0,
         "2 seeds of each of 2 splits of the data", "| all examples ", "| changed by swap ", "| lost by swap ",
         "\n| ERM ", "\n| Paste ");
  EXPECT("ls -d rows/*/ | xargs -n 1 basename", 0,
         "erm_data.seed=0\nerm_data.seed=1\nfill_rate=0.02_data.seed=0\nfill_rate=0.02_data.seed=1\n");
  EXPECT("grep -A3 '^data' rows/erm_data.seed=1/config.yaml", 0, "data.seed: 1");
  EXPECT("$R4 reproduce . --splits 2 --seeds 2 --set epochs=3 --out rows --quiet --json", 0,
         "\"seeds\":2,\"splits\":2", "\"swap_flipped_share\":", "\"swap_lost_share\":");
  EXPECT("$R4 reproduce . --seeds 1 --set epochs=2 --methods erm --out plain --quiet && ls plain", 0,
         "1 seed, mean", "costs.csv\ncosts.md\nerm\nresults.csv\nresults.json\nresults.md\nresults.txt\n");
  command_lacks("data.seed");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(eval_puts_content_on_examples_without_a_mask),
    cmocka_unit_test(eval_swaps_where_all_have_masks),
    cmocka_unit_test(eval_says_why_there_is_nothing_to_swap),
    cmocka_unit_test(eval_pastes_what_training_marks),
    cmocka_unit_test(threads_do_not_show),
    cmocka_unit_test(decoded_images_are_kept),
    cmocka_unit_test(reproduce_goes_over_splits),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  if (!check_command()) return 0;
  return cmocka_run_group_tests_name("cli_swap", tests, make, scratch_remove);
}
