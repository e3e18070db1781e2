/* Objectives: what the loss is made of: the data term and its options, weight decay, forms of a penalty, two terms. */
#include <math.h>
#include <string.h>

#include "objective_case.h"

#define IMAGE R4_SHAPE(3, 3, 2)
static const char DENSE[] = "flatten, dense 5, relu, dense 3", CONV[] = "conv 3 2 p1, relu, flatten, dense 3";

/* Equal logits: the loss is log of the number of classes. */
static void test_data_term(void **state)
{
  (void)state;
  static const double weights[] = {0.5, 3, 1.25};
  struct objective_case c = objective_case_new(DENSE, IMAGE, "erm");
  struct objective_numbers plain = objective_case_run(&c);
  c.o.class_weights = weights;
  struct objective_numbers weighted = objective_case_run(&c);
  double sum = 0;
  for (size_t i = 0; i < c.batch; i++) sum += weights[(size_t)c.y[i]] * plain.losses[i];
  assert_near(weighted.data, sum / 4, 1e-13, "class weights");
  c.o.class_weights = NULL;
  memset(c.weights, 0, sizeof c.weights);
  assert_near(objective_case_run(&c).loss, log(3), 1e-12, "erm");
  objective_case_free(&c);
}

/* As many classes as a concatenation cannot take at once. */
static void test_many_class_weights(void **state)
{
  (void)state;
  enum { CLASSES = 150 };
  double w[CLASSES], loss = 0;
  const double x = 1, y[] = {0, 63, 64, 126, 149};
  for (int k = 0; k < CLASSES; k++) w[k] = k + 1;
  r4_net *net = r4_net_open("dense 150", R4_SHAPE(1), NULL);
  r4_graph *g = r4_graph_new();
  r4_id param[2];
  r4_net_inputs(net, g, param);
  r4_objective_options o = {.method = "erm", .batch = 5, .class_weights = w};
  r4_objective built = r4_objective_build(g, net, param, &o);
  struct runner *r = runner_new(g, 1, &built.data, FAST64);
  for (size_t i = 0; i < 5; i++) {
    runner_input(r, "x")[i] = x;
    runner_input(r, "y")[i] = y[i];
    loss += (y[i] + 1) * log(CLASSES) / 5;
  }
  memset(runner_input(r, "0.weight"), 0, CLASSES * sizeof(double));
  memset(runner_input(r, "0.bias"), 0, CLASSES * sizeof(double));
  runner_run(r);
  assert_near(*r->out[0], loss, 1e-12, "class weights");
  runner_free(r);
  r4_graph_free(g);
  r4_net_free(net);
}

static void softmax(const double z[3], double p[3])
{
  for (int k = 0; k < 3; k++) p[k] = exp(z[k]) / (exp(z[0]) + exp(z[1]) + exp(z[2]));
}

/* -log softmax(softmax(z))_y; the penalty does not change. */
static void test_double_softmax(void **state)
{
  (void)state;
  struct objective_case c = objective_case_new(DENSE, IMAGE, "cert-r4");
  struct objective_numbers once = objective_case_run(&c);
  c.o.double_softmax = true;
  struct objective_numbers twice = objective_case_run(&c);
  for (size_t i = 0; i < c.batch; i++) {
    double p[3], again[3];
    softmax(once.logits + 3 * i, p);
    softmax(p, again);
    assert_near(twice.losses[i], -log(again[(size_t)c.y[i]]), 1e-12, "double softmax");
    assert_near(twice.logits[3 * i], once.logits[3 * i], 1e-14, "logits");
  }
  assert_true(twice.penalty == once.penalty);
  objective_case_free(&c);
}

/* beta sum W^2 over weights, not biases; not a part of the data term. */
static void test_weight_penalty(void **state)
{
  (void)state;
  struct objective_case c = objective_case_new(DENSE, IMAGE, "erm");
  double sum = 0, data = objective_case_run(&c).data;
  for (size_t k = 0; k < r4_net_params(c.net); k += 2)
    for (int64_t i = 0; i < r4_shape_count(r4_net_param_shape(c.net, k)); i++)
      sum += pow(c.weights[r4_net_param_offset(c.net, k) + (size_t)i], 2);
  c.o.weight_penalty = 0.3;
  struct objective_numbers a = objective_case_run(&c);
  assert_near(a.loss, data + 0.3 * sum, 1e-12, "weight penalty");
  assert_near(a.data, data, 1e-14, "data");
  objective_case_free(&c);
}

static double logs(const struct objective_case *c, const double *q, double shares)
{
  double sum = 0;
  for (size_t i = 0; i < c->batch; i++) sum += log1p(q[i] / c->o.tau);
  return sum / shares;
}

