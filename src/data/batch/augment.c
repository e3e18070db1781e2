#include "data/batch/augment.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/purpose.h"

bool augment_moves(const r4_augment *by)
{
  return by->flip || by->crop != 0;
}

bool augment_is_on(const r4_augment *by)
{
  return augment_moves(by) || by->brightness != 0 || by->colour != 0 || augment_hides(by);
}

bool augment_hides(const r4_augment *by)
{
  return by->cutout != 0 || by->strips != 0;
}

/* ---- Making ---- */

static r4_status check_image(const r4_data *d, const r4_augment *by, r4_error *e)
{
  r4_shape s = data_x(d)->shape;
  const char *which = by->flip              ? "flip"
                      : by->crop            ? "crop"
                      : by->brightness != 0 ? "brightness"
                      : by->colour != 0     ? "colour"
                      : by->cutout != 0     ? "cutout"
                                            : "strips";
  if (s.rank != 3 || data_x(d)->is->ids)
    return r4_fail(e, R4_E_ARGUMENT, "augment.%s is for images, and examples are %zu %s", which,
                   data_x(d)->features, data_x(d)->is->element);
  if (augment_moves(by) && data_mask_layout(d).size != (size_t)(s.dim[0] * s.dim[1]))
    return r4_fail(e, R4_E_ARGUMENT,
                   "augment.%s is for masks with an element per pixel, and these have one per feature",
                   which);
  return R4_OK;
}

static r4_status check_share(const char *which, double value, double most, r4_error *e)
{
  if (value >= 0 && value <= most) return R4_OK;
  return r4_fail(e, R4_E_ARGUMENT, "augment.%s is %g, expected 0 to %g", which, value, most);
}

static r4_status check_numbers(const r4_data *d, const r4_augment *by, r4_error *e)
{
  r4_shape s = data_x(d)->shape;
  int64_t shorter = s.dim[0] < s.dim[1] ? s.dim[0] : s.dim[1];
  if (by->crop < 0 || by->crop >= shorter)
    return r4_fail(e, R4_E_ARGUMENT,
                   "augment.crop is %lld, expected 0 to %lld for images of %lld x %lld pixels",
                   (long long)by->crop, (long long)shorter - 1, (long long)s.dim[0], (long long)s.dim[1]);
  if (by->holes < 0 || by->holes > AUGMENT_HOLES)
    return r4_fail(e, R4_E_ARGUMENT, "augment.holes is %lld, expected 1 to %d", (long long)by->holes,
                   (int)AUGMENT_HOLES);
  r4_status status = check_share("brightness", by->brightness, 1, e);
  if (!status) status = check_share("colour", by->colour, 1, e);
  if (!status) status = check_share("cutout", by->cutout, 1, e);
  return status ? status : check_share("strips", by->strips, 0.5, e);
}

r4_status augment_init(struct augment *a, const r4_data *d, r4_augment by, uint64_t seed, r4_error *e)
{
  r4_shape s = data_x(d)->shape;
  *a = (struct augment){0};
  if (!augment_is_on(&by)) return R4_OK;
  r4_status status = check_image(d, &by, e);
  if (!status) status = check_numbers(d, &by, e);
  if (status) return status;
  *a = (struct augment){.by = by,
                        .seed = seed,
                        .size = {(size_t)s.dim[0], (size_t)s.dim[1]},
                        .channels = (size_t)s.dim[2],
                        .low = -INFINITY,
                        .high = INFINITY};
  if (data_x(d)->is->range) data_x(d)->is->range(data_x(d), &a->low, &a->high);
  if (!augment_hides(&by)) return R4_OK;
  if (!(a->constant = mem_new(a->channels, sizeof *a->constant, "augmentation", e))) return R4_E_MEMORY;
  return r4_data_constant(d, a->channels, a->constant, e);
}

void augment_clear(struct augment *a)
{
  r4_mem_free(a->constant);
  *a = (struct augment){0};
}

size_t augment_scratch(const struct augment *a)
{
  return augment_moves(&a->by) ? a->size.height * a->size.width : 0;
}

/* ---- Drawing ---- */

/* What becomes of one example. */
struct fate {
  int64_t down, right;
  bool flip;
  float factor, saturation, contrast;
};

/* Uniform in [1 - spread, 1 + spread]. */
static float draw_factor(r4_random key, uint64_t index, double spread)
{
  return (float)(1 + spread * (2 * r4_random_uniform(key, index) - 1));
}

