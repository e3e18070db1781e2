#include "random_net.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/graph.h"

enum { CLASSES = 3 };

typedef r4_id block(struct random_net *n, r4_id h); /* R4_NONE: does not fit here */

/* ---- Small parts ---- */

static r4_shape shape_of(const struct random_net *n, r4_id x)
{
  return r4_node_shape(n->g, x);
}

static r4_id param(struct random_net *n, r4_shape shape, int64_t below)
{
  char name[24];
  assert_true(n->params < NET_PARAMS);
  snprintf(name, sizeof name, "%s%zu", below ? "index" : "p", n->params);
  n->below[n->params] = below;
  return n->param[n->params++] = r4_input(n->g, name, shape);
}

static int64_t most(const struct random_net *n)
{
  return n->large ? 60000 : 600;
}

static r4_id value(const struct random_net *n, r4_id like, double v)
{
  return r4_const(n->g, v, shape_of(n, like));
}

/* h reduced over axes, with those axes kept as 1 */
typedef r4_id reduction(r4_graph *g, r4_id x, unsigned axes);
static r4_id reduce_keep(struct random_net *n, reduction *f, r4_id h, unsigned axes)
{
  r4_shape s = shape_of(n, h);
  for (int k = 0; k < s.rank; k++)
    if (axes >> k & 1) s.dim[k] = 1;
  return r4_reshape(n->g, f(n->g, h, axes), s);
}

static unsigned random_axes(const struct random_net *n, r4_id h)
{
  return (unsigned)draw_between(1, (1 << shape_of(n, h).rank) - 1);
}

/* ---- Blocks: layers ---- */

static r4_id matrix(struct random_net *n, r4_id h)
{
  r4_shape s = shape_of(n, h);
  return r4_reshape(n->g, h, R4_SHAPE(s.dim[0], r4_shape_count(s) / s.dim[0]));
}

static r4_id dense_of(struct random_net *n, r4_id h, int64_t units)
{
  h = matrix(n, h);
  int64_t features = shape_of(n, h).dim[1];
  bool across = draw_below(2);
  r4_id w = param(n, across ? R4_SHAPE(units, features) : R4_SHAPE(features, units), 0);
  r4_id bias = param(n, R4_SHAPE(units), 0);
  if (draw_below(3) == 0) bias = r4_tanh(n->g, bias);
  return r4_add(n->g, r4_matmul(n->g, h, w, false, across), bias);
}

static r4_id dense(struct random_net *n, r4_id h)
{
  r4_id z = dense_of(n, h, draw_between(2, n->large ? 150 : 7));
  return draw_below(3) ? r4_relu(n->g, z) : r4_tanh(n->g, z);
}

/* (h + scatter d) W: what the masks of explanations look like */
static r4_id perturbed_dense(struct random_net *n, r4_id h)
{
  h = matrix(n, h);
  r4_shape s = shape_of(n, h);
  int64_t few = draw_between(1, s.dim[1]);
  r4_id d = param(n, R4_SHAPE(s.dim[0], few), 0), index = param(n, R4_SHAPE(few), s.dim[1]);
  r4_id z = r4_scatter_add(n->g, d, index, 1, s.dim[1]);
  if (draw_below(2)) z = r4_add(n->g, h, z);
  z = r4_relu(n->g, dense_of(n, z, draw_between(2, 6)));
  return draw_below(2) ? r4_gather(n->g, z, param(n, R4_SHAPE(2), shape_of(n, z).dim[1]), 1) : z;
}

