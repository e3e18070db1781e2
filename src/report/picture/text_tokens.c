#include "report/picture/text_tokens.h"

#include <stdio.h>

#include "data/data.h"

enum { BEFORE_MASK = 20 };

const char *token_piece(const r4_data *d, size_t id, char number[TOKEN_NUMBER], bool *apart)
{
  const char *piece = d->pieces && id < d->pieces->n ? d->pieces->name[id] : NULL;
  if (!piece) snprintf(number, TOKEN_NUMBER, "%zu", id);
  bool inner = piece && piece[0] == '#' && piece[1] == '#' && piece[2];
  *apart = !inner;
  return !piece ? number : piece + (inner ? 2 : 0);
}

bool token_is_masked(const float *mask, size_t k)
{
  return mask[k] >= 0.5f;
}

size_t tokens_first(const float *mask, size_t length)
{
  size_t k = 0;
  while (k < length && !token_is_masked(mask, k)) k++;
  if (length <= TOKENS_SHOWN || k == length || k < TOKENS_SHOWN - BEFORE_MASK) return 0;
  size_t first = k - BEFORE_MASK, last = length - TOKENS_SHOWN;
  return first < last ? first : last;
}
