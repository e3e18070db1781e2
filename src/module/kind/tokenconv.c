/* tokenconv: y[t, o] = sum_jc W[o, j, c] x[t + j - (K - 1) / 2, c] + b[o]: a window of K tokens around each. Padding
 * and what is outside of the text count as 0. An image of height 1, so to speak. */
#include "module/onnx/onnx.h"

enum { UNITS, KERNEL, NOBIAS };

static r4_status shape(struct module *m, struct maker *maker, r4_error *why)
{
  int64_t units = module_whole(m, UNITS), kernel = module_whole(m, KERNEL);
  r4_status s = module_need_tokens(m, why);
  if (s) return s;
  if (kernel % 2 == 0)
    return r4_fail(why, R4_E_SHAPE, "has windows of %lld tokens, needs an odd number: as many on either side",
                   (long long)kernel);
  r4_shape weight = R4_SHAPE(units, 1, kernel, m->in.dim[1]);
  int64_t fan_in =
    shape_valid(weight) ? kernel * m->in.dim[1] : 1; /* one that is too large is refused below */
  m->out = R4_SHAPE(m->in.dim[0], units);
  s = module_param(m, maker, param_wish("weight", weight, fan_in, INIT_WEIGHT), why);
  if (s || module_flag(m, NOBIAS)) return s;
  return module_param(m, maker, param_wish("bias", R4_SHAPE(units), fan_in, INIT_BIAS), why);
}

static r4_id apply(const struct module *m, const struct wiring *w, r4_id x)
{
  r4_graph *g = w->g;
  int64_t rows = r4_node_shape(g, x).dim[0], tokens = m->in.dim[0], side = module_whole(m, KERNEL) / 2;
  if (w->use->valid.i) x = r4_mul(g, x, r4_reshape(g, w->use->valid, R4_SHAPE(rows, tokens, 1)));
  r4_window window = {.stride = {1, 1}, .pad = {0, 0, side, side}, .dilation = {1, 1}, .groups = 1};
  r4_id image = r4_reshape(g, x, R4_SHAPE(rows, 1, tokens, m->in.dim[1]));
  r4_id y = r4_reshape(g, r4_conv2d(g, image, module_param_node(m, w, 0), window), module_batch(m, w, x));
  return m->params > 1 ? r4_add(g, y, module_param_node(m, w, 1)) : y;
}

static struct slice onnx(const struct module *m, struct onnx_writer *w, struct slice x)
{
  int64_t kernel = module_whole(m, KERNEL), side = kernel / 2;
  bool bias = m->params > 1;
  struct slice height = ONNX_WHOLES(w, 2), turned = onnx_turned(w, onnx_of_there(w, x));
  struct slice in[] = {ONNX_OP(w, "Unsqueeze", turned, height), onnx_param(m, w, 0),
                       bias ? onnx_param(m, w, 1) : (struct slice){0}};
  struct slice y = onnx_op(w, "Conv", bias ? 3 : 2, in);
  ONNX_LIST(w, "kernel_shape", 1, kernel);
  ONNX_LIST(w, "pads", 0, side, 0, side);
  return onnx_turned(w, ONNX_OP(w, "Squeeze", y, height));
}

const struct module_kind module_tokenconv = {
  .name = "tokenconv",
  .usage = "tokenconv N K [nobias]",
  .about = "N filters of K tokens each, as many tokens as before",
  .mixes = true,
  .shape = shape,
  .apply = apply,
  .onnx = onnx,
  ARGUMENTS({"N", ARGUMENT_WHOLE, 0, 1}, {"K", ARGUMENT_WHOLE, 0, 1}, {"nobias", ARGUMENT_FLAG, 0, 0}),
  MODULE_SAMPLES({.text = "tokenconv 1 3",
                  .in = {2, {3, 2}},
                  .out = {2, {3, 1}},
                  .x = (const double[]){1, 2, 3, 4, 5, 6},
                  .w = (const double[]){1, 0, 0, 1, 10, 0, 0.5},
                  .y = (const double[]){32.5, 55.5, 9.5}},
                 {.text = "tokenconv 3 5 nobias", .in = {2, {4, 2}}, .out = {2, {4, 3}}})};
