/* Objectives: what must hold for each method, whatever the numbers: the penalty moves the weights,
 * its gradient is that of differences, it vanishes without masks, listed features give the same as
 * full masks, and no explanation exceeds its bound. Values: test_golden.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four above */
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "r4.h"

enum {
  BATCH = 4,
  SIDE = 3,
  F = SIDE * SIDE * 2,
  U = 4,
  PARAMS = 4,
  SIZE = 400,
  MASKS = BATCH * F,
  SAMPLES = 3
};

static const char *const methods[] = {"erm",       "r3",      "smooth-r3", "ibp-ex",
                                      "ibp-ex+r3", "rand-r4", "adv-r4",    "cert-r4"};
static const char *const nets[] = {"flatten, dense 5, relu, dense 3", "conv 3 2 p1, relu, flatten, dense 3"};

struct numbers {
  double loss, penalty, slope[SIZE]; /* slope: of the penalty, by each weight */
};

struct setting {
  r4_net *net;
  const char *method;
  bool listed; /* masks on listed features */
  double eps, lambda, alpha;
  int steps;
  double x[MASKS], y[BATCH], m[MASKS], start[MASKS], noise[SAMPLES * MASKS], index[U], weights[SIZE];
};

static const int feature[U] = {1, 4, 5, 16};

static void draw(double *out, size_t n, uint32_t purpose)
{
  for (size_t i = 0; i < n; i++) out[i] = 2 * r4_random_uniform((r4_random){11, purpose, 0}, i) - 1;
}

/* Example 2 has no mask. */
static struct setting make(const char *net, const char *method)
{
  r4_error e;
  struct setting s = {.method = method, .eps = 0.2, .lambda = 0.7, .steps = 3};
  s.net = r4_net_new(net, R4_SHAPE(SIDE, SIDE, 2), &e);
  if (!s.net) fail_msg("%s", e.text);
  assert_true(r4_net_size(s.net) <= SIZE && r4_net_params(s.net) == PARAMS);
  draw(s.x, MASKS, 1);
  draw(s.start, MASKS, 2);
  draw(s.weights, SIZE, 3);
  draw(s.noise, SAMPLES * MASKS, 4);
  for (int i = 0; i < BATCH; i++) s.y[i] = i % 3;
  for (int i = 0; i < BATCH; i++)
    for (int k = 0; k < U; k++) s.m[i * F + feature[k]] = i == 2 ? 0 : 0.5 + 0.1 * k;
  return s;
}

/* The same masks and start on the listed features alone. */
static struct setting listed(const struct setting *full)
{
  struct setting s = *full;
  s.listed = true;
  for (int i = 0; i < BATCH; i++) {
    for (int k = 0; k < U; k++) {
      s.m[i * U + k] = full->m[i * F + feature[k]];
      s.start[i * U + k] = full->start[i * F + feature[k]];
    }
  }
  for (int i = 0; i < SAMPLES * BATCH && !strcmp(s.method, "rand-r4"); i++)
    for (int k = 0; k < U; k++) s.noise[i * U + k] = full->noise[i * F + feature[k]];
  for (int k = 0; k < U; k++) s.index[k] = feature[k];
  return s;
}

static void bind(r4_plan *p, const char *name, const double *data)
{
  r4_error e;
  if (r4_plan_input(p, name, data, &e)) fail_msg("%s", e.text);
}

