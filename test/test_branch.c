/* Branch and bound (certify/brancher.h) against enumeration: tiny nets on two features, whose least margins are found
 * by cutting the box into the polygons of all activation patterns. What is asked is a little less, and a little more,
 * than what is true. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "certify/brancher.h"
#include "certify/domain.h"
#include "certify/relaxed.h"
#include "enumerate_case.h"
#include "net_case.h"
#include "scratch.h"

enum { ROUNDS = 120 };

/* J by plain loops. */
static double at_point(const struct tiny *n, const double *x, const struct question *q)
{
  double most = -INFINITY;
  struct affine h[MOST_UNITS] = {{{0}, x[0]}, {{0}, x[1]}}, next[MOST_UNITS];
  for (size_t l = 0; l <= n->layers; l++) {
    layer(n, l, h, next);
    for (size_t k = 0; k < n->width[l]; k++) {
      h[k] = next[k];
      if (l < n->layers) h[k].b = fmax(h[k].b, 0);
    }
  }
  for (size_t k = 0; k < q->functionals; k++) {
    double sum = q->rest[k];
    for (size_t j = 0; j < q->outputs; j++) sum += q->coef[k * q->outputs + j] * h[j].b;
    most = fmax(most, sum);
  }
  return most;
}

/* ---- Random nets ---- */

struct problem {
  struct tiny tiny;
  r4_net *net;
  float *weights;
  double lo[FEATURES], hi[FEATURES];
  struct question q;
};

static void draw_problem(struct problem *p, size_t functionals)
{
  char text[200] = "";
  *p = (struct problem){.tiny = {.layers = 1 + draw_below(2)}};
  for (size_t l = 0; l <= p->tiny.layers; l++) {
    p->tiny.width[l] = l < p->tiny.layers ? 3 + draw_below(MOST_UNITS - 2) : 3;
    snprintf(text + strlen(text), sizeof text - strlen(text), "%sdense %zu%s", l ? ", " : "", p->tiny.width[l],
             l < p->tiny.layers ? ", relu" : "");
  }
  p->net = net_of(text, R4_SHAPE(FEATURES));
  p->weights = calloc(p->net->size, sizeof *p->weights);
  for (size_t k = 0; k < p->net->size; k++) p->weights[k] = (float)draw(-1, 1);
  p->tiny.weights = p->weights;
  for (int i = 0; i < FEATURES; i++) p->lo[i] = draw(-2, 0), p->hi[i] = p->lo[i] + draw(0.1, 3);
  p->q = (struct question){.functionals = functionals, .outputs = 3};
  for (size_t k = 0; k < 3 * functionals; k++) p->q.coef[k] = draw(-1, 1);
  for (size_t k = 0; k < functionals; k++) p->q.rest[k] = draw(-1, 1);
}

static void free_problem(struct problem *p)
{
  r4_net_free(p->net);
  free(p->weights);
}

static struct branch_result solve(const struct problem *p, struct brancher *b, double moved, size_t starts,
                                  double *point)
{
  struct branch_result r;
  r4_error e = {0};
  double rest[2] = {p->q.rest[0] + moved, p->q.rest[1] + moved};
  struct branch_question q = {.functionals = p->q.functionals, .coef = p->q.coef, .rest = rest};
  struct branch_options o = {.seconds = 60, .starts = starts};
  if (brancher_run(b, p->lo, p->hi, 1, &q, &o, point, &r, &e)) fail_msg("%s", e.text);
  return r;
}

static size_t cuts;

