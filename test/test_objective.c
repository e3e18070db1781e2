/* Objectives: what must hold for each method with each option, whatever the numbers: the penalty moves
 * the weights, its gradient is that of differences, it vanishes without masks, lambda = 0 is ERM, and
 * listed features give the same as full masks. Values: test_objective_values.c and test_golden.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "objective_case.h"

static const char *const methods[] = {"erm",       "r3",      "smooth-r3", "ibp-ex",
                                      "ibp-ex+r3", "rand-r4", "adv-r4",    "cert-r4",
                                      "cert-r4+r3"};

#define IMAGE R4_SHAPE(3, 3, 2)
static const char *const nets[] = {
  "flatten, dense 5, relu, dense 3",
  "conv 3 2 p1, relu, flatten, dense 3",
  "flatten, dense 6, relu, dense 1",
};

static const double class_weights[] = {0.5, 3, 1.25};

/* One option changed at a time. */
static const struct variant {
  const char *name;
  const char *only; /* the only method that it is for, or NULL */
  r4_objective_options o;
} variants[] = {
  {"usual", NULL, {0}},
  {"logit", NULL, {.explain = R4_EXPLAIN_LOGIT}},
  {"margin", NULL, {.explain = R4_EXPLAIN_MARGIN}},
  {"logprob_sum", NULL, {.explain = R4_EXPLAIN_LOGPROB_SUM}},
  {"l1", NULL, {.norm = R4_NORM_L1}},
  {"sum", "cert-r4", {.norm = R4_NORM_SUM}},
  {"log", NULL, {.form = R4_FORM_LOG}},
  {"target", NULL, {.form = R4_FORM_TARGET}},
  {"ranged", NULL, {.ranged = true, .low = -0.9, .high = 0.95}},
  {"whole", "cert-r4", {.ranged = true, .low = -0.9, .high = 0.95, .whole = true}},
  {"whole", "ibp-ex", {.ranged = true, .low = -0.9, .high = 0.95, .whole = true}},
  {"whole", "adv-r4", {.ranged = true, .low = -0.9, .high = 0.95, .whole = true}},
  {"live", NULL, {.live = true}},
  {"class weights", NULL, {.class_weights = class_weights, .weight_penalty = 0.01}},
};

static struct objective_case variant_case(const char *net, const char *method, const struct variant *v)
{
  struct objective_case c = objective_case_new(net, IMAGE, method);
  c.o.explain = v->o.explain;
  c.o.norm = v->o.norm;
  c.o.form = v->o.form;
  c.o.ranged = v->o.ranged;
  c.o.whole = v->o.whole;
  c.o.low = v->o.low;
  c.o.high = v->o.high;
  c.o.live = v->o.live;
  c.o.class_weights = v->o.class_weights;
  c.o.weight_penalty = v->o.weight_penalty;
  return c;
}

static char label[100];           /* net, method and variant of the case that is being checked */
static const struct variant *now; /* its variant */

/* For each net, method and variant, with full masks. */
static void each(void (*check)(struct objective_case *c))
{
  for (size_t n = 0; n < sizeof nets / sizeof *nets; n++) {
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
      for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
        if (variants[v].only && strcmp(variants[v].only, methods[k])) continue;
        struct objective_case c = variant_case(nets[n], methods[k], &variants[v]);
        snprintf(label, sizeof label, "%s, %s, %s", nets[n], methods[k], variants[v].name);
        now = &variants[v];
        check(&c);
        objective_case_free(&c);
      }
    }
  }
}

static size_t size_of(const struct objective_case *c)
{
  return r4_net_size(c->net);
}

static bool is(const struct objective_case *c, const char *method)
{
  return !strcmp(c->o.method, method);
}

