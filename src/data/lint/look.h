/* What a part of an image looks like, in a few numbers. */
#ifndef R4_DATA_LINT_LOOK_H
#define R4_DATA_LINT_LOOK_H

#include "data/data.h"

enum { LOOK_CHANNELS = 4 }; /* at most */

struct box {
  size_t top, left, bottom, right; /* bottom and right are behind the last */
};

/* A part of an image: a box, but for another one within it. */
struct region {
  struct box box, hole;
};

struct look {
  double pixels;                                     /* that count; without any all else is NAN      */
  double mean[LOOK_CHANNELS], spread[LOOK_CHANNELS]; /* and standard deviation                       */
  double across, down;                               /* mean |difference| of neighbours that count   */
  double y, x, height, width;                        /* the middle of them, and how far they reach   */
};

/* Whether examples are images that can be looked at. */
bool look_works(const r4_data *d);
/* Of what a mask covers, however little (masked), or of the rest. pixel: the values of an example; mask: as of this
 * data set, or NULL: it covers nothing. */
struct look look_at(const r4_data *d, const float *pixel, const uint8_t *mask, struct region r, bool masked);

#endif
