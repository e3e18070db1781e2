/* A slice of f(a, b) as f(slice of a, slice of b).
 *
 * First down: how much of each node the slice needs, a part of it or the whole. A node that is needed in two
 * different parts, or in part by one and as a whole by another, is needed as a whole: what attention makes of the
 * first token needs all keys and values, so the layers before it stay as they are, and a part of what they give is
 * cut out. Then up: the parts are built.
 *
 * It is done while a graph is built, not when it is simplified, so that derivatives of any order are those of the small
 * computation. */
#include "pass/early.h"

#include "base/mem.h"
#include "op/op_rules.h"

struct need {
  enum { NOTHING, PART, WHOLE } how;
  struct cut cut;
};

struct early {
  r4_graph *g;
  struct need *need; /* by node of x and before */
  r4_id *part;       /* the node's part, where that is needed */
};

/* ---- How much of an argument a part of y needs; NOTHING: y cannot be computed in parts ---- */

static struct need part(struct cut c, int axis)
{
  c.axis = axis;
  return (struct need){.how = PART, .cut = c};
}

static const struct need whole = {.how = WHOLE}, none = {.how = NOTHING};

static struct need of_broadcast(r4_shape from, r4_shape to, struct cut c)
{
  int axis = c.axis - (to.rank - from.rank);
  bool repeated = axis < 0 || (from.dim[axis] == 1 && to.dim[c.axis] != 1);
  return repeated ? whole : part(c, axis);
}

static struct need of_sum(unsigned axes, struct cut c)
{
  int axis = 0;
  for (int left = c.axis; axes >> axis & 1 || left; axis++) left -= !(axes >> axis & 1);
  return part(c, axis);
}

static int64_t elements_after(r4_shape s, int axis)
{
  int64_t n = 1;
  for (int k = axis + 1; k < s.rank; k++) n *= s.dim[k];
  return n;
}

/* An axis that both have; or one index of the second of two axes that were one; or the same of two that become one. */
static struct need of_reshape(r4_shape from, r4_shape to, struct cut c)
{
  int axis = 0;
  int64_t after = elements_after(to, c.axis), size = to.dim[c.axis];
  while (axis < from.rank && (elements_after(from, axis) != after || (from.dim[axis] == 1 && size != 1)))
    axis++;
  if (axis == from.rank) return none;
  if (from.dim[axis] == size) return part(c, axis);
  if (c.size == 1 && c.axis && from.dim[axis] == to.dim[c.axis - 1] * size)
    return part((struct cut){.start = c.start, .step = size, .size = to.dim[c.axis - 1]}, axis);
  if (axis && size == from.dim[axis - 1] * from.dim[axis] && c.step == from.dim[axis] &&
      c.size == from.dim[axis - 1])
    return part((struct cut){.start = c.start, .step = 1, .size = 1}, axis);
  return none;
}

static struct need of_matmul(const struct node *y, size_t k, struct cut c)
{
  int r = y->shape.rank;
  if (c.axis < r - 2) return part(c, c.axis);
  if (c.axis != r - 2 + (int)k) return whole; /* rows are those of A, columns those of B */
  return part(c, y->attr.i[k] ? 2 * r - 3 - c.axis : c.axis);
}

static struct need of_argument(const r4_graph *g, r4_id y, size_t k, struct cut c)
{
  const struct node *n = graph_node(g, y);
  r4_shape from = r4_node_shape(g, graph_arg(g, y, k));
  if (n->op->kind == OP_ELEMENT) return part(c, c.axis);
  if (n->op->kind == OP_REDUCE) return of_sum((unsigned)n->attr.i[0], c);
  if (n->op == &op_broadcast) return of_broadcast(from, n->shape, c);
  if (n->op == &op_reshape) return of_reshape(from, n->shape, c);
  if (n->op == &op_transpose) return part(c, (int)n->attr.i[c.axis]);
  if (n->op == &op_matmul) return of_matmul(n, k, c);
  bool rows = n->op == &op_softmax || n->op == &op_logsumexp;
  return rows && c.axis < from.rank - 1 ? part(c, c.axis) : none;
}

