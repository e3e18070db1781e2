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

bool scan_is_name(const struct scan *s, uint32_t cue)
{
  return cue >= s->cues && file_cue_is_name(cue - s->cues);
}

enum { FIRST, OUTSIDE, AT_PLACE, PURE, ANY, NAMES };

/* Something that divides the classes; pure and at a place of the border; pure, at a place or of the file; pure; any;
 * what files are called, which no net sees. */
static int rank_of(const struct scan *s, const struct telling *t)
{
  if (scan_is_name(s, t->cue)) return NAMES;
  if (scan_is_content(s, t)) return FIRST;
  if (!scan_is_pure(t)) return ANY;
  if (t->cue >= s->cues) return AT_PLACE;
  struct image_cue q = image_cue_at(&s->g, t->cue);
  return !scan_is_local(s, t->cue)                                                     ? PURE
         : image_cue_is_outside(&s->g, &q) || (!q.cell && q.region == REGION_ANYWHERE) ? OUTSIDE
                                                                                       : AT_PLACE;
}

static int before(const void *a, const void *b)
{
  const struct ordered *x = a, *y = b;
  if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
  if (x->log_p != y->log_p) return x->log_p < y->log_p ? -1 : 1;
  if (x->t->cue != y->t->cue) return x->t->cue < y->t->cue ? -1 : 1;
  return x->t < y->t ? -1 : x->t > y->t;
}

/* Ranks them, without absences, and of file names with the first alone: they are one finding. */
static size_t rank_all(struct scan *s, struct ordered *all, size_t n)
{
  size_t kept = 0;
  for (size_t k = 0; k < n; k++) {
    all[k].rank = rank_of(s, all[k].t);
    if (!scan_is_absence(s, all[k].t)) all[kept++] = all[k];
  }
  qsort(all, kept, sizeof *all, before);
  s->names = 0;
  while (s->names < kept && all[kept - 1 - s->names].rank == NAMES) s->names++;
  return s->names ? kept - s->names + 1 : kept;
}

static struct ordered *in_order(struct scan *s, size_t *n)
{
  struct ordered *all = mem_new(s->tries.n ? s->tries.n : 1, sizeof *all, "what tells", s->e);
  size_t tell = 0;
  for (size_t k = 0; all && k < s->tries.n; k++) {
    const struct telling *t = s->tries.at + k;
    double log_p = corrected(s, t);
    if (log_p <= log(s->o->level)) all[tell++] = (struct ordered){.t = t, .log_p = log_p};
  }
  if (!all) return NULL;
  scan_divide(s, all, tell);
  *n = rank_all(s, all, tell);
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

/* Whether what is seen at the place of a set that divides can be what the cue of t sees. */
static bool reaches(const struct scan *s, const struct ordered *kept, const struct telling *t)
{
  if (kept->rank != FIRST) return true;
  if (t->cue >= s->cues) return false;
  struct image_cue q = image_cue_at(&s->g, t->cue);
  return q.cell ? s->divides[q.place] != NULL : image_cue_has(&s->g, &q, image_cue_at(&s->g, kept->t->cue).place);
}

/* Half of the photos of either are those of the other. A set that divides has most of its class, so that it has most of
 * any other set of that class: of what is seen elsewhere, half of the larger must be shared. */
static bool is_told(const struct scan *s, const struct ordered *kept, size_t n, const bool *shows,
                    const bool *told)
{
  const struct telling *t = kept[n].t;
  if (scan_is_name(s, t->cue)) return false;
  for (size_t j = 0; j < n; j++) {
    bool smaller = kept[j].t->m < t->m;
    size_t common = 0, of = smaller == reaches(s, kept + j, t) ? kept[j].t->m : t->m;
    for (size_t k = 0; k < s->n; k++) common += shows[k] && told[j * s->n + k];
    if (kept[j].t->label == t->label && 2 * common >= of) return true;
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
