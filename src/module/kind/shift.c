/* shift   y = x + b, a number for each feature of a vector */
#include "module/onnx/onnx.h"

static r4_status shape(struct module *m, struct maker *maker, r4_error *why)
{
  r4_status s = module_need_vector(m, why);
  if (s) return s;
  m->out = m->in;
  struct param_wish bias = param_wish("bias", m->in, m->in.dim[0], INIT_ZERO);
  bias.of_features = true;
  return module_param(m, maker, bias, why);
}

static r4_id apply(const struct module *m, const struct wiring *w, r4_id x)
{
  return r4_add(w->g, x, module_param_node(m, w, 0));
}

static struct slice onnx(const struct module *m, struct onnx_writer *w, struct slice x)
{
  return ONNX_OP(w, "Add", x, onnx_param(m, w, 0));
}

const struct module_kind module_shift = {
  .name = "shift",
  .usage = "shift",
  .about = "adds a number to each feature of a vector",
  .shape = shape,
  .apply = apply,
  .onnx = onnx,
  MODULE_SAMPLES({.text = "shift",
                  .in = {1, {3}},
                  .out = {1, {3}},
                  .x = (const double[]){1, 2, 3},
                  .w = (const double[]){0.5, -1, 0},
                  .y = (const double[]){1.5, 1, 3}},
                 {.text = "shift", .in = {1, {5}}, .out = {1, {5}}})};
