/* Where an attribution points: the figures of r4_pointing_game, of one example. */
#ifndef R4_MEASURE_POINTING_H
#define R4_MEASURE_POINTING_H

#include "r4.h"

struct pointed {
  bool somewhere; /* false: no positive pixel, or one that is not finite; only area counts then */
  double energy, share, hit, area;
};

/* Of pixels of so many channels; sign: 1 or -1, of what speaks for the label. */
struct pointed point(size_t pixels, size_t channels, double sign, const float *a, const float *mask);

#endif
