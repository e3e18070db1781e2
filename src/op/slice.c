/* slice and pad, each the transpose of the other, and concat.
 * attr.i[k] is the start along axis k and attr.i[RANK + k] the step; the shape is given. */
#include <string.h>

#include "op/functional.h"

enum { STEP = R4_MAX_RANK };

/* start + (n - 1) step stays inside, for the n elements of "small" in "large" */
static bool inside(struct infer *s, r4_shape small, r4_shape large)
{
  if (small.rank != large.rank) return infer_fail(s, "ranks %d and %d differ", small.rank, large.rank);
  for (int k = 0; k < small.rank; k++) {
    int64_t start = s->attr->i[k], step = s->attr->i[STEP + k];
    bool ok = start >= 0 && step >= 1 && start < large.dim[k] &&
              small.dim[k] - 1 <= (large.dim[k] - 1 - start) / step;
    if (!ok)
      return infer_fail(s, "axis %d: %lld elements from %lld by %lld do not fit in %lld", k,
                        (long long)small.dim[k], (long long)start, (long long)step, (long long)large.dim[k]);
  }
  return true;
}

static bool slice_shape(struct infer *s)
{
  s->out = *s->want;
  return inside(s, s->out, s->in[0]);
}

static bool pad_shape(struct infer *s)
{
  s->out = *s->want;
  return inside(s, s->in[0], s->out);
}

static void slice_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  struct attr a = graph_node(g, y)->attr;
  dx[0] = r4_pad(g, dy, a.i, a.i + STEP, r4_node_shape(g, graph_arg(g, y, 0)));
}

static void pad_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  struct attr a = graph_node(g, y)->attr;
  dx[0] = r4_slice(g, dy, a.i, r4_node_shape(g, graph_arg(g, y, 0)).dim, a.i + STEP);
}

static bool move_linear(struct functional *f)
{
  const struct attr *a = &graph_node(f->g, f->y)->attr;
  return a->i[0] == 0 && a->i[STEP] == 1 && lin_transpose(f);
}

static r4_id move_simplify(r4_graph *g, r4_id y)
{
  r4_id x = graph_arg(g, y, 0);
  double value;
  if (r4_shape_equal(r4_node_shape(g, x), r4_node_shape(g, y))) return x;
  if (op_value(g, x, &value) && (value == 0 || graph_is(g, y, &op_slice)))
    return r4_const(g, value, r4_node_shape(g, y));
  return R4_NONE;
}

/* the place in "large" of element k of "small" */
static int64_t place(int64_t k, r4_shape small, r4_shape large, const struct attr *attr)
{
  int64_t from[R4_MAX_RANK], to[R4_MAX_RANK], at = 0;
  op_strides(small, from);
  op_strides(large, to);
  for (int a = 0; a < small.rank; a++)
    at += (attr->i[a] + k / from[a] % small.dim[a] * attr->i[STEP + a]) * to[a];
  return at;
}

static r4_status slice_kernel(const struct call *c)
{
  int64_t n = r4_shape_count(c->shape);
  for (int64_t k = 0; k < n; k++) c->out[k] = c->in[0][place(k, c->shape, c->in_shape[0], c->attr)];
  return R4_OK;
}

static r4_status pad_kernel(const struct call *c)
{
  int64_t n = r4_shape_count(c->in_shape[0]);
  memset(c->out, 0, (size_t)r4_shape_count(c->shape) * sizeof *c->out);
  for (int64_t k = 0; k < n; k++) c->out[place(k, c->in_shape[0], c->shape, c->attr)] = c->in[0][k];
  return R4_OK;
}

/* ---- concat along axis attr.i[0] ---- */

static bool concat_shape(struct infer *s)
{
  int64_t axis = s->attr->i[0];
  s->out = s->in[0];
  if (axis < 0 || axis >= s->out.rank)
    return infer_fail(s, "axis %lld of rank %d", (long long)axis, s->out.rank);
  for (size_t k = 1; k < s->n; k++) {
    r4_shape x = s->in[k];
    int64_t size = x.rank == s->out.rank ? x.dim[axis] : 0;
    x.dim[axis] = s->out.dim[axis];
    if (!size || !r4_shape_equal(x, s->out))
      return infer_fail(s, "shapes differ beyond axis %lld", (long long)axis);
    s->out.dim[axis] += size;
  }
  return true;
}

static void concat_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  int64_t start[R4_MAX_RANK] = {0}, axis = graph_node(g, y)->attr.i[0];
  size_t n = graph_node(g, y)->arity;
  for (size_t k = 0; k < n; k++) {
    r4_shape part = r4_node_shape(g, graph_arg(g, y, k));
    dx[k] = r4_slice(g, dy, start, part.dim, NULL);
    start[axis] += part.dim[axis];
  }
}

static bool concat_linear(struct functional *f)
{
  return graph_node(f->g, f->y)->attr.i[0] != 0 && lin_transpose(f);
}

static r4_id concat_simplify(r4_graph *g, r4_id y)
{
  return graph_node(g, y)->arity == 1 ? graph_arg(g, y, 0) : R4_NONE;
}

