/* One file with a mask. */
#ifndef R4_DATA_MASK_MASK_IMAGE_H
#define R4_DATA_MASK_MASK_IMAGE_H

#include "data/mask/mask_values.h"
#include "picture/image.h"

/* How masks are read. */
struct mask_rule {
  uint8_t from;                     /* white begins here                                    */
  bool soft;                        /* greys are kept                                       */
  const struct mask_values *marked; /* the values that mark, in place of white; NULL: white */
};

/* A file in memory. */
struct mask_image {
  const uint8_t *data;
  size_t size;
  const char *name;           /* for messages            */
  size_t example;             /* the mask of which it is */
  struct mask_report *report; /* of all masks            */
  r4_error *e;
};

/* The mask: 255 where something is marked, and greys between if the file has them, in the size of the file. Palettes of
 * colours and, where values must be exact, JPEG are refused. On failure mask is empty. */
r4_status mask_image_decode(const struct mask_image *f, const struct mask_rule *rule, struct image *mask);

#endif
