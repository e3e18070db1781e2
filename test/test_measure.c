/* r4_measure: each part is what the function for it says, by the model's own net, and what the net predicts comes with
 * it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "scratch.h"

enum { N = 24, SIDE = 4, PIXELS = SIDE * SIDE, CLASSES = 3, SIZE = PIXELS * CLASSES + CLASSES };

/* Bright stripes by class, and a masked corner. */
static r4_data *make_data(void)
{
  static float x[N * PIXELS], mask[N * PIXELS];
  static int32_t label[N];
  static r4_split split[N];
  draw_start(3, 4);
  for (int i = 0; i < N; i++) {
    label[i] = i % CLASSES;
    split[i] = R4_TEST;
    for (int k = 0; k < PIXELS; k++) x[i * PIXELS + k] = (float)draw(0, 1) + (k / SIDE == label[i] ? .3f : 0);
    mask[i * PIXELS] = i % 4 ? 1 : 0;
  }
  r4_data_arrays a = {.n = N, .floats = x, .labels = label, .splits = split, .mask_floats = mask};
  a.shape = R4_SHAPE(SIDE, SIDE, 1);
  a.classes = CLASSES;
  a.mask_means = R4_MASKS_IRRELEVANT;
  r4_error e = {0};
  r4_data *d = r4_data_new(&a, &e);
  if (!d) fail_msg("%s", e.text);
  return d;
}

/* With something before the net of the settings, as weights of others need it. */
static r4_model *make_model(void)
{
  r4_error e = {0};
  r4_net *n = r4_net_open("normalize mean 0.5 std 0.25, flatten, dense 3", R4_SHAPE(SIDE, SIDE, 1), &e);
  if (!n) fail_msg("%s", e.text);
  float *weights = calloc(r4_net_size(n), sizeof *weights);
  r4_net_init(n, NULL, 5, weights, NULL);
  r4_model *m = r4_model_new(n, weights, NULL, &e);
  if (!m) fail_msg("%s", e.text);
  free(weights);
  r4_net_free(n);
  return m;
}

static int make(void **state)
{
  static struct given {
    r4_data *d;
    r4_model *m;
  } given;
  given = (struct given){make_data(), make_model()};
  *state = &given;
  return 0;
}

static r4_data *data_of(void **state)
{
  return *(r4_data **)*state;
}

static r4_model *model_of(void **state)
{
  return ((r4_model **)*state)[1];
}

static int clear(void **state)
{
  r4_data_free(data_of(state));
  r4_model_free(model_of(state));
  return 0;
}

static r4_status measure_model(void **state, const r4_measure_options *o, r4_measured *to, r4_error *e)
{
  const r4_model *m = model_of(state);
  return r4_measure(r4_model_net(m), r4_model_weights(m), data_of(state), o, to, e);
}

static r4_measured *measure(void **state, const r4_measure_options *o)
{
  static r4_measured to;
  r4_error e = {0};
  if (measure_model(state, o, &to, &e)) fail_msg("%s", e.text);
  return &to;
}

/* ---- The parts ---- */

static void parts_are_those_of_their_functions(void **state)
{
  static r4_metrics m;
  static r4_swapped swap, blank;
  const r4_net *n = r4_model_net(model_of(state));
  const float *w = r4_model_weights(model_of(state));
  r4_swap_options s = r4_swap_defaults();
  r4_measure_options o = r4_measure_defaults();
  r4_sensitivity_options noise = {.n = 1, .sigma = {2}};
  o.swaps = 2;
  o.swap[1] = R4_FILL_BLANK;
  o.draws = s.draws = 4;
  o.eps = .2;
  o.kappa = 5;
  o.noise = &noise;
  o.pointings = 1;
  o.pointing[0] = "gradient";
  const r4_measured *got = measure(state, &o);
  r4_evaluate(n, w, data_of(state), &(r4_measure_options){.eps = .2, .batch = 256, .kappa = 5}, &m, NULL);
  r4_swap_test(n, w, data_of(state), &s, &swap, NULL);
  s.content = R4_FILL_BLANK;
  r4_swap_test(n, w, data_of(state), &s, &blank, NULL);
  assert_memory_equal(&got->metrics, &m, sizeof m);
  assert_int_equal(got->metrics.masked_examples, 5);
  assert_int_equal(got->swaps, 2);
  assert_memory_equal(&got->swapped[0], &swap, sizeof swap);
  assert_memory_equal(&got->swapped[1], &blank, sizeof blank);
  static r4_sensitivity heard;
  r4_pointing pointed;
  r4_attribution_options margin = r4_attribution_defaults();
  margin.explain = R4_EXPLAIN_MARGIN;
  r4_core_sensitivity(n, w, data_of(state), &noise, &heard, NULL);
  r4_pointing_game("gradient", n, w, data_of(state), &margin, &pointed, NULL);
  assert_true(got->sensitivity.n == 1 && got->sensitivity.at[0].core_noise == heard.at[0].core_noise);
  assert_true(got->pointings == 1 && got->pointing[0].energy == pointed.energy);
}

