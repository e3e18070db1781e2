/* Bounds of every operation of the table and of its derivatives, over boxes of every set of its
 * arguments: nothing inside the box lies outside of the bounds, a box that is a point gives the value,
 * a smaller box gives bounds inside, and the derivative of bounds is that of differences. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op/op_rules.h"
#include "op_case.h"

enum { ARGS = SAMPLE_ARGS, PARTS = 1 + ARGS, POINTS = 24, MOST = 4096, METHODS = R4_BOUND_BEST + 1 };

/* ---- The graph: the operation, its derivatives, and the bounds of both ---- */

struct bounded {
  const struct op_case *c;
  unsigned moved; /* bit k: argument k ranges over a box */
  bool around;    /* boxes are given by centre and radius, else by their ends */
  r4_bound_method method;
  r4_graph *g;
  r4_id arg[ARGS], part[PARTS]; /* the value, and the derivatives of sum(value * weight) */
  r4_id p[ARGS], q[ARGS];       /* inputs of the boxes: centre and radius, or lo and hi */
  r4_id lo[PARTS], hi[PARTS];
  size_t n; /* parts */
};

static r4_box box_of(struct bounded *b, size_t k)
{
  r4_shape shape = b->c->sample->in[k];
  b->p[k] = r4_input(b->g, arg_name(b->around ? "centre_" : "lo_", k), shape);
  b->q[k] = r4_input(b->g, arg_name(b->around ? "radius_" : "hi_", k), shape);
  return b->around ? r4_box_around(b->arg[k], b->p[k], b->q[k]) : r4_box_between(b->arg[k], b->p[k], b->q[k]);
}

/* Bounds depend on the box, not on the node that ranges over it. */
static void assert_replaced(const struct bounded *b, size_t part)
{
  bool *live;
  assert_true(graph_live(b->g, 2, (r4_id[]){b->lo[part], b->hi[part]}, &live));
  for (size_t k = 0; k < b->c->n; k++)
    if (b->moved >> k & 1 && live[b->arg[k].i]) fail_msg("%s: bounds need %zu itself", b->c->what, k);
  free(live);
}

static struct bounded make_bounded(const struct op_case *c, unsigned moved, bool around, r4_bound_method method)
{
  struct bounded b = {.c = c, .moved = moved, .around = around, .method = method, .g = r4_graph_new()};
  r4_bound_options options = {.method = method};
  r4_box box[ARGS];
  r4_id x[ARGS];
  size_t n_x = 0, n_box = 0;
  b.part[0] = case_build(c, b.g, b.arg);
  for (size_t k = 0; k < c->n; k++) {
    if (movable(c) >> k & 1) x[n_x++] = b.arg[k];
    if (moved >> k & 1) box[n_box++] = box_of(&b, k);
  }
  r4_grad(b.g, weighted_sum(b.g, b.part[0], "weight"), n_x, x, b.part + 1);
  b.n = 1 + n_x;
  for (size_t k = 0; k < b.n; k++) {
    r4_pair pair = r4_bound_by(b.g, b.part[k], n_box, box, &options);
    b.lo[k] = pair.lo;
    b.hi[k] = pair.hi;
  }
  const char *message;
  if (r4_graph_status(b.g, &message)) fail_msg("%s: %s", c->what, message);
  assert_graph(c->what, b.g, b.n, b.lo);
  assert_graph(c->what, b.g, b.n, b.hi);
  for (size_t k = 0; k < b.n; k++) {
    assert_true(r4_shape_equal(r4_node_shape(b.g, b.lo[k]), r4_node_shape(b.g, b.part[k])));
    assert_true(r4_shape_equal(r4_node_shape(b.g, b.hi[k]), r4_node_shape(b.g, b.part[k])));
    assert_replaced(&b, k);
  }
  return b;
}