/* J is above 0 by `by` everywhere, and below it by as much somewhere. */
static void check_problem(const struct problem *p, double by)
{
  r4_error e = {0};
  double point[FEATURES], least = exact_least(&p->tiny, p->lo, p->hi, &p->q);
  struct brancher *b = brancher_new(p->net, p->weights, p->q.functionals, &e);
  if (!b) fail_msg("%s", e.text);
  struct branch_result r = solve(p, b, by - least, 0, point);
  if (r.is != BRANCH_PROVED) fail_msg("least %g, moved to %g: not proved but %d", least, by, (int)r.is);
  if (!(r.least > 0 && r.least <= by)) fail_msg("proved %.17g, least %.17g", r.least, by);
  cuts += r.cuts;
  r = solve(p, b, -by - least, draw_below(2) * 3, point);
  if (r.is != BRANCH_REFUTED) fail_msg("least %g, moved to %g: not refuted but %d", least, -by, (int)r.is);
  for (int i = 0; i < FEATURES; i++) assert_true(point[i] >= p->lo[i] && point[i] <= p->hi[i]);
  double there = at_point(&p->tiny, point, &p->q) - by - least;
  assert_true(there < 0 && fabs(there - r.value) < 1e-9);
  brancher_free(b);
}

static void test_enumerated(void **state)
{
  (void)state;
  draw_start(733, 0);
  for (int round = 0; round < ROUNDS; round++) {
    struct problem p;
    draw_problem(&p, 1 + (round % 4 == 3));
    check_problem(&p, round % 2 ? 0.02 : 0.1);
    free_problem(&p);
  }
  print_message("# %zu cuts\n", cuts);
  assert_true(cuts > ROUNDS);
}

/* ---- By hand ---- */

/* y = relu(x) - relu(x - 1/2) of x in [-1, 1] is at least 0. Lines give s x - (x + 1) / 4, at best -1/4, for s = 1/4.
 * In the half x <= 0 it is 0, and where x >= 0, with x - 1/2 <= 0 or not, x or 1/2. */
static void test_kink(void **state)
{
  (void)state;
  r4_error e = {0};
  double point[FEATURES];
  struct problem p = {.tiny = {.layers = 1, .width = {2, 1}},
                      .net = net_of("dense 2, relu, dense 1", R4_SHAPE(2)),
                      .lo = {-1, 0}, .hi = {1, 0},
                      .q = {.functionals = 1, .outputs = 1, .coef = {1}, .rest = {0.01}}};
  float weights[] = {1, 0, 1, 0, 0, -0.5F, 1, -1, 0};
  p.weights = weights;
  struct brancher *b = brancher_new(p.net, weights, 1, &e);
  struct branch_result r = solve(&p, b, 0, 0, point);
  assert_int_equal(r.is, BRANCH_PROVED);
  assert_true(r.cuts >= 1 && r.leaves >= 2 && r.least <= 0.01 && r.least > 0);
  r = solve(&p, b, -0.02, 2, point);
  assert_int_equal(r.is, BRANCH_REFUTED);
  assert_true(point[0] < 0.01);
  brancher_free(b);
  r4_net_free(p.net);
}

/* A point at which J is 0 refutes if it is asked to, and is not proved in any case. */
static void test_equal(void **state)
{
  (void)state;
  r4_error e = {0};
  double point[FEATURES], lo[] = {0, 0}, hi[] = {1, 0}, coef[] = {1}, rest[] = {0};
  float weights[] = {1, 0, -1, 0, 0, 0, 0.5F, 0.5F, 0};
  r4_net *n = net_of("dense 2, relu, dense 1", R4_SHAPE(2));
  struct brancher *b = brancher_new(n, weights, 1, &e);
  struct branch_question q = {.functionals = 1, .coef = coef, .rest = rest};
  struct branch_result r;
  struct branch_options o = {.seconds = 0.3, .equal = true, .starts = 6};
  if (brancher_run(b, lo, hi, 1, &q, &o, point, &r, &e)) fail_msg("%s", e.text);
  assert_int_equal(r.is, BRANCH_REFUTED);
  o.equal = false;
  if (brancher_run(b, lo, hi, 1, &q, &o, point, &r, &e)) fail_msg("%s", e.text);
  assert_int_equal(r.is, BRANCH_OPEN);
  brancher_free(b);
  r4_net_free(n);
}

