/* Products in bfloat16: rounding, errors, what is rounded and what is not, radii, plans and training steps. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "exec/kernel/bf16.h"
#include "exec/kernel/kernel.h"
#include "exec/plan.h"

static const double U = 1. / 256, FLOAT = 1. / (1 << 24);

#define BF16 ((r4_plan_options){.bf16 = true})

/* Of a CPU without instructions there is nothing to test but that it says so. */
#define NEEDS_BF16 \
  if (r4_bf16_missing()) check_skip("%s", r4_bf16_missing())

/* ---- Rounding ---- */

static float of_bits(uint32_t b)
{
  float x;
  memcpy(&x, &b, sizeof x);
  return x;
}

static uint16_t stored(const struct op *op, float x)
{
  uint16_t y;
  bf16_store(op)(1, &x, NULL, NULL, (float *)(void *)&y);
  float again, same;
  bf16_load(1, &y, &again);
  op->f32(1, &x, NULL, NULL, &same);
  assert_true(again == same || (isnan(again) && isnan(same)));
  return y;
}

static void test_rounding(void **state)
{
  (void)state;
  static const struct {
    uint32_t x;
    uint16_t nearest, outward;
  } known[] = {
    {0x3f800000, 0x3f80, 0x3f80}, /* 1                                            */
    {0x3f800001, 0x3f80, 0x3f81},
    {0x3f807fff, 0x3f80, 0x3f81},
    {0x3f808000, 0x3f80, 0x3f81}, /* a tie: to even                               */
    {0x3f818000, 0x3f82, 0x3f82},
    {0x3f808001, 0x3f81, 0x3f81},
    {0xbf808001, 0xbf81, 0xbf81},
    {0xbf800001, 0xbf80, 0xbf81}, /* away from zero, not upwards                   */
    {0x00000000, 0x0000, 0x0000},
    {0x80000000, 0x8000, 0x8000},
    {0x7f800000, 0x7f80, 0x7f80},
    {0xff800000, 0xff80, 0xff80}, /* infinite        */
    {0x7f7fffff, 0x7f80, 0x7f80}, /* the largest float                             */
    {0x7f800001, 0x7fc0, 0x7fc0},
    {0xffc00000, 0xffc0, 0xffc0}, /* not a number    */
    {0x00000001, 0x0000, 0x0080},
    {0x80000001, 0x8000, 0x8080}, /* below 2^-126    */
    {0x007fffff, 0x0080, 0x0080},
  };
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    assert_int_equal(stored(&op_bf16, of_bits(known[k].x)), known[k].nearest);
    assert_int_equal(stored(&op_bf16_out, of_bits(known[k].x)), known[k].outward);
  }
  draw_start(41, 0);
  for (int k = 0; k < 20000; k++) {
    float x = (float)ldexp(draw(-1, 1), (int)draw_between(-100, 100)), near, out;
    op_bf16.f32(1, &x, NULL, NULL, &near);
    op_bf16_out.f32(1, &x, NULL, NULL, &out);
    assert_true(fabs((double)near - (double)x) <= U * fabs((double)x));
    assert_true(fabsf(out) >= fabsf(x) && fabs((double)out) <= (1 + 2 * U) * fabs((double)x) && x * out >= 0);
  }
}

/* ---- Errors of products ---- */

/* y by a graph with one product; which = of |a| and |b|, for what the error is a share of */
struct product {
  r4_shape a, b;
  bool ta, tb, bias, relu, sum;
  const struct op *conv; /* NULL: a matrix product */
  r4_window window;
  int64_t size[2];
};

static r4_id multiply(r4_graph *g, const struct product *p, r4_id a, r4_id b)
{
  if (!p->conv) return r4_matmul(g, a, b, p->ta, p->tb);
  if (p->conv == op_by_name("conv2d")) return r4_conv2d(g, a, b, p->window);
  if (p->conv == op_by_name("conv2d_dx")) return r4_conv2d_dx(g, a, b, p->window, p->size[0], p->size[1]);
  return r4_conv2d_dw(g, a, b, p->window, p->size[0], p->size[1]);
}

