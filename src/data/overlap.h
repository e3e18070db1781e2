/* Examples that occur in two splits. */
#ifndef R4_DATA_OVERLAP_H
#define R4_DATA_OVERLAP_H

#include "base/hash.h"
#include "data/data.h"

#define OVERLAP_NONE UINT32_MAX

struct overlap_key {
  uint8_t digest[HASH_BYTES]; /* of the values */
  uint32_t example;
};

/* One for each example, equal values side by side, examples in order among those; r4_mem_free. */
struct overlap_key *overlap_keys(const r4_data *d, r4_error *e);
bool overlap_same(const struct overlap_key *a, const struct overlap_key *b);

/* twin[i] becomes an example of a later split (validation, test) that is the same as i, or OVERLAP_NONE; *n the
 * number of those that have one. */
r4_status overlap_find(const r4_data *d, uint32_t *twin, size_t *n, r4_error *e);

#endif
