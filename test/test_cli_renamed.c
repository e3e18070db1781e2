/* Settings files and runs from before settings had prefixes: ten presets of that time train to the same bits as their
 * present forms in experiments/, and a run of that time opens and resumes. Whoever changes the values of one of these
 * presets changes them in test/before_renaming, too. Needs $R4, the command. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

#define OLD "test/before_renaming/"
#define DIGITS " --set data=decoy-mnist --set data.from=digits:120 --set batch=32"
#define CONV " --set 'net=conv 4 3 s2 p1, relu, flatten, _fc: dense 10'"
#define TEXTS \
  " --set data.from=texts.csv --set data.tokenizer=vocab.txt --set batch=8 --set penalty.cap=false"

/* A preset, as it is and was, and what makes it small; with an old name that its file must have. */
static const struct preset {
  const char *file, *small, *old;
} presets[] = {
  {"decoy-mnist/adv-r4", DIGITS, "steps is now called attack.steps"},
  {"decoy-mnist/cert-r4", DIGITS, "tau is now called penalty.tau"},
  {"decoy-mnist/ibp-ex", DIGITS, "eps_ramp is now called eps.ramp"},
  {"decoy-mnist/as-published/cert-r4", DIGITS, "double_softmax is now called published.double_softmax"},
  {"decoy-derm/cert-r4", DIGITS CONV " --set rate=0.01 --set decay_at=3",
   "penalty_after is now called penalty.after"},
  {"decoy-derm/ibp-ex", DIGITS CONV " --set rate=0.01", "form is now called penalty.form"},
  {"decoy-imdb/adv-r4", TEXTS, "candidates is now called words.candidates"},
  {"decoy-imdb/smooth-r3", TEXTS, "alpha is now called attack.step"},
  {"decoy-imdb/minilm/smooth-r3",
   TEXTS
   " --set 'net=embedding 400 8, leaf, dense 8, relu, mean, classifier: dense 2' --set from= --set freeze=",
   "data.length is now called data.max_tokens"},
  {"isic-pretrained/adv-r4", DIGITS CONV " --set data.size=28 --set from=start --set augment.colour=0",
   "head is now called from.head"},
};
enum { PRESETS = sizeof presets / sizeof *presets, TEXT_COUNT = 96 };

/* Reviews of two words, and the vocabulary of the tests. */
static int make(void **state)
{
  char line[2048], here[200];
  if (scratch_make(state) || !getcwd(here, sizeof here)) return -1;
  FILE *f = fopen(scratch_path("texts.csv"), "w");
  if (!f) return -1;
  fprintf(f, "text,label,split\n");
  for (int i = 0; i < TEXT_COUNT; i++)
    fprintf(f, "%s %s,%s,%s\n", i % 2 ? "good" : "bad", i % 3 ? "film" : "movie", i % 2 ? "pos" : "neg",
            i % 4 < 2 ? "train" : "test");
  if (fclose(f)) return -1;
  snprintf(line, sizeof line,
           "cd %s; (cat %s/test/tokens/vocab.txt; echo jonah; echo spielberg) >vocab.txt; cp -r %s/" OLD
           "run .; ln -s %s/test test; ln -s %s/experiments .",
           scratch_folder(), here, here, here, here);
  return system(line) ? -1 : 0;
}

static void trains(const struct preset *p, const char *folder, const char *out)
{
  char line[1024];
  snprintf(line, sizeof line,
           "rm -rf %s; $R4 train %s%s.yaml%s --set epochs=4 --set threads=1 --set eval.kappa_examples=0 "
           "--quiet --out %s",
           out, folder, p->file, p->small, out);
  int code = command_run(line); /* 1: so short a run may end with a collapsed network */
  if (code > 1) fail_msg("%s: %s", line, command_output);
  command_lacks("took effect in none");
}

static void same_bits(void **state)
{
  (void)state;
  EXPECT("$R4 train experiments/decoy-mnist/erm.yaml" DIGITS CONV
         " --set epochs=1 --set threads=1 --quiet --out start",
         0);
  for (const struct preset *p = presets; p < presets + PRESETS; p++) {
    trains(p, OLD, "old");
    if (!strstr(command_output, p->old)) fail_msg("%s: no \"%s\" in %s", p->file, p->old, command_output);
    trains(p, "experiments/", "new");
    command_lacks("is now called");
    if (command_run("cmp old/seed-0/model.safetensors new/seed-0/model.safetensors"))
      fail_msg("%s trains to other bits than it did before settings were renamed", p->file);
  }
}

/* It says nothing about names, as nobody wrote them today. */
static void runs_open_and_resume(void **state)
{
  (void)state;
  EXPECT("$R4 eval run", 0, "adv-r4", "eps 0.1", "on 10 examples with a mask");
  command_lacks("is now called");
  EXPECT("$R4 train --resume run --set epochs=4 --quiet", 0);
  command_lacks("is now called");
  EXPECT("grep -c . run/seed-0/log.jsonl", 0, "4\n");
  EXPECT("cat run/config.yaml", 0, "attack.steps: 3\n", "attack.step: 0.1\n", "attack.random_start: false\n",
         "penalty.after: 1\n", "penalty.tau: 0.5\n", "penalty.cap: false\n", "published.shades: paper\n",
         "checkpoint_seconds: 60\n");
  EXPECT("$R4 train --resume run --set steps=5 --set epochs=5 --quiet", 2, "attack.steps");
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits), cmocka_unit_test(runs_open_and_resume)};
  cmocka_set_message_output(CM_OUTPUT_TAP);
  if (!check_command()) return 0;
  return cmocka_run_group_tests_name("cli_renamed", tests, make, scratch_remove);
}
