#include "train/sharded.h"

#include <string.h>

#include "base/mem.h"
#include "objective/composition.h"
#include "objective/objective.h"
#include "train/collapse.h"
#include "train/shard_sum.h"

/* The examples of one shard, as a batch of their own. */
struct part {
  float *x, *filled, *m, *y, *length, *weight;
  size_t *example;
  r4_batch batch;
};

/* What is summed, behind the gradient and the buffers. Slots of others are 0. */
enum { DATA, LOSS, RIGHT, PENALTIES, FORMS = PENALTIES + R4_TERMS, SCALARS = FORMS + R4_TERMS };

struct shards {
  struct step *step;
  struct step_options options;
  size_t n; /* shards */
  const r4_team *team;
  struct part part;
  size_t size, buffers,
    batch;      /* floats of the gradient and of the buffers; examples that there is room for */
  size_t total; /* floats that are summed */
  struct shard_sum *sum;
  r4_error error; /* of a shard of this process */
};

/* The step that is being taken. */
struct taken {
  const r4_batch *batch;
  uint32_t number;
  const struct step_weights *at;
  const float *weights;
  size_t masked;         /* examples with anything in their mask */
  bool counts[R4_TERMS]; /* penalties that are means over these */
  struct shards *shards;
};

/* ---- Where things are in a sum ---- */

static float *scalars(const struct shards *p, float *sum)
{
  return sum + p->size + p->buffers;
}

/* Of each shard: its status, and 2 + the one prediction of all its examples; 0: it has none. */
static float *statuses(const struct shards *p, float *sum)
{
  return scalars(p, sum) + SCALARS;
}

static float *predictions(const struct shards *p, float *sum)
{
  return statuses(p, sum) + p->n;
}

static float *losses(const struct shards *p, float *sum)
{
  return predictions(p, sum) + p->n;
}

/* ---- Making ---- */

struct shards *shards_new(const struct step_options *options, size_t n, const r4_team *team, r4_error *e)
{
  struct shards *p = mem_new(1, sizeof *p, "a training step", e);
  if (!p) return NULL;
  p->options = *options;
  p->n = n;
  p->team = team;
  if (n > 1) p->options.objective.live = true; /* each shard has weights of its own */
  p->step = step_new(&p->options, e);
  p->size = r4_net_size(options->net);
  if (p->step) step_buffers(p->step, &p->buffers);
  if (p->step && n > 1) p->sum = shard_sum_new(n, team, e);
  if (p->step && (p->sum || n == 1)) return p;
  shards_free(p);
  return NULL;
}

static void part_clear(struct part *t)
{
  r4_mem_free(t->x);
  r4_mem_free(t->filled);
  r4_mem_free(t->m);
  r4_mem_free(t->y);
  r4_mem_free(t->length);
  r4_mem_free(t->weight);
  r4_mem_free(t->example);
  *t = (struct part){0};
}

void shards_free(struct shards *p)
{
  if (!p) return;
  step_free(p->step);
  part_clear(&p->part);
  shard_sum_free(p->sum);
  r4_mem_free(p);
}

static r4_status make_part(struct shards *p, size_t examples, r4_error *e)
{
  struct part *t = &p->part;
  size_t features = (size_t)r4_shape_count(r4_net_input(p->options.net));
  part_clear(t);
  t->x = mem_new_aligned(examples * features, sizeof *t->x, "a shard", e);
  t->filled = mem_new_aligned(examples * features, sizeof *t->x, "a shard", e);
  t->m = mem_new_aligned(examples * features, sizeof *t->x, "a shard", e);
  t->y = mem_new_aligned(examples, sizeof *t->x, "a shard", e);
  t->length = mem_new_aligned(examples, sizeof *t->x, "a shard", e);
  t->weight = mem_new_aligned(examples, sizeof *t->x, "a shard", e);
  t->example = mem_new(examples, sizeof *t->example, "a shard", e);
  if (!t->x || !t->filled || !t->m || !t->y || !t->length || !t->weight || !t->example) return R4_E_MEMORY;
  return R4_OK;
}

/* Who has no room says so before the others wait for its sums. */
static r4_status make_room(struct shards *p, size_t batch, r4_error *e)
{
  if (batch <= p->batch) return R4_OK;
  p->total = p->size + p->buffers + SCALARS + 2 * p->n + batch;
  r4_status s = team_join(p->team, make_part(p, (batch + p->n - 1) / p->n, e), e);
  if (!s) s = shard_sum_size(p->sum, p->size, p->total, e);
  if (!s) p->batch = batch;
  return s;
}

