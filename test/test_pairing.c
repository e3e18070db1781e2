/* Logit pairing: values by the definition, from the logits of ERM at both versions of the examples; its slope; and that
 * what is pasted on an example without a mask counts. */
#include <math.h>
#include <string.h>

#include "objective_case.h"

#define IMAGE R4_SHAPE(3, 3, 2)
static const char *const nets[] = {
  "flatten, dense 5, relu, dense 3",
  "conv 3 2 p1, relu, flatten, dense 3",
  "flatten, dense 6, relu, dense 1",
};

/* Filled within the masks, as all fills but paste do; or anywhere. */
static struct objective_case case_of(const char *net, bool within)
{
  struct objective_case c = objective_case_new(net, IMAGE, "pairing");
  c.o.filled = true;
  c.o.filled_within = within;
  for (size_t k = 0; k < c.batch * c.features && within; k++) {
    if (c.m[k] > 0) c.m[k] = 1;
    if (c.m[k] == 0) c.filled[k] = c.x[k];
  }
  return c;
}

static void each(void (*check)(struct objective_case *c))
{
  for (size_t n = 0; n < sizeof nets / sizeof *nets; n++)
    for (int within = 0; within < 2; within++) {
      struct objective_case c = case_of(nets[n], within);
      check(&c);
      objective_case_free(&c);
    }
}

/* ---- The definition again ---- */

static void logits_at(const struct objective_case *c, const double *x, double *z)
{
  struct objective_case plain = *c;
  plain.o = (r4_objective_options){.method = "erm", .batch = c->o.batch};
  memcpy(plain.x, x, c->batch * c->features * sizeof *x);
  struct objective_numbers n = objective_case_run(&plain);
  memcpy(z, n.logits, sizeof n.logits);
}

static void pairs_of(const struct objective_case *c, double *q)
{
  double z[CASE_BATCH * CASE_CLASSES], f[CASE_BATCH * CASE_CLASSES];
  size_t classes = r4_net_classes(c->net) > 1 ? (size_t)r4_net_classes(c->net) : 2;
  logits_at(c, c->x, z);
  logits_at(c, c->filled, f);
  for (size_t i = 0; i < c->batch; i++) {
    double mean = 0;
    for (size_t k = i * classes; k < (i + 1) * classes; k++) mean += (f[k] - z[k]) / (double)classes;
    q[i] = 0;
    for (size_t k = i * classes; k < (i + 1) * classes; k++) q[i] += pow(f[k] - z[k] - mean, 2);
  }
}

/* ---- Values ---- */

static void check_values(struct objective_case *c)
{
  double q[CASE_BATCH], sum = 0;
  pairs_of(c, q);
  for (size_t i = 0; i < c->batch; i++) sum += q[i];
  for (int listed = 0; listed < 2; listed++) {
    c->o.masked = listed * CASE_LISTED;
    struct objective_numbers a = objective_case_run(c);
    for (size_t i = 0; i < c->batch; i++) assert_near(a.each[i], q[i], 1e-11, "q");
    assert_near(a.penalty, sum / (double)c->batch, 1e-11, "penalty");
    assert_near(a.loss, a.data + c->o.lambda[0] * a.penalty, 1e-11, "loss");
    assert_true(sum > 1e-2);
  }
}

static void test_values(void **state)
{
  (void)state;
  each(check_values);
}

/* Example 2 has no mask. Filled within masks it is left as it is, and does not count in the mean over those with one;
 * pasted on, it counts as all others do. */
static void check_means(struct objective_case *c)
{
  double sum = 0;
  c->o.over_masked = true;
  struct objective_numbers a = objective_case_run(c);
  for (size_t i = 0; i < c->batch; i++) sum += a.each[i];
  assert_true((a.each[2] > 1e-3) == !c->o.filled_within);
  assert_near(a.penalty, sum / (double)(c->batch - c->o.filled_within), 1e-11, "mean");
}

static void test_means(void **state)
{
  (void)state;
  each(check_means);
}

static void test_same_content_has_no_penalty(void **state)
{
  (void)state;
  struct objective_case c = case_of(nets[0], false);
  memcpy(c.filled, c.x, sizeof c.x);
  struct objective_numbers a = objective_case_run(&c);
  assert_true(a.penalty == 0 && a.loss == a.data);
  objective_case_free(&c);
}

/* ---- Slopes ---- */

static void check_slope(struct objective_case *c)
{
  const double h = 1e-6;
  struct runner *r = objective_case_open(c, FAST64);
  struct objective_numbers at = objective_case_go(c, r);
  struct objective_case up = *c, down = *c;
  double slope = 0, length = 0;
  for (size_t i = 0; i < r4_net_size(c->net); i++) {
    double direction = 2 * r4_random_uniform((r4_random){11, 20, 0}, i) - 1;
    up.weights[i] += h * direction;
    down.weights[i] -= h * direction;
    slope += at.penalty_slope[i] * direction;
    length += at.penalty_slope[i] * at.penalty_slope[i];
  }
  double high = objective_case_go(&up, r).penalty, low = objective_case_go(&down, r).penalty;
  assert_near((high - low) / (2 * h), slope, 1e-6, "slope");
  assert_true(length > 1e-6);
  runner_free(r);
}

static void test_penalty_moves_weights(void **state)
{
  (void)state;
  each(check_slope);
}

/* ---- Parts of a batch, and refusals ---- */

static void test_guided(void **state)
{
  (void)state;
  for (size_t n = 0; n < sizeof nets / sizeof *nets; n++) {
    struct objective_case c = case_of(nets[n], true);
    for (size_t k = 2 * c.features; k < c.batch * c.features; k++) c.m[k] = 0, c.filled[k] = c.x[k];
    struct objective_numbers all = objective_case_run(&c);
    c.o.guided = 2;
    struct objective_numbers some = objective_case_run(&c);
    assert_near(some.penalty, all.penalty, 1e-12, "penalty");
    assert_close("slope", some.slope, all.slope, r4_net_size(c.net), 1e-12, 1);
    objective_case_free(&c);
  }
}

static void test_needs_filled_examples(void **state)
{
  (void)state;
  struct objective_case c = case_of(nets[0], true);
  r4_graph *g = r4_graph_new();
  r4_id param[CASE_PARAMS];
  const char *why;
  c.o.filled = false;
  r4_net_inputs(c.net, g, param);
  r4_objective_build(g, c.net, param, &c.o);
  assert_int_equal(r4_graph_status(g, &why), R4_E_ARGUMENT);
  assert_string_equal(why, "objective: pairing compares with filled examples, and there are none");
  r4_graph_free(g);
  objective_case_free(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_values),
    cmocka_unit_test(test_means),
    cmocka_unit_test(test_same_content_has_no_penalty),
    cmocka_unit_test(test_penalty_moves_weights),
    cmocka_unit_test(test_guided),
    cmocka_unit_test(test_needs_filled_examples),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("pairing", tests, NULL, NULL);
}
