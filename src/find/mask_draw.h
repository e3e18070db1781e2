/* A mask out of a map: what is more likely than not, its largest parts, a little wider. */
#ifndef R4_FIND_MASK_DRAW_H
#define R4_FIND_MASK_DRAW_H

#include "base/error.h"

struct mask_draw {
  size_t height, width;
  const float *map;
  const double *touch; /* a box, as shares of the image, which each part must have a pixel in; NULL: none */
  uint32_t *room;      /* [2 * height * width] */
};

/* mask: 255 where the map, of probabilities, is a half or more; parts that do not touch, and those of less than a
 * quarter of the largest, are left out. Returns how many pixels are marked. */
size_t mask_parts(const struct mask_draw *m, uint8_t *mask);
/* By the pixels next to what is marked. */
void mask_grow(const struct mask_draw *m, uint8_t *mask);
/* The parts, grown by a twenty-fourth of their size, the root of how many pixels they have. Returns the share of the
 * image that is marked. */
double mask_draw(const struct mask_draw *m, uint8_t *mask);

#endif
