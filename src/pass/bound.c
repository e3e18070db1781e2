/* Interval bounds: walk up from the boxes to y, and give every node that a box touches an interval.
 * Nodes that no box touches stay as they are, a single point, and cost nothing. linear.c has the other method. */
#include "pass/bound.h"

#include <string.h>

#include "base/mem.h"

r4_box r4_box_around(r4_id x, r4_id centre, r4_id radius)
{
  return (r4_box){.x = x, .centre = centre, .radius = radius};
}

r4_box r4_box_between(r4_id x, r4_id lo, r4_id hi)
{
  return (r4_box){.x = x, .lo = lo, .hi = hi};
}

/* The same number in every element, as far as that can be seen. */
static bool is_number(const r4_graph *g, r4_id x, double *value)
{
  while (graph_is(g, x, &op_broadcast) || graph_is(g, x, &op_reshape)) x = graph_arg(g, x, 0);
  return op_value(g, x, value);
}

/* Whether a box may have values, as far as its ends are constants: what inputs hold is known when a plan runs. */
static bool may_have_values(r4_graph *g, const r4_box *box, size_t k)
{
  double lo, hi, radius;
  if (box->radius.i && is_number(g, box->radius, &radius) && radius < 0)
    r4_graph_fail(g, R4_E_ARGUMENT, "bound: box %zu has the radius %g, expected 0 or more", k, radius);
  if (!box->radius.i && is_number(g, box->lo, &lo) && is_number(g, box->hi, &hi) && lo > hi)
    r4_graph_fail(g, R4_E_ARGUMENT, "bound: box %zu is from %g to %g, expected lo <= hi", k, lo, hi);
  return !g->error.status;
}

static bool accept_box(struct bounds *b, r4_id y, const r4_box *box)
{
  r4_graph *g = b->g;
  struct interval iv = box->radius.i ? iv_ball(box->centre, box->radius) : iv_ends(box->lo, box->hi);
  r4_id p = box->radius.i ? iv.centre : iv.lo, q = box->radius.i ? iv.radius : iv.hi;
  bool nodes = box->x.i && box->x.i <= g->size && p.i && p.i <= g->size && q.i && q.i <= g->size;
  if (!nodes) {
    r4_graph_fail(g, R4_E_ARGUMENT, "bound: a box is not made of nodes of this graph");
    return false;
  }
  r4_shape want = r4_node_shape(g, box->x);
  if (!r4_shape_equal(r4_node_shape(g, p), want) || !r4_shape_equal(r4_node_shape(g, q), want)) {
    char text[SHAPE_TEXT];
    r4_graph_fail(g, R4_E_SHAPE, "bound: a box does not have the shape %s of its node",
                  shape_text(want, text));
    return false;
  }
  if (box->x.i > y.i) return true;
  b->touched[box->x.i] = b->box[box->x.i] = true;
  b->interval[box->x.i] = iv;
  return true;
}

/* Arguments that are single points, though a box touches them: the operation on these points. */
static struct interval bound_points(r4_graph *g, r4_id y, const struct interval *x)
{
  r4_id args[MAX_ARITY];
  uint32_t arity = graph_node(g, y)->arity;
  for (uint32_t k = 0; k < arity; k++) args[k] = x[k].centre;
  return iv_of(graph_again(g, y, args));
}

static void visit(struct bounds *b, r4_id y)
{
  const struct op *op = graph_node(b->g, y)->op;
  uint32_t arity = graph_node(b->g, y)->arity;
  struct interval x[MAX_ARITY];
  bool touched = false, moves = false;
  for (uint32_t k = 0; k < arity; k++) {
    r4_id a = graph_arg(b->g, y, k);
    x[k] = b->touched[a.i] ? b->interval[a.i] : iv_of(a);
    touched |= b->touched[a.i];
    moves |= !iv_point(x[k]);
    if (!iv_point(x[k]) && op_is_index(op, k))
      r4_graph_fail(b->g, R4_E_RULE, "%s has no bounds over a moving index", op->name);
  }
  if (!touched) return;
  b->touched[y.i] = true;
  if (!moves)
    b->interval[y.i] = bound_points(b->g, y, x);
  else if (op->bound)
    b->interval[y.i] = op->bound(b->g, y, x);
  else
    r4_graph_fail(b->g, R4_E_RULE, "%s has no bounds: %s", op->name,
                  op->no_bound ? op->no_bound : "not defined");
}