/* lambda times the mean of q, of log(1 + q / tau), or of log(1 + mean q / delta). */
static void test_forms(void **state)
{
  (void)state;
  static const char *const methods[] = {"r3", "smooth-r3", "ibp-ex", "rand-r4", "adv-r4", "cert-r4"};
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    struct objective_case c = objective_case_new(CONV, IMAGE, methods[k]);
    double shares = strcmp(methods[k], "ibp-ex") ? 4 : 3;
    struct objective_numbers a = objective_case_run(&c);
    assert_near(a.loss, a.data + 0.7 * a.penalty, 1e-12, methods[k]);
    c.o.form = R4_FORM_LOG;
    struct objective_numbers b = objective_case_run(&c);
    assert_near(b.loss, a.data + 0.7 * logs(&c, a.each, shares), 1e-12, methods[k]);
    c.o.form = R4_FORM_TARGET;
    struct objective_numbers d = objective_case_run(&c);
    assert_near(d.loss, a.data + 0.7 * log1p(a.penalty / 0.2), 1e-12, methods[k]);
    assert_true(b.penalty == a.penalty && d.penalty == a.penalty);
    objective_case_free(&c);
  }
}

/* Both terms, each with its weight and form. */
static void test_two_terms(void **state)
{
  (void)state;
  struct objective_case c = objective_case_new(CONV, IMAGE, "ibp-ex");
  struct objective_numbers ibp = objective_case_run(&c);
  c.o.method = "r3";
  struct objective_numbers r3 = objective_case_run(&c);
  c.o.method = "ibp-ex+r3";
  struct objective_numbers both = objective_case_run(&c);
  assert_near(both.penalty, ibp.penalty, 1e-14, "ibp-ex");
  assert_near(both.penalties[1], r3.penalty, 1e-14, "r3");
  for (size_t i = 0; i < c.batch; i++) assert_near(both.each[i], ibp.each[i] + r3.each[i], 1e-14, "each");
  assert_near(both.loss, both.data + 0.7 * ibp.penalty + 0.4 * r3.penalty, 1e-13, "loss");
  c.o.form = R4_FORM_LOG;
  both = objective_case_run(&c);
  assert_near(both.loss, both.data + 0.7 * logs(&c, ibp.each, 3) + 0.4 * logs(&c, r3.each, 4), 1e-13, "log");
  objective_case_free(&c);
}

/* Cert-R4 by its logarithm, and R3 as it is. */
static void test_cert_and_r3(void **state)
{
  (void)state;
  struct objective_case c = objective_case_new(CONV, IMAGE, "cert-r4");
  struct objective_numbers cert = objective_case_run(&c);
  c.o.method = "r3";
  struct objective_numbers r3 = objective_case_run(&c);
  c.o.method = "cert-r4+r3";
  c.o.form = R4_FORM_LOG;
  struct objective_numbers both = objective_case_run(&c);
  assert_near(both.loss, both.data + 0.7 * logs(&c, cert.each, 4) + 0.4 * r3.penalty, 1e-13, "cert-r4+r3");
  objective_case_free(&c);
}

/* The data term looks at filled examples, the penalties at the examples themselves. */
static void test_filled_examples(void **state)
{
  (void)state;
  static const char *const method[] = {"r3", "smooth-r3", "ibp-ex", "rand-r4", "adv-r4", "cert-r4"};
  for (size_t k = 0; k < sizeof method / sizeof *method; k++) {
    struct objective_case c = objective_case_new(CONV, IMAGE, method[k]);
    struct objective_numbers plain = objective_case_run(&c);
    c.o.filled = true;
    struct objective_numbers filled = objective_case_run(&c);
    struct objective_case other = c;
    memcpy(other.x, c.filled, sizeof c.x);
    other.o.filled = false;
    other.o.method = "erm";
    struct objective_numbers alone = objective_case_run(&other);
    assert_near(filled.data, alone.data, 1e-12, method[k]);
    assert_near(filled.penalty, plain.penalty, 1e-12, method[k]);
    assert_near(filled.loss - filled.data, plain.loss - plain.data, 1e-11, method[k]);
    assert_near(filled.logits[1], alone.logits[1], 1e-12, method[k]);
    assert_true(fabs(filled.data - plain.data) > 1e-3);
    objective_case_free(&c);
  }
}

/* Example 2 of the four has no mask: a mean over three. */
static void test_mean_over_masked_examples(void **state)
{
  (void)state;
  static const char *const method[] = {"r3", "smooth-r3", "rand-r4", "adv-r4", "cert-r4"};
  for (size_t k = 0; k < sizeof method / sizeof *method; k++) {
    struct objective_case c = objective_case_new(DENSE, IMAGE, method[k]);
    struct objective_numbers all = objective_case_run(&c);
    c.o.over_masked = true;
    struct objective_numbers masked = objective_case_run(&c);
    assert_near(masked.penalty, all.penalty * 4 / 3, 1e-12, method[k]);
    memset(c.m, 0, sizeof c.m);
    assert_near(objective_case_run(&c).penalty, 0, 0, "no mask at all");
    objective_case_free(&c);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_data_term),       cmocka_unit_test(test_many_class_weights),
    cmocka_unit_test(test_double_softmax),  cmocka_unit_test(test_weight_penalty),
    cmocka_unit_test(test_forms),           cmocka_unit_test(test_two_terms),
    cmocka_unit_test(test_cert_and_r3),
    cmocka_unit_test(test_filled_examples), cmocka_unit_test(test_mean_over_masked_examples),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("objective loss", tests, NULL, NULL);
}
