/* Intervals as nodes: two forms, ends and ball, made from each other when a rule asks. */
#include "op/op_rules.h"

bool iv_point(struct interval x)
{
  return x.lo.i && x.lo.i == x.hi.i;
}

struct interval iv_of(r4_id x)
{
  return (struct interval){.lo = x, .hi = x, .centre = x};
}

struct interval iv_ends(r4_id lo, r4_id hi)
{
  return (struct interval){.lo = lo, .hi = hi, .centre = lo.i == hi.i ? lo : R4_NONE};
}

struct interval iv_ball(r4_id centre, r4_id radius)
{
  return (struct interval){.centre = centre, .radius = radius};
}

r4_id iv_lo(r4_graph *g, struct interval x)
{
  return x.lo.i ? x.lo : r4_sub(g, x.centre, x.radius);
}

r4_id iv_hi(r4_graph *g, struct interval x)
{
  return x.hi.i ? x.hi : r4_add(g, x.centre, x.radius);
}

r4_id iv_centre(r4_graph *g, struct interval x)
{
  return x.centre.i ? x.centre : r4_scale(g, r4_add(g, x.hi, x.lo), 0.5);
}

r4_id iv_radius(r4_graph *g, struct interval x)
{
  return x.radius.i ? x.radius : r4_scale(g, r4_sub(g, x.hi, x.lo), 0.5);
}

/* y increasing in each argument:  [y(lo), y(hi)] */
struct interval op_monotone(r4_graph *g, r4_id y, struct interval *x)
{
  r4_id lo[MAX_ARITY], hi[MAX_ARITY];
  size_t n = graph_node(g, y)->arity;
  for (size_t k = 0; k < n; k++) {
    lo[k] = iv_lo(g, x[k]);
    hi[k] = iv_hi(g, x[k]);
  }
  return iv_ends(graph_again(g, y, lo), graph_again(g, y, hi));
}

/* y = L(x), L linear and >= 0:  centre L(c), radius L(r). A point has radius 0. If every perturbed
 * argument has ends and one of them has no ball, the ends pass instead. */
struct interval op_linear(r4_graph *g, r4_id y, struct interval *x)
{
  r4_id centre[MAX_ARITY], radius[MAX_ARITY];
  size_t n = graph_node(g, y)->arity;
  for (size_t k = 0; k < n; k++)
    if (!iv_point(x[k]) && !x[k].radius.i) return op_monotone(g, y, x);
  for (size_t k = 0; k < n; k++) {
    bool index = op_is_index(graph_node(g, y)->op, k);
    centre[k] = x[k].centre;
    radius[k] = index ? x[k].centre : iv_point(x[k]) ? op_like(g, x[k].centre, 0) : x[k].radius;
  }
  return iv_ball(graph_again(g, y, centre), graph_again(g, y, radius));
}

static r4_id again2(r4_graph *g, r4_id y, r4_id a, r4_id b)
{
  r4_id args[2] = {a, b};
  return graph_again(g, y, args);
}

/* y = f(a, b) linear in each, a = A -+ r and b = B -+ s:
 *     centre f(A, B),   radius f(|A|, s) + f(r, |B| + s)                                        */
struct interval op_bilinear(r4_graph *g, r4_id y, struct interval *x)
{
  r4_id a = iv_centre(g, x[0]), b = iv_centre(g, x[1]);
  r4_id centre = again2(g, y, a, b);
  r4_id r = iv_point(x[0]) ? R4_NONE : iv_radius(g, x[0]);
  r4_id s = iv_point(x[1]) ? R4_NONE : iv_radius(g, x[1]);
  r4_id largest_b = r4_abs(g, b);
  if (s.i) largest_b = r4_add(g, largest_b, s);
  r4_id from_a = r.i ? again2(g, y, r, largest_b) : R4_NONE;
  r4_id from_b = s.i ? again2(g, y, r4_abs(g, a), s) : R4_NONE;
  if (from_a.i && from_b.i) return iv_ball(centre, r4_add(g, from_a, from_b));
  return iv_ball(centre, from_a.i ? from_a : from_b);
}

/* a >= 0:  lo = lo b * (lo b > 0 ? lo a : hi a),  hi = hi b * (hi b > 0 ? hi a : lo a) */
static struct interval mul_nonneg(r4_graph *g, struct interval a, struct interval b)
{
  r4_id al = iv_lo(g, a), ah = iv_hi(g, a), bl = iv_lo(g, b), bh = iv_hi(g, b);
  return iv_ends(r4_mul(g, bl, r4_select(g, bl, al, ah)), r4_mul(g, bh, r4_select(g, bh, ah, al)));
}

/* a single value times an interval */
static struct interval mul_point(r4_graph *g, r4_id a, struct interval b)
{
  if (b.radius.i) return iv_ball(r4_mul(g, a, b.centre), r4_mul(g, r4_abs(g, a), b.radius));
  r4_id p = r4_mul(g, a, b.lo), q = r4_mul(g, a, b.hi);
  return op_nonneg(g, a) ? iv_ends(p, q) : iv_ends(r4_min(g, p, q), r4_max(g, p, q));
}

struct interval iv_mul(r4_graph *g, struct interval a, struct interval b)
{
  if (iv_point(a)) return mul_point(g, a.centre, b);
  if (iv_point(b)) return mul_point(g, b.centre, a);
  r4_id al = iv_lo(g, a), ah = iv_hi(g, a), bl = iv_lo(g, b), bh = iv_hi(g, b);
  if (op_nonneg(g, al)) return mul_nonneg(g, a, b);
  if (op_nonneg(g, bl)) return mul_nonneg(g, b, a);
  r4_id p = r4_mul(g, al, bl), q = r4_mul(g, al, bh), r = r4_mul(g, ah, bl), s = r4_mul(g, ah, bh);
  return iv_ends(r4_min(g, r4_min(g, p, q), r4_min(g, r, s)), r4_max(g, r4_max(g, p, q), r4_max(g, r, s)));
}
