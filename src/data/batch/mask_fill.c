#include "data/batch/mask_fill.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/purpose.h"
#include "data/batch/content.h"
#include "data/mask/mask_shape.h"

const char *const fill_words[] = {"auto",
                                  [R4_FILL_NONE + 1] = "none",
                                  [R4_FILL_COLOUR + 1] = "colour",
                                  [R4_FILL_NOISE + 1] = "noise",
                                  [R4_FILL_MEAN + 1] = "mean",
                                  [R4_FILL_BLUR + 1] = "blur",
                                  [R4_FILL_SWAP + 1] = "swap",
                                  [R4_FILL_PASTE + 1] = "paste",
                                  [R4_FILL_BLANK + 1] = "blank",
                                  [R4_FILL_EXCHANGE + 1] = "exchange",
                                  NULL};

const char *r4_fill_name(r4_fill kind)
{
  return kind >= R4_FILL_NONE && kind <= R4_FILL_EXCHANGE ? fill_words[kind + 1] : NULL;
}

/* One example that is being filled. */
struct place {
  const struct fill *f;
  r4_random key;
  uint64_t draw;       /* the first of its random numbers */
  size_t i, end;       /* the example, and where it ends: behind its features, or tokens */
  const uint8_t *mask; /* where content is replaced; NULL: nowhere */
  const float *x;
  float *scratch;
  size_t donor;
  bool inside;                 /* exchange: the example has a mask of its own, as it was swapped */
  const float *seen;           /* of the donor, if it was augmented; NULL: as it is in the data */
  const uint8_t *other_mask;   /* of the donor likewise */
  struct shape_box own, other; /* of the masks of the example and of the donor */
  const uint32_t *source;      /* where the donor's content is for each of its pixels; NULL: where the pixel is */
};

static bool is_vector(const struct fill *f)
{
  return f->height * f->width == 1;
}

static size_t features(const struct fill *f)
{
  return f->height * f->width * f->channels;
}

static float value_of(const struct fill *f, size_t i, size_t feature)
{
  return column_value(data_x(f->data), f->data->record[i].row, feature);
}

/* The number-th random value of a channel. */
static float drawn(const struct place *p, size_t number, size_t channel)
{
  double low = p->f->low[channel], high = p->f->high[channel];
  return (float)(low + r4_random_uniform(p->key, p->draw + number) * (high - low));
}

/* ---- Colour, noise, mean, blank ---- */

/* A vector has one draw for all, each feature in its own range. */
static void choose_colour(struct place *p)
{
  for (size_t c = 0; c < p->f->channels; c++) p->scratch[c] = drawn(p, is_vector(p->f) ? 0 : c, c);
}

static float colour(const struct place *p, size_t feature)
{
  return p->scratch[feature % p->f->channels];
}

static float noise(const struct place *p, size_t feature)
{
  return drawn(p, feature, feature % p->f->channels);
}

static float mean(const struct place *p, size_t feature)
{
  return p->f->mean[feature];
}

static float blank(const struct place *p, size_t feature)
{
  (void)p;
  (void)feature;
  return 0;
}

/* ---- Blur ---- */

/* v_t <- v_t + a v_t-1 in both directions along n elements. */
static void spread(float *v, size_t n, size_t stride, float a)
{
  for (size_t t = 1; t < n; t++) v[t * stride] += a * v[(t - 1) * stride];
  for (size_t t = n - 1; t-- > 0;) v[t * stride] += a * v[(t + 1) * stride];
}

/* Along rows and columns; it falls by e with every sixteenth of the longer side. */
static void spread_image(const struct fill *f, float *v)
{
  size_t longer = f->height > f->width ? f->height : f->width;
  float a = expf(-16 / (float)(longer > 16 ? longer : 16));
  for (size_t r = 0; r < f->height; r++) spread(v + r * f->width, f->width, 1, a);
  for (size_t c = 0; c < f->width; c++) spread(v + c, f->height, f->width, a);
}

