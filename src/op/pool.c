/* Pooling over windows of an image [n,h,w,c].
 *
 *     pool_sum   y = sum of the window; outside of the image counts as 0
 *     unpool_sum its transpose: every position of the window gets the output's value added
 *     pool_max   y = largest of the window inside the image; the first in row-major order at a tie
 *     unpool_max (x, t): t goes to the position of the largest x of its window
 *     pick_max   (x, t): the value of t where x is largest in the window; transpose of unpool_max
 *
 * closed under derivatives, because which position is largest is constant almost everywhere. */
#include <math.h>
#include <string.h>

#include "op/functional.h"
#include "op/pool.h"

bool pool_geometry(struct infer *s, r4_shape x, r4_shape *out)
{
  if (x.rank != 4) return infer_fail(s, "needs an image of rank 4");
  if (!window_valid(s)) return false;
  int64_t h = window_out(s->attr, 0, x.dim[1], s->attr->i[W_SIZE]);
  int64_t w = window_out(s->attr, 1, x.dim[2], s->attr->i[W_SIZE + 1]);
  for (int k = 0; k < 2; k++)
    if (s->attr->i[W_PAD + 2 * k] >= s->attr->i[W_SIZE + k] ||
        s->attr->i[W_PAD + 2 * k + 1] >= s->attr->i[W_SIZE + k])
      return infer_fail(s, "padding must be smaller than the kernel");
  if (s->attr->i[W_DILATION] != 1 || s->attr->i[W_DILATION + 1] != 1)
    return infer_fail(s, "dilation is not supported");
  if (window_groups(s->attr) != 1) return infer_fail(s, "has no groups");
  if (!h || !w) return infer_fail(s, "the kernel is larger than the padded image");
  *out = R4_SHAPE(x.dim[0], h, w, x.dim[3]);
  return true;
}

static bool pool_shape(struct infer *s)
{
  return pool_geometry(s, s->in[0], &s->out);
}

static bool unpool_sum_shape(struct infer *s)
{
  r4_shape y = s->in[0], image, want;
  if (y.rank != 4) return infer_fail(s, "needs rank 4");
  image = R4_SHAPE(y.dim[0], s->attr->i[W_IMAGE], s->attr->i[W_IMAGE + 1], y.dim[3]);
  if (!shape_valid(image) || !pool_geometry(s, image, &want)) return infer_fail(s, "bad image size");
  if (!r4_shape_equal(want, y)) return infer_fail(s, "no image of that size gives this output");
  s->out = image;
  return true;
}

static bool unpool_max_shape(struct infer *s)
{
  r4_shape want;
  if (!pool_geometry(s, s->in[0], &want)) return false;
  if (!r4_shape_equal(want, s->in[1]))
    return infer_fail(s, "the second operand is not shaped as the pooled image");
  s->out = s->in[0];
  return true;
}

static bool pick_max_shape(struct infer *s)
{
  if (!r4_shape_equal(s->in[0], s->in[1])) return infer_fail(s, "shapes differ");
  return pool_geometry(s, s->in[0], &s->out);
}

/* ---- Builders ---- */

static struct attr pool_attr(const int64_t kernel[2], r4_window win)
{
  return window_attr(win, kernel[0], kernel[1]);
}

static r4_id unpool_sum(r4_graph *g, r4_id y, struct attr attr, r4_shape image)
{
  attr.i[W_IMAGE] = image.dim[1];
  attr.i[W_IMAGE + 1] = image.dim[2];
  return graph_add(g, &op_unpool_sum, 1, &y, &attr, NULL, NULL);
}

static r4_id pool_sum(r4_graph *g, r4_id x, struct attr attr)
{
  attr.i[W_IMAGE] = attr.i[W_IMAGE + 1] = 0;
  return graph_add(g, &op_pool_sum, 1, &x, &attr, NULL, NULL);
}

static r4_id binary(r4_graph *g, const struct op *op, r4_id x, r4_id t, struct attr attr)
{
  return graph_add(g, op, 2, (r4_id[]){x, t}, &attr, NULL, NULL);
}

r4_id r4_pool_sum(r4_graph *g, r4_id x, const int64_t kernel[2], r4_window win)
{
  GRAPH_NEEDS(kernel, "a kernel", R4_NONE);
  return pool_sum(g, x, pool_attr(kernel, win));
}

r4_id r4_pool_mean(r4_graph *g, r4_id x, const int64_t kernel[2], r4_window win)
{
  GRAPH_NEEDS(kernel, "a kernel", R4_NONE);
  return r4_scale(g, r4_pool_sum(g, x, kernel, win), 1 / ((double)kernel[0] * (double)kernel[1]));
}

