/* A layer of a BERT encoder built by hand: values and derivatives against PyTorch's in test/golden/bert.txt, bounds of
 * the gradient against random points, and the first token's vector computed early. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four above */
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "golden_case.h"
#include "pass/early.h"
#include "r4.h"

enum { MAX_OUTPUTS = 32, MAX_VALUES = 4096 };

static const char *const params[] = {"q",  "q.bias",  "k",  "k.bias",  "v",  "v.bias",
                                     "o",  "o.bias",  "n1", "n1.bias", "f1", "f1.bias",
                                     "f2", "f2.bias", "n2", "n2.bias", "c",  "c.bias"};
enum { PARAMS = sizeof params / sizeof *params };

typedef struct {
  golden *gold;
  r4_graph *g;
  int64_t batch, tokens, width, heads;
  double eps;
  r4_id x, y, m, logits, total; /* total: sum of the losses */
} layer;

/* ---- The layer ---- */

static r4_id input(const layer *l, const char *name)
{
  return r4_input(l->g, name, golden_shape(golden_get(l->gold, "%s", name)));
}

static r4_id bias(const layer *l, const char *name)
{
  char text[16];
  snprintf(text, sizeof text, "%s.bias", name);
  return input(l, text);
}

/* x W^T + b of rows */
static r4_id dense(const layer *l, r4_id x, const char *name)
{
  return r4_add(l->g, r4_matmul(l->g, x, input(l, name), false, true), bias(l, name));
}

static r4_id mean_of_rows(r4_graph *g, r4_id x)
{
  return r4_reshape(g, r4_mean(g, x, R4_AXIS(1)), R4_SHAPE(r4_node_shape(g, x).dim[0], 1));
}

static r4_id norm(const layer *l, r4_id x, const char *name)
{
  r4_graph *g = l->g;
  r4_id centred = r4_sub(g, x, mean_of_rows(g, x)), v = mean_of_rows(g, r4_square(g, centred));
  r4_id scale = r4_rsqrt(g, r4_add(g, v, r4_const(g, golden_number(l->gold, "norm_eps"), R4_SCALAR)));
  return r4_add(g, r4_mul(g, r4_mul(g, centred, scale), input(l, name)), bias(l, name));
}

static r4_id heads(const layer *l, r4_id x)
{
  r4_id apart = r4_reshape(l->g, x, R4_SHAPE(l->batch, l->tokens, l->heads, l->width / l->heads));
  return r4_transpose(l->g, apart, (const int[]){0, 2, 1, 3});
}

static r4_id attention(const layer *l, r4_id x)
{
  r4_graph *g = l->g;
  r4_id q = heads(l, dense(l, x, "q")), k = heads(l, dense(l, x, "k")), v = heads(l, dense(l, x, "v"));
  double scale = 1 / sqrt((double)(l->width / l->heads));
  r4_id p = r4_softmax(g, r4_scale(g, r4_matmul(g, q, k, false, true), scale));
  r4_id seen = r4_transpose(g, r4_matmul(g, p, v, false, false), (const int[]){0, 2, 1, 3});
  return dense(l, r4_reshape(g, seen, R4_SHAPE(l->batch * l->tokens, l->width)), "o");
}

/* [batch, tokens, width], all tokens */
static r4_id encoded(const layer *l, r4_id from)
{
  r4_graph *g = l->g;
  r4_id x = r4_reshape(g, from, R4_SHAPE(l->batch * l->tokens, l->width));
  x = norm(l, r4_add(g, x, attention(l, x)), "n1");
  x = norm(l, r4_add(g, x, dense(l, r4_gelu(g, dense(l, x, "f1")), "f2")), "n2");
  return r4_reshape(g, x, R4_SHAPE(l->batch, l->tokens, l->width));
}

static r4_id first(const layer *l, r4_id x, bool early)
{
  int64_t start[] = {0, 0, 0}, size[] = {l->batch, 1, l->width};
  r4_id y =
    early ? early_slice(l->g, x, (struct cut){1, 0, 1, 1}, l->x) : r4_slice(l->g, x, start, size, NULL);
  return r4_reshape(l->g, y, R4_SHAPE(l->batch, l->width));
}