static r4_id conv(struct random_net *n, r4_id h)
{
  r4_shape s = shape_of(n, h);
  if (s.rank != 4 || s.dim[3] > 16) return R4_NONE;
  r4_window win = {.stride = {draw_between(1, 2), draw_between(1, 2)}, .dilation = {draw_between(1, 2), 1}};
  int64_t kernel[2];
  for (int k = 0; k < 2; k++) {
    win.pad[2 * k] = draw_between(0, 1);
    win.pad[2 * k + 1] = draw_between(0, 1);
    int64_t room = (s.dim[1 + k] + win.pad[2 * k] + win.pad[2 * k + 1] - 1) / win.dilation[k] + 1;
    kernel[k] = draw_between(1, room < 3 ? room : 3);
  }
  win.groups = draw_below(2) ? 1 : draw_between(1, s.dim[3]);
  while (s.dim[3] % win.groups) win.groups--;
  int64_t units = win.groups * draw_between(1, win.groups > 1 ? 2 : 5);
  r4_id y =
    r4_conv2d(n->g, h, param(n, R4_SHAPE(units, kernel[0], kernel[1], s.dim[3] / win.groups), 0), win);
  y = r4_add(n->g, y, param(n, R4_SHAPE(units), 0));
  return draw_below(2) ? r4_relu(n->g, y) : y;
}

static r4_id pool(struct random_net *n, r4_id h)
{
  r4_shape s = shape_of(n, h);
  if (s.rank != 4) return R4_NONE;
  int64_t kernel[2] = {draw_between(1, s.dim[1] < 3 ? s.dim[1] : 3),
                       draw_between(1, s.dim[2] < 3 ? s.dim[2] : 3)};
  r4_window win = r4_window_of(draw_between(1, 2), 0);
  for (int k = 0; k < 4; k++) win.pad[k] = kernel[k / 2] > 1 ? draw_between(0, 1) : 0;
  switch (draw_below(3)) {
  case 0:
    return r4_pool_max(n->g, h, kernel, win);
  case 1:
    return r4_pool_mean(n->g, h, kernel, win);
  default:
    return r4_scale(n->g, r4_pool_sum(n->g, h, kernel, win), .3);
  }
}

/* (h - mean) / sqrt(var + 0.1) * scale + shift over random axes: batch norm, layer norm, all between */
static r4_id norm(struct random_net *n, r4_id h)
{
  r4_graph *g = n->g;
  r4_shape s = shape_of(n, h);
  unsigned axes = draw_below(2) ? R4_AXIS(s.rank - 1) : random_axes(n, h);
  r4_id c = r4_sub(g, h, reduce_keep(n, r4_mean, h, axes));
  r4_id var = reduce_keep(n, r4_mean, r4_square(g, c), axes);
  r4_id z = r4_mul(g, c, r4_rsqrt(g, r4_add(g, var, value(n, var, .1))));
  r4_id scale = param(n, R4_SHAPE(s.dim[s.rank - 1]), 0), shift = param(n, R4_SHAPE(s.dim[s.rank - 1]), 0);
  return r4_add(g, r4_mul(g, z, scale), shift);
}

static r4_id project(struct random_net *n, r4_id h, int64_t width)
{
  r4_shape s = shape_of(n, h);
  r4_id flat = r4_reshape(n->g, h, R4_SHAPE(s.dim[0] * s.dim[1], s.dim[2]));
  r4_id z = r4_matmul(n->g, flat, param(n, R4_SHAPE(s.dim[2], width), 0), false, false);
  return r4_reshape(n->g, z, R4_SHAPE(s.dim[0], s.dim[1], width));
}

static r4_id attention(struct random_net *n, r4_id h)
{
  r4_shape s = shape_of(n, h);
  if (s.rank != 3 || s.dim[1] > 12) return R4_NONE;
  int64_t width = draw_between(1, 4), t = s.dim[1];
  r4_id q = project(n, h, width), k = project(n, h, width), v = project(n, h, width);
  r4_id score = r4_scale(n->g, r4_matmul(n->g, q, k, false, true), 1 / sqrt((double)width));
  if (draw_below(2)) { /* no one looks ahead */
    r4_id ahead = r4_less(n->g, r4_iota(n->g, 0, R4_SHAPE(t, t)), r4_iota(n->g, 1, R4_SHAPE(t, t)));
    score = r4_select(n->g, ahead, value(n, score, -4), score);
  }
  return r4_matmul(n->g, r4_softmax(n->g, score), v, false, false);
}

/* ---- Blocks: element by element ---- */

