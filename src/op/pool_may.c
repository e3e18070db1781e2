/* Max pooling's derivative where the image is known by its ends only. The largest of a window may be at any
 * position that is not beaten. With a below and b above the image, position p is a candidate if
 *
 *     b_p > a_q for each q before p, and b_p >= a_q for each q after p         (the first wins a tie)
 *
 *     unpool_may (a, b, t): t goes to all candidates of its window
 *     pick_may   (a, b, t): the sum of t over the candidates of the window; transpose of unpool_may
 *
 * With the ends of the image, a = lo and b = hi are positions that may be the largest, and a = hi and b = lo those
 * that surely are. With a = b = x there is one candidate: unpool_may(x, x, t) = unpool_max(x, t). */
#include <math.h>
#include <string.h>

#include "op/pool.h"

static bool unpool_may_shape(struct infer *s)
{
  r4_shape want;
  if (!r4_shape_equal(s->in[0], s->in[1])) return infer_fail(s, "shapes differ");
  if (!pool_geometry(s, s->in[0], &want)) return false;
  if (!r4_shape_equal(want, s->in[2]))
    return infer_fail(s, "the third operand is not shaped as the pooled image");
  s->out = s->in[0];
  return true;
}

static bool pick_may_shape(struct infer *s)
{
  return op_same_shape(s) && pool_geometry(s, s->in[0], &s->out);
}

static r4_id ternary(r4_graph *g, const struct op *op, r4_id a, r4_id b, r4_id t, struct attr attr)
{
  return graph_add(g, op, 3, (r4_id[]){a, b, t}, &attr, NULL, NULL);
}

/* ---- Derivatives: who is a candidate is constant almost everywhere ---- */

static void unpool_may_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  dx[2] = ternary(g, &op_pick_may, graph_arg(g, y, 0), graph_arg(g, y, 1), dy, graph_node(g, y)->attr);
}

static void pick_may_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  dx[2] = ternary(g, &op_unpool_may, graph_arg(g, y, 0), graph_arg(g, y, 1), dy, graph_node(g, y)->attr);
}

/* ---- Intervals ---- */

/* Lower a and higher b make more candidates. Those of (lo a, hi b) get t or nothing, and of these those of
 * (hi a, lo b) get t surely:
 *     hi = f(lo a, hi b, max(hi t, 0)) + f(hi a, lo b, min(hi t, 0)),   lo the same with lo t and max, min swapped */
struct interval may_bound(r4_graph *g, const struct op *op, struct attr attr, struct interval *x)
{
  r4_id al = iv_lo(g, x[0]), ah = iv_hi(g, x[0]), bl = iv_lo(g, x[1]), bh = iv_hi(g, x[1]);
  r4_id lo = iv_lo(g, x[2]), hi = iv_hi(g, x[2]), zero = op_like(g, lo, 0);
  r4_id below = ternary(g, op, al, bh, r4_min(g, lo, zero), attr);
  r4_id above = ternary(g, op, al, bh, r4_relu(g, hi), attr);
  return iv_ends(r4_add(g, below, ternary(g, op, ah, bl, r4_relu(g, lo), attr)),
                 r4_add(g, above, ternary(g, op, ah, bl, r4_min(g, hi, zero), attr)));
}

static struct interval may_rule(r4_graph *g, r4_id y, struct interval *x)
{
  return may_bound(g, graph_node(g, y)->op, graph_node(g, y)->attr, x);
}

/* ---- Simplification ---- */

static r4_id may_simplify(r4_graph *g, r4_id y)
{
  const struct node *n = graph_node(g, y);
  r4_id x = graph_arg(g, y, 0), t = graph_arg(g, y, 2);
  if (op_is_value(g, t, 0)) return r4_const(g, 0, n->shape);
  if (x.i != graph_arg(g, y, 1).i) return R4_NONE;
  struct attr attr = n->attr;
  return graph_add(g, n->op == &op_pick_may ? &op_pick_max : &op_unpool_max, 2, (r4_id[]){x, t}, &attr, NULL,
                   NULL);
}

/* ---- Kernels ---- */

