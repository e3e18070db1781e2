/* Tensors of one safetensors file, or of the shards that an index lists:
 *
 *     model.safetensors.index.json   {"weight_map": {"NAME": "model-00001-of-00002.safetensors", ..}, ..}
 *
 * All shards lie beside their index, and have the tensors that it says, each once. */
#ifndef R4_TENSOR_SHARDS_H
#define R4_TENSOR_SHARDS_H

#include "tensor/safetensors.h"

struct st_set {
  char *path; /* for messages: the file, or the index */
  struct st_file *file;
  size_t files;
};

/* path: a file, an index (its name ends with .json), or a folder with model.safetensors or its index in it. Frees on
 * failure; a shard at fault is named. */
r4_status st_open(struct st_set *s, const char *path, r4_error *e);
void st_close(struct st_set *s);

/* An index from memory: its weight_map, every value of which is the name of a file beside it. *root is to be freed. */
r4_status st_parse_index(const char *path, const void *data, size_t size, struct js **root,
                         const struct js **map, r4_error *e);

#endif
