/* r4 train without a method, --verdict, and choices among nets: on data whose patch gives the label away and is masked
 * on a tenth of the examples. Needs $R4, the command. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "command.h"
#include "folder_make.h"
#include "patch_case.h"

#define COMMON "net: dense 2\nepochs: 8\nbatch: 20\nrate: 0.02\nthreads: 1\n"

static int make(void **state)
{
  if (scratch_make(state)) return -1;
  patch_save("tenth.npz", (struct patch_planted){.train = 800, .val = 400, .masked = 0.1, .size = 2});
  patch_save("few.npz", (struct patch_planted){.train = 100, .val = 50, .masked = 0.1, .size = 2});
  patch_save("bare.npz", (struct patch_planted){.train = 100, .val = 50, .masked = 0, .size = 2});
  patch_save("one.npz",
             (struct patch_planted){.train = 200, .val = 200, .masked = 1, .size = 2, .one = true});
  put_text(scratch_folder(), "one.yaml", "data: one.npz\n" COMMON);
  put_text(scratch_folder(), "a.yaml", "data: tenth.npz\n" COMMON);
  put_text(scratch_folder(), "few.yaml", "data: few.npz\n" COMMON);
  put_text(scratch_folder(), "bare.yaml", "data: bare.npz\n" COMMON);
  patch_save("alike.npz", (struct patch_planted){.train = 800, .val = 400, .masked = 0.2, .size = 1, .test = 200});
  put_text(scratch_folder(), "alike.yaml", "data: alike.npz\n" COMMON);
  return 0;
}

/* ---- Training ---- */

static void a_method_is_taken_and_the_net_judged(void **state)
{
  (void)state;
  EXPECT("$R4 train a.yaml --seeds 2 --verdict --out auto", 0,
         "r4 train: method is auto: chose pairing, as few examples have masks (80 of 800 training examples have one); "
         "method: NAME overrides it",
         "%; masked content exchanged (40): ", "seed 1: the penalty took effect in ",
         "seed 0: does not use the shortcut: it loses ",
         " % of its correct predictions when masked content is exchanged on ", " validation examples\n");
  EXPECT("cat auto/config.yaml auto/seed-0/config.yaml auto/seed-1/outcome.json", 0, "\nmethod: pairing",
         "{\"verdict\":\"does not use\",\"lost\":", "\"unpenalised\":false,\"one_sided\":false,\"doubtful\":false}");
  EXPECT("$R4 train a.yaml --seeds 2 --out auto --resume --verdict", 0, "does not use the shortcut");
  EXPECT("$R4 eval auto --split val --swap swap && $R4 report auto --split val --out page.html", 0);
  EXPECT("cat page.html", 0, "400 validation examples", " again/auto --split val\n",
         " --split val --out report.html\n");
  EXPECT("grep -c 'test examples' page.html", 1, "0");
  EXPECT("$R4 train a.yaml --seeds 2 --out auto", 2, "resume");
}

static void verdicts_are_exit_codes(void **state)
{
  (void)state;
  EXPECT("$R4 train a.yaml --set method=erm --out erm", 0, "seed 0: uses the shortcut: it loses ",
         "; method: auto uses the masks");
  EXPECT("$R4 train a.yaml --set method=erm --out erm --resume --verdict", 1, "uses the shortcut");
  EXPECT("$R4 train few.yaml --verdict --out few", 1, "validation contains the shortcut",
         "(with the shortcut in it)",
         "whether it uses the shortcut is unknown: the masked content of 4 validation examples can be exchanged");
  EXPECT("$R4 train bare.yaml --verdict --out bare", 1,
         "method is auto: chose erm, as no training example has a mask",
         "whether it uses a shortcut is unknown: no example has a mask");
  EXPECT("$R4 train bare.yaml --out bare2 --quiet", 0, "whether it uses a shortcut is unknown: no example has a mask");
  EXPECT("$R4 train bare.yaml --verdict --set data.val=0 --out none", 1,
         "whether it uses a shortcut is unknown");
  EXPECT("$R4 train a.yaml --set method=r3 --set lambda=1 --set batch=800 --set epochs=2 --out late", 1,
         "the penalty took effect in none of 2 steps: this net was not trained with r3");
}

