#include "data/format/cache_parts.h"

#include <string.h>

#include "base/hash.h"
#include "base/map_notes.h"

size_t cache_up(size_t n)
{
  return (n + CACHE_STEP - 1) / CACHE_STEP * CACHE_STEP;
}

void cache_put(FILE *f, const void *bytes, size_t size)
{
  static const uint8_t zeros[CACHE_STEP];
  if (size) fwrite(bytes, 1, size, f);
  fwrite(zeros, 1, cache_up(size) - size, f);
}

/* SHA-256 of the hashes of blocks, which threads make in any order. */
static void digest_of(const uint8_t *bytes, size_t size, uint8_t digest[HASH_BYTES])
{
  enum { BLOCK = 1 << 22, GROUP = 64 };
  uint8_t part[GROUP][HASH_BYTES];
  struct hash all;
  hash_start(&all);
  for (size_t first = 0; first < size; first += (size_t)BLOCK * GROUP) {
    size_t left = size - first, blocks = left < (size_t)BLOCK * GROUP ? (left + BLOCK - 1) / BLOCK : GROUP;
#pragma omp parallel for schedule(dynamic)
    for (size_t b = 0; b < blocks; b++) {
      size_t from = first + b * BLOCK;
      struct hash h;
      hash_start(&h);
      hash_add(&h, bytes + from, size - from < BLOCK ? size - from : BLOCK);
      hash_end(&h, part[b]);
    }
    hash_add(&all, part, blocks * HASH_BYTES);
  }
  hash_end(&all, digest);
}

/* The digest is of what the file has: it is mapped once more, as a reader does. */
r4_status cache_put_digest(struct file_writer *w, r4_error *e)
{
  uint8_t digest[HASH_BYTES];
  if (fflush(w->f)) return r4_fail(e, R4_E_IO, "%s: cannot be written", w->path);
  struct map *whole = map_open(w->beside, e);
  if (!whole) return e && e->status ? e->status : R4_E_IO;
  digest_of(whole->bytes, whole->size, digest);
  map_drop(whole);
  fwrite(digest, 1, sizeof digest, w->f);
  return R4_OK;
}

static bool digest_fits(const struct map *m)
{
  uint8_t digest[HASH_BYTES];
  if (m->size < CACHE_HEAD + HASH_BYTES) return false;
  digest_of(m->bytes, m->size - HASH_BYTES, digest);
  return !memcmp(digest, m->bytes + m->size - HASH_BYTES, HASH_BYTES);
}

bool cache_is_whole(const struct map *m)
{
  char yes[HASH_HEX];
  if (map_noted(m, "whole", yes)) return true;
  if (!digest_fits(m)) return false;
  map_note(m, "whole", "yes");
  return true;
}
