/* What the tests of augmentation share: small images with masks, and batches of them. */
#ifndef AUGMENT_CASE_H
#define AUGMENT_CASE_H

#include "check.h"
#include "data/data.h"

enum {
  HEIGHT = 5,
  WIDTH = 7,
  CHANNELS = 2,
  PIXELS = HEIGHT * WIDTH,
  FEATURES = PIXELS * CHANNELS,
  EXAMPLES = 24
};

/* One class, and done. */
r4_data *augment_finish(r4_data *d);
/* Images without two equal values; two in three have a mask of three pixels, one of them grey. */
r4_data *augment_data(bool floats);
r4_batches *augment_batches(const r4_data *d, r4_batch_options options);

#endif
