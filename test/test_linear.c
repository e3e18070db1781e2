/* Linear bounds (r4_bound_by): exact cases by hand; random networks, where bounds of values and of gradients contain
 * random points and corners, best is never wider than intervals, a box that is a point gives the value, and the
 * derivative of bounds is that of differences. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"
#include "random_net.h"

enum { ROUNDS = 150, POINTS = 12, WAYS = 4, ENDS = 4 };

/* ---- By hand ---- */

static r4_id vector(r4_graph *g, const double *v, int64_t n)
{
  return r4_reshape(g, graph_vector(g, n, v), R4_SHAPE(1, n));
}

/* Ends of y [1, n] over x in lo .. hi. */
static void bound_of(r4_graph *g, r4_id y, r4_id x, r4_id lo, r4_id hi, r4_bound_options o, double *ends)
{
  const char *message;
  r4_box box = r4_box_between(x, lo, hi);
  r4_pair p = r4_bound_by(g, y, 1, &box, &o);
  if (r4_graph_status(g, &message)) fail_msg("%s", message);
  struct runner *r = runner_new(g, 2, (r4_id[]){p.lo, p.hi}, FAST64);
  runner_run(r);
  for (size_t k = 0; k < 2; k++) memcpy(ends + k * r->out_count[0], r->out[k], r->out_count[0] * sizeof *ends);
  runner_free(r);
}

static const r4_bound_options LINEAR = {.method = R4_BOUND_LINEAR},
                              INTERVALS = {.method = R4_BOUND_INTERVALS};

/* x - x is 0, and (x + y) - (x - y) = 2 y: intervals do not see it. */
static void test_cancel(void **state)
{
  (void)state;
  double e[4];
  r4_graph *g = r4_graph_new();
  r4_id x = r4_input(g, "x", R4_SHAPE(1, 2)), lo = vector(g, (double[]){-1, 2}, 2), hi = vector(g, (double[]){3, 5}, 2);
  r4_id w = r4_const(g, 1, R4_SHAPE(2, 1)), sum = r4_matmul(g, x, w, false, false);
  r4_id zero = r4_sub(g, r4_matmul(g, r4_relu(g, r4_add(g, x, r4_const(g, 7, R4_SHAPE(1, 2)))), w, false, false), sum);
  bound_of(g, zero, x, lo, hi, LINEAR, e);
  assert_true(e[0] == 14 && e[1] == 14);
  bound_of(g, zero, x, lo, hi, INTERVALS, e);
  assert_true(e[0] == 14 - 7 && e[1] == 14 + 7);
  r4_graph_free(g);
}

/* relu on [-1, 3]: below x (u > -l), above the chord 3/4 (x + 1). relu(x) - x / 2 is then in [-1/2, 3/2]: below x / 2
 * at -1, above x / 4 + 3/4 at 3. On [-3, 1] it is at least 0 - x / 2, -1/2, and at most (x + 3) / 4 - x / 2, 3/2. */
static void test_relu(void **state)
{
  (void)state;
  double e[4];
  r4_graph *g = r4_graph_new();
  r4_id x = r4_input(g, "x", R4_SHAPE(1, 2)), y = r4_sub(g, r4_relu(g, x), r4_scale(g, x, .5));
  bound_of(g, y, x, vector(g, (double[]){-1, -3}, 2), vector(g, (double[]){3, 1}, 2), LINEAR, e);
  assert_close("relu(x) - x/2", e, (double[]){-.5, -.5, 1.5, 1.5}, 4, 1e-15, 0);
  r4_graph_free(g);
}

