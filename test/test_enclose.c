/* Sound enclosures: of every operation and its derivatives, no value at any point of a box is outside, with no
 * tolerance at all; against arithmetic of more digits, ends are on the right side of the last bit; what has no sound
 * rule is refused by name. */
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include "base/mem.h"
#include "op/sound.h"
#include "enclose_case.h"
#include "op_case.h"
#include "random_net.h"

enum { ARGS = SAMPLE_ARGS, POINTS = 12 };

/* ---- Every operation ---- */

static bool without_rule(const struct op *op)
{
  return op == &op_conv2d_dw || op == &op_pick_max || op == &op_unpool_may || op == &op_pick_may;
}

static bool needs_missing_rule(const r4_graph *g, r4_id y)
{
  bool *live, missing = false;
  assert_true(graph_live(g, 1, &y, &live));
  for (uint32_t i = 1; i <= y.i; i++) missing |= live[i] && without_rule(g->node[i].op);
  r4_mem_free(live);
  return missing;
}

static void check_part(const struct op_case *c, const r4_graph *g, r4_id y, const struct boxes *b)
{
  r4_error e = {0};
  size_t n = (size_t)r4_shape_count(r4_node_shape(g, y));
  double *lo = malloc(n * sizeof *lo), *hi = malloc(n * sizeof *hi);
  double room = c->op == &op_softmax || c->op == &op_logsumexp ? 1e-11 : 0; /* exp(x - logsumexp) of x near 900 */
  r4_status s = enclose(g, y, b, R4_SEMANTICS_REAL, lo, hi, &e);
  if (needs_missing_rule(g, y)) {
    assert_int_equal(s, R4_E_RULE);
    assert_non_null(strstr(e.text, "has no sound rule"));
  } else {
    if (s) fail_msg("%s: %s", c->what, e.text);
    struct runner *r = runner_new(g, 1, &y, REFERENCE);
    for (int point = 0; point < POINTS; point++) {
      move(r, b, point);
      assert_within(c->what, lo, r->out[0], hi, n, room);
    }
    runner_free(r);
  }
  free(lo);
  free(hi);
}

static void draw_boxes(const struct op_case *c, struct boxes *b, unsigned moved, double size, bool ties)
{
  for (size_t k = 0; k < c->n; k++) {
    size_t n = b->count[k];
    double *r = malloc((n + 1) * sizeof *r), *x = b->lo[k];
    case_values(c, k, x, n);
    if (ties) case_snap(c, k, x, n);
    case_radii(c, k, x, size, r, n);
    for (size_t i = 0; i < n && moved >> k & 1; i++) {
      if (draw_below(8) == 0) r[i] = 0;
      b->hi[k][i] = x[i] + r[i];
      x[i] -= r[i];
    }
    free(r);
  }
}

static void check_moved(const struct op_case *c, unsigned moved)
{
  r4_graph *g = r4_graph_new();
  r4_id arg[ARGS], part[1 + ARGS], x[ARGS];
  size_t n_x = 0;
  part[0] = case_build(c, g, arg);
  for (size_t k = 0; k < c->n; k++)
    if (movable(c) >> k & 1) x[n_x++] = arg[k];
  if (c->op->vjp) r4_grad(g, weighted_sum(g, part[0], "weight"), n_x, x, part + 1);
  struct boxes b = {0};
  for (size_t k = 0; k < c->n; k++)
    boxes_add(&b, arg_name("", k), (size_t)r4_shape_count(c->sample->in[k]), moved >> k & 1);
  if (c->op->vjp) {
    boxes_add(&b, "weight", (size_t)r4_shape_count(r4_node_shape(g, part[0])), false);
    draw_weights(b.lo[c->n], b.count[c->n]);
  }
  static const double sizes[] = {1, 1, 1e-3, 0};
  for (size_t k = 0; k < 4; k++) {
    draw_boxes(c, &b, moved, sizes[k], k == 1);
    for (size_t p = 0; p <= (c->op->vjp ? n_x : 0); p++) check_part(c, g, part[p], &b);
  }
  boxes_free(&b);
  r4_graph_free(g);
}

