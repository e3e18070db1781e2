/* Sub-domains of branch and bound (certify/brancher.h): how they were cut, and slopes and multipliers to begin with. */
#ifndef R4_CERTIFY_DOMAIN_H
#define R4_CERTIFY_DOMAIN_H

#include "certify/relaxed.h"

/* A unit whose argument is >= 0 (up), or <= 0; behind the units, a feature, which is above the middle, or below it, of
 * what the cuts before have left of it. */
struct cut {
  uint32_t unit;
  bool up;
};

struct domain {
  struct domain *below; /* in a stack */
  size_t question, cuts, rows; /* rows: functionals of the question */
  size_t bytes;                /* of its memory */
  struct cut *cut;             /* [cuts] */
  float *slope, *multiplier;   /* [rows, units]; [rows, cuts] */
};

/* What all domains are cut from: a box, and the ends of arguments. */
struct whole {
  const double *lo, *hi, *least, *most;
};

struct domain *domain_new(size_t question, size_t rows, size_t cuts, size_t units, r4_error *e);
/* Into rows first .. of r, but for the functionals. */
void domain_load(const struct domain *d, const struct whole *w, struct relaxed *r, size_t first);
/* Half of it: what r has found in these rows, and one more cut. NULL: out of memory. */
struct domain *domain_half(const struct domain *d, const struct relaxed *r, size_t first, struct cut more, r4_error *e);
/* Where to cut next, by row of r; false: nowhere, as it is a point. */
bool domain_choose(const struct relaxed *r, size_t row, struct cut *to);

#endif
