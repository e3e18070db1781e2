/* Linear bounds (CROWN): walk back from y with coefficients to the boxes, by the linear rules of the operations on the
 * way (op/functional.h), and take the least value there:
 *
 *     min over x of  sum_i coef_i x_i  =  sum_i coef_i (coef_i > 0 ? lo_i : hi_i)  =  coef . c - |coef| . r
 *
 * Rules need the intervals of arguments. These come forward, as always; where they are no longer exact, and a rule
 * above depends on them, a walk of its own makes them tighter (or, with inner_intervals, does not). A node without a
 * rule, or where a rule does not apply, ends the walk as boxes do, with its interval: always true, and a constant. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "op/functional.h"
#include "pass/bound.h"

enum { MOST = 4096, MOST_COEFFICIENTS = 1 << 26 }; /* elements of a row; and coefficients of a node, for each row */

/* ---- What a walk needs to know of nodes ---- */

static int64_t row_count(r4_shape s)
{
  return s.rank ? r4_shape_count(s) / s.dim[0] : 1;
}

static struct interval interval_of(const struct bounds *b, r4_id x)
{
  return b->touched[x.i] ? b->interval[x.i] : iv_of(x);
}

/* Moving arguments, counted. */
static size_t moving(const struct bounds *b, r4_id y, r4_id *last)
{
  size_t n = 0;
  for (uint32_t k = 0; k < graph_node(b->g, y)->arity; k++) {
    r4_id a = graph_arg(b->g, y, k);
    if (b->moves[a.i]) *last = a, n++;
  }
  return n;
}

/* The interval of the result is as good as that of the one argument that moves: its elements, moved or transformed. */
static bool passes(const struct bounds *b, r4_id y)
{
  r4_id a;
  enum op_kind kind = graph_node(b->g, y)->op->kind;
  return (kind == OP_ELEMENT || kind == OP_SHAPE) && moving(b, y, &a) == 1;
}

/* How y is bounded by its arguments depends on their ends: not where it is linear in what moves. */
static bool looks_at_ends(const struct bounds *b, r4_id y)
{
  r4_id a;
  const struct op *op = graph_node(b->g, y)->op;
  bool bilinear = op->linear == lin_product || op->linear == lin_mul || op->linear == lin_div;
  if (bilinear) return moving(b, y, &a) > 1;
  return op->linear != lin_transpose && op->bound != op_linear;
}

void linear_prepare(struct bounds *b, r4_id y)
{
  for (uint32_t i = 1; i <= y.i; i++) {
    r4_id a;
    int64_t count = row_count(r4_node_shape(b->g, (r4_id){i}));
    b->moves[i] = b->box[i] ? !iv_point(b->interval[i]) : b->live[i] && moving(b, (r4_id){i}, &a) > 0;
    if (b->moves[i] && count > b->widest) b->widest = count;
  }
  for (uint32_t i = y.i; i; i--) {
    r4_id node = {i};
    if (!b->live[i] || !b->moves[i] || b->box[i]) continue;
    if (!looks_at_ends(b, node) && !(b->wanted[i] && passes(b, node))) continue;
    for (uint32_t k = 0; k < graph_node(b->g, node)->arity; k++) {
      r4_id a = graph_arg(b->g, node, k);
      b->wanted[a.i] |= b->moves[a.i];
    }
  }
}

/* Each element of the argument has a part in one element of the result at most. */
static bool uses_once(const struct op *op)
{
  return op->kind == OP_ELEMENT || op->kind == OP_REDUCE || (op->kind == OP_SHAPE && op != &op_broadcast) ||
         op == &op_scatter_add || op == &op_place || op == &op_crop;
}

static void find_exact(struct bounds *b, r4_id y)
{
  r4_id a = R4_NONE;
  if (b->box[y.i]) {
    b->exact[y.i] = b->apart[y.i] = true;
  } else if (moving(b, y, &a) == 1) {
    b->exact[y.i] = passes(b, y) ? b->exact[a.i] : b->apart[a.i];
    b->apart[y.i] = b->apart[a.i] && uses_once(graph_node(b->g, y)->op);
  }
}

