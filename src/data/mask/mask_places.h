/* Where masks lie: what tells whether they may mean the reverse of what was said. */
#ifndef R4_DATA_MASK_MASK_PLACES_H
#define R4_DATA_MASK_MASK_PLACES_H

#include "data/data.h"

struct mask_places {
  size_t masked;    /* examples with a mask                     */
  size_t large;     /* whose mask covers more than half of them */
  size_t middle;    /* images whose mask covers the middle      */
  size_t different; /* masks                                    */
};

struct mask_places mask_places_of(const r4_data *d);
/* Most mark the middle, where the object usually is; or they mark more than half and are alike, as all but a patch in a
 * fixed place is. Large ones that differ and spare the middle mark all but the object, as they should. */
bool mask_places_doubtful(struct mask_places p);

#endif
