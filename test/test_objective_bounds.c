/* The order of the methods, example by example, on random nets and on trained ones:
 *
 *     || m . g(x) ||  <=  rand-r4  <=  cert-r4,      || m . g(x') ||  <=  cert-r4  for every x' in the box,
 *     || m . g(x + d_0) ||  <=  adv-r4 with k steps  <=  adv-r4 with k + 1 steps  <=  cert-r4,     2-norm,
 *
 * where d_0 is the start of the attack. Where the loss of trained nets is explained, the attack finds several
 * times as much as chance on average. Nets as initialised have little curvature to climb: chance finds a
 * little more. */
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
  {"conv 4 2 p1, relu, maxpool 2 s1, flatten, dense 3", R4_EXPLAIN_MARGIN, R4_NORM_L2},
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
  r4_net_init(c.net, NULL, k, weights, NULL);
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

/* The norms at points x + eps m . way, by rand-r4's norm of a box of no size. */
struct looker {
  struct objective_case at;
  struct runner *run;
};

static struct looker looker_open(const struct objective_case *c)
{
  struct looker l = {.at = *c};
  l.at.o.method = "rand-r4";
  l.at.o.samples = 1;
  l.at.o.eps = 0;
  l.run = objective_case_open(&l.at, FAST64);
  return l;
}

static struct objective_numbers look(struct looker *l, const struct objective_case *c, const double *way,
                                     bool corner)
{
  for (size_t k = 0; k < c->batch * c->features; k++)
    l->at.x[k] = c->x[k] + c->o.eps * c->m[k] * (corner ? copysign(1, way[k]) : way[k]);
  return objective_case_go(&l->at, l->run);
}

static void check_samples(struct looker *l, const struct objective_case *c, const double *cert)
{
  for (size_t s = 0; s < CASE_SAMPLES; s++) {
    bool corner = s % 2;
    struct objective_numbers here = look(l, c, c->noise + s * c->batch * c->features, corner);
    assert_below(c, here.each, cert, corner ? "corner" : "sample");
  }
}

/* The attack keeps the best point that it visited, by the 2-norm: more steps of one length never find less. */
static void check_steps(struct looker *l, struct objective_case *c, const double *cert)
{
  const double nowhere[CASE_BATCH * CASE_FEATURES] = {0};
  struct objective_numbers last = look(l, c, nowhere, false);
  double alpha = c->o.alpha;
  c->o.alpha = c->o.eps / 4;
  for (c->o.steps = 1; c->o.steps <= ATTACK_STEPS; c->o.steps++) {
    struct objective_numbers adv = run(c, "adv-r4");
    assert_below(c, adv.each, cert, "adv-r4");
    if (c->o.norm == R4_NORM_L2)
      assert_below(c, last.each, adv.each, "adv-r4 with a step less, or the example itself");
    last = adv;
  }
  c->o.alpha = alpha;
}

/* The usual attack, never below the norm at x. */
static struct objective_numbers check_attack(struct objective_case *c, const double *clean,
                                             const double *cert)
{
  struct objective_numbers adv = {0};
  for (c->o.steps = 1; c->o.steps <= ATTACK_STEPS; c->o.steps++) {
    adv = run(c, "adv-r4");
    assert_below(c, adv.each, cert, "adv-r4");
    if (c->o.norm == R4_NORM_L2) assert_below(c, clean, adv.each, "clean and adv-r4");
  }
  return adv;
}

static void check_box(struct objective_case *c, double eps)
{
  static const double nowhere[CASE_BATCH * CASE_FEATURES];
  struct looker l = looker_open(c);
  c->o.eps = 0;
  struct objective_numbers clean = run(c, "cert-r4");
  assert_close("clean", clean.each, look(&l, c, nowhere, false).each, c->batch, 1e-12, 1);
  c->o.eps = eps;
  struct objective_numbers cert = run(c, "cert-r4"), rand = run(c, "rand-r4");
  assert_below(c, clean.each, rand.each, "clean and rand-r4");
  assert_below(c, rand.each, cert.each, "rand-r4");
  check_samples(&l, c, cert.each);
  check_steps(&l, c, cert.each);
  struct objective_numbers adv = check_attack(c, clean.each, cert.each);
  for (size_t i = 0; c->o.explain == R4_EXPLAIN_LOSS && i < c->batch; i++) {
    sum_rand += rand.each[i];
    sum_adv += adv.each[i];
  }
  runner_free(l.run);
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
  assert_true(sum_adv > sum_rand);
}

