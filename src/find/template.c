#include "find/template.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "find/mask_draw.h"

enum { REACH = 8, RING = 3 };

static const double AROUND = .5, FAR = .1;

r4_status template_new(struct template *t, size_t height, size_t width, r4_error *e)
{
  size_t pixels = height * width, shorter = height < width ? height : width;
  *t = (struct template){.height = height, .width = width, .reach = (long)(shorter / REACH)};
  t->sum = mem_new(pixels, sizeof *t->sum, "a mask", e);
  t->in = mem_new(pixels, sizeof *t->in, "a mask", e);
  t->ring = mem_new(pixels, sizeof *t->ring, "a mask", e);
  return t->sum && t->in && t->ring ? R4_OK : R4_E_MEMORY;
}

void template_clear(struct template *t)
{
  r4_mem_free(t->sum);
  r4_mem_free(t->in);
  r4_mem_free(t->ring);
  *t = (struct template){0};
}

/* Pixel k of the template is this one of an image that is moved by s; SIZE_MAX: it is outside. */
static size_t moved(const struct template *t, size_t k, struct shift s)
{
  long y = (long)(k / t->width) + s.down, x = (long)(k % t->width) + s.right;
  bool in = y >= 0 && y < (long)t->height && x >= 0 && x < (long)t->width;
  return in ? (size_t)y * t->width + (size_t)x : SIZE_MAX;
}

void template_add(struct template *t, const float *map, struct shift s)
{
  for (size_t k = 0; k < t->height * t->width; k++) {
    size_t from = moved(t, k, s);
    if (from != SIZE_MAX) t->sum[k] += map[from];
  }
}

/* R grown by some pixels, but for R and the pixel next to it, whose windows reach into it. */
static void find_ring(struct template *t, uint8_t *mask)
{
  size_t pixels = t->height * t->width, step = (t->height < t->width ? t->height : t->width) / 64;
  const struct mask_draw m = {.height = t->height, .width = t->width};
  step = step ? step : 1;
  for (size_t k = 0; k < step; k++) mask_grow(&m, mask);
  for (size_t k = 0; k < pixels; k++) t->sum[k] = mask[k];
  for (size_t k = 0; k < (RING - 1) * step; k++) mask_grow(&m, mask);
  t->rings = 0;
  for (size_t k = 0; k < pixels; k++)
    if (mask[k] && !(t->sum[k] > 0)) t->ring[t->rings++] = (uint32_t)k;
}

void template_cut(struct template *t, const double touch[4], uint8_t *mask, uint32_t *room)
{
  size_t pixels = t->height * t->width;
  float most = 0;
  for (size_t k = 0; k < pixels; k++) most = fmaxf(most, t->sum[k]);
  for (size_t k = 0; k < pixels; k++) t->sum[k] /= most > 0 ? most : 1;
  mask_parts(&(struct mask_draw){t->height, t->width, t->sum, touch, room}, mask);
  t->ins = 0;
  for (size_t k = 0; k < pixels; k++)
    if (mask[k]) t->in[t->ins++] = (uint32_t)k;
  find_ring(t, mask);
  memset(t->sum, 0, pixels * sizeof *t->sum);
}

static double mean_at(const struct template *t, const float *map, const uint32_t *pixel, size_t n,
                      struct shift s)
{
  double sum = 0;
  for (size_t k = 0; k < n; k++) {
    size_t at = moved(t, pixel[k], s);
    if (at != SIZE_MAX) sum += (double)map[at];
  }
  return n ? sum / (double)n : 0;
}

struct shift template_fit(const struct template *t, const float *map)
{
  struct shift best = {.fit = -INFINITY};
  double far = (double)(t->reach ? t->reach * t->reach : 1);
  for (long down = -t->reach; down <= t->reach; down++)
    for (long right = -t->reach; right <= t->reach; right++) {
      struct shift s = {.down = down, .right = right};
      s.fit = mean_at(t, map, t->in, t->ins, s) - AROUND * mean_at(t, map, t->ring, t->rings, s) -
              FAR * (double)(down * down + right * right) / far;
      if (s.fit > best.fit) best = s;
    }
  return best;
}

double template_draw(const struct template *t, struct shift s, uint8_t *mask)
{
  size_t marked = 0;
  memset(mask, 0, t->height * t->width);
  for (size_t k = 0; k < t->ins; k++) {
    size_t at = moved(t, t->in[k], s);
    if (at != SIZE_MAX) mask[at] = 255, marked++;
  }
  return (double)marked / (double)(t->height * t->width);
}