static struct numbers run(const struct setting *s)
{
  r4_error e;
  struct numbers n = {0};
  const r4_objective_options o = {
    .method = s->method,
    .batch = BATCH,
    .masked = s->listed ? U : 0,
    .lambda = s->lambda,
    .eps = s->eps,
    .alpha = s->alpha,
    .steps = s->steps,
    .samples = SAMPLES,
    .random_start = true,
  };
  r4_graph *g = r4_graph_new();
  r4_id param[PARAMS], out[2 + PARAMS];
  r4_net_inputs(s->net, g, param);
  r4_objective built = r4_objective_build(g, s->net, param, &o);
  out[0] = built.loss;
  out[1] = built.penalty;
  r4_grad(g, built.penalty, PARAMS, param, out + 2);
  r4_plan *p = r4_plan_new(g, 2 + PARAMS, out, &(r4_plan_options){.type = R4_F64}, &e);
  if (!p) fail_msg("%s", e.text);
  bind(p, "x", s->x);
  bind(p, "y", s->y);
  bind(p, "m", s->m);
  if (s->listed) bind(p, "index", s->index);
  if (built.in.start.i) bind(p, "start", s->start);
  if (built.in.noise.i) bind(p, "noise", s->noise);
  r4_plan_output(p, 0, &n.loss, NULL);
  r4_plan_output(p, 1, &n.penalty, NULL);
  for (size_t k = 0; k < PARAMS; k++) {
    size_t offset = r4_net_param_offset(s->net, k);
    bind(p, r4_net_param_name(s->net, k), s->weights + offset);
    r4_plan_output(p, 2 + k, n.slope + offset, NULL);
  }
  if (r4_plan_run(p, &e)) fail_msg("%s: %s", s->method, e.text);
  r4_plan_free(p);
  r4_graph_free(g);
  return n;
}

static void assert_near(double a, double b, double tolerance, const char *what)
{
  if (!(fabs(a - b) <= tolerance * (1 + fabs(b)))) fail_msg("%s: %.12g is not %.12g", what, a, b);
}

/* For each net and method, with full masks. */
static void each(void (*check)(struct setting *s))
{
  for (size_t n = 0; n < sizeof nets / sizeof *nets; n++) {
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
      struct setting s = make(nets[n], methods[k]);
      check(&s);
      r4_net_free(s.net);
    }
  }
}

static void check_listed(struct setting *s)
{
  struct setting t = listed(s);
  struct numbers a = run(s), b = run(&t);
  assert_near(b.loss, a.loss, 1e-10, s->method);
  assert_near(b.penalty, a.penalty, 1e-10, s->method);
  for (size_t i = 0; i < r4_net_size(s->net); i++) assert_near(b.slope[i], a.slope[i], 1e-10, s->method);
}

static void test_listed_equals_full(void **state)
{
  (void)state;
  each(check_listed);
}

/* In the published code this fails for R3, IBP-Ex and Adv-R4. */
static void check_moves(struct setting *s)
{
  struct numbers a = run(s);
  double norm = 0;
  for (size_t i = 0; i < r4_net_size(s->net); i++) norm += a.slope[i] * a.slope[i];
  if (!strcmp(s->method, "erm"))
    assert_true(a.penalty == 0 && norm == 0);
  else if (!(a.penalty > 0 && norm > 1e-6))
    fail_msg("%s does not move the weights", s->method);
}

static void test_penalty_moves_weights(void **state)
{
  (void)state;
  each(check_moves);
}

/* Central differences along one random direction and by single weights. */
static void check_slope(struct setting *s)
{
  const double h = 1e-6;
  struct numbers at = run(s);
  size_t size = r4_net_size(s->net);
  double direction[SIZE], slope = 0;
  for (uint32_t trial = 0; trial < 8; trial++) {
    struct setting up = *s, down = *s;
    draw(direction, size, 20 + trial);
    slope = 0;
    for (size_t i = 0; i < size; i++) {
      up.weights[i] += h * direction[i];
      down.weights[i] -= h * direction[i];
      slope += at.slope[i] * direction[i];
    }
    assert_near((run(&up).penalty - run(&down).penalty) / (2 * h), slope, 1e-6, s->method);
  }
}

static void test_slope_is_that_of_differences(void **state)
{
  (void)state;
  each(check_slope);
}

