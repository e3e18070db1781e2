/* Where the network is looked at, and how far from the examples. */
#include "module/reach.h"
#include "objective/words.h"

static r4_shape flat(const struct objective *o, int64_t rows)
{
  return R4_SHAPE(rows, objective_features(o->net));
}

/* ---- Features of the leaf ---- */

/* [batch, places] as [batch, levels, 2] */
static r4_id places(const struct objective *o)
{
  r4_shape all = r4_node_shape(o->g, o->in.at);
  return r4_reshape(o->g, o->in.at, R4_SHAPE(all.dim[0], all.dim[1] / 2, 2));
}

r4_id view_window(const struct objective *o, r4_id v)
{
  const r4_reach *reach = o->options->reach;
  return r4_crop(o->g, v, reach_first(reach, o->g, places(o)), reach->level[0].window);
}

r4_id view_features(const struct objective *o, r4_id v)
{
  if (o->options->reach) return view_window(o, v);
  if (!o->in.index.i) return v;
  return r4_gather(o->g, r4_reshape(o->g, v, flat(o, o->rows)), o->in.index, 1);
}

/* ---- Places ---- */

/* A node of its own: a constant zero would be the same node as any other zero. */
r4_id view_nowhere(const struct objective *o)
{
  return r4_detach(o->g, r4_scale(o->g, o->m, 0));
}

struct view view_clean(const struct objective *o)
{
  if (!o->in.index.i && !o->in.at.i)
    return (struct view){.x = o->x, .leaf = o->x, .centre = o->x, .rows = o->rows};
  struct view v = view_moved(o, view_nowhere(o));
  v.centre = r4_const(o->g, 0, r4_node_shape(o->g, o->m));
  return v;
}

struct view view_moved(const struct objective *o, r4_id d)
{
  struct view v = {.x = o->base, .d = d, .leaf = d, .centre = d, .rows = o->rows};
  if (o->content.i) v.d = r4_add(o->g, o->content, d);
  if (o->in.at.i) v.at = places(o);
  return v;
}

r4_id view_repeat(r4_graph *g, r4_id x, int64_t times)
{
  r4_shape rows = r4_node_shape(g, x), samples = objective_batch(rows, times);
  rows.dim[0] *= times;
  return r4_reshape(g, r4_broadcast(g, x, samples), rows);
}

/* All features move here, so that no pass is shared. */
struct view view_noisy(const struct objective *o, r4_id noise)
{
  r4_graph *g = o->g;
  struct view v = view_clean(o);
  int64_t times = r4_node_shape(g, noise).dim[0] / o->rows;
  v.x = r4_add(g, view_repeat(g, o->x, times), noise);
  v.rows = times * o->rows;
  if (v.d.i) v.d = view_repeat(g, v.leaf, times);
  if (v.at.i) v.at = view_repeat(g, v.at, times);
  return v;
}

/* x + P d */
static r4_id placed(const struct objective *o, r4_id x, r4_id d)
{
  r4_graph *g = o->g;
  if (!o->in.index.i) return r4_add(g, x, d);
  r4_shape shape = r4_node_shape(g, x), rows = flat(o, shape.dim[0]);
  r4_id moved = r4_scatter_add(g, d, o->in.index, 1, rows.dim[1]);
  if (r4_shape_equal(shape, rows)) return r4_add(g, x, moved);
  return r4_reshape(g, r4_add(g, r4_reshape(g, x, rows), moved), shape);
}

r4_id view_logits(const struct objective *o, struct view v)
{
  r4_graph *g = o->g;
  if (v.at.i) return objective_logits(o, reach_apply(o->options->reach, o->net, g, o->param, v.x, v.d, v.at));
  r4_id x = v.d.i ? placed(o, v.x, v.d) : v.x;
  struct net_use use = o->look;
  if (use.valid.i && v.rows > o->rows) use.valid = view_repeat(g, use.valid, v.rows / o->rows);
  return objective_logits(o, net_from_leaf(o->net, g, o->param, &use, x));
}

/* eps m, or if any valid value may be there, share (high - low) [m > 0] */
r4_id view_radius(const struct objective *o)
{
  return r4_mul(o->g, o->options->whole ? r4_step(o->g, o->m) : o->m, o->eps);
}