/* The planes of all channels, weighted, and behind them that of the weights. */
static void blur_all(struct place *p)
{
  const struct fill *f = p->f;
  size_t pixels = f->height * f->width;
  for (size_t c = 0; c <= f->channels; c++) {
    float *plane = p->scratch + c * pixels;
    for (size_t k = 0; k < pixels; k++) {
      float outside = 1 - (float)p->mask[k] / 255;
      plane[k] = c < f->channels ? outside * p->x[k * f->channels + c] : outside;
    }
    spread_image(f, plane);
  }
}

static float blurred(const struct place *p, size_t feature)
{
  const struct fill *f = p->f;
  size_t pixels = f->height * f->width, k = feature / f->channels, c = feature % f->channels;
  float weight = p->scratch[f->channels * pixels + k];
  return weight > 0 ? p->scratch[c * pixels + k] / weight : (f->low[c] + f->high[c]) / 2;
}

/* ---- Content of others ---- */

/* One of the donors, another than the example itself if there is one. */
static void draw_donor(struct place *p, uint64_t number)
{
  const struct fill *f = p->f;
  size_t k = r4_random_below(p->key, p->draw + number, f->donors);
  if (f->donor[k] == p->i) k = (k + 1) % f->donors;
  p->donor = f->donor[k];
}

/* The donor is augmented as an example is, by draws that belong to the example which it gives to: its content lies and
 * looks differently on each. */
static void see_donor(struct place *p)
{
  const struct fill *f = p->f;
  p->other_mask = data_mask_bytes(f->data, p->donor);
  if (!f->augment) return;
  column_read(data_x(f->data), f->data->record[p->donor].row, p->scratch);
  p->other_mask = augment_row(f->augment, p->key.step, f->data->n + p->i, p->other_mask, p->scratch,
                              (uint8_t *)(p->scratch + features(f)));
  p->seen = p->scratch;
}

/* Floats of scratch memory for a donor that is augmented, and its mask. */
static size_t scratch_of_donor(const struct fill *f)
{
  return f->augment ? features(f) + (f->height * f->width + sizeof(float) - 1) / sizeof(float) : 0;
}

static float donor_value(const struct place *p, size_t feature)
{
  return p->seen ? p->seen[feature] : value_of(p->f, p->donor, feature);
}

/* Where the donor's content is, and where it goes to. */
static void find_content(struct place *p)
{
  const struct shape_size size = {p->f->height, p->f->width};
  uint32_t *source = (uint32_t *)(void *)(p->scratch + scratch_of_donor(p->f));
  if (is_vector(p->f)) {
    content_in_order(p->mask, p->other_mask, data_mask_layout(p->f->data).size, source);
    p->source = source;
    return;
  }
  p->own = shape_box(p->mask, size);
  p->other = shape_box(p->other_mask, size);
  if (!content_has_holes(p->other_mask, size, p->other)) return;
  content_sources(p->other_mask, size, source);
  p->source = source;
}

/* A donor whose mask has moved out of its image gives nothing. */
static void choose_swap(struct place *p)
{
  draw_donor(p, 0);
  see_donor(p);
  if (p->other_mask)
    find_content(p);
  else
    p->mask = NULL;
}

/* The pixel of the donor's box that lies where pixel k lies in the example's own. */
static size_t counterpart(const struct place *p, size_t k)
{
  size_t width = p->f->width;
  size_t row = (k / width - p->own.top) * p->other.height / p->own.height + p->other.top;
  size_t column = (k % width - p->own.left) * p->other.width / p->own.width + p->other.left;
  return row * width + column;
}