/* Both classes have the same patch in the test part: swapping it shows nothing, and nobody is to take that for good. */
static void what_validation_found_is_not_forgotten(void **state)
{
  (void)state;
  EXPECT("$R4 train alike.yaml --set method=erm --out alike/erm --quiet", 0, "uses the shortcut: it loses ");
  EXPECT("$R4 eval alike/erm", 0, "\nuses the shortcut: in validation it lost ",
         " %, probably because masked content says little of the class in test; ", " % with paste, ",
         " % with blank\n");
  EXPECT("$R4 eval alike/erm --swap swap", 0, " of the class in test; --swap paste,blank may show more\n");
  EXPECT("$R4 eval alike/erm --json", 0, "\"swap_hides\":true,");
  EXPECT("$R4 report alike/erm --out alike/page.html && grep -o '<b class=.wrong.*Here it' alike/page.html", 0,
         "erm uses the shortcut</b>. In validation, at the end of training, it lost <b>");
  EXPECT("grep -c '\"swap_hides\":true' alike/page.html", 0, "1");
  EXPECT("$R4 train alike.yaml --out alike/auto --quiet", 0, "does not use the shortcut");
  EXPECT("$R4 eval alike/erm alike/auto", 0, "\nerm: uses the shortcut: in validation it lost ");
  command_lacks("auto: uses");
  EXPECT("$R4 eval alike/auto --json", 0, "\"swap_hides\":false,");
}

static void seeds_say_once_what_they_share(void **state)
{
  (void)state;
  EXPECT("$R4 train a.yaml --set epochs=1 --seeds 3 --out once 2>&1 | grep -c ' = mean loss'", 0, "1\n");
  EXPECT("$R4 train a.yaml --set epochs=1 --seeds 3 --out once --force 2>&1 | grep -c 'seed [012]: .*the shortcut'", 0,
         "3\n");
}

/* One verdict wherever it is asked for: test and validation side by side. */
static void a_run_has_one_verdict(void **state)
{
  (void)state;
  EXPECT("$R4 train a.yaml --set method=erm --out one/erm --quiet", 0, "uses the shortcut: it loses ");
  EXPECT("$R4 eval one/erm --split val --swap swap", 0, "\nuses the shortcut: it loses ",
         " % of its correct predictions when masked content is exchanged, ", " % in validation\n");
  EXPECT("$R4 eval one/erm --split val --json", 0,
         "\"verdict\":\"uses\",\"verdict_by_validation\":\"uses\",\"swap_hides\":false,\"masks_doubtful\":false");
  EXPECT("$R4 eval one/erm --split val --swap none", 0, "\nuses the shortcut, by validation: there it lost ");
}

/* A mark that one class alone has is also taken away, and the verdict knows of it. */
static void a_mark_of_one_class_is_removed(void **state)
{
  (void)state;
  EXPECT("$R4 train one.yaml --set method=erm --out only/erm --quiet", 0);
  EXPECT("$R4 eval only/erm --split val", 0,
         "removal: masked content that other classes hardly have is replaced by what examples of other classes have in "
         "that place (100 examples)\n",
         " when masked content is exchanged, ", " % in validation; ",
         " % where content that other classes hardly have is removed\n", "\nworst group, exchanged ");
  EXPECT("$R4 eval only/erm --split val --json", 0, "\"removed_lost_share\":", "\"removed\":100,");
  EXPECT("$R4 report only/erm --split val --out only/page.html && cat only/page.html", 0,
         " where content that other classes hardly have is removed; its worst group has ",
         "On 100 examples with a mask it is replaced by what an example of another class has in that place.");
}

/* Masks that may mean the reverse qualify a good verdict, wherever it stands. */
static void doubts_go_with_the_verdict(void **state)
{
  (void)state;
  EXPECT("$R4 train a.yaml --out doubt/auto --quiet", 0, "does not use the shortcut");
  EXPECT("sed -i 's/\"doubtful\":false/\"doubtful\":true/' doubt/auto/seed-*/outcome.json", 0);
  EXPECT("$R4 eval doubt/auto --split val", 0, "; but the masks may mean the reverse (r4 data lint says why)\n");
  EXPECT("$R4 report doubt/auto --split val --out doubt/page.html && cat doubt/page.html", 0,
         "<b class=\"little\">auto does not use the shortcut</b>", "The masks of auto may mean the reverse: ",
         "\"masks_doubtful\":true");
}

