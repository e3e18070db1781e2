/* Examples that occur in two splits. */
#ifndef R4_DATA_OVERLAP_H
#define R4_DATA_OVERLAP_H

#include "data/data.h"

#define OVERLAP_NONE UINT32_MAX

/* twin[i] becomes an example of a later split (validation, test) that is the same as i, or OVERLAP_NONE; *n the
 * number of those that have one. */
r4_status overlap_find(const r4_data *d, uint32_t *twin, size_t *n, r4_error *e);

#endif
