/* Examples that occur in two splits: a network that has seen them in training is not tested by them. Two examples
 * are the same when their values are (compared by SHA-256) or when they have the same id. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/overlap.h"

static int compare(const void *a, const void *b)
{
  const struct overlap_key *p = a, *q = b;
  int order = memcmp(p->digest, q->digest, sizeof p->digest);
  return order ? order : (p->example > q->example) - (p->example < q->example);
}

bool overlap_same(const struct overlap_key *a, const struct overlap_key *b)
{
  return !memcmp(a->digest, b->digest, sizeof a->digest);
}

struct overlap_key *overlap_keys(const r4_data *d, r4_error *e)
{
  struct overlap_key *key = mem_new(d->n ? d->n : 1, sizeof *key, "comparing examples", e);
  if (!key) return NULL;
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < d->n; i++) {
    key[i].example = (uint32_t)i;
    data_digest(d, i, key[i].digest);
  }
  qsort(key, d->n, sizeof *key, compare);
  return key;
}

/* Of all that are the same, the test set keeps its own, else validation: other splits' examples are marked. twin is
 * the first one that stays. */
struct meeting {
  uint8_t last;  /* the split that keeps its own */
  uint32_t twin; /* its first example            */
};

static void meet(struct meeting *m, const r4_data *d, uint32_t example)
{
  uint8_t split = d->record[example].split;
  if (m->twin != OVERLAP_NONE && split <= m->last) return;
  *m = (struct meeting){split, example};
}

static void mark(uint32_t *twin, const r4_data *d, uint32_t example, struct meeting m)
{
  if (d->record[example].split < m.last && twin[example] == OVERLAP_NONE) twin[example] = m.twin;
}

static r4_status by_values(const r4_data *d, uint32_t *twin, r4_error *e)
{
  struct overlap_key *key = overlap_keys(d, e);
  if (!key) return R4_E_MEMORY;
  for (size_t first = 0, end; first < d->n; first = end) {
    struct meeting m = {.twin = OVERLAP_NONE};
    for (end = first; end < d->n && overlap_same(key + end, key + first); end++)
      meet(&m, d, key[end].example);
    for (size_t k = first; k < end; k++) mark(twin, d, key[k].example, m);
  }
  r4_mem_free(key);
  return R4_OK;
}

static r4_status by_id(const r4_data *d, uint32_t *twin, r4_error *e)
{
  size_t ids = d->ids ? d->ids->n : 0;
  struct meeting *m = mem_new(ids ? ids : 1, sizeof *m, "comparing ids", e);
  if (!m) return R4_E_MEMORY;
  for (size_t k = 0; k < ids; k++) m[k].twin = OVERLAP_NONE;
  for (size_t i = 0; i < d->n; i++)
    if (d->record[i].id < ids) meet(m + d->record[i].id, d, (uint32_t)i);
  for (size_t i = 0; i < d->n; i++)
    if (d->record[i].id < ids) mark(twin, d, (uint32_t)i, m[d->record[i].id]);
  r4_mem_free(m);
  return R4_OK;
}

r4_status overlap_find(const r4_data *d, uint32_t *twin, size_t *n, r4_error *e)
{
  for (size_t i = 0; i < d->n; i++) twin[i] = OVERLAP_NONE;
  r4_status s = by_values(d, twin, e);
  if (!s) s = by_id(d, twin, e);
  *n = 0;
  for (size_t i = 0; !s && i < d->n; i++) *n += twin[i] != OVERLAP_NONE;
  return s;
}

static uint32_t *new_twins(const r4_data *d, r4_error *e)
{
  return mem_new(d->n ? d->n : 1, sizeof(uint32_t), "comparing examples", e);
}

static r4_status refuse(const r4_data *d, const uint32_t *twin, size_t n, r4_error *e)
{
  uint32_t i = 0;
  while (twin[i] == OVERLAP_NONE) i++;
  r4_example a = r4_data_example(d, i), b = r4_data_example(d, twin[i]);
  bool same_id = a.id && b.id && !strcmp(a.id, b.id);
  return r4_fail(
    e, R4_E_ARGUMENT,
    "%zu examples occur in a later split as well: %s example %u%s%s%s and %s example %u%s%s%s have the "
    "same %s%s",
    n, split_titles[a.split], i, a.file ? " (" : "", a.file ? a.file : "", a.file ? ")" : "",
    split_titles[b.split], twin[i], b.file ? " (" : "", b.file ? b.file : "", b.file ? ")" : "",
    same_id ? "id " : "values", same_id ? a.id : "");
}

r4_status r4_data_check_overlap(const r4_data *d, r4_error *e)
{
  NEEDS(d, "data", R4_E_ARGUMENT);
  size_t n = 0;
  uint32_t *twin = new_twins(d, e);
  if (!twin) return R4_E_MEMORY;
  r4_status s = overlap_find(d, twin, &n, e);
  if (!s && n) s = refuse(d, twin, n, e);
  r4_mem_free(twin);
  return s;
}

r4_data *r4_data_drop_overlap(const r4_data *d, size_t *dropped, r4_error *e)
{
  NEEDS(d, "data", NULL);
  size_t n = 0, left = 0;
  r4_data *rest = NULL;
  uint32_t *twin = new_twins(d, e);
  size_t *keep = mem_new(d->n ? d->n : 1, sizeof *keep, "a view of examples", e);
  if (twin && keep && !overlap_find(d, twin, &n, e)) {
    for (size_t i = 0; i < d->n; i++)
      if (twin[i] == OVERLAP_NONE) keep[left++] = i;
    rest = r4_data_subset(d, left, keep, e);
    if (dropped) *dropped = n;
  }
  r4_mem_free(twin);
  r4_mem_free(keep);
  return rest;
}
