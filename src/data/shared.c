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

struct masks *masks_new(size_t size, r4_error *e)
{
  struct masks *m = mem_new(1, sizeof *m, "masks", e);
  uint8_t *none = mem_new(size, 1, "masks", e);
  uint32_t *table = mem_new(64, sizeof *table, "masks", e);
  if (!m || !none || !table) {
    r4_mem_free(m);
    r4_mem_free(none);
    r4_mem_free(table);
    return NULL;
  }
  *m = (struct masks){
    .references = 1, .n = 1, .capacity = 1, .size = size, .bytes = none, .table = table, .slots = 64};
  return m;
}

void masks_drop(struct masks *m)
{
  if (!m || !was_last(&m->references)) return;
  r4_mem_free(m->bytes);
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

static bool room_for_one(struct masks *m)
{
  if (m->n == m->capacity) {
    size_t bytes = 0;
    if (__builtin_mul_overflow(2 * m->capacity, m->size, &bytes)) return false;
    uint8_t *grown = r4_mem_grow(m->bytes, bytes, 1);
    if (!grown) return false;
    m->bytes = grown;
    m->capacity *= 2;
  }
  if (2 * m->n < m->slots) return true;
  uint32_t *table = r4_mem_new(2 * m->slots, sizeof *table);
  if (!table) return false;
  for (uint32_t k = 1; k < m->n; k++) table[slot_of(m, table, 2 * m->slots, masks_at(m, k))] = k;
  r4_mem_free(m->table);
  m->table = table;
  m->slots *= 2;
  return true;
}

r4_status masks_add(struct masks *m, const uint8_t *bytes, uint32_t *number, r4_error *e)
{
  if (!memcmp(bytes, m->bytes, m->size)) {
    *number = 0;
    return R4_OK;
  }
  if (m->n >= UINT32_MAX / 4 || !room_for_one(m))
    return r4_fail(e, R4_E_MEMORY, "out of memory for mask %zu", m->n);
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
