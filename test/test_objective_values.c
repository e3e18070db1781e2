/* Objectives: values, against explanations by differences of the logits, worked out here from the
 * definitions. */
#include <math.h>
#include <string.h>

#include "objective_case.h"

#define IMAGE R4_SHAPE(3, 3, 2)
static const char *const nets[] = {
  "flatten, dense 5, relu, dense 3",
  "conv 3 2 p1, relu, flatten, dense 3",
  "flatten, dense 6, relu, dense 1",
  "conv 3 2 p1, relu, flatten, dense 1",
};
enum { NETS = sizeof nets / sizeof *nets, ROW = CASE_FEATURES, ALL = CASE_BATCH * CASE_FEATURES };

static const r4_explain explains[] = {R4_EXPLAIN_LOSS, R4_EXPLAIN_LOGIT, R4_EXPLAIN_MARGIN,
                                      R4_EXPLAIN_LOGPROB_SUM};
enum { EXPLAINS = sizeof explains / sizeof *explains };

/* ---- The definitions again ---- */

static double log_sum_exp(const double *z, size_t n, size_t without)
{
  double sum = 0;
  for (size_t k = 0; k < n; k++) sum += k == without ? 0 : exp(z[k]);
  return log(sum);
}

/* e of one example with logits z; one output comes as [0, z]. */
static double explained(r4_explain what, bool one_output, const double *z, size_t n, size_t y)
{
  double sum = 0;
  for (size_t k = 0; k < n; k++) sum += z[k] - log_sum_exp(z, n, n);
  if (what == R4_EXPLAIN_LOSS) return log_sum_exp(z, n, n) - z[y];
  if (what == R4_EXPLAIN_LOGPROB_SUM) return sum;
  if (what == R4_EXPLAIN_LOGIT) return one_output ? (y ? z[1] : -z[1]) : z[y];
  return z[y] - log_sum_exp(z, n, y);
}

/* g [batch, features] at the points x, by central differences, one feature of all examples at a time. */
static void explain(const struct objective_case *c, const double *x, double *g)
{
  const double h = 1e-5;
  struct objective_case at = *c;
  at.o.method = "erm";
  struct runner *r = objective_case_open(&at, FAST64);
  bool one = r4_net_classes(c->net) == 1;
  size_t n = one ? 2 : (size_t)r4_net_classes(c->net);
  for (size_t j = 0; j < c->features; j++) {
    double e[2][CASE_BATCH];
    for (int side = 0; side < 2; side++) {
      memcpy(at.x, x, c->batch * c->features * sizeof *x);
      for (size_t i = 0; i < c->batch; i++) at.x[i * c->features + j] += side ? h : -h;
      struct objective_numbers run = objective_case_go(&at, r);
      for (size_t i = 0; i < c->batch; i++)
        e[side][i] = explained(c->o.explain, one, run.logits + i * n, n, (size_t)c->y[i]);
    }
    for (size_t i = 0; i < c->batch; i++) g[i * c->features + j] = (e[1][i] - e[0][i]) / (2 * h);
  }
  runner_free(r);
}

/* || m . g_i ||, 2-norm or 1-norm */
static double norm(const struct objective_case *c, const double *g, size_t i)
{
  double sum = 0;
  for (size_t k = i * c->features; k < (i + 1) * c->features; k++)
    sum += c->o.norm == R4_NORM_L1 ? fabs(c->m[k] * g[k]) : c->m[k] * g[k] * c->m[k] * g[k];
  return c->o.norm == R4_NORM_L1 ? sum : sqrt(sum);
}

/* x + d, where d = eps m xi, clipped so that x + d is in the range, or no farther from it than x. */
static void moved(const struct objective_case *c, const double *xi, double *to)
{
  for (size_t k = 0; k < c->batch * c->features; k++) {
    double x = c->x[k];
    to[k] = x + c->o.eps * c->m[k] * xi[k];
    if (c->o.ranged) to[k] = fmax(fmin(to[k], fmax(x, c->o.high)), fmin(x, c->o.low));
  }
}

/* ---- Values of each method ---- */

static void each(const char *method, void (*check)(struct objective_case *c))
{
  for (size_t n = 0; n < NETS; n++) {
    for (size_t k = 0; k < EXPLAINS; k++) {
      struct objective_case c = objective_case_new(nets[n], IMAGE, method);
      c.o.explain = explains[k];
      check(&c);
      objective_case_free(&c);
    }
  }
}

