/* Small pictures in a page: an image, its heat maps, the outline of its mask. Pixels are as they are, not enlarged: the
 * page's style does that, and a picture of 28 x 28 stays at 2 kB. Large ones are made smaller. */
#ifndef R4_REPORT_PAGE_PAGE_TILE_H
#define R4_REPORT_PAGE_PAGE_TILE_H

#include "report/html.h"

struct tile {
  size_t height, width, channels; /* of an example         */
  size_t block;                   /* pixels of one of a map */
  size_t map_height, map_width;
  float *v, *work; /* of one map            */
  uint8_t *paint;  /* room for an image     */
};

r4_status tile_open(struct tile *t, r4_shape example, r4_error *e);
void tile_close(struct tile *t);

/* The address of a PNG file with the example's values [0, 1]. */
r4_status tile_image(struct tile *t, struct html *h, const float *x, r4_error *e);
/* The same of an attribution, in the colours of heat.h; scale: what the full colour stands for. */
r4_status tile_map(struct tile *t, struct html *h, const float *a, bool width, double scale, r4_error *e);
/* The scale that heat.h proposes for a map. */
double tile_scale(struct tile *t, const float *a, bool width);

/* The path of the outline of a mask, on the grid of pixels of the example. */
void tile_outline(const struct tile *t, struct html *h, const float *mask);

#endif
