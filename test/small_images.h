/* Square grey images from arrays, all of them with masks by pixel that mark what must not matter. */
#ifndef SMALL_IMAGES_H
#define SMALL_IMAGES_H

#include "check.h"

/* x, mask: n images of side * side; split may be NULL: all are for training. Fails the test if they are refused. */
r4_data *small_images(size_t n, int64_t side, const float *x, const int32_t *label, const r4_split *split,
                      const float *mask);

#endif