static r4_id losses(const layer *l)
{
  r4_graph *g = l->g;
  r4_id right = r4_mul(g, l->logits, r4_one_hot(g, l->y, r4_node_shape(g, l->logits).dim[1]));
  return r4_sub(g, r4_logsumexp(g, l->logits), r4_sum(g, right, R4_AXIS(1)));
}

static layer layer_new(bool early)
{
  layer l = {.gold = golden_open("bert"), .g = r4_graph_new()};
  const golden_tensor *x = golden_get(l.gold, "x");
  l.batch = x->dim[0], l.tokens = x->dim[1], l.width = x->dim[2];
  l.heads = (int64_t)golden_number(l.gold, "heads");
  l.eps = golden_number(l.gold, "eps");
  l.x = input(&l, "x"), l.y = input(&l, "y"), l.m = input(&l, "m");
  l.logits = dense(&l, first(&l, encoded(&l, l.x), early), "c");
  l.total = r4_sum(l.g, losses(&l), R4_ALL);
  return l;
}

static void layer_free(layer *l)
{
  golden_free(l->gold);
  r4_graph_free(l->g);
}

static r4_box box_of(const layer *l)
{
  r4_shape s = r4_node_shape(l->g, l->x);
  return r4_box_around(l->x, l->x, r4_broadcast(l->g, r4_scale(l->g, l->m, l->eps), s));
}

/* ---- Running ---- */

typedef struct {
  r4_plan *plan;
  r4_type type;
  union {
    float f[MAX_VALUES];
    double d[MAX_VALUES];
  } in[PARAMS + 3], out[MAX_OUTPUTS];
} runner;

static void put(runner *r, size_t slot, const char *name, size_t n, const double *v)
{
  r4_error e;
  assert_true(n <= MAX_VALUES);
  for (size_t k = 0; k < n; k++)
    if (r->type == R4_F64)
      r->in[slot].d[k] = v[k];
    else
      r->in[slot].f[k] = (float)v[k];
  if (r4_plan_input(r->plan, name, &r->in[slot], &e)) fail_msg("%s", e.text);
}

static double got(const runner *r, size_t out, size_t k)
{
  return r->type == R4_F64 ? r->out[out].d[k] : (double)r->out[out].f[k];
}

static void start(runner *r, const layer *l, size_t n, const r4_id *out, r4_plan_options options)
{
  static const char *const data[] = {"x", "y", "m"};
  r4_error e;
  r->type = options.type;
  r->plan = r4_plan_new(l->g, n, out, &options, &e);
  if (!r->plan) fail_msg("%s", e.text);
  for (size_t k = 0; k < PARAMS + 3; k++) {
    const char *name = k < 3 ? data[k] : params[k - 3];
    put(r, k, name, golden_get(l->gold, "%s", name)->count, golden_get(l->gold, "%s", name)->value);
  }
  for (size_t k = 0; k < n; k++) {
    assert_true(r4_shape_count(r4_node_shape(l->g, out[k])) <= MAX_VALUES);
    assert_int_equal(r4_plan_output(r->plan, k, &r->out[k], &e), R4_OK);
  }
}

static void run(runner *r)
{
  r4_error e;
  if (r4_plan_run(r->plan, &e)) fail_msg("%s", e.text);
}

/* ---- Against PyTorch ---- */

/* Relative to the largest value of a tensor, or to 1: what all scores have in common has no effect, so the derivative
 * with respect to the keys' bias is 0. */
static void compare(const runner *r, const layer *l, size_t out, const char *name, double tolerance)
{
  const golden_tensor *t = golden_get(l->gold, "%s", name);
  double largest = 1;
  for (size_t k = 0; k < t->count; k++) largest = fmax(largest, fabs(t->value[k]));
  for (size_t k = 0; k < t->count; k++) {
    double off = fabs(got(r, out, k) - t->value[k]);
    if (!(off <= tolerance * largest))
      fail_msg("%s, value %zu: %.17g, expected %.17g", name, k, got(r, out, k), t->value[k]);
  }
}

