/* Every operation of the table, by its own samples: values, fast kernels against the reference, first
 * and second derivatives against differences, the text form. Bounds: test_op_bounds.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "op/op_rules.h"
#include "op_case.h"

enum { ARGS = SAMPLE_ARGS, ELEMENTS = 12, DIRECTIONS = 2, MOST = 4096 };

/* ---- Values ---- */

static void check_given(const struct op_case *c)
{
  if (!c->sample->y) return;
  r4_id arg[ARGS];
  r4_graph *g = r4_graph_new();
  r4_id y = case_build(c, g, arg);
  struct runner *r = runner_new(g, 1, &y, REFERENCE);
  for (size_t k = 0; k < c->n; k++)
    for (size_t i = 0; i < r->in_count[k]; i++) runner_input(r, arg_name("", k))[i] = c->sample->x[k][i];
  runner_run(r);
  assert_close(c->what, r->out[0], c->sample->y, r->out_count[0], 1e-12, 0);
  runner_free(r);
  r4_graph_free(g);
}

static void test_given_values(void **state)
{
  (void)state;
  each_case(check_given);
}

/* At least one sample of every operation has its result written down. */
static void test_each_has_values(void **state)
{
  (void)state;
  for (size_t k = 0; k < op_count(); k++) {
    const struct op *op = op_by_index(k);
    bool given = op == &op_input;
    for (size_t j = 0; j < op->sample_count; j++) given |= op->samples[j].y != NULL;
    if (!given) fail_msg("%s has no sample with values", op->name);
  }
}

static void fill(const struct op_case *c, struct runner *r, bool ties)
{
  for (size_t k = 0; k < r->n_in; k++) {
    size_t argument = strlen(r->name[k]) == 1 ? (size_t)(r->name[k][0] - 'a') : c->n;
    if (argument < c->n)
      case_values(c, argument, r->in[k], r->in_count[k]);
    else
      draw_weights(r->in[k], r->in_count[k]);
    if (argument < c->n && ties) case_snap(c, argument, r->in[k], r->in_count[k]);
  }
}

/* The value, s = sum(value * weight), its derivatives by the arguments, t = sum of those times random
 * directions, and the derivatives of t. */
struct derived {
  r4_graph *g;
  r4_id arg[ARGS], out[3 + 2 * ARGS]; /* y, s, t, first[n], second[n] */
  size_t arg_of[ARGS], n, n_out;      /* the arguments that are not indices */
};

static struct derived derive(const struct op_case *c)
{
  struct derived d = {.g = r4_graph_new()};
  r4_id x[ARGS], y = case_build(c, d.g, d.arg);
  for (size_t k = 0; k < c->n; k++)
    if (movable(c) >> k & 1) {
      d.arg_of[d.n] = k;
      x[d.n++] = d.arg[k];
    }
  r4_id s = weighted_sum(d.g, y, "weight"), t = r4_const(d.g, 0, R4_SCALAR);
  r4_id *first = d.out + 3, *second = first + d.n;
  r4_grad(d.g, s, d.n, x, first);
  for (size_t j = 0; j < d.n; j++)
    t = r4_add(d.g, t, weighted_sum(d.g, first[j], arg_name("along_", d.arg_of[j])));
  r4_grad(d.g, t, d.n, x, second);
  d.out[0] = y;
  d.out[1] = s;
  d.out[2] = t;
  d.n_out = 3 + 2 * d.n;
  assert_graph(c->what, d.g, d.n_out, d.out);
  for (size_t j = 0; j < d.n; j++) {
    assert_true(r4_shape_equal(r4_node_shape(d.g, first[j]), r4_node_shape(d.g, x[j])));
    assert_true(r4_shape_equal(r4_node_shape(d.g, second[j]), r4_node_shape(d.g, x[j])));
  }
  return d;
}

