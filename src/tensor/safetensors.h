/* safetensors: named tensors in one file, as most of the ecosystem reads and writes them.
 *
 *     8 bytes    size of the header, lowest byte first
 *     header     {"NAME": {"dtype": "F32", "shape": [..], "data_offsets": [begin, end]}, ..,
 *                 "__metadata__": {"KEY": "VALUE", ..}}, padded with spaces
 *     data       begin and end count from here; the tensors cover it without holes and overlaps */
#ifndef R4_TENSOR_SAFETENSORS_H
#define R4_TENSOR_SAFETENSORS_H

#include "base/error.h"
#include "base/hash.h"

/* A note with the SHA-256 of all data, as hexadecimal digits. A file that has it is held to it. */
#define ST_SUM "r4_data_sha256"

/* ---- Writing ---- */

struct st_new {
  const char *name;
  r4_shape shape;
  const float *data;
};

struct st_note {
  const char *key, *value;
};

/* The value of ST_SUM for these. */
void st_sum(size_t n, const struct st_new *tensor, char hex[HASH_HEX]);

/* All as F32, in this order. */
r4_status st_write(const char *path, size_t n, const struct st_new *tensor, size_t notes,
                   const struct st_note *note, r4_error *e);
/* The same into new memory (r4_mem_free). R4_E_MEMORY or R4_OK. */
r4_status st_pack(size_t n, const struct st_new *tensor, size_t notes, const struct st_note *note,
                  uint8_t **data, size_t *size);

/* ---- Reading ---- */

struct st_tensor {
  const char *name;
  const char *type; /* "F32", ... */
  size_t width;     /* bytes of an element */
  r4_shape shape;   /* dimensions may be 0 */
  uint64_t begin, end;
};

struct st_file {
  char *path;    /* for messages */
  uint8_t *data; /* the whole file */
  const uint8_t *tensors;
  struct js *header;
  struct st_tensor *tensor; /* as they lie in the file */
  size_t n;
};

/* Checks everything before anything is used. Frees on failure. */
r4_status st_read(struct st_file *f, const char *path, r4_error *e);
/* From memory that r4_mem_free frees, and which belongs to f from now on, even on failure. */
r4_status st_parse(struct st_file *f, const char *path, uint8_t *data, size_t size, r4_error *e);
void st_free(struct st_file *f);

const struct st_tensor *st_find(const struct st_file *f, const char *name); /* or NULL */
const char *st_note(const struct st_file *f, const char *key);              /* or NULL */
size_t st_count(const struct st_tensor *t);                                 /* elements */
/* What makes a float of the bits of an element; NULL unless the type is F16, BF16, F32 or F64. */
typedef float st_convert(uint64_t bits);
st_convert *st_converter(const char *type);
/* All elements as floats. Only of F16, BF16, F32 and F64. */
r4_status st_floats(const struct st_file *f, const struct st_tensor *t, float *to, r4_error *e);

#endif