/* A masked token may be any word of the list: its vector moves by up to eps (1: all) of the way from what it is to the
 * ends of the hull of theirs at its place. */
static r4_box word_box(const struct objective *o, struct view v)
{
  r4_graph *g = o->g;
  r4_id leaves = words_list_leaves(o), zero = r4_const(g, 0, R4_SCALAR);
  r4_id masked = r4_less(g, r4_const(g, 0.499, R4_SCALAR), o->m), share = r4_mul(g, masked, o->eps);
  r4_id most = r4_reduce_max(g, leaves, R4_AXIS(0)),
        least = r4_neg(g, r4_reduce_max(g, r4_neg(g, leaves), R4_AXIS(0)));
  r4_id up = r4_max(g, r4_sub(g, most, v.leaf), zero), down = r4_max(g, r4_sub(g, v.leaf, least), zero);
  return r4_box_between(v.leaf, r4_sub(g, v.leaf, r4_mul(g, share, down)),
                        r4_add(g, v.leaf, r4_mul(g, share, up)));
}

/* The ends of d:  -radius <= d <= radius, and low <= x + d <= high; where x itself is out of the range, it may stay
 * there, or move into it.
 *
 * Of the whole range the radius at the share t of its ramp is t (high - low). So the box of any t is that of a number
 * eps, it grows with t, begins as x alone, and at t = 1 is all valid contents, wherever x is in the range. */
static r4_pair within(const struct objective *o, r4_id radius)
{
  r4_graph *g = o->g;
  const r4_objective_options *p = o->options;
  r4_pair d = {.lo = r4_neg(g, radius), .hi = radius};
  if (!p->ranged) return d;
  r4_id x = view_features(o, o->x), zero = r4_const(g, 0, R4_SCALAR);
  r4_id down = r4_sub(g, r4_const(g, p->low, R4_SCALAR), x);
  r4_id up = r4_sub(g, r4_const(g, p->high, R4_SCALAR), x);
  d.lo = r4_max(g, d.lo, r4_min(g, down, zero));
  d.hi = r4_min(g, d.hi, r4_max(g, up, zero));
  return d;
}

static r4_box box_of(const struct objective *o, struct view v, r4_id radius)
{
  r4_graph *g = o->g;
  if (o->options->word_box) return word_box(o, v);
  if (!o->options->ranged) return r4_box_around(v.leaf, v.centre, radius);
  r4_pair d = within(o, radius);
  return r4_box_between(v.leaf, r4_add(g, v.centre, d.lo), r4_add(g, v.centre, d.hi));
}

r4_pair view_bounds(const struct objective *o, enum bound_by by, struct view v, r4_id y, r4_id radius)
{
  r4_box box = box_of(o, v, radius);
  switch (by) {
  case BOUND_BY_INTERVALS:
    break;
  }
  return r4_bound(o->g, y, 1, &box);
}

r4_id view_allowed(const struct objective *o, r4_id d)
{
  r4_graph *g = o->g;
  r4_pair ends = within(o, view_radius(o));
  return r4_detach(g, r4_min(g, r4_max(g, d, ends.lo), ends.hi));
}

/* [batch] as [batch, 1, ...], to be repeated along the features. */
static r4_id column(const struct objective *o, r4_id v)
{
  r4_shape shape = {.rank = r4_node_shape(o->g, o->m).rank, .dim = {o->rows}};
  for (int k = 1; k < shape.rank; k++) shape.dim[k] = 1;
  return r4_reshape(o->g, v, shape);
}

r4_id view_select(const struct objective *o, r4_id chosen, r4_id a, r4_id b)
{
  return r4_select(o->g, column(o, chosen), a, b);
}

/* At d = 0 the points are the examples themselves. To say so by a box of this one value lets all that is added to and
 * multiplied by d fold away, and what remains is shared with other passes over the examples. */
r4_id view_at_examples(const struct objective *o, struct view v, r4_id y)
{
  if (!v.d.i) return y;
  r4_box here = r4_box_between(v.leaf, v.centre, v.centre);
  return r4_bound(o->g, y, 1, &here).lo;
}
