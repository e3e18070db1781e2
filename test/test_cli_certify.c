/* "r4 certify" of boxes and words as a user meets it: interrupted at any moment, its figures in evaluation and on the
 * page, and wrong in every way that people get it wrong. Needs $R4, the command. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "command.h"
#include "folder_make.h"

static int train(void **state)
{
  int failed = scratch_make(state);
  if (failed) return failed;
  put_text(scratch_folder(), "digits.yaml",
           "data: decoy-mnist\ndata.from: digits:800\npublished.shades: ross\nnet: dense 16, relu, dense 10\n"
           "method: cert-r4\nepochs: 6\neps: 1\neps.ramp: 3\nbatch: 50\nrate: 0.003\n");
  EXPECT("$R4 train digits.yaml --out run --seeds 2 --quiet && "
         "$R4 train digits.yaml --set method=erm --set epochs=1 --out erm --quiet",
         0);
  return 0;
}

/* ---- Figures ---- */

static double number(const char *line, const char *object, const char *key)
{
  double v = -1;
  EXPECT(line, 0);
  struct js *root = command_json();
  assert_true(js_number(js_get(*object ? js_get(root, object) : root, key), &v));
  js_free(root);
  return v;
}

/* Evaluation says what the certificate says, and so do its files. */
static void figures_of_evaluation(void **state)
{
  (void)state;
  static const char certify[] = "$R4 certify run/seed-1 --eps 0.1 --out e.txt --data e.npz --json --force 2>/dev/null",
                    eval[] = "$R4 eval run/seed-1 --certify 0.1 --json 2>/dev/null";
  static const char *const key[] = {"accuracy", "avg_group_accuracy", "worst_group_accuracy"};
  for (size_t k = 0; k < 6; k++) {
    char name[60], value[70];
    snprintf(name, sizeof name, "%s_%s", k < 3 ? "certified" : "attacked", key[k % 3]);
    snprintf(value, sizeof value, "%s.0.1", name);
    double there = number(certify, "all", name), here = number(eval, "", value);
    if (!(there == here && here > 0)) fail_msg("%s: %g by certify, %g by eval", name, there, here);
  }
  EXPECT("$R4 eval run --certify range", 0, "\ncertified, box range", "\ncertified, mean over groups, box range",
         "\nattacked, worst group, box range");
  EXPECT("$R4 eval run erm --certify range", 0, "certified, worst group, box range");
  EXPECT("cat run/seed-0/eval.json", 0, "\"certified_accuracy.range\":", "\"attacked_accuracy.range\":");
  EXPECT("$R4 eval run --certify range --attack 0", 0, "certified, box range");
  command_lacks("attacked");
  EXPECT("$R4 eval run", 0);
  command_lacks("certified");
}

/* The page says it in its answer, where it was measured and only there. */
static void page_finds_certificates(void **state)
{
  (void)state;
  static const char page[] =
    "$R4 report run --out p.html --force && sed 's/<[^>]*>//g' p.html | grep -a -A9 '^Trained with'";
  EXPECT("rm -f run/seed-*/eval.json run/seed-*/proved.json", 0);
  EXPECT(page, 0, "Trained with masks");
  command_lacks("Proved");
  EXPECT("rm -f run/seed-*/certificate-*; $R4 certify run --seed 0 --range", 0);
  EXPECT(page, 0);
  command_lacks("Proved"); /* of one seed of two */
  EXPECT("$R4 certify run --seed 1 --range && $R4 certify run --eps 0.05 --attack 0", 0);
  EXPECT(page, 0, "Proved for run: ", "of its worst group stays correct whatever is in the mask; ",
         " is correct as it is, and ", " withstands every attack tried.",
         "stays correct if what is in the mask changes by up to 0.05; ", " is correct as it is.");
  EXPECT("cp run/seed-0/model.safetensors kept && cp run/seed-1/model.safetensors run/seed-0 && "
         "rm run/seed-0/eval.json && $R4 report run --out p.html --force; cp kept run/seed-0/model.safetensors",
         0, "run/seed-0/proved.json: belongs to other settings, data or weights", "it is left out");
  EXPECT("grep -c 'Proved for' p.html", 1, "0\n");
  EXPECT("$R4 certify run --seed 0 --range --examples 9 --force && cat run/seed-0/proved.json", 0);
}

