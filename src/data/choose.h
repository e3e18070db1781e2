/* Choosing at random, by seed, the same share of every stratum (a class of a split, say). */
#ifndef R4_DATA_CHOOSE_H
#define R4_DATA_CHOOSE_H

#include "data/data.h"

/* chosen[i] becomes 1 for round(share * n_s) of the n_s examples of each stratum s and 0 for the others. The share of
 * a larger call contains that of a smaller one with the same key: 20 % are among the 40 %. */
r4_status choose_share(size_t n, const uint32_t *stratum, double share, r4_random key, uint8_t *chosen,
                       r4_error *e);

/* The stratum of each example: its class and split. */
void choose_strata(const r4_data *d, uint32_t *stratum);

#endif
