/* r4 train from weights that do not fit, and what it then says. Needs $R4, the command. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "folder_make.h"
#include "pets.h"

/* A small net that is named as pretrained ones are; its weights are in the run "first". */
static int make(void **state)
{
  if (scratch_make(state)) return -1;
  const char *net =
    "about a small one\nparam classes 2\nparam width 4\ninput 32 32 1 any 6\n"
    "body: (conv1: conv $width 3 p1, relu, conv2: conv $width 3 p1), relu, globalpool, fc: dense $classes\n";
  put_text(scratch_folder(), "small.net", net);
  put_text(scratch_folder(), "other.net",
           "stem: conv 4 3 p1, relu, body: (conv1: conv 4 5 p2), globalpool, fc: dense 2\n");
  pets_make((struct pets){.folder = "pets", .cat = "cat", .dog = "dog", .test = 6, .masked = true});
  put_text(scratch_folder(), "fit.yaml",
           "data: pets\ndata.mask_means: irrelevant\ndata.size: 8\nnet: small.net\nmethod: r3\nepochs: "
           "1\nbatch: 4\n");
  put_text(scratch_folder(), "r3.yaml", "base: fit.yaml\nfrom: first/seed-0/model.safetensors\n");
  EXPECT("$R4 train fit.yaml --set rate=0 --out first --quiet; test -e first/seed-0/model.safetensors", 0,
         "");
  return 0;
}

static void weights_of_other_nets(void **state)
{
  (void)state;
  EXPECT("$R4 train r3.yaml --set net='small.net(width=5)' --out a --quiet", 2,
         "first/seed-0/model.safetensors: does not fit the net", "of another shape: body.conv1.weight is [4,",
         "expected [5,");
  EXPECT("$R4 train r3.yaml --set net=other.net --out a --quiet", 2, "missing: stem.weight [4,",
         "unexpected: body.conv2.", "of another shape: body.conv1.weight is [4,");
  EXPECT("$R4 train r3.yaml --set from=nowhere.safetensors --out a --quiet", 3,
         "nowhere.safetensors: opening: No such file");
  EXPECT("echo word > text.safetensors && $R4 train r3.yaml --set from=text.safetensors --out a --quiet", 3,
         "text.safetensors: ");
}

static void weights_of_another_head(void **state)
{
  (void)state;
  put_text(scratch_folder(), "headless.net",
           "param width 4\nbody: (conv1: conv $width 3 p1, relu, conv2: conv $width 3 p1), relu, globalpool, "
           "last: dense 2\n");
  EXPECT("$R4 train r3.yaml --set net=headless.net --out a --quiet", 2,
         "2 missing: last.weight [2,4], last.bias [2]", "2 unexpected: fc.weight, fc.bias");
  EXPECT(
    "$R4 train r3.yaml --set net=headless.net --set from.head='last.*' --set from.ignore='fc.*' --set rate=0 "
    "--out b "
    "--quiet; test -e b/seed-0/model.safetensors",
    0, "");
  EXPECT("$R4 train r3.yaml --set from.head='top.*' --out a --quiet", 2, "top.*");
}

static void images_that_are_too_small(void **state)
{
  (void)state;
  EXPECT("$R4 train r3.yaml --set data.size=5 --out a --quiet", 2,
         "net small.net: images are 5 x 5, needs 6 x 6 or more (data.size makes them larger)");
}

static void a_part_that_is_not_there(void **state)
{
  (void)state;
  EXPECT("$R4 train r3.yaml --set guide=layer4 --out a --quiet", 2,
         "guide is \"layer4\": the main row of the net has no such part; expected input, features, body");
}

/* What was put before the net is part of the model, not of the settings: eval and the page measure the same net, and a
 * file of figures by another rule is not believed. */
static void what_stands_before_the_net_counts(void **state)
{
  (void)state;
  EXPECT("$R4 train r3.yaml --set preprocess=tensorflow --set rate=0 --out before --quiet; "
         "grep -c 'normalize mean' before/seed-0/model.safetensors",
         0, "1");
  EXPECT("$R4 report before --out before.html && grep -o '\"loss\":[^,]*' before/seed-0/eval.json > paged && "
         "rm before/seed-0/eval.json && $R4 eval before > /dev/null; "
         "grep -o '\"loss\":[^,]*' before/seed-0/eval.json | cmp - paged && echo same",
         0, "same");
  EXPECT("$R4 eval before --json > said; for key in accuracy kappa_masked_max kappa_core_mean; do "
         "grep -o \"\\\"$key\\\":[0-9.e+-]*\" said | head -1 > said-by-eval; "
         "grep -o \"\\\"$key\\\":[0-9.e+-]*\" before.html | head -1 | cmp said-by-eval - && "
         "test -s said-by-eval || echo $key differs; "
         "done; echo compared",
         0, "compared");
  command_lacks("differs");
  EXPECT("sed -i 's/\"measured\":[0-9]*/\"measured\":2/' before/seed-0/eval.json; $R4 report before --out before.html "
         "--force",
         0, "eval.json: has another form", "measuring seed 0 of before");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(weights_of_other_nets),
    cmocka_unit_test(weights_of_another_head),
    cmocka_unit_test(images_that_are_too_small),
    cmocka_unit_test(a_part_that_is_not_there),
    cmocka_unit_test(what_stands_before_the_net_counts),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  if (!check_command()) return 0;
  return cmocka_run_group_tests_name("cli pretrained", tests, make, scratch_remove);
}
