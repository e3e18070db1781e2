#include "report/page/page_tile.h"

#include <math.h>

#include "base/mem.h"
#include "picture/image.h"
#include "picture/resize.h"
#include "report/picture/heat.h"

enum { MAP_SIDE = 64, IMAGE_SIDE = 128 };

static size_t larger(size_t a, size_t b)
{
  return a > b ? a : b;
}

r4_status tile_open(struct tile *t, r4_shape example, r4_error *e)
{
  *t = (struct tile){
    .height = (size_t)example.dim[0], .width = (size_t)example.dim[1], .channels = (size_t)example.dim[2]};
  t->block = (larger(t->height, t->width) + MAP_SIDE - 1) / MAP_SIDE;
  t->map_height = (t->height + t->block - 1) / t->block;
  t->map_width = (t->width + t->block - 1) / t->block;
  t->v = mem_new(t->height * t->width, sizeof *t->v, "pictures", e);
  t->work = mem_new(t->height * t->width, sizeof *t->work, "pictures", e);
  t->paint = mem_new(t->height * t->width, 3, "pictures", e);
  if (t->v && t->work && t->paint) return R4_OK;
  tile_close(t);
  return R4_E_MEMORY;
}

void tile_close(struct tile *t)
{
  r4_mem_free(t->v);
  r4_mem_free(t->work);
  r4_mem_free(t->paint);
  *t = (struct tile){0};
}

static r4_status add_png(struct html *h, const struct image *image, r4_error *e)
{
  uint8_t *bytes = NULL;
  size_t n = 0;
  r4_status s = image_encode(image, &bytes, &n, e);
  if (!s) html_png(h, bytes, n);
  r4_mem_free(bytes);
  return s;
}

/* ---- Images ---- */

static uint8_t byte_of(float v)
{
  return (uint8_t)(255 * fminf(fmaxf(v, 0), 1) + 0.5f);
}

r4_status tile_image(struct tile *t, struct html *h, const float *x, r4_error *e)
{
  size_t colours = t->channels == 3 ? 3 : 1, side = larger(t->height, t->width);
  for (size_t k = 0; k < t->height * t->width; k++)
    for (size_t c = 0; c < colours; c++) t->paint[k * colours + c] = byte_of(x[k * t->channels + c]);
  struct image full = {t->height, t->width, colours, t->paint}, small = {0};
  if (side <= IMAGE_SIDE) return add_png(h, &full, e);
  size_t height = larger(1, t->height * IMAGE_SIDE / side), width = larger(1, t->width * IMAGE_SIDE / side);
  r4_status s = image_new(&small, height, width, colours, e);
  if (!s) s = resize(&full, height, width, small.pixel, e);
  if (!s) s = add_png(h, &small, e);
  image_clear(&small);
  return s;
}

/* ---- Maps ---- */

/* Of a block of pixels the mean, or the largest width. */
static float block_value(const struct tile *t, size_t row, size_t column, bool width)
{
  double sum = 0, most = 0;
  size_t n = 0;
  for (size_t y = row * t->block; y < (row + 1) * t->block && y < t->height; y++)
    for (size_t x = column * t->block; x < (column + 1) * t->block && x < t->width; x++, n++) {
      sum += t->v[y * t->width + x];
      most = fmax(most, t->v[y * t->width + x]);
    }
  return (float)(width ? most : sum / (double)n);
}

/* v becomes the map: in place, for no block reads behind itself. */
static void shrink(struct tile *t, const float *a, bool width)
{
  heat_pixels(t->height * t->width, t->channels, a, t->v);
  for (size_t y = 0; y < t->map_height && t->block > 1; y++)
    for (size_t x = 0; x < t->map_width; x++) t->work[y * t->map_width + x] = block_value(t, y, x, width);
  for (size_t k = 0; k < t->map_height * t->map_width && t->block > 1; k++) t->v[k] = t->work[k];
}

double tile_scale(struct tile *t, const float *a, bool width)
{
  shrink(t, a, width);
  return heat_scale(t->map_height * t->map_width, t->v, t->work);
}

r4_status tile_map(struct tile *t, struct html *h, const float *a, bool width, double scale, r4_error *e)
{
  shrink(t, a, width);
  for (size_t k = 0; k < t->map_height * t->map_width; k++) {
    double v = t->v[k] == 0 ? 0 : t->v[k] / scale;
    struct colour c = width ? heat_width(v) : heat_signed(v);
    for (size_t i = 0; i < 3; i++) t->paint[3 * k + i] = c.rgb[i];
  }
  return add_png(h, &(struct image){t->map_height, t->map_width, 3, t->paint}, e);
}

/* ---- Outlines ---- */

/* At least a half in one of its channels; false beside the image. */
static bool is_inside(const struct tile *t, const float *mask, size_t y, size_t x)
{
  if (y >= t->height || x >= t->width) return false; /* -1 is large */
  bool in = false;
  for (size_t c = 0; c < t->channels; c++) in |= mask[(y * t->width + x) * t->channels + c] >= 0.5f;
  return in;
}

void tile_outline(const struct tile *t, struct html *h, const float *mask)
{
  for (size_t y = 0; y <= t->height; y++)
    for (size_t x = 0; x < t->width; x++) {
      size_t from = x;
      while (x < t->width && is_inside(t, mask, y, x) != is_inside(t, mask, y - 1, x)) x++;
      if (x > from) html_add(h, "M%zu %zuH%zu", from, y, x);
    }
  for (size_t x = 0; x <= t->width; x++)
    for (size_t y = 0; y < t->height; y++) {
      size_t from = y;
      while (y < t->height && is_inside(t, mask, y, x) != is_inside(t, mask, y, x - 1)) y++;
      if (y > from) html_add(h, "M%zu %zuV%zu", x, from, y);
    }
}
