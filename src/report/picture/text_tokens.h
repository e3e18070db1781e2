/* Tokens of a text as people read them. */
#ifndef R4_REPORT_PICTURE_TEXT_TOKENS_H
#define R4_REPORT_PICTURE_TEXT_TOKENS_H

#include "base/error.h"

enum { TOKENS_SHOWN = 120, TOKEN_NUMBER = 24 }; /* of a text; letters of a token without a name */

/* The piece of a token, without the mark of one that goes on with a word, or its number if pieces are not known.
 * *apart: a blank stands before it. */
const char *token_piece(const r4_data *d, size_t id, char number[TOKEN_NUMBER], bool *apart);

bool token_is_masked(const float *mask, size_t k);
/* Of a text that is too long to be shown: where the part around its first masked token begins. */
size_t tokens_first(const float *mask, size_t length);

#endif