/* How much of t the candidate at "place" gets: 1, 0, or not a number where one of a and b is not. */
static double share(const struct pool_walk *w, const double *a, const double *b, const int64_t *i,
                    int64_t place)
{
  double before = -INFINITY, after = -INFINITY;
  bool first = true, passed = false;
  for (int64_t p = 0; p < w->attr->i[W_SIZE]; p++)
    for (int64_t q = 0; q < w->attr->i[W_SIZE + 1]; q++) {
      int64_t at = pool_at(w, i[0], i[1], i[2], p, q) + i[3];
      if (at < i[3]) continue;
      if (at == place)
        passed = true;
      else if (passed)
        after = POOL_LARGER(after, a[at]);
      else
        before = POOL_LARGER(before, a[at]), first = false;
    }
  return POOL_SHARE(b[place], first, before, after);
}

static r4_status may_walk(const struct call *c, struct pool_walk w, bool spread)
{
  int64_t n = r4_shape_count(w.out), i[4];
  w.attr = c->attr;
  memset(c->out, 0, (size_t)r4_shape_count(c->shape) * sizeof *c->out);
  for (int64_t k = 0; k < n; k++) {
    pool_unravel(w.out, k, i);
    for (int64_t p = 0; p < w.attr->i[W_SIZE]; p++)
      for (int64_t q = 0; q < w.attr->i[W_SIZE + 1]; q++) {
        int64_t at = pool_at(&w, i[0], i[1], i[2], p, q) + i[3];
        double part = at < i[3] ? 0 : share(&w, c->in[0], c->in[1], i, at);
        if (part == 0) continue;
        if (spread)
          c->out[at] += part * c->in[2][k];
        else
          c->out[k] += part * c->in[2][at];
      }
  }
  return R4_OK;
}

static r4_status unpool_may_kernel(const struct call *c)
{
  return may_walk(c, (struct pool_walk){.image = c->in_shape[0], .out = c->in_shape[2]}, true);
}

static r4_status pick_may_kernel(const struct call *c)
{
  return may_walk(c, (struct pool_walk){.image = c->in_shape[0], .out = c->shape}, false);
}

/* ---- The operations ---- */
/* clang-format off */

#define LOW4 VALUES(1, 2, 3, 4, 3, 4, 6, 5)
#define HIGH4 VALUES(4, 4, 3, 4, 3, 7, 6, 6)

const struct op op_unpool_may = {
  POOL_OP(unpool_may, 3), .keeps_sign = 4, .shape = unpool_may_shape, .bound = may_rule, .simplify = may_simplify,
  SAMPLES({.in = {{4, {1, 2, 4, 1}}, {4, {1, 2, 4, 1}}, {4, {1, 1, 2, 1}}}, .attr = {.i = {TWO}},
           .x = {LOW4, HIGH4, VALUES(3, 5)}, .y = VALUES(3, 3, 0, 0, 0, 3, 5, 0)},
          {.in = {{4, {1, 2, 4, 1}}, {4, {1, 2, 4, 1}}, {4, {1, 1, 2, 1}}}, .attr = {.i = {TWO}},
           .x = {HIGH4, LOW4, VALUES(3, 5)}, .y = VALUES(0, 0, 0, 0, 0, 0, 5, 0)},
          {.in = {{4, {2, 4, 5, 2}}, {4, {2, 4, 5, 2}}, {4, {2, 3, 3, 2}}}, .attr = {.i = {OVERLAP}}})};

const struct op op_pick_may = {
  POOL_OP(pick_may, 3), .keeps_sign = 4, .shape = pick_may_shape, .bound = may_rule, .simplify = may_simplify,
  SAMPLES({.in = {{4, {1, 2, 4, 1}}, {4, {1, 2, 4, 1}}, {4, {1, 2, 4, 1}}}, .attr = {.i = {TWO}},
           .x = {LOW4, HIGH4, VALUES(1, 2, 3, 4, 5, 6, 7, 8)}, .y = VALUES(9, 7)},
          {.in = {{4, {2, 4, 5, 2}}, {4, {2, 4, 5, 2}}, {4, {2, 4, 5, 2}}}, .attr = {.i = {OVERLAP}}})};
/* clang-format on */
