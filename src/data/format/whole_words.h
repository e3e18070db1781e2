/* Words in a file of a cache: numbers of eight bytes, texts with a zero at their end, one after the other. */
#ifndef R4_DATA_FORMAT_WHOLE_WORDS_H
#define R4_DATA_FORMAT_WHOLE_WORDS_H

#include <stdio.h>

#include "data/data.h"

/* All words of d, to a file. source: see whole.h. */
void whole_put_words(FILE *f, const char *source, const r4_data *d);
/* R4_E_PARSE for what whole_put_words did not write. The lists of d are empty before. */
r4_status whole_take_words(const uint8_t *bytes, size_t size, const char *source, r4_data *d, r4_error *e);

#endif