static void check_r3(struct objective_case *c)
{
  double g[ALL];
  struct objective_numbers a = objective_case_run(c);
  explain(c, c->x, g);
  for (size_t i = 0; i < c->batch; i++) assert_near(a.each[i], pow(norm(c, g, i), 2), 1e-6, "r3");
}

static void test_r3(void **state)
{
  (void)state;
  each("r3", check_r3);
}

static void check_smooth(struct objective_case *c)
{
  double g[ALL], mean[ALL] = {0}, x[ALL];
  size_t n = c->batch * c->features, samples = (size_t)c->o.samples;
  for (size_t s = 0; s < samples; s++) {
    for (size_t k = 0; k < n; k++) x[k] = c->x[k] + c->o.eps * c->noise[s * n + k];
    explain(c, x, g);
    for (size_t k = 0; k < n; k++) mean[k] += g[k] / (double)samples;
  }
  struct objective_numbers a = objective_case_run(c);
  for (size_t i = 0; i < c->batch; i++) assert_near(a.each[i], pow(norm(c, mean, i), 2), 1e-6, "smooth-r3");
}

static void test_smooth_r3(void **state)
{
  (void)state;
  each("smooth-r3", check_smooth);
}

static void check_rand(struct objective_case *c)
{
  double g[ALL], x[ALL], largest[CASE_BATCH];
  explain(c, c->x, g);
  for (size_t i = 0; i < c->batch; i++) largest[i] = norm(c, g, i);
  for (size_t s = 0; s < (size_t)c->o.samples; s++) {
    moved(c, c->noise + s * c->batch * c->features, x);
    explain(c, x, g);
    for (size_t i = 0; i < c->batch; i++) largest[i] = fmax(largest[i], norm(c, g, i));
  }
  struct objective_numbers a = objective_case_run(c);
  for (size_t i = 0; i < c->batch; i++) assert_near(a.each[i], largest[i], 1e-6, "rand-r4");
}

static void check_rand_options(struct objective_case *c)
{
  check_rand(c);
  c->o.norm = R4_NORM_L1;
  check_rand(c);
  c->o.norm = R4_NORM_L2;
  c->o.ranged = true;
  c->o.low = -0.8;
  c->o.high = 0.5;
  c->o.eps = 1;
  check_rand(c);
}

static void test_rand_r4(void **state)
{
  (void)state;
  each("rand-r4", check_rand_options);
}

static double norm_l2(const struct objective_case *c, const double *g, size_t i)
{
  struct objective_case l2 = *c;
  l2.o.norm = R4_NORM_L2;
  return norm(&l2, g, i);
}

/* Steps of no size: the attack stays where it starts, and takes that or x itself. */
static void check_adv(struct objective_case *c)
{
  double here[ALL], there[ALL], x[ALL], want[CASE_BATCH];
  c->o.alpha = 1e-12;
  moved(c, c->start, x);
  explain(c, x, there);
  explain(c, c->x, here);
  for (size_t i = 0; i < c->batch; i++)
    want[i] = norm(c, norm_l2(c, here, i) > norm_l2(c, there, i) ? here : there, i);
  struct objective_numbers a = objective_case_run(c);
  for (size_t i = 0; i < c->batch; i++) assert_near(a.each[i], want[i], 1e-6, "adv-r4");
  c->o.masked = CASE_LISTED;
  a = objective_case_run(c);
  for (size_t i = 0; i < c->batch; i++) assert_near(a.each[i], want[i], 1e-6, "adv-r4, listed");
  c->o.masked = 0;
}

static void check_adv_options(struct objective_case *c)
{
  check_adv(c);
  c->o.norm = R4_NORM_L1;
  check_adv(c);
  c->o.ranged = true;
  c->o.low = -0.8;
  c->o.high = 0.5;
  c->o.eps = 1;
  check_adv(c);
}

static void test_adv_r4(void **state)
{
  (void)state;
  each("adv-r4", check_adv_options);
}

/* From x itself the attack climbs; the first step without a size is as long as the box. A random start, which is at x
 * here, takes one step; without it the attack starts at x. */