static void check_listed(struct objective_case *c)
{
  struct objective_numbers a = objective_case_run(c);
  c->o.masked = CASE_LISTED;
  struct objective_numbers b = objective_case_run(c);
  assert_near(b.loss, a.loss, 1e-10, label);
  assert_near(b.penalty, a.penalty, 1e-10, label);
  assert_near(b.penalties[1], a.penalties[1], 1e-10, label);
  for (size_t i = 0; i < c->batch; i++) assert_near(b.each[i], a.each[i], 1e-10, label);
  assert_close(label, b.slope, a.slope, size_of(c), 1e-10, 1);
  assert_close(label, b.penalty_slope, a.penalty_slope, size_of(c), 1e-10, 1);
}

static void test_listed_equals_full(void **state)
{
  (void)state;
  each(check_listed);
}

static double length(const double *v, size_t n)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += v[i] * v[i];
  return sqrt(sum);
}

/* In the published code this fails for R3, IBP-Ex and Adv-R4. */
static void check_moves(struct objective_case *c)
{
  struct objective_numbers a = objective_case_run(c);
  double slope = length(a.penalty_slope, size_of(c));
  if (is(c, "erm"))
    assert_true(a.penalty == 0 && slope == 0);
  else if (!(a.penalty > 0 && slope > 1e-3))
    fail_msg("%s does not move the weights", label);
  assert_true((a.penalties[1] > 0) == (is(c, "ibp-ex+r3") || is(c, "cert-r4+r3")));
}

static void test_penalty_moves_weights(void **state)
{
  (void)state;
  each(check_moves);
}

/* Central differences of loss and penalty along random directions. */
static void check_slope(struct objective_case *c)
{
  enum { TRIALS = 3 };
  const double h = 1e-6;
  struct runner *r = objective_case_open(c, FAST64);
  struct objective_numbers at = objective_case_go(c, r);
  for (uint32_t trial = 0; trial < TRIALS; trial++) {
    struct objective_case up = *c, down = *c;
    double slope = 0, penalty_slope = 0;
    for (size_t i = 0; i < size_of(c); i++) {
      double direction = 2 * r4_random_uniform((r4_random){11, 20, trial}, i) - 1;
      up.weights[i] += h * direction;
      down.weights[i] -= h * direction;
      slope += at.slope[i] * direction;
      penalty_slope += at.penalty_slope[i] * direction;
    }
    struct objective_numbers high = objective_case_go(&up, r), low = objective_case_go(&down, r);
    assert_near((high.loss - low.loss) / (2 * h), slope, 1e-6, label);
    assert_near((high.penalty - low.penalty) / (2 * h), penalty_slope, 1e-6, label);
  }
  runner_free(r);
}

static void test_slope_is_that_of_differences(void **state)
{
  (void)state;
  each(check_slope);
}

/* Loss and slope are those of ERM. */
static void assert_erm(const struct objective_case *c, r4_plan_options plan, double tolerance)
{
  struct objective_case plain = *c;
  plain.o.method = "erm";
  struct runner *r = objective_case_open(c, plan), *s = objective_case_open(&plain, plan);
  struct objective_numbers a = objective_case_go(c, r), b = objective_case_go(&plain, s);
  assert_near(a.loss, b.loss, tolerance, label);
  assert_near(a.data, b.data, tolerance, label);
  assert_close(label, a.slope, b.slope, size_of(c), tolerance, 1);
  runner_free(r);
  runner_free(s);
}

/* To the bit, in float and double: no work is left. */
static void check_lambda_0(struct objective_case *c)
{
  memset(c->o.lambda, 0, sizeof c->o.lambda);
  for (int listed = 0; listed < 2; listed++) {
    c->o.masked = listed * CASE_LISTED;
    assert_erm(c, REFERENCE, 0);
    assert_erm(c, FAST64, 0);
    if (now == variants) assert_erm(c, FAST32, 0);
  }
}

static void test_lambda_0_is_erm(void **state)
{
  (void)state;
  each(check_lambda_0);
}

