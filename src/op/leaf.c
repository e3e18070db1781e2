/* Leaves: input, const, iota. */
#include <math.h>
#include <string.h>

#include "op/op_rules.h"

static bool const_shape(struct infer *s)
{
  if (!isfinite(s->attr->f)) {
    r4_graph_fail(s->g, R4_E_ARGUMENT, "const: the value %g is not finite", s->attr->f);
    return false;
  }
  return op_want_shape(s);
}

static bool iota_shape(struct infer *s)
{
  s->out = *s->want;
  int64_t axis = s->attr->i[0];
  if (axis >= 0 && axis < s->out.rank) return true;
  return infer_fail(s, "axis %lld of rank %d", (long long)axis, s->out.rank);
}

static r4_status const_kernel(const struct call *c)
{
  int64_t n = r4_shape_count(c->shape);
  for (int64_t k = 0; k < n; k++) c->out[k] = c->attr->f;
  return R4_OK;
}

/* y[.., i, ..] = i along the axis */
static r4_status iota_kernel(const struct call *c)
{
  int64_t stride[R4_MAX_RANK], n = r4_shape_count(c->shape), axis = c->attr->i[0];
  op_strides(c->shape, stride);
  for (int64_t k = 0; k < n; k++) c->out[k] = (double)(k / stride[axis] % c->shape.dim[axis]);
  return R4_OK;
}

/* clang-format off */
const struct op op_input = {
  .name = "input", .kind = OP_LEAF, .needs_shape = true, .shape = op_want_shape, .vjp = op_flat, .bound = op_linear};

const struct op op_const = {
  .name = "const",
  .kind = OP_LEAF,
  .needs_shape = true,
  .has_value = true,
  .shape = const_shape,
  .vjp = op_flat,
  .bound = op_linear,
  .kernel = const_kernel,
  SOUND(const, ROUNDED),
  SAMPLES({.shape = {1, {3}}, .attr = {.f = 2.5}, .y = VALUES(2.5, 2.5, 2.5)}),
};

const struct op op_iota = {
  .name = "iota",
  .kind = OP_LEAF,
  .needs_shape = true,
  .nonneg = true,
  .fields = (const struct attr_field[]){{"axis", 0, 1}, {0}},
  .shape = iota_shape,
  .vjp = op_flat,
  .bound = op_linear,
  .kernel = iota_kernel,
  SOUND(increasing, EXACT),
  SAMPLES({.shape = {2, {2, 3}}, .attr = {.i = {1}}, .y = VALUES(0, 1, 2, 0, 1, 2)},
          {.shape = {2, {2, 3}}, .attr = {.i = {0}}, .y = VALUES(0, 0, 0, 1, 1, 1)}),
};
/* clang-format on */

r4_id r4_input(r4_graph *g, const char *name, r4_shape shape)
{
  if (!name || !*name) return r4_graph_fail(g, R4_E_ARGUMENT, "input: the name is empty");
  if (strlen(name) > MAX_NAME)
    return r4_graph_fail(g, R4_E_ARGUMENT, "input: the name has more than %d bytes", MAX_NAME);
  for (const char *p = name; *p; p++)
    if (*p == '"' || *p == '\n')
      return r4_graph_fail(g, R4_E_ARGUMENT, "input: a quote or line end in the name");
  r4_id known = graph_find_input(g, name);
  if (known.i && !r4_shape_equal(r4_node_shape(g, known), shape)) {
    char a[SHAPE_TEXT], b[SHAPE_TEXT];
    return r4_graph_fail(g, R4_E_SHAPE, "input \"%s\" is both %s and %s", name,
                         shape_text(r4_node_shape(g, known), a), shape_text(shape, b));
  }
  return graph_add(g, &op_input, 0, NULL, NULL, &shape, name);
}

r4_id r4_const(r4_graph *g, double value, r4_shape shape)
{
  struct attr attr = {.f = value == 0 ? 0 : value}; /* one zero, not two */
  return graph_add(g, &op_const, 0, NULL, &attr, &shape, NULL);
}

r4_id r4_iota(r4_graph *g, int axis, r4_shape shape)
{
  struct attr attr = {.i = {axis}};
  return graph_add(g, &op_iota, 0, NULL, &attr, &shape, NULL);
}