static struct fate draw(const struct augment *a, uint32_t epoch, size_t i)
{
  enum { FLIP, DOWN, RIGHT, BRIGHTNESS, DRAWS };
  const r4_random key = {a->seed, PURPOSE_AUGMENT, epoch}, colour = {a->seed, PURPOSE_COLOUR, epoch};
  uint64_t first = (uint64_t)i * DRAWS, places = 2 * (uint64_t)a->by.crop + 1;
  return (struct fate){.down = (int64_t)r4_random_below(key, first + DOWN, places) - a->by.crop,
                       .right = (int64_t)r4_random_below(key, first + RIGHT, places) - a->by.crop,
                       .flip = a->by.flip && r4_random_uniform(key, first + FLIP) < 0.5,
                       .factor = draw_factor(key, first + BRIGHTNESS, a->by.brightness),
                       .saturation = draw_factor(colour, 2 * (uint64_t)i, a->by.colour),
                       .contrast = draw_factor(colour, 2 * (uint64_t)i + 1, a->by.colour)};
}

/* ---- Moving ---- */

/* Moves n blocks of bytes by fewer than n places, forward or back; the block at the edge stays, and fills the gap. */
static void shift(void *blocks, size_t n, size_t block, int64_t by)
{
  char *first = blocks;
  size_t far = (size_t)(by < 0 ? -by : by), kept = (n - far) * block;
  if (by >= 0) {
    memmove(first + far * block, first, kept);
    for (size_t k = 1; k < far; k++) memcpy(first + k * block, first, block);
  } else {
    memmove(first, first + far * block, kept);
    for (size_t k = n - far; k + 1 < n; k++) memcpy(first + k * block, first + (n - 1) * block, block);
  }
}

static void reverse(void *blocks, size_t n, size_t block)
{
  char *a = blocks, *b = a + n * block;
  for (size_t k = 0; k < n / 2; k++, a += block) {
    b -= block;
    for (size_t c = 0; c < block; c++) {
      char kept = a[c];
      a[c] = b[c];
      b[c] = kept;
    }
  }
}

static void move_image(const struct augment *a, const struct fate *f, float *x)
{
  size_t width = a->size.width, pixel = a->channels * sizeof *x;
  shift(x, a->size.height, width * pixel, f->down);
  for (size_t row = 0; row < a->size.height; row++) {
    float *line = x + row * width * a->channels;
    shift(line, width, pixel, f->right);
    if (f->flip) reverse(line, width, pixel);
  }
}

static bool any(const uint8_t *mask, size_t n)
{
  for (size_t k = 0; k < n; k++)
    if (mask[k]) return true;
  return false;
}

static const uint8_t *move_mask(const struct augment *a, const struct fate *f, const uint8_t *mask,
                                uint8_t *to)
{
  size_t width = a->size.width, height = a->size.height;
  memcpy(to, mask, height * width);
  shift(to, height, width, f->down);
  for (size_t row = 0; row < height; row++) {
    shift(to + row * width, width, 1, f->right);
    if (f->flip) reverse(to + row * width, width, 1);
  }
  return any(to, height * width) ? to : NULL;
}

/* ---- Light ---- */

static void stay_in_range(const struct augment *a, float *x)
{
  size_t n = a->size.height * a->size.width * a->channels;
  for (size_t k = 0; k < n && isfinite(a->high); k++) x[k] = fmaxf(fminf(x[k], a->high), a->low);
}

static void brighten(const struct augment *a, float factor, float *x)
{
  size_t n = a->size.height * a->size.width * a->channels;
  for (size_t k = 0; k < n; k++) x[k] *= factor;
  stay_in_range(a, x);
}

static float luminance(const float *pixel, size_t channels)
{
  float sum = 0;
  if (channels == 3) return 0.299f * pixel[0] + 0.587f * pixel[1] + 0.114f * pixel[2];
  for (size_t c = 0; c < channels; c++) sum += pixel[c];
  return sum / (float)channels;
}

/* x = l + s (x - l), with the luminance l of its pixel, and then x = m + k (x - m), with the mean m of all l. */
static void recolour(const struct augment *a, const struct fate *f, float *x)
{
  size_t pixels = a->size.height * a->size.width, channels = a->channels;
  double sum = 0;
  for (size_t k = 0; k < pixels; k++) sum += (double)luminance(x + k * channels, channels);
  float mean = (float)(sum / (double)pixels);
  for (size_t k = 0; k < pixels; k++) {
    float *pixel = x + k * channels, l = luminance(pixel, channels);
    for (size_t c = 0; c < channels; c++)
      pixel[c] = mean + f->contrast * (l + f->saturation * (pixel[c] - l) - mean);
  }
  stay_in_range(a, x);
}

const uint8_t *augment_row(const struct augment *a, uint32_t epoch, size_t i, const uint8_t *mask, float *x,
                           uint8_t *moved)
{
  if (!augment_is_on(&a->by)) return mask;
  struct fate f = draw(a, epoch, i);
  if (a->by.colour > 0) recolour(a, &f, x);
  if (a->by.brightness > 0) brighten(a, f.factor, x);
  if (!augment_moves(&a->by)) return mask;
  move_image(a, &f, x);
  return mask ? move_mask(a, &f, mask, moved) : NULL;
}