/* step on [-1, 3]: at least x / 3 (u > -l), at most 1. 3 step(x) - x is at least 0 and at most 4; intervals: -3, 4. */
static void test_step(void **state)
{
  (void)state;
  double e[4];
  r4_graph *g = r4_graph_new();
  r4_id x = r4_input(g, "x", R4_SHAPE(1, 2)), y = r4_sub(g, r4_scale(g, r4_step(g, x), 3), x);
  bound_of(g, y, x, vector(g, (double[]){-1, -3}, 2), vector(g, (double[]){3, 1}, 2), LINEAR, e);
  assert_close("3 step(x) - x", e, (double[]){0, -1, 4, 6 - 2}, 3, 1e-15, 0);
  r4_graph_free(g);
}

/* sign on [-1, 3]: at least 2/3 x - 1, from (0, -1) to (3, 1), at most 1; on [-3, 1] at least -1, at most 2/3 x + 1.
 * sign(x) - 2/3 x is then in [-1, 5/3] and in [-5/3, 1]. */
static void test_sign(void **state)
{
  (void)state;
  double e[4];
  r4_graph *g = r4_graph_new();
  r4_id x = r4_input(g, "x", R4_SHAPE(1, 2)), y = r4_sub(g, r4_sign(g, x), r4_scale(g, x, 2. / 3));
  bound_of(g, y, x, vector(g, (double[]){-1, -3}, 2), vector(g, (double[]){3, 1}, 2), LINEAR, e);
  assert_close("sign(x) - 2/3 x", e, (double[]){-1, -5. / 3, 5. / 3, 1}, 4, 1e-15, 0);
  r4_graph_free(g);
}

/* t s over [-1, 2] x [0, 1]: the end of t nearest to 0 is -1. t s >= 0 t - s and <= t - s + 1, so that t s - t is at
 * least -s - t, -3, and at most 1 - s, 1. */
static void test_product(void **state)
{
  (void)state;
  double e[2];
  r4_graph *g = r4_graph_new();
  r4_id x = r4_input(g, "x", R4_SHAPE(1, 2));
  const int64_t one[2] = {1, 1}, at[2][2] = {{0, 0}, {0, 1}};
  r4_id t = r4_slice(g, x, at[0], one, NULL), s = r4_slice(g, x, at[1], one, NULL), y = r4_sub(g, r4_mul(g, t, s), t);
  bound_of(g, y, x, vector(g, (double[]){-1, 0}, 2), vector(g, (double[]){2, 1}, 2), LINEAR, e);
  assert_close("t s - t", e, (double[]){-3, 1}, 2, 1e-15, 0);
  r4_graph_free(g);
}

/* Two layers: h = relu(x1 + x2), relu(x1 - x2); y = relu(h1 + h2 - 1) - relu(h1 + h2), x in [0, 1] x [0, 1/2]. Second
 * layers are walked back from, unless intervals are asked for inside: then ends are wider, and so are bounds. */
static void test_inner(void **state)
{
  (void)state;
  double full[2], inner[2], interval[2];
  r4_graph *g = r4_graph_new();
  r4_id x = r4_input(g, "x", R4_SHAPE(1, 2)), lo = vector(g, (double[]){0, 0}, 2), hi = vector(g, (double[]){1, .5}, 2);
  r4_id w = r4_reshape(g, vector(g, (double[]){1, 1, 1, -1}, 4), R4_SHAPE(2, 2));
  r4_id h = r4_relu(g, r4_matmul(g, x, w, false, false)), z = r4_matmul(g, h, w, false, false);
  r4_id y = r4_sum(g, r4_relu(g, r4_sub(g, z, r4_const(g, .75, R4_SHAPE(1, 2)))), R4_AXIS(1));
  y = r4_reshape(g, y, R4_SHAPE(1, 1));
  bound_of(g, y, x, lo, hi, LINEAR, full);
  bound_of(g, y, x, lo, hi, (r4_bound_options){.method = R4_BOUND_LINEAR, .inner_intervals = true}, inner);
  bound_of(g, y, x, lo, hi, INTERVALS, interval);
  assert_true(full[0] <= 0 && full[1] >= 1.25); /* at x = (1, 0): z = 2, 0 */
  assert_true(full[1] < inner[1] && inner[1] < interval[1]);
  r4_graph_free(g);
}