static struct branch_result solve_with(const r4_net *n, const float *weights, const struct branch_question *q,
                                       const double *lo, const double *hi)
{
  r4_error e = {0};
  double point[FEATURES];
  struct branch_result r;
  struct brancher *b = brancher_new(n, weights, q->functionals, &e);
  if (brancher_run(b, lo, hi, 1, q, &(struct branch_options){.seconds = 0.3}, point, &r, &e)) fail_msg("%s", e.text);
  brancher_free(b);
  return r;
}

/* y = x of x in [0.5, 1], times a factor that is only known to be between two: what is proved holds for all of them. */
static void test_factor_between(void **state)
{
  (void)state;
  r4_error e = {0};
  double point[FEATURES], lo[] = {0.5, 0}, hi[] = {1, 0}, coef[] = {-1}, spread[] = {0.25}, rest[] = {0.9};
  float weights[] = {1, 0, 0, 1, 0, 0, 1, 0, 0};
  r4_net *n = net_of("dense 2, relu, dense 1", R4_SHAPE(2));
  struct brancher *b = brancher_new(n, weights, 1, &e);
  struct branch_question q = {.functionals = 1, .coef = coef, .spread = spread, .rest = rest};
  struct branch_result r;
  struct branch_options o = {.seconds = 0.3};
  if (brancher_run(b, lo, hi, 1, &q, &o, point, &r, &e)) fail_msg("%s", e.text);
  assert_int_equal(r.is, BRANCH_REFUTED); /* -x + 0.9 */
  rest[0] = 1.1;
  if (brancher_run(b, lo, hi, 1, &q, &o, point, &r, &e)) fail_msg("%s", e.text);
  assert_true(r.is == BRANCH_PROVED && r.least > 0.099 && r.least < 0.1);
  coef[0] = 1, rest[0] = -0.6, spread[0] = 0.5; /* x - 0.6 .. 1.5 x - 0.6 */
  if (brancher_run(b, lo, hi, 1, &q, &o, point, &r, &e)) fail_msg("%s", e.text);
  assert_int_equal(r.is, BRANCH_REFUTED);
  weights[8] = -2, coef[0] = 1, rest[0] = 2; /* y is x - 2, and 1.5 y + 2 below 0 at x = 0.5 */
  r = solve_with(n, weights, &q, lo, hi);
  assert_true(r.is == BRANCH_OPEN);
  spread[0] = 0.01; /* 1.01 y + 2 is at least 0.485; terms have a factor each, so that a little is lost */
  r = solve_with(n, weights, &q, lo, hi);
  assert_true(r.is == BRANCH_PROVED && r.least > 0.475 && r.least < 0.485);
  brancher_free(b);
  r4_net_free(n);
}

/* Sub-domains that would need more memory than they may have leave it open. */
static void test_bytes(void **state)
{
  (void)state;
  r4_error e = {0};
  struct problem p;
  double point[FEATURES];
  enum { MANY = 16 };
  struct branch_result r = {.cuts = 0};
  draw_start(736, 0);
  for (int round = 0; round < 200 && r.cuts < MANY; round++) {
    draw_problem(&p, 1);
    double rest = p.q.rest[0] + 0.01 - exact_least(&p.tiny, p.lo, p.hi, &p.q);
    struct branch_question q = {.functionals = 1, .coef = p.q.coef, .rest = &rest};
    struct branch_options o = {.seconds = 60};
    struct brancher *b = brancher_new(p.net, p.weights, 1, &e);
    if (brancher_run(b, p.lo, p.hi, 1, &q, &o, point, &r, &e)) fail_msg("%s", e.text);
    assert_int_equal(r.is, BRANCH_PROVED);
    if (r.cuts >= MANY) {
      o.bytes = 2 * MANY * sizeof(struct domain); /* of those that wait, not of all that ever did */
      if (brancher_run(b, p.lo, p.hi, 1, &q, &o, point, &r, &e)) fail_msg("%s", e.text);
      assert_int_equal(r.is, BRANCH_PROVED);
      o.bytes = 1;
      if (brancher_run(b, p.lo, p.hi, 1, &q, &o, point, &r, &e)) fail_msg("%s", e.text);
      assert_true(r.is == BRANCH_OPEN && !r.cuts);
      r.cuts = MANY;
    }
    brancher_free(b);
    free_problem(&p);
  }
  assert_int_equal(r.cuts, MANY);
}