/* By default there is the swap test, and nothing that nobody asked for. */
static void defaults(void **state)
{
  const r4_measured *got = measure(state, NULL);
  assert_true(got->swaps == 1 && got->swapped->content == R4_FILL_SWAP && got->swapped->draws == 10);
  assert_true(got->metrics.eps == .1 && got->metrics.masked_examples == 18);
  assert_true(!got->sensitivity.n && !got->pointings && !got->substituted.words && !*got->no_words);
}

static void settings_say_how(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_settings *s = r4_settings_new();
  static const char *const set[] = {"eval.eps=0.25", "eval.batch=7", "eval.kappa_examples=3", "eval.draws=4"};
  for (size_t k = 0; k < 4; k++) assert_int_equal(r4_settings_set(s, set[k], "test", &e), R4_OK);
  r4_measure_options o = r4_settings_measure(s);
  assert_true(o.eps == .25 && o.batch == 7 && o.kappa == 3 && o.draws == 4 && o.swaps == 1);
  r4_settings_set(s, "eval.kappa_examples=-1", "test", &e);
  assert_true(r4_settings_measure(s).kappa == SIZE_MAX);
  r4_settings_free(s);
}

static void what_the_net_predicts(void **state)
{
  static int32_t predicted[N];
  static float p[N * CLASSES], expected[N * CLASSES];
  size_t right = 0;
  r4_measure_options o = r4_measure_defaults();
  o.predicted = predicted;
  o.probabilities = p;
  const r4_measured *got = measure(state, &o);
  const r4_model *m = model_of(state);
  assert_int_equal(r4_predict(r4_model_net(m), r4_model_weights(m), data_of(state), 256, expected, NULL), R4_OK);
  assert_memory_equal(p, expected, sizeof p);
  for (size_t i = 0; i < N; i++) right += predicted[i] == r4_data_example(data_of(state), i).label;
  assert_true(got->metrics.accuracy == (double)right / N);
}

/* ---- Progress and errors ---- */

static void note_stage(const char *what, size_t examples, void *user)
{
  char *text = user;
  snprintf(text + strlen(text), 200 - strlen(text), "%s %zu; ", what, examples);
}

static void stages_are_told(void **state)
{
  char text[200] = "";
  r4_measure_options o = r4_measure_defaults();
  o.stage = note_stage;
  o.user = text;
  measure(state, &o);
  assert_string_equal(text, "accuracy and kappa 60; swap test 0; "); /* 24 examples, and 18 masks twice */
}

static void too_many_are_refused(void **state)
{
  static r4_measured to;
  r4_error e = {0};
  r4_measure_options o = r4_measure_defaults();
  o.swaps = R4_MAX_SWAPS + 1;
  assert_int_equal(measure_model(state, &o, &to, &e), R4_E_ARGUMENT);
  assert_string_equal(e.text, "9 swap tests, expected at most 8");
  o.swaps = 0;
  o.pointings = R4_MAX_POINTING + 1;
  assert_int_equal(measure_model(state, &o, &to, &e), R4_E_ARGUMENT);
  assert_string_equal(e.text, "5 pointing games, expected at most 4");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(parts_are_those_of_their_functions),
    cmocka_unit_test(defaults),
    cmocka_unit_test(settings_say_how),
    cmocka_unit_test(what_the_net_predicts),
    cmocka_unit_test(stages_are_told),
    cmocka_unit_test(too_many_are_refused),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("measure", tests, make, clear);
}
