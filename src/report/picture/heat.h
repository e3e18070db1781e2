/* Colours of heat maps. Steps of a scale look equally large: colours lie on straight lines from white in the Oklab
 * space, and the ends of the two halves are equally dark. Blue and red are told apart by all common kinds of colour
 * vision. */
#ifndef R4_REPORT_PICTURE_HEAT_H
#define R4_REPORT_PICTURE_HEAT_H

#include "base/error.h"
#include "r4_tools.h"

struct colour {
  uint8_t rgb[3];
};

/* v from -1, blue, over 0, white, to 1, red; beyond, the ends; grey if it is not a number. */
struct colour heat_signed(double v);
/* v from 0, white, to 1, dark violet. */
struct colour heat_width(double v);

/* The value of a pixel is the sum of its channels: what happens when all of them change alike. */
void heat_pixels(size_t pixels, size_t channels, const float *a, float *to);

/* The value that the full colour stands for: the least s such that 99.5 % of the finite |v| are at most s; if that is
 * 0, the largest finite |v|. work has room for n. */
double heat_scale(size_t n, const float *v, float *work);

/* The class that the net names for each example. */
r4_status heat_predict(const r4_subject *who, const r4_data *d, int32_t *predicted, r4_error *e);

#endif
