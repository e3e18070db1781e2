/* Masks that a person may accept. */
#ifndef R4_FIND_PROPOSED_H
#define R4_FIND_PROPOSED_H

#include "base/error.h"

struct proposed {
  r4_proposal is;
  uint8_t *mask; /* [height, width]: 0 or 255 */
};

struct r4_proposed {
  size_t n, room, height, width;
  double right; /* the share that is likely right */
  struct proposed *at;
};

#endif
