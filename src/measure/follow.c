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
  struct donors donors;           /* of the training part            */
  size_t *train_example, *tested; /* numbers in d: of the training part's examples, and of those that are asked */
  struct fill swap;
  uint64_t seed;
};

/* ---- Who ---- */

static bool can_be_asked(const struct maker *m, const struct record *r)
{
  return r->split == R4_VAL && r->mask && donors_own(&m->donors, r->label) && donors_for(&m->donors, r->label);
}

/* The numbers in d of the examples of its training part, which keeps their order, and those of who is asked, evenly
 * spread if they are more than enough. */
static size_t list_examples(struct maker *m)
{
  size_t train = 0, n = 0;
  for (size_t i = 0; i < m->d->n; i++) {
    if (m->d->record[i].split == R4_TRAIN) m->train_example[train++] = i;
    if (can_be_asked(m, m->d->record + i)) m->tested[n++] = i;
  }
  size_t chosen = n < ROWS ? n : ROWS;
  for (size_t k = 0; k < chosen; k++) m->tested[k] = m->tested[k * n / chosen];
  return chosen;
}

/* ---- What they get ---- */

static size_t draw_donor(const struct maker *m, size_t i, uint32_t draw, bool own)
{
  int32_t class = m->d->record[i].label;
  r4_random key = {m->seed, PURPOSE_FOLLOW, 2 * draw + own};
  size_t n = own ? donors_own(&m->donors, class) : donors_for(&m->donors, class), k = r4_random_below(key, i, n);
  return m->train_example[own ? donors_own_at(&m->donors, class, k) : donors_at(&m->donors, class, k)];
}

static r4_status make_rows(struct follow *f, const struct maker *m, r4_error *e)
{
  size_t rows = f->n * f->draws;
  struct fill_job *job = mem_new(2 * rows, sizeof *job, "examples with other content", e);
  if (!job) return R4_E_MEMORY;
  for (size_t k = 0; k < 2 * rows; k++) {
    size_t i = m->tested[k % f->n];
    uint32_t draw = (uint32_t)(k % rows / f->n);
    job[k] = (struct fill_job){&m->swap, draw, i, draw_donor(m, i, draw, k < rows)};
  }
  f->data = fill_jobs(m->d, 2 * rows, job, e);
  r4_mem_free(job);
  return f->data ? R4_OK : e->status;
}

static r4_status make(struct follow *f, struct maker *m, size_t least, r4_error *e)
{
  m->train_example = mem_new(m->d->n + 1, sizeof *m->train_example, "training examples", e);
  m->tested = mem_new(m->d->n + 1, sizeof *m->tested, "validation examples", e);
  if (!m->train_example || !m->tested) return R4_E_MEMORY;
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
  if (donors_find(&m.donors, train, e)) return e->status;
  r4_status s = donors_all(&m.donors) ? fill_init(&m.swap, d, R4_FILL_SWAP, seed, e) : R4_OK;
  if (!s && donors_all(&m.donors)) s = make(f, &m, least, e);
  r4_mem_free(m.train_example);
  r4_mem_free(m.tested);
  fill_clear(&m.swap);
  donors_clear(&m.donors);
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