static float swapped(const struct place *p, size_t feature)
{
  size_t channels = p->f->channels;
  if (is_vector(p->f)) {
    size_t repeat = data_mask_layout(p->f->data).repeat;
    return donor_value(p, p->source[feature / repeat] * repeat + feature % repeat);
  }
  size_t pixel = counterpart(p, feature / channels);
  if (p->source) pixel = p->source[pixel];
  return donor_value(p, pixel * channels + feature % channels);
}

/* Every second example stays as it is. */
static void choose_paste(struct place *p)
{
  p->mask = NULL;
  if (r4_random_uniform(p->key, p->draw) < 0.5) return;
  draw_donor(p, 1);
  see_donor(p);
  p->mask = p->other_mask;
}

static float pasted(const struct place *p, size_t feature)
{
  return donor_value(p, feature);
}

/* Whoever has a mask of its own keeps its place. */
static void choose_exchange(struct place *p)
{
  p->inside = p->mask;
  if (p->inside)
    choose_swap(p);
  else
    choose_paste(p);
}

static float exchanged(const struct place *p, size_t feature)
{
  return p->inside ? swapped(p, feature) : pasted(p, feature);
}

/* ---- Ids in place of ids ---- */

/* An id cannot be mixed with another: it is replaced from the half on. */
static bool is_masked(const uint8_t *mask, size_t k)
{
  return mask && mask[k] >= 128;
}

/* The token at a random place of a random example, the number-th that is drawn. It is another one than at this place,
 * and not a masked one, if some draws find such. */
static float draw_token(const struct place *p, size_t number, float now)
{
  enum { TRIES = 8 };
  const r4_data *d = p->f->data;
  const uint64_t first = (p->i * (features(p->f) + 1) + number) * 2 * TRIES;
  float id = now;
  for (uint64_t k = first; k < first + 2 * TRIES; k += 2) {
    size_t from = r4_random_below(p->key, k, d->n);
    size_t at = r4_random_below(p->key, k + 1, r4_data_length(d, from));
    id = value_of(p->f, from, at);
    if (id != now && !is_masked(data_mask_bytes(d, from), at)) break;
  }
  return id;
}

static void choose_token(struct place *p)
{
  size_t k = 0;
  while (k + 1 < p->end && !is_masked(p->mask, k)) k++;
  p->scratch[0] = draw_token(p, features(p->f), p->x[k]);
}

static float one_token(const struct place *p, size_t feature)
{
  (void)feature;
  return p->scratch[0];
}

static float another_token(const struct place *p, size_t feature)
{
  return draw_token(p, feature, p->x[feature]);
}

/* The first masked token of the donor for the first of the example, and so on, from the start again at its end. */
static float swapped_token(const struct place *p, size_t feature)
{
  const uint8_t *other = data_mask_bytes(p->f->data, p->donor);
  size_t before = 0, n = 0;
  for (size_t k = 0; k < feature; k++) before += is_masked(p->mask, k);
  for (size_t k = 0; k < features(p->f); k++) n += is_masked(other, k);
  if (!n) return p->x[feature];
  size_t left = before % n, at = 0;
  while (!is_masked(other, at) || left--) at++;
  return value_of(p->f, p->donor, at);
}

static float exchanged_token(const struct place *p, size_t feature)
{
  return p->inside ? swapped_token(p, feature) : pasted(p, feature);
}

/* Where masks are on one class, what it is told by is that they are there: pasting on others leaves that half true, as
 * texts with a mask keep theirs. An id can be taken away without a trace, so every second of these loses it. */
static void choose_paste_or_removal(struct place *p)
{
  const uint8_t *own = p->mask;
  choose_paste(p);
  p->inside = own && p->mask;
  if (p->inside) p->mask = own;
}

static float pasted_or_another(const struct place *p, size_t feature)
{
  return p->inside ? another_token(p, feature) : pasted(p, feature);
}

/* ---- The kinds ---- */