/* ---- Interrupted ---- */

/* Killed after random times until it ends by itself: the same bytes as at one go, and nothing is left behind. */
static void interrupted_at_random_moments(void **state)
{
  (void)state;
  uint64_t chance = 1;
  EXPECT("$R4 certify run --range --radius --out whole%d.txt --attack 6 2>/dev/null | grep -v ' s)' > whole", 0);
  int killed = 0, done = 0;
  double patience = 4; /* milliseconds: the first are too few on any machine, the last enough */
  for (int k = 0; k < 60 && !done; k++, patience *= 1.15) {
    char line[400];
    chance = chance * 6364136223846793005u + 1442695040888963407u;
    snprintf(line, sizeof line,
             "timeout -s %s %.3f $R4 certify run --range --radius --out again%%d.txt --attack 6 > again 2>note; "
             "echo code $?",
             k % 3 ? "KILL" : "TERM", patience * (1 + (double)(chance >> 40 & 255) / 256) / 1000);
    EXPECT(line, 0, "code ");
    done = strstr(command_output, "code 0") != NULL;
    killed += !done;
    if (strstr(command_output, "code 2")) { /* all was written when the last kill came, and is not written again */
      EXPECT("cat note", 0, "again0.txt exists; --force overwrites it");
      EXPECT("$R4 certify run --range --radius --out again%d.txt --attack 6 --force 2>/dev/null > again", 0);
      done = true;
    }
  }
  if (!done) command_run("cat note");
  if (!done || !killed) fail_msg("%d killed, the last said: %s", killed, done ? "" : command_output);
  EXPECT("cmp whole0.txt again0.txt && cmp whole1.txt again1.txt && cmp whole.npz again.npz && "
         "sed 's/whole/again/g' whole > w && grep -v ' s)' again | cmp w - && echo same",
         0, "same");
  EXPECT("ls run/seed-0 run/seed-1", 0);
  command_lacks("test.part");
  command_lacks("attack.part");
}

/* What is kept is taken, unless it is of something else; lines that were cut off are not. */
static void goes_on_where_it_was(void **state)
{
  (void)state;
  EXPECT("$R4 certify run/seed-0 --range --out w.txt", 0);
  EXPECT("$R4 certify run/seed-0 --range --out nowhere/c.txt --data w.npz", 3, "nowhere/c.txt");
  EXPECT("cd run/seed-0 && wc -l < box-range-test.part && wc -l < box-range-test.attack.part", 0, "134\n", "4\n");
  EXPECT("cd run/seed-0 && head -n 8 box-range-test.part > p && printf '1 1 0x1p' >> p && mv p box-range-test.part && "
         "head -n 2 box-range-test.attack.part > p && mv p box-range-test.attack.part",
         0);
  EXPECT("$R4 certify run/seed-0 --range --out again.txt --data w.npz && cmp w.txt again.txt && echo same", 0,
         "7 of 133 examples were already done", "same");
  EXPECT("ls run/seed-0", 0, "model.safetensors");
  command_lacks("test.part");
  EXPECT("$R4 certify run/seed-0 --range --out nowhere/c.txt --data w.npz; "
         "$R4 certify run/seed-0 --eps 0.2 --out f.txt --data w.npz && "
         "cp run/seed-0/box-range-test.part run/seed-0/box-0.3-test.part && "
         "$R4 certify run/seed-0 --eps 0.3 --out f.txt --force --data w.npz",
         0);
  command_lacks("already done");
  EXPECT("sed -i 's/ end$/ 7 end/' run/seed-0/box-range-test.part; "
         "$R4 certify run/seed-0 --range --out third.txt --data w.npz && cmp w.txt third.txt && echo same",
         0, "same");
  command_lacks("already done");
}

/* ---- Texts ---- */

