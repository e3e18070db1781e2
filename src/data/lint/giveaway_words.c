#include "data/lint/giveaway_words.h"

#include <stdlib.h>

#include "base/mem.h"
#include "data/counts.h"

enum { CLASSES_MOST = 64, TEXTS_LEAST = 10, CLASS_PER_CENT = 80 };

/* How many training texts of each class have each token where no mask covers it: [ids, classes]. */
static void count_tokens(const r4_data *d, size_t ids, uint32_t *count)
{
  uint32_t *last = count + ids * d->classes->n; /* the last text that had the token, + 1 */
  for (size_t i = 0; i < d->n; i++) {
    const struct record *r = d->record + i;
    const int32_t *id = column_row(data_x(d), r->row);
    const uint8_t *mask = data_mask_bytes(d, i);
    if (r->split != R4_TRAIN) continue;
    for (size_t k = 0; k < column_length(data_x(d), r->row); k++) {
      if ((mask && mask[k]) || last[id[k]] == i + 1) continue;
      last[id[k]] = (uint32_t)i + 1;
      count[(size_t)id[k] * d->classes->n + (size_t)r->label]++;
    }
  }
}

/* The class that most texts with the token are of, among those that are not nearly all. */
static r4_giveaway_word word_of(const uint32_t *count, size_t classes, const bool *counts)
{
  r4_giveaway_word w = {.label = -1};
  for (size_t c = 0; c < classes; c++) {
    w.texts += count[c];
    if (counts[c] && (w.label < 0 || count[c] > w.of_class)) w.label = (int32_t)c, w.of_class = count[c];
  }
  return w;
}

/* The larger share of its class first, then the more frequent. */
static int more_telling(const void *a, const void *b)
{
  const r4_giveaway_word *x = a, *y = b;
  uint64_t p = (uint64_t)x->of_class * y->texts, q = (uint64_t)y->of_class * x->texts;
  if (p != q) return p > q ? -1 : 1;
  if (x->texts != y->texts) return x->texts > y->texts ? -1 : 1;
  return x->id < y->id ? -1 : 1;
}

r4_status giveaway_find(const r4_data *d, r4_giveaway_word **to, size_t *n, r4_error *e)
{
  const size_t classes = d->classes->n, ids = (size_t)r4_data_vocabulary(d);
  const size_t all = r4_data_counts(d, -1, -1).examples[R4_TRAIN];
  bool counts[CLASSES_MOST];
  *to = NULL;
  *n = 0;
  if (!ids || classes > CLASSES_MOST) return R4_OK;
  uint32_t *count = mem_new(ids * (classes + 1), sizeof *count, "counting tokens", e);
  r4_giveaway_word *word = count ? mem_new(ids, sizeof *word, "counting tokens", e) : NULL;
  if (!word) {
    r4_mem_free(count);
    return R4_E_MEMORY;
  }
  count_tokens(d, ids, count);
  for (size_t c = 0; c < classes; c++)
    counts[c] = 100 * r4_data_counts(d, (int32_t)c, -1).examples[R4_TRAIN] <= CLASS_PER_CENT * all;
  for (size_t k = 0; k < ids; k++) {
    r4_giveaway_word w = word_of(count + k * classes, classes, counts);
    w.id = (int32_t)k;
    if (w.label >= 0 && w.texts >= TEXTS_LEAST && 100 * w.texts >= all) word[(*n)++] = w;
  }
  qsort(word, *n, sizeof *word, more_telling);
  r4_mem_free(count);
  *to = word;
  return R4_OK;
}

r4_status r4_data_giveaway_words(const r4_data *d, size_t most, r4_giveaway_word *to, size_t *n, r4_error *e)
{
  NEEDS(d, "data", R4_E_ARGUMENT);
  NEEDS(to, "room for words", R4_E_ARGUMENT);
  NEEDS(n, "room for their number", R4_E_ARGUMENT);
  r4_giveaway_word *all = NULL;
  r4_status s = giveaway_find(d, &all, n, e);
  if (*n > most) *n = most;
  for (size_t k = 0; k < *n; k++) to[k] = all[k];
  r4_mem_free(all);
  return s;
}

const char *r4_data_piece(const r4_data *d, int32_t id)
{
  return d->pieces && id >= 0 && (size_t)id < d->pieces->n ? d->pieces->name[id] : NULL;
}
