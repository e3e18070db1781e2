/* Masks for all images that show a clue. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hypergeometric.h"
#include "base/mem.h"
#include "find/find.h"
#include "find/mask_draw.h"
#include "find/pixel_model.h"
#include "find/proposed.h"

enum { TEACHERS = 1000, EACH = 4, TOP = 50, ROUNDS = 2, LEAST = 5 };

/* A proposal in the making. */
struct proposing {
  const r4_data *d;
  const r4_clue *c;
  const r4_find_options *o;
  r4_error *e;
  struct pixel_model m;
  const r4_sighting **seen; /* [examples]: where the clue is seen; NULL: it is not, or at no place */
  float *score;             /* [examples] */
  double place[4];          /* where all sightings are; width 0: at many places */
  double cut;
};

/* ---- What is known ---- */

static r4_status note_sightings(struct proposing *p)
{
  size_t places = 0;
  p->seen = mem_new(p->d->n, sizeof *p->seen, "where a clue is seen", p->e);
  p->score = mem_new(p->d->n, sizeof *p->score, "where a clue is seen", p->e);
  if (!p->seen || !p->score) return R4_E_MEMORY;
  bool same = true;
  for (size_t k = 0; k < p->c->sightings; k++) {
    const r4_sighting *s = p->c->sighting + k;
    if (s->example >= p->d->n)
      return r4_fail(p->e, R4_E_ARGUMENT, "a clue of other data: there is no example %zu", s->example);
    if (!(s->box[2] > 0 && s->box[3] > 0)) continue;
    if (!places++) memcpy(p->place, s->box, sizeof p->place);
    same = same && !memcmp(p->place, s->box, sizeof p->place);
    p->seen[s->example] = s;
  }
  if (!same) p->place[2] = 0;
  if (places) return R4_OK;
  return r4_fail(p->e, R4_E_ARGUMENT, "%s: has no place in images that could be marked", p->c->id);
}

/* ---- Learning ---- */

static bool is_in(const double box[4], double u, double v)
{
  return u >= box[0] && u < box[0] + box[2] && v >= box[1] && v < box[1] + box[3];
}

/* Pixels of the clue's places: at first all of its box; later those of the map that are more like the clue. */
static void learn_places(const struct proposing *p, const struct pixel_room *r, const double box[4],
                         bool first, struct moments *to)
{
  const struct pixel_model *m = &p->m;
  for (size_t y = 0; y < m->height; y++)
    for (size_t x = 0; x < m->width; x++) {
      double u = ((double)x + .5) / (double)m->width, v = ((double)y + .5) / (double)m->height;
      size_t k = y * m->width + x;
      if (first ? is_in(box, u, v) : r->map[k] > 0) moments_add(to, m, r->z + k * m->numbers);
    }
}

static void learn_grid(const struct proposing *p, const struct pixel_room *r, struct moments *to)
{
  const struct pixel_model *m = &p->m;
  for (size_t y = EACH / 2; y < m->height; y += EACH)
    for (size_t x = EACH / 2; x < m->width; x += EACH)
      moments_add(to, m, r->z + (y * m->width + x) * m->numbers);
}

/* Images of other classes teach what else there is; if there are none, all in which the clue is not seen. */
static bool is_other(const struct proposing *p, size_t i, bool any)
{
  return !p->seen[i] && p->d->record[i].split == R4_TRAIN && (any || p->d->record[i].label != p->c->label);
}

static void learn_others(struct proposing *p, struct pixel_room *r, struct moments *to, bool any)
{
  size_t all = 0, taken = 0, at = 0;
  for (size_t i = 0; i < p->d->n; i++) all += is_other(p, i, any);
  size_t most = all < TEACHERS ? all : TEACHERS;
  for (size_t i = 0; i < p->d->n; i++) {
    if (!is_other(p, i, any)) continue;
    if (at++ != taken * all / most) continue;
    taken++;
    pixel_look(&p->m, p->d, i, r);
    learn_grid(p, r, to);
  }
}

static void learn_clue(struct proposing *p, struct pixel_room *r, bool first, struct moments *to)
{
  size_t most = p->c->sightings < TEACHERS ? p->c->sightings : TEACHERS;
  for (size_t j = 0; j < most; j++) {
    const r4_sighting *s = p->c->sighting + j * p->c->sightings / most;
    if (!(s->box[2] > 0)) continue;
    pixel_look(&p->m, p->d, s->example, r);
    if (!first) pixel_map(&p->m, r);
    learn_places(p, r, s->box, first, to);
  }
}