static r4_id unary(struct random_net *n, r4_id h)
{
  r4_graph *g = n->g;
  typedef r4_id plain(r4_graph *, r4_id);
  static plain *const f[] = {r4_neg, r4_abs,  r4_square, r4_tanh, r4_sigmoid,
                             r4_erf, r4_gelu, r4_relu,   r4_sign, r4_softmax};
  const uint64_t count = sizeof f / sizeof *f;
  uint64_t which = draw_below(count + 7);
  r4_shape s = shape_of(n, h);
  if (which == 9 && s.dim[s.rank - 1] > 20) return R4_NONE; /* bounds of softmax need the square of it */
  if (which < count) return which == 8 ? r4_mul(g, h, r4_sign(g, h)) : f[which](g, h);
  switch (which - count) {
  case 0:
    return r4_exp(g, r4_tanh(g, h));
  case 1:
    return r4_log(g, r4_add(g, r4_square(g, h), value(n, h, 1)));
  case 2:
    return r4_log1p(g, r4_abs(g, h));
  case 3:
    return r4_sqrt(g, r4_add(g, r4_relu(g, h), value(n, h, .1)));
  case 4:
    return r4_rsqrt(g, r4_add(g, r4_square(g, h), value(n, h, .5)));
  case 5:
    return r4_mul(g, h, r4_step(g, h));
  default:
    n->detached = true;
    return r4_mul(g, h, r4_sigmoid(g, r4_detach(g, h)));
  }
}

/* with a parameter that broadcasts to h */
static r4_id binary(struct random_net *n, r4_id h)
{
  r4_graph *g = n->g;
  r4_shape s = shape_of(n, h), small = {.rank = (int)draw_between(0, s.rank)};
  for (int k = 0; k < small.rank; k++) small.dim[k] = draw_below(2) ? 1 : s.dim[s.rank - small.rank + k];
  r4_id p = param(n, small, 0);
  switch (draw_below(8)) {
  case 0:
    return r4_add(g, p, h);
  case 1:
    return r4_sub(g, p, h);
  case 2:
    return r4_mul(g, h, p);
  case 3:
    return r4_min(g, h, p);
  case 4:
    return r4_max(g, p, h);
  case 5:
    return r4_div(g, h, r4_add(g, r4_square(g, p), r4_const(g, .5, R4_SCALAR)));
  case 6:
    return r4_select(g, p, h, r4_neg(g, h));
  default:
    return r4_mul(g, h, r4_less(g, h, p));
  }
}

/* h and a summary of it; logsumexp of short rows only: bounds of its derivative take the square of the length */
static r4_id reduced(struct random_net *n, r4_id h)
{
  r4_graph *g = n->g;
  unsigned axes = random_axes(n, h);
  r4_shape s = shape_of(n, h);
  switch (draw_below(s.dim[s.rank - 1] > 20 ? 4 : 5)) {
  case 0:
    return r4_sub(g, h, reduce_keep(n, r4_mean, h, axes));
  case 1:
    return r4_sub(g, h, reduce_keep(n, r4_reduce_max, h, axes));
  case 2:
    return r4_mul(g, h, r4_tanh(g, reduce_keep(n, r4_sum, h, axes)));
  case 3:
    return r4_div(g, h, r4_add(g, reduce_keep(n, r4_sum, r4_abs(g, h), axes), r4_const(g, 1, R4_SCALAR)));
  default:
    s.dim[s.rank - 1] = 1;
    return r4_sub(g, h, r4_reshape(g, r4_logsumexp(g, h), s));
  }
}

/* ---- Blocks: moving elements; the batch stays the first axis ---- */

static r4_id reshaped(struct random_net *n, r4_id h)
{
  r4_shape s = shape_of(n, h);
  int64_t inner = r4_shape_count(s) / s.dim[0], a = 1;
  for (int64_t k = 2; k <= 5; k++)
    if (inner % k == 0 && draw_below(2)) a = k;
  return r4_reshape(n->g, h,
                    draw_below(2) ? R4_SHAPE(s.dim[0], a, inner / a) : R4_SHAPE(s.dim[0], a, inner / a, 1));
}

