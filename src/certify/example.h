/* What claims that rest on margins do for each example, whatever its set. */
#ifndef R4_CERTIFY_EXAMPLE_H
#define R4_CERTIFY_EXAMPLE_H

#include "certify/margin.h"

/* Label and prediction of all examples behind those that an earlier call has done. */
r4_status certified_begin(const r4_net *n, const float *weights, const r4_data *d, size_t done, r4_certified *to,
                          r4_error *e);
/* The margin of row k of a batch, and whether it holds. */
void certified_take(const struct margins *m, const struct encloser *x, size_t k, r4_certified *to);

#endif
