/* Batches: the order of an epoch, the place in it, and the thread that works ahead. */
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "base/cpus.h"
#include "base/mem.h"
#include "base/purpose.h"
#include "data/batch/batch.h"
#include "data/batch/length.h"

/* Memory of one batch. */
struct buffer {
  struct batch_memory memory;
  size_t *example;
  r4_batch batch;
};

struct r4_batches {
  struct batch_rows rows;
  size_t size, count;
  bool shuffle, masked_first;
  uint64_t seed;
  size_t *member;         /* by_group: the examples, those of a group together; else NULL */
  size_t *begins, groups; /* where the groups that have examples begin among them, and the end */

  /* What comes next. With a thread all of this is the thread's, except while it waits. */
  size_t *order;          /* of the examples in the epoch order_epoch */
  size_t lengths;         /* of texts that batches are cut to; 0: they are not */
  size_t *chunk, *sorted; /* then: which part of the order is the k-th batch; and memory to sort in */
  uint32_t order_epoch, epoch;
  bool ordered;
  size_t index;

  /* Batch k is in buffer k mod 2. The user holds batch taken - 1; the thread makes batch taken, once. */
  struct buffer buffer[2];
  uint64_t made, taken;

  bool threaded, stop;
  pthread_t thread;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
};

/* ---- One batch after the other ---- */

/* The shuffle of Fisher and Yates, from the identity. */
static void shuffle(r4_random key, size_t n, size_t *order)
{
  for (size_t i = 0; i < n; i++) order[i] = i;
  for (size_t i = 0; i + 1 < n; i++) {
    size_t other = i + r4_random_below(key, i, n - i), kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
}

static size_t text_length(const r4_data *d, size_t i)
{
  return column_length(data_x(d), d->record[i].row);
}

/* Texts of the same step of lengths stand together, in the order that was drawn, and are cut into batches, which come
 * in an order that is drawn as well. What is dropped at the end is dropped before: it must not be the longest. */
static void order_by_length(r4_batches *b)
{
  const r4_data *d = b->rows.data;
  size_t n = b->count * b->size < d->n ? b->count * b->size : d->n, to = 0;
  for (size_t step = 0; step < b->lengths; step++)
    for (size_t i = 0; i < n; i++)
      if (length_step(text_length(d, b->order[i]), b->rows.features, b->lengths) == step)
        b->sorted[to++] = b->order[i];
  memcpy(b->order, b->sorted, n * sizeof *b->order);
  if (b->shuffle) shuffle((r4_random){b->seed, PURPOSE_BATCH_ORDER, b->epoch}, b->count, b->chunk);
}

/* P(i) = 1 / (G n_g) at each place, for example i of group g, which has n_g of them, with G groups. */
static void draw_by_group(const r4_batches *b, size_t n, size_t *order)
{
  const r4_random group = {b->seed, PURPOSE_GROUP, b->epoch};
  const r4_random member = {b->seed, PURPOSE_GROUP_MEMBER, b->epoch};
  for (size_t i = 0; i < n; i++) {
    const size_t *begins = b->begins + r4_random_below(group, i, b->groups);
    order[i] = b->member[begins[0] + r4_random_below(member, i, begins[1] - begins[0])];
  }
}

/* A function of seed and epoch alone. */
static void make_order(r4_batches *b)
{
  bool drawn = b->shuffle || b->member;
  if (b->ordered && (!drawn || b->order_epoch == b->epoch)) return;
  size_t n = b->rows.data->n, *order = b->order;
  for (size_t i = 0; i < n; i++) order[i] = i;
  if (b->member)
    draw_by_group(b, n, order);
  else if (b->shuffle)
    shuffle((r4_random){b->seed, PURPOSE_ORDER, b->epoch}, n, order);
  if (b->lengths) order_by_length(b);
  b->order_epoch = b->epoch;
  b->ordered = true;
}

/* Otherwise in the order in which they were. */
static void put_masked_first(const r4_data *d, const size_t *from, size_t n, size_t *to)
{
  for (size_t i = 0; i < n; i++)
    if (d->record[from[i]].mask) *to++ = from[i];
  for (size_t i = 0; i < n; i++)
    if (!d->record[from[i]].mask) *to++ = from[i];
}

/* Rows of so many of their numbers, one behind the other. */
static void cut_rows(float *rows, size_t n, size_t from, size_t to)
{
  for (size_t i = 1; rows && i < n; i++) memmove(rows + i * to, rows + i * from, to * sizeof *rows);
}

/* Returns the tokens that are left: as many as the longest text has, rounded up. */
static size_t cut_padding(const r4_batches *b, size_t n, const struct batch_memory *m)
{
  size_t width = b->rows.features, longest = 1;
  for (size_t i = 0; b->lengths && i < n; i++)
    if ((size_t)m->length[i] > longest) longest = (size_t)m->length[i];
  size_t tokens = b->lengths ? length_rounded(longest, width, b->lengths) : width;
  if (tokens == width) return width;
  cut_rows(m->x, n, width, tokens);
  cut_rows(m->filled, n, width, tokens);
  cut_rows(m->m, n, width, tokens);
  return tokens;
}

static void make_batch(r4_batches *b, struct buffer *to)
{
  make_order(b);
  size_t first = (b->lengths ? b->chunk[b->index] : b->index) * b->size, left = b->rows.data->n - first,
         n = left < b->size ? left : b->size;
  if (b->masked_first)
    put_masked_first(b->rows.data, b->order + first, n, to->example);
  else
    memcpy(to->example, b->order + first, n * sizeof *to->example);
  const struct batch_memory *memory = &to->memory;
  size_t masked = batch_rows_make(&b->rows, b->epoch, first, n, to->example, b->threaded, memory);
  size_t features = cut_padding(b, n, memory);
  to->batch = (r4_batch){.count = n,
                         .masked = masked,
                         .masked_first = b->masked_first,
                         .x = memory->x,
                         .filled = memory->filled ? memory->filled : memory->x,
                         .y = memory->y,
                         .m = memory->m,
                         .length = memory->length,
                         .features = features,
                         .example = to->example,
                         .epoch = b->epoch,
                         .index = b->index};
  if (++b->index < b->count) return;
  b->index = 0;
  b->epoch++;
}

/* ---- The thread ---- */

/* Makes the next batch whenever the last one was taken. Making cannot fail, so there is no error to hand over. */
static void *work_ahead(void *batches)
{
  r4_batches *b = batches;
  /* The caller may be pinned to a CPU, which it needs itself. A refusal costs speed only. */
  sched_setaffinity(0, sizeof(cpu_set_t), cpus_allowed());
  pthread_mutex_lock(&b->mutex);
  for (;;) {
    while (!b->stop && b->made > b->taken) pthread_cond_wait(&b->changed, &b->mutex);
    if (b->stop) break;
    pthread_mutex_unlock(&b->mutex);
    make_batch(b, &b->buffer[b->made % 2]);
    pthread_mutex_lock(&b->mutex);
    b->made++;
    pthread_cond_broadcast(&b->changed);
  }
  pthread_mutex_unlock(&b->mutex);
  return NULL;
}

/* Locks, and waits until a batch is made: then the thread touches nothing until it is taken. */
static void lock_idle(r4_batches *b)
{
  if (!b->threaded) return;
  pthread_mutex_lock(&b->mutex);
  while (b->made == b->taken) pthread_cond_wait(&b->changed, &b->mutex);
}

static void unlock(r4_batches *b)
{
  if (!b->threaded) return;
  pthread_cond_broadcast(&b->changed);
  pthread_mutex_unlock(&b->mutex);
}

/* Signals stay with the threads of the caller, whose handlers they are. */
static r4_status start_thread(r4_batches *b, r4_error *e)
{
  sigset_t all, before;
  sigfillset(&all);
  pthread_mutex_init(&b->mutex, NULL);
  pthread_cond_init(&b->changed, NULL);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  b->threaded = true; /* the thread reads it */
  int failed = pthread_create(&b->thread, NULL, work_ahead, b);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!failed) return R4_OK;
  b->threaded = false;
  return r4_fail(e, R4_E_MEMORY, "batches: a thread cannot be started: %s", strerror(failed));
}