/* ---- A walk ---- */

struct walk {
  struct bounds *b;
  r4_graph *g;
  int64_t times, rows; /* functionals, of each row of y */
  struct part {
    r4_id coef;
    int64_t rows; /* 1, or those of y */
  } *part;        /* by node */
  r4_id sum;      /* [times * rows] */
};

static void add_sum(struct walk *w, r4_id terms, int64_t rows)
{
  unsigned all = R4_AXIS(r4_node_shape(w->g, terms).rank) - 1;
  r4_id s = r4_sum(w->g, terms, all & ~1u);
  if (rows != w->rows) s = functional_rows(w->g, s, w->times, w->rows);
  w->sum = w->sum.i ? r4_add(w->g, w->sum, s) : s;
}

static void add_coef(struct walk *w, r4_id x, r4_id coef, int64_t rows)
{
  struct part *p = &w->part[x.i], other = {coef, rows};
  if (!p->coef.i) {
    *p = other;
    return;
  }
  for (int k = 0; k < 2 && p->rows != other.rows; k++) {
    struct part *one = k ? p : &other;
    if (one->rows == w->rows) continue;
    one->coef = functional_rows(w->g, one->coef, w->times, w->rows);
    one->rows = w->rows;
  }
  p->coef = r4_add(w->g, p->coef, other.coef);
}

static struct functional functional_of(const struct walk *w, r4_id y, struct part p)
{
  return (struct functional){.g = w->g, .y = y, .coef = p.coef, .times = w->times, .rows = p.rows};
}

/* A bias, repeated along all but the last axis: a product with a column needs no repetition. */
static bool add_bias(struct walk *w, r4_id x, struct part p)
{
  if (!graph_is(w->g, x, &op_broadcast)) return false;
  r4_id from = graph_arg(w->g, x, 0);
  r4_shape s = r4_node_shape(w->g, p.coef);
  int64_t n = r4_shape_count(r4_node_shape(w->g, from)), count = r4_shape_count(s), each = w->times * p.rows;
  r4_shape a = r4_node_shape(w->g, from);
  if (!a.rank || a.dim[a.rank - 1] != n || s.dim[s.rank - 1] != n) return false;
  r4_id rows = r4_reshape(w->g, p.coef, R4_SHAPE(count / n, n)), column = r4_reshape(w->g, from, R4_SHAPE(n, 1));
  r4_id product = r4_matmul(w->g, rows, column, false, false);
  add_sum(w, r4_reshape(w->g, product, R4_SHAPE(each, count / n / each)), p.rows);
  return true;
}

/* What no box touches. */
static void add_point(struct walk *w, r4_id x, struct part p)
{
  if (op_is_value(w->g, x, 0) || add_bias(w, x, p)) return;
  struct functional f = functional_of(w, x, p);
  functional_repeat(&f, 1, &x);
  add_sum(w, r4_mul(w->g, f.coef, x), f.rows);
}

/* The least value over an interval. */
static void add_interval(struct walk *w, r4_id x, struct part p, struct interval iv)
{
  struct functional f = functional_of(w, x, p);
  bool ball = iv.radius.i && iv.centre.i;
  r4_id v[2] = {ball ? iv.centre : iv_lo(w->g, iv), ball ? iv.radius : iv_hi(w->g, iv)};
  functional_repeat(&f, 2, v);
  if (!ball) {
    add_sum(w, r4_mul(w->g, f.coef, r4_select(w->g, f.coef, v[0], v[1])), f.rows);
    return;
  }
  r4_id spread = r4_mul(w->g, r4_abs(w->g, f.coef), v[1]);
  add_sum(w, r4_sub(w->g, r4_mul(w->g, f.coef, v[0]), spread), f.rows);
}

/* A number for each element of y and each functional. */
static r4_id free_input(const struct walk *w, r4_id y, const char *what, size_t k)
{
  char name[32];
  r4_shape shape = r4_node_shape(w->g, y);
  shape.dim[0] = w->times * w->rows;
  snprintf(name, sizeof name, "%s.%zu", what, k);
  return r4_input(w->g, name, shape);
}

