#include "data/batch/exchange.h"

#include "base/mem.h"
#include "base/purpose.h"
#include "data/batch/donors.h"
#include "data/batch/mask_fill.h"

/* Few examples are exchanged several times, up to this many rows; of many, this many are enough. */
enum { ROWS = 400, LEAST_DRAWS = 2, MOST_DRAWS = 8, MOST_EXAMPLES = 1000 };

/* ---- Who ---- */

/* Donors among the examples themselves, and by class whether masks are rare: asked once, as it is asked of each example
 * and looks at all of them. */
struct sources {
  struct donors own;
  bool *rare;
};

static r4_status find_rare(struct sources *s, const r4_data *like, r4_error *e)
{
  struct donors theirs;
  if (donors_find(&theirs, like, e)) return e->status;
  s->rare = mem_new(theirs.classes + 1, sizeof *s->rare, "looking at masks", e);
  for (size_t c = 0; s->rare && c < theirs.classes; c++) s->rare[c] = donors_are_rare(&theirs, (int32_t)c);
  donors_clear(&theirs);
  return s->rare ? R4_OK : R4_E_MEMORY;
}

static r4_status sources_find(struct sources *s, const r4_data *d, const r4_data *like, r4_error *e)
{
  *s = (struct sources){0};
  r4_status status = donors_find(&s->own, d, e);
  return status ? status : find_rare(s, like, e);
}

static void sources_clear(struct sources *s)
{
  donors_clear(&s->own);
  r4_mem_free(s->rare);
}

static bool is_exchanged(const struct sources *s, const struct record *r)
{
  if (r->mask) return true;
  return donors_for(&s->own, r->label) && s->rare[r->label];
}

/* The examples that are exchanged, evenly spread if they are more than enough. */
static size_t choose(const struct sources *s, const r4_data *d, size_t *example)
{
  size_t n = 0;
  for (size_t i = 0; i < d->n; i++)
    if (is_exchanged(s, d->record + i)) example[n++] = i;
  size_t chosen = n < MOST_EXAMPLES ? n : MOST_EXAMPLES;
  for (size_t k = 0; k < chosen; k++) example[k] = example[k * n / chosen];
  return chosen;
}

r4_status exchange_count(const r4_data *d, const r4_data *like, size_t *n, r4_error *e)
{
  struct sources s;
  r4_status status = sources_find(&s, d, like, e);
  *n = 0;
  for (size_t i = 0; !status && i < d->n; i++) *n += is_exchanged(&s, d->record + i);
  sources_clear(&s);
  return status;
}

/* ---- What they get ---- */

struct maker {
  const r4_data *d;
  struct sources from;
  struct fill swap, colour;
  uint64_t seed;
};

static struct fill_job job_of(const struct maker *m, size_t i, uint32_t draw)
{
  const struct record *r = m->d->record + i;
  r4_random key = {m->seed, PURPOSE_EXCHANGE, draw};
  size_t others = donors_for(&m->from.own, r->label);
  struct fill_job job = {.fill = &m->swap, .draw = draw, .example = i, .donor = i, .place = i};
  if (others)
    job.donor = job.place = donors_at(&m->from.own, r->label, r4_random_below(key, i, others));
  else
    job.fill = &m->colour;
  return job;
}

static r4_status make_rows(struct exchange *x, const struct maker *m, r4_error *e)
{
  size_t rows = x->n * x->draws;
  struct fill_job *job = mem_new(rows, sizeof *job, "exchanged examples", e);
  if (!job) return R4_E_MEMORY;
  for (size_t k = 0; k < rows; k++) job[k] = job_of(m, x->example[k % x->n], (uint32_t)(k / x->n));
  x->data = fill_jobs(m->d, rows, job, e);
  r4_mem_free(job);
  return x->data ? R4_OK : e->status;
}

static r4_status make(struct exchange *x, const struct maker *m, r4_error *e)
{
  x->example = mem_new(m->d->n + 1, sizeof *x->example, "choosing among examples", e);
  if (!x->example) return R4_E_MEMORY;
  x->n = choose(&m->from, m->d, x->example);
  x->donors = donors_all(&m->from.own);
  if (!x->n) return R4_OK;
  x->draws = (ROWS + x->n - 1) / x->n;
  if (x->draws < LEAST_DRAWS) x->draws = LEAST_DRAWS;
  if (x->draws > MOST_DRAWS) x->draws = MOST_DRAWS;
  return make_rows(x, m, e);
}

r4_status exchange_make(struct exchange *x, const r4_data *d, const r4_data *like, uint64_t seed, r4_error *e)
{
  struct maker m = {.d = d, .seed = seed};
  *x = (struct exchange){0};
  r4_status s = sources_find(&m.from, d, like, e);
  if (!s) s = fill_init(&m.swap, d, R4_FILL_SWAP, seed, e);
  if (!s) s = fill_init(&m.colour, d, R4_FILL_COLOUR, seed, e);
  if (!s) s = make(x, &m, e);
  fill_clear(&m.colour);
  fill_clear(&m.swap);
  sources_clear(&m.from);
  if (s) exchange_clear(x);
  return s;
}

void exchange_clear(struct exchange *x)
{
  r4_data_free(x->data);
  r4_mem_free(x->example);
  *x = (struct exchange){0};
}