static void check_case(const struct op_case *c)
{
  for (unsigned moved = 0; moved < 1u << c->n; moved++)
    if (!(moved & ~movable(c))) check_moved(c, moved);
}

static void test_operations(void **state)
{
  (void)state;
  each_case(check_case);
  for (size_t k = 0; k < op_count(); k++)
    assert_true(op_by_index(k) == &op_input || !op_by_index(k)->enclose == without_rule(op_by_index(k)));
}

/* ---- Against more digits: y and its ends at one point, where the true value is known to 2^-60 ---- */

typedef long double wide(long double a, long double b);

static long double add_l(long double a, long double b) { return a + b; }
static long double sub_l(long double a, long double b) { return a - b; }
static long double mul_l(long double a, long double b) { return a * b; }
static long double div_l(long double a, long double b) { return a / b; }
static long double square_l(long double a, long double b) { return (void)b, a * a; }
static long double sqrt_l(long double a, long double b) { return (void)b, sqrtl(a); }
static long double rsqrt_l(long double a, long double b) { return (void)b, 1 / sqrtl(a); }
static long double exp_l(long double a, long double b) { return (void)b, expl(a); }
static long double log_l(long double a, long double b) { return (void)b, logl(a); }
static long double log1p_l(long double a, long double b) { return (void)b, log1pl(a); }
static long double tanh_l(long double a, long double b) { return (void)b, tanhl(a); }
static long double sigmoid_l(long double a, long double b) { return (void)b, 1 / (1 + expl(-a)); }
static long double erf_l(long double a, long double b) { return (void)b, erfl(a); }
static long double gelu_l(long double a, long double b) { return (void)b, a * erfcl(-a / sqrtl(2)) / 2; }

static const struct precise {
  const struct op *op;
  wide *f;
  double low, high, width; /* arguments; the width of the result, at most, relative and absolute */
} precise[] = {
  {&op_add, add_l, -2, 2, 1e-14},      {&op_sub, sub_l, -2, 2, 1e-14},        {&op_mul, mul_l, -2, 2, 1e-14},
  {&op_div, div_l, .1, 3, 1e-14},      {&op_square, square_l, -2, 2, 1e-14},  {&op_sqrt, sqrt_l, 0, 3, 1e-14},
  {&op_rsqrt, rsqrt_l, .01, 3, 1e-14}, {&op_exp, exp_l, -690, 690, 1e-12},    {&op_exp, exp_l, -2, 2, 1e-12},
  {&op_log, log_l, 1e-3, 1e3, 1e-12},  {&op_log1p, log1p_l, -.99, 3, 1e-12},  {&op_tanh, tanh_l, -20, 20, 1e-12},
  {&op_sigmoid, sigmoid_l, -40, 40, 1e-12}, {&op_erf, erf_l, -7, 7, 1e-12},   {&op_erf, erf_l, -.01, .01, 1e-12},
  {&op_gelu, gelu_l, -6, 6, 1e-11},
};

static void check_precise(const struct precise *p, size_t n)
{
  r4_graph *g = r4_graph_new();
  r4_shape shape = R4_SHAPE((int64_t)n);
  r4_id x[2] = {r4_input(g, "a", shape), r4_input(g, "b", shape)};
  r4_id y = graph_add(g, p->op, (size_t)p->op->arity, x, NULL, NULL, NULL);
  double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
  double *lo = malloc(n * sizeof *lo), *hi = malloc(n * sizeof *hi);
  for (size_t i = 0; i < n; i++) {
    a[i] = p->low + (p->high - p->low) * r4_random_uniform((r4_random){7, 7, 0}, i);
    b[i] = p->low + (p->high - p->low) * r4_random_uniform((r4_random){7, 8, 0}, i);
  }
  r4_ends input[] = {{"a", a, a}, {"b", b, b}};
  assert_int_equal(r4_enclose(g, y, 2, input, R4_SEMANTICS_REAL, lo, hi, NULL), R4_OK);
  for (size_t i = 0; i < n; i++) {
    long double exact = p->f(a[i], b[i]), room = fabsl(exact) * 0x1p-60L;
    if (!(lo[i] <= exact + room && exact - room <= hi[i]))
      fail_msg("%s(%a, %a) = %La, not in [%a, %a]", p->op->name, a[i], b[i], exact, lo[i], hi[i]);
    if (!(hi[i] - lo[i] <= p->width * (1 + fabs(hi[i]))))
      fail_msg("%s(%a, %a): [%a, %a] is too wide", p->op->name, a[i], b[i], lo[i], hi[i]);
  }
  free(a), free(b), free(lo), free(hi);
  r4_graph_free(g);
}

