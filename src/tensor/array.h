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
  ARRAY_TEXT /* UTF-8, width bytes each, padded with zeros, the last of which is always there */
};

enum { ARRAY_RANK = 8 };

struct array {
  enum array_type type;
  size_t width; /* bytes of an element */
  int rank;
  int64_t dim[ARRAY_RANK];
  void *data; /* r4_mem_free */
};

/* Bytes of an element of a type; 0 for text, whose arrays have a width of their own. */
size_t array_width(enum array_type type);
/* The number of elements. */
int64_t array_count(const struct array *a);
/* Room for a type and shape, zeroed; width is that of text. R4_E_MEMORY, also when the size overflows. */
r4_status array_new(struct array *a, enum array_type type, size_t width, int rank, const int64_t *dim,
                    r4_error *e);
void array_free(struct array *a);
/* Element i as a number (0 for text), and as text ("" for numbers). */
double array_number(const struct array *a, int64_t i);
const char *array_text(const struct array *a, int64_t i);
/* Elements first .. first + n - 1 of an array of numbers, as floats. */
void array_floats(const struct array *a, int64_t first, int64_t n, float *to);
float array_half(uint16_t bits);              /* an element of ARRAY_F16 */
bool array_is_integer(const struct array *a); /* whole numbers or bool */
bool array_is_float(const struct array *a);
/* "uint8 [60000, 28, 28]" for messages. */
void array_describe(const struct array *a, char *to, size_t size);

#endif
