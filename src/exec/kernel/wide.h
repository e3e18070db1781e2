/* Vectors as wide as the machine that was compiled for has them. */
#ifndef R4_EXEC_KERNEL_WIDE_H
#define R4_EXEC_KERNEL_WIDE_H

#include <stdint.h>

#ifdef __AVX512F__
enum { WIDE = 16, MAX_ROWS = 14 }; /* MAX_ROWS: of a product by two vectors that stays in registers */
#else
enum { WIDE = 8, MAX_ROWS = 6 };
#endif

typedef float wide __attribute__((vector_size(WIDE * sizeof(float))));
typedef float wide_anywhere __attribute__((vector_size(WIDE * sizeof(float)), aligned(sizeof(float))));
typedef int32_t wide_bits __attribute__((vector_size(WIDE * sizeof(int32_t))));
#define AT(p) (*(const wide_anywhere *)(p))
#define PUT(p, x) (*(wide_anywhere *)(p) = (x))
#define INLINE static inline __attribute__((always_inline))

#endif