/* m x <= 0 for all x in lo .. hi: min(m, 0) where lo >= 0, max(m, 0) where hi <= 0, else 0. So every m is valid. */
static r4_id allowed(r4_graph *g, const struct linear_relu *r)
{
  r4_id m = r->multiplier, zero = r4_const(g, 0, r4_node_shape(g, m));
  r4_id right = r4_less(g, r->lo, zero), left = r4_less(g, zero, r->hi);
  return r4_add(g, r4_select(g, right, zero, r4_min(g, m, zero)), r4_select(g, left, zero, r4_max(g, m, zero)));
}

/* What is free at y in this walk; NULL: nothing. */
static struct linear_relu *free_at(const struct walk *w, r4_id y)
{
  struct linear_relus *all = w->b->last ? w->b->relus : NULL;
  for (size_t k = 0; all && k < all->n; k++) {
    struct linear_relu *r = &all->relu[k];
    if (r->y.i != y.i) continue;
    r->slope = free_input(w, y, "slope", k);
    if (all->given) r->multiplier = free_input(w, y, "multiplier", k);
    return r;
  }
  return NULL;
}

static bool add_rule(struct walk *w, r4_id y, struct part p)
{
  struct interval x[MAX_ARITY];
  struct functional f = functional_of(w, y, p);
  const struct op *op = graph_node(w->g, y)->op;
  size_t arity = graph_node(w->g, y)->arity;
  if (!op->linear || graph_node(w->g, y)->shape.rank == R4_MAX_RANK) return false;
  for (size_t k = 0; k < arity; k++) x[k] = interval_of(w->b, graph_arg(w->g, y, k));
  f.x = x;
  struct linear_relu *r = free_at(w, y);
  if (r) f.shift = r->slope;
  if (!op->linear(&f)) return false;
  if (r) r->coef = f.coef;
  if (r && r->multiplier.i) f.to[0] = r4_add(w->g, f.to[0], allowed(w->g, r));
  for (size_t k = 0; k < arity; k++) {
    r4_id a = graph_arg(w->g, y, k);
    struct part to = {f.to[k], f.rows};
    if (!to.coef.i || w->g->error.status) continue;
    if (w->b->moves[a.i])
      add_coef(w, a, to.coef, to.rows);
    else
      add_point(w, x[k].centre, to);
  }
  if (f.rest.i) add_sum(w, f.rest, f.rows);
  return true;
}

static void step_back(struct walk *w, r4_id y)
{
  struct part p = w->part[y.i];
  if (!w->b->moves[y.i])
    add_point(w, interval_of(w->b, y).centre, p);
  else if (w->b->box[y.i] || !add_rule(w, y, p))
    add_interval(w, y, p, interval_of(w->b, y));
}

r4_id linear_least(struct bounds *b, r4_id y, r4_id coef, int64_t times, int64_t rows)
{
  struct walk w = {.b = b, .g = b->g, .times = times, .rows = r4_node_shape(b->g, y).dim[0]};
  w.part = r4_mem_new(y.i + 1, sizeof *w.part);
  if (!w.part) return r4_graph_fail(b->g, R4_E_MEMORY, "bound: out of memory");
  w.part[y.i] = (struct part){coef, rows};
  for (uint32_t i = y.i; i && !b->g->error.status; i--)
    if (w.part[i].coef.i) step_back(&w, (r4_id){i});
  if (b->last && b->relus && b->first.i <= y.i) b->relus->box = w.part[b->first.i].coef;
  r4_mem_free(w.part);
  return r4_reshape(b->g, w.sum.i ? w.sum : r4_const(b->g, 0, R4_SHAPE(times * w.rows)), R4_SHAPE(times, w.rows));
}

/* ---- Bounds of all elements ---- */

