/* The shared parts of data sets: distinct masks, lists of names. */
#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/data.h"

/* Whether the caller held the last reference. */
static bool was_last(_Atomic long *references)
{
  return atomic_fetch_sub(references, 1) == 1;
}

/* ---- Masks ---- */

/* Number 0, and the table. */
static r4_status begin(struct masks *m, size_t size, r4_error *e)
{
  enum { SLOTS = 64 };
  *m = (struct masks){.references = 1, .n = 1, .capacity = 1, .size = size, .slots = SLOTS, .pile = m->pile};
  m->bytes = m->pile.folder ? m->pile.bytes : mem_new(size, 1, "masks", e);
  m->table = mem_new(SLOTS, sizeof *m->table, "masks", e);
  return m->bytes && m->table ? R4_OK : R4_E_MEMORY;
}

static struct masks *masks_made(const char *folder, size_t size, r4_error *e)
{
  struct masks *m = mem_new(1, sizeof *m, "masks", e);
  r4_status s = m ? R4_OK : R4_E_MEMORY;
  if (!s && folder) s = map_pile_open(&m->pile, folder, e);
  if (!s && folder) s = map_pile_grow(&m->pile, size, e);
  if (!s) s = begin(m, size, e);
  if (!s) return m;
  if (m) m->references = 1;
  masks_drop(m);
  return NULL;
}

struct masks *masks_new(size_t size, r4_error *e)
{
  return masks_made(NULL, size, e);
}

struct masks *masks_new_in(const char *folder, size_t size, r4_error *e)
{
  return masks_made(folder, size, e);
}

struct masks *masks_mapped(struct map *map, size_t at, size_t n, size_t size, r4_error *e)
{
  struct masks *m = mem_new(1, sizeof *m, "masks", e);
  if (!m) return NULL;
  *m = (struct masks){.references = 1, .n = n, .capacity = n, .size = size, .bytes = map->bytes + at};
  m->map = map_share(map);
  return m;
}

void masks_drop(struct masks *m)
{
  if (!m || !was_last(&m->references)) return;
  if (!m->map && !m->pile.folder) r4_mem_free(m->bytes);
  map_drop(m->map);
  map_pile_clear(&m->pile);
  r4_mem_free(m->table);
  r4_mem_free(m);
}

const uint8_t *masks_at(const struct masks *m, uint32_t number)
{
  return m->bytes + number * m->size;
}

/* FNV-1a over words of eight bytes: spreads masks over the table, nothing more. */
static uint64_t spread(const uint8_t *bytes, size_t n)
{
  uint64_t h = 0xcbf29ce484222325u;
  for (; n;) {
    uint64_t word = 0;
    size_t step = n < sizeof word ? n : sizeof word;
    memcpy(&word, bytes, step);
    h = (h ^ word) * 0x100000001b3u;
    h ^= h >> 29;
    bytes += step;
    n -= step;
  }
  return h;
}

/* Where in the table the mask is, or where it belongs. */
static size_t slot_of(const struct masks *m, const uint32_t *table, size_t slots, const uint8_t *bytes)
{
  size_t at = (size_t)spread(bytes, m->size) & (slots - 1);
  while (table[at] && memcmp(masks_at(m, table[at]), bytes, m->size)) at = (at + 1) & (slots - 1);
  return at;
}

static r4_status grow(struct masks *m, r4_error *e)
{
  size_t bytes = 0;
  if (__builtin_mul_overflow(2 * m->capacity, m->size, &bytes)) return R4_E_MEMORY;
  if (m->pile.folder) {
    r4_status s = map_pile_grow(&m->pile, bytes, e);
    if (s) return s;
    m->bytes = m->pile.bytes;
  } else {
    uint8_t *grown = r4_mem_grow(m->bytes, bytes, 1);
    if (!grown) return R4_E_MEMORY;
    m->bytes = grown;
  }
  m->capacity *= 2;
  return R4_OK;
}

static r4_status room_for_one(struct masks *m, r4_error *e)
{
  r4_status s = m->n == m->capacity ? grow(m, e) : R4_OK;
  if (s || 2 * m->n < m->slots) return s;
  uint32_t *table = r4_mem_new(2 * m->slots, sizeof *table);
  if (!table) return R4_E_MEMORY;
  for (uint32_t k = 1; k < m->n; k++) table[slot_of(m, table, 2 * m->slots, masks_at(m, k))] = k;
  r4_mem_free(m->table);
  m->table = table;
  m->slots *= 2;
  return R4_OK;
}

r4_status masks_add(struct masks *m, const uint8_t *bytes, uint32_t *number, r4_error *e)
{
  if (!m->table) return r4_fail(e, R4_E_INTERNAL, "masks of a mapped file do not change");
  if (!memcmp(bytes, m->bytes, m->size)) {
    *number = 0;
    return R4_OK;
  }
  r4_status s = m->n < UINT32_MAX / 4 ? room_for_one(m, e) : R4_E_MEMORY;
  if (s == R4_E_MEMORY) return r4_fail(e, s, "out of memory for mask %zu", m->n);
  if (s) return s;
  size_t at = slot_of(m, m->table, m->slots, bytes);
  if (!m->table[at]) {
    memcpy(m->bytes + m->n * m->size, bytes, m->size);
    m->table[at] = (uint32_t)m->n++;
  }
  *number = m->table[at];
  return R4_OK;
}

/* ---- Names ---- */

struct names *names_new(r4_error *e)
{
  struct names *l = mem_new(1, sizeof *l, "a list of names", e);
  if (l) l->references = 1;
  return l;
}

void names_drop(struct names *l)
{
  if (!l || !was_last(&l->references)) return;
  for (size_t k = 0; k < l->n; k++) r4_mem_free(l->name[k]);
  r4_mem_free(l->name);
  r4_mem_free(l);
}

r4_status names_add(struct names *l, const char *name, uint32_t *number, r4_error *e)
{
  if (mem_more(&l->name, &l->capacity, l->n + 1, sizeof *l->name, "names", e)) return R4_E_MEMORY;
  char *kept = mem_copy(name, e);
  if (!kept) return R4_E_MEMORY;
  if (number) *number = (uint32_t)l->n;
  l->name[l->n++] = kept;
  return R4_OK;
}

bool names_find(const struct names *l, const char *name, uint32_t *number)
{
  for (size_t k = 0; k < l->n; k++) {
    if (strcmp(l->name[k], name)) continue;
    *number = (uint32_t)k;
    return true;
  }
  return false;
}
