/* Numbers of 16 bits, for the operands of products: bfloat16 is the upper half of a float, 8 bits of precision and the
 * range of a float.
 *
 * Two operations round to it. A plan puts them before products; its users do not see them. Where their result is stored
 * in a float plan, it takes 2 bytes. */
#ifndef R4_EXEC_KERNEL_BF16_H
#define R4_EXEC_KERNEL_BF16_H

#include <string.h>

#include "graph/op.h"

/* To the nearest, ties to even: |bf16(x) - x| <= 2^-8 |x|, for x from 2^-126 on. */
extern const struct op op_bf16;
/* Away from zero: |x| <= |bf16_out(x)| <= (1 + 2^-7) |x|, and 2^-126, the least that products do not take for 0, for
 * what is smaller. For operands that are never negative, whose products must not come out below. */
extern const struct op op_bf16_out;

/* Whether a node of this operation is stored in 2 bytes. */
static inline bool is_bf16(const struct op *op)
{
  return op == &op_bf16 || op == &op_bf16_out;
}

/* What stores the n results of op(a), of 2 bytes each, in y. */
element_f32 *bf16_store(const struct op *op);
/* The floats that n stored numbers are. */
void bf16_load(size_t n, const uint16_t *x, float *y);
/* relu in place; not a number stays. */
void bf16_rectify(uint16_t *x, int64_t n);

#endif