/* A word that says the label in training, at the front; the others say it four times of five. Of several lengths. */
static void make_texts(void)
{
  static const char *const word[2][3] = {{"bad", "un", "of"}, {"good", "able", "and"}};
  char line[400], here[200];
  FILE *f = fopen(scratch_path("films.csv"), "w");
  assert_true(f && getcwd(here, sizeof here));
  fprintf(f, "text,label,split\n");
  for (unsigned i = 0; i < 160; i++) {
    unsigned label = i % 2, test = i >= 80;
    fprintf(f, "%s", test ? i % 3 ? "the movie" : "the film" : label ? "movie" : "film");
    for (unsigned k = 0; k < 3 + i % 5; k++)
      fprintf(f, " %s", word[(i * 7 + k * 3) % 5 ? label : 1 - label][(i + k) % 3]);
    fprintf(f, ",%s,%s\n", label ? "pos" : "neg", test ? "test" : "train");
  }
  assert_int_equal(fclose(f), 0);
  snprintf(line, sizeof line, "cp %s/test/tokens/vocab.txt .", here);
  EXPECT(line, 0);
  put_text(scratch_folder(), "films.yaml",
           "data: films.csv\ndata.tokenizer: vocab.txt\ndata.mask_words: movie film\nepochs: 12\nbatch: 8\n"
           "rate: 0.03\nmethod: erm\nnet: embedding 400 8, leaf, dense 8, relu, mean, dense 2\n");
  EXPECT("$R4 train films.yaml --out words --quiet && $R4 train films.yaml --out proved --quiet --set method=ibp-ex "
         "--set box=words --set eps=1 --set eps.ramp=4",
         0);
}

/* The second program derives all lines by itself, and takes no other list, text or margin. */
static void words_of_texts(void **state)
{
  (void)state;
  make_texts();
  EXPECT("$R4 certify proved --words run", 0, "claim words, of 2 tokens; semantics real, method intervals");
  EXPECT("cat proved/seed-0/certificate-words.txt", 0, "\nclaim words\nsemantics real\nmethod intervals\nmodel ",
         "\nwords ", "\nexamples 80\n0 0 0 0x1.");
  EXPECT("check=${R4%/r4}/r4-check; cd proved && $check seed-0/certificate-words.txt seed-0/model.safetensors "
         "certificate-test.npz",
         0, "80 lines: 80 hold, 0 do not hold, 0 cannot tell, 0 open");
  EXPECT("$R4 certify proved --words run --semantics any-float && cd proved && ${R4%/r4}/r4-check "
         "seed-0/certificate-words-any-float.txt seed-0/model.safetensors certificate-test.npz",
         0, " 0 do not hold, 0 cannot tell");
  EXPECT("$R4 certify words --words 'bad, good, un, able, of, and' --out six.txt", 0, "of 6 tokens");
  EXPECT("grep -c holds six.txt; grep -c open six.txt", 0);
  command_lacks("80\n0\n");
  EXPECT("${R4%/r4}/r4-check six.txt words/seed-0/model.safetensors six.npz", 0, " 0 do not hold, 0 cannot tell");
  EXPECT("${R4%/r4}/r4-check six.txt proved/seed-0/model.safetensors six.npz", 3, "r4-check: ");
  EXPECT("$R4 certify words --words run --out nowhere/w.txt --data k.npz; "
         "head -n 30 words/seed-0/words-test.part > p && mv p words/seed-0/words-test.part && "
         "$R4 certify words --words run --out resumed.txt --data k.npz && "
         "$R4 certify words --words run --out atonce.txt --data k.npz && cmp resumed.txt atonce.txt && echo same",
         0, "29 of 80 examples were already done", "same");
  EXPECT("ls words/seed-0", 0, "model.safetensors");
  command_lacks(".part");
}