static void test_last_bits(void **state)
{
  (void)state;
  if (sizeof(long double) == sizeof(double) || 1 + 0x1p-60L == 1) check_skip("long double has no more digits");
  for (size_t k = 0; k < sizeof precise / sizeof *precise; k++) check_precise(&precise[k], 20000);
}

/* The least value of gelu, by its enclosure over a fine grid; and that it has one valley. */
static void test_gelu_valley(void **state)
{
  (void)state;
  double least = 1, at = 0, lo, hi;
  r4_graph *g = r4_graph_new();
  r4_id y = r4_gelu(g, r4_input(g, "x", R4_SCALAR));
  for (double x = -0.76; x < -0.745; x += 1e-5) {
    assert_int_equal(r4_enclose(g, y, 1, &(r4_ends){"x", &x, &x}, R4_SEMANTICS_REAL, &lo, &hi, NULL), R4_OK);
    long double exact = gelu_l(x, 0);
    assert_true(lo <= exact && exact <= hi);
    if (exact < least) least = (double)exact, at = x;
  }
  assert_true(least > -0.16997120747991 && least < -0.169971207 && at > -0.7518 && at < -0.7517);
  double from = -3, to = 1;
  assert_int_equal(r4_enclose(g, y, 1, &(r4_ends){"x", &from, &to}, R4_SEMANTICS_REAL, &lo, &hi, NULL), R4_OK);
  assert_true(lo <= least && lo > -0.17 && hi >= 0.8413447460685429 && hi < 0.8413447461);
  r4_graph_free(g);
}

/* ---- Nets of all kinds of blocks, and their gradients: points by plain loops never leave ---- */

static void check_random_net(uint32_t number, r4_semantics semantics, r4_plan_options plan, double radius)
{
  struct random_net net;
  r4_error e = {0};
  draw_start(502, number);
  random_net_draw(&net, false);
  r4_id out[2] = {net.y};
  r4_grad(net.g, net.loss, 1, &net.x, &out[1]);
  struct runner *r = runner_new(net.g, 2, out, plan);
  random_net_fill(&net, r, 0);
  for (size_t part = 0; part < 2; part++) {
    size_t n = r->out_count[part];
    double *lo = malloc(n * sizeof *lo), *hi = malloc(n * sizeof *hi);
    struct boxes b = {0};
    for (size_t k = 0; k < r->n_in; k++) {
      bool moves = !strcmp(r->name[k], "x");
      boxes_add(&b, r->name[k], r->in_count[k], moves);
      for (size_t i = 0; i < r->in_count[k]; i++) {
        double x = r->in[k][i], d = moves ? radius * draw(0, 1) : 0;
        b.lo[k][i] = (double)(float)(x - d);
        if (moves) b.hi[k][i] = (double)(float)(x + d);
      }
    }
    r4_status s = enclose(net.g, out[part], &b, semantics, lo, hi, &e);
    if (s && s != R4_E_RULE) fail_msg("%s: %s", net.story, e.text);
    for (int point = 0; point < 6 && !s; point++) {
      move(r, &b, point);
      assert_within(net.story, lo, r->out[part], hi, n, 1e-12);
    }
    boxes_free(&b);
    free(lo), free(hi);
  }
  runner_free(r);
  r4_graph_free(net.g);
}

static void test_random_nets(void **state)
{
  (void)state;
  for (uint32_t k = 0; k < 120; k++) check_random_net(k, R4_SEMANTICS_REAL, REFERENCE, k % 2 ? .1 : 0);
  for (uint32_t k = 0; k < 60; k++) check_random_net(k, R4_SEMANTICS_REAL, FAST64, k % 2 ? .1 : 1e-9);
}

