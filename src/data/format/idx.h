/* The idx format of MNIST: two zero bytes, a type, the number of dimensions, the dimensions (four bytes each, highest
 * first), and the elements in row-major order, highest byte first. */
#ifndef R4_DATA_FORMAT_IDX_H
#define R4_DATA_FORMAT_IDX_H

#include "tensor/array.h"

struct idx {
  enum array_type type;
  int rank;
  int64_t dim[ARRAY_RANK];
  size_t offset; /* where the elements begin */
  const uint8_t *data;
};

/* What bytes say, which must end where the elements do. file is for messages: "FILE: byte 8: ...". */
r4_status idx_parse(const uint8_t *bytes, size_t size, const char *file, struct idx *x, r4_error *e);

#endif