static void check_golden(bool early, r4_plan_options options, double tolerance)
{
  static runner r;
  layer l = layer_new(early);
  r4_graph *g = l.g;
  r4_id out[MAX_OUTPUTS], by[PARAMS + 1], gradient;
  char name[MAX_OUTPUTS][32] = {"z", "loss", "g", "z.lo", "z.hi", "g.lo", "g.hi", "r3.loss"};
  r4_grad(g, l.total, 1, &l.x, &gradient);
  r4_id squares = r4_sum(g, r4_square(g, r4_mul(g, gradient, l.m)), R4_ALL);
  r4_id loss = r4_scale(g, r4_add(g, l.total, squares), 1 / (double)l.batch);
  r4_box box = box_of(&l);
  r4_pair bz = r4_bound(g, l.logits, 1, &box), bg = r4_bound(g, gradient, 1, &box);
  r4_id some[] = {l.logits, losses(&l), gradient, bz.lo, bz.hi, bg.lo, bg.hi, loss};
  size_t n = sizeof some / sizeof *some;
  for (size_t k = 0; k < n; k++) out[k] = some[k];
  for (size_t k = 0; k < PARAMS; k++) by[k] = input(&l, params[k]);
  by[PARAMS] = l.x;
  r4_grad(g, loss, PARAMS + 1, by, out + n);
  for (size_t k = 0; k <= PARAMS; k++)
    snprintf(name[n + k], sizeof name[0], "r3.grad.%s", k < PARAMS ? params[k] : "x");
  start(&r, &l, n + PARAMS + 1, out, options);
  run(&r);
  for (size_t k = 0; k < n + PARAMS + 1; k++) compare(&r, &l, k, name[k], tolerance);
  r4_plan_free(r.plan);
  layer_free(&l);
}

static void test_golden(void **state)
{
  (void)state;
  for (int early = 0; early < 2; early++) {
    check_golden(early, (r4_plan_options){.type = R4_F64, .reference = true}, 1e-9);
    check_golden(early, (r4_plan_options){.type = R4_F64}, 1e-9);
    check_golden(early, (r4_plan_options){.type = R4_F32}, 1e-4);
    check_golden(early, (r4_plan_options){.type = R4_F32, .keep_bytes = 1}, 1e-4);
  }
}

/* ---- Bounds of the gradient ---- */

/* At points of the box, a third of them corners, the gradient is inside its bounds. */
static void test_bounds_of_gradient(void **state)
{
  (void)state;
  enum { LO, HI, AT, POINTS = 200 };
  static runner box, point;
  layer l = layer_new(true);
  r4_id gradient;
  r4_grad(l.g, l.total, 1, &l.x, &gradient);
  r4_box around = box_of(&l);
  r4_pair b = r4_bound(l.g, gradient, 1, &around);
  start(&box, &l, 2, (r4_id[]){b.lo, b.hi}, (r4_plan_options){.type = R4_F64});
  start(&point, &l, 1, &gradient, (r4_plan_options){.type = R4_F64});
  run(&box);
  const golden_tensor *x = golden_get(l.gold, "x"), *m = golden_get(l.gold, "m");
  double v[MAX_VALUES], widest = 0;
  for (unsigned k = 0; k < POINTS; k++) {
    for (size_t i = 0; i < x->count; i++) {
      double u = 2 * r4_random_uniform((r4_random){7, 1, k}, i) - 1;
      if (k % 3 == 0) u = u < 0 ? -1 : 1;
      v[i] = x->value[i] + l.eps * m->value[i / (size_t)l.width] * u;
    }
    put(&point, 0, "x", x->count, v);
    run(&point);
    for (size_t i = 0; i < x->count; i++) {
      double lo = got(&box, LO, i), hi = got(&box, HI, i), at = got(&point, 0, i);
      if (!(lo - 1e-12 <= at && at <= hi + 1e-12)) fail_msg("%zu: %g is not in [%g, %g]", i, at, lo, hi);
      widest = fmax(widest, hi - lo);
    }
  }
  assert_true(widest > 1e-6 && isfinite(widest));
  r4_plan_free(box.plan);
  r4_plan_free(point.plan);
  layer_free(&l);
}

/* ---- The first token early ---- */

static double flops_of_step(bool early)
{
  layer l = layer_new(early);
  r4_error e;
  r4_id gradient;
  r4_grad(l.g, l.total, 1, &l.x, &gradient);
  r4_plan *p = r4_plan_new(l.g, 1, &gradient, NULL, &e);
  assert_non_null(p);
  double flops = r4_plan_flops(p);
  r4_plan_free(p);
  layer_free(&l);
  return flops;
}

