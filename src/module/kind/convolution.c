/* conv: y[.., o] = sum_ijc W[o, i, j, c] x[i + .., j + .., c] + b[o], in groups of channels if asked for.
 * depthwise: as many groups as channels, so that each channel has filters of its own. */
#include "module/onnx/onnx.h"

/* Both kinds have the same arguments, in the same places; depthwise has its multiple as a letter behind the others. */
enum { UNITS, KERNEL, STRIDE, PAD, DILATION, GROUPS, NOBIAS };
enum { WISE_KERNEL, WISE_STRIDE, WISE_PAD, WISE_DILATION, WISE_MULTIPLE, WISE_NOBIAS };

struct filters {
  struct windows windows;
  int64_t units, groups;
  bool bias;
};

static struct filters conv_filters(const struct module *m)
{
  return (struct filters){
    .windows = {module_whole(m, KERNEL), module_whole(m, STRIDE), module_whole(m, DILATION)},
    .units = module_whole(m, UNITS),
    .groups = module_whole(m, GROUPS),
    .bias = !module_flag(m, NOBIAS)};
}

static struct filters wise_filters(const struct module *m)
{
  int64_t channels = m->in.rank == 3 ? m->in.dim[2] : 1;
  return (struct filters){
    .windows = {module_whole(m, WISE_KERNEL), module_whole(m, WISE_STRIDE), module_whole(m, WISE_DILATION)},
    .units = channels * module_whole(m, WISE_MULTIPLE),
    .groups = channels,
    .bias = !module_flag(m, WISE_NOBIAS)};
}

static struct windows conv_windows(const struct module *m)
{
  return conv_filters(m).windows;
}

static struct windows wise_windows(const struct module *m)
{
  return wise_filters(m).windows;
}

static r4_status shape_of(struct module *m, struct maker *maker, struct filters f, r4_error *why)
{
  int64_t kernel = f.windows.kernel;
  r4_status s = module_window_shape(m, f.windows, f.units, why);
  if (s) return s;
  if (f.units % f.groups || m->in.dim[2] % f.groups)
    return r4_fail(why, R4_E_SHAPE,
                   "gets %lld channels and makes %lld, needs both to be multiples of its %lld groups",
                   (long long)m->in.dim[2], (long long)f.units, (long long)f.groups);
  r4_shape filter = R4_SHAPE(kernel, kernel, m->in.dim[2] / f.groups),
           weight = R4_SHAPE(f.units, kernel, kernel, filter.dim[2]);
  int64_t fan_in =
    shape_valid(weight) ? r4_shape_count(filter) : 1; /* one that is too large is refused below */
  s = module_param(m, maker, param_wish("weight", weight, fan_in, INIT_WEIGHT), why);
  return s || !f.bias ? s
                      : module_param(m, maker, param_wish("bias", R4_SHAPE(f.units), fan_in, INIT_BIAS), why);
}

static r4_id apply_of(const struct module *m, const struct wiring *w, struct filters f, r4_id x)
{
  r4_window win = module_window(m, f.windows);
  win.groups = f.groups;
  r4_id y = r4_conv2d(w->g, x, module_param_node(m, w, 0), win);
  return f.bias ? r4_add(w->g, y, module_param_node(m, w, 1)) : y;
}

static r4_status conv_shape(struct module *m, struct maker *maker, r4_error *why)
{
  return shape_of(m, maker, conv_filters(m), why);
}

static r4_id conv_apply(const struct module *m, const struct wiring *w, r4_id x)
{
  return apply_of(m, w, conv_filters(m), x);
}

static r4_status wise_shape(struct module *m, struct maker *maker, r4_error *why)
{
  return shape_of(m, maker, wise_filters(m), why);
}

static r4_id wise_apply(const struct module *m, const struct wiring *w, r4_id x)
{
  return apply_of(m, w, wise_filters(m), x);
}

