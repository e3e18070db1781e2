/* Order: what a shortcut is like comes first, and the fewest that say it all. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "find/giveaway.h"
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

static struct giveaway giveaway_of(const struct telling *t)
{
  return (struct giveaway){t->m, t->of_class, t->ranked, t->ranked_of_class};
}

bool scan_is_pure(const struct telling *t)
{
  return giveaway_is_pure(giveaway_of(t));
}

bool scan_leads(const struct telling *t)
{
  return giveaway_leads(giveaway_of(t));
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

enum { FIRST, OUTSIDE, ANYWHERE, AT_PLACE, LEADING, ANY, NAMES };

/* Something that divides the classes; what leads (pure, or much of a class) at a place of the border; anywhere; at
 * another place or of the file; what leads; any; what files are called, which no net sees. */
static int rank_of(const struct scan *s, const struct telling *t)
{
  if (scan_is_name(s, t->cue)) return NAMES;
  if (scan_is_content(s, t)) return FIRST;
  if (!scan_leads(t)) return ANY;
  if (t->cue >= s->cues) return AT_PLACE;
  struct image_cue q = image_cue_at(&s->g, t->cue);
  if (!scan_is_local(s, t->cue)) return LEADING;
  if (image_cue_is_outside(&s->g, &q)) return OUTSIDE;
  return !q.cell && q.region == REGION_ANYWHERE ? ANYWHERE : AT_PLACE;
}

static int before(const void *a, const void *b)
{
  const struct ordered *x = a, *y = b;
  if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
  if (x->rank == ANY && x->share != y->share) return x->share > y->share ? -1 : 1;
  if (x->order != y->order) return x->order < y->order ? -1 : 1;
  if (x->t->cue != y->t->cue) return x->t->cue < y->t->cue ? -1 : 1;
  return x->t < y->t ? -1 : x->t > y->t;
}

/* Ranks them, without absences, and of file names with the first alone: they are one finding. */
static size_t rank_all(struct scan *s, struct ordered *all, size_t n)
{
  size_t kept = 0;
  for (size_t k = 0; k < n; k++) {
    all[k].rank = rank_of(s, all[k].t);
    all[k].share = giveaway_share(giveaway_of(all[k].t));
    all[k].order = all[k].rank == FIRST ? all[k].log_p : giveaway_order(giveaway_of(all[k].t), all[k].log_p);
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

/* The same cell or one next to it: of one frame or stamp. */
static bool is_near(const struct scan *s, uint32_t one, uint32_t other)
{
  if (one >= s->cues || other >= s->cues) return false;
  struct image_cue p = image_cue_at(&s->g, one), q = image_cue_at(&s->g, other);
  if (!p.cell || !q.cell) return false;
  size_t down = p.place / s->g.columns, across = p.place % s->g.columns;
  size_t y = q.place / s->g.columns, x = q.place % s->g.columns;
  return down <= y + 1 && y <= down + 1 && across <= x + 1 && x <= across + 1;
}

/* A set that divides has most of its class, so that it has most of any other set of that class: of what is seen
 * elsewhere, half of the larger must be shared, too. Of what is near, half of the smaller is enough. */
static bool says_again(const struct scan *s, const struct ordered *kept, const struct telling *t, const bool *shows,
                       const bool *told)
{
  size_t common = 0, of_class = 0, smaller = kept->t->m < t->m ? kept->t->m : t->m;
  for (size_t k = 0; k < s->n; k++) {
    common += shows[k] && told[k];
    of_class += shows[k] && told[k] && s->label[k] == t->label;
  }
  if (is_near(s, kept->t->cue, t->cue) && 2 * common >= smaller) return true;
  if (!reaches(s, kept, t) && 2 * common < kept->t->m + t->m - smaller) return false;
  return giveaway_is_told(t->of_class, kept->t->of_class, of_class, t->ranked_of_class);
}

/* The first of n that says what t does; n: none. */
static size_t told_by(const struct scan *s, const struct ordered *kept, size_t n, const struct telling *t,
                      const bool *shows, const bool *told)
{
  if (scan_is_name(s, t->cue)) return n;
  for (size_t j = 0; j < n; j++)
    if (kept[j].t->label == t->label && says_again(s, kept + j, t, shows, told + j * s->n)) return j;
  return n;
}

/* What leads says better what another one has said that has a larger p and gives away less than half as much, such as
 * a pure set of a few that have most of it: it takes that place. What is of the whole photo says no better where
 * something is. */
static bool says_better(const struct scan *s, const struct ordered *o, const struct ordered *than)
{
  if (scan_is_local(s, than->t->cue) && !scan_is_local(s, o->t->cue)) return false;
  return than->rank != FIRST && scan_leads(o->t) && o->order < than->order && o->share > 2 * than->share;
}

/* Moves those that are kept to the front of all. */
static r4_status choose(struct scan *s, struct ordered *all, size_t n, size_t *kept)
{
  bool *told = mem_new(s->o->most + 1, s->n, "what tells", s->e);
  *kept = 0;
  if (!told) return R4_E_MEMORY;
  for (size_t k = 0; k < n && *kept < s->o->most; k++) {
    struct ordered one = all[k];
    bool *shows = told + *kept * s->n;
    mark(s, one.t, shows);
    size_t by = told_by(s, all, *kept, one.t, shows, told);
    if (by < *kept && !says_better(s, &one, all + by)) continue;
    all[by] = one;
    if (by < *kept)
      memcpy(told + by * s->n, shows, s->n);
    else
      ++*kept;
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