/* Linear bounds have a functional for each element: large samples are left to intervals. */
static bool is_small(const struct op_case *c)
{
  enum { SMALL = 50 };
  for (size_t k = 0; k < c->n; k++)
    if (r4_shape_count(c->sample->in[k]) > SMALL) return false;
  return true;
}

static void each_box(const struct op_case *c, void (*f)(struct bounded *b))
{
  int methods = is_small(c) ? METHODS : 1;
  for (unsigned moved = 1; moved < 1u << c->n; moved++) {
    if (moved & ~movable(c)) continue;
    for (int form = 0; form < 2 * methods; form++) {
      struct bounded b = make_bounded(c, moved, form % 2, (r4_bound_method)(form / 2));
      f(&b);
      r4_graph_free(b.g);
    }
  }
}

/* ---- Values ---- */

/* Plans of the parts and of their bounds, and the box they are asked for. */
struct trial {
  const struct bounded *b;
  struct runner *value, *bounds; /* bounds: lo[n], then hi[n] */
  double *centre[ARGS], *radius[ARGS];
  size_t count[ARGS];
};

static struct trial start_trial(const struct bounded *b)
{
  r4_id out[2 * PARTS];
  struct trial t = {.b = b};
  memcpy(out, b->lo, b->n * sizeof *out);
  memcpy(out + b->n, b->hi, b->n * sizeof *out);
  t.value = runner_new(b->g, b->n, b->part, REFERENCE);
  t.bounds = runner_new(b->g, 2 * b->n, out, REFERENCE);
  for (size_t k = 0; k < b->c->n; k++) {
    t.count[k] = (size_t)r4_shape_count(b->c->sample->in[k]);
    t.centre[k] = calloc(t.count[k], sizeof(double));
    t.radius[k] = calloc(t.count[k], sizeof(double));
  }
  double *weight = runner_input(t.value, "weight");
  draw_weights(weight, t.value->out_count[0]);
  runner_copy_inputs(t.bounds, t.value);
  return t;
}

static void end_trial(struct trial *t)
{
  runner_free(t->value);
  runner_free(t->bounds);
  for (size_t k = 0; k < t->b->c->n; k++) {
    free(t->centre[k]);
    free(t->radius[k]);
  }
}

/* Gives the box to the plan of the bounds, its radii times "scale", and runs it. */
static void run_bounds(struct trial *t, double scale)
{
  const struct bounded *b = t->b;
  for (size_t k = 0; k < b->c->n; k++) {
    double *arg = runner_input(t->bounds, arg_name("", k));
    double *p = runner_input(t->bounds, arg_name(b->around ? "centre_" : "lo_", k));
    double *q = runner_input(t->bounds, arg_name(b->around ? "radius_" : "hi_", k));
    for (size_t i = 0; i < t->count[k]; i++) {
      double centre = t->centre[k][i], radius = scale * t->radius[k][i];
      arg[i] = b->moved >> k & 1 ? NAN : centre;
      if (!(b->moved >> k & 1)) continue;
      p[i] = b->around ? centre : centre - radius;
      q[i] = b->around ? radius : centre + radius;
    }
  }
  runner_run(t->bounds);
}

/* Moves the arguments to a point of the box: a corner, a point on the axes' middles, any. */
static void run_point(struct trial *t, int number)
{
  for (size_t k = 0; k < t->b->c->n; k++) {
    double *x = runner_input(t->value, arg_name("", k));
    for (size_t i = 0; i < t->count[k]; i++) {
      double at = number % 3 == 0   ? draw(-1, 1)
                  : number % 3 == 1 ? 2 * (double)draw_below(2) - 1
                                    : (double)draw_below(3) - 1;
      x[i] = t->centre[k][i] + (t->b->moved >> k & 1 ? at * t->radius[k][i] : 0);
    }
  }
  runner_run(t->value);
}

