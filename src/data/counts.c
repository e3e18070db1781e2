/* What there is in a data set: how many of what, and of what size. */
#include "data/counts.h"

#include "base/mem.h"

r4_counts r4_data_counts(const r4_data *d, int32_t label, int32_t group)
{
  r4_counts c = {{0}, {0}};
  for (size_t i = 0; i < d->n; i++) {
    const struct record *r = d->record + i;
    if ((label >= 0 && r->label != label) || (group >= 0 && r->group != group)) continue;
    c.examples[r->split]++;
    c.masked[r->split] += r->mask != 0;
  }
  return c;
}

double data_mask_area(const r4_data *d, size_t i)
{
  const uint8_t *mask = data_mask_bytes(d, i);
  size_t size = data_x(d)->length ? r4_data_length(d, i) : data_masks(d)->size;
  uint64_t sum = 0;
  for (size_t k = 0; mask && k < size; k++) sum += mask[k];
  return mask ? (double)sum / (255. * (double)size) : 0;
}

/* Elements with a mask of the half or more; padding does not count. */
static size_t masked_values(const r4_data *d, size_t i)
{
  const uint8_t *mask = data_mask_bytes(d, i);
  size_t size = data_x(d)->length ? r4_data_length(d, i) : data_masks(d)->size, n = 0;
  for (size_t k = 0; k < size; k++) n += mask[k] >= 128;
  return n;
}

static void add_masks(const r4_data *d, r4_facts *f)
{
  f->smallest_mask = 1;
  for (size_t i = 0; i < d->n; i++) {
    if (!d->record[i].mask) continue;
    double area = data_mask_area(d, i);
    f->masked++;
    f->masked_values += masked_values(d, i);
    f->mean_mask += area;
    if (area < f->smallest_mask) f->smallest_mask = area;
    if (area > f->largest_mask) f->largest_mask = area;
  }
  if (f->masked)
    f->mean_mask /= (double)f->masked;
  else
    f->smallest_mask = 0;
}

/* Sums are in double and in order, so that they do not depend on threads. Padding does not count. */
static void add_values(const r4_data *d, r4_facts *f)
{
  const struct column *v = data_x(d);
  double sum = 0;
  size_t n = 0;
  for (size_t i = 0; i < d->n; i++)
    for (size_t k = 0; k < column_length(v, d->record[i].row); k++) {
      double x = column_exact(v, d->record[i].row, k);
      if (!n || x < f->low) f->low = x;
      if (!n || x > f->high) f->high = x;
      sum += x;
      n++;
    }
  if (n) f->mean = sum / (double)n;
  f->values = n;
}

/* The least length that so many per cent of the examples do not exceed, by halving. */
static size_t length_of_share(const r4_data *d, const r4_facts *f, size_t per_cent)
{
  size_t low = f->shortest, high = f->longest;
  while (low < high) {
    size_t middle = low + (high - low) / 2, within = 0;
    for (size_t i = 0; i < d->n; i++) within += r4_data_length(d, i) <= middle;
    if (100 * within >= per_cent * d->n)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

static void add_lengths(const r4_data *d, r4_facts *f)
{
  for (size_t i = 0; i < d->n; i++) {
    size_t length = r4_data_length(d, i);
    if (!i || length < f->shortest) f->shortest = length;
    if (!i || length > f->longest) f->longest = length;
  }
  f->median_length = length_of_share(d, f, 50);
  f->length_95 = length_of_share(d, f, 95);
}

r4_facts r4_data_facts(const r4_data *d)
{
  r4_facts f = {0};
  add_values(d, &f);
  add_lengths(d, &f);
  add_masks(d, &f);
  return f;
}

r4_status r4_data_mean(const r4_data *d, float *to, r4_error *e)
{
  NEEDS(d, "data", R4_E_ARGUMENT);
  NEEDS(to, "room for the mean", R4_E_ARGUMENT);
  if (data_x(d)->is->ids)
    return r4_fail(e, R4_E_ARGUMENT, "examples of %s have no mean",
                   data_x(d)->is->element);
  size_t features = (size_t)r4_shape_count(r4_data_shape(d)), n = r4_data_count(d);
  double *sum = mem_new(features, sizeof *sum, "the mean of features", e);
  float *x = mem_new(features, sizeof *x, "the mean of features", e);
  r4_status s = R4_OK;
  if (!sum || !x) s = R4_E_MEMORY;
  for (size_t i = 0; i < n && !s; i++) {
    r4_data_values(d, i, x);
    for (size_t j = 0; j < features; j++) sum[j] += x[j];
  }
  for (size_t j = 0; j < features && !s; j++) to[j] = (float)(sum[j] / (double)n);
  r4_mem_free(sum);
  r4_mem_free(x);
  return s;
}