static r4_id rounded(r4_graph *g, r4_id x, bool round)
{
  return round ? graph_add(g, &op_bf16, 1, &x, NULL, NULL, NULL) : x;
}

/* The graph of y: operands rounded or not, or their sizes. */
static r4_id build(r4_graph *g, const struct product *p, bool round, bool sizes)
{
  r4_id a = r4_input(g, "a", p->a), b = r4_input(g, "b", p->b);
  if (sizes) return multiply(g, p, r4_abs(g, a), r4_abs(g, b));
  r4_id y = multiply(g, p, rounded(g, a, round), rounded(g, b, round));
  r4_shape s = r4_node_shape(g, y);
  if (p->sum) return r4_add(g, r4_exp(g, r4_input(g, "c", s)), y);
  if (p->bias) y = r4_add(g, y, r4_broadcast(g, r4_input(g, "c", R4_SHAPE(s.dim[s.rank - 1])), s));
  return p->relu ? r4_relu(g, y) : y;
}

static struct runner *run_product(const struct product *p, r4_plan_options how, bool round, bool sizes,
                                  const struct runner *like)
{
  r4_graph *g = r4_graph_new();
  r4_id y = build(g, p, round, sizes);
  struct runner *r = runner_new(g, 1, &y, how);
  for (size_t i = 0; i < r->n_in; i++)
    for (size_t k = 0; k < r->in_count[i] && !like; k++) r->in[i][k] = draw(-1, 1);
  for (size_t i = 0; i < r->n_in && like; i++)
    memcpy(r->in[i], runner_input((struct runner *)(uintptr_t)like, r->name[i]),
           r->in_count[i] * sizeof(double));
  runner_run(r);
  r4_graph_free(g);
  return r;
}

/* |y - exact| <= (2 u + u^2 + K 2^-24) sum |a b|, + roundings of what follows; and |y - that of rounded operands| <=
 * K 2^-23 sum |a b|: the operands are all that is lost. */
static bool check_product(const struct product *p, double terms)
{
  struct runner *fast = run_product(p, BF16, false, false, NULL),
                *exact = run_product(p, REFERENCE, false, false, fast),
                *close = run_product(p, REFERENCE, true, false, fast),
                *sizes = run_product(p, REFERENCE, false, true, fast);
  char *text = r4_plan_text(fast->plan);
  bool found = strstr(text, " bf16: ") && strstr(text, " bf16["), in_place = strstr(text, "in place");
  r4_string_free(text);
  assert_true(found ? in_place == p->sum : p->conv != NULL); /* of some convolutions oneDNN has none */
  double off = 0;
  for (size_t k = 0; k < fast->out_count[0]; k++) {
    double all = sizes->out[0][k], more = 4 * FLOAT * (fabs(exact->out[0][k]) + 1);
    double e = fabs(fast->out[0][k] - exact->out[0][k]), r = fabs(fast->out[0][k] - close->out[0][k]);
    assert_true(e <= (2 * U + U * U + terms * FLOAT) * all + more);
    assert_true(!found || r <= 2 * terms * FLOAT * all + more);
    if (e > off) off = e;
  }
  assert_true(!found || off > 100 * FLOAT); /* it was rounded */
  runner_free(fast);
  runner_free(exact);
  runner_free(close);
  runner_free(sizes);
  return found;
}

static void test_matmul(void **state)
{
  (void)state;
  NEEDS_BF16;
  narrow_force(true);
  for (uint32_t t = 0; t < 60; t++) {
    draw_start(42, t);
    int64_t m = draw_between(1, 70), k = draw_between(1, 200), n = draw_between(1, 70),
            batch = draw_between(2, 4);
    struct product p = {.ta = draw_below(2), .tb = draw_below(2)};
    int64_t ar = p.ta ? k : m, ac = p.ta ? m : k, br = p.tb ? n : k, bc = p.tb ? k : n;
    p.a = t % 3 ? R4_SHAPE(ar, ac) : R4_SHAPE(batch, ar, ac);
    p.b = t % 3 ? R4_SHAPE(br, bc) : R4_SHAPE(batch, br, bc);
    p.bias = t % 3 && draw_below(2) && m > 1;
    p.relu = p.bias && draw_below(2);
    p.sum = t % 3 && !p.bias && draw_below(2);
    check_product(&p, (double)k + 1);
  }
  narrow_force(false);
}