static bool in_parts(const r4_graph *g, r4_id y, struct cut c)
{
  const struct node *n = graph_node(g, y);
  if (n->op == &op_const) return true;
  for (uint32_t k = 0; k < n->arity; k++)
    if (of_argument(g, y, k, c).how == NOTHING) return false;
  return n->arity > 0;
}

/* ---- Down ---- */

static bool same_cut(struct cut a, struct cut b)
{
  return a.axis == b.axis && a.start == b.start && a.step == b.step && a.size == b.size;
}

static void ask(struct early *e, r4_id x, struct need more)
{
  struct need *n = &e->need[x.i];
  bool same = n->how == more.how && (n->how != PART || same_cut(n->cut, more.cut));
  if (n->how == NOTHING)
    *n = more;
  else if (!same)
    *n = whole;
}

static void ask_all(struct early *e, uint32_t last)
{
  for (uint32_t i = last; i; i--) {
    r4_id y = {i};
    struct need *n = &e->need[i];
    if (n->how == NOTHING) continue;
    if (n->how == PART && !in_parts(e->g, y, n->cut)) *n = whole;
    for (uint32_t k = 0; k < graph_node(e->g, y)->arity; k++)
      ask(e, graph_arg(e->g, y, k), n->how == WHOLE ? whole : of_argument(e->g, y, k, n->cut));
  }
}

/* ---- Up ---- */

static r4_id late_slice(r4_graph *g, r4_id x, struct cut c)
{
  r4_shape size = r4_node_shape(g, x);
  int64_t start[R4_MAX_RANK] = {0}, step[R4_MAX_RANK];
  for (int k = 0; k < R4_MAX_RANK; k++) step[k] = 1;
  size.dim[c.axis] = c.size;
  start[c.axis] = c.start;
  step[c.axis] = c.step;
  return r4_slice(g, x, start, size.dim, step);
}

static r4_id part_of(const struct early *e, r4_id x, struct need n)
{
  if (n.how == WHOLE) return x;
  return e->need[x.i].how == PART ? e->part[x.i] : late_slice(e->g, x, n.cut);
}

static r4_id build(const struct early *e, r4_id y, struct cut c)
{
  r4_id args[MAX_ARITY];
  const struct op *op = graph_node(e->g, y)->op;
  uint32_t arity = graph_node(e->g, y)->arity;
  struct attr attr = graph_node(e->g, y)->attr;
  r4_shape shape = r4_node_shape(e->g, y);
  shape.dim[c.axis] = c.size;
  for (uint32_t k = 0; k < arity; k++)
    args[k] = part_of(e, graph_arg(e->g, y, k), of_argument(e->g, y, k, c));
  return graph_add(e->g, op, arity, args, &attr, op->needs_shape ? &shape : NULL, NULL);
}

r4_id early_slice(r4_graph *g, r4_id x, struct cut c, r4_id from)
{
  r4_id y = late_slice(g, x, c); /* says what is wrong with it */
  if (r4_graph_status(g, NULL)) return R4_NONE;
  struct early e = {
    .g = g, .need = r4_mem_new(x.i + 1, sizeof *e.need), .part = r4_mem_new(x.i + 1, sizeof *e.part)};
  if (e.need && e.part) {
    e.need[x.i] = (struct need){.how = PART, .cut = c};
    if (from.i <= x.i) e.need[from.i] = whole;
    ask_all(&e, x.i);
    for (uint32_t i = 1; i <= x.i; i++)
      if (e.need[i].how == PART) e.part[i] = build(&e, (r4_id){i}, e.need[i].cut);
    if (e.need[x.i].how == PART) y = e.part[x.i];
  } else {
    r4_graph_fail(g, R4_E_MEMORY, "slice: out of memory");
    y = R4_NONE;
  }
  r4_mem_free(e.need);
  r4_mem_free(e.part);
  return y;
}
