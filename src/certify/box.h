/* The box of an example, as a certificate states it: decimals are real numbers, and ends are rounded outward. */
#ifndef R4_CERTIFY_BOX_H
#define R4_CERTIFY_BOX_H

#include "base/error.h"

struct box {
  bool whole;       /* masked features take every value of the range        */
  double eps;       /* from above; not of one that is whole                 */
  bool ranged;      /* there are valid values:                              */
  double low, high; /* the first from below, the second from above          */
};

/* A decimal, as 0.1 or -3, as a double that is not above it, or not below; exact for small whole numbers. False unless
 * it is one: digits, at most one point, perhaps a sign. */
bool decimal_below(const char *text, double *value);
bool decimal_above(const char *text, double *value);

/* eps NULL: the whole range. low and high NULL: there is none. Errors say what was expected. */
r4_status box_read(struct box *b, const char *eps, const char *low, const char *high, r4_error *e);
/* The ends of n features x with masks m: { x' : |x' - x| <= eps m, x' valid }, and x itself. */
void box_ends(const struct box *b, size_t n, const float *x, const float *m, double *lo, double *hi);

#endif
