#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/purpose.h"
#include "data/batch/batch.h"

/* ---- Making ---- */

static r4_status check_index(const r4_batch_options *o, size_t features, uint8_t *is_listed, r4_error *e)
{
  for (size_t u = 0; u < o->masked; u++) {
    float f = o->index[u];
    if (!(f >= 0 && f < (float)features) || f != floorf(f))
      return r4_fail(e, R4_E_ARGUMENT, "batches: index %zu is %g, expected a whole number from 0 to %zu", u,
                     (double)f, features - 1);
    is_listed[(size_t)f] = 1;
  }
  return R4_OK;
}

/* What a list of features leaves out would silently go without a penalty. */
static r4_status check_mask(const r4_data *d, size_t i, const uint8_t *is_listed, r4_error *e)
{
  struct mask_layout layout = data_mask_layout(d);
  const uint8_t *mask = masks_at(data_masks(d), d->record[i].mask);
  for (size_t f = 0; f < data_x(d)->features; f++)
    if (mask[f / layout.repeat] && !is_listed[f])
      return r4_fail(e, R4_E_ARGUMENT,
                     "batches: the mask of example %zu touches feature %zu, which index does not list", i, f);
  return R4_OK;
}

static r4_status check_moved(const r4_data *d, const r4_augment *by, const uint8_t *is_listed, r4_error *e)
{
  float *touched = mem_new(data_x(d)->features, sizeof *touched, "features", e);
  if (!touched) return R4_E_MEMORY;
  size_t n = r4_data_masked_features(d, by, touched), u = 0;
  while (u < n && is_listed[(size_t)touched[u]]) u++;
  size_t missing = u < n ? (size_t)touched[u] : 0;
  r4_mem_free(touched);
  if (u == n) return R4_OK;
  return r4_fail(e, R4_E_ARGUMENT,
                 "batches: masks that augment moves can touch feature %zu, which index does not list",
                 missing);
}

/* Masks that move are as many as examples, so their listed features are looked up in each. */
static r4_status find_elements(struct batch_rows *r, const r4_batch_options *o, const uint8_t *is_listed,
                               r4_error *e)
{
  size_t repeat = data_mask_layout(r->data).repeat;
  if (!(r->element = mem_new(o->masked, sizeof *r->element, "features", e))) return R4_E_MEMORY;
  for (size_t u = 0; u < o->masked; u++) r->element[u] = (size_t)o->index[u] / repeat;
  return check_moved(r->data, &o->augment, is_listed, e);
}

/* Few masks are distinct, so the listed features of each are gathered once. */
static r4_status gather_listed(struct batch_rows *r, const r4_batch_options *o, const uint8_t *is_listed,
                               r4_error *e)
{
  const r4_data *d = r->data;
  size_t masks = data_masks(d) ? data_masks(d)->n : 1, repeat = data_mask_layout(d).repeat;
  uint8_t *gathered = mem_new(masks, 1, "the listed masks", e);
  r4_status s = R4_OK;
  r->listed = mem_new(masks, o->masked, "the listed masks", e);
  if (!gathered || !r->listed) s = R4_E_MEMORY;
  for (size_t i = 0; !s && i < d->n; i++) {
    uint32_t number = d->record[i].mask;
    if (!number || gathered[number]) continue;
    gathered[number] = 1;
    s = check_mask(d, i, is_listed, e);
    const uint8_t *mask = masks_at(data_masks(d), number);
    for (size_t u = 0; u < o->masked; u++)
      r->listed[number * o->masked + u] = mask[(size_t)o->index[u] / repeat];
  }
  r4_mem_free(gathered);
  return s;
}

static r4_status init_list(struct batch_rows *r, const r4_batch_options *o, r4_error *e)
{
  if (!o->index) return r4_fail(e, R4_E_ARGUMENT, "batches: %zu masked features without an index", o->masked);
  uint8_t *is_listed = mem_new(r->features, 1, "features", e);
  if (!is_listed) return R4_E_MEMORY;
  r4_status s = check_index(o, r->features, is_listed, e);
  if (!s)
    s = augment_moves(&o->augment) ? find_elements(r, o, is_listed, e) : gather_listed(r, o, is_listed, e);
  r4_mem_free(is_listed);
  return s;
}

