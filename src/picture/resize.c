#include "picture/resize.h"

#include <string.h>

#include "base/mem.h"

/* For each element of the result along one axis, the sources first[j] .. first[j] + count[j] - 1 and their weights,
 * weight[j * most ...]. */
struct taps {
  size_t most, *first, *count;
  float *weight;
};

static void taps_free(struct taps *t)
{
  r4_mem_free(t->first);
  r4_mem_free(t->count);
  r4_mem_free(t->weight);
  *t = (struct taps){0};
}

static double triangle(double x)
{
  if (x < 0) x = -x;
  return x < 1 ? 1 - x : 0;
}

static r4_status taps_new(struct taps *t, size_t from, size_t to, r4_error *e)
{
  double scale = (double)from / (double)to, reach = scale > 1 ? scale : 1;
  size_t most = 2 * (size_t)reach + 3;
  *t = (struct taps){most, mem_new(to, sizeof *t->first, "resizing", e),
                     mem_new(to, sizeof *t->count, "resizing", e),
                     mem_new(to, most * sizeof *t->weight, "resizing", e)};
  if (!t->first || !t->count || !t->weight) {
    taps_free(t);
    return R4_E_MEMORY;
  }
  for (size_t j = 0; j < to; j++) {
    double centre = ((double)j + .5) * scale, low = centre - reach, sum = 0;
    size_t first = low > 0 ? (size_t)low : 0, end = (size_t)(centre + reach) + 1;
    if (end > from) end = from;
    t->first[j] = first;
    t->count[j] = end - first;
    for (size_t i = first; i < end; i++) sum += triangle(((double)i + .5 - centre) / reach);
    for (size_t i = first; i < end; i++)
      t->weight[j * most + i - first] = (float)(triangle(((double)i + .5 - centre) / reach) / sum);
  }
  return R4_OK;
}

/* One row of bytes to a row of floats of another width. */
static void resize_row(const struct taps *t, const uint8_t *from, size_t channels, size_t width, float *to)
{
  for (size_t j = 0; j < width; j++, to += channels) {
    const uint8_t *at = from + t->first[j] * channels;
    const float *weight = t->weight + j * t->most;
    for (size_t c = 0; c < channels; c++) {
      float sum = 0;
      for (size_t k = 0; k < t->count[j]; k++) sum += weight[k] * (float)at[k * channels + c];
      to[c] = sum;
    }
  }
}

/* Rows of floats to one row of bytes. sum is memory for n floats. */
static void join_rows(size_t rows, const float *weight, const float *from, size_t n, float *sum, uint8_t *to)
{
  memset(sum, 0, n * sizeof *sum);
  for (size_t k = 0; k < rows; k++, from += n)
    for (size_t i = 0; i < n; i++) sum[i] += weight[k] * from[i];
  for (size_t i = 0; i < n; i++) to[i] = sum[i] < 255 ? (uint8_t)(sum[i] + .5f) : 255;
}

r4_status resize(const struct image *from, size_t height, size_t width, uint8_t *to, r4_error *e)
{
  size_t channels = from->channels, n = width * channels;
  if (from->height == height && from->width == width) {
    memcpy(to, from->pixel, height * n);
    return R4_OK;
  }
  struct taps x = {0}, y = {0};
  float *rows = NULL;
  r4_status s = taps_new(&x, from->width, width, e);
  if (!s) s = taps_new(&y, from->height, height, e);
  if (!s && !(rows = mem_new(from->height + 1, n * sizeof *rows, "resizing", e))) s = R4_E_MEMORY;
  if (!s) {
    for (size_t i = 0; i < from->height; i++)
      resize_row(&x, from->pixel + i * from->width * channels, channels, width, rows + i * n);
    float *sum = rows + from->height * n;
    for (size_t j = 0; j < height; j++)
      join_rows(y.count[j], y.weight + j * y.most, rows + y.first[j] * n, n, sum, to + j * n);
  }
  taps_free(&x);
  taps_free(&y);
  r4_mem_free(rows);
  return s;
}

static bool any_marked(const struct image *from, const struct taps *x, const struct taps *y, size_t j, size_t i)
{
  for (size_t row = y->first[j]; row < y->first[j] + y->count[j]; row++)
    for (size_t column = x->first[i]; column < x->first[i] + x->count[i]; column++)
      if (from->pixel[row * from->width + column]) return true;
  return false;
}

r4_status resize_touched(const struct image *from, size_t height, size_t width, uint8_t *to, r4_error *e)
{
  struct taps x = {0}, y = {0};
  bool same = from->height == height && from->width == width;
  for (size_t k = 0; same && k < height * width; k++) to[k] = from->pixel[k] != 0;
  if (same) return R4_OK;
  r4_status s = taps_new(&x, from->width, width, e);
  if (!s) s = taps_new(&y, from->height, height, e);
  for (size_t j = 0; j < height && !s; j++)
    for (size_t i = 0; i < width; i++) to[j * width + i] = any_marked(from, &x, &y, j, i);
  taps_free(&x);
  taps_free(&y);
  return s;
}
