/* A window of each image, and the transpose: a window put into an image of zeros. at [rows, 2] holds the place of each
 * window's first row and column, whole numbers of any size:
 *
 *     crop  (x, at): y[n, i, j, c] = x[n, at[n, 0] + i, at[n, 1] + j, c],   0 outside the image
 *     place (x, at): y[n, at[n, 0] + i, at[n, 1] + j, c] = x[n, i, j, c],   0 elsewhere; what is outside is dropped
 *
 * at may have fewer rows than there are images: the first ones count. The size of crop's result is attr.i[0..1]; of
 * place's attr.i[0..2], images first. */
#include <math.h>
#include <string.h>

#include "op/op_rules.h"

static bool check(struct infer *s, int sizes)
{
  if (s->in[0].rank != 4 || s->in[1].rank != 2 || s->in[1].dim[1] != 2)
    return infer_fail(s, "needs images [batch,height,width,channels] and their places [rows,2]");
  for (int k = 0; k < sizes; k++)
    if (s->attr->i[k] < 1) return infer_fail(s, "size %lld", (long long)s->attr->i[k]);
  return true;
}

static bool crop_shape(struct infer *s)
{
  if (!check(s, 2)) return false;
  int64_t rows = s->in[1].dim[0];
  if (rows > s->in[0].dim[0]) return infer_fail(s, "more places than images");
  s->out = R4_SHAPE(rows, s->attr->i[0], s->attr->i[1], s->in[0].dim[3]);
  return true;
}

static bool place_shape(struct infer *s)
{
  if (!check(s, 3)) return false;
  if (s->in[1].dim[0] != s->in[0].dim[0]) return infer_fail(s, "needs a place for each window");
  if (s->attr->i[0] < s->in[0].dim[0]) return infer_fail(s, "more windows than images");
  s->out = R4_SHAPE(s->attr->i[0], s->attr->i[1], s->attr->i[2], s->in[0].dim[3]);
  return true;
}

static void crop_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  dx[0] = r4_place(g, dy, graph_arg(g, y, 1), r4_node_shape(g, graph_arg(g, y, 0)).dim);
}

static void place_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  r4_shape window = r4_node_shape(g, graph_arg(g, y, 0));
  dx[0] = r4_crop(g, dy, graph_arg(g, y, 1), window.dim + 1);
}

static r4_id simplify(r4_graph *g, r4_id y)
{
  return op_is_value(g, graph_arg(g, y, 0), 0) ? r4_const(g, 0, r4_node_shape(g, y)) : R4_NONE;
}

/* ---- Reference kernels ---- */

static r4_status whole(const struct call *c)
{
  for (int64_t k = 0; k < r4_shape_count(c->in_shape[1]); k++) {
    double v = c->in[1][k];
    if (!(fabs(v) < 1e9 && v == floor(v)))
      return r4_fail(c->error, R4_E_DOMAIN, "place %g of window %lld is not a whole number", v,
                     (long long)k / 2);
  }
  return R4_OK;
}

/* Element k of the windows: where it is in the images, or -1. */
static int64_t in_image(const struct call *c, r4_shape window, r4_shape image, int64_t k)
{
  int64_t channel = k % window.dim[3], j = k / window.dim[3] % window.dim[2];
  int64_t i = k / (window.dim[3] * window.dim[2]) % window.dim[1];
  int64_t n = k / (window.dim[3] * window.dim[2] * window.dim[1]);
  i += (int64_t)c->in[1][2 * n];
  j += (int64_t)c->in[1][2 * n + 1];
  bool inside = i >= 0 && i < image.dim[1] && j >= 0 && j < image.dim[2];
  return inside ? ((n * image.dim[1] + i) * image.dim[2] + j) * image.dim[3] + channel : -1;
}

static r4_status crop_kernel(const struct call *c)
{
  r4_status s = whole(c);
  for (int64_t k = 0; !s && k < r4_shape_count(c->shape); k++) {
    int64_t from = in_image(c, c->shape, c->in_shape[0], k);
    c->out[k] = from < 0 ? 0 : c->in[0][from];
  }
  return s;
}

static r4_status place_kernel(const struct call *c)
{
  r4_status s = whole(c);
  memset(c->out, 0, (size_t)r4_shape_count(c->shape) * sizeof *c->out);
  for (int64_t k = 0; !s && k < r4_shape_count(c->in_shape[0]); k++) {
    int64_t to = in_image(c, c->in_shape[0], c->shape, k);
    if (to >= 0) c->out[to] = c->in[0][k];
  }
  return s;
}

/* clang-format off */
#define NINE VALUES(1, 2, 3, 4, 5, 6, 7, 8, 9)

const struct op op_crop = {
  .name = "crop",
  .arity = 2,
  .kind = OP_DENSE,
  .keeps_sign = 1,
  .index_args = 2,
  .fields = (const struct attr_field[]){{"size", 0, 2}, {0}},
  .shape = crop_shape,
  .vjp = crop_vjp,
  .bound = op_linear,
  .simplify = simplify,
  .kernel = crop_kernel,
  SOUND(increasing, EXACT),
  SAMPLES({.in = {{4, {1, 3, 3, 1}}, {2, {1, 2}}}, .attr = {.i = {2, 2}}, .x = {NINE, VALUES(1, -1)},
           .y = VALUES(0, 4, 0, 7)},
          {.in = {{4, {3, 5, 6, 2}}, {2, {2, 2}}}, .attr = {.i = {3, 4}}, .whole = {0, 5}}),
};

const struct op op_place = {
  .name = "place",
  .arity = 2,
  .kind = OP_DENSE,
  .takes_sum = true,
  .keeps_sign = 1,
  .index_args = 2,
  .fields = (const struct attr_field[]){{"size", 0, 3}, {0}},
  .shape = place_shape,
  .vjp = place_vjp,
  .bound = op_linear,
  .simplify = simplify,
  .kernel = place_kernel,
  SOUND(increasing, EXACT),
  SAMPLES({.in = {{4, {1, 2, 2, 1}}, {2, {1, 2}}}, .attr = {.i = {1, 3, 3}}, .x = {VALUES(1, 2, 3, 4), VALUES(1, -1)},
           .y = VALUES(0, 0, 0, 2, 0, 0, 4, 0, 0)},
          {.in = {{4, {2, 3, 4, 2}}, {2, {2, 2}}}, .attr = {.i = {3, 5, 6}}, .whole = {0, 5}}),
};
/* clang-format on */

r4_id r4_crop(r4_graph *g, r4_id x, r4_id at, const int64_t *size)
{
  GRAPH_NEEDS(size, "a size", R4_NONE);
  struct attr attr = {.i = {size[0], size[1]}};
  return graph_add(g, &op_crop, 2, (r4_id[]){x, at}, &attr, NULL, NULL);
}

r4_id r4_place(r4_graph *g, r4_id x, r4_id at, const int64_t *size)
{
  GRAPH_NEEDS(size, "a size", R4_NONE);
  struct attr attr = {.i = {size[0], size[1], size[2]}};
  return graph_add(g, &op_place, 2, (r4_id[]){x, at}, &attr, NULL, NULL);
}
