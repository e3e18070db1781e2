#include "picture/outline.h"

#include <math.h>

#include "base/mem.h"

/* ---- Polygons ---- */

struct window {
  size_t top, left, rows, columns; /* of the mask: what a polygon may touch */
};

/* The pixels whose centres are between low and high, of size many. */
static void clip(double low, double high, size_t size, size_t *first, size_t *n)
{
  double from = fmax(0, ceil(low - .5)), to = fmin((double)size, ceil(high - .5));
  *first = (size_t)fmin(from, (double)size);
  *n = to > from ? (size_t)(to - from) : 0;
}

static struct window find_window(size_t n, const double *point, const double scale[2], size_t height,
                                 size_t width, struct outline_report *report)
{
  double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
  struct window w;
  for (size_t k = 0; k < 2 * n; k++) {
    double v = point[k] * scale[k % 2];
    low[k % 2] = fmin(low[k % 2], v);
    high[k % 2] = fmax(high[k % 2], v);
  }
  if (low[0] < -1 || low[1] < -1 || high[0] > (double)width + 1 || high[1] > (double)height + 1)
    report->outside = true;
  clip(low[0], high[0], width, &w.left, &w.columns);
  clip(low[1], high[1], height, &w.top, &w.rows);
  return w;
}

/* In each row that the edge crosses, all pixels from there on change sides. */
static void cross(const double a[2], const double b[2], struct window w, uint8_t *side)
{
  if (a[1] == b[1]) return;
  const double *upper = a[1] < b[1] ? a : b, *lower = a[1] < b[1] ? b : a;
  double slope = (lower[0] - upper[0]) / (lower[1] - upper[1]);
  size_t first, n;
  clip(upper[1] - (double)w.top, lower[1] - (double)w.top, w.rows, &first, &n);
  for (size_t row = first; row < first + n; row++) {
    double y = (double)(row + w.top) + .5, x = upper[0] + (y - upper[1]) * slope;
    double column = fmax(0, ceil(x - .5) - (double)w.left);
    if (column < (double)w.columns) side[row * w.columns + (size_t)column] ^= 1;
  }
}

static bool fill(struct window w, const uint8_t *side, size_t width, uint8_t *mask)
{
  bool any = false;
  for (size_t row = 0; row < w.rows; row++) {
    uint8_t inside = 0, *to = mask + (w.top + row) * width + w.left;
    for (size_t k = 0; k < w.columns; k++) {
      inside ^= side[row * w.columns + k];
      if (inside) to[k] = 255, any = true;
    }
  }
  return any;
}

r4_status outline_polygon(size_t n, const double *point, const double scale[2], size_t height, size_t width,
                          uint8_t *mask, struct outline_report *report, r4_error *e)
{
  struct window w = find_window(n, point, scale, height, width, report);
  if (!w.rows || !w.columns) {
    report->nothing = true;
    return R4_OK;
  }
  uint8_t *side = mem_new(w.rows, w.columns, "an outline", e);
  if (!side) return R4_E_MEMORY;
  for (size_t k = 0; k < n; k++) {
    const double *p = point + 2 * k, *q = point + 2 * ((k + 1) % n);
    cross((double[]){p[0] * scale[0], p[1] * scale[1]}, (double[]){q[0] * scale[0], q[1] * scale[1]}, w,
          side);
  }
  if (!fill(w, side, width, mask)) report->nothing = true;
  r4_mem_free(side);
  return R4_OK;
}

/* ---- Runs ---- */

/* The runs as a grid, row by row. */
static void unpack(const struct runs *r, uint8_t *grid)
{
  size_t at = 0;
  for (size_t k = 0; k < r->n; k++)
    for (uint32_t i = 0; i < r->run[k]; i++, at++) {
      size_t row = r->by_column ? at % r->height : at / r->width;
      size_t column = r->by_column ? at / r->height : at % r->width;
      grid[row * r->width + column] = k % 2;
    }
}

r4_status outline_runs(const struct runs *runs, size_t height, size_t width, uint8_t *mask,
                       struct outline_report *report, r4_error *e)
{
  uint8_t *grid = mem_new(runs->height, runs->width, "an outline", e);
  if (!grid) return R4_E_MEMORY;
  unpack(runs, grid);
  bool any = false;
  for (size_t y = 0; y < height; y++)
    for (size_t x = 0; x < width; x++) {
      size_t row = (2 * y + 1) * runs->height / (2 * height),
             column = (2 * x + 1) * runs->width / (2 * width);
      if (!grid[row * runs->width + column]) continue;
      mask[y * width + x] = 255;
      any = true;
    }
  if (!any) report->nothing = true;
  r4_mem_free(grid);
  return R4_OK;
}