/* ---- The examples of a shard ---- */

/* How many of n examples shard s has. */
static size_t share(const struct shards *p, size_t s, size_t n)
{
  return s < n ? (n - s + p->n - 1) / p->n : 0;
}

static const float *take(const struct shards *p, size_t s, const float *from, size_t width, float *to)
{
  size_t n = p->part.batch.count;
  if (!from) return NULL;
  for (size_t i = 0; i < n; i++) memcpy(to + i * width, from + (s + i * p->n) * width, width * sizeof *to);
  return to;
}

static size_t mask_width(const struct shards *p, const r4_batch *b)
{
  return p->options.masked ? p->options.masked : b->features;
}

static void cut(struct shards *p, size_t s, const struct taken *step)
{
  const r4_batch *b = step->batch;
  struct part *t = &p->part;
  t->batch = *b;
  t->batch.count = share(p, s, b->count);
  t->batch.masked = b->masked_first ? share(p, s, b->masked) : t->batch.count;
  t->batch.x = take(p, s, b->x, b->features, t->x);
  t->batch.filled = b->filled == b->x ? t->x : take(p, s, b->filled, b->features, t->filled);
  t->batch.m = take(p, s, b->m, mask_width(p, b), t->m);
  t->batch.y = take(p, s, b->y, 1, t->y);
  t->batch.length = take(p, s, b->length, 1, t->length);
  take(p, s, step->at->example, 1, t->weight);
  for (size_t i = 0; i < t->batch.count; i++) t->example[i] = b->example[s + i * p->n];
  t->batch.example = t->example;
}

/* Of these rows, every stride-th: how many have anything in their mask. */
static size_t count_masked(const float *m, size_t width, size_t rows)
{
  size_t masked = 0;
  for (size_t i = 0; m && i < rows; i++) {
    size_t k = 0;
    while (k < width && m[i * width + k] <= 0) k++;
    masked += k < width;
  }
  return masked;
}

/* ---- One shard ---- */

/* v_sk of the comment in the header. */
static double penalty_share(const struct shards *p, const struct taken *step, size_t k, double examples)
{
  const r4_batch *b = &p->part.batch;
  if (!step->counts[k]) return examples;
  size_t masked = count_masked(b->m, mask_width(p, b), b->count);
  return step->masked ? (double)masked / (double)step->masked : 0;
}

static void put_results(struct shards *p, size_t s, const struct step_result *r, double examples,
                        const double penalties[R4_TERMS], float *sum)
{
  float *to = scalars(p, sum), *loss = losses(p, sum);
  const float *own = step_losses(p->step);
  to[DATA] = (float)(examples * r->data);
  to[LOSS] = (float)(examples * r->loss);
  to[RIGHT] = (float)r->right;
  for (size_t k = 0; k < R4_TERMS; k++) {
    to[PENALTIES + k] = (float)(penalties[k] * r->penalty[k]);
    to[FORMS + k] = (float)(penalties[k] * r->form[k]);
  }
  predictions(p, sum)[s] = (float)(r->only + 2);
  for (size_t i = 0; i < p->part.batch.count; i++) loss[s + i * p->n] = own[i];
}

static void weigh(float *v, size_t n, float by)
{
  for (size_t i = 0; i < n; i++) v[i] *= by;
}

/* The gradient of a shard while its step runs: what is final is weighed and handed on. */
struct handing {
  struct shard_sum *to;
  float *gradient;
  size_t from; /* final from here on */
  float weight;
};

static void hand_on(size_t from, void *user)
{
  struct handing *h = user;
  if (from < h->from) {
    weigh(h->gradient + from, h->from - from, h->weight);
    h->from = from;
  }
  if (h->to) shard_sum_settle(h->to, from);
}

static r4_status run_shard(struct shards *p, size_t s, const struct taken *step, float *sum,
                           struct shard_sum *settles, r4_error *e)
{
  struct step_weights at = *step->at;
  struct step_result result = {0};
  double share_of[R4_TERMS], examples;
  cut(p, s, step);
  examples = (double)p->part.batch.count / (double)step->batch->count;
  at.shard = (uint32_t)s;
  if (at.example) at.example = p->part.weight;
  for (size_t k = 0; k < R4_TERMS; k++) {
    share_of[k] = penalty_share(p, step, k, examples);
    at.lambda[k] *= share_of[k] / examples;
  }
  struct handing hand = {settles, sum, p->size, (float)examples};
  step_listen(p->step, settles ? hand_on : NULL, &hand);
  r4_status status = step_run(p->step, &p->part.batch, step->number, &at, step->weights, sum, &result, e);
  step_listen(p->step, NULL, NULL);
  if (status) return status;
  hand_on(0, &hand);
  size_t n;
  const float *buffers = step_buffers(p->step, &n);
  if (n) memcpy(sum + p->size, buffers, n * sizeof *sum);
  weigh(sum + p->size, n, (float)examples);
  put_results(p, s, &result, examples, share_of, sum);
  return R4_OK;
}