static void words_go_wrong(void **state)
{
  (void)state;
  EXPECT("$R4 certify proved --range --out q.txt", 2, "the claim box is for numbers, and the examples are texts");
  EXPECT("$R4 certify proved --words run --eps 0.1", 2, "--eps and --words: expected one of them");
  EXPECT("$R4 certify proved --words run --cover tokens:1", 2, "--cover and --words: expected one of them");
  EXPECT("$R4 certify proved --words run --semantics exact", 2, "--semantics: expected real or any-float");
  EXPECT("$R4 certify run/seed-1 --words run --out q.txt --data z.npz", 2, "there is no list of words: expected texts");
  EXPECT("$R4 certify proved --words 'movie, \xe2\x98\x83' --out q.txt", 0,
         "1 of 2 words of the list are not in the vocabulary");
  EXPECT("sed -i 's/^data.mask_words: .*/data.mask_words: \"\"/' words/config.yaml words/seed-0/config.yaml; "
         "$R4 certify words --words run --other-data --out q.txt --force",
         2, "none of the 80 examples of test has a mask");
}

/* ---- What is printed ---- */

static void it_says_how_to_check(void **state)
{
  (void)state;
  EXPECT("cp -r run how && rm -f how/*.npz how/seed-*/cert* && $R4 certify how --seed 1 --eps 0.1 --examples 20", 0,
         "r4-check --quiet how/seed-1/certificate-box-0.1.txt how/seed-1/model.safetensors "
         "how/certificate-test.npz\n");
  EXPECT("$R4 certify how --seed 1 --eps 0.1 --examples 20 --force > how.all && "
         "sed -n 's/^check it with: //p' how.all > how.txt && sh how.txt", 0, " 0 do not hold");
  EXPECT("sed -n 's/^seed 1: \\(.*\\) certified$/certified accuracy \\1/p' how.all > a.how && sh how.txt | grep "
         "'^certified' "
         "> b.how && cmp a.how b.how && cat b.how", 0, " of 20)");
  EXPECT("mkdir -p alone && cp $R4 alone/r4 && alone/r4 certify how --seed 1 --eps 0.1 --examples 20 --force", 0,
         "check it with: r4-check --quiet how/seed-1/");
  EXPECT("$R4 certify erm --range --attack 0 --out erm.txt --data erm.npz", 0, "No example with a mask is certified: "
         "method erm "
         "trains without bounds; train with bound: true, or try --method linear, which");
  EXPECT("cp -r erm little && sed -i 's/^method: .*/method: cert-r4/; s/^eps: .*/eps: 0.01/' little/config.yaml && "
         "$R4 certify little --range --attack 0 --out little.txt --data little.npz", 0,
         "is certified: it was trained for eps 0.01; train with eps: range, or try --method linear");
  EXPECT("$R4 certify how --seed 1 --eps 0.1 --examples 20 --force --json", 0,
         "\"model\":\"how/seed-1/model.safetensors\",\"data\":\"how/certificate-test.npz\"");
}

/* Certificates are of the examples beside them: who overwrites these is told which ones are lost. */
static void orphans_are_named(void **state)
{
  (void)state;
  EXPECT("cp -r run lost && rm -f lost/*.npz lost/seed-*/cert* && $R4 certify lost --eps 0.1 --examples 20 --out "
         "lost/own%d.txt --data lost/certificate-test.npz && $R4 certify lost --eps 0.1 --examples 20", 0);
  EXPECT("$R4 certify lost --seed 1 --eps 0.2 --examples 30", 2,
         "lost/certificate-test.npz exists and holds other examples", "--data FILE writes these elsewhere");
  EXPECT("$R4 certify lost --seed 1 --eps 0.2 --examples 20 --force", 0);
  command_lacks("can no longer"); /* the same examples */
  EXPECT("$R4 certify lost --seed 1 --eps 0.1 --examples 30 --force", 0,
         "--force: lost/seed-0/certificate-box-0.1.txt was about the examples that lost/certificate-test.npz held, and "
         "can no longer be checked\n",
         "lost/seed-1/certificate-box-0.2.txt was about", "lost/own0.txt was about", "lost/own1.txt was about");
  command_lacks("seed-1/certificate-box-0.1.txt was"); /* it is written */
}

/* ---- What goes wrong ---- */

