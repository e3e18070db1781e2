/* Branch and bound (certify/brancher.h) of nets of all parts that have linear rules, against points: corners, points
 * inside, and steps around the lowest one. What is asked is false at the lowest point by a little, and must never be
 * proved; or true there by more, which a proof may be of; a point that refutes is below 0 where the net itself runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "certify/brancher.h"
#include "net_case.h"

enum { POINTS = 256, ROUNDS = 5, MOST = 64 };

static const struct {
  const char *text;
  r4_shape in;
} nets[] = {
  {"dense 5, relu, dense 1", R4_SHAPE(3)},
  {"dense 6, relu, dense 5, sigmoid, dense 3", R4_SHAPE(3)},
  {"dense 6, tanh, dense 4, relu, dense 2", R4_SHAPE(2)},
  {"residual(dense 4, relu), dense 5, relu, dense 2", R4_SHAPE(4)},
  {"dense 4, relu, residual(dense 4, relu; dense 4), relu, dense 2", R4_SHAPE(2)},
  {"normalize mean 0.5 std 0.25, dense 6, relu, shift, relu, dense 2", R4_SHAPE(3)},
  {"dense 8, batchnorm eps 0.001, relu, dense 2", R4_SHAPE(2)},
  {"dense 6, relu6, dense 4, relu, dense 2", R4_SHAPE(2)},
  {"conv 3 3 p1, relu, maxpool 2, flatten, dense 3", R4_SHAPE(4, 4, 2)},
  {"conv 2 3 p1, relu6, avgpool 2, flatten, dense 2", R4_SHAPE(4, 4, 1)},
  {"conv 3 3, relu, conv 2 1, sigmoid, globalpool, dense 3", R4_SHAPE(4, 4, 1)},
  {"conv 4 2 s2 g2, relu, maxpool 2 s1, flatten, shift, relu, dense 2", R4_SHAPE(6, 6, 2)},
};

struct problem {
  r4_net *net;
  size_t features, classes, functionals;
  float *weights;
  double *exact, lo[MOST * 2], hi[MOST * 2], coef[2 * 3], rest[2];
  double x[POINTS][MOST * 2], z[POINTS * 3];
  r4_plan *plan;
  r4_graph *g;
};

static void compile(struct problem *p)
{
  r4_error e = {0};
  r4_id param[40];
  r4_shape in = r4_net_input(p->net), shape = {.rank = in.rank + 1, .dim = {POINTS}};
  memcpy(shape.dim + 1, in.dim, (size_t)in.rank * sizeof *in.dim);
  assert_true(r4_net_params(p->net) < 40);
  p->g = r4_graph_new();
  r4_net_inputs(p->net, p->g, param);
  r4_id z = r4_net_apply(p->net, p->g, param, r4_input(p->g, "x", shape));
  p->plan = r4_plan_new(p->g, 1, &z, &(r4_plan_options){.type = R4_F64}, &e);
  if (!p->plan) fail_msg("%s", e.text);
  for (size_t k = 0; k < r4_net_params(p->net); k++) {
    const double *w = p->exact + r4_net_param_offset(p->net, k);
    assert_int_equal(r4_plan_input(p->plan, r4_net_param_name(p->net, k), w, &e), R4_OK);
  }
  assert_int_equal(r4_plan_output(p->plan, 0, p->z, &e), R4_OK);
}

static void draw_problem(struct problem *p, size_t which, size_t functionals)
{
  p->net = net_of(nets[which].text, nets[which].in);
  p->features = (size_t)r4_shape_count(nets[which].in);
  p->classes = (size_t)r4_net_classes(p->net);
  p->functionals = functionals;
  assert_true(p->features <= MOST * 2 && p->classes <= 3);
  p->exact = calloc(p->net->size, sizeof *p->exact);
  p->weights = calloc(p->net->size, sizeof *p->weights);
  for (size_t k = 0; k < p->net->params; k++) draw_param(&p->net->param[k], p->exact + p->net->param[k].offset);
  for (size_t k = 0; k < p->net->size; k++) p->weights[k] = (float)p->exact[k], p->exact[k] = (double)p->weights[k];
  for (size_t i = 0; i < p->features; i++) p->lo[i] = draw(-1, 0.5), p->hi[i] = p->lo[i] + (i < 3 ? draw(0, 1) : 0);
  for (size_t k = 0; k < 3 * functionals; k++) p->coef[k] = draw(-1, 1);
  for (size_t k = 0; k < functionals; k++) p->rest[k] = draw(-0.3, 0.3);
  compile(p);
}

static void free_problem(struct problem *p)
{
  r4_plan_free(p->plan);
  r4_graph_free(p->g);
  r4_net_free(p->net);
  free(p->exact);
  free(p->weights);
}

/* J at all points; the number of the lowest. */
static size_t run(struct problem *p, double *least)
{
  r4_error e = {0};
  double *all = calloc(POINTS * p->features, sizeof *all);
  size_t best = 0;
  for (size_t k = 0; k < POINTS; k++) memcpy(all + k * p->features, p->x[k], p->features * sizeof *all);
  if (r4_plan_input(p->plan, "x", all, &e) || r4_plan_run(p->plan, &e)) fail_msg("%s", e.text);
  *least = INFINITY;
  for (size_t k = 0; k < POINTS; k++) {
    double most = -INFINITY;
    for (size_t f = 0; f < p->functionals; f++) {
      double sum = p->rest[f];
      for (size_t j = 0; j < p->classes; j++) sum += p->coef[f * p->classes + j] * p->z[k * p->classes + j];
      most = fmax(most, sum);
    }
    if (most < *least) *least = most, best = k;
  }
  free(all);
  return best;
}

