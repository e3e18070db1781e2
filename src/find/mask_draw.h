/* A mask out of a map: what is above Otsu's threshold, its largest parts, a little wider. */
#ifndef R4_FIND_MASK_DRAW_H
#define R4_FIND_MASK_DRAW_H

#include "base/error.h"

struct mask_draw {
  size_t height, width;
  const float *map;
  const double *touch; /* a box, as shares of the image, which each part must have a pixel in; NULL: none */
  uint32_t *room;      /* [2 * height * width] */
};

/* The threshold between two kinds of values that has the largest variance between them (Otsu, 1979), of 64 levels. */
double otsu(const float *v, size_t n);
/* mask: 255 where the map is above the larger of 0 and its threshold; parts of less than a quarter of the largest are
 * left out, and the rest grows by a pixel for each 64 of the shorter side, at least one. Returns the share of the image
 * that is marked. */
double mask_draw(const struct mask_draw *m, uint8_t *mask);

#endif