r4_id r4_pool_max(r4_graph *g, r4_id x, const int64_t kernel[2], r4_window win)
{
  GRAPH_NEEDS(kernel, "a kernel", R4_NONE);
  struct attr attr = pool_attr(kernel, win);
  return graph_add(g, &op_pool_max, 1, &x, &attr, NULL, NULL);
}

/* ---- Derivatives ---- */

static void pool_sum_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  dx[0] = unpool_sum(g, dy, graph_node(g, y)->attr, r4_node_shape(g, graph_arg(g, y, 0)));
}

static void unpool_sum_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  dx[0] = pool_sum(g, dy, graph_node(g, y)->attr);
}

static void pool_max_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  dx[0] = binary(g, &op_unpool_max, graph_arg(g, y, 0), dy, graph_node(g, y)->attr);
}

static void unpool_max_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  dx[1] = binary(g, &op_pick_max, graph_arg(g, y, 0), dy, graph_node(g, y)->attr);
}

static void pick_max_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  dx[1] = binary(g, &op_unpool_max, graph_arg(g, y, 0), dy, graph_node(g, y)->attr);
}

/* ---- Intervals ---- */

/* If x moves, which position is largest may change: unpool_may knows the candidates. */
static struct interval unpool_max_bound(r4_graph *g, r4_id y, struct interval *x)
{
  if (iv_point(x[0])) return op_monotone(g, y, x);
  return may_bound(g, &op_unpool_may, graph_node(g, y)->attr, (struct interval[]){x[0], x[0], x[1]});
}

/* If x moves: what pick_may says, and between the smallest and the largest t of the window, as one is picked. */
static struct interval pick_max_bound(r4_graph *g, r4_id y, struct interval *x)
{
  if (iv_point(x[0])) return op_monotone(g, y, x);
  struct attr attr = graph_node(g, y)->attr;
  struct interval sum = may_bound(g, &op_pick_may, attr, (struct interval[]){x[0], x[0], x[1]});
  r4_id below = r4_neg(g, iv_lo(g, x[1])), above = iv_hi(g, x[1]);
  r4_id least = r4_neg(g, graph_add(g, &op_pool_max, 1, &below, &attr, NULL, NULL));
  r4_id most = graph_add(g, &op_pool_max, 1, &above, &attr, NULL, NULL);
  return iv_ends(r4_max(g, sum.lo, least), r4_min(g, sum.hi, most));
}

/* ---- Kernels ---- */

/* place of the largest element of a window, channel c */
static int64_t largest_at(const struct pool_walk *w, const double *x, int64_t n, int64_t u, int64_t v,
                          int64_t c)
{
  int64_t best = -1;
  for (int64_t p = 0; p < w->attr->i[W_SIZE]; p++)
    for (int64_t q = 0; q < w->attr->i[W_SIZE + 1]; q++) {
      int64_t at = pool_at(w, n, u, v, p, q);
      if (at >= 0 && (best < 0 || x[at + c] > x[best] || x[at + c] != x[at + c])) best = at + c;
    }
  return best;
}

static r4_status sum_walk(const struct call *c, struct pool_walk w, bool spread)
{
  int64_t n = r4_shape_count(w.out), i[4];
  w.attr = c->attr;
  memset(c->out, 0, (size_t)r4_shape_count(c->shape) * sizeof *c->out);
  for (int64_t k = 0; k < n; k++) {
    pool_unravel(w.out, k, i);
    for (int64_t p = 0; p < w.attr->i[W_SIZE]; p++)
      for (int64_t q = 0; q < w.attr->i[W_SIZE + 1]; q++) {
        int64_t at = pool_at(&w, i[0], i[1], i[2], p, q);
        if (at < 0) continue;
        if (spread)
          c->out[at + i[3]] += c->in[0][k];
        else
          c->out[k] += c->in[0][at + i[3]];
      }
  }
  return R4_OK;
}

static r4_status pool_sum_kernel(const struct call *c)
{
  return sum_walk(c, (struct pool_walk){.image = c->in_shape[0], .out = c->shape}, false);
}

static r4_status unpool_sum_kernel(const struct call *c)
{
  return sum_walk(c, (struct pool_walk){.image = c->shape, .out = c->in_shape[0]}, true);
}

/* out[k] = in[from][place of the largest of in[0]] */
static r4_status pick(const struct call *c, size_t from)
{
  struct pool_walk w = {.attr = c->attr, .image = c->in_shape[0], .out = c->shape};
  int64_t n = r4_shape_count(w.out), i[4];
  for (int64_t k = 0; k < n; k++) {
    pool_unravel(w.out, k, i);
    c->out[k] = c->in[from][largest_at(&w, c->in[0], i[0], i[1], i[2], i[3])];
  }
  return R4_OK;
}

static r4_status pool_max_kernel(const struct call *c)
{
  return pick(c, 0);
}

static r4_status pick_max_kernel(const struct call *c)
{
  return pick(c, 1);
}