/* Rows do not mix with others; where they do, and for a scalar, the interval is taken. */
static void test_rows(void **state)
{
  (void)state;
  double linear[2], interval[2];
  r4_graph *g = r4_graph_new();
  r4_id x = r4_input(g, "x", R4_SHAPE(1, 2)), lo = vector(g, (double[]){-1, 2}, 2), hi = vector(g, (double[]){3, 5}, 2);
  r4_id y = r4_sum(g, r4_sub(g, r4_relu(g, x), x), R4_ALL);
  bound_of(g, y, x, lo, hi, LINEAR, linear);
  bound_of(g, y, x, lo, hi, INTERVALS, interval);
  assert_true(linear[0] == interval[0] && linear[1] == interval[1]);
  r4_graph_free(g);
}

/* Rows of the transpose of x are its columns: each depends on all rows of x. */
static void test_transposed(void **state)
{
  (void)state;
  double e[8];
  r4_graph *g = r4_graph_new();
  r4_shape shape = R4_SHAPE(2, 2);
  r4_id x = r4_input(g, "x", shape), lo = r4_reshape(g, vector(g, (double[]){0, 10, 20, 30}, 4), shape),
        hi = r4_reshape(g, vector(g, (double[]){1, 11, 21, 31}, 4), shape),
        w = r4_reshape(g, vector(g, (double[]){1, 0, 0, 1}, 4), shape);
  bound_of(g, r4_matmul(g, x, w, true, false), x, lo, hi, LINEAR, e);
  assert_close("transposed", e, (double[]){0, 20, 10, 30, 1, 21, 11, 31}, 8, 1e-14, 0);
  r4_graph_free(g);
}

/* Windows that overlap may have different largest places: of (2..3, 1..2.5, 0..0.5) the first is not sure to be x_1,
 * though x_2 with its lower end, which the second window takes out, is below it. */
static void test_overlapping(void **state)
{
  (void)state;
  double e[2];
  r4_graph *g = r4_graph_new();
  r4_shape shape = R4_SHAPE(1, 1, 3, 1);
  r4_id x = r4_input(g, "x", shape), lo = r4_reshape(g, vector(g, (double[]){2, 1, 0}, 3), shape),
        hi = r4_reshape(g, vector(g, (double[]){3, 2.5, .5}, 3), shape);
  const int64_t at[4] = {0}, one[4] = {1, 1, 1, 1};
  r4_id largest = r4_pool_max(g, x, (const int64_t[2]){1, 2}, r4_window_of(1, 0));
  r4_id y = r4_sub(g, r4_slice(g, largest, at, one, NULL), r4_slice(g, x, at, one, NULL));
  bound_of(g, r4_reshape(g, y, R4_SHAPE(1, 1)), x, lo, hi, LINEAR, e);
  assert_true(e[0] <= 0 && e[1] >= .5); /* at (2, 2.5, 0) */
  r4_graph_free(g);
}

/* f(x) - s x is within its bounds at many points of [l, u], for slopes s on both sides of those of f's lines: a line
 * that cuts f anywhere shows for some s. Intervals of all kinds: of one sign, with 0 inside and at an end, lopsided. */