static struct product conv_of(const char *op, int64_t in, int64_t out, int64_t size, r4_window w)
{
  struct product p = {.conv = op_by_name(op), .window = w};
  int64_t side = 11, y = (side + 2 * w.pad[0] - w.dilation[0] * (size - 1) - 1) / w.stride[0] + 1;
  r4_shape image = R4_SHAPE(3, side, side, in), weights = R4_SHAPE(out, size, size, in),
           result = R4_SHAPE(3, y, y, out);
  bool dx = !strcmp(op, "conv2d_dx"), dw = !strcmp(op, "conv2d_dw");
  p.a = dx ? result : image;
  p.b = dw ? result : weights;
  p.size[0] = p.size[1] = dx ? side : size;
  return p;
}

static void test_conv(void **state)
{
  (void)state;
  NEEDS_BF16;
  static const char *const ops[] = {"conv2d", "conv2d_dx", "conv2d_dw"};
  int found[3] = {0};
  narrow_force(true);
  for (uint32_t t = 0; t < 45; t++) {
    draw_start(43, t);
    r4_window w = r4_window_of(draw_between(1, 2), draw_between(0, 2));
    if (t % 5 == 4) w.dilation[0] = w.dilation[1] = 2;
    int64_t in = draw_between(1, 40), out = draw_between(1, 40), size = draw_between(1, 4);
    struct product p = conv_of(ops[t % 3], in, out, size, w);
    p.bias = t % 3 == 0 && draw_below(2);
    p.relu = p.bias && draw_below(2);
    found[t % 3] +=
      check_product(&p, (double)(t % 3 == 2 ? 3 * 11 * 11 : (t % 3 ? out : in) * size * size) + 1);
  }
  narrow_force(false);
  for (int k = 0; k < 3; k++) assert_true(found[k] >= 10);
}

/* ---- Plans: with small whole numbers nothing is rounded, and every bit is that of the float plan ---- */

static double small_number(void)
{
  return draw_below(6) ? 0 : draw_below(2) ? 1 : -1;
}

/* Two layers and what follows: the loss, the gradient by the input, its norm, and derivatives of both by the weights:
 * gates, sums in place, biases and operands of several products. */
static size_t two_layers(r4_graph *g, bool conv, r4_id *out)
{
  r4_id x = r4_input(g, "x", conv ? R4_SHAPE(4, 6, 6, 4) : R4_SHAPE(8, 16));
  r4_id w = r4_input(g, "w", conv ? R4_SHAPE(8, 4, 4, 4) : R4_SHAPE(24, 16)),
        b = r4_input(g, "b", R4_SHAPE(conv ? 8 : 24));
  r4_id z = conv ? r4_conv2d(g, x, w, r4_window_of(1, 1)) : r4_matmul(g, x, w, false, true);
  r4_id h = r4_relu(g, r4_add(g, z, r4_broadcast(g, b, r4_node_shape(g, z))));
  int64_t n = r4_shape_count(r4_node_shape(g, h)) / (conv ? 4 : 8);
  r4_id flat = r4_reshape(g, h, R4_SHAPE(conv ? 4 : 8, n)), v = r4_input(g, "v", R4_SHAPE(n, 5));
  r4_id y = r4_matmul(g, flat, v, false, false), loss = r4_sum(g, r4_relu(g, y), R4_ALL), dx;
  r4_grad(g, loss, 1, &x, &dx);
  r4_id total = r4_add(g, loss, r4_sum(g, r4_relu(g, dx), R4_ALL));
  r4_id by[] = {w, b, v};
  out[0] = total, out[1] = dx, out[2] = y;
  r4_grad(g, total, 3, by, out + 3);
  return 6;
}

