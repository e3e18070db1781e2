/* Outlines on a grid of pixels. A pixel is marked if its centre is inside: a point is inside a polygon if a ray
 * from it crosses the outline an odd number of times, so that a box from x to x + w has w pixels in a row for whole
 * numbers. */
#ifndef R4_PICTURE_OUTLINE_H
#define R4_PICTURE_OUTLINE_H

#include "base/error.h"

struct outline {
  size_t image;
  size_t first, n; /* points, or runs */
  bool is_runs, by_column;
  uint32_t height, width; /* of the grid that runs fill */
};

/* Runs of pixels that are not marked and marked in turns, beginning with the former, row by row or column by column. */
struct runs {
  uint32_t height, width;
  bool by_column;
  size_t n;
  const uint32_t *run;
};

/* What drawing an image found odd. */
struct outline_report {
  bool outside; /* an outline goes on for more than a pixel outside of the image, and was cut */
  bool scaled;  /* the image has another size than its annotations */
  bool nothing; /* an outline has no pixel in it */
};

/* Draws over mask, height x width bytes, 255 where marked; points are multiplied by scale. */
r4_status outline_polygon(size_t n, const double *point, const double scale[2], size_t height, size_t width,
                          uint8_t *mask, struct outline_report *report, r4_error *e);
/* Each pixel of the mask takes that of the grid which its centre is in. */
r4_status outline_runs(const struct runs *runs, size_t height, size_t width, uint8_t *mask,
                       struct outline_report *report, r4_error *e);

#endif
