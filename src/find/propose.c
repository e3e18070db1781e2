/* Masks for all images that show a clue. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "find/find.h"
#include "find/mask_draw.h"
#include "find/pixel_words.h"
#include "find/proposed.h"
#include "find/template.h"

enum { TEACHERS = 1000, TOP = 50, LEAST = 5 };

/* A proposal in the making. */
struct proposing {
  const r4_data *d;
  const r4_clue *c;
  const r4_find_options *o;
  r4_error *e;
  struct pixel_words m;
  struct template t;        /* of a clue that is at one place */
  bool fits;                /* there is one */
  const r4_sighting **seen; /* [examples]: where the clue is seen; NULL: it is not, or at no place */
  float *score;             /* [examples] */
  double place[4];          /* where all sightings are; width 0: at many places */
  double cut;
};

/* Examples to learn from. */
struct teachers {
  size_t *clue, *other, clues, others;
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

static void grown(const double box[4], double by, double to[4])
{
  for (int k = 0; k < 2; k++) to[k] = box[k] - by * box[k + 2], to[k + 2] = (1 + 2 * by) * box[k + 2];
}

/* All images of other classes teach what else there is, also those that are said to show the clue: without them the
 * others would be unlike it by choice. If there are none, all in which it is not seen. */
static bool is_other(const struct proposing *p, size_t i, bool any)
{
  return p->d->record[i].split == R4_TRAIN && (any ? !p->seen[i] : p->d->record[i].label != p->c->label);
}

/* At most TEACHERS examples, evenly spread: of others, and of the clue's. */
static r4_status choose_teachers(struct proposing *p, struct teachers *t)
{
  size_t all = 0, at = 0;
  bool any = false;
  t->other = mem_new(TEACHERS, sizeof *t->other, "examples to learn from", p->e);
  t->clue = mem_new(p->d->n, sizeof *t->clue, "examples to learn from", p->e);
  if (!t->other || !t->clue) return R4_E_MEMORY;
  for (size_t i = 0; i < p->d->n; i++) all += is_other(p, i, false);
  if ((any = all == 0))
    for (size_t i = 0; i < p->d->n; i++) all += is_other(p, i, true);
  size_t most = all < TEACHERS ? all : TEACHERS;
  for (size_t i = 0; i < p->d->n; i++)
    if (is_other(p, i, any) && at++ == t->others * all / most) t->other[t->others++] = i;
  return R4_OK;
}

static void choose_shown(const struct proposing *p, struct teachers *t, bool first)
{
  size_t all = 0;
  for (size_t i = 0; i < p->d->n; i++) {
    const struct record *r = p->d->record + i;
    bool shows = first || p->place[2] == 0 || isinf(p->cut)
                   ? p->seen[i] && r->label == p->c->label
                   : r->split == R4_TRAIN && r->label == p->c->label && (double)p->score[i] >= p->cut;
    if (shows) t->clue[all++] = i;
  }
  t->clues = all < TEACHERS ? all : TEACHERS;
  for (size_t k = 0; k < t->clues; k++) t->clue[k] = t->clue[k * all / t->clues];
}

static void near_of(const struct proposing *p, size_t i, double near[4])
{
  grown(p->place[2] > 0 ? p->place : p->seen[i]->box, 1, near);
}

/* ---- Words: half of the sample from around the clue's places, half from all of others ---- */

enum { SAMPLE = 20000 };

static size_t sample(struct proposing *p, struct pixel_room *r, size_t i, const double *box, size_t most,
                     float *z)
{
  const struct pixel_words *m = &p->m;
  size_t all = 0, n = 0, at = 0;
  pixel_look(m, p->d, i, r);
  for (int pass = 0; pass < 2; pass++)
    for (size_t k = 0; k < m->height * m->width; k++) {
      double u = ((double)(k % m->width) + .5) / (double)m->width;
      double v = ((double)(k / m->width) + .5) / (double)m->height;
      if (box && !is_in(box, u, v)) continue;
      if (!pass)
        all++;
      else if (at++ == n * all / (all < most ? all : most) && n < most)
        memcpy(z + n++ * m->numbers, r->z + k * m->numbers, m->numbers * sizeof *z);
    }
  return n;
}

static r4_status learn_words(struct proposing *p, struct pixel_room *r, const struct teachers *t)
{
  float *z = mem_new(2 * SAMPLE, p->m.numbers * sizeof *z, "what pixels look like", p->e);
  size_t n = 0;
  if (!z) return R4_E_MEMORY;
  for (size_t k = 0; k < t->clues; k++) {
    double near[4];
    near_of(p, t->clue[k], near);
    n += sample(p, r, t->clue[k], near, SAMPLE / t->clues, z + n * p->m.numbers);
  }
  for (size_t k = 0; k < t->others; k++)
    n += sample(p, r, t->other[k], NULL, SAMPLE / t->others, z + n * p->m.numbers);
  r4_status s = pixel_words_learn(&p->m, z, n, p->e);
  r4_mem_free(z);
  return s;
}

static r4_status count(struct proposing *p, struct pixel_room *r, const struct teachers *t, bool first)
{
  float elsewhere[WORDS] = {0};
  bool moves = p->place[2] == 0;
  size_t cells = p->m.rows * p->m.columns * WORDS;
  memset(p->m.clue, 0, cells * sizeof *p->m.clue);
  for (size_t k = 0; k < t->clues; k++) {
    double near[4];
    pixel_look(&p->m, p->d, t->clue[k], r);
    pixel_words_of(&p->m, r);
    if (moves) near_of(p, t->clue[k], near);
    pixel_words_count(&p->m, r, moves ? near : NULL, true, p->m.clue);
    if (moves) pixel_words_count(&p->m, r, near, false, elsewhere);
  }
  for (size_t k = 0; first && k < t->others; k++) {
    pixel_look(&p->m, p->d, t->other[k], r);
    pixel_words_of(&p->m, r);
    pixel_words_count(&p->m, r, NULL, true, p->m.other);
  }
  return pixel_words_weigh(&p->m, moves ? elsewhere : NULL, p->e);
}

static r4_status learn(struct proposing *p, bool first)
{
  struct pixel_room room = {0};
  struct teachers t = {.others = 0};
  r4_status s = pixel_room_new(&room, &p->m, p->e);
  if (!s) s = choose_teachers(p, &t);
  if (!s) choose_shown(p, &t, first);
  if (!s && first) s = learn_words(p, &room, &t);
  if (!s) s = count(p, &room, &t, first);
  pixel_room_clear(&room);
  r4_mem_free(t.other);
  r4_mem_free(t.clue);
  return s;
}

/* ---- Scores: the mean of the map over its most likely fiftieth, near the place if there is one ---- */

static int larger(const void *a, const void *b)
{
  float x = *(const float *)a, y = *(const float *)b;
  return x > y ? -1 : x < y;
}

static float score_of(const struct proposing *p, const struct pixel_room *r, float *room)
{
  const struct pixel_words *m = &p->m;
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

static void map_example(const struct proposing *p, size_t i, struct pixel_room *room)
{
  pixel_look(&p->m, p->d, i, room);
  pixel_words_of(&p->m, room);
  pixel_map(&p->m, room);
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
        map_example(p, i, &room);
        p->score[i] = p->fits ? (float)template_fit(&p->t, room.map).fit : score_of(p, &room, values);
      }
      pixel_room_clear(&room);
      r4_mem_free(values);
    }
    if (failed) status = r4_fail(p->e, R4_E_MEMORY, "out of memory for looking at images");
    find_report(p->o, "matching", to, p->d->n);
  }
  return status;
}

