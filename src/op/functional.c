/* Linear rules that many operations share, and how coefficients are repeated (op/functional.h). */
#include "op/functional.h"

#include <string.h>

/* ---- Rows ---- */

r4_shape functional_shape(const struct functional *f, r4_shape s)
{
  s.dim[0] = f->times * f->rows;
  return s;
}

/* [n, ..] as [a, b, ..], a b = n */
static r4_shape split_rows(r4_shape s, int64_t a, int64_t b)
{
  r4_shape to = {.rank = s.rank + 1, .dim = {a, b}};
  for (int k = 1; k < s.rank; k++) to.dim[k + 1] = s.dim[k];
  return to;
}

r4_id functional_rows(r4_graph *g, r4_id x, int64_t times, int64_t rows)
{
  r4_shape s = r4_node_shape(g, x), to = s;
  to.dim[0] = times * rows;
  r4_id each = r4_reshape(g, x, split_rows(s, times, s.dim[0] / times));
  return r4_reshape(g, r4_broadcast(g, each, split_rows(s, times, rows)), to);
}

void functional_spread(struct functional *f)
{
  int64_t rows = r4_node_shape(f->g, f->y).dim[0];
  if (f->rows == rows) return;
  f->coef = functional_rows(f->g, f->coef, f->times, rows);
  f->rows = rows;
}

/* What v is repeated from, if all of its rows are the same: a node without rows, or R4_NONE. */
static r4_id same_rows(const r4_graph *g, r4_id v)
{
  if (!graph_is(g, v, &op_broadcast)) return R4_NONE;
  r4_id from = graph_arg(g, v, 0);
  r4_shape a = r4_node_shape(g, from), b = r4_node_shape(g, v);
  return a.rank < b.rank || a.dim[0] == 1 ? from : R4_NONE;
}

static r4_id repeat(const struct functional *f, r4_id v)
{
  double value;
  r4_shape s = r4_node_shape(f->g, v), to = functional_shape(f, s);
  r4_id from = same_rows(f->g, v);
  if (op_value(f->g, v, &value)) return r4_const(f->g, value, to);
  if (from.i) return r4_broadcast(f->g, from, to);
  r4_id each = r4_broadcast(f->g, r4_reshape(f->g, v, split_rows(s, 1, s.dim[0])), split_rows(s, f->times, s.dim[0]));
  return r4_reshape(f->g, each, to);
}

void functional_repeat(struct functional *f, size_t n, r4_id *v)
{
  for (size_t k = 0; k < n; k++)
    if (v[k].i && !graph_is(f->g, v[k], &op_const) && !same_rows(f->g, v[k]).i) functional_spread(f);
  for (size_t k = 0; k < n; k++)
    if (v[k].i) v[k] = repeat(f, v[k]);
}

/* ---- Transposes ---- */

/* The argument has rows of its own, those of y. */
static bool has_rows(const struct functional *f, r4_id x)
{
  r4_shape s = r4_node_shape(f->g, x);
  return s.rank > 0 && s.dim[0] == r4_node_shape(f->g, f->y).dim[0];
}

static r4_id zeros(const struct functional *f, r4_id x)
{
  return r4_const(f->g, 0, functional_shape(f, r4_node_shape(f->g, x)));
}

/* y on other arguments, and its derivative. */
static bool pull_back(struct functional *f, const r4_id *arg)
{
  const struct node y = *graph_node(f->g, f->y);
  r4_shape shape = functional_shape(f, y.shape);
  r4_id again = graph_add(f->g, y.op, y.arity, arg, &y.attr, y.op->needs_shape ? &shape : NULL, NULL);
  if (again.i) y.op->vjp(f->g, again, f->coef, f->to);
  return true;
}

/* A linear operation's derivative does not depend on its arguments: zeros stand for them. */
bool lin_transpose(struct functional *f)
{
  r4_id arg[MAX_ARITY];
  const struct node *y = graph_node(f->g, f->y);
  size_t n = y->arity;
  for (size_t k = 0; k < n; k++)
    if (!op_is_index(y->op, k) && !has_rows(f, graph_arg(f->g, f->y, k))) return false;
  for (size_t k = 0; k < n; k++) {
    arg[k] = graph_arg(f->g, f->y, k);
    if (!op_is_index(graph_node(f->g, f->y)->op, k)) arg[k] = zeros(f, arg[k]);
  }
  return pull_back(f, arg);
}

/* ---- Products ---- */

/* Whether row b of the product depends on row b of argument k alone; and whether the other argument has rows, too. */
static bool by_rows(const struct functional *f, size_t k, bool *other)
{
  const struct node *y = graph_node(f->g, f->y);
  *other = y->op == &op_matmul && y->shape.rank > 2;
  if (*other) return has_rows(f, graph_arg(f->g, f->y, 0)) && has_rows(f, graph_arg(f->g, f->y, 1));
  bool transposed = y->op == &op_matmul && y->attr.i[0];
  return k == 0 && !transposed && has_rows(f, graph_arg(f->g, f->y, 0));
}

bool lin_product(struct functional *f)
{
  size_t moves = iv_point(f->x[0]) ? 1 : 0;
  bool other_rows;
  if (!iv_point(f->x[1 - moves]) || !by_rows(f, moves, &other_rows)) return false;
  r4_id arg[2], other = f->x[1 - moves].centre;
  if (other_rows) functional_repeat(f, 1, &other);
  arg[moves] = zeros(f, graph_arg(f->g, f->y, moves));
  arg[1 - moves] = other;
  pull_back(f, arg);
  f->to[1 - moves] = R4_NONE;
  return true;
}

/* ---- Lines ---- */

r4_id functional_line(struct functional *f, r4_id below, r4_id above)
{
  if (below.i == above.i) return below.i ? r4_mul(f->g, f->coef, below) : R4_NONE;
  r4_id zero = r4_const(f->g, 0, r4_node_shape(f->g, f->coef));
  return r4_mul(f->g, f->coef, r4_select(f->g, f->coef, below.i ? below : zero, above.i ? above : zero));
}

bool lin_between(struct functional *f, const struct lines *l)
{
  struct lines each = *l;
  size_t n = graph_node(f->g, f->y)->arity;
  if (!r4_node_shape(f->g, f->y).rank) return false;
  functional_repeat(f, sizeof each / sizeof(r4_id), each.slope[0]);
  for (size_t k = 0; k < n; k++) f->to[k] = functional_line(f, each.slope[0][k], each.slope[1][k]);
  f->rest = functional_line(f, each.at[0], each.at[1]);
  return true;
}