static void compare_plans(bool conv, size_t keep, uint32_t trial)
{
  r4_graph *g = r4_graph_new();
  r4_id out[6];
  size_t n = two_layers(g, conv, out);
  struct runner *half = runner_new(g, n, out, (r4_plan_options){.bf16 = true, .keep_bytes = keep}),
                *want = runner_new(g, n, out, FAST32);
  draw_start(44, trial);
  for (size_t i = 0; i < half->n_in; i++)
    for (size_t k = 0; k < half->in_count[i]; k++) half->in[i][k] = small_number();
  runner_copy_inputs(want, half);
  runner_run(half);
  runner_run(want);
  assert_true(r4_plan_slab_bytes(half->plan) > 0);
  for (size_t k = 0; k < n; k++)
    assert_memory_equal(half->out[k], want->out[k], want->out_count[k] * sizeof(double));
  runner_free(half);
  runner_free(want);
  r4_graph_free(g);
}

static void test_whole_numbers(void **state)
{
  (void)state;
  NEEDS_BF16;
  narrow_force(true);
  for (uint32_t t = 0; t < 40; t++) compare_plans(t % 2, t % 4 < 2 ? 0 : 64, t);
  narrow_force(false);
}

/* What is not a number stays so, whatever its sign; what is below 0, or -0, becomes 0 or stays -0. */
static void test_rectified(void **state)
{
  (void)state;
  uint16_t x[] = {0x3f80, 0xbf80, 0x8000, 0x8001, 0xff80, 0xff81, 0xffc0, 0x7fc0, 0x7f80, 0},
           want[] = {0x3f80, 0, 0x8000, 0, 0, 0xff81, 0xffc0, 0x7fc0, 0x7f80, 0};
  bf16_rectify(x, sizeof x / sizeof *x);
  assert_memory_equal(x, want, sizeof x);
}

/* a + b c, a result, a relu that is reshaped before its gate, and a product that is too small to gain: none of them is
 * stored in bfloat16 where anything else reads it, and all are right. */
static void test_not_stored(void **state)
{
  (void)state;
  NEEDS_BF16;
  r4_graph *g = r4_graph_new();
  r4_id x = r4_input(g, "x", R4_SHAPE(128, 128)), w = r4_input(g, "w", R4_SHAPE(128, 128)),
        t = r4_input(g, "t", R4_SHAPE(128, 1)), u = r4_input(g, "u", R4_SHAPE(1, 128)),
        v = r4_input(g, "v", R4_SHAPE(128, 128));
  r4_id z = r4_matmul(g, x, w, false, false), more = r4_exp(g, r4_matmul(g, v, w, false, false)),
        sum = r4_add(g, more, r4_matmul(g, x, v, false, false)), thin = r4_matmul(g, t, u, false, false),
        h = r4_relu(g, r4_matmul(g, w, x, false, false));
  r4_id gate = r4_step(g, r4_reshape(g, h, R4_SHAPE(64, 256)));
  r4_id out[] = {z,
                 r4_matmul(g, z, v, false, false),
                 r4_matmul(g, sum, v, false, false),
                 r4_matmul(g, thin, v, false, false),
                 r4_matmul(g, h, v, false, false),
                 gate};
  enum { OUTPUTS = sizeof out / sizeof *out };
  struct runner *half = runner_new(g, OUTPUTS, out, BF16), *want = runner_new(g, OUTPUTS, out, REFERENCE);
  draw_start(46, 0);
  for (size_t i = 0; i < half->n_in; i++)
    for (size_t k = 0; k < half->in_count[i]; k++) half->in[i][k] = draw(-.1, .1);
  runner_copy_inputs(want, half);
  runner_run(half);
  runner_run(want);
  for (size_t k = 0; k < OUTPUTS; k++) {
    double most = 0, off = 0;
    for (size_t j = 0; j < want->out_count[k]; j++) {
      most = fmax(most, fabs(want->out[k][j]));
      off = fmax(off, k + 1 < OUTPUTS ? fabs(half->out[k][j] - want->out[k][j]) : 0);
    }
    if (!(off <= 4 * U * most)) fail_msg("output %zu: %g of %g", k, off, most);
  }
  runner_free(half);
  runner_free(want);
  r4_graph_free(g);
}

