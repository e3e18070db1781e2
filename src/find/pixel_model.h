/* How much like a clue's places each pixel of an image looks.
 *
 * A pixel is z: the mean of each channel, and the spread of the lightness, over a window of a thirteenth of the image's
 * side. Of the clue's places and of images of other classes, z has a normal distribution each,
 *
 *     l(z) = log N(z; m_1, S_1) - log N(z; m_0, S_0),     cut to -10 .. 10,
 *
 * and the map of an image is l, blurred by a Gaussian of 3 % of the side. */
#ifndef R4_FIND_PIXEL_MODEL_H
#define R4_FIND_PIXEL_MODEL_H

#include "data/data.h"

enum { PIXEL_NUMBERS = 5 }; /* at most: four channels and the spread */

struct moments {
  double n, sum[PIXEL_NUMBERS], product[PIXEL_NUMBERS][PIXEL_NUMBERS];
};

struct normal {
  double mean[PIXEL_NUMBERS], inverse[PIXEL_NUMBERS][PIXEL_NUMBERS], log_det;
};

struct pixel_model {
  size_t height, width, channels, numbers;
  struct normal clue, other;
};

/* Room for one image. */
struct pixel_room {
  float *pixel, *z, *map, *line;
};

r4_status pixel_room_new(struct pixel_room *r, const struct pixel_model *m, r4_error *e);
void pixel_room_clear(struct pixel_room *r);

struct pixel_model pixel_model_of(const r4_data *d);
/* z of all pixels of example i, to room->z [height * width, numbers]. */
void pixel_look(const struct pixel_model *m, const r4_data *d, size_t i, struct pixel_room *room);
void moments_add(struct moments *to, const struct pixel_model *m, const float *z);
/* least: added to variances, so that what never varies can be told from what varies little. */
struct normal normal_of(const struct moments *a, size_t numbers, double least);
/* The mean variance of z. */
double moments_spread(const struct moments *a, size_t numbers);
/* The map of what pixel_look saw, to room->map [height, width]. */
void pixel_map(const struct pixel_model *m, struct pixel_room *room);

#endif