static struct slice onnx_of(const struct module *m, struct onnx_writer *w, struct filters f, struct slice x)
{
  struct slice in[] = {x, onnx_param(m, w, 0), f.bias ? onnx_param(m, w, 1) : (struct slice){0}};
  struct slice y = onnx_op(w, "Conv", f.bias ? 3 : 2, in);
  onnx_window(m, w, f.windows);
  ONNX_LIST(w, "dilations", f.windows.dilation, f.windows.dilation);
  onnx_whole(w, "group", f.groups);
  return y;
}

static struct slice onnx_conv(const struct module *m, struct onnx_writer *w, struct slice x)
{
  return onnx_of(m, w, conv_filters(m), x);
}

static struct slice onnx_wise(const struct module *m, struct onnx_writer *w, struct slice x)
{
  return onnx_of(m, w, wise_filters(m), x);
}

#define WINDOWS                                            \
  {"s", ARGUMENT_LETTER, 1, 1}, {"p", ARGUMENT_PAD, 0, 0}, \
  {                                                        \
    "d", ARGUMENT_LETTER, 1, 1                             \
  }
#define BIAS                      \
  {                               \
    "nobias", ARGUMENT_FLAG, 0, 0 \
  }

const struct module_kind module_conv = {
  .name = "conv",
  .usage = "conv N K [sS] [pP] [dD] [gG] [nobias]",
  .about = "N filters of K x K pixels, stride S, padding P (or A/B, or same), dilation D, G groups",
  .reach = REACH_CONV,
  .windows = conv_windows,
  .shape = conv_shape,
  .apply = conv_apply,
  .onnx = onnx_conv,
  ARGUMENTS({"N", ARGUMENT_WHOLE, 0, 1}, {"K", ARGUMENT_WHOLE, 0, 1}, WINDOWS, {"g", ARGUMENT_LETTER, 1, 1},
            BIAS),
  MODULE_SAMPLES({.text = "conv 1 2",
                  .in = {3, {2, 3, 1}},
                  .out = {3, {1, 2, 1}},
                  .x = (const double[]){1, 2, 3, 4, 5, 6},
                  .w = (const double[]){1, 0, 0, -1, 0.5},
                  .y = (const double[]){-3.5, -3.5}},
                 {.text = "conv 1 2 same nobias",
                  .in = {3, {2, 2, 1}},
                  .out = {3, {2, 2, 1}},
                  .x = (const double[]){1, 2, 3, 4},
                  .w = (const double[]){1, 1, 1, 1},
                  .y = (const double[]){10, 6, 7, 4}},
                 {.text = "conv 4 3 s2 p1/0 g2", .in = {3, {5, 6, 2}}, .out = {3, {2, 3, 4}}},
                 {.text = "conv 3 3 d2 same nobias", .in = {3, {6, 5, 2}}, .out = {3, {6, 5, 3}}})};

const struct module_kind module_depthwise = {
  .name = "depthwise",
  .usage = "depthwise K [sS] [pP] [dD] [mM] [nobias]",
  .about = "M filters of K x K pixels for each channel",
  .reach = REACH_CONV,
  .windows = wise_windows,
  .shape = wise_shape,
  .apply = wise_apply,
  .onnx = onnx_wise,
  ARGUMENTS({"K", ARGUMENT_WHOLE, 0, 1}, WINDOWS, {"m", ARGUMENT_LETTER, 1, 1}, BIAS),
  MODULE_SAMPLES({.text = "depthwise 2 nobias",
                  .in = {3, {2, 2, 2}},
                  .out = {3, {1, 1, 2}},
                  .x = (const double[]){1, 10, 2, 20, 3, 30, 4, 40},
                  .w = (const double[]){1, 1, 1, 1, 0, 1, 0, 0},
                  .y = (const double[]){10, 20}},
                 {.text = "depthwise 3 s2 same m2", .in = {3, {5, 4, 3}}, .out = {3, {3, 2, 6}}})};