static r4_status learn(struct proposing *p)
{
  struct pixel_room room = {0};
  struct moments other = {.n = 0};
  r4_status s = pixel_room_new(&room, &p->m, p->e);
  if (s) return s;
  learn_others(p, &room, &other, false);
  if (other.n == 0) learn_others(p, &room, &other, true);
  double least = .002 * moments_spread(&other, p->m.numbers) + 1e-9;
  p->m.other = normal_of(&other, p->m.numbers, least);
  for (int round = 0; round < ROUNDS; round++) {
    struct moments clue = {.n = 0};
    learn_clue(p, &room, round == 0, &clue);
    if (clue.n > (double)p->m.numbers) p->m.clue = normal_of(&clue, p->m.numbers, least);
  }
  pixel_room_clear(&room);
  return R4_OK;
}

/* ---- Scores: the mean of the map over its most likely fiftieth, near the place if there is one ---- */

static int larger(const void *a, const void *b)
{
  float x = *(const float *)a, y = *(const float *)b;
  return x > y ? -1 : x < y;
}

static float score_of(const struct proposing *p, const struct pixel_room *r, float *room)
{
  const struct pixel_model *m = &p->m;
  const double *b = p->place, near[4] = {b[0] - b[2] / 2, b[1] - b[3] / 2, 2 * b[2], 2 * b[3]};
  size_t n = 0;
  for (size_t y = 0; y < m->height; y++)
    for (size_t x = 0; x < m->width; x++) {
      double u = ((double)x + .5) / (double)m->width, v = ((double)y + .5) / (double)m->height;
      if (!(b[2] > 0) || is_in(near, u, v)) room[n++] = r->map[y * m->width + x];
    }
  qsort(room, n, sizeof *room, larger);
  size_t top = m->height * m->width / TOP;
  top = top < 1 ? 1 : top > n ? n : top;
  double sum = 0;
  for (size_t k = 0; k < top; k++) sum += (double)room[k];
  return (float)(sum / (double)top);
}

static r4_status score_all(struct proposing *p)
{
  enum { AT_ONCE = 256 };
  r4_status status = R4_OK;
  for (size_t from = 0; !status && from < p->d->n; from += AT_ONCE) {
    size_t to = from + AT_ONCE < p->d->n ? from + AT_ONCE : p->d->n, failed = 0;
#pragma omp parallel reduction(+ : failed)
    {
      struct pixel_room room = {0};
      float *values = r4_mem_new(p->m.height * p->m.width, sizeof *values);
      bool works = values && !pixel_room_new(&room, &p->m, NULL);
      failed += !works;
#pragma omp for schedule(static)
      for (size_t i = from; i < to; i++) {
        if (!works) continue;
        pixel_look(&p->m, p->d, i, &room);
        pixel_map(&p->m, &room);
        p->score[i] = score_of(p, &room, values);
      }
      pixel_room_clear(&room);
      r4_mem_free(values);
    }
    if (failed) status = r4_fail(p->e, R4_E_MEMORY, "out of memory for looking at images");
    find_report(p->o, "matching", to, p->d->n);
  }
  return status;
}

/* ---- Where the list ends: where the label is told best ---- */

struct scored {
  float score;
  uint32_t example;
};

static int higher(const void *a, const void *b)
{
  const struct scored *x = a, *y = b;
  if (x->score != y->score) return x->score > y->score ? -1 : 1;
  return x->example < y->example ? -1 : x->example > y->example;
}

/* The first m of training, by score, have k of the class: m is where P(X >= k) is least. */
static r4_status find_cut(struct proposing *p)
{
  size_t n = 0, of = 0, k = 0;
  double best = 0;
  struct scored *all = mem_new(p->d->n, sizeof *all, "scores", p->e);
  if (!all) return R4_E_MEMORY;
  for (size_t i = 0; i < p->d->n; i++) {
    if (p->d->record[i].split != R4_TRAIN && !p->o->all) continue;
    all[n++] = (struct scored){p->score[i], (uint32_t)i};
    of += p->d->record[i].label == p->c->label;
  }
  qsort(all, n, sizeof *all, higher);
  p->cut = INFINITY;
  for (size_t m = 1; m <= n; m++) {
    k += p->d->record[all[m - 1].example].label == p->c->label;
    if (m < LEAST || (m < n && all[m].score == all[m - 1].score)) continue;
    double log_p = hypergeometric_tail(n, of, m, k);
    if (log_p < best) best = log_p, p->cut = (double)all[m - 1].score;
  }
  r4_mem_free(all);
  return R4_OK;
}

