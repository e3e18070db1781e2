/* Boxes so wide, and weights so large, that bounds leave the range of numbers. Then they are infinite, or the run fails
 * with R4_E_DOMAIN: never not a number, and never short of what they bound. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "objective_case.h"
#include "op/op_rules.h"
#include "op_case.h"
#include "random_net.h"

enum { PARTS = 1 + SAMPLE_ARGS, ROUNDS = 60 };

static const r4_plan_options plans[] = {REFERENCE, FAST64, FAST32};
static struct {
  size_t infinite, finite, refused;
} seen;

/* No radius, one that the domain allows, or one that overflows at once or in a product. */
static double wild_radius(double allowed)
{
  static const double wild[] = {1e15, 1e30, 3e38, 1e300, INFINITY};
  uint64_t k = draw_below(10);
  return k < 2 ? 0 : k < 5 ? allowed : wild[k - 5];
}

/* lo <= x <= hi, up to "near", with lo and hi numbers. */
static void assert_bounds(const char *what, double lo, double x, double hi, double near)
{
  if (isnan(lo) || isnan(hi) || lo > x + near || hi < x - near)
    fail_msg("%s: %g is not within %g .. %g", what, x, lo, hi);
  *(isinf(lo) || isinf(hi) ? &seen.infinite : &seen.finite) += 1;
}

static bool ran(struct runner *r, const char *what)
{
  r4_error e;
  r4_status s = runner_try(r, &e);
  if (s && s != R4_E_DOMAIN) fail_msg("%s: %s", what, e.text);
  seen.refused += s != R4_OK;
  return !s;
}

/* ---- Each operation and its derivatives ---- */

static size_t build(const struct op_case *c, bool around, r4_graph *g, r4_id *part, r4_id *bounds)
{
  r4_id arg[SAMPLE_ARGS], x[SAMPLE_ARGS];
  r4_box box[SAMPLE_ARGS];
  size_t n = 0;
  part[0] = case_build(c, g, arg);
  for (size_t k = 0; k < c->n; k++) {
    if (is_index(c, k)) continue;
    r4_id p = r4_input(g, arg_name("p_", k), c->sample->in[k]);
    r4_id q = r4_input(g, arg_name("q_", k), c->sample->in[k]);
    box[n] = around ? r4_box_around(arg[k], p, q) : r4_box_between(arg[k], p, q);
    x[n++] = arg[k];
  }
  r4_grad(g, weighted_sum(g, part[0], "weight"), n, x, part + 1);
  for (size_t k = 0; k <= n; k++) {
    r4_pair pair = r4_bound(g, part[k], n, box);
    bounds[2 * k] = pair.lo;
    bounds[2 * k + 1] = pair.hi;
  }
  return n + 1;
}

/* Values for the arguments, and boxes around them, in both plans. */
static void fill(const struct op_case *c, bool around, struct runner *value, struct runner *bounds)
{
  draw_weights(runner_input(value, "weight"), value->out_count[0]);
  for (size_t k = 0; k < c->n; k++)
    case_values(c, k, runner_input(value, arg_name("", k)), (size_t)r4_shape_count(c->sample->in[k]));
  runner_copy_inputs(bounds, value);
  for (size_t k = 0; k < c->n; k++) {
    double *x = runner_input(value, arg_name("", k)), radius[1];
    double *p = runner_input(bounds, arg_name("p_", k)), *q = runner_input(bounds, arg_name("q_", k));
    size_t n = (size_t)r4_shape_count(c->sample->in[k]);
    for (size_t i = 0; i < n && !is_index(c, k); i++) {
      case_radii(c, k, x + i, 1, radius, 1);
      radius[0] = wild_radius(radius[0]);
      p[i] = around ? x[i] : x[i] - radius[0];
      q[i] = around ? radius[0] : x[i] + radius[0];
    }
  }
}

static void check_case(const struct op_case *c)
{
  for (int way = 0; way < 6; way++) {
    r4_graph *g = r4_graph_new();
    r4_id part[PARTS], pairs[2 * PARTS];
    size_t n = build(c, way % 2, g, part, pairs);
    struct runner *value = runner_new(g, n, part, REFERENCE),
                  *bounds = runner_new(g, 2 * n, pairs, plans[way / 2]);
    for (int round = 0; round < 4; round++) {
      fill(c, way % 2, value, bounds);
      runner_run(value);
      if (!ran(bounds, c->what)) continue;
      for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < value->out_count[k]; i++) {
          double x = value->out[k][i];
          assert_bounds(c->what, bounds->out[2 * k][i], x, bounds->out[2 * k + 1][i], 1e-4 * (1 + fabs(x)));
        }
    }
    runner_free(value);
    runner_free(bounds);
    r4_graph_free(g);
  }
}

static void operations(void **state)
{
  (void)state;
  memset(&seen, 0, sizeof seen);
  each_case(check_case);
  print_message("# %zu infinite bounds, %zu finite; %zu runs refused\n", seen.infinite, seen.finite,
                seen.refused);
  assert_true(seen.infinite > 1000 && seen.finite > 1000);
}

/* ---- Networks ---- */

/* Boxes that are infinite somewhere, or so wide that centre and radius lose the digits of the smaller end: all that can
 * be said then is that bounds are numbers. */
