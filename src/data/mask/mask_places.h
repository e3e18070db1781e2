/* Where masks lie: what tells whether they may mean the reverse of what was said. */
#ifndef R4_DATA_MASK_MASK_PLACES_H
#define R4_DATA_MASK_MASK_PLACES_H

#include "data/data.h"

struct mask_places {
  size_t masked; /* examples with a mask                           */
  size_t large;  /* whose mask covers more than half of them       */
  size_t middle; /* images whose mask covers the middle            */
};

struct mask_places mask_places_of(const r4_data *d);

#endif