/* Rules go on where numbers overflow: infinity - infinity and 0 * infinity are not a number, which stays so in every
 * operation, comparisons included, and means "not known". Here it becomes a bound. */
static r4_pair ends_of(r4_graph *g, struct interval iv)
{
  r4_id lo = iv_lo(g, iv), hi = iv_hi(g, iv);
  if (lo.i == hi.i) return (r4_pair){lo, hi};
  return (r4_pair){graph_add(g, &op_lower_end, 1, &lo, NULL, NULL, NULL),
                   graph_add(g, &op_upper_end, 1, &hi, NULL, NULL, NULL)};
}

/* ---- Both methods ---- */

static bool make_room(struct bounds *b, r4_id y)
{
  bool **const list[] = {&b->touched, &b->box, &b->moves, &b->wanted, &b->exact, &b->apart};
  bool ok = true;
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) ok &= (*list[k] = r4_mem_new(y.i + 1, 1)) != NULL;
  b->interval = r4_mem_new(y.i + 1, sizeof *b->interval);
  ok = ok && b->interval && graph_live(b->g, 1, &y, &b->live);
  if (!ok) r4_graph_fail(b->g, R4_E_MEMORY, "bound: out of memory");
  return ok;
}

static void free_room(struct bounds *b)
{
  bool *const list[] = {b->touched, b->box, b->moves, b->wanted, b->exact, b->apart, b->live};
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) r4_mem_free(list[k]);
  r4_mem_free(b->interval);
}

static bool visit_all(struct bounds *b, r4_id y, size_t n, const r4_box *box)
{
  bool linear = b->options.method != R4_BOUND_INTERVALS;
  for (size_t k = 0; k < n; k++)
    if (!accept_box(b, y, &box[k]) || !may_have_values(b->g, &box[k], k)) return false;
  if (linear) linear_prepare(b, y);
  for (uint32_t i = 1; i <= y.i && !b->g->error.status; i++) {
    if (b->live[i] && linear) linear_relu(b, (r4_id){i});
    if (b->live[i] && !b->touched[i]) visit(b, (r4_id){i});
    if (b->live[i] && linear && i < y.i) linear_visit(b, (r4_id){i});
  }
  return !b->g->error.status;
}

r4_pair r4_bound_by(r4_graph *g, r4_id y, size_t n, const r4_box *box, const r4_bound_options *options)
{
  r4_pair result = {R4_NONE, R4_NONE};
  struct bounds b = {.g = g};
  GRAPH_NEEDS(box || !n, "boxes", result);
  if (options) b.options = *options;
  if (!y.i || y.i > g->size) {
    r4_graph_fail(g, R4_E_ARGUMENT, "bound: not a node of this graph");
    return result;
  }
  if (make_room(&b, y) && visit_all(&b, y, n, box)) {
    struct interval own = b.touched[y.i] ? b.interval[y.i] : iv_of(y);
    struct interval linear = b.options.method == R4_BOUND_INTERVALS ? own : linear_bound(&b, y);
    result = ends_of(g, b.options.method == R4_BOUND_BEST ? linear_tighter(g, own, linear) : linear);
  }
  free_room(&b);
  return result;
}

r4_id bound_least(r4_graph *g, r4_id y, size_t n, const r4_box *box, const r4_bound_options *options, r4_id coef,
                  int64_t times, struct linear_relus *relus)
{
  struct bounds b = {.g = g, .options = *options, .relus = relus, .first = box->x};
  r4_id least = R4_NONE;
  if (relus) *relus = (struct linear_relus){.given = relus->given};
  bool ok = !g->error.status && make_room(&b, y) && visit_all(&b, y, n, box);
  b.last = true;
  if (ok) least = linear_least(&b, y, coef, times, r4_node_shape(g, y).dim[0]);
  free_room(&b);
  return g->error.status ? R4_NONE : least;
}

r4_pair r4_bound(r4_graph *g, r4_id y, size_t n, const r4_box *box)
{
  GRAPH_NEEDS(box || !n, "boxes", ((r4_pair){R4_NONE, R4_NONE}));
  return r4_bound_by(g, y, n, box, NULL);
}
