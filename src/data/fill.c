#include "data/fill.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/purpose.h"
#include "data/mask_shape.h"

const char *const fill_words[] = {"auto",
                                  [R4_FILL_NONE + 1] = "none",
                                  [R4_FILL_COLOUR + 1] = "colour",
                                  [R4_FILL_NOISE + 1] = "noise",
                                  [R4_FILL_MEAN + 1] = "mean",
                                  [R4_FILL_BLUR + 1] = "blur",
                                  [R4_FILL_SWAP + 1] = "swap",
                                  [R4_FILL_PASTE + 1] = "paste",
                                  NULL};

/* What one example is filled with. */
struct place {
  const struct fill *f;
  r4_random key;
  uint64_t draw; /* the first of its random numbers */
  size_t i;
  const uint8_t *mask;
  const float *x;
  float *scratch, *to;
};

static size_t features(const struct fill *f)
{
  return f->height * f->width * f->channels;
}

/* The weight of a feature's mask, 0 to 1. */
static float weight(const struct fill *f, const uint8_t *mask, size_t feature)
{
  return (float)mask[feature / data_mask_layout(f->data).repeat] / 255;
}

static float mix(float m, float x, float c)
{
  return m < 1 ? (1 - m) * x + m * c : c;
}

static float value_of(const struct fill *f, size_t i, size_t feature)
{
  const struct values *v = f->data->values;
  size_t at = f->data->record[i].row * v->features + feature;
  return v->bytes ? (float)v->bytes[at] / 255 : v->floats[at];
}

/* ---- The kinds ---- */

static float drawn(const struct place *p, size_t number, size_t channel)
{
  double u = r4_random_uniform(p->key, p->draw + number);
  return (float)(p->f->low[channel] + u * ((double)p->f->high[channel] - p->f->low[channel]));
}

static void fill_colour(const struct place *p)
{
  const struct fill *f = p->f;
  bool vector = f->height * f->width == 1; /* one draw for all, each in its own range */
  for (size_t c = 0; c < f->channels; c++) {
    float colour = drawn(p, vector ? 0 : c, c);
    for (size_t j = c; j < features(f); j += f->channels)
      p->to[j] = mix(weight(f, p->mask, j), p->x[j], colour);
  }
}

static void fill_noise(const struct place *p)
{
  for (size_t j = 0; j < features(p->f); j++) {
    float m = weight(p->f, p->mask, j);
    p->to[j] = m > 0 ? mix(m, p->x[j], drawn(p, j, j % p->f->channels)) : p->x[j];
  }
}

static void fill_mean(const struct place *p)
{
  for (size_t j = 0; j < features(p->f); j++)
    p->to[j] = mix(weight(p->f, p->mask, j), p->x[j], p->f->mean[j]);
}

/* v_t <- v_t + a v_t-1 in both directions along n elements. */
static void spread(float *v, size_t n, size_t stride, float a)
{
  for (size_t t = 1; t < n; t++) v[t * stride] += a * v[(t - 1) * stride];
  for (size_t t = n - 1; t-- > 0;) v[t * stride] += a * v[(t + 1) * stride];
}

static void spread_image(float *v, size_t height, size_t width, float a)
{
  for (size_t r = 0; r < height; r++) spread(v + r * width, width, 1, a);
  for (size_t c = 0; c < width; c++) spread(v + c, height, width, a);
}

/* w falls by e with every sixteenth of the longer side. */
static void fill_blur(const struct place *p)
{
  const struct fill *f = p->f;
  size_t pixels = f->height * f->width, longer = f->height > f->width ? f->height : f->width;
  float a = expf(-16 / (float)(longer > 16 ? longer : 16)), *sum = p->scratch, *weights = p->scratch + pixels;
  for (size_t k = 0; k < pixels; k++) weights[k] = 1 - weight(f, p->mask, k * f->channels);
  spread_image(weights, f->height, f->width, a);
  for (size_t c = 0; c < f->channels; c++) {
    for (size_t k = 0; k < pixels; k++) {
      size_t j = k * f->channels + c;
      sum[k] = (1 - weight(f, p->mask, j)) * p->x[j];
    }
    spread_image(sum, f->height, f->width, a);
    for (size_t k = 0; k < pixels; k++) {
      size_t j = k * f->channels + c;
      float around = weights[k] > 0 ? sum[k] / weights[k] : (f->low[c] + f->high[c]) / 2;
      p->to[j] = mix(weight(f, p->mask, j), p->x[j], around);
    }
  }
}