static const struct kind {
  void (*prepare)(struct place *p);
  float (*content)(const struct place *p, size_t feature);
  bool everywhere; /* also examples without a mask */
  bool images;     /* of these alone               */
} kinds[] = {
  [R4_FILL_NONE] = {0},
  [R4_FILL_COLOUR] = {.prepare = choose_colour, .content = colour},
  [R4_FILL_NOISE] = {.content = noise},
  [R4_FILL_MEAN] = {.content = mean},
  [R4_FILL_BLUR] = {.prepare = blur_all, .content = blurred, .images = true},
  [R4_FILL_SWAP] = {.prepare = choose_swap, .content = swapped},
  [R4_FILL_PASTE] = {.prepare = choose_paste, .content = pasted, .everywhere = true},
  [R4_FILL_BLANK] = {.content = blank},
  [R4_FILL_EXCHANGE] = {.prepare = choose_exchange, .content = exchanged, .everywhere = true},
};

static const struct kind kinds_of_ids[sizeof kinds / sizeof *kinds] = {
  [R4_FILL_COLOUR] = {.prepare = choose_token, .content = one_token},
  [R4_FILL_NOISE] = {.content = another_token},
  [R4_FILL_SWAP] = {.prepare = choose_swap, .content = swapped_token},
  [R4_FILL_PASTE] = {.prepare = choose_paste_or_removal, .content = pasted_or_another, .everywhere = true},
  [R4_FILL_EXCHANGE] = {.prepare = choose_exchange, .content = exchanged_token, .everywhere = true},
};

static const struct kind *kind_of(const r4_data *d, r4_fill kind)
{
  return data_x(d)->is->ids ? &kinds_of_ids[kind] : &kinds[kind];
}

size_t fill_scratch(const struct fill *f)
{
  size_t pixels = f->height * f->width;
  switch (f->kind) {
    case R4_FILL_COLOUR: return f->channels;
    case R4_FILL_BLUR: return pixels * (f->channels + 1);
    case R4_FILL_PASTE: return scratch_of_donor(f);
    case R4_FILL_SWAP:
    case R4_FILL_EXCHANGE: return scratch_of_donor(f) + data_mask_layout(f->data).size; /* struct place: source */
    default: return 0;
  }
}

/* Puts content where the mask is, and the example has not ended. */
static void replace(const struct place *p, const struct kind *kind, float *to)
{
  const struct mask_layout layout = data_mask_layout(p->f->data);
  bool ids = data_x(p->f->data)->is->ids;
  for (size_t k = 0; p->mask && k * layout.repeat < p->end; k++) {
    float m = ids ? (float)is_masked(p->mask, k) : (float)p->mask[k] / 255;
    for (size_t j = k * layout.repeat; m > 0 && j < (k + 1) * layout.repeat; j++)
      to[j] = (1 - m) * p->x[j] + m * kind->content(p, j);
  }
}

static struct place place_of(const struct fill *f, uint32_t epoch, size_t i, const float *x,
                             const uint8_t *mask, float *scratch)
{
  return (struct place){.f = f,
                        .end = r4_data_length(f->data, i),
                        .key = {f->seed, PURPOSE_FILL, epoch},
                        .draw = i * (features(f) + 2),
                        .i = i,
                        .mask = mask,
                        .x = x,
                        .scratch = scratch};
}

void fill_row(const struct fill *f, uint32_t epoch, size_t i, const float *x, const uint8_t *mask,
              float *scratch, float *to)
{
  const struct kind *kind = kind_of(f->data, f->kind);
  struct place p = place_of(f, epoch, i, x, mask, scratch);
  memcpy(to, x, features(f) * sizeof *to);
  if (!kind->content || (!p.mask && !kind->everywhere)) return;
  if (kind->prepare) kind->prepare(&p);
  replace(&p, kind, to);
}

/* Of a text as it lies, there is no more than it has. */
static size_t end_of(const struct fill *f, size_t i, size_t donor)
{
  size_t own = r4_data_length(f->data, i), other = r4_data_length(f->data, donor);
  return own < other ? own : other;
}

