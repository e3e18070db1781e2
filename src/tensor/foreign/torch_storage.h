/* The storages of a file of PyTorch: rows of numbers that tensors are views of. */
#ifndef R4_TENSOR_FOREIGN_TORCH_STORAGE_H
#define R4_TENSOR_FOREIGN_TORCH_STORAGE_H

#include "base/error.h"
#include "tensor/foreign/pickle.h"
#include "tensor/npz.h"

struct storage_type {
  const char *name; /* of its class in PyTorch */
  size_t width;
  const char *type; /* of safetensors; NULL for whole numbers: counters and positions, never weights */
};

struct storage {
  const struct pickled *key;
  const struct storage_type *type; /* NULL: not known */
  const uint8_t *data;             /* NULL: not found yet */
  uint8_t *own;                    /* to be freed */
  uint64_t count;                  /* elements; UINT64_MAX: not known */
};

/* A file while it is read. */
struct torch_file {
  const char *path;
  const uint8_t *data;
  size_t size;
  struct npz *zip;  /* NULL: of the old kind */
  char prefix[256]; /* of the members of the zip, with its slash */
  uint8_t *text;    /* of the pickle, in a zip */
  struct pickle *p;
  struct storage *storage; /* by key */
  size_t storages;
  struct st_new *tensor;
  size_t tensors;
  uint64_t bytes; /* of all that was read */
  r4_error *e;
};

/* All that the pickle speaks of, each key once. */
r4_status torch_storages_list(struct torch_file *r);
/* That of a persistent id; NULL: there is none. */
struct storage *torch_storage_of(const struct torch_file *r, const struct pickled *stored);
/* Finds the data. Of the old kind: one after the other from "at" on, in the order of a list of keys. */
r4_status torch_storages_in_file(struct torch_file *r, size_t at);
r4_status torch_storage_unzip(struct torch_file *r, struct storage *to);
/* Counts bytes that are to be read: too many for the size of the file are refused. */
r4_status torch_count_bytes(struct torch_file *r, uint64_t more);

#endif
