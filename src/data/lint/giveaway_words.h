/* Tokens that say much about a class by themselves. */
#ifndef R4_DATA_LINT_GIVEAWAY_WORDS_H
#define R4_DATA_LINT_GIVEAWAY_WORDS_H

#include "data/data.h"
#include "r4_tools.h"

/* All that r4_data_giveaway_words chooses from, in its order; NULL if there are none. To be freed by the caller. */
r4_status giveaway_find(const r4_data *d, r4_giveaway_word **to, size_t *n, r4_error *e);

#endif
