/* Data sets that were published with a split, known by what they hold and not by what their files are called. */
#ifndef R4_DATA_CATALOG_PUBLISHED_H
#define R4_DATA_CATALOG_PUBLISHED_H

#include "data/data.h"

struct published {
  const char *name;
  size_t count[R4_SPLITS];
  const char *const *class_name; /* NULL after the last */
  /* SHA-256 of the labels for training in their order, as an idx file has them; NULL: the numbers of examples of each
   * class for training are known instead */
  const char *labels;
  const size_t *per_class;
};

/* By the splits and labels of the records; NULL if it is none of them. */
const struct published *published_find(const r4_data *d);

#endif
