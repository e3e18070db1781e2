/* The geometry of a mask of an image: where it is, how thick it is; to move, grow and shrink it. */
#ifndef R4_DATA_MASK_MASK_SHAPE_H
#define R4_DATA_MASK_MASK_SHAPE_H

#include "data/data.h"

/* A mask as bytes, row by row; 0 is unmarked. */
struct shape_size {
  size_t height, width;
};

/* The smallest rectangle with all that is marked. */
struct shape_box {
  size_t top, left, height, width;
};

/* The box of a mask that is not all 0. */
struct shape_box shape_box(const uint8_t *mask, struct shape_size size);
/* Whether a mask is a full square, all 255, in a corner of the image and smaller than it. */
bool shape_is_corner(const uint8_t *mask, struct shape_size size);

/* The mask moved down and right; what leaves the image is lost. */
void shape_move(const uint8_t *mask, struct shape_size size, int64_t down, int64_t right, uint8_t *to);

/* Every element becomes the largest (grow) or the smallest (shrink) of the square of elements at most `by` rows and
 * columns away. Beyond the edge of the image nothing is marked when growing and all is when shrinking, so that what
 * touches the edge stays there. */
r4_status shape_grow(const uint8_t *mask, struct shape_size size, size_t by, uint8_t *to, r4_error *e);
r4_status shape_shrink(const uint8_t *mask, struct shape_size size, size_t by, uint8_t *to, r4_error *e);
/* The least `by` for which shrinking leaves nothing, or the longer side of the image if there is none: p for a square
 * of side p in a corner. */
r4_status shape_depth(const uint8_t *mask, struct shape_size size, size_t *depth, r4_error *e);

#endif