static const char *part_name(const struct bounded *b, size_t part)
{
  static char text[200];
  static const char *const method[METHODS] = {"intervals", "linear", "best"};
  snprintf(text, sizeof text, "%s, %s, boxes 0x%x by %s, %s", b->c->what,
           part ? arg_name("derivative by movable argument ", part - 1) : "value", b->moved,
           b->around ? "centre and radius" : "ends", method[b->method]);
  return text;
}

static void draw_box(struct trial *t, double size, bool ties)
{
  for (size_t k = 0; k < t->b->c->n; k++) {
    case_values(t->b->c, k, t->centre[k], t->count[k]);
    if (ties) case_snap(t->b->c, k, t->centre[k], t->count[k]);
    case_radii(t->b->c, k, t->centre[k], size, t->radius[k], t->count[k]);
    for (size_t i = 0; i < t->count[k]; i++) {
      if (draw_below(8) == 0) t->radius[k][i] = 0;
      if (ties) t->radius[k][i] = floor(2 * t->radius[k][i]) / 2;
    }
  }
}

static void check_point(struct trial *t, bool ties)
{
  draw_box(t, 0, ties);
  run_bounds(t, 1);
  run_point(t, 0);
  for (size_t k = 0; k < t->b->n; k++) {
    const double *lo = t->bounds->out[k], *hi = t->bounds->out[t->b->n + k], *y = t->value->out[k];
    assert_inside(part_name(t->b, k), lo, y, hi, t->value->out_count[k], 1e-12);
    assert_close(part_name(t->b, k), lo, y, t->value->out_count[k], 1e-12, 1);
    assert_close(part_name(t->b, k), hi, y, t->value->out_count[k], 1e-12, 1);
  }
}

static void check_size(struct trial *t, double size, bool ties)
{
  size_t n = t->b->n;
  double *lo[PARTS], *hi[PARTS];
  draw_box(t, size, ties);
  run_bounds(t, 1);
  for (size_t k = 0; k < n; k++) {
    size_t bytes = t->value->out_count[k] * sizeof(double);
    lo[k] = memcpy(malloc(bytes), t->bounds->out[k], bytes);
    hi[k] = memcpy(malloc(bytes), t->bounds->out[n + k], bytes);
  }
  for (int point = 0; point < POINTS; point++) {
    run_point(t, point);
    for (size_t k = 0; k < n; k++)
      assert_inside(part_name(t->b, k), lo[k], t->value->out[k], hi[k], t->value->out_count[k], 1e-12);
  }
  run_bounds(t, .5);
  for (size_t k = 0; k < n; k++) {
    for (size_t end = 0; end < 2 && t->b->method == R4_BOUND_INTERVALS; end++) /* lines may be others, and cross */
      assert_inside(part_name(t->b, k), lo[k], t->bounds->out[end * n + k], hi[k], t->value->out_count[k],
                    1e-12);
    free(lo[k]);
    free(hi[k]);
  }
}

static void check_bounds(struct bounded *b)
{
  struct trial t = start_trial(b);
  check_point(&t, false);
  check_point(&t, true);
  check_size(&t, 1, false);
  check_size(&t, 1, true);
  check_size(&t, .2, false);
  check_size(&t, 1e-3, false);
  end_trial(&t);
}

static void check_case(const struct op_case *c)
{
  each_box(c, check_bounds);
}

static void test_bounds(void **state)
{
  (void)state;
  each_case(check_case);
}

/* ---- Derivatives of bounds ---- */

static struct count {
  bool known, moves;
  size_t smooth, kinks; /* comparisons */
} counts[256];          /* by operation */

static size_t number_of(const struct op *op)
{
  size_t k = 0;
  while (op_by_index(k) != op) k++;
  return k;
}

/* s = the sum over value and derivatives of sum(u * lo) + sum(v * hi). */
static r4_id sum_of_bounds(const struct bounded *b)
{
  r4_id s = r4_const(b->g, 0, R4_SCALAR);
  for (size_t k = 0; k < b->n; k++) {
    s = r4_add(b->g, s, weighted_sum(b->g, b->lo[k], arg_name("u_", k)));
    s = r4_add(b->g, s, weighted_sum(b->g, b->hi[k], arg_name("v_", k)));
  }
  return s;
}