/* ---- Sums that lose their terms ---- */

/* 1 and then n - 1 terms of half a last bit each: in this order a program adds none of them. */
static void check_lost(r4_semantics semantics, double term)
{
  enum { N = 4000 };
  r4_graph *g = r4_graph_new();
  struct boxes b = {0};
  r4_id x = r4_input(g, "x", R4_SHAPE(1, N)), ones = r4_input(g, "ones", R4_SHAPE(N, 1));
  const r4_id sum[] = {r4_sum(g, x, R4_ALL), r4_matmul(g, x, ones, false, false)};
  double exact = 1 + (N - 1) * term;
  boxes_add(&b, "x", N, false);
  boxes_add(&b, "ones", N, false);
  for (size_t k = 0; k < N; k++) b.lo[0][k] = k ? term : 1, b.lo[1][k] = 1;
  for (size_t k = 0; k < 2; k++) {
    double lo, hi;
    assert_int_equal(enclose(g, sum[k], &b, semantics, &lo, &hi, NULL), R4_OK);
    if (!(lo <= 1 && exact <= hi && hi - lo < 1000 * (exact - 1)))
      fail_msg("%s: [%a, %a], expected %a in it", k ? "matmul" : "sum", lo, hi, exact);
  }
  boxes_free(&b);
  r4_graph_free(g);
}

static void test_lost_terms(void **state)
{
  (void)state;
  check_lost(R4_SEMANTICS_REAL, 0x1p-54);
  check_lost(R4_SEMANTICS_ANY_FLOAT, 0x1p-25);
}

/* b + sum of eight 5 and one -40. In real arithmetic it is b, 1e8; floats there are 8 apart, and a program that begins
 * with b adds 8 for each 5. Enclosed are both. */
static void test_bias_first(void **state)
{
  (void)state;
  enum { N = 9 };
  r4_graph *g = r4_graph_new();
  struct boxes b = {0};
  r4_id x = r4_input(g, "x", R4_SHAPE(1, N)), ones = r4_input(g, "ones", R4_SHAPE(N, 1)),
        bias = r4_input(g, "bias", R4_SHAPE(1, 1));
  const float first = 1e8f;
  const double term[N] = {5, 5, 5, 5, 5, 5, 5, 5, -40};
  float program = first;
  for (int k = 0; k < N; k++) program += (float)term[k];
  assert_true(program == first + 24);
  boxes_add(&b, "x", N, false);
  boxes_add(&b, "ones", N, false);
  boxes_add(&b, "bias", 1, false);
  for (size_t k = 0; k < N; k++) b.lo[0][k] = term[k], b.lo[1][k] = 1;
  b.lo[2][0] = first;
  r4_id product = r4_matmul(g, x, ones, false, false);
  const r4_id sum[] = {r4_add(g, product, bias), r4_add(g, bias, product)};
  for (size_t k = 0; k < 2; k++) {
    double lo, hi;
    assert_int_equal(enclose(g, sum[k], &b, R4_SEMANTICS_ANY_FLOAT, &lo, &hi, NULL), R4_OK);
    if (!(lo <= first && program <= hi && hi - lo < 1000)) fail_msg("[%a, %a], expected %a in it", lo, hi, program);
  }
  boxes_free(&b);
  r4_graph_free(g);
}

/* ---- Single numbers by hand ---- */

typedef r4_id one_argument(r4_graph *g, r4_id x);

static void enclose_one(one_argument *f, double from, double to, r4_semantics semantics, double *lo, double *hi)
{
  r4_graph *g = r4_graph_new();
  r4_id y = f(g, r4_input(g, "x", R4_SHAPE(1)));
  assert_int_equal(r4_enclose(g, y, 1, &(r4_ends){"x", &from, &to}, semantics, lo, hi, NULL), R4_OK);
  r4_graph_free(g);
}

static r4_id or_a_tenth(r4_graph *g, r4_id x)
{
  return r4_max(g, x, r4_const(g, 0.1, R4_SHAPE(1)));
}

