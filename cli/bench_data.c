#include "bench_data.h"

#include <stdio.h>
#include <stdlib.h>

enum { DRAW_X = 1, DRAW_Y, DRAW_M, DRAW_INDEX }; /* purposes of random numbers */
static const double MASKED_SHARE = 0.3;

/* Batches of an epoch: many, but all values are looked at once for their hash. */
enum { FEWEST = 16, MOST = 64, VALUES = 1 << 24 };

struct draft {
  r4_shape shape; /* of an example */
  size_t n, features, channels;
  uint64_t seed;
  float *x;
  int32_t *token, *length, *y;
  uint8_t *m;
};

static r4_random key(const struct draft *d, uint32_t purpose)
{
  return (r4_random){d->seed, purpose, 0};
}

static bool refuse(r4_error *e, const char *name, int64_t value, int64_t most, const char *what)
{
  e->status = R4_E_ARGUMENT;
  snprintf(e->text, sizeof e->text, "%s is %lld, expected at most %lld: %s", name, (long long)value,
           (long long)most, what);
  return false;
}

static bool out_of_memory(r4_error *e)
{
  e->status = R4_E_MEMORY;
  snprintf(e->text, sizeof e->text, "out of memory for a batch of data");
  return false;
}

/* ---- Masks ---- */

/* The first "listed" of a shuffle of all features, in every example. */
static bool mask_listed(struct draft *d, size_t listed)
{
  size_t *order = calloc(d->features, sizeof *order);
  if (!order) return false;
  for (size_t k = 0; k < d->features; k++) order[k] = k;
  for (size_t k = 0; k < listed; k++) {
    size_t other = k + r4_random_below(key(d, DRAW_INDEX), k, d->features - k), kept = order[k];
    order[k] = order[other];
    order[other] = kept;
    for (size_t i = 0; i < d->n; i++) d->m[i * d->features + order[k]] = 1;
  }
  free(order);
  return true;
}

static void mask_corners(struct draft *d, int64_t side)
{
  int64_t height = d->shape.dim[0], width = d->shape.dim[1];
  size_t run = (size_t)side * d->channels;
  for (size_t i = 0; i < d->n; i++) {
    uint64_t which = r4_random_below(key(d, DRAW_M), i, 4);
    int64_t top = which & 1 ? height - side : 0, left = which & 2 ? width - side : 0;
    for (int64_t row = top; row < top + side; row++) {
      uint8_t *to = d->m + i * d->features + (size_t)(row * width + left) * d->channels;
      for (size_t k = 0; k < run; k++) to[k] = 1;
    }
  }
}

/* Each token, or pixel with all of its channels. Each example has one at least. */
static void mask_by_chance(struct draft *d)
{
  size_t places = d->features / d->channels;
  for (size_t k = 0; k < d->n * places; k++)
    for (size_t c = 0; c < d->channels; c++)
      d->m[k * d->channels + c] = k % places == 0 || r4_random_uniform(key(d, DRAW_M), k) < MASKED_SHARE;
}

static bool draw_masks(struct draft *d, struct bench_masks masks, r4_error *e)
{
  bool image = d->shape.rank == 3;
  int64_t side = !image ? 0 : d->shape.dim[0] < d->shape.dim[1] ? d->shape.dim[0] : d->shape.dim[1];
  if (masks.listed > (int64_t)d->features)
    return refuse(e, "masked", masks.listed, (int64_t)d->features, "the features of an example");
  if (masks.corner > side)
    return refuse(e, "corner", masks.corner, side, image ? "the side of an image" : "there are no images");
  if (masks.corner)
    mask_corners(d, masks.corner);
  else if (!masks.listed)
    mask_by_chance(d);
  else if (!mask_listed(d, (size_t)masks.listed))
    return out_of_memory(e);
  return true;
}

/* ---- Examples ---- */

static void draw_values(struct draft *d, int64_t vocabulary, int64_t classes)
{
  for (size_t k = 0; k < d->n * d->features; k++)
    if (d->token)
      d->token[k] = (int32_t)r4_random_below(key(d, DRAW_X), k, (uint64_t)vocabulary);
    else
      d->x[k] = (float)r4_random_uniform(key(d, DRAW_X), k);
  for (size_t i = 0; i < d->n && d->length; i++) d->length[i] = (int32_t)d->features;
  for (size_t i = 0; i < d->n; i++) d->y[i] = (int32_t)r4_random_below(key(d, DRAW_Y), i, (uint64_t)classes);
}

static r4_data *one_batch(struct draft *d, const r4_net *net, struct bench_masks masks, r4_error *e)
{
  int64_t vocabulary = r4_net_vocabulary(net), outputs = r4_net_classes(net);
  int64_t classes = outputs > 1 ? outputs : 2;
  if (vocabulary) {
    d->token = calloc(d->n * d->features, sizeof *d->token);
    d->length = calloc(d->n, sizeof *d->length);
  } else {
    d->x = calloc(d->n * d->features, sizeof *d->x);
  }
  d->y = calloc(d->n, sizeof *d->y);
  d->m = calloc(d->n * d->features, 1);
  bool ok = ((d->x || (d->token && d->length)) && d->y && d->m) || out_of_memory(e);
  if (!ok || !draw_masks(d, masks, e)) return NULL;
  draw_values(d, vocabulary, classes);
  const r4_data_arrays arrays = {.n = d->n,
                                 .shape = d->shape,
                                 .floats = d->x,
                                 .tokens = d->token,
                                 .lengths = d->length,
                                 .vocabulary = vocabulary,
                                 .labels = d->y,
                                 .classes = (size_t)classes,
                                 .mask_bytes = d->m,
                                 .masks_by_feature = true,
                                 .mask_means = R4_MASKS_IRRELEVANT};
  return r4_data_new(&arrays, e);
}

static r4_data *many_times(const struct draft *d, const r4_data *once, r4_error *e)
{
  size_t batches = VALUES / (d->n * d->features);
  batches = batches < FEWEST ? FEWEST : batches > MOST ? MOST : batches;
  size_t *example = calloc(batches * d->n, sizeof *example);
  if (!example) {
    out_of_memory(e);
    return NULL;
  }
  for (size_t k = 0; k < batches * d->n; k++) example[k] = k % d->n;
  r4_data *all = r4_data_subset(once, batches * d->n, example, e);
  free(example);
  return all;
}

r4_data *bench_data(const r4_net *net, size_t batch, struct bench_masks masks, uint64_t seed, r4_error *e)
{
  struct draft d = {.shape = r4_net_input(net), .n = batch, .seed = seed};
  d.features = (size_t)r4_shape_count(d.shape);
  d.channels = d.shape.rank == 3 ? (size_t)d.shape.dim[2] : 1;
  r4_data *once = one_batch(&d, net, masks, e), *all = once ? many_times(&d, once, e) : NULL;
  r4_data_free(once);
  free(d.x);
  free(d.token);
  free(d.length);
  free(d.y);
  free(d.m);
  return all;
}
