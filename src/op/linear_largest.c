/* Linear rules of the largest of many elements, and its smooth form.
 *
 * y = max_k x_k is at least every x_k, also the one with the highest lower end, and at most the highest upper end.
 * Where nothing else reaches that lower end, y is that x_k. */
#include "op/functional.h"
#include "op/window.h"

static r4_id one_minus(r4_graph *g, r4_id x)
{
  return r4_sub(g, op_like(g, x, 1), x);
}

/* coef for the value itself, or coef below it; what is above is a number where it is not sure who is largest. */
static void take(struct functional *f, r4_id sure, r4_id most, r4_id *through)
{
  r4_graph *g = f->g;
  r4_id part[2] = {sure, r4_mul(g, one_minus(g, sure), most)};
  functional_repeat(f, 2, part);
  r4_id zero = op_like(g, f->coef, 0);
  *through = r4_mul(g, f->coef, r4_select(g, f->coef, op_like(g, f->coef, 1), part[0]));
  f->rest = r4_mul(g, f->coef, r4_select(g, f->coef, zero, part[1]));
}

/* Elements that share the highest lower end share the coefficient. */
bool lin_reduce_max(struct functional *f)
{
  r4_graph *g = f->g;
  r4_id lo = iv_lo(g, f->x[0]), hi = iv_hi(g, f->x[0]), through;
  r4_shape in = r4_node_shape(g, lo);
  unsigned axes = (unsigned)graph_node(g, f->y)->attr.i[0];
  if (axes & 1 || !in.rank) return false;
  r4_id least = r4_reduce_max(g, lo, axes), highest = r4_equal(g, lo, op_unreduce(g, least, in, axes));
  r4_id share = r4_div(g, highest, op_unreduce(g, r4_sum(g, highest, axes), in, axes));
  r4_id reaches = one_minus(g, r4_less(g, hi, op_unreduce(g, least, in, axes))), count = r4_sum(g, reaches, axes);
  take(f, r4_less(g, count, op_like(g, count, 1.5)), r4_reduce_max(g, hi, axes), &through);
  functional_repeat(f, 1, &share);
  f->to[0] = r4_mul(g, op_unreduce(g, through, r4_node_shape(g, share), axes), share);
  return true;
}

static r4_id pooled(const struct functional *f, const struct op *op, size_t n, const r4_id *arg)
{
  struct attr attr = graph_node(f->g, f->y)->attr;
  return graph_add(f->g, op, n, arg, &attr, NULL, NULL);
}

/* Who else reaches the lower end is asked with the place of the highest one taken out, which windows that overlap would
 * not be: they are never sure. */
static r4_id sure_window(const struct functional *f, r4_id lo, r4_id hi, r4_id least)
{
  const struct attr *a = &graph_node(f->g, f->y)->attr;
  if (a->i[W_STRIDE] < a->i[W_SIZE] || a->i[W_STRIDE + 1] < a->i[W_SIZE + 1]) return op_like(f->g, f->y, 0);
  r4_id place = pooled(f, &op_unpool_max, 2, (r4_id[]){lo, op_like(f->g, f->y, 1)});
  r4_id others = r4_select(f->g, place, lo, hi);
  return one_minus(f->g, r4_less(f->g, least, pooled(f, &op_pool_max, 1, &others)));
}

bool lin_pool_max(struct functional *f)
{
  r4_graph *g = f->g;
  r4_id lo = iv_lo(g, f->x[0]), hi = iv_hi(g, f->x[0]), through;
  r4_id least = pooled(f, &op_pool_max, 1, &lo), most = pooled(f, &op_pool_max, 1, &hi);
  take(f, sure_window(f, lo, hi, least), most, &through);
  functional_repeat(f, 1, &lo);
  f->to[0] = pooled(f, &op_unpool_max, 2, (r4_id[]){lo, through});
  return true;
}

/* y = log sum exp x is convex: above its tangent at the middle, y(m) + softmax(m) . (x - m), and at most y(hi). */
bool lin_logsumexp(struct functional *f)
{
  r4_graph *g = f->g;
  r4_id lo = iv_lo(g, f->x[0]), hi = iv_hi(g, f->x[0]);
  r4_shape in = r4_node_shape(g, lo);
  if (in.rank < 2) return false;
  unsigned last = R4_AXIS(in.rank - 1);
  r4_id m = r4_scale(g, r4_add(g, lo, hi), 0.5), slope = r4_softmax(g, m);
  r4_id part[3] = {r4_sub(g, r4_logsumexp(g, m), r4_sum(g, r4_mul(g, slope, m), last)), r4_logsumexp(g, hi), slope};
  functional_repeat(f, 3, part);
  f->rest = r4_mul(g, f->coef, r4_select(g, f->coef, part[0], part[1]));
  f->to[0] = r4_mul(g, op_unreduce(g, r4_relu(g, f->coef), r4_node_shape(g, part[2]), last), part[2]);
  return true;
}