static double moved_by(struct runner *r, const char *name, const double *from, const double *v, double h)
{
  double *x = runner_input(r, name);
  size_t n = 0;
  for (size_t k = 0; k < r->n_in; k++)
    if (!strcmp(r->name[k], name)) n = r->in_count[k];
  for (size_t i = 0; i < n; i++) x[i] = from[i] + h * v[i];
  runner_run(r);
  double s = r->out[0][0];
  memcpy(x, from, n * sizeof *x);
  return s;
}

/* A derivative that is off is a kink, and skipped, if the slopes to the left and to the right differ. */
static void compare_slope(const struct bounded *b, struct runner *at, size_t k, const char *name)
{
  double v[MOST], *x = runner_input(at, name), *from, sum = 0, size = 1;
  size_t n = at->out_count[k];
  assert_true(n <= MOST);
  from = memcpy(malloc(n * sizeof *from), x, n * sizeof *from);
  runner_run(at);
  draw_weights(v, n);
  for (size_t i = 0; i < n; i++) {
    sum += v[i] * at->out[k][i];
    size += fabs(v[i] * at->out[k][i]);
  }
  double here = at->out[0][0], h = 1e-6 * (1 + largest_abs(from, n) / 10);
  double left = (here - moved_by(at, name, from, v, -h)) / h,
         right = (moved_by(at, name, from, v, h) - here) / h;
  free(from);
  bool off = !(fabs(sum - (left + right) / 2) <= 3e-6 * size), kink = off && fabs(right - left) > 5e-6 * size;
  if (off && !kink)
    fail_msg("%s: the derivative of its bounds by %s is %.12g, by differences %.12g", part_name(b, 0), name,
             sum, (left + right) / 2);
  struct count *count = &counts[number_of(b->c->op)];
  count->kinks += kink;
  count->smooth += !kink;
  count->moves |= !kink && fabs(sum) > 1e-6;
}

static void check_slopes(struct bounded *b)
{
  r4_id x[2 * ARGS], out[1 + 2 * ARGS];
  const char *name[2 * ARGS];
  size_t n = 0;
  counts[number_of(b->c->op)].known = b->c->op != &op_detach;
  for (size_t k = 0; k < b->c->n; k++) {
    if (is_index(b->c, k)) continue;
    bool moved = b->moved >> k & 1;
    x[n++] = moved ? b->p[k] : b->arg[k];
    if (moved) x[n++] = b->q[k];
  }
  out[0] = sum_of_bounds(b);
  r4_grad(b->g, out[0], n, x, out + 1);
  for (size_t k = 0; k < n; k++) name[k] = graph_name(b->g, x[k]);
  assert_graph(b->c->what, b->g, 1 + n, out);
  struct trial t = start_trial(b);
  struct runner *at = runner_new(b->g, 1 + n, out, REFERENCE);
  for (size_t k = 0; k < b->c->n; k++) {
    case_values(b->c, k, t.centre[k], t.count[k]);
    case_radii(b->c, k, t.centre[k], .6, t.radius[k], t.count[k]);
  }
  run_bounds(&t, 1);
  runner_copy_inputs(at, t.bounds);
  for (size_t k = 0; k < at->n_in; k++)
    if (strchr("uvw", at->name[k][0])) draw_weights(at->in[k], at->in_count[k]);
  if (b->c->op == &op_detach) runner_run(at);
  for (size_t k = 0; k < n; k++) {
    if (b->c->op != &op_detach)
      compare_slope(b, at, 1 + k, name[k]);
    else
      assert_true(largest_abs(at->out[1 + k], at->out_count[1 + k]) == 0);
  }
  runner_free(at);
  end_trial(&t);
}

