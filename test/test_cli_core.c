/* r4 eval --noise and --pointing, and r4 explain by occlusion. Needs $R4, the command. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "command.h"
#include "folder_make.h"
#include "pets.h"

static int make(void **state)
{
  if (scratch_make(state)) return -1;
  pets_make((struct pets){.folder = "pets", .cat = "cat", .dog = "dog", .test = 6, .masked = true});
  pets_make((struct pets){.folder = "bare", .cat = "cat", .dog = "dog", .test = 6});
  pets_settings("r3.yaml", "pets", "method: r3\nlambda: 0.1\n");
  EXPECT("$R4 train r3.yaml --seeds 2 --out run --quiet", 0, "run");
  return 0;
}

static double number(const struct js *o, const char *first, const char *second, const char *third)
{
  const struct js *v = js_get(o, first);
  if (v) v = js_get(v, second);
  if (v) v = js_get(v, third);
  double x = 0;
  if (!v || !js_number(v, &x)) fail_msg("no number %s.%s.%s in %s", first, second, third, command_output);
  return x;
}

/* ---- Noise ---- */

static void noise_says_what_it_is(void **state)
{
  (void)state;
  EXPECT("$R4 eval run --noise 0.5,2", 0,
         "Relative core sensitivity: accuracy with noise on what is masked (s)",
         "rcs = (s - c) / (2 min(a, 1 - a)), a = (s + c) / 2",
         "in units of the deviation of each channel:", "\n     0.5 ", "\n       2 ");
  EXPECT("$R4 eval run --noise usual", 0, "\n    0.25 ", "\n       4 ");
  EXPECT("$R4 eval run --noise published", 0, "in units of 1/255, as in the published code", "\n       2 ");
  EXPECT("$R4 eval run", 0, "worst group");
  command_lacks("core sensitivity");
  EXPECT("$R4 eval run --noise 0.5,2 --json", 0, "\"core_sensitivity\":{\"published\":false,\"examples\":",
         "\"curve\":[{\"sigma\":0.5,\"spurious_noise_accuracy\":", "\"rcs_se\":");
}

static void noise_that_is_none(void **state)
{
  (void)state;
  EXPECT("$R4 eval run --noise 0", 2,
         "--noise: \"0\", expected usual, published, or up to 16 numbers above 0");
  EXPECT("$R4 eval run --noise 1,-2", 2, "numbers above 0");
  EXPECT("$R4 eval run --noise 1,,2", 2, "numbers above 0");
  EXPECT("$R4 eval run --noise loud", 2, "\"loud\"");
  EXPECT("$R4 eval run --noise 1 --data bare --other-data", 2,
         "core sensitivity: no example has a mask that covers only a part of it");
}

/* ---- Pointing ---- */

static void pointing_says_what_it_is(void **state)
{
  (void)state;
  EXPECT("$R4 eval run --pointing gradient,occlusion", 0,
         "A is the attribution of the label's margin at a pixel.\n"
         "energy: share of max(0, A) on the core; share: of |A|", "\ngradient ", "\nocclusion ");
  EXPECT("$R4 eval run", 0, "worst group");
  command_lacks("Pointing");
  EXPECT("$R4 eval run --pointing gradient --json", 0, "\"pointing\":{\"gradient\":{\"examples\":");
  struct js *o = command_json();
  double energy = number(o, "pointing", "gradient", "energy"),
         area = number(o, "pointing", "gradient", "area");
  assert_true(energy >= 0 && energy <= 100 && area > 0 && area < 100);
  assert_true(number(o, "pointing", "gradient", "energy_sd") >= 0);
  js_free(o);
}

static void pointing_at_nothing(void **state)
{
  (void)state;
  EXPECT("$R4 eval run --pointing lime", 2,
         "--pointing: \"lime\", expected up to 4 of gradient, input-x-gradient,", "occlusion");
  EXPECT("$R4 eval run --pointing gradient,gradient,gradient,gradient,gradient", 2, "expected up to 4 of");
  EXPECT("$R4 eval run --pointing gradient --data bare --other-data", 2,
         "pointing game: no example has a mask that covers only a part of it");
}

/* ---- Several seeds ---- */

/* A number that "r4 eval" has of a run, in an object of an object, or in the first's member if second is NULL. */
static double found(const char *run, const char *options, const char *first, const char *second,
                    const char *third)
{
  char line[200];
  snprintf(line, sizeof line, "$R4 eval %s %s --json 2> messages", run, options);
  command_run(line);
  struct js *o = command_json();
  const struct js *v = js_get(o, first);
  if (second) v = js_get(v, second);
  double x;
  if (!js_number(js_get(v, third), &x)) fail_msg("no number %s in %s", third, command_output);
  js_free(o);
  return x;
}

static void is_mean(const char *options, const char *first, const char *second, const char *third)
{
  double a = found("mixed/seed-0", options, first, second, third),
         b = found("mixed/seed-1", options, first, second, third),
         both = found("mixed", options, first, second, third);
  assert_true(a != b);
  assert_float_equal(both, (a + b) / 2, 1e-4);
}

/* Figures of a run are means over its seeds: seed 0 here has weights of 0, whose maps are empty. */
static void figures_are_of_all_seeds(void **state)
{
  (void)state;
  EXPECT("cp -r run mixed", 0, "");
  pets_spoil("mixed/seed-0/model.safetensors", 1, 0);
  is_mean("--noise 0.5", "core_sensitivity", NULL, "accuracy");
  is_mean("--pointing gradient", "pointing", "gradient", "examples");
  is_mean("--pointing gradient", "pointing", "gradient", "left_out");
  char text[100];
  double share = found("mixed", "--noise 0.5", "core_sensitivity", NULL, "accuracy");
  snprintf(text, sizeof text, "Accuracy on these without noise: %.2f %%", share > 1 ? share : 100 * share);
  EXPECT("$R4 eval mixed --noise 0.5 --pointing gradient", 1, text, "gradient: 3 examples");
}

/* ---- Occlusion ---- */

static void occlusion_takes_settings(void **state)
{
  (void)state;
  EXPECT("$R4 explain run --methods occlusion --window 3 --stride 2 --fill 0.5 --out a.png", 0, "occlusion",
         "a.png");
  EXPECT("$R4 explain run --methods occlusion --window 3 --stride 4 --out b.png", 2,
         "stride is 4, expected 1 to 3, the side of the window");
  EXPECT("$R4 explain run --methods occlusion --window 4000 --out b.png", 2,
         "window is 4000, expected 1 to ");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(noise_says_what_it_is),    cmocka_unit_test(noise_that_is_none),
    cmocka_unit_test(pointing_says_what_it_is), cmocka_unit_test(pointing_at_nothing),
    cmocka_unit_test(figures_are_of_all_seeds), cmocka_unit_test(occlusion_takes_settings),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  if (!check_command()) return 0;
  return cmocka_run_group_tests_name("cli core", tests, make, scratch_remove);
}
