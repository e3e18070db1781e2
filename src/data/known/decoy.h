/* Decoys: something in the picture that gives the label away in training and means nothing later. */
#ifndef R4_DATA_KNOWN_DECOY_H
#define R4_DATA_KNOWN_DECOY_H

#include "data/data.h"

struct decoy {
  size_t side;           /* of a square in a corner, in pixels       */
  const uint8_t *colour; /* [classes][channels]                      */
  uint64_t seed;
  bool clean; /* the same masks, but nothing is drawn: the ceiling to compare with */
};

/* A square in one of the four corners, by two fair coins. Images must be bytes, [height, width, channels].
 *
 *     training            colour of the label; the mask is the square
 *     validation, test    colour of a class drawn uniformly; the mask is all four corners
 *
 * Validation is held out to choose settings as the test set will judge them, so it is made as the test set is. The
 * draws of example i depend on the seed and i alone. Groups become the classes. */
r4_data *decoy_corner(const r4_data *d, const struct decoy *decoy, r4_error *e);

/* The image squeezed to half its height by the mean of two rows, (a + b + 1) / 2 in bytes, in the upper or the lower
 * half by a fair coin, and the other half filled with the colour (black when clean). The mask is the filled half, in
 * every split. */
r4_data *decoy_half(const r4_data *d, const struct decoy *decoy, r4_error *e);

/* Colours of classes, [classes][channels]: greys from light to dark, 255 - floor(250 k / classes), divided by
 * `divisor` and rounded down; or the hues of a circle, red first (channels must be 3). */
void decoy_greys(size_t classes, size_t channels, int divisor, uint8_t *colour);
void decoy_hues(size_t classes, uint8_t *colour);

#endif