static void check_slopes_case(const struct op_case *c)
{
  each_box(c, check_slopes);
}

static void test_slopes_of_bounds(void **state)
{
  (void)state;
  size_t known = 0, smooth = 0, moves = 0, compared = 0, kinks = 0;
  memset(counts, 0, sizeof counts);
  assert_true(op_count() <= sizeof counts / sizeof *counts);
  each_case(check_slopes_case);
  for (size_t k = 0; k < op_count(); k++) {
    known += counts[k].known;
    smooth += counts[k].smooth > 0;
    moves += counts[k].moves;
    compared += counts[k].smooth;
    kinks += counts[k].kinks;
  }
  print_message("# %zu operations, %zu compared, %zu of them move; %zu comparisons, %zu kinks left out\n",
                known, smooth, moves, compared, kinks);
  assert_true(smooth == known && 2 * moves >= known && 20 * kinks <= compared);
}

/* ---- Boxes of inner nodes ---- */

/* A box of a node cuts off what is below it; one that y does not need is ignored; without boxes y stays. */
static void test_inner_boxes(void **state)
{
  (void)state;
  r4_graph *g = r4_graph_new();
  r4_shape shape = R4_SHAPE(2);
  r4_id x = r4_input(g, "x", shape), h = r4_scale(g, x, 10), y = r4_add(g, h, r4_const(g, 1, shape));
  r4_box box[3] = {r4_box_around(x, r4_const(g, 0, shape), r4_const(g, 1, shape)),
                   r4_box_between(h, r4_const(g, 2, shape), r4_const(g, 3, shape))};
  r4_id later = r4_exp(g, y);
  box[2] = r4_box_around(later, later, later);
  r4_pair inner = r4_bound(g, y, 3, box), outer = r4_bound(g, y, 1, box), none = r4_bound(g, y, 1, box + 2);
  assert_true(none.lo.i == y.i && none.hi.i == y.i);
  struct runner *r =
    runner_new(g, 4, (r4_id[]){inner.lo, inner.hi, outer.lo, outer.hi}, (r4_plan_options){.type = R4_F64});
  runner_run(r);
  assert_true(r->out[0][1] == 3 && r->out[1][1] == 4 && r->out[2][1] == -9 && r->out[3][1] == 11);
  runner_free(r);
  r4_graph_free(g);
}

/* ---- Boxes with constant ends, which touch: facts about signs, ties at the ends ---- */

enum { ENDS = 6 };
static const double ends[ENDS][2] = {{-2, -1}, {-1, 0}, {0, 0}, {0, 1}, {-1, 1}, {1, 2}};

/* The box number which, a digit for each argument: no value at its ends and centres is outside of the bounds. */
static void check_ends(const struct op *op, size_t which)
{
  r4_error e;
  r4_graph *g = r4_graph_new();
  r4_id x[ARGS];
  r4_box box[ARGS];
  const double *end[ARGS];
  size_t n = (size_t)op->arity, points = 1;
  for (size_t k = 0; k < n; k++, which /= ENDS, points *= 3) {
    end[k] = ends[which % ENDS];
    x[k] = r4_input(g, arg_name("", k), R4_SHAPE(1));
    box[k] = r4_box_between(x[k], r4_const(g, end[k][0], R4_SHAPE(1)), r4_const(g, end[k][1], R4_SHAPE(1)));
  }
  r4_pair pair = r4_bound(g, graph_add(g, op, n, x, NULL, NULL, NULL), n, box);
  struct runner *r = runner_new(g, 2, (r4_id[]){pair.lo, pair.hi}, FAST64);
  if (!runner_try(r, &e)) {
    for (size_t point = 0; point < points; point++) {
      double v[ARGS] = {0}, y;
      for (size_t k = 0, rest = point; k < n; k++, rest /= 3)
        v[k] = end[k][0] + (end[k][1] - end[k][0]) * (double)(rest % 3) / 2;
      op->f64(1, &v[0], &v[1], &v[2], &y);
      if (!isfinite(y)) continue; /* a point divided by the point 0: nothing is claimed */
      assert_inside(op->name, r->out[0], &y, r->out[1], 1, 1e-12);
    }
  } else {
    assert_int_equal(e.status, R4_E_DOMAIN);
  }
  runner_free(r);
  r4_graph_free(g);
}