static void bad_input_is_named(void **state)
{
  (void)state;
  EXPECT("$R4 certify run", 2, "expected --eps E, --range, --words LIST or --cover FAMILY");
  EXPECT("$R4 certify run --eps 0.1 --range", 2, "--eps and --range: give one of the two");
  EXPECT("$R4 certify run --eps -0.1 --force", 2, "eps is \"-0.1\", expected a decimal of at least 0");
  EXPECT("$R4 certify run --eps nan --force", 2, "eps is \"nan\", expected a decimal");
  EXPECT("$R4 certify run --eps 1e-3 --force", 2, "eps is \"1e-3\", expected a decimal");
  EXPECT("$R4 certify run --eps 1.5 --force", 2, "eps is 1.5, larger than the range, 0 to 1");
  EXPECT("$R4 certify run --range --valid none --force", 2, "there is no range");
  EXPECT("$R4 certify run --range --valid 1,0 --force", 2, "the lower one first");
  EXPECT("$R4 certify run --range --valid 1 --force", 2, "--valid 1: expected two decimals");
  EXPECT("$R4 certify run --range --semantics exact", 2, "--semantics: expected real or any-float");
  EXPECT("$R4 certify run --range --seed 7", 2, "run has no model of seed 7");
  EXPECT("$R4 certify nothing --range", 3, "nothing");
  EXPECT("$R4 certify run --range --out x.txt", 2, "the run has 2 seeds; expected a %d for the seed");
  EXPECT("$R4 certify run --range --seed 1 --examples 5 --out one.txt --data one.npz", 0, "one.txt");
  EXPECT("$R4 eval run --certify 2", 2, "eps is 2, larger than the range, 0 to 1");
  EXPECT("$R4 eval run --certify nan", 2, "eps is \"nan\"");
  EXPECT("$R4 eval run --certify 0.00000000000000000000000000001", 2, "expected at most 23 digits");
  EXPECT("cp run/seed-0/config.yaml c && sed -i 's/^data.from: .*/data.from: digits:400/' run/seed-0/config.yaml; "
         "$R4 certify run/seed-0 --range --out o.txt; echo code $?; "
         "cp c run/seed-0/config.yaml",
         0, "code 2");
}

static void examples_without_masks(void **state)
{
  (void)state;
  EXPECT("printf 'file,label,split\\n' > p.csv; mkdir -p plain/images; cp p.csv plain/metadata.csv", 0);
  for (int k = 0; k < 12; k++) {
    char name[60], line[100];
    snprintf(name, sizeof name, "plain/images/%02d.png", k);
    put_grey(scratch_folder(), name, 8, 8, (uint8_t)(20 * k), 255);
    snprintf(line, sizeof line, "echo %02d.png,%s,%s >> plain/metadata.csv", k, k % 2 ? "a" : "b",
             k < 8 ? "train" : "test");
    EXPECT(line, 0);
  }
  put_text(scratch_folder(), "plain.yaml",
           "data: plain\ndata.size: 8\nmethod: erm\nepochs: 1\nbatch: 4\nnet: conv 2 3, relu, flatten, dense 2\n");
  EXPECT("$R4 train plain.yaml --out plainrun --quiet", 0);
  EXPECT("$R4 certify plainrun --range", 2, "none of the 4 examples of test has a mask",
         "--cover FAMILY needs no masks");
  EXPECT("$R4 eval plainrun --certify range", 2, "no example has a mask");
  EXPECT("$R4 certify plainrun --cover square:8", 2, "expected a square of at most 7");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(figures_of_evaluation),
    cmocka_unit_test(page_finds_certificates),
    cmocka_unit_test(interrupted_at_random_moments),
    cmocka_unit_test(goes_on_where_it_was),
    cmocka_unit_test(words_of_texts),
    cmocka_unit_test(words_go_wrong),
    cmocka_unit_test(it_says_how_to_check),
    cmocka_unit_test(orphans_are_named),
    cmocka_unit_test(bad_input_is_named),
    cmocka_unit_test(examples_without_masks),
  };
  if (!check_command()) return 0;
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("cli_certify", tests, train, scratch_remove);
}
