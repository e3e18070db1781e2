/* Functions of each feature by itself.
 *
 *     relu    max(x, 0)
 *     relu6   min(max(x, 0), 6)
 *     gelu    x/2 (1 + erf(x / sqrt 2))
 *     tanh    tanh(x)
 *     sigmoid 1 / (1 + exp(-x)) */
#include <math.h>

#include "module/onnx/onnx.h"

#define ACTIVATION(NAME, EXPRESSION)                                         \
  static r4_id NAME(const struct module *m, const struct wiring *w, r4_id x) \
  {                                                                          \
    r4_graph *g = w->g;                                                      \
    (void)m;                                                                 \
    return EXPRESSION;                                                       \
  }

ACTIVATION(relu, r4_relu(g, x))
ACTIVATION(relu6, r4_min(g, r4_relu(g, x), r4_const(g, 6, R4_SCALAR)))
ACTIVATION(gelu, r4_gelu(g, x))
ACTIVATION(hyperbolic, r4_tanh(g, x))
ACTIVATION(sigmoid, r4_sigmoid(g, x))

/* ---- As operators of ONNX ---- */

static struct slice onnx_relu(const struct module *m, struct onnx_writer *w, struct slice x)
{
  (void)m;
  return ONNX_OP(w, "Relu", x);
}

static struct slice onnx_relu6(const struct module *m, struct onnx_writer *w, struct slice x)
{
  (void)m;
  struct slice least = onnx_number_of(w, 0), most = onnx_number_of(w, 6);
  return ONNX_OP(w, "Clip", x, least, most);
}

static struct slice onnx_gelu(const struct module *m, struct onnx_writer *w, struct slice x)
{
  (void)m;
  struct slice y = ONNX_OP(w, "Div", x, onnx_number_of(w, sqrt(2)));
  y = ONNX_OP(w, "Erf", y);
  y = ONNX_OP(w, "Add", y, onnx_number_of(w, 1));
  y = ONNX_OP(w, "Mul", x, y);
  return ONNX_OP(w, "Mul", y, onnx_number_of(w, 0.5));
}

static struct slice onnx_tanh(const struct module *m, struct onnx_writer *w, struct slice x)
{
  (void)m;
  return ONNX_OP(w, "Tanh", x);
}

static struct slice onnx_sigmoid(const struct module *m, struct onnx_writer *w, struct slice x)
{
  (void)m;
  return ONNX_OP(w, "Sigmoid", x);
}

/* ---- The kinds ---- */

#define ACTIVATION_KIND(NAME, ABOUT) \
  .name = NAME, .usage = NAME, .about = ABOUT, .reach = REACH_POINT, .shape = module_same_shape

const struct module_kind module_relu = {
  ACTIVATION_KIND("relu", "max(x, 0)"), .apply = relu, .onnx = onnx_relu,
  MODULE_SAMPLES({.text = "relu",
                  .in = {1, {3}},
                  .out = {1, {3}},
                  .x = (const double[]){-1, 0, 2},
                  .y = (const double[]){0, 0, 2}},
                 {.text = "relu", .in = {3, {3, 2, 2}}, .out = {3, {3, 2, 2}}})};

const struct module_kind module_relu6 = {ACTIVATION_KIND("relu6", "max(x, 0), at most 6"), .apply = relu6,
                                         .onnx = onnx_relu6,
                                         MODULE_SAMPLES({.text = "relu6",
                                                         .in = {1, {3}},
                                                         .out = {1, {3}},
                                                         .x = (const double[]){-1, 5, 7},
                                                         .y = (const double[]){0, 5, 6}})};

const struct module_kind module_gelu = {
  ACTIVATION_KIND("gelu", "x times the normal distribution at x"), .apply = gelu, .onnx = onnx_gelu,
  MODULE_SAMPLES({.text = "gelu",
                  .in = {1, {3}},
                  .out = {1, {3}},
                  .x = (const double[]){-1, 0, 2},
                  .y = (const double[]){-0.15865525393145707, 0, 1.9544997361036416}})};

const struct module_kind module_tanh = {ACTIVATION_KIND("tanh", "tanh(x)"), .apply = hyperbolic,
                                        .onnx = onnx_tanh,
                                        MODULE_SAMPLES({.text = "tanh",
                                                        .in = {1, {2}},
                                                        .out = {1, {2}},
                                                        .x = (const double[]){0, 1},
                                                        .y = (const double[]){0, 0.76159415595576485}})};

const struct module_kind module_sigmoid = {ACTIVATION_KIND("sigmoid", "1 / (1 + exp(-x))"), .apply = sigmoid,
                                           .onnx = onnx_sigmoid,
                                           MODULE_SAMPLES({.text = "sigmoid",
                                                           .in = {1, {2}},
                                                           .out = {1, {2}},
                                                           .x = (const double[]){0, 1},
                                                           .y = (const double[]){0.5, 0.73105857863000487}})};