/* The penalty and its slope are zeros. */
static void check_no_mask(struct objective_case *c)
{
  memset(c->m, 0, sizeof c->m);
  for (int listed = 0; listed < 2; listed++) {
    c->o.masked = listed * CASE_LISTED;
    struct objective_numbers a = objective_case_run(c);
    assert_true(a.penalty == 0 && a.penalties[1] == 0);
    for (size_t i = 0; i < c->batch; i++) assert_true(a.each[i] == 0);
    for (size_t i = 0; i < size_of(c); i++) assert_true(a.penalty_slope[i] == 0);
    assert_erm(c, REFERENCE, 0);
    assert_erm(c, FAST64, 0);
    if (now == variants) assert_erm(c, FAST32, 1e-6); /* the zeros join sums in another order */
  }
}

static void test_no_mask_is_erm(void **state)
{
  (void)state;
  each(check_no_mask);
}

/* Inputs for lambda and eps give what constants give. */
static void check_live(struct objective_case *c)
{
  struct objective_numbers a = objective_case_run(c);
  c->o.live = true;
  struct runner *r = objective_case_open(c, FAST64);
  struct objective_numbers b = objective_case_go(c, r);
  assert_near(b.loss, a.loss, 1e-14, label);
  assert_close(label, b.slope, a.slope, size_of(c), 1e-13, 1);
  c->o.eps *= 2;
  c->o.lambda[0] *= 3;
  c->o.lambda[1] *= 5;
  b = objective_case_go(c, r);
  c->o.live = false;
  a = objective_case_run(c);
  assert_near(b.loss, a.loss, 1e-14, label);
  assert_close(label, b.slope, a.slope, size_of(c), 1e-13, 1);
  runner_free(r);
}

static void test_live(void **state)
{
  (void)state;
  each(check_live);
}

/* An example without a mask has no part, not even in the number that ibp-ex is divided by. */
static void check_unmasked(struct objective_case *c)
{
  struct objective_numbers a = objective_case_run(c);
  assert_true(a.each[2] == 0);
  c->y[2] = 0;
  for (size_t k = 0; k < c->features; k++) c->x[2 * c->features + k] = 0.3;
  struct objective_numbers b = objective_case_run(c);
  assert_near(b.penalty, a.penalty, 1e-13, label);
  double sum = 0, shares = is(c, "ibp-ex") ? 3 : 4;
  for (size_t i = 0; i < c->batch; i++) sum += a.each[i];
  if (a.penalties[1] == 0) assert_near(a.penalty, sum / shares, 1e-13, label);
}

static void test_unmasked_example(void **state)
{
  (void)state;
  each(check_unmasked);
}

static bool line_has(const char *line, const char *what)
{
  const char *found = strstr(line, what);
  return found && found < line + strcspn(line, "\n");
}

/* Lines of the plan of a training step with a product that is as wide as the input, 784. */
static int wide_products(const char *method)
{
  const r4_objective_options o = {.method = method,
                                  .batch = 8,
                                  .masked = 64,
                                  .lambda = {1, 1},
                                  .eps = 0.1,
                                  .steps = 4,
                                  .samples = 4,
                                  .random_start = true};
  r4_net *net = r4_net_open("mlp784-512-10", R4_SCALAR, NULL);
  r4_graph *g = r4_graph_new();
  r4_id param[4], out[5];
  r4_net_inputs(net, g, param);
  out[0] = r4_objective_build(g, net, param, &o).loss;
  r4_grad(g, out[0], 4, param, out + 1);
  r4_plan *p = r4_plan_new(g, 5, out, NULL, NULL);
  assert_non_null(p);
  char *text = r4_plan_text(p);
  int n = 0;
  for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
    n += line_has(line, ": matmul [") && line_has(line, "784]");
  r4_string_free(text);
  r4_plan_free(p);
  r4_graph_free(g);
  r4_net_free(net);
  return n;
}

/* x W and its derivative by W are all that needs every feature when the masked ones are listed; noise on all
 * features needs both once more, for all samples together. */
static void test_listed_products_are_narrow(void **state)
{
  (void)state;
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++)
    assert_int_equal(wide_products(methods[k]), strcmp(methods[k], "smooth-r3") ? 2 : 4);
}

/* ---- Errors ---- */

static const double bad_weights[] = {1, -1, 1};

