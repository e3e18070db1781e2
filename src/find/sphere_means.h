/* Spherical k-means: directions of vectors of length 1, grouped by the cosine. */
#ifndef R4_FIND_SPHERE_MEANS_H
#define R4_FIND_SPHERE_MEANS_H

#include "base/error.h"

/* x: [n, size], each of length 1. centre: room for [k, size], k <= n. The first centre is a vector drawn by key; each
 * next the one that is least like those before; then each becomes the direction of the sum of those that are most like
 * it, until nothing moves or 30 times. */
r4_status sphere_means(const float *x, size_t n, size_t size, size_t k, r4_random key, float *centre,
                       r4_error *e);
/* x / |x|, or 0. */
void sphere_put(float *x, size_t size);
float sphere_cosine(const float *x, const float *y, size_t size);

#endif
