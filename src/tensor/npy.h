/* The npy format of NumPy, versions 1, 2 and 3, in memory.
 *
 *     "\x93NUMPY" major minor, the length of the header (2 bytes, from version 2 on 4, lowest first), the
 *     header {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, and the elements
 *
 * Read are bool, whole numbers of 8 to 64 bits, floats of 16, 32 and 64 bits, and text (U and S), in either byte
 * order and in C or Fortran order; the array that comes back has the order of this machine and of C. Objects
 * are pickled Python, which is code: they are refused. Text is UTF-8 in memory; a byte that is none is
 * written as U+DC00 plus the byte, and read back, as Python's surrogateescape does. */
#ifndef R4_TENSOR_NPY_H
#define R4_TENSOR_NPY_H

#include "tensor/array.h"

/* file is for messages: "FILE: byte 23: ...". The bytes must end where the elements do. */
r4_status npy_read(const uint8_t *bytes, size_t size, const char *file, struct array *a, r4_error *e);

/* The array in the bytes themselves, whose elements may be moved for it: they stay the caller's. False where npy_read
 * is needed, for text, the order of Fortran, or what is wrong. */
bool npy_view(uint8_t *bytes, size_t size, const char *file, struct array *a);

enum { NPY_HEAD = 320 };

/* What a file with the array consists of: the head and the body, which is the data of the array unless it is text.
 * Version 1, aligned to 64 bytes. */
struct npy {
  uint8_t head[NPY_HEAD];
  size_t head_size;
  const void *body;
  size_t body_size;
  void *owned;
};
r4_status npy_encode(const struct array *a, struct npy *n, r4_error *e);
void npy_free(struct npy *n);

#endif