/* ---- Where the list ends ---- */

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

/* With F_1(s) the share of training examples of the class whose score is s or more, and F_0(s) that of others, the list
 * ends at the s where F_1 - 3/2 F_0 is largest. If examples of the class that do not show the clue score as the others
 * do, two thirds of those of the class at this s are of that kind, and of those above it less. */
static const double ODDS = 1.5;

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
  for (size_t m = 1; of < n && m <= n; m++) {
    k += p->d->record[all[m - 1].example].label == p->c->label;
    if (m < LEAST || (m < n && all[m].score == all[m - 1].score)) continue;
    double more = (double)k / (double)of - ODDS * (double)(m - k) / (double)(n - of);
    if (more > best) best = more, p->cut = (double)all[m - 1].score;
  }
  r4_mem_free(all);
  return R4_OK;
}

/* ---- The template, of training examples of the class that are listed ---- */

static r4_status find_template(struct proposing *p)
{
  enum { ROUNDS = 3 };
  struct pixel_room room = {0};
  struct teachers t = {.others = 0};
  size_t pixels = p->m.height * p->m.width;
  uint32_t *space = mem_new(pixels, 2 * sizeof *space, "parts of a mask", p->e);
  uint8_t *mask = mem_new(pixels, sizeof *mask, "a mask", p->e);
  r4_status s = space && mask ? pixel_room_new(&room, &p->m, p->e) : R4_E_MEMORY;
  if (!s) s = template_new(&p->t, p->m.height, p->m.width, p->e);
  if (!s) s = choose_teachers(p, &t);
  if (!s) choose_shown(p, &t, false);
  for (int round = 0; !s && round < ROUNDS; round++) {
    for (size_t k = 0; k < t.clues; k++) {
      map_example(p, t.clue[k], &room);
      template_add(&p->t, room.map, round ? template_fit(&p->t, room.map) : (struct shift){0});
    }
    template_cut(&p->t, p->place, mask, space);
  }
  p->fits = !s && p->t.ins;
  pixel_room_clear(&room);
  r4_mem_free(space);
  r4_mem_free(mask);
  r4_mem_free(t.other);
  r4_mem_free(t.clue);
  return s;
}

