/* flatten     an image or tokens in a row, channels fastest. PyTorch flattens [channels, height, width]: files have the
 *             columns of what comes after it in that order, and readers and writers of files permute them
 * dropout     while a net learns: each feature is 0 with probability P, and else 1 / (1 - P) of itself, by numbers that
 *             depend on seed and step alone (Srivastava and others, 2014)
 * leaf        nothing: the place where explanations are taken and perturbations act
 * subsample   every S-th pixel, and channels of zeros on both sides: the shortcut without parameters of He and others
 * */
#include <stdio.h>

#include "module/onnx/onnx.h"

/* ---- flatten ---- */

static r4_status flatten_shape(struct module *m, struct maker *maker, r4_error *why)
{
  (void)maker, (void)why;
  m->out = R4_SHAPE(r4_shape_count(m->in));
  return R4_OK;
}

static r4_id flatten(const struct module *m, const struct wiring *w, r4_id x)
{
  return r4_reshape(w->g, x, module_batch(m, w, x));
}

static struct slice onnx_flatten(const struct module *m, struct onnx_writer *w, struct slice x)
{
  (void)m;
  struct slice y = ONNX_OP(w, "Flatten", x);
  onnx_whole(w, "axis", 1);
  return y;
}

const struct module_kind module_flatten = {.name = "flatten",
                                           .usage = "flatten",
                                           .about = "all features in a row",
                                           .flattens = true,
                                           .shape = flatten_shape,
                                           .apply = flatten,
                                           .onnx = onnx_flatten,
                                           MODULE_SAMPLES({.text = "flatten",
                                                           .in = {3, {1, 2, 2}},
                                                           .out = {1, {4}},
                                                           .x = (const double[]){1, 2, 3, 4},
                                                           .y = (const double[]){1, 2, 3, 4}})};

/* ---- dropout ---- */

static r4_id dropout(const struct module *m, const struct wiring *w, r4_id x)
{
  r4_graph *g = w->g;
  double keep = 1 - m->value[0];
  if (!w->use->learning || !w->use->draw || keep >= 1) return x;
  char name[PARAM_NAME + 16];
  snprintf(name, sizeof name, "dropout %s", m->name);
  r4_id u = w->use->draw(w->use->user, name, r4_node_shape(g, x));
  return r4_mul(g, x, r4_scale(g, r4_less(g, u, r4_const(g, keep, R4_SCALAR)), 1 / keep));
}

const struct module_kind module_dropout = {.name = "dropout",
                                           .usage = "dropout P",
                                           .about =
                                             "drop a share P of the features during training",
                                           .reach = REACH_POINT,
                                           .shape = module_same_shape,
                                           .apply = dropout,
                                           .onnx = onnx_as_it_is,
                                           ARGUMENTS({"P", ARGUMENT_SHARE, 0, 0}),
                                           MODULE_SAMPLES({.text = "dropout 0.5",
                                                           .in = {1, {2}},
                                                           .out = {1, {2}},
                                                           .x = (const double[]){1, 2},
                                                           .y = (const double[]){1, 2}})};

/* ---- leaf ---- */

static r4_id itself(const struct module *m, const struct wiring *w, r4_id x)
{
  (void)m, (void)w;
  return x;
}

const struct module_kind module_leaf = {.name = "leaf",
                                        .usage = "leaf",
                                        .about = "explanations are taken here instead of at the input",
                                        .shape = module_same_shape,
                                        .apply = itself,
                                        .onnx = onnx_as_it_is,
                                        MODULE_SAMPLES({.text = "leaf",
                                                        .in = {1, {2}},
                                                        .out = {1, {2}},
                                                        .x = (const double[]){1, 2},
                                                        .y = (const double[]){1, 2}})};

/* ---- subsample ---- */

enum { CHANNELS, STRIDE };

static r4_status subsample_shape(struct module *m, struct maker *maker, r4_error *why)
{
  (void)maker;
  r4_status s = module_need_image(m, why);
  int64_t channels = module_whole(m, CHANNELS), stride = module_whole(m, STRIDE);
  if (s) return s;
  if (channels < m->in.dim[2])
    return r4_fail(why, R4_E_SHAPE, "gets %lld channels, needs to give as many or more, not %lld",
                   (long long)m->in.dim[2], (long long)channels);
  m->out = R4_SHAPE((m->in.dim[0] - 1) / stride + 1, (m->in.dim[1] - 1) / stride + 1, channels);
  return R4_OK;
}

static r4_id subsample(const struct module *m, const struct wiring *w, r4_id x)
{
  int64_t stride = module_whole(m, STRIDE), ones[] = {1, 1, 1, 1}, from[] = {0, 0, 0, 0};
  r4_shape to = module_batch(m, w, x), few = to;
  few.dim[3] = m->in.dim[2];
  r4_id y = r4_slice(w->g, x, from, few.dim, (int64_t[]){1, stride, stride, 1});
  from[3] = (to.dim[3] - few.dim[3]) / 2;
  return r4_pad(w->g, y, from, ones, to);
}

static struct slice onnx_subsample(const struct module *m, struct onnx_writer *w, struct slice x)
{
  int64_t stride = module_whole(m, STRIDE), before = (m->out.dim[2] - m->in.dim[2]) / 2;
  struct slice y = ONNX_OP(w, "Slice", x, ONNX_WHOLES(w, 0, 0), ONNX_WHOLES(w, m->in.dim[0], m->in.dim[1]),
                           ONNX_WHOLES(w, 2, 3), ONNX_WHOLES(w, stride, stride));
  return ONNX_OP(w, "Pad", y,
                 ONNX_WHOLES(w, 0, before, 0, 0, 0, m->out.dim[2] - m->in.dim[2] - before, 0, 0));
}

const struct module_kind module_subsample = {
  .name = "subsample",
  .usage = "subsample N [sS]",
  .about = "every S-th pixel, with channels of zeros up to N",
  .shape = subsample_shape,
  .apply = subsample,
  .onnx = onnx_subsample,
  ARGUMENTS({"N", ARGUMENT_WHOLE, 0, 1}, {"s", ARGUMENT_LETTER, 1, 1}),
  MODULE_SAMPLES({.text = "subsample 4 s2",
                  .in = {3, {3, 2, 2}},
                  .out = {3, {2, 1, 4}},
                  .x = (const double[]){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
                  .y = (const double[]){0, 1, 2, 0, 0, 9, 10, 0}})};
