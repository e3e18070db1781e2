#include "measure/follow.h"

#include <math.h>

#include "base/mem.h"
#include "base/purpose.h"
#include "data/batch/donors.h"
#include "data/batch/mask_fill.h"

/* Of few examples each is asked several times, up to so many rows of either sort; of many, so many are enough. */
enum { ROWS = 400, MOST_DRAWS = 8 };

/* The training part's examples, numbered as in d, those of a class together. */
struct by_class {
  size_t classes, *example, *first; /* [classes + 1]: where each class begins */
};

struct maker {
  const r4_data *d;
  struct donors masked; /* of the training part, and as numbered there */
  struct by_class all;
  size_t *number, *tested; /* numbers in d: of the training part's examples, and of those that are asked */
  bool *rare;              /* by class: masks are */
  struct fill swap;
  uint64_t seed;
};

/* ---- Training examples ---- */

static r4_status list_classes(struct by_class *to, const r4_data *d, r4_error *e)
{
  size_t classes = d->classes->n, *at = mem_new(classes + 1, sizeof *at, "training examples", e);
  *to = (struct by_class){.classes = classes,
                          .example = mem_new(d->n + 1, sizeof *to->example, "training examples", e),
                          .first = mem_new(classes + 1, sizeof *to->first, "training examples", e)};
  bool room = at && to->example && to->first;
  for (size_t i = 0; room && i < d->n; i++) to->first[d->record[i].label + 1] += d->record[i].split == R4_TRAIN;
  for (size_t c = 0; room && c < classes; c++) {
    to->first[c + 1] += to->first[c];
    at[c] = to->first[c];
  }
  for (size_t i = 0; room && i < d->n; i++)
    if (d->record[i].split == R4_TRAIN) to->example[at[d->record[i].label]++] = i;
  r4_mem_free(at);
  return room ? R4_OK : R4_E_MEMORY;
}

static size_t of_class(const struct by_class *s, int32_t class)
{
  return s->first[class + 1] - s->first[class];
}

/* A training example that this random number draws: of the class, or of any other. */
static size_t any_example(const struct by_class *s, int32_t class, bool own, r4_random key, size_t i)
{
  size_t same = of_class(s, class), first = s->first[class], n = own ? same : s->first[s->classes] - same;
  size_t k = r4_random_below(key, i, n);
  if (own) return s->example[first + k];
  return s->example[k < first ? k : k + same];
}

static size_t masked_example(const struct maker *m, int32_t class, bool own, r4_random key, size_t i)
{
  size_t n = own ? donors_own(&m->masked, class) : donors_for(&m->masked, class), k = r4_random_below(key, i, n);
  return m->number[own ? donors_own_at(&m->masked, class, k) : donors_at(&m->masked, class, k)];
}

/* ---- Who ---- */

static bool can_be_asked(const struct maker *m, const struct record *r)
{
  size_t same = of_class(&m->all, r->label), others = m->all.first[m->all.classes] - same;
  if (r->split != R4_VAL || !same || !others) return false;
  return r->mask ? donors_own(&m->masked, r->label) > 0 : m->rare[r->label] && donors_for(&m->masked, r->label);
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

/* Some other class has masks, and not by a rare chance. */
static bool others_have_masks(const struct maker *m, int32_t class)
{
  for (size_t c = 0; c < m->all.classes; c++)
    if (c != (size_t)class && !m->rare[c] && donors_own(&m->masked, (int32_t)c)) return true;
  return false;
}

static struct fill_job job_of(const struct maker *m, size_t i, uint32_t draw, bool own)
{
  const struct record *r = m->d->record + i;
  r4_random from_own = {m->seed, PURPOSE_FOLLOW, 2 * draw + 1}, from_other = {m->seed, PURPOSE_FOLLOW, 2 * draw};
  struct fill_job job = {&m->swap, draw, i, i, i};
  if (!r->mask) job.place = job.donor = masked_example(m, r->label, false, from_other, i);
  if (r->mask && own)
    job.donor = masked_example(m, r->label, true, from_own, i);
  else if (own)
    job.donor = any_example(&m->all, r->label, true, from_own, i);
  else if (r->mask && others_have_masks(m, r->label))
    job.donor = masked_example(m, r->label, false, from_other, i);
  else if (r->mask)
    job.donor = any_example(&m->all, r->label, false, from_other, i);
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

static r4_status make_room(struct maker *m, r4_error *e)
{
  m->number = mem_new(m->d->n + 1, sizeof *m->number, "training examples", e);
  m->tested = mem_new(m->d->n + 1, sizeof *m->tested, "validation examples", e);
  m->rare = mem_new(m->d->classes->n + 1, sizeof *m->rare, "classes", e);
  if (!m->number || !m->tested || !m->rare) return R4_E_MEMORY;
  for (size_t c = 0; c < m->d->classes->n; c++) m->rare[c] = donors_are_rare(&m->masked, (int32_t)c);
  r4_status s = list_classes(&m->all, m->d, e);
  return s ? s : fill_init(&m->swap, m->d, R4_FILL_SWAP, m->seed, e);
}

static r4_status make(struct follow *f, struct maker *m, size_t least, r4_error *e)
{
  if (!donors_all(&m->masked)) return R4_OK;
  r4_status s = make_room(m, e);
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
  r4_status s = make(f, &m, least, e);
  void *const room[] = {m.number, m.tested, m.rare, m.all.example, m.all.first};
  for (size_t k = 0; k < sizeof room / sizeof *room; k++) r4_mem_free(room[k]);
  fill_clear(&m.swap);
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
