/* "r4 export" as a user meets it, and its files as nets and weights of other runs. Needs $R4, the command. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "folder_make.h"
#include "pets.h"
#include "scratch.h"

static int train(void **state)
{
  int failed = scratch_make(state);
  if (failed) return failed;
  pets_make((struct pets){.folder = "pets", .cat = "cat", .dog = "dog", .test = 9});
  pets_settings("pets.yaml", "pets", "method: erm\n");
  put_text(scratch_folder(), "conv.yaml",
           "base: pets.yaml\ndata.size: 6\nnet: \"a: conv 3 3 p1, batchnorm, relu, flatten, fc: dense 2\"\n");
  put_text(scratch_folder(), "again.yaml", "base: conv.yaml\nnet: net.onnx\nfrom: net.onnx\nepochs: 0\n");
  put_text(scratch_folder(), "damaged.onnx", "no net at all");
  put_text(scratch_folder(), "damaged.net", "no net at all");
  EXPECT("$R4 train conv.yaml --out run --seeds 2 --quiet", 0);
  return 0;
}

static void writes_onnx(void **state)
{
  (void)state;
  EXPECT("$R4 export run --onnx net.onnx", 0,
         "net.onnx: input [batch, 1, 6, 6], channels first, from 0 to 1; logits [batch, 2]",
         "--seed N chooses another");
  EXPECT("$R4 export run --seed 1 --onnx one.onnx && ! cmp -s net.onnx one.onnx", 0);
  EXPECT("$R4 export run/seed-0/model.safetensors --onnx file.onnx && cmp net.onnx file.onnx", 0);
  EXPECT("$R4 export net.onnx --onnx again.onnx && cmp net.onnx again.onnx", 0);
}

static void mistakes_are_named(void **state)
{
  (void)state;
  EXPECT("$R4 export run", 2, "no format is given: --onnx FILE writes ONNX");
  EXPECT("$R4 export run --onnx net.onnx", 2, "net.onnx exists already; --force overwrites it");
  EXPECT("$R4 export run --onnx net.onnx --force", 0, "logits");
  EXPECT("$R4 export run --onnx net.txt", 2, "needs --onnx and a file that ends in .onnx");
  EXPECT("$R4 export run --seed 7 --onnx x.onnx", 3, "run has no model of seed 7");
  EXPECT("$R4 export damaged.onnx --onnx x.onnx", 3, "damaged.onnx: not ONNX, or damaged");
  EXPECT("$R4 export nothing --onnx x.onnx", 3, "nothing");
}

/* A net from elsewhere is measured, explained and asked as one of our own. */
static void is_read_again(void **state)
{
  (void)state;
  EXPECT("$R4 train again.yaml --out other --quiet", 0);
  EXPECT("$R4 eval run/seed-0 --json > a && $R4 eval other/seed-0 --json > b && "
         "grep -o '\"accuracy\":[^,]*' a > c && grep -o '\"accuracy\":[^,]*' b | cmp - c",
         0);
  EXPECT("$R4 predict net.onnx pets/images --csv > a && $R4 predict run pets/images --csv > b && cmp a b", 0);
  EXPECT("$R4 train again.yaml --set epochs=1 --out more --quiet", 0);
  EXPECT("$R4 train again.yaml --set 'from=' --out x", 2, "epochs",
         "is 0, which is for trained nets");
  EXPECT("$R4 train again.yaml --set net=damaged.onnx --out x", 3, "damaged.onnx: not ONNX, or damaged");
  EXPECT("$R4 train again.yaml --set net=damaged.net --out x", 3, "damaged.net:1:1");
  EXPECT("$R4 train again.yaml --set net='no net at all' --out x", 2, "net at all");
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(writes_onnx), cmocka_unit_test(mistakes_are_named),
                                     cmocka_unit_test(is_read_again)};
  cmocka_set_message_output(CM_OUTPUT_TAP);
  if (!check_command()) return 0;
  return cmocka_run_group_tests_name("r4 export", tests, train, scratch_remove);
}