static void mistakes_are_told(void **state)
{
  (void)state;
  EXPECT("$R4 train bare.yaml --set lambda=auto --out x", 2,
         "lambda is auto, but the method that fits the masks has no penalty to weigh");
  EXPECT("$R4 train few.yaml --set select=worst --out x", 2,
         "select is worst, but validation contains the shortcut");
  EXPECT("$R4 train few.yaml --set method=r3 --set lambda=auto --out y", 2,
         "lambda is auto, but validation contains");
  EXPECT("$R4 train a.yaml --set data=none.npz --out z", 3, "none.npz");
  command_lacks("method is auto");
}

/* ---- Choosing ---- */

/* As it is, validation praises plain training: its accuracy there is that of the patch. */
static double plain_accuracy(const char *run)
{
  char line[200];
  double v = 0;
  snprintf(line, sizeof line, "tail -n 1 %s/seed-0/log.jsonl", run);
  assert_int_equal(command_run(line), 0);
  struct js *root = command_json();
  assert_true(js_number(js_get(js_get(root, "val"), "avg"), &v));
  js_free(root);
  return v;
}

static void a_sweep_picks_what_ignores_the_patch(void **state)
{
  (void)state;
  EXPECT(
    "$R4 sweep a.yaml --over method=erm,pairing --out sweep --quiet", 0,
    "They are measured on 40 validation examples whose masked content was exchanged with that of another class.",
    "Picked by validation alone, by the score: method=pairing\n");
  EXPECT("$R4 sweep few.yaml --over method=erm,pairing --out sweep-few --quiet", 2,
         "the sweep picks by validation, but validation contains the shortcut");
  EXPECT("$R4 train a.yaml --set method=erm --set data.val_fill=none --out as-is --quiet && "
         "$R4 train a.yaml --set method=pairing --set data.val_fill=none --out as-is-pairing --quiet",
         0);
  assert_true(plain_accuracy("as-is") > plain_accuracy("as-is-pairing") + 0.02);
}

/* What replaces content is said, and not that there are no masks. */
static void a_sweep_says_what_its_figures_are_of(void **state)
{
  (void)state;
  EXPECT("$R4 sweep a.yaml --over rate=0.01,0.02 --set method=erm --set data.val_fill=colour --set epochs=2 "
         "--out filled --quiet",
         0, "Masked content of validation examples is replaced, as set by data.val_fill.");
  command_lacks("there are no masks");
  EXPECT("$R4 sweep one.yaml --over method=erm,pairing --set epochs=2 --out one-class --quiet", 0,
         "Masks are on some classes only. If the others have a shortcut of their own, it is still in validation");
  EXPECT("$R4 sweep a.yaml --over rate=0.01,0.02 --set epochs=2 --out all-classes --quiet", 0);
  command_lacks("Masks are on some classes only");
  EXPECT("$R4 sweep bare.yaml --over rate=0.01,0.02 --set epochs=2 --out plain --quiet", 0,
         "Validation examples are unchanged: there are no masks");
}

/* The penalty of a small lambda does not keep a net from the patch. */
static void lambda_auto_takes_a_larger_one(void **state)
{
  (void)state;
  EXPECT("$R4 train a.yaml --set lambda=auto --set penalty.ramp=0 --out lambda", 0,
         "method is auto: chose pairing", "lambda: auto chose ");
  EXPECT("cat lambda/auto/curve.json", 0);
  struct js *root = command_json();
  double chosen = 0;
  assert_true(js_number(js_get(root, "chosen"), &chosen));
  assert_true(chosen >= 1); /* the method's own */
  js_free(root);
  EXPECT("$R4 train a.yaml --set lambda=auto --set penalty.ramp=0 --out lambda --resume", 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_method_is_taken_and_the_net_judged),
    cmocka_unit_test(verdicts_are_exit_codes),
    cmocka_unit_test(what_validation_found_is_not_forgotten),
    cmocka_unit_test(seeds_say_once_what_they_share),
    cmocka_unit_test(a_run_has_one_verdict),
    cmocka_unit_test(a_mark_of_one_class_is_removed),
                                     cmocka_unit_test(doubts_go_with_the_verdict),
                                     cmocka_unit_test(mistakes_are_told),
    cmocka_unit_test(a_sweep_picks_what_ignores_the_patch),
    cmocka_unit_test(a_sweep_says_what_its_figures_are_of),
    cmocka_unit_test(lambda_auto_takes_a_larger_one),
  };
  if (!check_command()) return 0;
  return cmocka_run_group_tests_name("cli verdict", tests, make, scratch_remove);
}