/* ---- Relaxations: every slope and every multiplier is valid ---- */

static void test_any_numbers(void **state)
{
  (void)state;
  r4_error e = {0};
  draw_start(734, 0);
  for (int round = 0; round < 40; round++) {
    struct problem p;
    struct relaxed_units units;
    double *least, *most, *exact;
    draw_problem(&p, 1);
    exact = calloc(p.net->size, sizeof *exact);
    for (size_t k = 0; k < p.net->size; k++) exact[k] = (double)p.weights[k];
    struct weighted w = {p.net, p.weights, exact};
    if (relaxed_ends(&w, p.lo, p.hi, &units, &least, &most, &e)) fail_msg("%s", e.text);
    struct relaxed *r = relaxed_new(&w, &units, RELAXED_LOGITS, 8, &e);
    if (!r) fail_msg("%s", e.text);
    const double *proved;
    struct question drawn[8];
    for (size_t row = 0; row < 8; row++) {
      drawn[row] = p.q;
      for (size_t k = 0; k < 3 && row % 2; k++) {
        r->spread[row * 3 + k] = draw_below(2) ? draw(0, 0.3) : 0;
        drawn[row].coef[k] += draw(0, 1) * r->spread[row * 3 + k];
      }
      memcpy(r->lo + row * FEATURES, p.lo, sizeof p.lo), memcpy(r->hi + row * FEATURES, p.hi, sizeof p.hi);
      memcpy(r->functional + row * 3, p.q.coef, 3 * sizeof(double));
      for (size_t k = 0; k < r->relus; k++)
        for (size_t i = 0; i < r->relu[k].n; i++) {
          struct relaxed_relu *u = &r->relu[k];
          size_t at = row * u->n + i;
          u->least[at] = least[u->unit + i], u->most[at] = most[u->unit + i];
          u->slope[at] = (float)draw(-2, 2), u->multiplier[at] = (float)draw(-2, 2);
        }
    }
    if (relaxed_begin(r, &e) || relaxed_prove(r, &proved, &e)) fail_msg("%s", e.text);
    for (size_t row = 0; row < 8; row++) {
      double true_least = exact_least(&p.tiny, p.lo, p.hi, &drawn[row]) - p.q.rest[0];
      if (!(proved[row] <= true_least + 1e-12)) fail_msg("proved %.17g, least %.17g", proved[row], true_least);
      assert_true(row % 2 || fabs((double)r->value[row] - proved[row]) < 1e-3 * (1 + fabs(proved[row])));
    }
    relaxed_free(r);
    r4_mem_free(least);
    free(exact);
    free_problem(&p);
  }
}

/* ---- Examples ---- */

/* z = (x_0, 0.2, x_1) at (0.1, 0.1), and x_1 moves: the class after its own overtakes it, the one before does not. */
static void test_each_other_class(void **state)
{
  (void)state;
  r4_error e = {0};
  const float x[] = {0.1F, 0.1F}, mask[] = {0, 1}, weights[] = {1, 0, 0, 0, 0, 1, 0, 0.2F, 0};
  r4_data *d = r4_data_new(&(r4_data_arrays){.n = 1, .shape = {1, {2}}, .floats = x, .labels = (int32_t[]){1},
                                             .classes = 3, .mask_floats = mask, .mask_means = R4_MASKS_IRRELEVANT},
                           &e);
  if (!d) fail_msg("%s", e.text);
  r4_net *n = net_of("dense 3", R4_SHAPE(2));
  r4_certify_options o = {.eps = "0.5", .seconds = 1};
  r4_certified is = {.label = 1, .predicted = 1};
  if (r4_branch_box(n, weights, d, &o, &is, &e)) fail_msg("%s", e.text);
  assert_true(!is.holds && is.broken && !is.by);
  o.eps = "0.05", is = (r4_certified){.label = 1, .predicted = 1};
  if (r4_branch_box(n, weights, d, &o, &is, &e)) fail_msg("%s", e.text);
  assert_true(is.holds && !is.broken && is.by == R4_PROVED_BRANCHING && is.margin > 0.0499 && is.margin < 0.05);
  is = (r4_certified){.label = 0, .predicted = 1};
  if (r4_branch_box(n, weights, d, &o, &is, &e)) fail_msg("%s", e.text);
  assert_true(!is.holds && !is.by);
  r4_net_free(n);
  r4_data_free(d);
}