static r4_id transposed(struct random_net *n, r4_id h)
{
  int perm[R4_MAX_RANK], rank = shape_of(n, h).rank;
  for (int k = 0; k < rank; k++) perm[k] = k;
  for (int k = 1; k < rank; k++) {
    int j = (int)draw_between(k, rank - 1), t = perm[k];
    perm[k] = perm[j];
    perm[j] = t;
  }
  return r4_transpose(n->g, h, perm);
}

static r4_id sliced(struct random_net *n, r4_id h)
{
  r4_shape s = shape_of(n, h);
  int64_t start[R4_MAX_RANK] = {0}, size[R4_MAX_RANK], step[R4_MAX_RANK];
  for (int k = 0; k < s.rank; k++) {
    start[k] = k ? draw_between(0, s.dim[k] / 3) : 0;
    step[k] = k ? draw_between(1, 2) : 1;
    size[k] = (s.dim[k] - 1 - start[k]) / step[k] + 1;
  }
  return r4_slice(n->g, h, start, size, step);
}

static r4_id padded(struct random_net *n, r4_id h)
{
  r4_shape s = shape_of(n, h), to = s;
  int64_t start[R4_MAX_RANK] = {0}, step[R4_MAX_RANK];
  for (int k = 0; k < s.rank; k++) {
    start[k] = k ? draw_between(0, 1) : 0;
    step[k] = k ? draw_between(1, 2) : 1;
    to.dim[k] = start[k] + (s.dim[k] - 1) * step[k] + 1 + (k ? draw_between(0, 1) : 0);
  }
  return r4_shape_count(to) > most(n) ? R4_NONE : r4_pad(n->g, h, start, step, to);
}

static r4_id joined(struct random_net *n, r4_id h)
{
  r4_shape s = shape_of(n, h), p = s;
  int axis = (int)draw_between(1, s.rank - 1);
  if (3 * r4_shape_count(s) > most(n)) return R4_NONE;
  p.dim[axis] = draw_between(1, 2);
  r4_id parts[3] = {h, param(n, p, 0), r4_tanh(n->g, h)};
  return r4_concat(n->g, (size_t)draw_between(1, 3), parts, axis);
}

static r4_id gathered(struct random_net *n, r4_id h)
{
  r4_shape s = shape_of(n, h);
  int axis = (int)draw_between(1, s.rank - 1);
  int64_t count = draw_between(1, s.dim[axis] + 1);
  return r4_gather(n->g, h, param(n, R4_SHAPE(count), s.dim[axis]), axis);
}

static r4_id scattered(struct random_net *n, r4_id h)
{
  r4_shape s = shape_of(n, h);
  int axis = (int)draw_between(1, s.rank - 1);
  int64_t size = draw_between(1, s.dim[axis] + 2);
  if (2 * r4_shape_count(s) > most(n)) return R4_NONE;
  return r4_scatter_add(n->g, h, param(n, R4_SHAPE(s.dim[axis]), size), axis, size);
}

/* Images of which a window is seen from elsewhere: some windows reach over the edge, some images have none. */
static r4_id moved_window(struct random_net *n, r4_id h)
{
  r4_shape s = shape_of(n, h);
  if (s.rank != 4) return R4_NONE;
  int64_t rows = draw_between(1, s.dim[0]), size[2] = {draw_between(1, s.dim[1]), draw_between(1, s.dim[2])};
  r4_id window = r4_crop(n->g, h, param(n, R4_SHAPE(rows, 2), s.dim[1]), size);
  r4_id back = r4_place(n->g, r4_tanh(n->g, window), param(n, R4_SHAPE(rows, 2), s.dim[2]), s.dim);
  return draw_below(2) ? r4_add(n->g, h, back) : back;
}

/* ---- A network ---- */

static const struct {
  const char *name;
  block *f;
} blocks[] = {
  {"dense", dense},
  {"perturbed", perturbed_dense},
  {"conv", conv},
  {"conv", conv},
  {"pool", pool},
  {"norm", norm},
  {"attention", attention},
  {"attention", attention},
  {"unary", unary},
  {"unary", unary},
  {"binary", binary},
  {"binary", binary},
  {"reduced", reduced},
  {"reshaped", reshaped},
  {"transposed", transposed},
  {"sliced", sliced},
  {"padded", padded},
  {"joined", joined},
  {"gathered", gathered},
  {"window", moved_window},
  {"scattered", scattered},
};

