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

/* The token that all texts have at their beginning, or at their end; -1: they have different ones. */
static int32_t common_token(const r4_data *d, bool end)
{
  int32_t common = -1;
  for (size_t i = 0; i < d->n; i++) {
    size_t row = d->record[i].row, length = column_length(data_x(d), row);
    const int32_t *id = column_row(data_x(d), row);
    int32_t here = length ? id[end ? length - 1 : 0] : -1;
    if (i && here != common) return -1;
    common = here;
  }
  return common;
}

struct text_look text_look_of(const r4_data *d, bool unmasked)
{
  bool known = d->pieces;
  return (struct text_look){unmasked,
                            {known ? -1 : common_token(d, false), known ? -1 : common_token(d, true)}};
}

size_t text_words(const r4_data *d, size_t i, const struct text_look *how, struct text_word *to, size_t room)
{
  size_t row = d->record[i].row, n = 0, length = column_length(data_x(d), row);
  const int32_t *id = column_row(data_x(d), row);
  const uint8_t *mask = how->unmasked ? NULL : data_mask_bytes(d, i);
  for (size_t k = 0; k < length; k++) {
    char number[TOKEN_NUMBER];
    bool apart, masked = mask && mask[k] >= 128;
    if (is_special(token_piece(d, (size_t)id[k], number, &apart))) continue;
    if ((!k && id[k] == how->frame[0]) || (k + 1 == length && id[k] == how->frame[1])) continue;
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
