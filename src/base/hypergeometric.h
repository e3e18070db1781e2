#ifndef R4_BASE_HYPERGEOMETRIC_H
#define R4_BASE_HYPERGEOMETRIC_H

#include <stddef.h>

/* log P(X >= k), where X is how many of m examples, drawn without replacement from n, are among the "of" that are of a
 * class. m, of <= n. */
double hypergeometric_tail(size_t n, size_t of, size_t m, size_t k);

#endif
