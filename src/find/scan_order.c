/* Order: what a shortcut is like comes first, and the fewest that say it all. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "find/scan.h"

/* Shares of the level: the most extreme places of a region are few and find what moves; pure sets are what shortcuts
 * are like. */
static const double weight[FAMILIES][SET_KINDS] = {
  [FAMILY_EXTREME] = {[SET_PURE] = .4, [SET_MOSTLY] = .1, [SET_SAME] = .05},
  [FAMILY_MEAN] = {[SET_PURE] = .04, [SET_MOSTLY] = .04, [SET_SAME] = .02},
  [FAMILY_CELL] = {[SET_PURE] = .15, [SET_MOSTLY] = .1, [SET_SAME] = .05},
  [FAMILY_FILE] = {[SET_PURE] = .02, [SET_MOSTLY] = .02, [SET_SAME] = .01},
};

/* log(p tests / weight) */
static double corrected(const struct scan *s, const struct telling *t)
{
  enum place_family f = scan_family(s, t->cue);
  return t->log_p + log((double)s->tests[f][t->kind] / weight[f][t->kind]);
}

/* ---- Order ---- */

bool scan_is_pure(const struct telling *t)
{
  return 50 * (t->m - t->of_class) <= t->m;
}

bool scan_is_local(const struct scan *s, uint32_t cue)
{
  if (cue >= s->cues) return false;
  struct image_cue q = image_cue_at(&s->g, cue);
  return q.cell || q.extreme;
}

/* Pure and at a place of the border; pure, at a place or of the file; pure; any. */
static int rank_of(const struct scan *s, const struct telling *t)
{
  if (!scan_is_pure(t)) return 3;
  if (t->cue >= s->cues) return 1;
  struct image_cue q = image_cue_at(&s->g, t->cue);
  return !scan_is_local(s, t->cue)                                                     ? 2
         : image_cue_is_outside(&s->g, &q) || (!q.cell && q.region == REGION_ANYWHERE) ? 0
                                                                                       : 1;
}

static int before(const void *a, const void *b)
{
  const struct ordered *x = a, *y = b;
  if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
  if (x->log_p != y->log_p) return x->log_p < y->log_p ? -1 : 1;
  if (x->t->cue != y->t->cue) return x->t->cue < y->t->cue ? -1 : 1;
  return x->t < y->t ? -1 : x->t > y->t;
}

static struct ordered *in_order(const struct scan *s, size_t *n)
{
  struct ordered *all = mem_new(s->tries.n ? s->tries.n : 1, sizeof *all, "what tells", s->e);
  *n = 0;
  for (size_t k = 0; all && k < s->tries.n; k++) {
    const struct telling *t = s->tries.at + k;
    double log_p = corrected(s, t);
    if (log_p <= log(s->o->level)) all[(*n)++] = (struct ordered){t, rank_of(s, t), log_p};
  }
  if (all) qsort(all, *n, sizeof *all, before);
  return all;
}

/* ---- The fewest that say it all ---- */

static size_t mark(struct scan *s, const struct telling *t, bool *shows)
{
  size_t n = 0;
  scan_values(s, t->cue);
  for (size_t k = 0; k < s->n; k++) n += shows[k] = s->value[k] >= t->low && s->value[k] <= t->high;
  return n;
}

/* Half of the photos of either are those of the other. */
static bool is_told(const struct scan *s, const struct ordered *kept, size_t n, const bool *shows,
                    const bool *told)
{
  const struct telling *t = kept[n].t;
  for (size_t j = 0; j < n; j++) {
    size_t common = 0, less = kept[j].t->m < t->m ? kept[j].t->m : t->m;
    for (size_t k = 0; k < s->n; k++) common += shows[k] && told[j * s->n + k];
    if (kept[j].t->label == t->label && 2 * common >= less) return true;
  }
  return false;
}

/* Moves those that are kept to the front of all. */
static r4_status choose(struct scan *s, struct ordered *all, size_t n, size_t *kept)
{
  bool *told = mem_new(s->o->most, s->n, "what tells", s->e);
  *kept = 0;
  if (!told) return R4_E_MEMORY;
  for (size_t k = 0; k < n && *kept < s->o->most; k++) {
    all[*kept] = all[k];
    mark(s, all[k].t, told + *kept * s->n);
    *kept += !is_told(s, all, *kept, told + *kept * s->n, told);
  }
  r4_mem_free(told);
  return R4_OK;
}

r4_status scan_order(struct scan *s, struct ordered **all, size_t *kept)
{
  size_t n = 0;
  *all = in_order(s, &n);
  r4_status status = *all ? choose(s, *all, n, kept) : R4_E_MEMORY;
  if (!status) return R4_OK;
  r4_mem_free(*all);
  *all = NULL;
  return status;
}