/* What only products and gates read is stored in bfloat16, by the product that makes it. */
static void test_stored(void **state)
{
  (void)state;
  NEEDS_BF16;
  r4_graph *g = r4_graph_new();
  r4_id x = r4_input(g, "x", R4_SHAPE(512, 64)), w = r4_input(g, "w", R4_SHAPE(128, 64)),
        v = r4_input(g, "v", R4_SHAPE(64, 128));
  r4_id h = r4_relu(g, r4_add(g, r4_matmul(g, x, w, false, true),
                              r4_broadcast(g, r4_input(g, "b", R4_SHAPE(128)), R4_SHAPE(512, 128))));
  r4_id out[3] = {r4_sum(g, r4_square(g, r4_matmul(g, h, v, false, true)), R4_ALL)}, by[] = {w, v};
  r4_grad(g, out[0], 2, by, out + 1);
  struct runner *half = runner_new(g, 3, out, BF16), *full = runner_new(g, 3, out, FAST32);
  char *text = r4_plan_text(half->plan);
  assert_non_null(strstr(text, "relu bf16"));
  r4_string_free(text);
  assert_true(r4_plan_slab_bytes(half->plan) < r4_plan_slab_bytes(full->plan));
  draw_start(48, 0);
  for (size_t i = 0; i < half->n_in; i++)
    for (size_t k = 0; k < half->in_count[i]; k++) half->in[i][k] = small_number();
  runner_copy_inputs(full, half);
  runner_run(half);
  runner_run(full);
  assert_true(half->out[0][0] > 0 && half->out[0][0] == full->out[0][0]);
  runner_free(half);
  runner_free(full);
  r4_graph_free(g);
}

/* A rounded value that the same tile reads, and one that another tile does, are what they are in memory. */
static void test_tile(void **state)
{
  (void)state;
  r4_graph *g = r4_graph_new();
  r4_id x = r4_input(g, "x", R4_SHAPE(40, 30)), w = r4_input(g, "w", R4_SHAPE(30, 50)), e = r4_exp(g, x),
        h[2];
  for (int k = 0; k < 2; k++) h[k] = graph_add(g, k ? &op_bf16_out : &op_bf16, 1, &e, NULL, NULL, NULL);
  r4_id ws = graph_add(g, &op_bf16, 1, &w, NULL, NULL, NULL);
  r4_id out[] = {r4_mul(g, h[0], x),
                 r4_sub(g, h[1], e),
                 r4_matmul(g, h[0], ws, false, false),
                 r4_matmul(g, h[1], ws, false, false),
                 r4_sum(g, r4_square(g, h[1]), R4_AXIS(0)),
                 R4_NONE};
  out[5] =
    r4_add(g, h[0],
           r4_broadcast(g, r4_reshape(g, r4_sum(g, out[2], R4_AXIS(1)), R4_SHAPE(40, 1)), R4_SHAPE(40, 30)));
  if (r4_bf16_missing()) {
    r4_graph_free(g);
    check_skip("%s", r4_bf16_missing());
  }
  struct runner *fast = runner_new(g, 6, out, FAST32), *want = runner_new(g, 6, out, REFERENCE);
  draw_start(45, 0);
  for (size_t i = 0; i < fast->n_in; i++)
    for (size_t k = 0; k < fast->in_count[i]; k++)
      fast->in[i][k] = (double)draw_between(-8, 8) / 8; /* exp is not on an edge */
  runner_copy_inputs(want, fast);
  runner_run(fast);
  runner_run(want);
  for (size_t k = 0; k < 6; k++)
    assert_close("tile", fast->out[k], want->out[k], want->out_count[k], 1e-5, 1e-3);
  runner_free(fast);
  runner_free(want);
  r4_graph_free(g);
}

/* ---- Radii ---- */

