#include "find/text_words.h"

#include <string.h>

#include "report/picture/text_tokens.h"

static bool is_special(const char *piece)
{
  size_t n = strlen(piece);
  return n > 2 && piece[0] == '[' && piece[n - 1] == ']';
}

/* FNV-1a, over the bytes of an id. */
static uint64_t hash_on(uint64_t hash, uint32_t id)
{
  for (int k = 0; k < 4; k++, id >>= 8) hash = (hash ^ (id & 255)) * UINT64_C(1099511628211);
  return hash;
}

size_t text_words(const r4_data *d, size_t i, bool unmasked, struct text_word *to, size_t room)
{
  size_t row = d->record[i].row, n = 0, length = column_length(data_x(d), row);
  const int32_t *id = column_row(data_x(d), row);
  const uint8_t *mask = unmasked ? NULL : data_mask_bytes(d, i);
  for (size_t k = 0; k < length; k++) {
    char number[TOKEN_NUMBER];
    bool apart, masked = mask && mask[k] >= 128;
    if (is_special(token_piece(d, (size_t)id[k], number, &apart))) continue;
    if (apart || !n || to[n - 1].at + to[n - 1].n != k) {
      if (n == room) break;
      to[n++] = (struct text_word){UINT64_C(14695981039346656037), k, 0, false};
    }
    struct text_word *w = to + n - 1;
    w->hash = hash_on(w->hash, (uint32_t)id[k]);
    w->n++;
    w->masked = w->masked || masked;
  }
  return n;
}

void text_of_tokens(struct text *to, const r4_data *d, size_t i, size_t from, size_t n)
{
  size_t row = d->record[i].row, length = column_length(data_x(d), row);
  const int32_t *id = column_row(data_x(d), row);
  bool first = true;
  for (size_t k = from; k < from + n && k < length; k++) {
    char number[TOKEN_NUMBER];
    bool apart;
    const char *piece = token_piece(d, (size_t)id[k], number, &apart);
    if (is_special(piece)) continue;
    text_add(to, "%s%s", apart && !first ? " " : "", piece);
    first = false;
  }
}