static void lines_hold(const char *name, r4_id (*f)(r4_graph *, r4_id), double least)
{
  static const double ends[][2] = {{-1, 4}, {-4, 1},  {-.5, 3},  {-3, .5}, {-2, 2}, {.25, 3},
                                   {-3, -.25}, {0, 2}, {-2, 0}, {-.125, 5}, {-5, .125}, {1, 1}},
                      slopes[] = {-3, -1, -.5, -.25, -.1, 0, .1, .25, .5, 1, 3};
  enum { MANY = 200 };
  for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
    for (size_t i = 0; i < sizeof slopes / sizeof *slopes; i++) {
      double e[2], at[MANY + 1];
      if (ends[k][0] < least) continue;
      r4_graph *g = r4_graph_new();
      r4_id x = r4_input(g, "x", R4_SHAPE(1, 1)), y = r4_sub(g, f(g, x), r4_scale(g, x, slopes[i]));
      bound_of(g, y, x, vector(g, &ends[k][0], 1), vector(g, &ends[k][1], 1), LINEAR, e);
      for (int p = 0; p <= MANY; p++) at[p] = ends[k][0] + (ends[k][1] - ends[k][0]) * p / MANY;
      r4_id all = r4_reshape(g, graph_vector(g, MANY + 1, at), R4_SHAPE(MANY + 1, 1));
      r4_id value = r4_sub(g, f(g, all), r4_scale(g, all, slopes[i]));
      struct runner *r = runner_new(g, 1, &value, FAST64);
      runner_run(r);
      for (int p = 0; p <= MANY; p++)
        if (r->out[0][p] < e[0] - 1e-12 || r->out[0][p] > e[1] + 1e-12)
          fail_msg("%s(x) - %g x on [%g, %g]: %g at %g, not in [%g, %g]", name, slopes[i], ends[k][0], ends[k][1],
                   r->out[0][p], at[p], e[0], e[1]);
      runner_free(r);
      r4_graph_free(g);
    }
}

static void test_lines(void **state)
{
  (void)state;
  lines_hold("tanh", r4_tanh, -INFINITY);
  lines_hold("sigmoid", r4_sigmoid, -INFINITY);
  lines_hold("erf", r4_erf, -INFINITY);
  lines_hold("sign", r4_sign, -INFINITY);
  lines_hold("step", r4_step, -INFINITY);
  lines_hold("abs", r4_abs, -INFINITY);
  lines_hold("relu", r4_relu, -INFINITY);
  lines_hold("square", r4_square, -INFINITY);
  lines_hold("exp", r4_exp, -INFINITY);
  lines_hold("sqrt", r4_sqrt, 0);
  lines_hold("log", r4_log, .1);
}

/* ---- Random networks ---- */

static const r4_bound_options ways[WAYS] = {{.method = R4_BOUND_INTERVALS},
                                            {.method = R4_BOUND_LINEAR},
                                            {.method = R4_BOUND_LINEAR, .inner_intervals = true},
                                            {.method = R4_BOUND_BEST}};

struct question {
  struct random_net net;
  r4_id out[2 + ENDS * WAYS]; /* y, its slope by x; then by way: lo y, hi y, lo slope, hi slope */
};

static struct {
  size_t ends, tighter[WAYS];
  double width[WAYS];
} count;

static void ask(struct question *q)
{
  r4_graph *g = q->net.g;
  const char *message;
  q->out[0] = q->net.y;
  r4_grad(g, q->net.loss, 1, &q->net.x, &q->out[1]);
  r4_box box = r4_box_around(q->net.x, q->net.x, r4_input(g, "radius", r4_node_shape(g, q->net.x)));
  for (size_t k = 0; k < WAYS; k++) {
    r4_pair y = r4_bound_by(g, q->out[0], 1, &box, &ways[k]), d = r4_bound_by(g, q->out[1], 1, &box, &ways[k]);
    memcpy(q->out + 2 + ENDS * k, (r4_id[]){y.lo, y.hi, d.lo, d.hi}, ENDS * sizeof(r4_id));
  }
  if (r4_graph_status(g, &message)) fail_msg("%s: %s", q->net.story, message);
}

