/* precision: bf16 as a user meets it, on a CPU with instructions for it and on one without. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

#define TRAIN "\"$R4\" train small.yaml --quiet --force --set threads=2 "
#define AGAIN "\"$R4\" train small.yaml --quiet --resume --set threads=2 "
#define WITHOUT "ONEDNN_MAX_CPU_ISA=AVX512_CORE DNNL_MAX_CPU_ISA=AVX512_CORE "

static int make_folder(void **state)
{
  if (scratch_make(state)) return -1;
  FILE *f = fopen(scratch_path("small.yaml"), "w");
  if (!f) return -1;
  fputs("data: decoy-mnist\ndata.from: digits:600\ndata.val: 0.2\nmethod: erm\n"
        "net: dense 64, relu, dense 10\nepochs: 2\nbatch: 100\n",
        f);
  return fclose(f);
}

/* One sentence, and what float gives. */
static void test_without(void **state)
{
  (void)state;
  EXPECT(TRAIN "--set precision=float --out plain", 0, "");
  command_lacks("precision");
  EXPECT(WITHOUT TRAIN "--set precision=bf16 --out without", 0,
         "precision (--set) is bf16, but this CPU has no ", "training in float");
  EXPECT("grep -c '\"precision\":\"float\"' without/seed-0/manifest.json plain/seed-0/manifest.json", 0,
         "without/seed-0/manifest.json:1", "plain/seed-0/manifest.json:1");
  EXPECT(WITHOUT TRAIN "--set precision=auto --out silent", 0, "");
  command_lacks("precision");
  EXPECT("cmp silent/seed-0/model.safetensors without/seed-0/model.safetensors", 0, "");
  EXPECT(WITHOUT "\"$R4\" --version", 0, "precision bf16: this CPU has no");
  EXPECT(WITHOUT "\"$R4\" bench --seconds 0 --set precision=bf16", 0, "measuring float");
}

/* The run records it, the same again has the same bits, and one that goes on ends as one that never stopped. */
static void test_with(void **state)
{
  (void)state;
  if (r4_bf16_missing()) check_skip("%s", r4_bf16_missing());
  EXPECT("\"$R4\" --version", 0, "precision bf16: yes");
  EXPECT(TRAIN "--set precision=bf16 --out once", 0, "");
  command_lacks("precision");
  EXPECT(TRAIN "--set precision=bf16 --out again", 0, "");
  EXPECT("cmp once/seed-0/model.safetensors again/seed-0/model.safetensors", 0, "");
  EXPECT("cat once/seed-0/manifest.json", 0, "\"precision\":\"bf16\"");
  EXPECT("cat once/config.yaml once/seed-0/config.yaml", 0, "precision: bf16");
  EXPECT("cmp once/seed-0/model.safetensors plain/seed-0/model.safetensors", 1, "differ");
  EXPECT(TRAIN "--set precision=bf16 --set epochs=1 --out part", 0, "");
  EXPECT(AGAIN "--set precision=bf16 --set epochs=2 --out part", 0, "");
  EXPECT("cmp once/seed-0/model.safetensors part/seed-0/model.safetensors", 0, "");
  EXPECT(AGAIN "--set precision=float --set epochs=3 --out part", 2, "precision");
}

static void test_words(void **state)
{
  (void)state;
  EXPECT(TRAIN "--set precision=half --out wrong", 2, "precision", "float", "bf16", "auto");
  EXPECT(TRAIN "--set method=cert-r4 --set lambda=0.1 --set bounds=linear --set precision=bf16 --out linear; true", 0,
         "precision (--set) has no effect, as bounds");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_without),
    cmocka_unit_test(test_with),
    cmocka_unit_test(test_words),
  };
  if (!check_command()) return 0;
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("cli_bf16", tests, make_folder, scratch_remove);
}