static void test_constant_ends(void **state)
{
  (void)state;
  for (size_t k = 0; k < op_count(); k++) {
    const struct op *op = op_by_index(k);
    size_t boxes = op->kind == OP_ELEMENT ? 1 : 0;
    for (int a = 0; a < op->arity; a++) boxes *= ENDS;
    for (size_t which = 0; which < boxes; which++) check_ends(op, which);
  }
}

/* ---- Domains ---- */

typedef r4_id binary(r4_graph *g, r4_id a, r4_id b);

/* A box that reaches outside of where the operation is defined fails the run, in every kind of plan. */
static void check_domain(const struct op *op, double lo, double hi, bool fails)
{
  const r4_plan_options options[] = {REFERENCE, FAST64, FAST32};
  r4_graph *g = r4_graph_new();
  r4_shape shape = R4_SHAPE(3);
  r4_id x = r4_input(g, "x", shape), one = r4_const(g, 1, shape);
  r4_id y = graph_add(g, op, (size_t)op->arity, op->arity == 2 ? (r4_id[]){one, x} : &x, NULL, NULL, NULL);
  r4_box box = r4_box_between(x, r4_input(g, "lo", shape), r4_input(g, "hi", shape));
  r4_pair pair = r4_bound(g, y, 1, &box);
  for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
    r4_error e;
    struct runner *r = runner_new(g, 2, (r4_id[]){pair.lo, pair.hi}, options[k]);
    for (size_t i = 0; i < 3; i++) {
      runner_input(r, "lo")[i] = i == 1 ? lo : 1;
      runner_input(r, "hi")[i] = i == 1 ? hi : 2;
    }
    r4_status s = runner_try(r, &e);
    if (s != (fails ? R4_E_DOMAIN : R4_OK))
      fail_msg("%s over %g .. %g, plan %zu: %s", op->name, lo, hi, k, r4_status_name(s));
    if (s && !strstr(e.text, "element 1")) fail_msg("%s: \"%s\" does not name the element", op->name, e.text);
    runner_free(r);
  }
  r4_graph_free(g);
}

static void test_domains(void **state)
{
  (void)state;
  static const struct {
    const struct op *op;
    double lo, hi;
    bool fails;
  } cases[] = {
    {&op_log, -1, 1, true},     {&op_log, 0, 1, true},     {&op_log, .5, 1, false},
    {&op_log, NAN, 1, true},    {&op_sqrt, -.1, 1, true},  {&op_sqrt, 0, 1, false},
    {&op_rsqrt, -.1, 1, true},  {&op_rsqrt, 0, 1, true},   {&op_rsqrt, .1, 1, false},
    {&op_log1p, -1.5, 1, true}, {&op_log1p, -1, 1, true},  {&op_log1p, -.5, 1, false},
    {&op_div, -1, 1, true},     {&op_div, 0, 1, true},     {&op_div, -1, 0, true},
    {&op_check, -1, 1, true},   {&op_check, 0, 1, true},   {&op_check, .5, 1, false},
    {&op_div, .5, 1, false},    {&op_div, -1, -.5, false}, {&op_div, -1, NAN, true},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    check_domain(cases[k].op, cases[k].lo, cases[k].hi, cases[k].fails);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_bounds),      cmocka_unit_test(test_slopes_of_bounds),
    cmocka_unit_test(test_inner_boxes), cmocka_unit_test(test_constant_ends),
    cmocka_unit_test(test_domains),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  check_seed();
  return cmocka_run_group_tests_name("op bounds", tests, NULL, NULL);
}