static r4_id where_positive(r4_graph *g, r4_id x)
{
  return r4_check(g, r4_const(g, 3, R4_SHAPE(1)), r4_step(g, x));
}

static r4_id thrice(r4_graph *g, r4_id x)
{
  return r4_add(g, x, r4_add(g, x, x));
}

/* One operation rounds: a product, a sum. What a float program computes is enclosed with what is exact. */
static void test_rounded(void **state)
{
  (void)state;
  const float x = 1 + 0x1p-12f, y = 1 + 0x1p-23f;
  const struct {
    one_argument *f;
    double at, exact, program;
  } want[] = {{r4_square, x, (double)x * x, x * x}, {thrice, y, 3 * (double)y, y + (y + y)}};
  for (size_t k = 0; k < 2; k++) {
    double lo, hi;
    assert_true(want[k].exact < want[k].program || want[k].exact > want[k].program);
    enclose_one(want[k].f, want[k].at, want[k].at, R4_SEMANTICS_ANY_FLOAT, &lo, &hi);
    if (!(lo <= want[k].program && want[k].program <= hi && lo <= want[k].exact && want[k].exact <= hi))
      fail_msg("case %zu: [%a, %a], expected %a and %a in it", k, lo, hi, want[k].program, want[k].exact);
  }
}

/* Derivatives at kinks are all of [0, 1] or [-1, 1], on whichever side of the interval the kink is. */
static void test_kinks(void **state)
{
  (void)state;
  static const double from[] = {-1, 0, 0, -1}, to[] = {0, 0, 1, 1};
  double lo, hi;
  for (size_t k = 0; k < 4; k++) {
    enclose_one(r4_step, from[k], to[k], R4_SEMANTICS_REAL, &lo, &hi);
    assert_true(lo == 0 && hi == 1);
    enclose_one(r4_sign, from[k], to[k], R4_SEMANTICS_REAL, &lo, &hi);
    assert_true(lo == -1 && hi == 1);
    enclose_one(where_positive, from[k], to[k], R4_SEMANTICS_REAL, &lo, &hi);
    assert_true(lo == -INFINITY && hi == INFINITY);
  }
  enclose_one(r4_step, -1, -0x1p-1074, R4_SEMANTICS_REAL, &lo, &hi);
  assert_true(lo == 0 && hi == 0);
  enclose_one(where_positive, 0x1p-1074, 1, R4_SEMANTICS_REAL, &lo, &hi);
  assert_true(lo == 3 && hi == 3);
}

/* 0.1 is a tenth, which is below its double; log sum exp of one number is that number; in floats a root and a quotient
 * are two roundings. */
static void test_numbers(void **state)
{
  (void)state;
  double lo, hi;
  enclose_one(or_a_tenth, 0, 0, R4_SEMANTICS_REAL, &lo, &hi);
  assert_true((long double)lo < 0.1L && hi >= 0.1);
  draw_start(60, 0);
  for (int k = 0; k < 300; k++) {
    double x = draw(0.01, 100);
    enclose_one(r4_logsumexp, x, x, R4_SEMANTICS_REAL, &lo, &hi);
    assert_true(lo <= x && x <= hi);
    enclose_one(r4_rsqrt, x, x, R4_SEMANTICS_ANY_FLOAT, &lo, &hi);
    float root = sqrtf((float)x), y = 1 / root;
    assert_true(lo <= y && y <= hi);
  }
}

/* ---- Refusals ---- */

static void assert_refused(const char *expected)
{
  r4_graph *g = r4_graph_new();
  double x = 1, lo, hi;
  r4_error e = {0};
  r4_id y = r4_square(g, r4_input(g, "x", R4_SCALAR));
  assert_int_equal(r4_enclose(g, y, 1, &(r4_ends){"x", &x, &x}, R4_SEMANTICS_REAL, &lo, &hi, &e), R4_E_DOMAIN);
  assert_non_null(strstr(e.text, expected));
  r4_graph_free(g);
}