static void test_trained_nets(void **state)
{
  (void)state;
  check_all(true);
  assert_true(sum_adv > 4 * sum_rand);
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

/* ---- The whole range ---- */

static const double LOW = -0.9, HIGH = 1.1; /* some x are below: these may stay where they are */

/* Whatever may be there, by any mask above 0: any value, or either end. */
static double content(double x, double m)
{
  uint64_t kind = draw_below(3);
  double lo = fmin(LOW, x);
  return m == 0 ? x : kind == 0 ? draw(lo, HIGH) : kind == 1 ? lo : HIGH;
}

static void check_contents(struct objective_case *c, const char *method, const double *limit)
{
  struct objective_case at = *c;
  at.o.whole = at.o.ranged = false;
  at.o.eps = 0;
  at.o.samples = 1;
  at.o.method = method;
  struct runner *r = objective_case_open(&at, FAST64);
  for (int n = 0; n < 40; n++) {
    for (size_t k = 0; k < c->batch * c->features; k++) at.x[k] = content(c->x[k], c->m[k]);
    assert_below(c, objective_case_go(&at, r).each, limit, method);
  }
  runner_free(r);
}

/* At the share t of its ramp the box is that of eps = t (high - low), where masks are 0 or 1. */
static void check_share(struct objective_case *c, const char *method, double share, const double *before, double *each)
{
  c->o.whole = true;
  c->o.eps = share;
  memcpy(each, run(c, method).each, c->batch * sizeof *each);
  assert_below(c, before, each, "a smaller share");
  for (size_t i = 0; i < c->batch * c->features; i++) c->m[i] = c->m[i] > 0;
  struct objective_numbers whole = run(c, method);
  c->o.whole = false;
  c->o.eps = share * (HIGH - LOW);
  assert_close("the same by a number", whole.each, run(c, method).each, c->batch, 1e-12, 1);
  c->o.ranged = false;
  double unlimited = run(c, method).penalty;
  /* Once all units of a layer may be on or off, bounds of a gradient do not become wider. */
  bool less = share == 1 && !strcmp(method, "ibp-ex");
  if (!(whole.penalty <= unlimited * (1 + 1e-12) && (!less || whole.penalty < unlimited)))
    fail_msg("%s, %s: %.17g with limits, %.17g without", r4_net_layers(c->net), method, whole.penalty, unlimited);
  c->o.ranged = true;
}

/* The bound of all of the range holds for every content, is not that of a larger box, and begins at x. */
static void test_whole_range(void **state)
{
  (void)state;
  static const char *const method[] = {"cert-r4", "ibp-ex"};
  draw_start(77, 0);
  for (size_t k = 0; k < 2 * sizeof settings / sizeof *settings; k++) {
    struct objective_case c = make(k / 2), masks = c;
    if (k % 4 < 2) train(&c);
    double each[CASE_BATCH], last[CASE_BATCH] = {0};
    c.o.ranged = true, c.o.low = LOW, c.o.high = HIGH;
    for (int share = 0; share <= 4; share++) {
      memcpy(c.m, masks.m, sizeof c.m);
      check_share(&c, method[k % 2], share / 4.0, last, each);
      memcpy(last, each, sizeof last);
    }
    memcpy(c.m, masks.m, sizeof c.m);
    check_contents(&c, k % 2 ? "ibp-ex" : "rand-r4", last);
    objective_case_free(&c);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_random_nets),
    cmocka_unit_test(test_trained_nets),
    cmocka_unit_test(test_bound_of_small_boxes),
    cmocka_unit_test(test_whole_range),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("objective bounds", tests, NULL, NULL);
}
