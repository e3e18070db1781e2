/* The command as a user meets it: what it prints, where, and its exit code. Needs $R4, the command. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "check.h"

static char output[1 << 16];

/* Runs r4 with words; output gets stdout, or with "2>&1 >/dev/null" at the end stderr. */
static int r4(const char *words)
{
  char line[512];
  snprintf(line, sizeof line, "\"$R4\" %s", words);
  FILE *f = popen(line, "r");
  assert_non_null(f);
  output[fread(output, 1, sizeof output - 1, f)] = 0;
  while (fgetc(f) != EOF) continue; /* the rest, so that the command is not cut off */
  int status = pclose(f);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static const struct {
  const char *words, *text;
  int code;
} cases[] = {
  {"--version", "r4 0.", 0},
  {"--version", "\nbuilt for ", 0},
  {"--version", "\nthis CPU has ", 0},
  {"help", "Usage: r4 COMMAND", 0},
  {"help help train", "Usage: r4 train FILE", 0},
  {"help train --all", "a number, default or auto; unless set: default\n", 0},
  {"help bench", "--batch N", 0},
  {"help train", "\n  lambda           weight of the penalty;", 0},
  {"help train", "r4 help train --all", 0},
  {"help train", "\n  --set KEY=VALUE  change one setting", 0},
  {"help certify", "\n  --data-now PATH        where", 0},
  {"help data lint", "\n  --mask-categories LABELS\n                        labels", 0},
  {"help train --all", "\n      word-rand-r4: take the largest draw", 0},
  {"train --help --all", "\n      what replaces masked content in the examples", 0},
  {"help penalty.cap", "Was      guard, which is still understood\n", 0},
  {"help guard", "penalty.cap: lower lambda while", 0},
  {"help lambda", "\n  cert-r4          0.1\n", 0},
  {"help noise", "Methods  smooth-r3\n", 0},
  {"help methods", "  r3\n    mean loss on filled examples + 10 x mean ||m . g(x)||_2^2\n    The gradient", 0},
  {"help methods", "    The penalties of cert-r4 and pairing, each", 0},
  {"help methods", "+ 0.1 x mean log(1 + ||m . max(|lo|, |hi|)||_2 / 1)\n    lo <= g", 0},
  {"help cert-r4", "  cert-r4\n    mean loss on filled", 0},
  {"help Cert_R4+R3", "  cert-r4+r3\n    mean loss on filled", 0},
  {"help erm", "Plain training", 0},
  {"help decoy-mnist", "A recipe for data: r4 data make decoy-mnist", 0},
  {"help kappa", "kappa_masked_max: ", 0},
  {"help masks", "r4 help data.mask_means", 0},
  {"help explain", "The setting explain: r4 help train explain\n", 0},
  {"help train explain", "explain: penalise the gradient", 0},
  {"help ablate", "corrupt, decay, delta or size", 0},
  {"bench --help", "--batch N", 0},
  {"ops", "matmul", 0},
  {"ops --markdown", "| operation", 0},
  {"help beta", "beta is called weight_penalty here.\n\nweight_penalty: ", 0},
  {"help k", "k is called attack.steps (adv-r4) or samples (rand-r4) here.\n", 0},
  {"help mask_means", "mask_means is called data.mask_means here.\n\ndata.mask_means: what white means", 0},
  {"ops --json", "\"name\":\"matmul\",\"arity\":2", 0},
  {"graph --net mlp4-3-2", "input \"0.weight\" : [3,4]", 0},
  {"graph --net=mlp4-3-2 --objective=r3 --grad --masked 2", "scatter_add", 0},
  {"graph --net mlp4-3-2 --dot", "digraph", 0},
  {"bench --net mlp4-3-2 --batch 2 --seconds 0 --json", "\"ms_per_step\":", 0},
  {"bench --net mlp4-3-2 --batch 2 --seconds 0 --objective adv-r4 --masked 2", "ms per step", 0},
  {"bench --net derm28 --batch 2 --seconds 0 --objective r3 --corner 7", "corners of 7 x 7", 0},
  {"bench --net 'bert(layers=1,width=4,heads=2,inner=4,words=9)' --tokens 5 --batch 2 --seconds 0 "
   "--objective r3",
   "ms per step", 0},
};

static const struct {
  const char *words, *text; /* on stderr, and nothing on stdout */
} usage[] = {
  {"", "Usage: r4 COMMAND"},
  {"bnech", "no command \"bnech\"; did you mean bench?"},
  {"help nothing", "no command \"nothing\""},
  {"lint", "no command \"lint\"; did you mean data lint?"},
  {"train decoy-mnist/erm --epochs 5", "unknown option \"--epochs\"; epochs is a setting: --set epochs=5\n"},
  {"train decoy-mnist/erm --mask-means=relevant", "--set data.mask_means=relevant\n"},
  {"train decoy-mnist/erm --method", "method is a setting: --set method=VALUE\n"},
  {"sweep decoy-mnist/erm --lambda 1,2", "lambda is a setting: --over lambda=1,2\n"},
  {"train decoy-mnist/erm --set lr=5", "no setting \"lr\"; did you mean rate?"},
  {"train decoy-mnist/erm --set beta=5", "did you mean weight_penalty?"},
  {"train decoy-mnist/erm --set epsilon=5", "did you mean eps?"},
  {"train decoy-mnist/erm --set k=5", "did you mean attack.steps (adv-r4) or samples (rand-r4)?"},
  {"bench --bacth 3", "unknown option \"--bacth\"; did you mean --batch?"},
  {"bench 7", "unexpected argument \"7\""},
  {"bench --batch", "--batch needs a value"},
  {"bench --batch --json", "--batch needs a value"},
  {"bench --batch 0", "--batch needs a whole number from 1 to 1000000, got \"0\""},
  {"bench --batch 3x", "--batch needs a whole number"},
  {"bench --batch ' 3'", "--batch needs a whole number"},
  {"bench --batch=", "--batch needs a whole number"},
  {"bench --batch 99999999999999999999", "--batch needs a whole number"},
  {"bench --eps nan", "--eps needs a number"},
  {"bench --eps -1", "--eps needs a number from 0"},
  {"bench --json=1", "--json needs no value"},
  {"bench --json --json", "--json needs to be given once"},
  {"bench --net resnet", "net \"resnet\": no such name"},
  {"bench --objective r5", "method is \"r5\", expected auto, erm"},
  {"bench --net mlp4-3-2 --masked 5", "masked is 5, expected at most 4"},
  {"bench --net mlp4-3-2 --corner 2", "there are no images"},
  {"graph --dot --text", "give one of --dot and --text"},
  {"graph --objective r5", "no method \"r5\""},
  {"ops --json --markdown", "give one of"},
};

static void test_answers(void **state)
{
  (void)state;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    int code = r4(cases[k].words);
    if (code != cases[k].code || !strstr(output, cases[k].text))
      fail_msg("r4 %s: code %d, \"%.200s\"", cases[k].words, code, output);
  }
}

static void test_usage(void **state)
{
  (void)state;
  char words[400];
  for (size_t k = 0; k < sizeof usage / sizeof *usage; k++) {
    snprintf(words, sizeof words, "%s 2>&1 >/dev/null", usage[k].words);
    int code = r4(words);
    if (code != 2 || !strstr(output, usage[k].text))
      fail_msg("r4 %s: code %d, \"%.200s\"", usage[k].words, code, output);
    snprintf(words, sizeof words, "%s 2>/dev/null", usage[k].words);
    r4(words);
    if (*output) fail_msg("r4 %s: says on stdout \"%.200s\"", usage[k].words, output);
  }
}

static void test_full_disk(void **state)
{
  (void)state;
  assert_int_equal(r4("ops 2>/dev/null >/dev/full"), 3);
}

int main(void)
{
  cmocka_set_message_output(CM_OUTPUT_TAP);
  if (!check_command()) return 0;
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_answers),
    cmocka_unit_test(test_usage),
    cmocka_unit_test(test_full_disk),
  };
  return cmocka_run_group_tests_name("cli", tests, NULL, NULL);
}
