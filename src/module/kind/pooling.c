/* Pools: windows that do not overlap unless a stride is given, as in PyTorch; means count the padding, as there.
 *
 *     maxpool, avgpool    the largest, or the mean, of K x K pixels
 *     globalpool          the mean of all pixels: an image becomes a vector of its channels */
#include "module/onnx/onnx.h"

enum { KERNEL, STRIDE, PAD };

/* A stride of 0 is the kernel's size. */
static struct windows windows_of(const struct module *m)
{
  int64_t kernel = module_whole(m, KERNEL), stride = module_whole(m, STRIDE);
  return (struct windows){kernel, stride ? stride : kernel, 1};
}

/* Padding of more than half a window could leave a window with nothing of the image in it. */
static r4_status shape(struct module *m, struct maker *maker, r4_error *why)
{
  (void)maker;
  struct windows of = windows_of(m);
  r4_status s = module_window_shape(m, of, m->in.rank == 3 ? m->in.dim[2] : 0, why);
  int64_t most = m->pad[0] > m->pad[1] ? m->pad[0] : m->pad[1];
  if (s || most <= of.kernel / 2) return s;
  return r4_fail(why, R4_E_ARGUMENT, "padding is %lld, needs to be at most half of the window of %lld",
                 (long long)most, (long long)of.kernel);
}

static r4_id largest(const struct module *m, const struct wiring *w, r4_id x)
{
  struct windows of = windows_of(m);
  return r4_pool_max(w->g, x, (int64_t[2]){of.kernel, of.kernel}, module_window(m, of));
}

static r4_id mean(const struct module *m, const struct wiring *w, r4_id x)
{
  struct windows of = windows_of(m);
  return r4_pool_mean(w->g, x, (int64_t[2]){of.kernel, of.kernel}, module_window(m, of));
}

static r4_status global_shape(struct module *m, struct maker *maker, r4_error *why)
{
  (void)maker;
  r4_status s = module_need_image(m, why);
  if (!s) m->out = R4_SHAPE(m->in.dim[2]);
  return s;
}

static r4_id global_mean(const struct module *m, const struct wiring *w, r4_id x)
{
  (void)m;
  return r4_mean(w->g, x, R4_AXIS(1) | R4_AXIS(2));
}

static struct slice onnx_largest(const struct module *m, struct onnx_writer *w, struct slice x)
{
  struct slice y = ONNX_OP(w, "MaxPool", x);
  onnx_window(m, w, windows_of(m));
  return y;
}

static struct slice onnx_mean(const struct module *m, struct onnx_writer *w, struct slice x)
{
  struct slice y = ONNX_OP(w, "AveragePool", x);
  onnx_window(m, w, windows_of(m));
  onnx_whole(w, "count_include_pad", 1);
  return y;
}

static struct slice onnx_global(const struct module *m, struct onnx_writer *w, struct slice x)
{
  (void)m;
  struct slice y = ONNX_OP(w, "Flatten", ONNX_OP(w, "GlobalAveragePool", x));
  onnx_whole(w, "axis", 1);
  return y;
}

#define POOL_ARGUMENTS \
  ARGUMENTS({"K", ARGUMENT_WHOLE, 0, 1}, {"s", ARGUMENT_LETTER, 0, 1}, {"p", ARGUMENT_PAD, 0, 0})

const struct module_kind module_maxpool = {
  .name = "maxpool",
  .usage = "maxpool K [sS] [pP]",
  .about = "maximum over K x K pixels of each channel",
  .reach = REACH_POOL,
  .windows = windows_of,
  .shape = shape,
  .apply = largest,
  .onnx = onnx_largest,
  POOL_ARGUMENTS,
  MODULE_SAMPLES({.text = "maxpool 2",
                  .in = {3, {2, 2, 1}},
                  .out = {3, {1, 1, 1}},
                  .x = (const double[]){1, 4, 2, 3},
                  .y = (const double[]){4}},
                 {.text = "maxpool 3 s2 p1", .in = {3, {6, 5, 2}}, .out = {3, {3, 3, 2}}})};

const struct module_kind module_avgpool = {
  .name = "avgpool",
  .usage = "avgpool K [sS] [pP]",
  .about = "mean over K x K pixels of each channel",
  .reach = REACH_POOL,
  .windows = windows_of,
  .shape = shape,
  .apply = mean,
  .onnx = onnx_mean,
  POOL_ARGUMENTS,
  MODULE_SAMPLES({.text = "avgpool 2",
                  .in = {3, {2, 2, 1}},
                  .out = {3, {1, 1, 1}},
                  .x = (const double[]){1, 4, 2, 3},
                  .y = (const double[]){2.5}},
                 {.text = "avgpool 2 s1 same", .in = {3, {4, 3, 2}}, .out = {3, {4, 3, 2}}})};

const struct module_kind module_globalpool = {.name = "globalpool",
                                              .usage = "globalpool",
                                              .about = "mean over all pixels of each channel: a vector",
                                              .shape = global_shape,
                                              .apply = global_mean,
                                              .onnx = onnx_global,
                                              MODULE_SAMPLES({.text = "globalpool",
                                                              .in = {3, {2, 1, 2}},
                                                              .out = {1, {2}},
                                                              .x = (const double[]){1, 10, 3, 20},
                                                              .y = (const double[]){2, 15}})};