/* ---- The list ---- */

static r4_status add_mask(struct proposing *p, struct r4_proposed *to, size_t i, struct pixel_room *room,
                          uint32_t *space)
{
  size_t pixels = p->m.height * p->m.width;
  if (mem_more(&to->at, &to->room, to->n + 1, sizeof *to->at, "masks", p->e)) return R4_E_MEMORY;
  uint8_t *mask = mem_new(pixels, 1, "a mask", p->e);
  if (!mask) return R4_E_MEMORY;
  map_example(p, i, room);
  const struct mask_draw draw = {p->m.height, p->m.width, room->map, p->place[2] > 0 ? p->place : NULL,
                                 space};
  double area = p->fits ? template_draw(&p->t, template_fit(&p->t, room->map), mask) : mask_draw(&draw, mask);
  to->at[to->n++] = (struct proposed){{i, (double)p->score[i], area, 0}, mask};
  return R4_OK;
}

static bool is_listed(const struct proposing *p, size_t i)
{
  return (double)p->score[i] >= p->cut || (p->seen[i] && (p->c->pure || isinf(p->cut)));
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

/* Without knowing what is right: n_1 of the N_1 training examples of the class are listed, n_0 of the N_0 others. If
 * those that do not show the clue are listed as often in the class as among the others, N_1 n_0 / N_0 of the n_1 are
 * wrong, and all n_0 are. So are empty masks. */
static double share_right(const struct proposing *p, const struct r4_proposed *to)
{
  double listed[2] = {0}, all[2] = {0}, empty = 0;
  for (size_t k = 0; k < to->n; k++) empty += !(to->at[k].is.area > 0);
  for (size_t i = 0; i < p->d->n; i++) {
    const struct record *r = p->d->record + i;
    if (r->split != R4_TRAIN) continue;
    bool mine = r->label == p->c->label;
    all[mine]++;
    listed[mine] += is_listed(p, i);
  }
  double wrong = all[0] > 0 ? listed[0] / all[0] * all[1] : 0, n = listed[0] + listed[1];
  return n > 0 ? fmax(0, listed[1] - wrong) / n * (1 - empty / (double)to->n) : 0;
}

/* Words tell which photos show the clue, and these what its words are. At one place, they are laid over each other. */
static r4_status find_photos(struct proposing *p)
{
  bool moves = p->place[2] == 0;
  r4_status s = pixel_words_new(&p->m, p->d, moves, p->e);
  for (int round = 0; !s && round < (moves ? 1 : 2); round++) {
    s = learn(p, round == 0);
    if (!s) s = score_all(p);
    if (!s) s = find_cut(p);
  }
  if (s || moves || isinf(p->cut)) return s;
  s = find_template(p);
  if (!s && p->fits) s = score_all(p);
  if (!s && p->fits) s = find_cut(p);
  return s;
}

static r4_status propose(struct proposing *p, struct r4_proposed *to)
{
  r4_status s = note_sightings(p);
  if (!s) s = find_photos(p);
  if (!s) s = draw_all(p, to);
  if (!s) to->right = share_right(p, to);
  if (!s && isinf(p->cut)) p->cut = to->n ? to->at[0].is.score : 0;
  if (!s) order(to, p->cut);
  r4_mem_free(p->seen);
  r4_mem_free(p->score);
  pixel_words_clear(&p->m);
  template_clear(&p->t);
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
  struct proposing p = {.d = d, .c = c, .o = &o, .e = e};
  struct r4_proposed *to = mem_new(1, sizeof *to, "masks", e);
  if (to) to->height = (size_t)data_x(d)->shape.dim[0], to->width = (size_t)data_x(d)->shape.dim[1];
  if (to && !propose(&p, to)) return to;
  r4_proposed_free(to);
  return NULL;
}