static void check_net(uint32_t round)
{
  bool infinite = round % 2;
  struct random_net n = {0};
  draw_start(2000, round);
  random_net_draw(&n, false);
  r4_id slope, out[6];
  r4_grad(n.g, n.loss, 1, &n.x, &slope);
  r4_box box = r4_box_around(n.x, n.x, r4_input(n.g, "radius", r4_node_shape(n.g, n.x)));
  r4_pair y = r4_bound(n.g, n.y, 1, &box), dx = r4_bound(n.g, slope, 1, &box);
  memcpy(out, (r4_id[]){n.y, slope, y.lo, y.hi, dx.lo, dx.hi}, sizeof out);
  struct runner *want = runner_new(n.g, 6, out, REFERENCE);
  random_net_fill(&n, want, .1);
  double *radius = runner_input(want, "radius");
  for (size_t i = 0; i < want->out_count[1]; i++)
    radius[i] = infinite && draw_below(8) == 0 ? INFINITY : infinite ? radius[i] : wild_radius(radius[i]);
  for (size_t k = 0; k < 3; k++) {
    struct runner *r = runner_new(n.g, 6, out, plans[k]);
    runner_copy_inputs(r, want);
    bool ok = ran(r, n.story);
    for (size_t j = 0; j < 2 && ok; j++)
      for (size_t i = 0; i < r->out_count[j]; i++) {
        double x = r->out[j][i];
        assert_bounds(n.story, r->out[2 + 2 * j][i], x, r->out[3 + 2 * j][i],
                      infinite ? 1e-3 * (1 + fabs(x)) : INFINITY);
      }
    runner_free(r);
  }
  runner_free(want);
  r4_graph_free(n.g);
}

static void networks(void **state)
{
  (void)state;
  memset(&seen, 0, sizeof seen);
  for (uint32_t k = 0; k < ROUNDS; k++) check_net(k);
  print_message("# %zu infinite bounds, %zu finite; %zu runs refused\n", seen.infinite, seen.finite,
                seen.refused);
  assert_true(seen.infinite > 100 && seen.finite > 100);
}

/* Bounds of relu and of its derivative, where the layer before has overflowed: the unit may be on. */
static void overflow_is_not_off(void **state)
{
  (void)state;
  for (size_t k = 0; k < 3; k++) {
    r4_graph *g = r4_graph_new();
    r4_id x = r4_input(g, "x", R4_SHAPE(1, 2)), w = r4_input(g, "w", R4_SHAPE(2, 1)), slope;
    r4_id z = r4_matmul(g, r4_mul(g, x, x), w, false, false);
    r4_grad(g,
            r4_sum(g, r4_relu(g, r4_matmul(g, z, r4_const(g, 1e-20, R4_SHAPE(1, 1)), false, false)), R4_ALL),
            1, &x, &slope);
    r4_box box = r4_box_around(x, x, r4_input(g, "radius", R4_SHAPE(1, 2)));
    r4_pair b = r4_bound(g, slope, 1, &box);
    struct runner *r = runner_new(g, 3, (r4_id[]){slope, b.lo, b.hi}, plans[k]);
    for (size_t i = 0; i < 2; i++) {
      runner_input(r, "x")[i] = 1;
      runner_input(r, "w")[i] = i ? 3e37 : -2e37;
      runner_input(r, "radius")[i] = plans[k].type == R4_F32 ? 1e15 : 1e150;
    }
    runner_run(r);
    for (size_t i = 0; i < 2; i++)
      assert_bounds("slope of relu", r->out[1][i], r->out[0][i], r->out[2][i], 0);
    assert_true(r->out[0][0] < 0 && r->out[0][1] > 0);
    runner_free(r);
    r4_graph_free(g);
  }
}

/* A comparison with what is not a number is none: neither "no" nor the other argument. */
static void no_comparison_hides_a_nan(void **state)
{
  (void)state;
  for (size_t k = 0; k < 3; k++) {
    r4_graph *g = r4_graph_new();
    r4_id a = r4_input(g, "a", R4_SHAPE(20)), b = r4_input(g, "b", R4_SHAPE(20));
    r4_id out[] = {r4_less(g, a, b), r4_equal(g, a, b), r4_select(g, a, b, r4_neg(g, b)), r4_step(g, a)};
    struct runner *r = runner_new(g, 4, out, plans[k]);
    for (size_t i = 0; i < 20; i++) {
      runner_input(r, "a")[i] = i % 2 ? NAN : 1;
      runner_input(r, "b")[i] = 2;
    }
    runner_run(r);
    for (size_t i = 0; i < 20; i++)
      for (size_t o = 0; o < 4; o++)
        if (isnan(r->out[o][i]) != (i % 2 == 1)) fail_msg("plan %zu, output %zu of %zu", k, o, i);
    runner_free(r);
    r4_graph_free(g);
  }
}

/* ---- Objectives ---- */

/* Penalties of huge weights are infinite, each for its example; one without a mask has none. */
static void penalties(void **state)
{
  (void)state;
  static const char *const layers[] = {"flatten, dense 12, relu, dense 8, relu, dense 3",
                                       "conv 3 2 p1, relu, maxpool 2 s1, flatten, dense 3"};
  for (size_t k = 0; k < 2; k++) {
    struct objective_case c = objective_case_new(layers[k], R4_SHAPE(3, 3, 2), "cert-r4");
    for (size_t i = 0; i < r4_net_size(c.net); i++) c.weights[i] *= 1e16;
    c.o.eps = 1;
    struct runner *r = objective_case_open(&c, FAST32);
    struct objective_numbers a = objective_case_go(&c, r);
    for (size_t i = 0; i < c.batch; i++) {
      if (isnan(a.each[i])) fail_msg("%s: the penalty of example %zu is not a number", layers[k], i);
      assert_true(i == 2 ? a.each[i] == 0 : isinf(a.each[i]));
    }
    runner_free(r);
    objective_case_free(&c);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(operations),
    cmocka_unit_test(networks),
    cmocka_unit_test(overflow_is_not_off),
    cmocka_unit_test(no_comparison_hides_a_nan),
    cmocka_unit_test(penalties),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  check_seed();
  return cmocka_run_group_tests_name("overflow", tests, NULL, NULL);
}