static const struct {
  r4_objective_options options;
  const char *text;
} wrong[] = {
  {{.method = "r5", .batch = 1},
   "no method \"r5\"; expected erm, fill, r3, "},
  {{.method = NULL, .batch = 1}, "no method \"\""},
  {{.method = "erm"}, "batch is 0, expected at least 1"},
  {{.method = "r3", .batch = 1, .masked = -1}, "masked is -1"},
  {{.method = "r3", .batch = 1, .masked = 19}, "masked is 19, expected 0 (all) to 18"},
  {{.method = "r3", .batch = 1, .lambda = {-1}}, "lambda is -1"},
  {{.method = "r3", .batch = 1, .lambda = {NAN}}, "lambda is"},
  {{.method = "r3", .batch = 1, .lambda = {1, -2}}, "lambda_2 is -2"},
  {{.method = "cert-r4", .batch = 1, .eps = INFINITY}, "eps is inf"},
  {{.method = "adv-r4", .batch = 1}, "steps is 0, expected 1 to 100000"},
  {{.method = "adv-r4", .batch = 1, .steps = 1, .alpha = NAN}, "alpha"},
  {{.method = "rand-r4", .batch = 1}, "samples is 0"},
  {{.method = "smooth-r3", .batch = 1, .samples = -1}, "samples is -1"},
  {{.method = "smooth-r3", .batch = 1, .samples = 100001}, "samples is 100001"},
  {{.method = "r3", .batch = 1, .form = R4_FORM_LOG}, "tau is 0, expected a finite number above 0"},
  {{.method = "r3", .batch = 1, .form = R4_FORM_TARGET, .delta = -1}, "delta is -1"},
  {{.method = "r3", .batch = 4, .guided = 5}, "guided is 5, expected 0 (all) to the number of examples"},
  {{.method = "r3", .batch = 4, .guided = -1}, "guided is -1"},
  {{.method = "r3", .batch = 1, .form = (r4_form)3}, "form is 3"},
  {{.method = "r3", .batch = 1, .norm = (r4_norm)3}, "norm is 3"},
  {{.method = "r3", .batch = 1, .explain = (r4_explain)4}, "explain is 4"},
  {{.method = "rand-r4", .batch = 1, .samples = 1, .norm = R4_NORM_SUM}, "rand-r4 does not know the norm \"sum\""},
  {{.method = "rand-r4", .batch = 1, .ranged = true, .low = 1, .high = 1}, "the range is 1 to 1"},
  {{.method = "rand-r4", .batch = 1, .ranged = true, .high = INFINITY}, "the range is 0 to inf"},
  {{.method = "cert-r4", .batch = 1, .ranged = true, .low = 1, .high = -1}, "the range is 1 to -1"},
  {{.method = "cert-r4", .batch = 1, .whole = true}, "whole is 1, expected 0: there is no range"},
  {{.method = "ibp-ex", .batch = 1, .whole = true, .ranged = true, .high = 1, .eps = 1.1},
   "eps is 1.1, expected at most 1"},
  {{.method = "smooth-r3", .batch = 1, .samples = 1, .whole = true, .ranged = true, .high = 1},
   "whole is 1, expected 0"},
  {{.method = "erm", .batch = 1, .class_weights = bad_weights}, "a class weight is -1"},
  {{.method = "erm", .batch = 1, .weight_penalty = -1}, "weight_penalty is -1"},
  {{.method = "r3", .batch = 4, .guided = 2, .used = true}, "used is 1, expected 0"},
};

static void assert_refused(const r4_net *net, const r4_objective_options *o, const char *want)
{
  const char *text;
  r4_id param[CASE_PARAMS];
  r4_graph *g = r4_graph_new();
  r4_net_inputs(net, g, param);
  r4_objective built = r4_objective_build(g, net, param, o);
  assert_true(built.loss.i == 0 && built.in.x.i == 0);
  assert_int_equal(r4_graph_status(g, &text), R4_E_ARGUMENT);
  if (!strstr(text, want)) fail_msg("%s", text);
  r4_graph_free(g);
}

