/* The swap test; r4.h has its functions. */
#ifndef R4_MEASURE_SWAP_H
#define R4_MEASURE_SWAP_H

/* Why there is nothing to swap: the reason that reads so, or, if none does, that there is one. For results that were
 * kept in a file. */
const char *swap_reason(const char *text);

#endif
