#include "measure/follow.h"

#include <math.h>

#include "base/mem.h"
#include "base/purpose.h"
#include "data/batch/donors.h"
#include "data/batch/mask_fill.h"

/* Of few examples each is asked several times, up to so many rows of either sort; of many, so many are enough. */
enum { ROWS = 400, MOST_DRAWS = 8 };

struct maker {
  const r4_data *d;
  struct donors masked, all; /* of the training part, and as numbered there */
  size_t *number, *tested; /* numbers in d: of the training part's examples, and of those that are asked */
  struct fill swap;
  uint64_t seed;
};

/* A training example that this random number draws: of the class, or of any other. */
static size_t draw_from(const struct maker *m, const struct donors *s, int32_t class, bool own, r4_random key, size_t i)
{
  size_t n = own ? donors_own(s, class) : donors_for(s, class), k = r4_random_below(key, i, n);
  return m->number[own ? donors_own_at(s, class, k) : donors_at(s, class, k)];
}

/* ---- Who ---- */

static bool can_be_asked(const struct maker *m, const struct record *r)
{
  int32_t class = r->label;
  if (r->split != R4_VAL || !donors_own(&m->all, class) || !donors_for(&m->all, class)) return false;
  if (r->mask) return donors_own(&m->masked, class);
  return donors_for(&m->masked, class) && donors_are_rare(&m->masked, class);
}

/* Evenly spread if they are more than enough. */
static size_t list_examples(struct maker *m)
{
  size_t train = 0, n = 0;
  for (size_t i = 0; i < m->d->n; i++) {
    if (m->d->record[i].split == R4_TRAIN) m->number[train++] = i;
    if (can_be_asked(m, m->d->record + i)) m->tested[n++] = i;
  }
  size_t chosen = n < ROWS ? n : ROWS;
  for (size_t k = 0; k < chosen; k++) m->tested[k] = m->tested[k * n / chosen];
  return chosen;
}

/* ---- What they get ---- */

static struct fill_job job_of(const struct maker *m, size_t i, uint32_t draw, bool own)
{
  const struct record *r = m->d->record + i;
  int32_t class = r->label;
  r4_random from_own = {m->seed, PURPOSE_FOLLOW, 2 * draw + 1}, from_other = {m->seed, PURPOSE_FOLLOW, 2 * draw};
  struct fill_job job = {&m->swap, draw, i, i, i};
  if (!r->mask) job.place = job.donor = draw_from(m, &m->masked, class, false, from_other, i);
  if (r->mask && own)
    job.donor = draw_from(m, &m->masked, class, true, from_own, i);
  else if (own)
    job.donor = draw_from(m, &m->all, class, true, from_own, i);
  else if (r->mask && donors_elsewhere(&m->masked, class))
    job.donor = draw_from(m, &m->masked, class, false, from_other, i);
  else if (r->mask)
    job.donor = draw_from(m, &m->all, class, false, from_other, i);
  return job;
}

static r4_status make_rows(struct follow *f, const struct maker *m, r4_error *e)
{
  size_t rows = f->n * f->draws;
  struct fill_job *job = mem_new(2 * rows, sizeof *job, "examples with other content", e);
  if (!job) return R4_E_MEMORY;
  for (size_t k = 0; k < 2 * rows; k++) {
    size_t i = m->tested[k % f->n];
    uint32_t draw = (uint32_t)(k % rows / f->n);
    job[k] = job_of(m, i, draw, k < rows);
  }
  f->data = fill_jobs(m->d, 2 * rows, job, e);
  r4_mem_free(job);
  return f->data ? R4_OK : e->status;
}

static r4_status make_room(struct maker *m, const r4_data *train, r4_error *e)
{
  m->number = mem_new(m->d->n + 1, sizeof *m->number, "training examples", e);
  m->tested = mem_new(m->d->n + 1, sizeof *m->tested, "validation examples", e);
  if (!m->number || !m->tested) return R4_E_MEMORY;
  r4_status s = donors_find_all(&m->all, train, e);
  return s ? s : fill_init(&m->swap, m->d, R4_FILL_SWAP, m->seed, e);
}

static r4_status make(struct follow *f, struct maker *m, const r4_data *train, size_t least, r4_error *e)
{
  if (!donors_all(&m->masked)) return R4_OK;
  r4_status s = make_room(m, train, e);
  if (s) return s;
  size_t n = list_examples(m);
  if (!n || n < least) return R4_OK;
  f->n = n;
  f->draws = ROWS / n < MOST_DRAWS ? ROWS / n : MOST_DRAWS;
  return make_rows(f, m, e);
}

r4_status follow_make(struct follow *f, const r4_data *d, const r4_data *train, size_t least, uint64_t seed,
                      r4_error *e)
{
  struct maker m = {.d = d, .seed = seed};
  *f = (struct follow){0};
  if (donors_find(&m.masked, train, e)) return e->status;
  r4_status s = make(f, &m, train, least, e);
  r4_mem_free(m.number);
  r4_mem_free(m.tested);
  fill_clear(&m.swap);
  donors_clear(&m.all);
  donors_clear(&m.masked);
  if (s) follow_clear(f);
  return s;
}

void follow_clear(struct follow *f)
{
  r4_data_free(f->data);
  *f = (struct follow){0};
}

/* ---- What it is ---- */

/* The share of draws in which example k of those asked is correct, from this row on. */
static double correct_share(const struct follow *f, const int32_t *predicted, size_t first, size_t k)
{
  double n = 0;
  for (size_t draw = 0; draw < f->draws; draw++) {
    size_t row = first + draw * f->n + k;
    n += predicted[row] == r4_data_example(f->data, row).label;
  }
  return n / (double)f->draws;
}

void follow_count(const struct follow *f, const int32_t *predicted, double *followed, double *error)
{
  double own = 0, differ = 0, squares = 0;
  for (size_t k = 0; k < f->n; k++) {
    double o = correct_share(f, predicted, 0, k), d = o - correct_share(f, predicted, f->n * f->draws, k);
    own += o, differ += d, squares += d * d;
  }
  double spread = squares - differ * differ / (double)f->n;
  *followed = own > 0 ? differ / own : NAN;
  *error = own > 0 ? sqrt(1 + fmax(spread, 0)) / own : NAN;
}
