/* Where masks lie: what tells whether they may mean the reverse of what was said. */
#ifndef R4_DATA_MASK_MASK_PLACES_H
#define R4_DATA_MASK_MASK_PLACES_H

#include "data/data.h"

struct mask_places {
  size_t masked;    /* examples with a mask                     */
  size_t large;     /* whose mask covers more than half of them */
  size_t middle;    /* images whose mask covers the middle      */
  size_t different; /* masks                                    */
  bool relevant;    /* white was said to be what matters        */
};

struct mask_places mask_places_of(const r4_data *d);

/* Whether they may mean the reverse. The object usually is in the middle:
 *   - masks that mark the middle may be the object;
 *   - if most mark more than half of the example, what is left may be a patch: probably so if there are few different
 *     ones. Where white is what matters, and the middle is white, they mark all but the object, as they should. */
enum mask_doubt { MASKS_RIGHT, MASKS_LARGE, MASKS_ALIKE, MASKS_MIDDLE };
enum mask_doubt mask_doubt_of(struct mask_places p);
/* Probably: most mark the middle, or are large and alike. */
bool mask_places_doubtful(struct mask_places p);

#endif
