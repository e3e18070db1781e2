/* Weights of TensorFlow.js: model.json lists groups of tensors, and the files beside it whose bytes, one file after the
 * other, are those of the group:
 *
 *     "weightsManifest": [{"paths": ["group1-shard1of2.bin", ..],
 *                          "weights": [{"name": "conv1/kernel", "shape": [7, 7, 3, 64],
 *                                       "dtype": "float32"}, ..]}, ..] */
#ifndef R4_TENSOR_FOREIGN_TFJS_H
#define R4_TENSOR_FOREIGN_TFJS_H

#include "base/error.h"

struct tfjs_tensor {
  const char *name;
  r4_shape shape;
  const float *data;
};

struct tfjs {
  char *path; /* of model.json, for messages */
  struct js *root;
  uint8_t *data; /* of all groups */
  size_t size;
  struct tfjs_tensor *tensor;
  size_t n;
};

/* Only float32, not quantized. Frees on failure. */
r4_status tfjs_read(struct tfjs *t, const char *path, r4_error *e);
void tfjs_free(struct tfjs *t);
const struct tfjs_tensor *tfjs_find(const struct tfjs *t, const char *name); /* or NULL */

#endif