static void stop_thread(r4_batches *b)
{
  pthread_mutex_lock(&b->mutex);
  b->stop = true;
  pthread_cond_broadcast(&b->changed);
  pthread_mutex_unlock(&b->mutex);
  pthread_join(b->thread, NULL);
  pthread_cond_destroy(&b->changed);
  pthread_mutex_destroy(&b->mutex);
}

/* ---- The interface ---- */

static r4_status check(const r4_data *d, const r4_batch_options *o, r4_error *e)
{
  if (!d->n) return r4_fail(e, R4_E_ARGUMENT, "batches: the data set has no examples");
  if (!o->size) return r4_fail(e, R4_E_ARGUMENT, "batches: a batch of 0 examples, expected at least 1");
  if (o->drop_last && o->size > d->n)
    return r4_fail(e, R4_E_ARGUMENT,
                   "batches: %zu examples do not fill a batch of %zu, and smaller ones are dropped", d->n, o->size);
  return R4_OK;
}

/* rows of width floats; true for none. */
static bool allocate(float **to, size_t rows, size_t width)
{
  size_t bytes;
  if (__builtin_mul_overflow(rows, width * sizeof(float), &bytes)) return false;
  if (bytes) *to = r4_mem_new_aligned(bytes);
  return !bytes || *to;
}

static bool buffer_init(struct buffer *to, size_t size, const struct batch_rows *rows)
{
  struct batch_memory *m = &to->memory;
  bool fills = rows->fill.kind != R4_FILL_NONE;
  size_t moved = augment_scratch(&rows->augment);
  bool rows_fit = allocate(&m->x, size, rows->features) && allocate(&m->y, size, 1) &&
                  allocate(&m->m, size, rows->masked) &&
                  allocate(&m->length, size, data_x(rows->data)->length ? 1 : 0) &&
                  allocate(&m->filled, size, fills ? rows->features : 0) &&
                  allocate(&m->scratch, size, fill_scratch(&rows->fill));
  if (!rows_fit) return false;
  m->moved = moved ? r4_mem_new(size, moved) : NULL;
  to->example = r4_mem_new(size, sizeof *to->example);
  return to->example && (m->moved || !moved);
}

