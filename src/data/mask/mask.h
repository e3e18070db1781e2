/* What the operations on masks share. */
#ifndef R4_DATA_MASK_MASK_H
#define R4_DATA_MASK_MASK_H

#include "data/data.h"

/* Words of each r4_mask_meaning, and of each r4_corruption from [CORRUPTION_WORD] on, after "none". NULL ends them. */
extern const char *const mask_meaning_words[], *const corruption_words[];
enum { CORRUPTION_WORD = 1 };

/* Refuses what is no meaning. */
r4_status mask_meaning_check(r4_mask_meaning means, const char *function, r4_error *e);

/* A list with the same masks under the same numbers, to which more can be added. */
struct masks *mask_copy(const struct masks *m, r4_error *e);

/* Of the training examples that have a mask, chosen[i] becomes 1 for a share of each class. */
r4_status mask_choose(const r4_data *d, double share, r4_random key, uint8_t *chosen, r4_error *e);

#endif
