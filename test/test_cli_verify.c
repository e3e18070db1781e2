/* "r4 certify --method complete", "--vnnlib" and "r4 verify" as a user meets them. Needs $R4, the command. */
#include "command.h"
#include "pets.h"

static int train(void **state)
{
  int failed = scratch_make(state);
  if (failed) return failed;
  pets_make((struct pets){.folder = "pets", .cat = "cat", .dog = "dog", .test = 12, .masked = true});
  pets_settings("pets.yaml", "pets", "method: r3\ndata.size: 6\n");
  EXPECT("$R4 train pets.yaml --set 'net=conv 3 3, relu, flatten, dense 8, relu, dense 2' --out run --quiet", 0);
  return 0;
}

/* A line says what proved it; what intervals prove, complete proves as well. */
static void complete(void **state)
{
  (void)state;
  EXPECT("$R4 certify run --eps 0.2 --out i.txt --attack 0", 0, "method intervals");
  EXPECT("$R4 certify run --eps 0.2 --method best --slopes 0 --out b.txt --data i.npz --attack 0", 0, "method best");
  EXPECT("$R4 certify run --eps 0.2 --method complete --seconds 5 --out c.txt --data i.npz --vnnlib claims", 0,
         "method complete", "attacked");
  EXPECT("! grep ' by ' i.txt && grep -c ' holds by ' c.txt && ! grep ' holds$' c.txt && echo words", 0, "words");
  EXPECT("test $(grep -c holds i.txt) -le $(grep -c holds b.txt) && "
         "test $(grep -c holds b.txt) -le $(grep -c holds c.txt) && echo in order",
         0, "in order");
  EXPECT("${R4%/r4}/r4-check c.txt run/seed-0/model.safetensors i.npz; test $? -le 1 && echo read", 0, " 0 do not hold",
         "read");
  EXPECT("cat run/seed-0/certificate-*complete* 2> none; $R4 certify run --eps 0.2 --method complete --seconds 5 "
         "--data i.npz", 0, "certificate-box-0.2-complete.txt");
}

/* Written for others, and read back: the same answers. */
static void read_back(void **state)
{
  (void)state;
  EXPECT("head -1 claims/instances.csv", 0, "seed-0.onnx,seed-0-0000", ".vnnlib,60");
  EXPECT("n=0; for f in claims/*.vnnlib; do i=$(echo $f | sed 's/.*-0*\\([0-9][0-9]*\\).vnnlib/\\1/'); "
         "set -- $(grep \"^$i \" c.txt); test $2 = $3 || continue; " /* what is wrong is not branched */
         "want=violated; test $5 = holds && want=holds; "
         "got=$($R4 verify claims/seed-0.onnx $f --seconds 20 --counterexample ce.txt --force | head -1); "
         "test \"$got\" = $want || { echo $f $got, not $want; exit 1; }; n=$((n+1)); done; "
         "test $n -gt 5 && echo the same",
         0, "the same");
}

static void answers(void **state)
{
  (void)state;
  EXPECT("f=$(ls claims/*.vnnlib | head -1); sed 's/(>= Y_[01] Y_[01])/(>= Y_0 -1000)/' $f > yes.vnnlib; "
         "sed 's/(>= Y_[01] Y_[01])/(>= Y_0 1000)/' $f > no.vnnlib; $R4 verify claims/seed-0.onnx yes.vnnlib",
         1, "violated", "(X_0 ", "(Y_1 ");
  EXPECT("$R4 verify claims/seed-0.onnx no.vnnlib", 0, "holds", "sub-domains proved");
  EXPECT("$R4 verify claims/seed-0.onnx yes.vnnlib --counterexample found.txt --json", 1, "violated", "\"x\"");
  EXPECT("grep -c X_ found.txt", 0, "36");
  EXPECT("$R4 verify claims/seed-0.onnx yes.vnnlib --counterexample nowhere/found.txt", 3, "violated",
         "r4 verify: nowhere/found.txt: No such file or directory");
  EXPECT("$R4 verify claims/seed-0.onnx yes.vnnlib --counterexample found.txt", 2, "found.txt exists; --force");
}

static void bad_input_is_named(void **state)
{
  (void)state;
  EXPECT("$R4 certify run --eps 0.2 --method complete --seconds 0", 2, "--seconds: expected a number above 0");
  EXPECT("$R4 certify run --eps 0.2 --method complete --semantics any-float", 2, "expected --method intervals");
  EXPECT("$R4 certify run --eps 0.2 --vnnlib claims", 2, "--vnnlib: claims exists; --force writes into it");
  EXPECT("$R4 certify run --cover edges:0.2 --vnnlib other", 2, "--vnnlib is for the content of given masks");
  EXPECT("$R4 verify claims/seed-0.onnx nowhere.vnnlib", 3, "nowhere.vnnlib");
  EXPECT("$R4 verify nowhere.onnx no.vnnlib", 3, "nowhere.onnx");
  EXPECT("$R4 verify claims/seed-0.onnx no.vnnlib --seconds 0", 2, "--seconds: expected a number above 0");
  EXPECT("sed 's/(<= X_3 /(< X_3 /' no.vnnlib > bad.vnnlib; $R4 verify claims/seed-0.onnx bad.vnnlib", 3,
         "bad.vnnlib:", "\"<\" is not understood; expected <= or >=, and, or");
  EXPECT("grep -v 'X_35 ' no.vnnlib > bad.vnnlib; $R4 verify claims/seed-0.onnx bad.vnnlib", 2,
         "declares 35 inputs and 2 outputs, the net has 36 and 2");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(complete), cmocka_unit_test(read_back), cmocka_unit_test(answers),
    cmocka_unit_test(bad_input_is_named),
  };
  if (!check_command()) return 0;
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("cli_verify", tests, train, scratch_remove);
}