/* Of a layer the keys and values are needed for all tokens, and little else. */
static void test_early(void **state)
{
  (void)state;
  assert_true(flops_of_step(true) < .6 * flops_of_step(false));
}

/* Every operation that is computed in parts, of h [4, 4]: a part of each axis is that of the whole. */
static r4_id mixed(r4_graph *g, r4_id h)
{
  r4_id turned = r4_transpose(g, h, (const int[]){1, 0});
  r4_id y = r4_add(g, h, turned); /* two parts of h are needed */
  y = r4_add(g, y, r4_matmul(g, h, r4_tanh(g, h), true, false));
  y = r4_add(g, y, r4_matmul(g, r4_exp(g, h), h, false, true));
  y = r4_add(g, y, r4_reshape(g, r4_sum(g, r4_square(g, h), R4_AXIS(1)), R4_SHAPE(4, 1)));
  y = r4_add(g, y, r4_logsumexp(g, r4_scale(g, h, 3)));
  y = r4_mul(g, y, r4_softmax(g, turned));
  r4_id folded = r4_reshape(g, r4_sigmoid(g, h), R4_SHAPE(2, 2, 4));
  return r4_add(g, y, r4_reshape(g, r4_softmax(g, folded), R4_SHAPE(4, 4)));
}

static void test_early_values(void **state)
{
  (void)state;
  r4_error e;
  double in[16], early[16], late[16];
  for (int k = 0; k < 16; k++) in[k] = sin(3 * k + 1);
  for (int axis = 0; axis < 2; axis++)
    for (int64_t step = 1; step <= 2; step++) {
      r4_graph *g = r4_graph_new();
      r4_id y = mixed(g, r4_gelu(g, r4_input(g, "x", R4_SHAPE(4, 4))));
      struct cut c = {axis, 1, step, 2};
      int64_t from[2] = {0}, by[2] = {1, 1}, size[2] = {4, 4};
      from[axis] = 1, by[axis] = step, size[axis] = 2;
      r4_id out[] = {early_slice(g, y, c, R4_NONE), r4_slice(g, y, from, size, by)};
      assert_int_not_equal(out[0].i, out[1].i);
      r4_plan *p = r4_plan_new(g, 2, out, &(r4_plan_options){.type = R4_F64, .reference = true}, &e);
      if (!p) fail_msg("%s", e.text);
      assert_int_equal(r4_plan_input(p, "x", in, &e), R4_OK);
      assert_int_equal(r4_plan_output(p, 0, early, &e), R4_OK);
      assert_int_equal(r4_plan_output(p, 1, late, &e), R4_OK);
      assert_int_equal(r4_plan_run(p, &e), R4_OK);
      for (int k = 0; k < 8; k++) assert_true(fabs(early[k] - late[k]) < 1e-14);
      r4_plan_free(p);
      r4_graph_free(g);
    }
}

/* Derivatives with respect to the node that early_slice was given find it, though a part of it would do. */
static void test_early_stops(void **state)
{
  (void)state;
  r4_error e;
  r4_graph *g = r4_graph_new();
  r4_id x = r4_input(g, "x", R4_SHAPE(2, 3, 2)), h = r4_scale(g, x, 2), d;
  r4_id y = early_slice(g, r4_square(g, h), (struct cut){1, 1, 1, 1}, h);
  r4_grad(g, r4_sum(g, y, R4_ALL), 1, &h, &d);
  float in[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, out[12];
  r4_plan *p = r4_plan_new(g, 1, &d, NULL, &e);
  assert_non_null(p);
  assert_int_equal(r4_plan_input(p, "x", in, &e), R4_OK);
  assert_int_equal(r4_plan_output(p, 0, out, &e), R4_OK);
  assert_int_equal(r4_plan_run(p, &e), R4_OK);
  for (int k = 0; k < 12; k++) assert_true(out[k] == (k / 2 % 3 == 1 ? 4 * in[k] : 0));
  r4_plan_free(p);
  r4_graph_free(g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_golden), cmocka_unit_test(test_bounds_of_gradient),
                                     cmocka_unit_test(test_early), cmocka_unit_test(test_early_values),
                                     cmocka_unit_test(test_early_stops)};
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("bert", tests, NULL, NULL);
}