/* ---- Bad input ---- */

static void test_refused(void **state)
{
  (void)state;
  r4_error e = {0};
  double point[2], lo[] = {0, 1}, hi[] = {1, 0}, coef[2] = {1, -1}, rest[] = {0};
  float weights[9] = {0};
  r4_net *n = net_of("dense 2, relu, dense 1", R4_SHAPE(2));
  struct brancher *b = brancher_new(n, weights, 1, &e);
  struct branch_question q = {.functionals = 1, .coef = coef, .rest = rest};
  struct branch_options o = {.seconds = 1};
  struct branch_result r;
  assert_int_equal(brancher_run(b, lo, hi, 1, &q, &o, point, &r, &e), R4_E_ARGUMENT);
  assert_error(&e, R4_E_ARGUMENT, "feature 1 is between 1 and 0, expected finite numbers, the lower one first");
  hi[1] = INFINITY;
  assert_int_equal(brancher_run(b, lo, hi, 1, &q, &o, point, &r, &e), R4_E_ARGUMENT);
  hi[1] = 1;
  q.functionals = 2;
  assert_int_equal(brancher_run(b, lo, hi, 1, &q, &o, point, &r, &e), R4_E_ARGUMENT);
  assert_error(&e, R4_E_ARGUMENT, "question 0 has 2 functionals, expected 1 to 1");
  brancher_free(b);
  b = brancher_new(n, weights, 99, &e);
  assert_int_equal(brancher_run(b, lo, hi, 1, &q, &o, point, &r, &e), R4_E_ARGUMENT);
  assert_error(&e, R4_E_ARGUMENT, "99 constraints are to hold at once, expected 1 to 16");
  brancher_free(b);
  r4_net_free(n);
}

/* Each allocation fails in turn. */
static void test_memory(void **state)
{
  (void)state;
  r4_error e = {0};
  struct problem p;
  double point[FEATURES];
  draw_start(735, 0);
  draw_problem(&p, 1);
  struct branch_question q = {.functionals = 1, .coef = p.q.coef, .rest = p.q.rest};
  struct branch_options o = {.seconds = 60, .starts = 2};
  struct branch_result r;
  r4_status s = R4_E_MEMORY;
  for (long k = 1; s == R4_E_MEMORY; k += k < 40 ? 1 : 37) {
    r4_mem_fail_at(k);
    struct brancher *b = brancher_new(p.net, p.weights, 1, &e);
    s = b ? brancher_run(b, p.lo, p.hi, 1, &q, &o, point, &r, &e) : e.status;
    r4_mem_fail_at(0);
    brancher_free(b);
    assert_true(s == R4_OK || s == R4_E_MEMORY);
  }
  free_problem(&p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_kink),        cmocka_unit_test(test_equal),   cmocka_unit_test(test_enumerated),
    cmocka_unit_test(test_factor_between), cmocka_unit_test(test_bytes),
    cmocka_unit_test(test_each_other_class),
    cmocka_unit_test(test_any_numbers), cmocka_unit_test(test_refused), cmocka_unit_test(test_memory),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("branch", tests, NULL, NULL);
}