/* One of the donors, another than the example itself if there is one. */
static size_t draw_donor(const struct place *p, uint64_t number)
{
  const struct fill *f = p->f;
  size_t k = r4_random_below(p->key, p->draw + number, f->donors);
  if (f->donor[k] == p->i) k = (k + 1) % f->donors;
  return f->donor[k];
}

static const uint8_t *mask_of(const struct fill *f, size_t i)
{
  return masks_at(f->data->masks, f->data->record[i].mask);
}

/* The pixel of the donor's box that lies where pixel k lies in the box of its mask. */
static size_t counterpart(const struct fill *f, struct shape_box own, struct shape_box other, size_t k)
{
  size_t row = (k / f->width - own.top) * other.height / own.height + other.top;
  size_t column = (k % f->width - own.left) * other.width / own.width + other.left;
  return row * f->width + column;
}

static void fill_swap(const struct place *p)
{
  const struct fill *f = p->f;
  const struct shape_size size = {f->height, f->width};
  size_t donor = draw_donor(p, 0), n = features(f);
  bool vector = f->height * f->width == 1;
  struct shape_box own = {0}, other = {0};
  if (!vector) own = shape_box(p->mask, size), other = shape_box(mask_of(f, donor), size);
  for (size_t j = 0; j < n; j++) {
    float m = weight(f, p->mask, j);
    size_t from =
      vector || !(m > 0) ? j : counterpart(f, own, other, j / f->channels) * f->channels + j % f->channels;
    p->to[j] = m > 0 ? mix(m, p->x[j], value_of(f, donor, from)) : p->x[j];
  }
}

static void fill_paste(const struct place *p)
{
  const struct fill *f = p->f;
  if (r4_random_uniform(p->key, p->draw) < 0.5) {
    memcpy(p->to, p->x, features(f) * sizeof *p->to);
    return;
  }
  size_t donor = draw_donor(p, 1);
  const uint8_t *mask = mask_of(f, donor);
  for (size_t j = 0; j < features(f); j++) {
    float m = weight(f, mask, j);
    p->to[j] = m > 0 ? mix(m, p->x[j], value_of(f, donor, j)) : p->x[j];
  }
}

static const struct kind {
  void (*row)(const struct place *p);
  bool everywhere; /* also examples without a mask */
  bool images;     /* of these alone */
} kinds[] = {
  [R4_FILL_COLOUR] = {fill_colour, false, false}, [R4_FILL_NOISE] = {fill_noise, false, false},
  [R4_FILL_MEAN] = {fill_mean, false, false},     [R4_FILL_BLUR] = {fill_blur, false, true},
  [R4_FILL_SWAP] = {fill_swap, false, false},     [R4_FILL_PASTE] = {fill_paste, true, false},
};

void fill_row(const struct fill *f, uint32_t epoch, size_t i, const float *x, float *scratch, float *to)
{
  const struct kind *kind = &kinds[f->kind];
  const struct record *r = f->data->record + i;
  if (!kind->row || (!r->mask && !kind->everywhere)) {
    memcpy(to, x, features(f) * sizeof *to);
    return;
  }
  const uint8_t *mask = r->mask ? masks_at(f->data->masks, r->mask) : NULL;
  kind->row(&(struct place){.f = f,
                            .key = {f->seed, PURPOSE_FILL, epoch},
                            .draw = i * (features(f) + 2),
                            .i = i,
                            .mask = mask,
                            .x = x,
                            .scratch = scratch,
                            .to = to});
}

/* ---- Making ---- */

static void find_range(struct fill *f)
{
  for (size_t c = 0; c < f->channels; c++) {
    f->low[c] = f->data->values->bytes ? 0 : INFINITY;
    f->high[c] = f->data->values->bytes ? 1 : -INFINITY;
  }
  if (f->data->values->bytes) return;
  for (size_t i = 0; i < f->data->n; i++)
    for (size_t j = 0; j < features(f); j++) {
      float v = value_of(f, i, j);
      size_t c = j % f->channels;
      f->low[c] = fminf(f->low[c], v);
      f->high[c] = fmaxf(f->high[c], v);
    }
}

