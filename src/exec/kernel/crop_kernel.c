/* Float kernels of crop and place, by rows of windows; place may also add onto what is there. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "exec/kernel/kernel.h"
#include "op/op_rules.h"

struct crop {
  struct kernel base;
  r4_shape window, image;
  bool accumulate;
};

static void crop_destroy(struct kernel *k)
{
  r4_mem_free(k);
}

static r4_status check_whole(const struct crop *c, const float *at, r4_error *e)
{
  for (int64_t k = 0; k < 2 * c->window.dim[0]; k++)
    if (!(fabsf(at[k]) < 1e9f && at[k] == floorf(at[k])))
      return r4_fail(e, R4_E_DOMAIN, "place %g of window %lld is not a whole number", (double)at[k],
                     (long long)k / 2);
  return R4_OK;
}

/* What of 0 .. size is inside an image of length all, if the window begins at at. */
struct part {
  int64_t from, to;
};

static struct part inside(int64_t at, int64_t size, int64_t all)
{
  struct part p = {at < 0 ? -at : 0, all - at < size ? all - at : size};
  if (p.from > size) p.from = size;
  if (p.to < p.from) p.to = p.from;
  return p;
}

/* Window n as a whole: its part of the image, and where the image's element (0, 0) would be. */
struct where {
  struct part rows, columns;
  int64_t origin;
};

static struct where find(const struct crop *c, const float *at, int64_t n)
{
  int64_t row = (int64_t)at[2 * n], column = (int64_t)at[2 * n + 1];
  return (struct where){.rows = inside(row, c->window.dim[1], c->image.dim[1]),
                        .columns = inside(column, c->window.dim[2], c->image.dim[2]),
                        .origin = (n * c->image.dim[1] + row) * c->image.dim[2] + column};
}

static void crop_one(const struct crop *c, struct where w, int64_t n, const float *from, float *to)
{
  int64_t depth = c->window.dim[3], width = c->window.dim[2] * depth, height = c->window.dim[1];
  size_t left = (size_t)(w.columns.from * depth), count = (size_t)((w.columns.to - w.columns.from) * depth);
  for (int64_t i = 0; i < height; i++) {
    float *row = to + (n * height + i) * width;
    if (i < w.rows.from || i >= w.rows.to || !count) {
      memset(row, 0, (size_t)width * sizeof *row);
      continue;
    }
    const float *source = from + (w.origin + i * c->image.dim[2]) * depth;
    memset(row, 0, left * sizeof *row);
    memcpy(row + left, source + left, count * sizeof *row);
    memset(row + left + count, 0, ((size_t)width - left - count) * sizeof *row);
  }
}

static void place_one(const struct crop *c, struct where w, int64_t n, const float *from, float *to)
{
  int64_t depth = c->window.dim[3], width = c->window.dim[2] * depth, height = c->window.dim[1];
  int64_t left = w.columns.from * depth, right = w.columns.to * depth;
  for (int64_t i = w.rows.from; i < w.rows.to; i++) {
    const float *source = from + (n * height + i) * width;
    float *row = to + (w.origin + i * c->image.dim[2]) * depth;
    if (c->accumulate)
      for (int64_t k = left; k < right; k++) row[k] += source[k];
    else
      memcpy(row + left, source + left, (size_t)(right - left) * sizeof *row);
  }
}

static r4_status crop_run(struct kernel *k, void *const *in, void *out, r4_error *e)
{
  const struct crop *c = (struct crop *)k;
  const float *from = in[0], *at = in[1];
  r4_status s = check_whole(c, at, e);
  if (s) return s;
#pragma omp parallel for schedule(static) if (r4_shape_count(c->window) > 16384)
  for (int64_t n = 0; n < c->window.dim[0]; n++) crop_one(c, find(c, at, n), n, from, out);
  return R4_OK;
}

static r4_status place_run(struct kernel *k, void *const *in, void *out, r4_error *e)
{
  const struct crop *c = (struct crop *)k;
  const float *from = in[0], *at = in[1];
  float *to = out;
  r4_status s = check_whole(c, at, e);
  if (s) return s;
  int64_t size = r4_shape_count(c->image) / c->image.dim[0];
#pragma omp parallel for schedule(static) if (r4_shape_count(c->image) > 16384)
  for (int64_t n = 0; n < c->image.dim[0]; n++) {
    if (!c->accumulate) memset(to + n * size, 0, (size_t)size * sizeof *to);
    if (n < c->window.dim[0]) place_one(c, find(c, at, n), n, from, to);
  }
  return R4_OK;
}

r4_status crop_kernel(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  bool crop = q->op == &op_crop;
  struct crop *c = mem_new(1, sizeof *c, q->op->name, e);
  if (!c) return R4_E_MEMORY;
  c->base = (struct kernel){.name = q->op->name, .run = crop ? crop_run : place_run, .destroy = crop_destroy};
  c->window = crop ? q->out : q->in[0];
  c->image = crop ? q->in[0] : q->out;
  c->accumulate = q->accumulate;
  *k = &c->base;
  return R4_OK;
}