static void test_environment(void **state)
{
  (void)state;
  static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  for (size_t k = 0; k < 3; k++) {
    assert_int_equal(fesetround(modes[k]), 0);
    assert_refused("round to nearest");
    fesetround(FE_TONEAREST);
  }
#ifdef __SSE2__
  unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8000); /* flush to zero */
  assert_refused("subnormal");
  _mm_setcsr(before | 0x0040); /* denormals are zero */
  assert_refused("subnormal");
  _mm_setcsr(before);
#endif
}

static void test_refusals(void **state)
{
  (void)state;
  r4_graph *g = r4_graph_new();
  r4_error e = {0};
  double x[2] = {1, 2}, lo[2], hi[2], index[2] = {0, 1}, other[2] = {0, 1};
  r4_id a = r4_input(g, "x", R4_SHAPE(2)), i = r4_input(g, "i", R4_SHAPE(2));
  r4_id moved = r4_gather(g, a, i, 0), smooth = r4_exp(g, a);
  r4_ends ends[] = {{"x", x, x}, {"i", index, other}};
  assert_int_equal(r4_enclose(g, moved, 2, ends, R4_SEMANTICS_REAL, lo, hi, &e), R4_E_RULE);
  assert_non_null(strstr(e.text, "gather has no sound rule over a moving index"));
  assert_int_equal(r4_enclose(g, smooth, 1, ends, R4_SEMANTICS_ANY_FLOAT, lo, hi, &e), R4_E_RULE);
  assert_non_null(strstr(e.text, "exp has no bound of its float error"));
  assert_int_equal(r4_enclose(g, smooth, 0, NULL, R4_SEMANTICS_REAL, lo, hi, &e), R4_E_ARGUMENT);
  assert_non_null(strstr(e.text, "input \"x\" has no values"));
  assert_int_equal(r4_enclose(g, smooth, 1, &(r4_ends){"z", x, x}, R4_SEMANTICS_REAL, lo, hi, &e), R4_E_ARGUMENT);
  assert_int_equal(r4_enclose(g, R4_NONE, 0, NULL, R4_SEMANTICS_REAL, lo, hi, &e), R4_E_ARGUMENT);
  assert_int_equal(r4_enclose(g, smooth, 1, &(r4_ends){"x", x, NULL}, R4_SEMANTICS_REAL, lo, hi, &e), R4_E_ARGUMENT);
  r4_graph_free(g);
}

/* Overflow, roots of negative numbers and quotients by 0: nothing is known, of these elements alone. */
static void test_unknown(void **state)
{
  (void)state;
  r4_graph *g = r4_graph_new();
  r4_shape s = R4_SHAPE(2);
  r4_id x = r4_input(g, "x", s), one = r4_const(g, 1, s), y[6];
  y[0] = r4_mul(g, r4_square(g, x), r4_square(g, x)); /* overflows */
  y[1] = r4_div(g, one, x);
  y[2] = r4_sqrt(g, x);
  y[3] = r4_log(g, x);
  y[4] = r4_mul(g, r4_relu(g, y[0]), r4_const(g, 0, s)); /* 0 times what is not known */
  y[5] = r4_exp(g, x);
  static const double low[6] = {1e200, -1, -1, 0, 1e200, 1}, high[6] = {1e200, 1, 1, 1, 1e200, 1e4};
  for (size_t k = 0; k < 6; k++) {
    double a[2] = {low[k], 2}, b[2] = {high[k], 3}, lo[2], hi[2];
    assert_int_equal(r4_enclose(g, y[k], 1, &(r4_ends){"x", a, b}, R4_SEMANTICS_REAL, lo, hi, NULL), R4_OK);
    if (!(lo[0] == -INFINITY && hi[0] == INFINITY)) fail_msg("case %zu: [%g, %g]", k, lo[0], hi[0]);
    assert_true(isfinite(lo[1]) && isfinite(hi[1]));
  }
  /* what was not known may be known again */
  double a[2] = {1e200, 2}, b[2] = {1e200, 3}, lo[2], hi[2];
  r4_id step = r4_step(g, y[0]);
  assert_int_equal(r4_enclose(g, step, 1, &(r4_ends){"x", a, b}, R4_SEMANTICS_REAL, lo, hi, NULL), R4_OK);
  assert_true(lo[0] == 0 && hi[0] == 1 && lo[1] == 1 && hi[1] == 1);
  r4_graph_free(g);
}