static void test_attack_climbs(void **state)
{
  (void)state;
  for (size_t n = 0; n < NETS; n++) {
    struct objective_case c = objective_case_new(nets[n], IMAGE, "adv-r4");
    memset(c.start, 0, sizeof c.start);
    c.o.alpha = 1e-9;
    double here = objective_case_run(&c).penalty;
    c.o.alpha = c.o.eps;
    c.o.steps = 2;
    double far = objective_case_run(&c).penalty;
    assert_true(far > here + 1e-3);
    c.o.steps = 1;
    c.o.random_start = false;
    c.start[1] = c.start[4] = 1; /* not looked at */
    assert_near(objective_case_run(&c).penalty, far, 1e-12, "no random start");
    c.o.alpha = 0;
    assert_near(objective_case_run(&c).penalty, far, 1e-12, "the usual step");
    c.o.alpha = c.o.eps / 2;
    assert_true(fabs(objective_case_run(&c).penalty - far) > 1e-6);
    objective_case_free(&c);
  }
}

/* At a point, rand, adv and cert are the norm at x, and "sum" is twice the 1-norm. */
static void check_point(struct objective_case *c)
{
  static const char *const methods[] = {"rand-r4", "adv-r4", "cert-r4"};
  struct objective_numbers r3 = objective_case_run(c);
  c->o.eps = 0;
  for (size_t k = 0; k < 3; k++) {
    c->o.method = methods[k];
    struct objective_numbers a = objective_case_run(c);
    for (size_t i = 0; i < c->batch; i++) assert_near(a.each[i], sqrt(r3.each[i]), 1e-12, methods[k]);
  }
  c->o.norm = R4_NORM_L1;
  struct objective_numbers one = objective_case_run(c);
  c->o.norm = R4_NORM_SUM;
  struct objective_numbers sum = objective_case_run(c);
  for (size_t i = 0; i < c->batch; i++) assert_near(sum.each[i], 2 * one.each[i], 1e-12, "sum");
}

static void test_point_box(void **state)
{
  (void)state;
  each("r3", check_point);
}

/* ibp-ex of a point is the mean loss of the examples with a mask. */
static void test_ibp_ex_point(void **state)
{
  (void)state;
  for (size_t n = 0; n < NETS; n++) {
    struct objective_case c = objective_case_new(nets[n], IMAGE, "ibp-ex");
    c.o.eps = 0;
    struct objective_numbers a = objective_case_run(&c);
    assert_near(a.penalty, (a.losses[0] + a.losses[1] + a.losses[3]) / 3, 1e-12, "ibp-ex");
    objective_case_free(&c);
  }
}

/* ---- One output ---- */

/* A linear net: z = w x + b moves by eps sum m |w|, and g = (sigmoid(z) - y) w takes its extremes there. */
static void test_one_output_is_tight(void **state)
{
  (void)state;
  struct objective_case c = objective_case_new("flatten, dense 1", IMAGE, "cert-r4");
  c.o.eps = 0.7;
  struct objective_numbers cert = objective_case_run(&c);
  c.o.method = "ibp-ex";
  struct objective_numbers ibp = objective_case_run(&c);
  for (size_t i = 0; i < c.batch; i++) {
    double z = c.weights[ROW], far = 0, length = 0;
    for (size_t j = 0; j < ROW; j++) {
      double w = c.weights[j], m = c.m[i * ROW + j];
      z += w * c.x[i * ROW + j];
      far += c.o.eps * m * fabs(w);
      length += m * w * m * w;
    }
    double worst = c.y[i] > 0 ? -(z - far) : z + far; /* the loss is log(1 + e^worst) */
    assert_near(cert.each[i], sqrt(length) / (1 + exp(-worst)), 1e-12, "cert-r4");
    assert_near(ibp.each[i], far > 0 ? log1p(exp(worst)) : 0, 1e-12, "ibp-ex");
    assert_near(cert.losses[i], log1p(exp(c.y[i] > 0 ? -z : z)), 1e-12, "logistic loss");
    assert_true(cert.logits[2 * i] == 0);
    assert_near(cert.logits[2 * i + 1], z, 1e-12, "logit");
  }
  objective_case_free(&c);
}