static void test_errors(void **state)
{
  (void)state;
  r4_net *net = r4_net_open(nets[0], IMAGE, NULL), *one = r4_net_open(nets[2], IMAGE, NULL);
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
    assert_refused(net, &wrong[k].options, wrong[k].text);
  const r4_objective_options twice = {.method = "erm", .batch = 1, .double_softmax = true};
  assert_refused(one, &twice, "double_softmax is 1, expected 0: a net with one output has no softmax");
  assert_refused(one, NULL, "r4_objective_build: needs options, got NULL");
  r4_net_free(net);
  r4_net_free(one);
}

/* For terms of the caller's own: the net as it answers, where the library's terms look at it. */
static void test_used(void **state)
{
  (void)state;
  static const struct {
    const char *net;
    r4_shape input, leaf;
  } kinds[] = {{"flatten, dense 5, batchnorm, dropout 0.5, dense 3", {3, {3, 3, 2}}, {4, {4, 3, 3, 2}}},
               {"embedding 9 2, leaf, mean, dense 3", {1, {5}}, {3, {4, 5, 2}}}};
  for (size_t k = 0; k < 2; k++) {
    r4_graph *g = r4_graph_new();
    r4_net *net = r4_net_open(kinds[k].net, kinds[k].input, NULL);
    enum { PARAMS = 8 };
    r4_id param[PARAMS], slope;
    assert_true(r4_net_params(net) <= PARAMS);
    r4_net_inputs(net, g, param);
    r4_objective_options o = {.method = "erm", .batch = 4, .used = true};
    r4_objective a = r4_objective_build(g, net, param, &o);
    assert_int_equal(a.used.i, r4_net_apply(net, g, param, a.in.x).i);
    assert_int_equal(a.used.i == a.logits.i, k);
    assert_int_equal(a.leaf.i == a.in.x.i, !k);
    assert_true(r4_shape_equal(r4_node_shape(g, a.leaf), kinds[k].leaf));
    assert_true(r4_shape_equal(r4_node_shape(g, a.mask), kinds[k].leaf));
    r4_grad(g, r4_sum(g, a.used, R4_ALL), 1, &a.leaf, &slope);
    assert_int_equal(r4_graph_status(g, NULL), R4_OK);
    o.used = false;
    a = r4_objective_build(g, net, param, &o);
    assert_true(a.loss.i && !a.leaf.i && !a.mask.i && !a.used.i);
    r4_net_free(net);
    r4_graph_free(g);
  }
}

/* Whichever allocation fails while building, the graph says so. */
static void test_memory(void **state)
{
  (void)state;
  r4_net *net = r4_net_open(nets[1], IMAGE, NULL);
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    const r4_objective_options o = {
      .method = methods[k], .batch = 2, .masked = 3, .lambda = {1}, .eps = 1, .steps = 1, .samples = 1};
    r4_status status = R4_E_MEMORY;
    for (long n = 1; status; n++) {
      r4_id param[CASE_PARAMS], slope[CASE_PARAMS];
      r4_mem_fail_at(n);
      r4_graph *g = r4_graph_new();
      if (g) {
        r4_net_inputs(net, g, param);
        r4_grad(g, r4_objective_build(g, net, param, &o).loss, r4_net_params(net), param, slope);
        status = r4_graph_status(g, NULL);
      }
      r4_mem_fail_at(0);
      assert_true(status == R4_OK || status == R4_E_MEMORY);
      r4_graph_free(g);
    }
  }
  r4_net_free(net);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_listed_equals_full),
    cmocka_unit_test(test_penalty_moves_weights),
    cmocka_unit_test(test_slope_is_that_of_differences),
    cmocka_unit_test(test_lambda_0_is_erm),
    cmocka_unit_test(test_no_mask_is_erm),
    cmocka_unit_test(test_live),
    cmocka_unit_test(test_unmasked_example),
    cmocka_unit_test(test_listed_products_are_narrow),
    cmocka_unit_test(test_errors),
    cmocka_unit_test(test_used),
    cmocka_unit_test(test_memory),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("objective", tests, NULL, NULL);
}