static r4_shape random_input(bool large)
{
  if (large) {
    switch (draw_below(3)) {
    case 0:
      return R4_SHAPE(draw_between(40, 60), draw_between(200, 400));
    case 1:
      return R4_SHAPE(draw_between(50, 90), draw_between(8, 12), draw_between(9, 20));
    default:
      return R4_SHAPE(draw_between(8, 16), draw_between(10, 18), draw_between(10, 18), draw_between(2, 4));
    }
  }
  switch (draw_below(3)) {
  case 0:
    return R4_SHAPE(draw_between(1, 4), draw_between(1, 8));
  case 1:
    return R4_SHAPE(draw_between(1, 3), draw_between(1, 4), draw_between(1, 5));
  default:
    return R4_SHAPE(draw_between(1, 3), draw_between(2, 6), draw_between(2, 6), draw_between(1, 4));
  }
}

/* a block, and now and then what came before added or mixed in */
static r4_id step(struct random_net *n, r4_id h)
{
  size_t which = draw_below(sizeof blocks / sizeof *blocks);
  r4_id z = blocks[which].f(n, h);
  if (!z.i) return h;
  size_t used = strlen(n->story);
  snprintf(n->story + used, sizeof n->story - used, " %s", blocks[which].name);
  if (r4_shape_equal(shape_of(n, z), shape_of(n, h)) && draw_below(3) == 0) return r4_add(n->g, h, z);
  if (draw_below(6) == 0) return r4_mul(n->g, z, r4_sigmoid(n->g, r4_mean(n->g, h, R4_ALL)));
  return z;
}

static r4_id loss_of(struct random_net *n)
{
  r4_graph *g = n->g;
  if (draw_below(2)) return r4_mean(g, r4_square(g, n->y), R4_ALL);
  r4_id label = param(n, R4_SHAPE(shape_of(n, n->y).dim[0]), CLASSES);
  return r4_mean(g, r4_cross_entropy(g, n->y, r4_one_hot(g, label, CLASSES)), R4_ALL);
}

void random_net_draw(struct random_net *n, bool large)
{
  char shape[SHAPE_TEXT];
  const char *message;
  *n = (struct random_net){.g = r4_graph_new(), .large = large};
  n->x = r4_input(n->g, "x", random_input(large));
  snprintf(n->story, sizeof n->story, "%s", shape_text(shape_of(n, n->x), shape));
  r4_id h = n->x;
  int64_t count = draw_between(2, large ? 4 : 6);
  for (int64_t k = 0; k < count && n->params < NET_PARAMS - 12; k++) h = step(n, h);
  n->y = dense_of(n, h, CLASSES);
  n->loss = loss_of(n);
  if (r4_graph_status(n->g, &message)) fail_msg("%s: %s", n->story, message);
}

static void fill_param(const struct random_net *n, size_t k, double *x, size_t count)
{
  r4_shape s = shape_of(n, n->param[k]);
  double size = s.rank < 2 ? 1 : 1.5 / sqrt((double)count / (double)s.dim[0]);
  for (size_t i = 0; i < count; i++)
    x[i] = n->below[k] ? (double)draw_below((uint64_t)n->below[k]) : draw(-size, size);
}

void random_net_fill(const struct random_net *n, struct runner *r, double radius)
{
  for (size_t j = 0; j < r->n_in; j++) {
    size_t k = 0;
    while (k < n->params && strcmp(graph_name(n->g, n->param[k]), r->name[j])) k++;
    bool box = !strncmp(r->name[j], "radius", 6);
    if (k < n->params)
      fill_param(n, k, r->in[j], r->in_count[j]);
    else
      for (size_t i = 0; i < r->in_count[j]; i++)
        r->in[j][i] = box ? (draw_below(4) ? draw(0, radius) : 0) : draw(-1, 1);
  }
}