/* Texts that are too short to be of several lengths are left as they are. */
static size_t lengths_of(const r4_data *d, const r4_batch_options *o)
{
  size_t width = data_x(d)->features;
  bool texts = data_x(d)->length && !o->masked;
  return texts && length_rounded(1, width, o->lengths) < width ? o->lengths : 0;
}

static bool make_chunks(r4_batches *b)
{
  if (!b->lengths) return true;
  b->chunk = r4_mem_new(b->count, sizeof *b->chunk);
  b->sorted = r4_mem_new(b->rows.data->n, sizeof *b->sorted);
  for (size_t k = 0; b->chunk && k < b->count; k++) b->chunk[k] = k;
  return b->chunk && b->sorted;
}

/* Groups without examples are left out. */
static bool list_members(r4_batches *b)
{
  const r4_data *d = b->rows.data;
  size_t groups = d->groups->n;
  b->member = r4_mem_new(d->n, sizeof *b->member);
  b->begins = r4_mem_new(groups + 2, sizeof *b->begins);
  if (!b->member || !b->begins) return false;
  size_t *ends = b->begins + 1; /* of each group, and after the members are there, where it begins */
  for (size_t i = 0; i < d->n; i++) ends[d->record[i].group]++;
  for (size_t g = 1; g < groups; g++) ends[g] += ends[g - 1];
  for (size_t i = d->n; i-- > 0;) b->member[--ends[d->record[i].group]] = i;
  ends[groups] = d->n;
  for (size_t g = 0; g < groups; g++)
    if (ends[g] < ends[g + 1]) b->begins[b->groups++] = ends[g];
  b->begins[b->groups] = d->n;
  return true;
}

r4_batches *r4_batches_new(const r4_data *d, const r4_batch_options *options, r4_error *e)
{
  NEEDS(d, "data", NULL);
  NEEDS(options, "options", NULL);
  if (check(d, options, e)) return NULL;
  r4_batches *b = mem_new(1, sizeof *b, "batches", e);
  if (!b) return NULL;
  b->size = options->size > d->n && !options->drop_last ? d->n : options->size; /* room for what there is */
  b->count = options->drop_last ? d->n / b->size : (d->n - 1) / b->size + 1;
  b->shuffle = options->shuffle;
  b->masked_first = options->masked_first;
  b->seed = options->seed;
  if (batch_rows_init(&b->rows, d, options, e)) goto fail;
  b->lengths = lengths_of(d, options);
  b->order = r4_mem_new(d->n, sizeof *b->order);
  bool memory = b->order && make_chunks(b) && (!options->by_group || list_members(b));
  for (int k = 0; memory && k < (options->prefetch ? 2 : 1); k++)
    memory = buffer_init(&b->buffer[k], b->size, &b->rows);
  if (!memory) {
    r4_fail(e, R4_E_MEMORY, "out of memory for batches of %zu examples of %zu features", b->size,
            b->rows.features);
    goto fail;
  }
  if (!options->prefetch || !start_thread(b, e)) return b;
fail:
  r4_batches_free(b);
  return NULL;
}

void r4_batches_free(r4_batches *b)
{
  if (!b) return;
  if (b->threaded) stop_thread(b);
  for (int k = 0; k < 2; k++) {
    struct batch_memory *m = &b->buffer[k].memory;
    r4_mem_free(m->x);
    r4_mem_free(m->filled);
    r4_mem_free(m->y);
    r4_mem_free(m->m);
    r4_mem_free(m->length);
    r4_mem_free(m->scratch);
    r4_mem_free(m->moved);
    r4_mem_free(b->buffer[k].example);
  }
  r4_mem_free(b->order);
  r4_mem_free(b->chunk);
  r4_mem_free(b->sorted);
  r4_mem_free(b->member);
  r4_mem_free(b->begins);
  batch_rows_clear(&b->rows);
  r4_mem_free(b);
}

size_t r4_batches_count(const r4_batches *b)
{
  return b->count;
}

r4_status r4_batches_seek(r4_batches *b, uint32_t epoch, size_t index, r4_error *e)
{
  NEEDS(b, "batches", R4_E_ARGUMENT);
  if (index >= b->count)
    return r4_fail(e, R4_E_ARGUMENT, "batches: batch %zu of an epoch, expected 0 to %zu", index,
                   b->count - 1);
  lock_idle(b);
  b->epoch = epoch;
  b->index = index;
  b->made = b->taken; /* what was made ahead is not wanted */
  unlock(b);
  return R4_OK;
}

r4_batch r4_batches_next(r4_batches *b)
{
  if (!b->threaded) {
    make_batch(b, &b->buffer[0]);
    return b->buffer[0].batch;
  }
  lock_idle(b);
  r4_batch batch = b->buffer[b->taken++ % 2].batch;
  unlock(b);
  return batch;
}
