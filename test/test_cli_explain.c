/* "r4 explain" as a user meets it, on two small runs that "r4 train" makes first. Needs $R4, the command. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static char output[1 << 16], folder[] = "/tmp/r4-test-explain-XXXXXX";

static int shell(const char *line)
{
  char all[2048];
  snprintf(all, sizeof all, "cd %s; (%s) 2>&1", folder, line);
  FILE *f = popen(all, "r");
  assert_non_null(f);
  output[fread(output, 1, sizeof output - 1, f)] = 0;
  int status = pclose(f);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static void expect(const char *line, int code, const char *text)
{
  int got = shell(line);
  if (got != code || !strstr(output, text))
    fail_msg("%s: code %d, expected %d; \"%.600s\", expected \"%s\"", line, got, code, output, text);
}

static int train(void **state)
{
  (void)state;
  if (!mkdtemp(folder)) return 1;
  return shell("printf 'data: decoy-mnist\ndata.from: digits:300\npublished.shades: ross\ndata.val: "
               "0\nepochs: 2\nbatch: 50\n"
               "net: dense 8, relu, dense 10\nmethod: erm\n' > erm.yaml && printf 'base: erm.yaml\nmethod: "
               "cert-r4\nlambda: 1\n"
               "penalty.cap: false\n' > "
               "cert.yaml && "
               "$R4 train erm.yaml --out erm --seeds 2 --quiet && $R4 train cert.yaml --out cert --quiet");
}

static int clean(void **state)
{
  (void)state;
  char line[128];
  snprintf(line, sizeof line, "rm -r %s", folder);
  return system(line);
}

static void one_run(void **state)
{
  (void)state;
  expect("$R4 explain erm --methods gradient,smoothgrad,bounds", 0, "mean of 6 examples");
  assert_non_null(strstr(output, "gradient        smoothgrad            bounds"));
  expect("cp erm/explain.png first.png && $R4 explain erm/ --methods gradient,smoothgrad,bounds && "
         "cmp first.png erm/explain.png",
         0, "erm/explain.png");
  expect(
    "$R4 explain erm --seed 1 --out one.png --example 3 --eps 0.2 --what logit && ! cmp -s one.png first.png",
    0, "mean of 1 example\n");
  expect("$R4 explain erm/seed-1 && ls erm/seed-1/explain.png", 0, "erm/seed-1/explain.png");
}

#define FOUR " --json --examples 4 --methods gradient,integrated --baseline mean "

static void runs_side_by_side(void **state)
{
  (void)state;
  char alone[2][256];
  for (int k = 0; k < 2; k++) {
    expect(k ? "$R4 explain cert" FOUR : "$R4 explain erm" FOUR, 0, "\"mask_share\":{\"gradient\":0.");
    snprintf(alone[k], sizeof alone[k], "%s", strstr(output, "{\"run\""));
    alone[k][strcspn(alone[k], "}")] = 0;
  }
  expect("$R4 explain erm cert --out two.png" FOUR, 0,
         "{\"picture\":\"two.png\",\"split\":\"test\",\"examples\":[");
  assert_non_null(strstr(output, alone[0]));
  assert_non_null(strstr(output, alone[1]));
  expect("$R4 explain erm cert --out same.png --common-scale && ! cmp -s two.png same.png", 0, "cert  ");
  expect("$R4 explain erm/seed-0 erm/seed-1 --out seeds.png", 0, "erm/seed-1");
}

static void wrong_answers_and_model_files(void **state)
{
  (void)state;
  expect("$R4 explain erm --wrong --out wrong.png --json", 0, "wrong.png");
  expect("$R4 explain erm/seed-0/model.safetensors --data digits:200 --json && ls erm/seed-0/explain.png", 0,
         "{\"gradient\":null,\"integrated\":null}");
  expect(
    "cp erm/seed-0/model.safetensors . && $R4 explain model.safetensors --data digits:200 --split train && "
    "ls explain.png",
    0, "\nexplain.png");
  expect("$R4 explain model.safetensors cert --out mixed.png", 0, "mixed.png");
}

/* Swapped examples look different, and those that are lost are numbered as in the split. */
static void swapped_examples(void **state)
{
  (void)state;
  expect("$R4 explain erm --out usual.png && $R4 explain erm --swap --out swapped.png && "
         "! cmp -s usual.png swapped.png",
         0, "mean of 6 examples");
  expect("$R4 explain erm --swap --wrong --out lost.png --json", 0, "\"examples\":[");
  expect("$R4 explain erm --swap --example 3", 2, "--swap needs examples to choose from, got \"--example\"");
  expect("$R4 explain erm --swap --data digits:200 --other-data", 2,
         "there is nothing to swap: no example has a mask");
}

/* A file for each, named by its number, and the mean of the same shares as in one picture. */
static void every_example_is_a_file(void **state)
{
  (void)state;
  expect("n=$($R4 explain erm --examples 10000 --out large.png --methods gradient | tee said | grep -o "
         "'[0-9]* examples' | cut -d' ' -f1); $R4 explain erm --all maps --methods gradient > all; "
         "ls maps | wc -l | grep -qx $n && "
         "ls maps | head -1 && grep '^erm' said > one && grep '^erm' all | cmp - one && tail -1 all", 0,
         "000000.png\nmaps/\n");
  expect("$R4 explain erm --all maps", 2, "maps exists already; --force writes into it");
  expect("$R4 explain erm --wrong --all wrong --json > list; ls wrong | sed 's/^0*//; s/.png//; s/^$/0/' | sort -n | "
         "tr '\\n' , | sed 's/,$//' > files; grep -o 'examples\":\\[[0-9,]*' list | cut -d'[' -f2 | tr , '\\n' | sort "
         "-n | tr '\\n' , | sed 's/,$//' | cmp - files && echo same", 0, "same");
  expect("$R4 explain erm --all more --example 3", 2, "--all needs all examples");
  expect("$R4 explain erm --all more --out more.png", 2, "--all needs no --out");
}

static void errors_and_codes(void **state)
{
  (void)state;
  expect("$R4 explain", 2, "needs RUN");
  expect("$R4 explain nowhere", 3, "nowhere/config.yaml");
  expect("$R4 explain erm --seed 7", 3, "erm has no model of seed 7");
  expect("$R4 explain erm --methods gradient,lime", 2, "no attribution \"lime\"");
  expect("$R4 explain erm --split dev", 2, "--split needs train, val or test, got \"dev\"");
  expect("$R4 explain erm --what class", 2, "--what needs loss, logit");
  expect("$R4 explain erm --baseline black", 2, "--baseline needs zero or mean");
  expect("$R4 explain erm --example 100000", 2, "but test has");
  expect("$R4 explain erm --example 1 --wrong", 2, "--wrong needs examples");
  expect("$R4 explain erm/seed-0/model.safetensors", 2, "add --data");
  expect("$R4 explain erm --out nowhere/x.png", 3, "nowhere/x.png");
  expect("$R4 help explain", 0, "Usage: r4 explain RUN... [OPTIONS]");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(one_run),
    cmocka_unit_test(runs_side_by_side),
    cmocka_unit_test(wrong_answers_and_model_files),
    cmocka_unit_test(swapped_examples),
    cmocka_unit_test(every_example_is_a_file),
    cmocka_unit_test(errors_and_codes),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  if (!check_command()) return 0;
  return cmocka_run_group_tests_name("explain", tests, train, clean);
}