/* Its part of the sum; if it fails, its status counts and nothing else, so that the others do not wait in vain. The
 * last batch of an epoch may have fewer examples than there are shards. */
static void make_shard(size_t s, float *to, struct shard_sum *settles, void *user)
{
  const struct taken *step = user;
  struct shards *p = step->shards;
  r4_error e = {0};
  bool empty = s >= step->batch->count;
  if (empty)
    memset(to, 0, p->total * sizeof *to);
  else
    memset(scalars(p, to), 0, (p->total - p->size - p->buffers) * sizeof *to);
  r4_status status = empty ? R4_OK : run_shard(p, s, step, to, settles, &e);
  if (!status) return;
  statuses(p, to)[s] = (float)status;
  if (!p->error.status) p->error = e;
}

/* ---- A step ---- */

static void begin(const struct shards *p, struct taken *step)
{
  const r4_batch *b = step->batch;
  size_t terms = r4_method_describe(p->options.objective.method).terms;
  bool any = false;
  for (size_t k = 0; k < terms; k++)
    any |= step->counts[k] = objective_counts_masked(&p->options.objective, k);
  step->masked = any ? count_masked(b->m, mask_width(p, b), b->count) : 0;
}

/* The first shard that failed, if any did. */
static r4_status failed(const struct shards *p, float *sum, r4_error *e)
{
  const float *status = statuses(p, sum);
  size_t s = 0;
  while (s < p->n && status[s] == 0) s++;
  if (s == p->n) return R4_OK;
  if (p->error.status) {
    if (e) *e = p->error;
    return p->error.status;
  }
  return r4_fail(e, R4_E_TEAM, "another process has failed at shard %zu of a batch", s);
}

static void read_results(const struct shards *p, float *sum, struct step_result *to)
{
  const float *from = scalars(p, sum), *prediction = predictions(p, sum);
  *to = (struct step_result){
    .loss = from[LOSS], .data = from[DATA], .right = (size_t)from[RIGHT], .only = (int64_t)prediction[0] - 2};
  for (size_t k = 0; k < R4_TERMS; k++) {
    to->penalty[k] = from[PENALTIES + k];
    to->form[k] = from[FORMS + k];
  }
  for (size_t s = 1; s < p->n; s++)
    if (prediction[s] != 0 && prediction[s] != prediction[0]) to->only = PULSE_SEVERAL;
}

static r4_status run_all(struct shards *p, const struct taken *step, float *gradient,
                         struct step_result *result, r4_error *e)
{
  p->error = (r4_error){0};
  r4_status s = make_room(p, step->batch->count, e);
  if (!s) s = shard_sum_run(p->sum, make_shard, (void *)(uintptr_t)step, e);
  if (s) return s;
  float *sum = shard_sum_whole(p->sum);
  if ((s = failed(p, sum, e))) return s;
  memcpy(gradient, sum, p->size * sizeof *gradient);
  read_results(p, sum, result);
  result->guided = step_guides(&p->options.objective, step->batch, step->at->off);
  return R4_OK;
}

r4_status shards_run(struct shards *p, const r4_batch *batch, uint32_t n, const struct step_weights *at,
                     const float *weights, float *gradient, struct step_result *result, r4_error *e)
{
  if (p->n == 1) return step_run(p->step, batch, n, at, weights, gradient, result, e);
  struct taken step = {.batch = batch, .number = n, .at = at, .weights = weights, .shards = p};
  begin(p, &step);
  return run_all(p, &step, gradient, result, e);
}

r4_plan *shards_plan(const struct shards *p)
{
  return step_plan(p->step);
}

const float *shards_losses(const struct shards *p)
{
  return p->n == 1 ? step_losses(p->step) : losses(p, shard_sum_whole(p->sum));
}

void shards_update_buffers(const struct shards *p, float *weights)
{
  step_put_buffers(p->step, p->n == 1 ? NULL : shard_sum_whole(p->sum) + p->size, weights);
}