/* ---- The list ---- */

static r4_status add_mask(struct proposing *p, struct r4_proposed *to, size_t i, struct pixel_room *room,
                          uint32_t *space)
{
  size_t pixels = p->m.height * p->m.width;
  if (mem_more(&to->at, &to->room, to->n + 1, sizeof *to->at, "masks", p->e)) return R4_E_MEMORY;
  uint8_t *mask = mem_new(pixels, 1, "a mask", p->e);
  if (!mask) return R4_E_MEMORY;
  pixel_look(&p->m, p->d, i, room);
  pixel_map(&p->m, room);
  const struct mask_draw draw = {p->m.height, p->m.width, room->map, p->place[2] > 0 ? p->place : NULL,
                                 space};
  double area = mask_draw(&draw, mask);
  to->at[to->n++] = (struct proposed){{i, (double)p->score[i], area, 0}, mask};
  return R4_OK;
}

static bool is_listed(const struct proposing *p, size_t i)
{
  return p->seen[i] || (double)p->score[i] >= p->cut;
}

static r4_status draw_all(struct proposing *p, struct r4_proposed *to)
{
  struct pixel_room room = {0};
  size_t listed = 0;
  uint32_t *space = mem_new(p->m.height * p->m.width, 2 * sizeof *space, "parts of a mask", p->e);
  r4_status s = space ? pixel_room_new(&room, &p->m, p->e) : R4_E_MEMORY;
  for (size_t i = 0; i < p->d->n; i++) listed += is_listed(p, i);
  for (size_t i = 0; !s && i < p->d->n; i++) {
    if (!is_listed(p, i)) continue;
    s = add_mask(p, to, i, &room, space);
    if (to->n % 20 == 0 || to->n == listed) find_report(p->o, "proposing", to->n, listed);
  }
  pixel_room_clear(&room);
  r4_mem_free(space);
  return s;
}

static int less_sure(const void *a, const void *b)
{
  const struct proposed *x = a, *y = b;
  if (x->is.sure != y->is.sure) return x->is.sure < y->is.sure ? -1 : 1;
  return x->is.example < y->is.example ? -1 : x->is.example > y->is.example;
}

/* sure = 1 - exp(-|score - cut| / s), s their mean distance; nothing is marked: 0. Then scores from 1 to 0. */
static void order(struct r4_proposed *to, double cut)
{
  double low = INFINITY, high = -INFINITY, distance = 0;
  for (size_t k = 0; k < to->n; k++) {
    low = fmin(low, to->at[k].is.score);
    high = fmax(high, to->at[k].is.score);
    distance += fabs(to->at[k].is.score - cut) / (double)to->n;
  }
  for (size_t k = 0; k < to->n; k++) {
    r4_proposal *is = &to->at[k].is;
    is->sure = is->area > 0 && distance > 0 ? 1 - exp(-fabs(is->score - cut) / distance) : 0;
    is->score = high > low ? (is->score - low) / (high - low) : 1;
  }
  if (to->n) qsort(to->at, to->n, sizeof *to->at, less_sure);
}

static r4_status propose(struct proposing *p, struct r4_proposed *to)
{
  r4_status s = note_sightings(p);
  if (!s) s = learn(p);
  if (!s) s = score_all(p);
  if (!s) s = find_cut(p);
  if (!s) s = draw_all(p, to);
  if (!s && isinf(p->cut)) p->cut = to->n ? to->at[0].is.score : 0;
  if (!s) order(to, p->cut);
  r4_mem_free(p->seen);
  r4_mem_free(p->score);
  return s;
}

r4_proposed *r4_find_propose(const r4_data *d, const r4_clue *c, const r4_find_options *options, r4_error *e)
{
  NEEDS(d, "data", NULL);
  NEEDS(c, "a clue", NULL);
  r4_find_options o = find_options(options);
  if (data_x(d)->shape.rank != 3 || data_x(d)->is->ids) {
    r4_fail(e, R4_E_ARGUMENT,
            "masks are proposed for images; of texts, data.mask_words says what must not matter");
    return NULL;
  }
  struct proposing p = {.d = d, .c = c, .o = &o, .e = e, .m = pixel_model_of(d)};
  struct r4_proposed *to = mem_new(1, sizeof *to, "masks", e);
  if (to) to->height = p.m.height, to->width = p.m.width;
  if (to && !propose(&p, to)) return to;
  r4_proposed_free(to);
  return NULL;
}
