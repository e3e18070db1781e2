/* Views: the same values under fewer records. */
#include <string.h>

#include "base/mem.h"
#include "base/purpose.h"
#include "data/choose.h"

r4_data *r4_data_subset(const r4_data *d, size_t n, const size_t *examples, r4_error *e)
{
  NEEDS(d, "data", NULL);
  NEEDS(examples || !n, "examples", NULL);
  for (size_t k = 0; k < n; k++) {
    if (examples[k] < d->n) continue;
    r4_fail(e, R4_E_ARGUMENT, "subset: example %zu, expected 0 to %zu", examples[k], d->n - 1);
    return NULL;
  }
  r4_data *view = data_derive(d, e);
  struct record *record = view ? mem_new(n ? n : 1, sizeof *record, "a view of examples", e) : NULL;
  if (!record) {
    r4_data_free(view);
    return NULL;
  }
  for (size_t k = 0; k < n; k++) record[k] = d->record[examples[k]];
  r4_mem_free(view->record);
  view->record = record;
  view->n = n;
  return view;
}

/* The examples for which keep is not zero. */
static r4_data *subset_where(const r4_data *d, const uint8_t *keep, r4_error *e)
{
  size_t *examples = mem_new(d->n ? d->n : 1, sizeof *examples, "a view of examples", e), n = 0;
  if (!examples) return NULL;
  for (size_t i = 0; i < d->n; i++)
    if (keep[i]) examples[n++] = i;
  r4_data *view = r4_data_subset(d, n, examples, e);
  r4_mem_free(examples);
  return view;
}

r4_data *r4_data_part(const r4_data *d, r4_split split, r4_error *e)
{
  NEEDS(d, "data", NULL);
  if ((unsigned)split >= R4_SPLITS) {
    r4_fail(e, R4_E_ARGUMENT, "r4_data_part: split %d, expected 0 to %d", (int)split, R4_SPLITS - 1);
    return NULL;
  }
  uint8_t *keep = mem_new(d->n ? d->n : 1, 1, "a view of examples", e);
  if (!keep) return NULL;
  for (size_t i = 0; i < d->n; i++) keep[i] = d->record[i].split == split;
  r4_data *view = subset_where(d, keep, e);
  r4_mem_free(keep);
  return view;
}

r4_data *r4_data_fraction(const r4_data *d, double share, uint64_t seed, r4_error *e)
{
  NEEDS(d, "data", NULL);
  r4_data *view = NULL;
  uint32_t *stratum = mem_new(d->n ? d->n : 1, sizeof *stratum, "choosing among examples", e);
  uint8_t *keep = mem_new(d->n ? d->n : 1, 1, "choosing among examples", e);
  if (stratum && keep) {
    choose_strata(d, stratum);
    r4_random key = {.seed = seed, .purpose = PURPOSE_FRACTION};
    if (!choose_share(d->n, stratum, share, key, keep, e)) {
      for (size_t i = 0; i < d->n; i++) keep[i] |= d->record[i].split != R4_TRAIN;
      view = subset_where(d, keep, e);
    }
  }
  r4_mem_free(stratum);
  r4_mem_free(keep);
  return view;
}