static r4_status unpool_max_kernel(const struct call *c)
{
  struct pool_walk w = {.attr = c->attr, .image = c->in_shape[0], .out = c->in_shape[1]};
  int64_t n = r4_shape_count(w.out), i[4];
  memset(c->out, 0, (size_t)r4_shape_count(c->shape) * sizeof *c->out);
  for (int64_t k = 0; k < n; k++) {
    pool_unravel(w.out, k, i);
    c->out[largest_at(&w, c->in[0], i[0], i[1], i[2], i[3])] += c->in[1][k];
  }
  return R4_OK;
}

/* Positions of a window, and windows that see a position: at most as many. */
static double window_terms(const r4_shape *in, r4_shape out, const struct attr *attr)
{
  (void)in, (void)out;
  return (double)attr->i[W_SIZE] * (double)attr->i[W_SIZE + 1];
}

/* ---- The operations ---- */
/* clang-format off */

const struct attr_field pool_fields[] = {{"stride", W_STRIDE, 2},     {"pad", W_PAD, 4},
                                                {"dilation", W_DILATION, 2}, {"kernel", W_SIZE, 2},
                                                {"image", W_IMAGE, 2},       {0}};

const struct op op_pool_sum = {
  POOL_OP(pool_sum, 1), SOUND(sum, OWN), .terms = window_terms,
  .keeps_sign = EVERY_ARG, .shape = pool_shape, .bound = op_linear, .linear = lin_transpose,
  SAMPLES({.in = {{4, {1, 2, 4, 1}}}, .attr = {.i = {TWO}}, .x = {IMAGE4}, .y = VALUES(18, 18)},
          {.in = {{4, {2, 4, 5, 2}}}, .attr = {.i = {OVERLAP}}})};

const struct op op_unpool_sum = {
  POOL_OP(unpool_sum, 1), SOUND(sum, OWN), .terms = window_terms,
  .keeps_sign = EVERY_ARG, .shape = unpool_sum_shape, .bound = op_linear, .linear = lin_transpose,
  SAMPLES({.in = {{4, {1, 1, 2, 1}}}, .attr = {.i = {TWO, 2, 4}}, .x = {VALUES(1, 2)},
           .y = VALUES(1, 1, 2, 2, 1, 1, 2, 2)},
          {.in = {{4, {2, 3, 3, 2}}}, .attr = {.i = {OVERLAP, 4, 5}}},
          {.in = {{4, {2, 1, 2, 2}}}, .attr = {.i = {APART, 4, 5}}})};

const struct op op_pool_max = {
  POOL_OP(pool_max, 1), SOUND(increasing, EXACT),
  .keeps_sign = EVERY_ARG, .shape = pool_shape, .bound = op_monotone, .linear = lin_pool_max,
  SAMPLES({.in = {{4, {1, 2, 4, 1}}}, .attr = {.i = {TWO}}, .x = {IMAGE4}, .y = VALUES(8, 6)},
          {.in = {{4, {2, 4, 5, 2}}}, .attr = {.i = {OVERLAP}}})};

const struct op op_unpool_max = {
  POOL_OP(unpool_max, 2), SOUND(unpool_max, OWN), .terms = window_terms,
  .keeps_sign = 2, .shape = unpool_max_shape, .bound = unpool_max_bound,
  SAMPLES({.in = {{4, {1, 2, 4, 1}}, {4, {1, 1, 2, 1}}}, .attr = {.i = {TWO}}, .x = {IMAGE4, VALUES(3, 5)},
           .y = VALUES(0, 0, 0, 0, 3, 0, 5, 0)},
          {.in = {{4, {1, 2, 2, 1}}, {4, {1, 1, 1, 1}}}, .attr = {.i = {TWO}}, .x = {VALUES(1, 2, 2, 2), VALUES(3)},
           .y = VALUES(0, 3, 0, 0)},
          {.in = {{4, {2, 4, 5, 2}}, {4, {2, 3, 3, 2}}}, .attr = {.i = {OVERLAP}}},
          {.in = {{4, {2, 4, 5, 2}}, {4, {2, 1, 2, 2}}}, .attr = {.i = {APART}}})};

const struct op op_pick_max = {
  POOL_OP(pick_max, 2), .keeps_sign = 2, .shape = pick_max_shape, .bound = pick_max_bound,
  SAMPLES({.in = {{4, {1, 2, 4, 1}}, {4, {1, 2, 4, 1}}}, .attr = {.i = {TWO}},
           .x = {IMAGE4, VALUES(1, 2, 3, 4, 5, 6, 7, 8)}, .y = VALUES(5, 7)},
          {.in = {{4, {2, 4, 5, 2}}, {4, {2, 4, 5, 2}}}, .attr = {.i = {OVERLAP}}})};
/* clang-format on */
