/* Lengths of texts in batches: padding is cut, but only to a few lengths, as a plan is made for each. */
#ifndef R4_DATA_BATCH_LENGTH_H
#define R4_DATA_BATCH_LENGTH_H

#include <stddef.h>

enum { LENGTHS_USUAL = 8 };

/* Of tokens 1 .. width in at most so many steps, the least that is not below longest. Steps are multiples of 8, so that
 * rows of vectors stay aligned. 0 or 1 steps: width. */
size_t length_rounded(size_t longest, size_t width, size_t steps);
/* The number of that step, from 0 on. */
size_t length_step(size_t longest, size_t width, size_t steps);

#endif