static void find_donors(struct fill *f)
{
  for (size_t i = 0; i < f->data->n; i++)
    if (f->data->record[i].mask) f->donor[f->donors++] = i;
}

r4_status fill_init(struct fill *f, const r4_data *d, r4_fill kind, uint64_t seed, r4_error *e)
{
  r4_shape s = d->values->shape;
  bool image = s.rank == 3;
  *f = (struct fill){
    .data = d, .kind = kind, .seed = seed, .height = 1, .width = 1, .channels = d->values->features};
  if (image) f->height = (size_t)s.dim[0], f->width = (size_t)s.dim[1], f->channels = (size_t)s.dim[2];
  if (kinds[kind].images && !image)
    return r4_fail(e, R4_E_ARGUMENT, "fill: blur is for images, and examples are vectors of %zu features",
                   d->values->features);
  f->low = r4_mem_new(f->channels, sizeof *f->low);
  f->high = r4_mem_new(f->channels, sizeof *f->high);
  f->mean = r4_mem_new(features(f), sizeof *f->mean);
  f->donor = r4_mem_new(d->n, sizeof *f->donor);
  if (!f->low || !f->high || !f->mean || !f->donor) {
    fill_clear(f);
    return r4_fail(e, R4_E_MEMORY, "out of memory to fill masks");
  }
  find_range(f);
  find_donors(f);
  if (f->kind == R4_FILL_MEAN) return r4_data_mean(d, f->mean, e);
  if (!f->donors) f->kind = R4_FILL_NONE; /* nothing to replace, and nothing to paste */
  return R4_OK;
}

void fill_clear(struct fill *f)
{
  r4_mem_free(f->low);
  r4_mem_free(f->high);
  r4_mem_free(f->mean);
  r4_mem_free(f->donor);
  *f = (struct fill){0};
}

size_t fill_scratch(const struct fill *f)
{
  return f->kind == R4_FILL_BLUR ? 2 * f->height * f->width : 0;
}

/* ---- Whole data sets ---- */

static r4_status fill_all(const r4_data *d, const struct fill *f, uint32_t epoch, struct values *to,
                          r4_error *e)
{
  size_t n = d->values->features;
  float *x = r4_mem_new(n, sizeof *x), *scratch = r4_mem_new(fill_scratch(f) + 1, sizeof *scratch);
  r4_status s = x && scratch ? R4_OK : r4_fail(e, R4_E_MEMORY, "out of memory for %zu features", n);
  for (size_t i = 0; i < d->n && !s; i++) {
    r4_data_values(d, i, x);
    fill_row(f, epoch, i, x, scratch, to->floats + i * n);
  }
  r4_mem_free(x);
  r4_mem_free(scratch);
  return s;
}

r4_data *r4_data_fill(const r4_data *d, r4_fill kind, uint64_t seed, uint32_t epoch, r4_error *e)
{
  struct fill f;
  r4_status s = fill_init(&f, d, kind, seed, e);
  struct values *v = s ? NULL : values_new(d->values->shape, d->n, true, e);
  r4_data *filled = v ? data_derive(d, e) : NULL;
  s = filled ? fill_all(d, &f, epoch, v, e) : R4_E_MEMORY;
  fill_clear(&f);
  if (s) {
    values_drop(v);
    r4_data_free(filled);
    return NULL;
  }
  for (size_t i = 0; i < d->n; i++) filled->record[i].row = (uint32_t)i;
  data_set_values(filled, v);
  return filled;
}

r4_fill r4_fill_for(const r4_data *d)
{
  double least = 1, most = 0;
  for (size_t c = 0; c < d->classes->n; c++) {
    r4_counts n = r4_data_counts(d, (int32_t)c, -1);
    if (!n.examples[R4_TRAIN]) continue;
    double share = (double)n.masked[R4_TRAIN] / (double)n.examples[R4_TRAIN];
    least = fmin(least, share);
    most = fmax(most, share);
  }
  if (!(most > 0)) return R4_FILL_NONE;
  return least < most / 2 ? R4_FILL_PASTE : R4_FILL_COLOUR;
}