static void check_no_mask(struct setting *s)
{
  memset(s->m, 0, sizeof s->m);
  struct numbers a = run(s);
  assert_true(a.penalty == 0);
  for (size_t i = 0; i < r4_net_size(s->net); i++) assert_true(a.slope[i] == 0);
}

static void test_no_mask_no_penalty(void **state)
{
  (void)state;
  each(check_no_mask);
}

/* loss = data + lambda penalty, and data does not depend on the method. */
static void check_sum(struct setting *s)
{
  struct setting plain = *s;
  plain.method = "erm";
  struct numbers a = run(s), data = run(&plain);
  assert_near(a.loss, data.loss + s->lambda * a.penalty, 1e-12, s->method);
}

static void test_loss_is_a_sum(void **state)
{
  (void)state;
  each(check_sum);
}

/* Equal logits: the loss is log of the number of classes. */
static void test_data_term(void **state)
{
  (void)state;
  struct setting s = make(nets[0], "erm");
  memset(s.weights, 0, sizeof s.weights);
  assert_near(run(&s).loss, log(3), 1e-12, "erm");
  r4_net_free(s.net);
}

/* With eps = 0: adv = cert, cert^2 <= r3 by Jensen, with equality for one example. */
static void test_point_box(void **state)
{
  (void)state;
  for (size_t n = 0; n < 2; n++) {
    struct setting s = make(nets[n], "r3");
    s.eps = 0;
    for (int i = 1; i < BATCH; i++) memset(s.m + i * F, 0, F * sizeof *s.m);
    double r3 = run(&s).penalty, adv, cert;
    s.method = "adv-r4", adv = run(&s).penalty;
    s.method = "cert-r4", cert = run(&s).penalty;
    assert_near(adv, cert, 1e-12, "adv-r4 and cert-r4 at a point");
    assert_near(BATCH * cert * cert, r3, 1e-12, "cert-r4 and r3 at a point");
    r4_net_free(s.net);
  }
}

/* Attack <= bound, both grow with the box, and the bound shrinks to the point value. */
static void test_attack_below_bound(void **state)
{
  (void)state;
  for (size_t n = 0; n < 2; n++) {
    struct setting s = make(nets[n], "cert-r4");
    double last = 0;
    for (double eps = 1e-6; eps < 2; eps *= 10) {
      s.eps = eps;
      s.method = "cert-r4";
      double cert = run(&s).penalty;
      s.method = "adv-r4";
      double adv = run(&s).penalty;
      assert_true(adv <= cert * (1 + 1e-12) && cert >= last);
      if (eps < 2e-6) assert_near(adv, cert, 1e-4, "bound of a tiny box");
      last = cert;
    }
    r4_net_free(s.net);
  }
}

/* From x itself the attack climbs; a step without a size is a quarter of the box. */
static void test_attack_climbs(void **state)
{
  (void)state;
  for (size_t n = 0; n < 2; n++) {
    struct setting s = make(nets[n], "adv-r4");
    memset(s.start, 0, sizeof s.start);
    s.alpha = 1e-9;
    double here = run(&s).penalty;
    s.alpha = 0;
    s.steps = 1;
    double quarter = run(&s).penalty;
    assert_true(quarter > here + 1e-3);
    s.alpha = s.eps / 4;
    assert_near(run(&s).penalty, quarter, 1e-12, "the usual step");
    s.alpha = s.eps / 2;
    assert_true(fabs(run(&s).penalty - quarter) > 1e-6);
    r4_net_free(s.net);
  }
}

/* An unmasked example has no part in ibp-ex, not even in the number it is divided by. */
static void test_ibp_ex_counts_masked(void **state)
{
  (void)state;
  struct setting s = make(nets[0], "ibp-ex");
  double before = run(&s).penalty;
  s.y[2] = 1;
  for (int k = 0; k < F; k++) s.x[2 * F + k] = 0.3;
  assert_near(run(&s).penalty, before, 1e-12, "ibp-ex");
  s.eps = 0; /* then it is the mean loss of examples 0, 1 and 3; make those equal to one */
  for (int i = 0; i < BATCH; i++) {
    s.y[i] = 0;
    memcpy(s.x + i * F, s.x, F * sizeof *s.x);
  }
  double penalty = run(&s).penalty;
  s.method = "erm";
  assert_near(penalty, run(&s).loss, 1e-12, "ibp-ex of a point");
  r4_net_free(s.net);
}

