/* The order of the list: what a net leans on and what leads, and one of each class among the first. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "find/find.h"

/* ---- With a net ---- */

enum { LEADS_AND_LEANS, CLUSTER, LEADS, LEANS, REST, TIERS };

static int tier_of(const struct clue *c)
{
  bool leans = found_leans(&c->is);
  if (c->is.kind == R4_CLUE_CLUSTER) return CLUSTER;
  if (c->leads) return leans ? LEADS_AND_LEANS : LEADS;
  return leans && c->is.local ? LEANS : REST;
}

bool found_leans(const r4_clue *c)
{
  static const double LEAST = .05;
  return c->lean >= LEAST && c->lean > 2 * c->lean_se; /* not if it is NaN */
}

r4_status found_merge(struct r4_found *f, size_t found, size_t most, r4_error *e)
{
  struct clue *was = mem_new(f->n + 1, sizeof *was, "clues", e);
  bool *put = mem_new(f->n + 1, sizeof *put, "clues", e);
  size_t n = 0, all = f->n, clusters = all - found, half = (most + 1) / 2;
  size_t leading = most > clusters ? most - clusters : 0;
  r4_status s = was && put ? R4_OK : R4_E_MEMORY;
  if (leading < half) leading = half;
  if (!s && all) memcpy(was, f->at, all * sizeof *was);
  for (int tier = 0; !s && tier <= TIERS; tier++) /* then all that are left */
    for (size_t k = 0; k < all; k++) {
      bool leads = tier == LEADS_AND_LEANS || tier == LEADS;
      if (put[k] || (tier < TIERS && tier_of(was + k) != tier) || (leads && !leading)) continue;
      leading -= leads;
      put[k] = true;
      f->at[n++] = was[k];
    }
  while (!s && f->n > most) found_drop(f);
  r4_mem_free(was);
  r4_mem_free(put);
  return s;
}

/* ---- The first few ---- */

/* Whether a clue of the label is among the first k. */
static bool has_before(const struct r4_found *f, size_t k, int32_t label)
{
  for (size_t j = 0; j < k; j++)
    if (f->at[j].is.label == label) return true;
  return false;
}

/* Marks the first of each class, then the first of all others, until FOUND_FIRST are marked. */
static void mark_first(const struct r4_found *f, bool *first)
{
  size_t n = 0;
  for (int of_each = 1; of_each >= 0; of_each--)
    for (size_t k = 0; k < f->n && n < FOUND_FIRST; k++) {
      if (first[k] || (of_each && has_before(f, k, f->at[k].is.label))) continue;
      first[k] = true;
      n++;
    }
}

r4_status found_spread(struct r4_found *f, r4_error *e)
{
  struct clue *was = mem_new(f->n + 1, sizeof *was, "clues", e);
  bool *first = mem_new(f->n + 1, sizeof *first, "clues", e);
  size_t n = 0;
  if (was && first) {
    if (f->n) memcpy(was, f->at, f->n * sizeof *was);
    mark_first(f, first);
    for (int chosen = 1; chosen >= 0; chosen--)
      for (size_t k = 0; k < f->n; k++)
        if (first[k] == chosen) f->at[n++] = was[k];
  }
  r4_status s = was && first ? R4_OK : R4_E_MEMORY;
  r4_mem_free(was);
  r4_mem_free(first);
  return s;
}
