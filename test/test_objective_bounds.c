/* The order of the methods, example by example, on random nets and on trained ones:
 *
 *     || m . g(x) ||  <=  rand-r4  <=  cert-r4,      || m . g(x') ||  <=  cert-r4  for every x' in the box,
 *
 * adv-r4's points among them; and where the loss of trained nets is explained, the attack finds more than
 * chance on average. (Where nets have no curvature to climb, as initialised ones or their logits, it need not.) */
#include <math.h>
#include <string.h>

#include "objective_case.h"

enum { TRAINING_STEPS = 150, ATTACK_STEPS = 20 };

static const struct {
  const char *layers;
  r4_explain explain;
  r4_norm norm;
} settings[] = {
  {"flatten, dense 12, relu, dense 8, relu, dense 3", R4_EXPLAIN_LOSS, R4_NORM_L2},
  {"conv 3 2 p1, relu, flatten, dense 3", R4_EXPLAIN_LOSS, R4_NORM_L2},
  {"flatten, dense 12, relu, dense 8, relu, dense 1", R4_EXPLAIN_LOSS, R4_NORM_L2},
  {"flatten, dense 12, relu, dense 3", R4_EXPLAIN_LOSS, R4_NORM_L1},
  {"flatten, dense 12, relu, dense 3", R4_EXPLAIN_LOGIT, R4_NORM_L2},
  {"flatten, dense 12, relu, dense 8, relu, dense 3", R4_EXPLAIN_MARGIN, R4_NORM_L2},
  {"conv 3 2 p1, relu, flatten, dense 3", R4_EXPLAIN_LOGPROB_SUM, R4_NORM_L1},
};

static double sum_rand, sum_adv; /* over examples of nets whose loss is explained */

/* Two thirds of the features of all examples but one have a mask. */
static struct objective_case make(size_t k)
{
  struct objective_case c = objective_case_new(settings[k].layers, R4_SHAPE(3, 3, 2), "erm");
  float weights[CASE_SIZE];
  c.batch = CASE_BATCH;
  c.o.batch = CASE_BATCH;
  c.o.explain = settings[k].explain;
  c.o.norm = settings[k].norm;
  c.o.samples = CASE_SAMPLES;
  for (size_t i = 0; i < c.batch; i++)
    for (size_t j = 0; j < c.features; j++) c.m[i * c.features + j] = i == 2 ? 0 : (double)(j % 3) / 2;
  r4_net_init(c.net, k, weights);
  for (size_t i = 0; i < r4_net_size(c.net); i++) c.weights[i] = (double)weights[i];
  return c;
}

/* ERM on its batch, until it knows it by heart. */
static void train(struct objective_case *c)
{
  r4_optimizer_options adam = r4_optimizer_defaults(R4_ADAM);
  adam.learning_rate = 0.02;
  size_t n = r4_net_size(c->net);
  float weights[CASE_SIZE], gradient[CASE_SIZE];
  r4_optimizer *o = r4_optimizer_new(n, &adam, NULL);
  struct runner *r = objective_case_open(c, FAST32);
  struct objective_numbers a = {0};
  for (size_t i = 0; i < n; i++) weights[i] = (float)c->weights[i];
  for (int step = 0; step < TRAINING_STEPS; step++) {
    a = objective_case_go(c, r);
    for (size_t i = 0; i < n; i++) gradient[i] = (float)a.slope[i];
    r4_optimizer_step(o, weights, gradient);
    for (size_t i = 0; i < n; i++) c->weights[i] = (double)weights[i];
  }
  if (!(a.loss < 0.1)) fail_msg("the loss is %g after training", a.loss);
  runner_free(r);
  r4_optimizer_free(o);
}

static void assert_below(const struct objective_case *c, const double *q, const double *limit,
                         const char *what)
{
  for (size_t i = 0; i < c->batch; i++)
    if (!(q[i] <= limit[i] * (1 + 1e-9)))
      fail_msg("%s, eps %g, example %zu: %s: %.12g > %.12g", r4_net_layers(c->net), c->o.eps, i, what, q[i],
               limit[i]);
}

static struct objective_numbers run(struct objective_case *c, const char *method)
{
  c->o.method = method;
  return objective_case_run(c);
}

/* The norm at x and at every random sample, by rand-r4's norm of a box of no size. */
static void check_samples(const struct objective_case *c, const double *clean, const double *cert)
{
  struct objective_case at = *c;
  size_t n = c->batch * c->features;
  at.o.method = "rand-r4";
  at.o.samples = 1;
  at.o.eps = 0;
  struct runner *r = objective_case_open(&at, FAST64);
  struct objective_numbers here = objective_case_go(&at, r);
  assert_close("clean", clean, here.each, c->batch, 1e-12, 1);
  for (size_t s = 0; s < CASE_SAMPLES; s++) {
    bool corner = s % 2;
    for (size_t k = 0; k < n; k++) {
      double xi = c->noise[s * n + k];
      at.x[k] = c->x[k] + c->o.eps * c->m[k] * (corner ? copysign(1, xi) : xi);
    }
    here = objective_case_go(&at, r);
    assert_below(c, here.each, cert, corner ? "corner" : "sample");
  }
  runner_free(r);
}

static void check_box(struct objective_case *c, double eps)
{
  c->o.eps = 0;
  struct objective_numbers clean = run(c, "cert-r4");
  c->o.eps = eps;
  struct objective_numbers cert = run(c, "cert-r4"), rand = run(c, "rand-r4"), adv = {0};
  assert_below(c, clean.each, rand.each, "clean and rand-r4");
  assert_below(c, rand.each, cert.each, "rand-r4");
  check_samples(c, clean.each, cert.each);
  for (c->o.steps = 1; c->o.steps <= ATTACK_STEPS; c->o.steps++) {
    adv = run(c, "adv-r4");
    assert_below(c, adv.each, cert.each, "adv-r4");
  }
  for (size_t i = 0; c->o.explain == R4_EXPLAIN_LOSS && i < c->batch; i++) {
    sum_rand += rand.each[i];
    sum_adv += adv.each[i];
  }
}

static void check_all(bool trained)
{
  sum_rand = sum_adv = 0;
  for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
    struct objective_case c = make(k);
    if (trained) train(&c);
    check_box(&c, 0.03);
    check_box(&c, 0.3);
    check_box(&c, 1);
    objective_case_free(&c);
  }
}

static void test_random_nets(void **state)
{
  (void)state;
  check_all(false);
}

static void test_trained_nets(void **state)
{
  (void)state;
  check_all(true);
  assert_true(sum_adv > 2 * sum_rand);
}

/* The bound shrinks to the norm at the point as the box does, and grows with it. */
static void test_bound_of_small_boxes(void **state)
{
  (void)state;
  for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
    struct objective_case c = make(k);
    c.o.eps = 0;
    double last = run(&c, "cert-r4").penalty;
    for (double eps = 1e-6; eps < 2; eps *= 10) {
      c.o.eps = eps;
      double cert = run(&c, "cert-r4").penalty;
      assert_true(cert >= last);
      if (eps < 2e-6) assert_near(cert, last, 1e-4, "bound of a tiny box");
      last = cert;
    }
    objective_case_free(&c);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_random_nets),
    cmocka_unit_test(test_trained_nets),
    cmocka_unit_test(test_bound_of_small_boxes),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("objective bounds", tests, NULL, NULL);
}
