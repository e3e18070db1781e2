/* "r4 certify --method" as a user meets it. Needs $R4, the command. */
#include "command.h"
#include "pets.h"

static int train(void **state)
{
  int failed = scratch_make(state);
  if (failed) return failed;
  pets_make((struct pets){.folder = "pets", .cat = "cat", .dog = "dog", .test = 20, .masked = true});
  pets_settings("pets.yaml", "pets", "method: r3\ndata.size: 8\n");
  EXPECT("$R4 train pets.yaml --set 'net=dense 12, relu, dense 8, relu, dense 2' --out run --quiet", 0);
  return 0;
}

/* What intervals prove, best proves as well; files of methods have names of their own. */
static void methods(void **state)
{
  (void)state;
  EXPECT("$R4 certify run --eps 0.2 --attack 0", 0, "semantics real, method intervals", "certificate-box-0.2.txt");
  EXPECT("$R4 certify run --eps 0.2 --method linear", 0, "method linear", "attacked", "certificate-box-0.2-linear.txt");
  EXPECT("$R4 certify run --eps 0.2 --method best", 0, "method best", "certificate-box-0.2-best.txt");
  EXPECT("cd run/seed-0 && grep -c holds certificate-box-0.2.txt > a; grep -c holds certificate-box-0.2-best.txt > b;"
         "grep '^method' *best.txt && test $(cat a) -le $(cat b) && echo not fewer",
         0, "method best", "not fewer");
}

/* A line of the pass by intervals says less: an interrupted certificate begins again, and ends with the same bytes. */
static void interrupted(void **state)
{
  (void)state;
  EXPECT("$R4 certify run --eps 0.2 --method linear --out whole.txt", 0);
  command_lacks("begins again");
  EXPECT("$R4 certify run --eps 0.2 --out nowhere/c.txt --data whole.npz", 3, "nowhere/c.txt");
  EXPECT("mv run/seed-0/box-0.2-test.part run/seed-0/box-0.2-linear-test.part && "
         "$R4 certify run --eps 0.2 --method linear --out again.txt --data whole.npz && cmp whole.txt again.txt && "
         "echo same",
         0, "begins again, as --method linear was interrupted", "same");
  command_lacks("already done");
  EXPECT("for t in 0.02 0.04 0.07 0.1 0.15 0.2 0.3; do "
         "timeout -s KILL $t $R4 certify run --eps 0.2 --method linear --out killed.txt --data whole.npz; done; "
         "$R4 certify run --eps 0.2 --method linear --out last.txt --data whole.npz && cmp whole.txt last.txt && "
         "echo same",
         0, "same");
  EXPECT("ls run/seed-0", 0, "model.safetensors");
  command_lacks("test.part");
}

/* The second program confirms all of them; what is said to be by intervals, it checks by these. */
static void checked_again(void **state)
{
  (void)state;
  EXPECT("$R4 certify run --eps 0.2 --out i.txt && "
         "$R4 certify run --eps 0.2 --method linear --out l.txt --data i.npz && "
         "${R4%/r4}/r4-check i.txt run/seed-0/model.safetensors i.npz",
         0, " 0 do not hold, 0 cannot tell");
  EXPECT("${R4%/r4}/r4-check l.txt run/seed-0/model.safetensors i.npz", 0, " 0 do not hold, 0 cannot tell");
  EXPECT("sed '/^sha256/d; s/^method linear/method intervals/' l.txt >m.txt && "
         "echo sha256 $(sha256sum <m.txt | cut -d' ' -f1) >>m.txt && "
         "${R4%/r4}/r4-check m.txt run/seed-0/model.safetensors i.npz",
         1, " 0 hold, 0 do not hold, ");
  command_lacks(" 0 cannot tell");
  EXPECT("$R4 certify run --eps 0.5 --attack 1 --slopes 0 --method complete --seconds 2 --out c.txt --data c.npz && "
         "${R4%/r4}/r4-check c.txt run/seed-0/model.safetensors c.npz",
         0, " 0 do not hold, 0 cannot tell");
}

/* Figures that are kept are of intervals, as those of r4 eval. */
static void figures_are_of_intervals(void **state)
{
  (void)state;
  EXPECT("rm -f run/seed-0/proved.json; $R4 certify run --eps 0.2 --method best --out b.txt; ls run/seed-0", 0,
         "model.safetensors");
  command_lacks("proved.json");
}

static void bad_input_is_named(void **state)
{
  (void)state;
  EXPECT("$R4 certify run --eps 0.2 --method crown", 2, "--method: expected intervals, linear, best or complete");
  EXPECT("$R4 certify run --eps 0.2 --method best --semantics any-float", 2,
         "--semantics any-float: expected --method intervals, as linear bounds are of real arithmetic");
  EXPECT("$R4 certify run --eps 0.2 --method best --radius", 2, "--radius: expected --method intervals");
  EXPECT("$R4 certify run --cover edges:0.2 --method best", 2, "--method is for the content of given masks");
  EXPECT("$R4 certify run --words run --method best", 2, "--method and --words: expected one of them");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(methods),
    cmocka_unit_test(interrupted),
    cmocka_unit_test(checked_again),
    cmocka_unit_test(figures_are_of_intervals),
    cmocka_unit_test(bad_input_is_named),
  };
  if (!check_command()) return 0;
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("cli_linear", tests, train, scratch_remove);
}