/* Of few masked features, rows of |w| are factors; where a norm is folded into the weights, multiples are. */
static void test_factors(void **state)
{
  (void)state;
  NEEDS_BF16;
  r4_graph *g = r4_graph_new();
  r4_id r = r4_input(g, "r", R4_SHAPE(64, 32)), w = r4_abs(g, r4_input(g, "w", R4_SHAPE(100, 32))),
        s = r4_input(g, "s", R4_SHAPE(32, 64));
  r4_id index = r4_input(g, "i", R4_SHAPE(64)), few = r4_gather(g, w, index, 0);
  r4_id out[] = {
    r4_matmul(g, r, few, false, true),
    r4_matmul(g, r, r4_scale(g, r4_slice(g, w, (int64_t[]){0, 0}, (int64_t[]){64, 32}, (int64_t[]){1, 1}), 3),
              false, true),
    r4_matmul(g, r, r4_add(g, r4_abs(g, s), r4_square(g, s)), false, false)};
  r4_error e;
  narrow_force(true);
  r4_plan *p = r4_plan_new(g, 3, out, &BF16, &e);
  narrow_force(false);
  assert_non_null(p);
  char *text = r4_plan_text(p);
  assert_non_null(strstr(text, "bf16_out["));
  assert_null(strstr(text, " bf16["));
  r4_string_free(text);
  r4_plan_free(p);
  r4_graph_free(g);
}

/* The radius of y over the box, and the exact one: never below what float sums make of it. */
static void check_radius(bool conv, uint32_t trial)
{
  r4_graph *g = r4_graph_new();
  r4_id x = r4_input(g, "x", conv ? R4_SHAPE(2, 8, 8, 8) : R4_SHAPE(9, 100));
  r4_id w = r4_input(g, "w", conv ? R4_SHAPE(16, 4, 4, 8) : R4_SHAPE(33, 100));
  r4_id y = conv ? r4_conv2d(g, x, w, r4_window_of(2, 1)) : r4_matmul(g, x, w, false, true);
  r4_box box = r4_box_around(x, x, r4_input(g, "r", r4_node_shape(g, x)));
  r4_pair b = r4_bound(g, r4_relu(g, y), 1, &box);
  r4_id twice =
    conv ? r4_conv2d(g, r4_relu(g, r4_input(g, "r", r4_node_shape(g, x))), r4_abs(g, w), r4_window_of(2, 1))
         : r4_matmul(g, r4_relu(g, r4_input(g, "r", r4_node_shape(g, x))), r4_abs(g, w), false, true);
  r4_id out[] = {twice, b.lo, b.hi};
  struct runner *fast = runner_new(g, 3, out, BF16), *exact = runner_new(g, 3, out, REFERENCE);
  draw_start(46, trial);
  for (size_t i = 0; i < fast->n_in; i++)
    for (size_t k = 0; k < fast->in_count[i]; k++)
      fast->in[i][k] = strcmp(fast->name[i], "r")
                         ? draw(-1, 1)
                         : fabs((double)(float)ldexp(draw(-1, 1), (int)draw_between(-20, 0)));
  runner_copy_inputs(exact, fast);
  runner_run(fast);
  runner_run(exact);
  double terms = conv ? 128 : 100;
  for (size_t k = 0; k < fast->out_count[0]; k++) {
    double want = exact->out[0][k], got = fast->out[0][k];
    assert_true(got >= want * (1 - 2 * terms * FLOAT) &&
                got <= want * (1 + 4 * U + 4 * U * U + 2 * terms * FLOAT));
    assert_true(fast->out[1][k] <= fast->out[2][k]);
  }
  char *text = r4_plan_text(fast->plan);
  assert_non_null(strstr(text, "bf16_out["));
  r4_string_free(text);
  runner_free(fast);
  runner_free(exact);
  r4_graph_free(g);
}

static void test_radius(void **state)
{
  (void)state;
  NEEDS_BF16;
  narrow_force(true);
  for (uint32_t t = 0; t < 40; t++) check_radius(t % 2, t);
  narrow_force(false);
}

/* ---- What is rounded ---- */

