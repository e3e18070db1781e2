/* What a clue that is at one place looks like there: maps of images, each moved to where it fits best.
 *
 * The template T is the mean of the maps, each moved by its s_i, and R where T is half of its largest value or more. An
 * image is moved by
 *
 *     s_i = argmax_s  mean_{p in R} map_i(p + s) - 1/2 mean_{p around R} map_i(p + s) - 1/10 |s|^2 / reach^2,
 *
 * with s of at most an eighth of the side. What is printed on photos is at the same place to the pixel, what is put
 * next to things is not. In a map of one image there are holes, as a stamp on a ground of its own colour cannot be
 * seen; in the mean of many there are none. */
#ifndef R4_FIND_TEMPLATE_H
#define R4_FIND_TEMPLATE_H

#include "base/error.h"

struct template
{
  size_t height, width;
  long reach;
  float *sum;          /* [height, width]: T before it is divided */
  uint32_t *in, *ring; /* pixels of R, and those around it */
  size_t ins, rings;
};

struct shift {
  long down, right;
  double fit;
};

r4_status template_new(struct template *t, size_t height, size_t width, r4_error *e);
void template_clear(struct template *t);
/* Adds a map, moved back by s. */
void template_add(struct template *t, const float *map, struct shift s);
/* R from what was added, of parts that touch a box; room: [2 height width]. Forgets what was added. */
void template_cut(struct template *t, const double touch[4], uint8_t *mask, uint32_t *room);
/* The best shift of a map. */
struct shift template_fit(const struct template *t, const float *map);
/* R, moved by s: 255 in mask; returns the share that is marked. */
double template_draw(const struct template *t, struct shift s, uint8_t *mask);

#endif