static void draw_point(const struct problem *p, double *x, const double *around, double size)
{
  for (size_t i = 0; i < p->features; i++) {
    double width = p->hi[i] - p->lo[i];
    if (around)
      x[i] = fmin(fmax(around[i] + (draw_below(2) ? draw(-size, size) * width : 0), p->lo[i]), p->hi[i]);
    else
      x[i] = draw_below(2) ? (draw_below(2) ? p->lo[i] : p->hi[i]) : p->lo[i] + draw(0, 1) * width;
  }
}

static double lowest(struct problem *p)
{
  double least, best[MOST * 2];
  for (size_t k = 0; k < POINTS; k++) draw_point(p, p->x[k], NULL, 0);
  for (int round = 0; round < 12; round++) {
    size_t at = run(p, &least);
    memcpy(best, p->x[at], sizeof best);
    memcpy(p->x[0], best, sizeof best);
    for (size_t k = 1; k < POINTS; k++) draw_point(p, p->x[k], best, ldexp(1, -round));
  }
  run(p, &least);
  return least;
}

static struct branch_result solve(struct problem *p, struct brancher *b, double moved, size_t starts, double *point)
{
  struct branch_result r;
  r4_error e = {0};
  double rest[2] = {p->rest[0] + moved, p->rest[1] + moved};
  struct branch_question q = {.functionals = p->functionals, .coef = p->coef, .rest = rest};
  struct branch_options o = {.seconds = 0.3, .starts = starts};
  if (brancher_run(b, p->lo, p->hi, 1, &q, &o, point, &r, &e)) fail_msg("%s", e.text);
  return r;
}

static void test_nets(void **state)
{
  (void)state;
  r4_error e = {0};
  size_t proved = 0, refuted = 0;
  struct problem *p = calloc(1, sizeof *p);
  double point[MOST * 2];
  draw_start(741, 0);
  for (size_t k = 0; k < ROUNDS * sizeof nets / sizeof *nets; k++) {
    draw_problem(p, k / ROUNDS, 1 + k % 2);
    double least = lowest(p), there;
    struct brancher *b = brancher_new(p->net, p->weights, p->functionals, &e);
    struct branch_result r = solve(p, b, -least - 1e-5, k % 3, point);
    if (r.is == BRANCH_PROVED) fail_msg("%s: proved that it is above a point", nets[k / ROUNDS].text);
    if (r.is == BRANCH_REFUTED) {
      for (size_t i = 0; i < POINTS; i++) memcpy(p->x[i], point, p->features * sizeof *point);
      for (size_t i = 0; i < p->features; i++) assert_true(point[i] >= p->lo[i] && point[i] <= p->hi[i]);
      run(p, &there);
      assert_true(there - least - 1e-5 < 1e-12 && fabs(there - least - 1e-5 - r.value) < 1e-9);
      refuted++;
    }
    r = solve(p, b, -least + 0.1, 1, point);
    if (r.is == BRANCH_PROVED && !(r.least <= 0.1)) fail_msg("%s: proved %.17g of 0.1", nets[k / ROUNDS].text, r.least);
    proved += r.is == BRANCH_PROVED;
    brancher_free(b);
    free_problem(p);
  }
  print_message("# %zu proved, %zu refuted\n", proved, refuted);
  assert_true(proved > 30 && refuted > 30);
  free(p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_nets)};
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("branch_nets", tests, NULL, NULL);
}