/* ---- Threads and memory ---- */

static r4_graph *conv_graph(r4_id *y)
{
  r4_graph *g = r4_graph_new();
  r4_id x = r4_input(g, "x", R4_SHAPE(6, 20, 20, 3)), w = r4_input(g, "w", R4_SHAPE(8, 3, 3, 3));
  r4_id h = r4_conv2d(g, x, w, r4_window_of(1, 1));
  r4_id p = r4_pool_max(g, r4_relu(g, h), (const int64_t[]){2, 2}, r4_window_of(2, 0)), dx;
  r4_id dense = r4_matmul(g, r4_reshape(g, p, R4_SHAPE(6, 800)), r4_input(g, "v", R4_SHAPE(5, 800)), false, true);
  r4_grad(g, r4_sum(g, r4_square(g, dense), R4_ALL), 1, &x, &dx);
  *y = dx;
  return g;
}

static void conv_boxes(struct boxes *b)
{
  static const struct {
    const char *name;
    size_t n;
  } in[] = {{"x", 7200}, {"w", 216}, {"v", 4000}};
  draw_start(503, 0);
  for (size_t k = 0; k < 3; k++) {
    boxes_add(b, in[k].name, in[k].n, !k);
    for (size_t i = 0; i < in[k].n; i++) {
      b->lo[k][i] = draw(-1, 1);
      if (!k) b->hi[k][i] = b->lo[k][i] + (i % 7 ? 0 : .01);
    }
  }
}

static void test_threads(void **state)
{
  (void)state;
  r4_id y;
  r4_graph *g = conv_graph(&y);
  struct boxes b = {0};
  conv_boxes(&b);
  static double lo[2][7200], hi[2][7200];
  int before = r4_threads(0, false);
  for (int k = 0; k < 2; k++) {
    r4_threads(1 + k, false);
    assert_int_equal(enclose(g, y, &b, R4_SEMANTICS_REAL, lo[k], hi[k], NULL), R4_OK);
  }
  r4_threads(before, false);
  assert_memory_equal(lo[0], lo[1], sizeof lo[0]);
  assert_memory_equal(hi[0], hi[1], sizeof hi[0]);
  boxes_free(&b);
  r4_graph_free(g);
}

static void test_memory(void **state)
{
  (void)state;
  r4_id y;
  r4_graph *g = conv_graph(&y);
  struct boxes b = {0};
  static double lo[7200], hi[7200];
  conv_boxes(&b);
  r4_mem_fail_at(0);
  assert_int_equal(enclose(g, y, &b, R4_SEMANTICS_REAL, lo, hi, NULL), R4_OK);
  long n = r4_mem_count();
  for (long k = 1; k <= n; k++) {
    r4_error e = {0};
    r4_mem_fail_at(k);
    r4_status s = enclose(g, y, &b, R4_SEMANTICS_REAL, lo, hi, &e);
    r4_mem_fail_at(0);
    assert_int_equal(s, R4_E_MEMORY);
    assert_int_equal(e.status, R4_E_MEMORY);
  }
  boxes_free(&b);
  r4_graph_free(g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_operations),
    cmocka_unit_test(test_last_bits),
    cmocka_unit_test(test_gelu_valley),
    cmocka_unit_test(test_random_nets),
    cmocka_unit_test(test_lost_terms),
    cmocka_unit_test(test_bias_first),
    cmocka_unit_test(test_rounded),
    cmocka_unit_test(test_kinks),
    cmocka_unit_test(test_numbers),
    cmocka_unit_test(test_environment),
    cmocka_unit_test(test_refusals),
    cmocka_unit_test(test_unknown),
    cmocka_unit_test(test_threads),
    cmocka_unit_test(test_memory),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  check_seed();
  r4_threads(1, false); /* most of it is small */
  return cmocka_run_group_tests_name("enclose", tests, NULL, NULL);
}