static r4_status concat_kernel(const struct call *c)
{
  int64_t axis = c->attr->i[0], inner = 1, outer = 1, at = 0;
  for (int64_t k = axis + 1; k < c->shape.rank; k++) inner *= c->shape.dim[k];
  for (int64_t k = 0; k < axis; k++) outer *= c->shape.dim[k];
  for (size_t part = 0; part < c->n; part++) {
    int64_t run = c->in_shape[part].dim[axis] * inner;
    for (int64_t o = 0; o < outer; o++)
      memcpy(c->out + o * c->shape.dim[axis] * inner + at, c->in[part] + o * run,
             (size_t)run * sizeof *c->out);
    at += run;
  }
  return R4_OK;
}

/* ---- The operations ---- */
/* clang-format off */

static const struct attr_field window_fields[] = {{"start", 0, -1}, {"step", STEP, -1}, {0}};
#define SIX VALUES(1, 2, 3, 4, 5, 6)

const struct op op_slice = {
  .name = "slice",
  .arity = 1,
  .kind = OP_SHAPE,
  .keeps_sign = EVERY_ARG,
  .needs_shape = true,
  .fields = window_fields,
  .shape = slice_shape,
  .vjp = slice_vjp,
  .bound = op_linear,
  .linear = move_linear,
  .simplify = move_simplify,
  .kernel = slice_kernel,
  SOUND(increasing, EXACT),
  SAMPLES({.in = {{2, {2, 3}}}, .shape = {2, {2, 2}}, .attr = {.i = {0, 0, [STEP] = 1, 2}}, .x = {SIX},
           .y = VALUES(1, 3, 4, 6)},
          {.in = {{3, {4, 5, 6}}}, .shape = {3, {2, 3, 2}}, .attr = {.i = {1, 0, 1, [STEP] = 2, 2, 3}}}),
};

const struct op op_pad = {
  .name = "pad",
  .arity = 1,
  .kind = OP_SHAPE,
  .keeps_sign = EVERY_ARG,
  .needs_shape = true,
  .fields = window_fields,
  .shape = pad_shape,
  .vjp = pad_vjp,
  .bound = op_linear,
  .linear = move_linear,
  .simplify = move_simplify,
  .kernel = pad_kernel,
  SOUND(increasing, EXACT),
  SAMPLES({.in = {{1, {3}}}, .shape = {1, {7}}, .attr = {.i = {1, [STEP] = 2}}, .x = {VALUES(1, 2, 3)},
           .y = VALUES(0, 1, 0, 2, 0, 3, 0)},
          {.in = {{3, {2, 3, 2}}}, .shape = {3, {4, 5, 6}}, .attr = {.i = {1, 0, 1, [STEP] = 2, 2, 3}}}),
};

const struct op op_concat = {
  .name = "concat",
  .arity = -1,
  .kind = OP_SHAPE,
  .keeps_sign = EVERY_ARG,
  .fields = (const struct attr_field[]){{"axis", 0, 1}, {0}},
  .shape = concat_shape,
  .vjp = concat_vjp,
  .bound = op_linear,
  .linear = concat_linear,
  .simplify = concat_simplify,
  .kernel = concat_kernel,
  SOUND(increasing, EXACT),
  SAMPLES({.in = {{2, {2, 1}}, {2, {2, 2}}}, .attr = {.i = {1}}, .x = {VALUES(1, 4), VALUES(2, 3, 5, 6)}, .y = SIX},
          {.in = {{3, {2, 3, 2}}, {3, {2, 1, 2}}, {3, {2, 2, 2}}}, .attr = {.i = {1}}}),
};
/* clang-format on */

r4_id r4_slice(r4_graph *g, r4_id x, const int64_t *start, const int64_t *size, const int64_t *step)
{
  GRAPH_NEEDS(start || !r4_node_shape(g, x).rank, "a start", R4_NONE);
  GRAPH_NEEDS(size || !r4_node_shape(g, x).rank, "a size", R4_NONE);
  struct attr attr = {0};
  r4_shape shape = {.rank = r4_node_shape(g, x).rank};
  for (int k = 0; k < shape.rank; k++) {
    attr.i[k] = start[k];
    attr.i[STEP + k] = step ? step[k] : 1;
    shape.dim[k] = size[k];
  }
  return graph_add(g, &op_slice, 1, &x, &attr, &shape, NULL);
}

r4_id r4_pad(r4_graph *g, r4_id x, const int64_t *start, const int64_t *step, r4_shape shape)
{
  GRAPH_NEEDS(start || !r4_node_shape(g, x).rank, "a start", R4_NONE);
  struct attr attr = {0};
  for (int k = 0; k < r4_node_shape(g, x).rank; k++) {
    attr.i[k] = start[k];
    attr.i[STEP + k] = step ? step[k] : 1;
  }
  return graph_add(g, &op_pad, 1, &x, &attr, &shape, NULL);
}

r4_id r4_concat(r4_graph *g, size_t n, const r4_id *x, int axis)
{
  GRAPH_NEEDS(x || !n, "nodes", R4_NONE);
  struct attr attr = {.i = {axis}};
  return graph_add(g, &op_concat, n, x, &attr, NULL, NULL);
}