/* The elements of a row and their opposites, [2 n, ..]: the same for every row. */
static r4_id elements(r4_graph *g, r4_shape shape, int64_t n)
{
  shape.dim[0] = n;
  r4_id one = r4_reshape(g, r4_equal(g, r4_iota(g, 0, R4_SHAPE(n, n)), r4_iota(g, 1, R4_SHAPE(n, n))), shape);
  return r4_concat(g, 2, (r4_id[]){one, r4_neg(g, one)}, 0);
}

/* Functionals [2 n, rows]: those of one sign as values of y. */
static r4_id half(r4_graph *g, r4_id least, int64_t from, r4_shape shape)
{
  r4_shape all = r4_node_shape(g, least);
  r4_id part = r4_slice(g, least, (const int64_t[]){from, 0}, (const int64_t[]){all.dim[0] / 2, all.dim[1]}, NULL);
  return r4_reshape(g, r4_transpose(g, part, (const int[]){1, 0}), shape);
}

static bool has_rows(r4_shape s)
{
  return s.rank > 0 && s.rank < R4_MAX_RANK;
}

struct interval linear_bound(struct bounds *b, r4_id y)
{
  r4_graph *g = b->g;
  r4_shape shape = r4_node_shape(g, y);
  if (!has_rows(shape) || b->box[y.i] || !b->moves[y.i]) return interval_of(b, y);
  int64_t n = r4_shape_count(shape) / shape.dim[0];
  r4_id least = linear_least(b, y, elements(g, shape, n), 2 * n, 1);
  return iv_ends(half(g, least, 0, shape), r4_neg(g, half(g, least, n, shape)));
}

struct interval linear_tighter(r4_graph *g, struct interval a, struct interval linear)
{
  if (iv_point(a)) return a;
  r4_id below = iv_lo(g, linear), above = iv_hi(g, linear), least = iv_lo(g, a), most = iv_hi(g, a);
  r4_id lo = graph_add(g, &op_lower_end, 1, &below, NULL, NULL, NULL);
  r4_id hi = graph_add(g, &op_upper_end, 1, &above, NULL, NULL, NULL);
  return iv_ends(r4_min(g, r4_max(g, least, lo), most), r4_max(g, r4_min(g, most, hi), least));
}

static bool worth_it(const struct bounds *b, r4_id y)
{
  r4_shape s = r4_node_shape(b->g, y);
  int64_t fits = MOST_COEFFICIENTS / (2 * b->widest), usual = fits < MOST ? fits : MOST;
  int64_t most = b->options.most > 0 ? b->options.most : usual;
  return b->wanted[y.i] && !b->exact[y.i] && !passes(b, y) && has_rows(s) && row_count(s) <= most;
}

/* Those behind the last one that fits have the usual slopes, and ends of their own. */
void linear_relu(struct bounds *b, r4_id y)
{
  struct linear_relus *all = b->relus;
  if (!all || all->n == MOST_RELUS || !b->moves[y.i] || !graph_is(b->g, y, &op_relu)) return;
  char name[32];
  r4_id x = graph_arg(b->g, y, 0);
  struct linear_relu *r = &all->relu[all->n];
  *r = (struct linear_relu){.y = y, .lo = iv_lo(b->g, b->interval[x.i]), .hi = iv_hi(b->g, b->interval[x.i])};
  if (all->given) {
    snprintf(name, sizeof name, "least.%zu", all->n);
    r->lo = r4_input(b->g, name, r4_node_shape(b->g, x));
    snprintf(name, sizeof name, "most.%zu", all->n);
    r->hi = r4_input(b->g, name, r4_node_shape(b->g, x));
    b->interval[x.i] = iv_ends(r->lo, r->hi);
  }
  all->n++;
}

void linear_visit(struct bounds *b, r4_id y)
{
  if (!b->moves[y.i] || b->g->error.status) return;
  find_exact(b, y);
  if (b->box[y.i] || b->options.inner_intervals || !worth_it(b, y)) return;
  struct interval linear = linear_bound(b, y);
  b->interval[y.i] = b->options.method == R4_BOUND_BEST ? linear_tighter(b->g, b->interval[y.i], linear) : linear;
}
