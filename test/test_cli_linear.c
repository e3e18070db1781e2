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

static void bad_input_is_named(void **state)
{
  (void)state;
  EXPECT("$R4 certify run --eps 0.2 --method crown", 2, "--method: expected intervals, linear or best");
  EXPECT("$R4 certify run --eps 0.2 --method best --semantics any-float", 2,
         "--semantics any-float: expected --method intervals, as linear bounds are of real arithmetic");
  EXPECT("$R4 certify run --eps 0.2 --method best --radius", 2, "--radius: expected --method intervals");
  EXPECT("$R4 certify run --cover edges:0.2 --method best", 2, "--method is about the content of given masks");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(methods),
    cmocka_unit_test(bad_input_is_named),
  };
  if (!check_command()) return 0;
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("cli_linear", tests, train, scratch_remove);
}