static const struct {
  r4_objective_options options;
  const char *text;
} wrong[] = {
  {{.method = "r5", .batch = 1},
   "no method \"r5\"; there are erm, r3, smooth-r3, ibp-ex, ibp-ex+r3, rand-r4, "
   "adv-r4, cert-r4"},
  {{.method = NULL, .batch = 1}, "no method \"\""},
  {{.method = "erm"}, "batch is 0, expected at least 1"},
  {{.method = "r3", .batch = 1, .masked = -1}, "masked is -1"},
  {{.method = "r3", .batch = 1, .masked = 19}, "masked is 19, expected 0 (all) to 18"},
  {{.method = "r3", .batch = 1, .lambda = -1}, "lambda is -1"},
  {{.method = "r3", .batch = 1, .lambda = NAN}, "lambda is"},
  {{.method = "cert-r4", .batch = 1, .eps = INFINITY}, "eps is inf"},
  {{.method = "adv-r4", .batch = 1}, "steps is 0"},
  {{.method = "adv-r4", .batch = 1, .steps = 1, .alpha = NAN}, "alpha"},
};

static void test_errors(void **state)
{
  (void)state;
  r4_net *net = r4_net_new(nets[0], R4_SHAPE(SIDE, SIDE, 2), NULL);
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    const char *text;
    r4_id param[PARAMS];
    r4_graph *g = r4_graph_new();
    r4_net_inputs(net, g, param);
    r4_objective o = r4_objective_build(g, net, param, &wrong[k].options);
    assert_true(o.loss.i == 0);
    assert_int_equal(r4_graph_status(g, &text), R4_E_ARGUMENT);
    if (!strstr(text, wrong[k].text)) fail_msg("%s", text);
    r4_graph_free(g);
  }
  r4_net_free(net);
}

/* Whichever allocation fails while building, the graph says so. */
static void test_memory(void **state)
{
  (void)state;
  r4_net *net = r4_net_new(nets[1], R4_SHAPE(SIDE, SIDE, 2), NULL);
  const r4_objective_options o = {.method = "cert-r4", .batch = BATCH, .masked = U, .lambda = 1, .eps = 1};
  r4_status status = R4_E_MEMORY;
  for (long n = 1; status; n++) {
    r4_id param[PARAMS], slope[PARAMS];
    r4_mem_fail_at(n);
    r4_graph *g = r4_graph_new();
    if (g) {
      r4_net_inputs(net, g, param);
      r4_grad(g, r4_objective_build(g, net, param, &o).loss, PARAMS, param, slope);
      status = r4_graph_status(g, NULL);
    }
    r4_mem_fail_at(0);
    assert_true(status == R4_OK || status == R4_E_MEMORY);
    r4_graph_free(g);
  }
  r4_net_free(net);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_listed_equals_full),
    cmocka_unit_test(test_penalty_moves_weights),
    cmocka_unit_test(test_slope_is_that_of_differences),
    cmocka_unit_test(test_no_mask_no_penalty),
    cmocka_unit_test(test_loss_is_a_sum),
    cmocka_unit_test(test_data_term),
    cmocka_unit_test(test_point_box),
    cmocka_unit_test(test_attack_below_bound),
    cmocka_unit_test(test_attack_climbs),
    cmocka_unit_test(test_ibp_ex_counts_masked),
    cmocka_unit_test(test_errors),
    cmocka_unit_test(test_memory),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("objective", tests, NULL, NULL);
}
