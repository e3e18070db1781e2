/* Which places of a scan divide, and which sets of them are worth telling. */
#include "find/scan.h"

static bool of_cell(const struct scan *s, uint32_t cue, struct image_cue *q)
{
  if (cue >= s->cues) return false;
  *q = image_cue_at(&s->g, cue);
  return q->cell;
}

/* Each feature of a cell has two cues, much and little of it, which are side by side. */
static struct division *division_at(struct scan *s, const struct image_cue *q)
{
  return s->division + q->place * CELL_FEATURES + q->feature;
}

static void divide(struct scan *s, uint32_t cue, const struct image_cue *q)
{
  struct division *d = division_at(s, q);
  if (d->tried) return;
  scan_values(s, q->low ? cue - 1 : cue);
  ranking_make(&s->ranking, s->value);
  *d = division_of(&s->ranking, q->feature, q->place, s->cells, s->usual);
}

bool scan_is_content(const struct scan *s, const struct telling *t)
{
  struct image_cue q;
  if (t->kind == SET_SAME || !of_cell(s, t->cue, &q)) return false;
  const struct division *d = s->division + q.place * CELL_FEATURES + q.feature;
  enum side side = q.low ? BELOW : ABOVE;
  return division_divides(d) && side == division_content(d) && t->label == d->label[side];
}

bool scan_is_absence(const struct scan *s, const struct telling *t)
{
  struct image_cue q;
  if (t->kind == SET_SAME || !of_cell(s, t->cue, &q) || !s->divides[q.place]) return false;
  return !scan_is_content(s, t) && t->label == division_absent(s->divides[q.place]);
}

/* A cell divides if the side that has something tells by itself: what is dropped for it is said by that. */
void scan_divide(struct scan *s, const struct ordered *all, size_t n)
{
  struct image_cue q;
  division_usual(s->n, s->g.rows * s->g.columns, s->cells, s->usual);
  for (size_t k = 0; k < n; k++) {
    if (!of_cell(s, all[k].t->cue, &q)) continue;
    divide(s, all[k].t->cue, &q);
    const struct division *d = division_at(s, &q), **best = s->divides + q.place;
    if (scan_is_content(s, all[k].t) && (!*best || d->apart > (*best)->apart)) *best = d;
  }
}