static void check_points(const struct question *q, const struct runner *want, struct runner *moved)
{
  const double *x = runner_input((struct runner *)(uintptr_t)want, "x");
  double *to = runner_input(moved, "x"), *radius = runner_input((struct runner *)(uintptr_t)want, "radius");
  for (int point = 0; point < POINTS; point++) {
    for (size_t i = 0; i < want->out_count[1]; i++)
      to[i] = x[i] + radius[i] * (point % 2 ? draw(-1, 1) : 2 * (double)draw_below(2) - 1);
    runner_run(moved);
    for (size_t way = 0; way < WAYS; way++)
      for (size_t part = 0; part < 2; part++) {
        double *const *e = want->out + 2 + ENDS * way + 2 * part;
        assert_inside(q->net.story, e[0], moved->out[part], e[1], moved->out_count[part], 1e-10);
      }
  }
}

static void check_order(const struct question *q, const struct runner *r)
{
  for (size_t way = 0; way < WAYS; way++)
    for (size_t part = 0; part < 2; part++) {
      double *const *a = r->out + 2 + 2 * part, *const *b = a + ENDS * way;
      size_t n = r->out_count[part];
      if (way == 3) assert_inside(q->net.story, a[0], b[0], a[1], n, 1e-12);
      if (way == 3) assert_inside(q->net.story, a[0], b[1], a[1], n, 1e-12);
      for (size_t i = 0; i < n; i++) {
        double width = a[1][i] - a[0][i], ratio = (b[1][i] - b[0][i]) / width;
        if (!(width > 1e-9) || !isfinite(ratio)) continue;
        count.ends += way == 0;
        count.tighter[way] += ratio < 1 - 1e-9;
        count.width[way] += fmin(ratio, 10);
      }
    }
}

static void check_net(uint32_t round)
{
  struct question q;
  memset(&q, 0, sizeof q);
  draw_start(2000, round);
  for (random_net_draw(&q.net, false); r4_shape_count(r4_node_shape(q.net.g, q.net.x)) > 60;
       random_net_draw(&q.net, false))
    r4_graph_free(q.net.g);
  check_now = q.net.story;
  ask(&q);
  struct runner *want = runner_new(q.net.g, 2 + ENDS * WAYS, q.out, FAST64);
  struct runner *moved = runner_new(q.net.g, 2, q.out, FAST64);
  struct runner *point = runner_new(q.net.g, 2 + ENDS * WAYS, q.out, FAST64);
  random_net_fill(&q.net, want, round % 3 ? .05 : .005);
  runner_run(want);
  runner_copy_inputs(moved, want);
  check_points(&q, want, moved);
  check_order(&q, want);
  runner_copy_inputs(point, want);
  memset(runner_input(point, "radius"), 0, want->out_count[1] * sizeof(double));
  runner_run(point);
  for (size_t k = 0; k < ENDS * WAYS; k++)
    assert_close("box of radius 0", point->out[2 + k], want->out[k % ENDS / 2], want->out_count[k % ENDS / 2], 1e-9,
                 1e-3);
  runner_free(want);
  runner_free(moved);
  runner_free(point);
  r4_graph_free(q.net.g);
  check_now = "";
}

static void test_nets(void **state)
{
  (void)state;
  long rounds = check_setting("R4_ROUNDS", ROUNDS);
  for (long k = 0; k < rounds; k++) check_net((uint32_t)k);
  for (size_t way = 1; way < WAYS; way++)
    print_message("# way %zu: of %zu ends %zu tighter than intervals, mean width %.3f of theirs\n", way, count.ends,
                  count.tighter[way], count.width[way] / (double)count.ends);
  assert_true(2 * count.tighter[3] > count.ends && count.tighter[1] > count.tighter[2]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_cancel),
    cmocka_unit_test(test_relu),
    cmocka_unit_test(test_step),
    cmocka_unit_test(test_sign),
    cmocka_unit_test(test_product),
    cmocka_unit_test(test_inner),
    cmocka_unit_test(test_rows),
    cmocka_unit_test(test_lines),
    cmocka_unit_test(test_overlapping),
    cmocka_unit_test(test_transposed),
    cmocka_unit_test(test_nets),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  check_seed();
  return cmocka_run_group_tests_name("linear bounds", tests, NULL, NULL);
}
