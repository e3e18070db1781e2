/* What a data set has in it, as one number. Of values in a mapped file it is noted beside the file, so that seeds and
 * commands that come later need not read all of them again. */
#include <string.h>

#include "base/hash.h"
#include "base/map_notes.h"
#include "data/data.h"

void data_digest(const r4_data *d, size_t i, uint8_t digest[HASH_BYTES])
{
  struct hash h;
  hash_start(&h);
  column_hash_row(data_x(d), d->record[i].row, &h);
  hash_end(&h, digest);
}

/* Without masks, an example is the same whether it trains or validates: which of them validate may depend on masks. */
static void add_example(struct hash *h, const r4_data *d, bool masks, size_t i)
{
  const struct record *r = d->record + i;
  hash_add_number(h, (uint64_t)r->label);
  hash_add_number(h, (uint64_t)r->group);
  hash_add_number(h, masks ? (uint64_t)r->split : r->split == R4_TEST);
  if (masks) hash_add_number(h, r->mask != 0);
  if (masks && r->mask) hash_add(h, masks_at(data_masks(d), r->mask), data_masks(d)->size);
  column_hash_row(data_x(d), r->row, h);
  for (size_t k = 1; k < d->columns; k++) column_hash_row(d->column[k].values, r->origin, h);
}

static void add_names(struct hash *h, const struct names *l)
{
  hash_add_number(h, l->n);
  for (size_t k = 0; k < l->n; k++) hash_add(h, l->name[k], strlen(l->name[k]) + 1);
}

/* A hash of the hashes of blocks of examples, which threads make in any order. */
static void hash_all(const r4_data *d, bool masks, char hex[R4_HASH_SIZE])
{
  enum { BLOCK = 1024, GROUP = 64 };
  struct hash all;
  uint8_t digest[GROUP][HASH_BYTES];
  hash_start(&all);
  hash_add_number(&all, d->n);
  for (size_t k = 0; k < d->columns; k++) {
    if (k) hash_add(&all, d->column[k].name, strlen(d->column[k].name) + 1);
    column_hash(d->column[k].values, &all);
  }
  add_names(&all, d->classes);
  add_names(&all, d->groups);
  for (size_t first = 0; first < d->n; first += BLOCK * GROUP) {
    size_t left = d->n - first, blocks = left < BLOCK * GROUP ? (left + BLOCK - 1) / BLOCK : GROUP;
#pragma omp parallel for schedule(dynamic)
    for (size_t b = 0; b < blocks; b++) {
      struct hash h;
      hash_start(&h);
      size_t from = first + b * BLOCK, to = from + BLOCK < d->n ? from + BLOCK : d->n;
      for (size_t i = from; i < to; i++) add_example(&h, d, masks, i);
      hash_end(&h, digest[b]);
    }
    hash_add(&all, digest, blocks * HASH_BYTES);
  }
  uint8_t result[HASH_BYTES];
  hash_end(&all, result);
  hash_hex(result, hex);
}

/* ---- Noted ---- */

static bool is_mapped(const r4_data *d)
{
  const struct map *m = data_x(d)->map;
  return m && d->columns == 1 && (!data_masks(d) || data_masks(d)->map == m);
}

/* All that the hash depends on but the bytes of the file, for which their numbers stand. */
static void key_of(const r4_data *d, bool masks, char hex[HASH_HEX])
{
  uint8_t digest[HASH_BYTES];
  struct hash h;
  hash_start(&h);
  if (!masks) hash_add(&h, "unmasked", 8);
  hash_add_number(&h, d->n);
  column_hash(data_x(d), &h);
  add_names(&h, d->classes);
  add_names(&h, d->groups);
  for (size_t i = 0; i < d->n; i++) {
    const struct record *r = d->record + i;
    const uint64_t part[] = {r->row, r->mask, (uint64_t)r->label, (uint64_t)r->group, r->split};
    hash_add(&h, part, sizeof part);
  }
  hash_end(&h, digest);
  hash_hex(digest, hex);
}

static void hash_or_look_up(const r4_data *d, bool masks, char hex[R4_HASH_SIZE])
{
  char key[HASH_HEX];
  if (!is_mapped(d)) {
    hash_all(d, masks, hex);
    return;
  }
  key_of(d, masks, key);
  if (map_noted(data_x(d)->map, key, hex)) return;
  hash_all(d, masks, hex);
  map_note(data_x(d)->map, key, hex);
}

void r4_data_hash(const r4_data *d, char hex[R4_HASH_SIZE])
{
  hash_or_look_up(d, true, hex);
}

void r4_data_hash_unmasked(const r4_data *d, char hex[R4_HASH_SIZE])
{
  hash_or_look_up(d, false, hex);
}