/* One output z is two outputs [0, z]. */
static void test_one_output_is_two(void **state)
{
  (void)state;
  static const char *const methods[] = {"r3",      "smooth-r3", "ibp-ex", "ibp-ex+r3",
                                        "rand-r4", "adv-r4",    "cert-r4", "cert-r4+r3"};
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    struct objective_case one = objective_case_new("flatten, dense 6, relu, dense 1", IMAGE, methods[k]);
    struct objective_case two = objective_case_new("flatten, dense 6, relu, dense 2", IMAGE, methods[k]);
    size_t last = 6 * ROW + 6; /* [units, 6] and then the biases */
    memset(two.weights + last, 0, 6 * sizeof(double));
    memcpy(two.weights + last + 6, one.weights + last, 6 * sizeof(double));
    two.weights[last + 12] = 0;
    two.weights[last + 13] = one.weights[last + 6];
    struct objective_numbers a = objective_case_run(&one), b = objective_case_run(&two);
    assert_near(a.loss, b.loss, 1e-12, methods[k]);
    for (size_t i = 0; i < one.batch; i++) assert_near(a.each[i], b.each[i], 1e-12, methods[k]);
    assert_close(methods[k], a.slope + last, b.slope + last + 6, 6, 1e-10, 1);
    objective_case_free(&one);
    objective_case_free(&two);
  }
}

/* A logit of 1000 on the wrong side: the loss is 1000 and not infinite, in float too. */
static void test_one_output_is_stable(void **state)
{
  (void)state;
  struct objective_case c = objective_case_new("flatten, dense 1", IMAGE, "cert-r4");
  memset(c.weights, 0, sizeof c.weights);
  c.weights[ROW] = 1000;
  struct runner *r = objective_case_open(&c, FAST32);
  struct objective_numbers a = objective_case_go(&c, r);
  assert_true(a.losses[0] == 1000 && a.losses[1] == 0 && isfinite(a.loss) && isfinite(a.slope[ROW]));
  runner_free(r);
  objective_case_free(&c);
}

/* ---- Parts of a batch ---- */

/* Where only the first examples have masks, the others need not be looked at: the same numbers, slopes included. */
static void check_guided(struct objective_case *c)
{
  for (size_t k = 2 * c->features; k < c->batch * c->features; k++) c->m[k] = 0;
  for (int listed = 0; listed < 2; listed++)
    for (int form = R4_FORM_LINEAR; form <= R4_FORM_TARGET; form++) {
      c->o.masked = listed * CASE_LISTED;
      c->o.form = (r4_form)form;
      c->o.guided = 0;
      struct objective_numbers all = objective_case_run(c);
      assert_true(all.penalty > 1e-3);
      for (c->o.guided = 2; c->o.guided <= (int64_t)c->batch; c->o.guided++) {
        struct objective_numbers some = objective_case_run(c);
        assert_near(some.loss, all.loss, 1e-12, "loss");
        assert_near(some.penalty, all.penalty, 1e-12, "penalty");
        assert_near(some.penalties[1], all.penalties[1], 1e-12, "the second penalty");
        for (size_t i = 0; i < c->batch; i++) assert_near(some.each[i], all.each[i], 1e-12, "each");
        for (size_t i = 0; i < c->batch; i++) assert_near(some.losses[i], all.losses[i], 1e-12, "losses");
        assert_close("slope", some.slope, all.slope, (size_t)r4_net_size(c->net), 1e-12, 1);
      }
    }
}

static void test_guided(void **state)
{
  (void)state;
  static const char *const methods[] = {"r3",      "smooth-r3", "ibp-ex", "ibp-ex+r3",
                                        "rand-r4", "adv-r4",    "cert-r4", "cert-r4+r3"};
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) each(methods[k], check_guided);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_r3),
    cmocka_unit_test(test_smooth_r3),
    cmocka_unit_test(test_rand_r4),
    cmocka_unit_test(test_adv_r4),
    cmocka_unit_test(test_attack_climbs),
    cmocka_unit_test(test_point_box),
    cmocka_unit_test(test_ibp_ex_point),
    cmocka_unit_test(test_one_output_is_tight),
    cmocka_unit_test(test_one_output_is_two),
    cmocka_unit_test(test_one_output_is_stable),
    cmocka_unit_test(test_guided),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("objective values", tests, NULL, NULL);
}
