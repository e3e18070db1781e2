#include "find/word_table.h"

#include <string.h>

#include "base/mem.h"

enum { SLOTS_FIRST = 1 << 16 };

uint64_t word_key(const struct text_word *word, size_t n, size_t k, enum word_cue cue)
{
  if (word[k].masked || (cue == CUE_FIRST && k) || (cue == CUE_LAST && k + 1 != n)) return 0;
  if (cue == CUE_PHRASE && (k + 1 == n || word[k + 1].masked)) return 0;
  uint64_t key = word[k].hash * 4 + cue;
  if (cue == CUE_PHRASE) key = (key ^ word[k + 1].hash) * UINT64_C(0x9e3779b97f4a7c15);
  key ^= key >> 29;
  key *= UINT64_C(0xbf58476d1ce4e5b9);
  key ^= key >> 32;
  return key ? key : 1;
}

static r4_status make_slots(struct word_table *t, size_t slots, r4_error *e)
{
  t->slots = slots;
  t->entry = mem_new(slots, sizeof *t->entry, "counting words", e);
  t->of_class = mem_new(slots, t->classes * sizeof *t->of_class, "counting words", e);
  if (t->entry && t->of_class) return R4_OK;
  word_table_clear(t);
  return R4_E_MEMORY;
}

r4_status word_table_new(struct word_table *t, size_t classes, r4_error *e)
{
  *t = (struct word_table){.classes = classes};
  return make_slots(t, SLOTS_FIRST, e);
}

void word_table_clear(struct word_table *t)
{
  r4_mem_free(t->entry);
  r4_mem_free(t->of_class);
  *t = (struct word_table){0};
}

/* Where a key is, or would be. */
static size_t slot_of(const struct word_table *t, uint64_t key)
{
  size_t k = (size_t)key & (t->slots - 1);
  while (t->entry[k].key && t->entry[k].key != key) k = (k + 1) & (t->slots - 1);
  return k;
}

/* Twice as many slots. */
static r4_status grow(struct word_table *t, r4_error *e)
{
  struct word_table more = {.classes = t->classes, .n = t->n};
  r4_status s = make_slots(&more, 2 * t->slots, e);
  if (s) return s;
  for (size_t k = 0; k < t->slots; k++) {
    if (!t->entry[k].key) continue;
    size_t to = slot_of(&more, t->entry[k].key);
    more.entry[to] = t->entry[k];
    memcpy(more.of_class + to * t->classes, t->of_class + k * t->classes, t->classes * sizeof *t->of_class);
  }
  word_table_clear(t);
  *t = more;
  return R4_OK;
}

r4_status word_table_add(struct word_table *t, const struct text_word *word, size_t n, uint32_t number,
                         uint32_t example, int32_t label, r4_error *e)
{
  for (size_t k = 0; k < n; k++)
    for (enum word_cue cue = 0; cue < WORD_CUES; cue++) {
      uint64_t key = word_key(word, n, k, cue);
      if (!key) continue;
      if (2 * t->n >= t->slots && grow(t, e)) return R4_E_MEMORY;
      size_t at = slot_of(t, key);
      struct word_entry *w = t->entry + at;
      if (!w->key) *w = (struct word_entry){key, 0, example, (uint32_t)k, 0, (uint8_t)cue}, t->n++;
      if (w->last == number + 1) continue;
      w->last = number + 1;
      w->texts++;
      t->of_class[at * t->classes + (size_t)label]++;
    }
  return R4_OK;
}