static int rounded_products(r4_id y, r4_graph *g, r4_plan_options how)
{
  r4_error e;
  r4_plan *p = r4_plan_new(g, 1, &y, &how, &e);
  assert_non_null(p);
  int found = 0;
  char *text = r4_plan_text(p);
  for (const char *at = text; (at = strstr(at, " bf16: ")); at++) found++;
  r4_string_free(text);
  r4_plan_free(p);
  return found;
}

static int matmul_of(int64_t m, int64_t k, int64_t n, r4_plan_options how)
{
  r4_graph *g = r4_graph_new();
  r4_id y = r4_matmul(g, r4_input(g, "a", R4_SHAPE(m, k)), r4_input(g, "b", R4_SHAPE(k, n)), false, false);
  int found = rounded_products(y, g, how);
  r4_graph_free(g);
  return found;
}

static int conv_found(int64_t in, int64_t out, int64_t size, int64_t groups, r4_plan_options how)
{
  r4_graph *g = r4_graph_new();
  r4_window w = r4_window_of(1, size / 2);
  w.groups = groups;
  r4_id y = r4_conv2d(g, r4_input(g, "a", R4_SHAPE(8, 16, 16, in)),
                      r4_input(g, "b", R4_SHAPE(out, size, size, in / groups)), w);
  int found = rounded_products(y, g, how);
  r4_graph_free(g);
  return found;
}

static void test_choice(void **state)
{
  (void)state;
  NEEDS_BF16;
  assert_int_equal(matmul_of(128, 128, 128, BF16), 1);
  assert_int_equal(matmul_of(128, 128, 128, FAST32), 0); /* only if asked */
  assert_int_equal(matmul_of(128, 128, 128, (r4_plan_options){.type = R4_F64, .bf16 = true}), 0);
  assert_int_equal(matmul_of(32, 32, 32, BF16), 0);    /* small */
  assert_int_equal(matmul_of(2, 1024, 1024, BF16), 0); /* thin: rounding the weights is the work */
  assert_int_equal(conv_found(16, 16, 5, 1, BF16), 1);
  assert_int_equal(conv_found(1, 16, 5, 1, BF16), 0); /* a single channel */
  assert_int_equal(conv_found(32, 32, 5, 32, BF16), 0);
  assert_int_equal(conv_found(64, 64, 3, 1, BF16), 1);
  r4_plan_options both = {.bf16 = true, .winograd = true};
  assert_int_equal(conv_found(64, 64, 5, 1, both), 1);
#if defined(__AVX2__) && defined(__FMA__)
  assert_int_equal(conv_found(64, 64, 3, 1, both), dnn_has_amx() ? 1 : 0);
#endif
  dnn_hide_bf16(true);
  assert_non_null(r4_bf16_missing());
  assert_int_equal(matmul_of(128, 128, 128, BF16), 0);
  dnn_hide_bf16(false);
  assert_null(r4_bf16_missing());
}

/* ---- Memory ---- */

static void test_out_of_memory(void **state)
{
  (void)state;
  NEEDS_BF16;
  r4_graph *g = r4_graph_new();
  r4_id out[6];
  size_t n = two_layers(g, true, out);
  int failures = 0;
  narrow_force(true);
  for (int64_t at = 1;; at++) {
    r4_error e = {0};
    r4_mem_fail_at((long)at);
    r4_plan *p = r4_plan_new(g, n, out, &BF16, &e);
    r4_mem_fail_at(0);
    r4_plan_free(p);
    if (p) break;
    if (e.status != R4_E_MEMORY) fail_msg("%d %s", (int)at, e.text);
    failures++;
  }
  narrow_force(false);
  assert_true(failures > 50);
  r4_graph_free(g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_rounding),      cmocka_unit_test(test_matmul), cmocka_unit_test(test_conv),
    cmocka_unit_test(test_whole_numbers), cmocka_unit_test(test_stored), cmocka_unit_test(test_tile),
    cmocka_unit_test(test_rectified),     cmocka_unit_test(test_not_stored),
    cmocka_unit_test(test_factors),       cmocka_unit_test(test_radius), cmocka_unit_test(test_choice),
    cmocka_unit_test(test_out_of_memory),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("bf16", tests, NULL, NULL);
}