r4_status batch_rows_init(struct batch_rows *r, const r4_data *d, const r4_batch_options *options,
                          r4_error *e)
{
  *r = (struct batch_rows){.data = data_derive(d, e),
                           .features = data_x(d)->features,
                           .repeats = options->by_group,
                           .seed = options->seed};
  if (!r->data) return R4_E_MEMORY;
  r4_status s = augment_init(&r->augment, r->data, options->augment, options->seed, e);
  if (!s) s = fill_init(&r->fill, r->data, options->fill, options->seed, e);
  if (augment_is_on(&r->augment.by)) r->fill.augment = &r->augment;
  r->masked = options->no_masks ? 0 : options->masked ? options->masked : r->features;
  if (!s && options->masked && !options->no_masks) s = init_list(r, options, e);
  if (s) batch_rows_clear(r);
  return s;
}

void batch_rows_clear(struct batch_rows *r)
{
  fill_clear(&r->fill);
  augment_clear(&r->augment);
  r4_data_free(r->data);
  r4_mem_free(r->listed);
  r4_mem_free(r->element);
  *r = (struct batch_rows){0};
}

/* ---- Rows ---- */

/* Becomes vector code; a table of the 256 quotients takes three times as long. */
static void to_floats(const uint8_t *from, size_t n, float *restrict to)
{
  for (size_t k = 0; k < n; k++) to[k] = (float)from[k] / 255;
}

/* A mask, which has this number in the data; it may have been moved since. */
static void read_mask(const struct batch_rows *r, uint32_t number, const uint8_t *mask, float *restrict to)
{
  if (!mask) {
    memset(to, 0, r->masked * sizeof *to);
    return;
  }
  if (r->listed) {
    to_floats(r->listed + number * r->masked, r->masked, to);
    return;
  }
  if (r->element) {
    for (size_t u = 0; u < r->masked; u++) to[u] = (float)mask[r->element[u]] / 255;
    return;
  }
  struct mask_layout layout = data_mask_layout(r->data);
  to_floats(mask, layout.size, to);
  if (layout.repeat == 1) return;
  for (size_t k = layout.size; k-- > 0;) /* from the end, so that nothing is written over before it is read */
    for (size_t c = layout.repeat; c-- > 0;) to[k * layout.repeat + c] = to[k];
}

/* Records and rows lie anywhere in memory: the cache is told a few examples ahead, which halves the time. */
static void ask_ahead(const r4_data *d, size_t n, const size_t *example)
{
  enum { AHEAD = 3 };
  const struct column *x = data_x(d);
  if (n > 2 * AHEAD) __builtin_prefetch(d->record + example[2 * AHEAD]);
  if (n <= AHEAD || x->is->size > 1) return;
  const char *row = column_row(x, d->record[example[AHEAD]].row);
  for (size_t k = 0; k < x->features; k += 64) __builtin_prefetch(row + k);
}

/* What augmentation and filling draw is of an epoch and an example. One that comes again within an epoch is seen as in
 * an epoch of its own, whose number is drawn by its place. */
static uint32_t look_of(const struct batch_rows *r, uint32_t epoch, size_t place)
{
  const uint64_t all = (uint64_t)UINT32_MAX + 1;
  if (!r->repeats) return epoch;
  return (uint32_t)r4_random_below((r4_random){r->seed, PURPOSE_GROUP_LOOK, epoch}, place, all);
}

size_t batch_rows_make(const struct batch_rows *r, uint32_t epoch, size_t first, size_t n,
                       const size_t *example, bool alone, const struct batch_memory *to)
{
  size_t masked = 0, scratch = fill_scratch(&r->fill), moved = augment_scratch(&r->augment);
  for (size_t i = 0; i < n; i++) column_will_need(data_x(r->data), r->data->record[example[i]].row);
#pragma omp parallel for schedule(static) reduction(+ : masked) if (!alone)
  for (size_t i = 0; i < n; i++) {
    const struct record *record = r->data->record + example[i];
    ask_ahead(r->data, n - i, example + i);
    float *x = to->x + i * r->features;
    column_read(data_x(r->data), record->row, x);
    to->y[i] = (float)record->label;
    if (to->length) to->length[i] = (float)column_length(data_x(r->data), record->row);
    const uint8_t *mask = data_mask_bytes(r->data, example[i]);
    uint32_t look = look_of(r, epoch, first + i);
    mask = augment_row(&r->augment, look, example[i], mask, x, to->moved + i * moved);
    if (to->m) read_mask(r, record->mask, mask, to->m + i * r->masked);
    if (to->filled)
      fill_row(&r->fill, look, example[i], x, mask, to->scratch + i * scratch, to->filled + i * r->features);
    augment_hide(&r->augment, look, example[i], x);
    if (to->filled) augment_hide(&r->augment, look, example[i], to->filled + i * r->features);
    masked += record->mask != 0;
  }
  return masked;
}