void fill_from(const struct fill_job *job, const float *x, float *scratch, float *to)
{
  const struct fill *f = job->fill;
  const uint8_t *own = data_mask_bytes(f->data, job->example), *other = data_mask_bytes(f->data, job->donor);
  bool swap = f->kind == R4_FILL_SWAP, as_it_lies = swap && !(own && other);
  const struct kind *kind = kind_of(f->data, as_it_lies ? R4_FILL_PASTE : f->kind);
  const uint8_t *mask = own ? own : data_mask_bytes(f->data, job->place);
  struct place p = place_of(f, job->draw, job->example, x, mask, scratch);
  p.donor = job->donor;
  p.other_mask = other;
  if (as_it_lies) p.end = end_of(f, job->example, job->donor);
  if (swap && !as_it_lies) find_content(&p);
  if (!swap && kind->prepare) kind->prepare(&p);
  memcpy(to, x, features(f) * sizeof *to);
  replace(&p, kind, to);
}

void fill_paste(const struct fill *f, size_t donor, const float *x, size_t end, float *to)
{
  const struct place p = {
    .f = f, .donor = donor, .mask = data_mask_bytes(f->data, donor), .x = x, .end = end};
  memcpy(to, x, features(f) * sizeof *to);
  replace(&p, kind_of(f->data, R4_FILL_PASTE), to);
}

/* ---- Making ---- */

static void find_range(struct fill *f)
{
  const struct column *x = data_x(f->data);
  for (size_t c = 0; c < f->channels; c++) {
    f->low[c] = INFINITY;
    f->high[c] = -INFINITY;
    if (x->is->range) x->is->range(x, f->low + c, f->high + c);
  }
  if (x->is->range) return;
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
  r4_shape s = data_x(d)->shape;
  bool image = s.rank == 3 && data_mask_layout(d).size == (size_t)(s.dim[0] * s.dim[1]);
  *f = (struct fill){
    .data = d, .kind = kind, .seed = seed, .height = 1, .width = 1, .channels = data_x(d)->features};
  if (image) f->height = (size_t)s.dim[0], f->width = (size_t)s.dim[1], f->channels = (size_t)s.dim[2];
  if (kinds[kind].images && !image)
    return r4_fail(e, R4_E_ARGUMENT,
                   "fill: blur is for images with a mask per pixel, and examples are %zu %s",
                   data_x(d)->features, data_x(d)->is->element);
  if (kind && !kind_of(d, kind)->content)
    return r4_fail(
      e, R4_E_ARGUMENT,
      "fill: %s is for values that can be mixed, and examples are %zu %s: expected colour (one replacement for all), "
      "noise, swap, paste or exchange",
      fill_words[kind + 1], data_x(d)->features, data_x(d)->is->element);
  f->low = mem_new(f->channels, sizeof *f->low, "filling masks", e);
  f->high = mem_new(f->channels, sizeof *f->high, "filling masks", e);
  f->mean = mem_new(features(f), sizeof *f->mean, "filling masks", e);
  f->donor = mem_new(d->n, sizeof *f->donor, "filling masks", e);
  if (!f->low || !f->high || !f->mean || !f->donor) {
    fill_clear(f);
    return R4_E_MEMORY;
  }
  if (!data_x(d)->is->ids) find_range(f);
  find_donors(f);
  r4_status status = f->kind == R4_FILL_MEAN ? r4_data_mean(d, f->mean, e) : R4_OK;
  if (status) fill_clear(f);
  if (!f->donors && f->kind != R4_FILL_MEAN) f->kind = R4_FILL_NONE; /* nothing to replace or to paste */
  return status;
}

void fill_clear(struct fill *f)
{
  r4_mem_free(f->low);
  r4_mem_free(f->high);
  r4_mem_free(f->mean);
  r4_mem_free(f->donor);
  *f = (struct fill){0};
}
