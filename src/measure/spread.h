/* A map of cells as a map of the pixels that they stand for. */
#ifndef R4_MEASURE_SPREAD_H
#define R4_MEASURE_SPREAD_H

#include "r4.h"

/* cells [h, w] to pixels of shape [H, W, C], bilinear: pixel i is at (i + 1/2) h / H - 1/2 among the cells, and those
 * before the first and behind the last have their values. Each channel has an equal part of its pixel, so that
 * channels sum to it. */
void spread_cells(const float *cells, const int64_t size[2], r4_shape image, float *to);

#endif
