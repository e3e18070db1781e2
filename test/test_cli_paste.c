/* The paste test in "r4 eval", and splits of the data in "r4 reproduce", on photographs in the layout of ISIC 2017 of
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

static int make(void **state)
{
  if (scratch_make(state)) return -1;
  make_photographs();
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
           "data: decoy-mnist\ndata.from: digits:100\nnet: dense 10\nepochs: 1\nthreads: 1\n");
  EXPECT("$R4 train erm.yaml --out erm --seeds 2 --quiet && $R4 train fill.yaml --out fill --quiet", 0,
         "fill");
  EXPECT("$R4 train decoy.yaml --out decoy --quiet", 0, "decoy");
  return 0;
}

/* "lost_share" of an object of eval --json. */
static double lost_share(const char *line)
{
  EXPECT(line, 0, "\"paste\":{\"donors\":12,\"draws\":10,\"lost_share\":");
  const char *at = strstr(command_output, "\"lost_share\":");
  return strtod(at + strlen("\"lost_share\":"), NULL);
}

static void eval_pastes_where_masks_are_on_one_class(void **state)
{
  (void)state;
  EXPECT("$R4 eval erm", 0,
         "paste test: lost when masked content of other classes is put on them (12 donors, 10 draws",
         "cancer           ", " found, of 12");
  command_lacks("no_cancer");
  EXPECT("$R4 eval erm fill", 0, "lost by paste");
  double erm = lost_share("$R4 eval erm --json"), fill = lost_share("$R4 eval fill --json");
  assert_true(erm > 60 && fill < 30); /* a net that reads the patch, and one that learned not to */
  assert_true(lost_share("$R4 eval erm --json") == erm);
  EXPECT("$R4 eval erm --json", 0, "\"paste_none\":null",
         "\"class_lost_share\":{\"cancer\":", "\"paste\":{\"cancer\":{\"examples\":12,\"found\":");
}

static void eval_says_why_there_is_nothing_to_paste(void **state)
{
  (void)state;
  EXPECT("$R4 eval decoy", 0, "worst group");
  command_lacks("paste");
  EXPECT("$R4 eval decoy --paste", 0,
         "paste test: none, as no example without a mask is of another class than one with a mask");
  EXPECT("$R4 eval decoy --json", 0,
         "\"paste_none\":\"every class has masks about as often as the others\",\"paste\":null");
}

/* The same bits, with a folder of decoded images and without; the second run takes them from there. */
static void decoded_images_are_kept(void **state)
{
  (void)state;
  EXPECT("$R4 train erm.yaml --set data.cache=kept --set epochs=2 --out one --quiet && ls kept", 0,
         ".images\n");
  EXPECT("$R4 train erm.yaml --set data.cache=kept --set epochs=2 --out two --quiet && ls kept | wc -l", 0,
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
         "2 seeds of each of 2 splits of the data", "| accuracy ", "| lost ", "\n| ERM ", "\n| Paste ");
  EXPECT("ls rows", 0,
         "erm_data.seed=0\nerm_data.seed=1\nfill_rate=0.02_data.seed=0\nfill_rate=0.02_data.seed=1\n");
  EXPECT("grep -A3 '^data' rows/erm_data.seed=1/config.yaml", 0, "data.seed: 1");
  EXPECT("$R4 reproduce . --splits 2 --seeds 2 --set epochs=3 --out rows --quiet --json", 0,
         "\"seeds\":2,\"splits\":2", "\"paste_lost_share\":");
  EXPECT("$R4 reproduce . --seeds 1 --set epochs=2 --methods erm --out plain --quiet && ls plain", 0,
         "1 seeds, mean", "erm\nresults.json");
  command_lacks("data.seed");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(eval_pastes_where_masks_are_on_one_class),
    cmocka_unit_test(eval_says_why_there_is_nothing_to_paste),
    cmocka_unit_test(decoded_images_are_kept),
    cmocka_unit_test(reproduce_goes_over_splits),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  if (!check_command()) return 0;
  return cmocka_run_group_tests_name("cli_paste", tests, make, scratch_remove);
}