static void check_fast_at(const struct op_case *c, bool ties)
{
  static const struct {
    const char *name;
    r4_type type;
    double tolerance;
  } fast[] = {{"float", R4_F32, 2e-5}, {"double", R4_F64, 1e-12}};
  struct derived d = derive(c);
  struct runner *want = runner_new(d.g, d.n_out, d.out, REFERENCE);
  fill(c, want, ties);
  runner_run(want);
  for (size_t j = 0; j < 2; j++) {
    struct runner *all = runner_new(d.g, d.n_out, d.out, (r4_plan_options){.type = fast[j].type});
    struct runner *one = runner_new(d.g, 1, d.out, (r4_plan_options){.type = fast[j].type});
    runner_copy_inputs(all, want);
    runner_copy_inputs(one, want);
    runner_run(all);
    runner_run(one);
    char what[160];
    snprintf(what, sizeof what, "%s, fast %s", c->what, fast[j].name);
    assert_close(what, one->out[0], want->out[0], want->out_count[0], fast[j].tolerance, .1);
    for (size_t k = 0; k < d.n_out; k++) {
      snprintf(what, sizeof what, "%s, fast %s, output %zu", c->what, fast[j].name, k);
      double floor = k == 0 ? .1 : k < 3 ? sqrt(MOST) : 1; /* s and t are sums that may cancel */
      assert_close(what, all->out[k], want->out[k], want->out_count[k], fast[j].tolerance, floor);
    }
    runner_free(all);
    runner_free(one);
  }
  runner_free(want);
  r4_graph_free(d.g);
}

static void check_fast(const struct op_case *c)
{
  check_fast_at(c, false);
  check_fast_at(c, true);
}

static void test_fast(void **state)
{
  (void)state;
  each_case(check_fast);
}

/* ---- Derivatives ---- */

/* out[1] and out[2] change along the direction v of argument x as their derivatives say. */
static void check_direction(const struct op_case *c, struct derived *d, struct runner *at,
                            struct runner *moved, size_t j, const double *v)
{
  const char *name = arg_name("", d->arg_of[j]);
  double *x = runner_input(moved, name);
  const double *from = runner_input(at, name);
  size_t n = at->out_count[3 + j];
  double h = 1e-6 * (1 + largest_abs(from, n) / 10), ends[2][2];
  for (int side = 0; side < 2; side++) {
    for (size_t i = 0; i < n; i++) x[i] = from[i] + (side ? h : -h) * v[i];
    runner_run(moved);
    for (int k = 0; k < 2; k++) ends[side][k] = moved->out[1 + k][0];
  }
  memcpy(x, from, n * sizeof *x);
  for (size_t k = 0; k < 2; k++) {
    const double *slope = at->out[3 + k * d->n + j];
    double sum = 0, size = 1, difference = (ends[1][k] - ends[0][k]) / (2 * h);
    for (size_t i = 0; i < n; i++) {
      sum += slope[i] * v[i];
      size += fabs(slope[i] * v[i]);
    }
    if (!(fabs(sum - difference) <= 1e-6 * size))
      fail_msg("%s: derivative %zu by argument %s is %.12g, by differences %.12g", c->what, k + 1, name, sum,
               difference);
  }
}

/* Along some random directions, which see every element, and along some single elements. */
static void check_argument(const struct op_case *c, struct derived *d, struct runner *at,
                           struct runner *moved, size_t j)
{
  static double v[MOST];
  size_t n = at->out_count[3 + j];
  assert_true(n <= MOST);
  for (int k = 0; k < DIRECTIONS; k++) {
    draw_weights(v, n);
    check_direction(c, d, at, moved, j, v);
  }
  for (int k = 0; k < ELEMENTS; k++) {
    memset(v, 0, n * sizeof *v);
    v[n <= ELEMENTS ? (size_t)k % n : draw_below(n)] = 1;
    check_direction(c, d, at, moved, j, v);
  }
}

static void check_derivatives(const struct op_case *c)
{
  struct derived d = derive(c);
  struct runner *at = runner_new(d.g, d.n_out, d.out, REFERENCE);
  struct runner *moved = runner_new(d.g, 3, d.out, REFERENCE);
  fill(c, at, false);
  runner_run(at);
  runner_copy_inputs(moved, at);
  bool detached = c->op == &op_detach; /* whose derivative is not that of its value */
  for (size_t j = 0; j < d.n && !detached; j++) check_argument(c, &d, at, moved, j);
  for (size_t j = 0; j < d.n && detached; j++)
    assert_true(largest_abs(at->out[3 + j], at->out_count[3 + j]) == 0);
  runner_free(at);
  runner_free(moved);
  r4_graph_free(d.g);
}

static void test_derivatives(void **state)
{
  (void)state;
  each_case(check_derivatives);
}

/* ---- Conventions: derivatives where there is more than one ---- */

