/* Arrays as files hold them: a type, a shape, and elements in row-major order. What reads and writes npy and npz
 * makes and takes these; a dimension may be 0. */
#ifndef R4_TENSOR_ARRAY_H
#define R4_TENSOR_ARRAY_H

#include "base/error.h"

enum array_type {
  ARRAY_BOOL,
  ARRAY_U8,
  ARRAY_I8,
  ARRAY_U16,
  ARRAY_I16,
  ARRAY_U32,
  ARRAY_I32,
  ARRAY_U64,
  ARRAY_I64,
  ARRAY_F16,
  ARRAY_F32,
  ARRAY_F64,
  ARRAY_TEXT /* UTF-8, width bytes each, zero-padded */
};

struct array {
  enum array_type type;
  size_t width; /* bytes of an element */
  int rank;
  int64_t dim[8];
  void *data; /* r4_mem_free */
};

/* The number of elements. */
int64_t array_count(const struct array *a);
/* Room for a type and shape, zeroed. R4_E_MEMORY, also when the size overflows. */
r4_status array_new(struct array *a, enum array_type type, size_t width, int rank, const int64_t *dim,
                    r4_error *e);
void array_free(struct array *a);
/* Element i as a number (0 for text). */
double array_number(const struct array *a, int64_t i);
/* "uint8 [60000, 28, 28]" for messages. */
void array_describe(const struct array *a, char *to, size_t size);

#endif
