/* The kinds of layers, one line of a table each, with their rules above it.
 *
 * dense     y = x W^T + b                  W [units, features]
 * conv      y[.., o] = sum W[o, i, j, c] x[i + .., j + .., c] + b[o]
 * flatten   [height, width, channels] to a vector, channels fastest. PyTorch flattens
 *           [channels, height, width]: the weight of the first dense layer after it has its columns
 *           in another order there. A reader of PyTorch's files must permute them.
 * pools     windows that do not overlap unless a stride is given, as in PyTorch */
#include "graph/graph.h"
#include "module/net.h"

static r4_status need_vector(const struct layer *l, r4_error *why)
{
  char got[SHAPE_TEXT];
  if (l->in.rank == 1) return R4_OK;
  return r4_fail(why, R4_E_SHAPE, "gets an image %s, needs a vector; put flatten before it",
                 shape_text(l->in, got));
}

static r4_status need_image(const struct layer *l, r4_error *why)
{
  char got[SHAPE_TEXT];
  if (l->in.rank == 3) return R4_OK;
  return r4_fail(why, R4_E_SHAPE, "gets a vector %s, needs an image [height,width,channels]",
                 shape_text(l->in, got));
}

static r4_status same_shape(struct layer *l, r4_error *why)
{
  (void)why;
  l->out = l->in;
  return R4_OK;
}

static r4_status flatten_shape(struct layer *l, r4_error *why)
{
  (void)why;
  l->out = R4_SHAPE(r4_shape_count(l->in));
  return R4_OK;
}

static r4_status dense_shape(struct layer *l, r4_error *why)
{
  r4_status s = need_vector(l, why);
  if (s) return s;
  l->out = R4_SHAPE(l->units);
  l->weight = R4_SHAPE(l->units, l->in.dim[0]);
  return R4_OK;
}

/* (size + 2 pad - kernel) / stride + 1 on both axes. */
static r4_status window_shape(struct layer *l, int64_t channels, r4_error *why)
{
  char got[SHAPE_TEXT];
  r4_status s = need_image(l, why);
  if (s) return s;
  l->out = R4_SHAPE(0, 0, channels);
  for (int k = 0; k < 2; k++) {
    int64_t room = l->in.dim[k] + 2 * l->pad - l->kernel;
    if (room < 0) {
      return r4_fail(why, R4_E_SHAPE, "gets an image %s, needs at least %lld x %lld with its padding",
                     shape_text(l->in, got), (long long)l->kernel, (long long)l->kernel);
    }
    l->out.dim[k] = room / l->stride + 1;
  }
  return R4_OK;
}

static r4_status conv_shape(struct layer *l, r4_error *why)
{
  r4_status s = window_shape(l, l->units, why);
  if (!s) l->weight = R4_SHAPE(l->units, l->kernel, l->kernel, l->in.dim[2]);
  return s;
}

/* Padding of more than half a window could leave a window with nothing of the image in it. */
static r4_status pool_shape(struct layer *l, r4_error *why)
{
  r4_status s = window_shape(l, l->in.rank == 3 ? l->in.dim[2] : 0, why);
  if (s || l->pad <= l->kernel / 2) return s;
  return r4_fail(why, R4_E_ARGUMENT, "padding is %lld, needs to be at most half of the window of %lld",
                 (long long)l->pad, (long long)l->kernel);
}

static r4_id dense(const struct layer *l, r4_graph *g, const r4_id *param, r4_id x)
{
  (void)l;
  return r4_add(g, r4_matmul(g, x, param[0], false, true), param[1]);
}

static r4_id conv(const struct layer *l, r4_graph *g, const r4_id *param, r4_id x)
{
  return r4_add(g, r4_conv2d(g, x, param[0], r4_window_of(l->stride, l->pad)), param[1]);
}

static r4_id relu(const struct layer *l, r4_graph *g, const r4_id *param, r4_id x)
{
  (void)l, (void)param;
  return r4_relu(g, x);
}

static r4_id flatten(const struct layer *l, r4_graph *g, const r4_id *param, r4_id x)
{
  (void)param;
  return r4_reshape(g, x, R4_SHAPE(r4_node_shape(g, x).dim[0], l->out.dim[0]));
}

static r4_id maxpool(const struct layer *l, r4_graph *g, const r4_id *param, r4_id x)
{
  (void)param;
  return r4_pool_max(g, x, (int64_t[2]){l->kernel, l->kernel}, r4_window_of(l->stride, l->pad));
}

static r4_id avgpool(const struct layer *l, r4_graph *g, const r4_id *param, r4_id x)
{
  (void)param;
  return r4_pool_mean(g, x, (int64_t[2]){l->kernel, l->kernel}, r4_window_of(l->stride, l->pad));
}

static const struct layer_kind kinds[] = {
  {"dense", "dense N", "u", dense_shape, dense},
  {"conv", "conv N K [sS] [pP]", "uksp", conv_shape, conv},
  {"relu", "relu", "", same_shape, relu},
  {"flatten", "flatten", "", flatten_shape, flatten},
  {"maxpool", "maxpool K [sS] [pP]", "ksp", pool_shape, maxpool},
  {"avgpool", "avgpool K [sS] [pP]", "ksp", pool_shape, avgpool},
};

const struct layer_kind *layer_kind(size_t k)
{
  return k < sizeof kinds / sizeof *kinds ? &kinds[k] : NULL;
}