/* The derivatives of the sum of op(a, b) by a and by b, at points given. */
static void test_conventions(void **state)
{
  (void)state;
  static const struct {
    const struct op *op;
    double a[4], b[4], da[4], db[4];
    int64_t axes;
  } cases[] = {
    {&op_relu, {0, 1, -1, 0}, {0}, {0, 1, 0, 0}, {0}, 0},
    {&op_abs, {0, 1, -1, 0}, {0}, {0, 1, -1, 0}, {0}, 0},
    {&op_sqrt, {0, 1, 4, 0}, {0}, {0, .5, .25, 0}, {0}, 0},
    {&op_max, {1, 2, 3, 0}, {1, 3, 2, 0}, {1, 0, 1, 1}, {0, 1, 0, 0}, 0},
    {&op_min, {1, 2, 3, 0}, {1, 3, 2, 0}, {1, 1, 0, 1}, {0, 0, 1, 0}, 0},
    {&op_reduce_max, {3, 1, 3, 2}, {0}, {.5, 0, .5, 0}, {0}, 1},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    r4_graph *g = r4_graph_new();
    r4_id x[2] = {r4_input(g, "a", R4_SHAPE(4)), r4_input(g, "b", R4_SHAPE(4))}, dx[2];
    struct attr attr = {.i = {cases[k].axes}};
    r4_id y = graph_add(g, cases[k].op, (size_t)cases[k].op->arity, x, &attr, NULL, NULL);
    r4_grad(g, r4_sum(g, y, R4_ALL), 2, x, dx);
    const r4_plan_options options[] = {REFERENCE, FAST64, FAST32};
    for (size_t j = 0; j < 3; j++) {
      struct runner *r = runner_new(g, 2, dx, options[j]);
      memcpy(runner_input(r, "a"), cases[k].a, sizeof cases[k].a);
      memcpy(runner_input(r, "b"), cases[k].b, sizeof cases[k].b);
      runner_run(r);
      assert_close(cases[k].op->name, r->out[0], cases[k].da, 4, 1e-6, 0);
      assert_close(cases[k].op->name, r->out[1], cases[k].db, 4, 1e-6, 0);
      runner_free(r);
    }
    r4_graph_free(g);
  }
}

/* ---- Indices ---- */

/* No derivative goes to an index, and a box of one is refused. */
static void check_index(const struct op_case *c)
{
  for (size_t k = 0; k < c->n; k++) {
    if (!is_index(c, k)) continue;
    r4_id arg[ARGS], slope;
    r4_graph *g = r4_graph_new();
    r4_id y = case_build(c, g, arg), s = r4_sum(g, y, R4_ALL);
    r4_grad(g, s, 1, &arg[k], &slope);
    assert_true(op_is_value(g, slope, 0));
    r4_box box = r4_box_around(arg[k], arg[k], r4_input(g, "radius", r4_node_shape(g, arg[k])));
    r4_bound(g, y, 1, &box);
    assert_int_equal(r4_graph_status(g, NULL), R4_E_RULE);
    r4_graph_free(g);
  }
}

static void test_indices(void **state)
{
  (void)state;
  each_case(check_index);
}

/* As many operands as there may be: each has its part of the derivative, and of the bounds. */
static void test_most_operands(void **state)
{
  (void)state;
  r4_graph *g = r4_graph_new();
  r4_id x[MAX_ARITY], out[MAX_ARITY + 2];
  r4_box box[MAX_ARITY];
  for (size_t k = 0; k < MAX_ARITY; k++) {
    x[k] = r4_scale(g, r4_input(g, "x", R4_SHAPE(1)), (double)k);
    box[k] = r4_box_around(x[k], x[k], r4_const(g, 1, R4_SHAPE(1)));
  }
  r4_id y = r4_concat(g, MAX_ARITY, x, 0);
  r4_grad(g, r4_sum(g, r4_mul(g, y, r4_iota(g, 0, R4_SHAPE(MAX_ARITY))), R4_ALL), MAX_ARITY, x, out);
  r4_pair pair = r4_bound(g, y, MAX_ARITY, box);
  out[MAX_ARITY] = pair.lo;
  out[MAX_ARITY + 1] = pair.hi;
  struct runner *r = runner_new(g, MAX_ARITY + 2, out, FAST32);
  *runner_input(r, "x") = 1;
  runner_run(r);
  for (size_t k = 0; k < MAX_ARITY; k++) {
    assert_true(r->out[k][0] == (double)k);
    assert_true(r->out[MAX_ARITY][k] == (double)k - 1 && r->out[MAX_ARITY + 1][k] == (double)k + 1);
  }
  runner_free(r);
  r4_graph_free(g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_given_values),  cmocka_unit_test(test_each_has_values),
    cmocka_unit_test(test_fast),          cmocka_unit_test(test_derivatives),
    cmocka_unit_test(test_conventions),   cmocka_unit_test(test_indices),
    cmocka_unit_test(test_most_operands),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  check_seed();
  return cmocka_run_group_tests_name("ops", tests, NULL, NULL);
}
