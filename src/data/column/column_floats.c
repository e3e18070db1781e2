/* Floats, as they are. */
#include <math.h>
#include <string.h>

#include "base/c_locale.h"
#include "data/column/column.h"

static void read_floats(const struct column *c, size_t row, size_t first, size_t n, float *to)
{
  memcpy(to, (const float *)column_row(c, row) + first, n * sizeof *to);
}

static void write_floats(struct column *c, size_t row, const float *from)
{
  memcpy(column_row(c, row), from, c->features * sizeof *from);
}

enum { LOOKED_AT = 64, BRIGHT = 128 }; /* rows; the least that no image in [0, 1] has */

static float largest(const float *x, size_t n)
{
  float most = x[0];
  for (size_t k = 1; k < n; k++)
    if (x[k] > most) most = x[k];
  return most;
}

/* By a few rows: most data need no closer look, and may be large. */
static bool looks_bright(const struct column *c)
{
  for (size_t i = 0; i < c->rows; i += c->rows / LOOKED_AT + 1)
    if (largest(column_row(c, i), c->features) >= BRIGHT) return true;
  return false;
}

/* Those of images are meant to be in [0, 1]. Of other features that is said only where all look like bytes. */
static const char *doubt(const struct column *c, char *text, size_t size)
{
  if (!looks_bright(c)) return NULL;
  const float *x = c->data;
  size_t n = c->rows * c->features;
  double high = (double)largest(x, n);
  bool whole = true;
  for (size_t k = 0; k < n; k++) {
    if (!(x[k] >= 0 && x[k] <= 255)) return NULL;
    whole &= x[k] == floorf(x[k]);
  }
  if (whole)
    c_locale_print(
      text, size,
      "all values are whole numbers from 0 to %.0f, like bytes: divide them by 255, or store them as uint8", high);
  else
    c_locale_print(text, size, "values are from 0 to %.4g, and those of images are meant to be in [0, 1]: divide them "
                   "by 255", high);
  return whole || c->shape.rank == 3 ? "values-scale" : NULL;
}

static r4_status take(struct column *c, size_t row, const struct array *a, const struct column_source *from)
{
  float *to = column_row(c, row);
  size_t n = (size_t)array_count(a);
  if (!c->borrowed) array_floats(a, 0, (int64_t)n, to);
  for (size_t k = 0; k < n; k++)
    if (!isfinite(to[k]))
      return r4_fail(from->e, R4_E_PARSE, "%s: %s: example %zu has %g at %zu, expected finite numbers",
                     from->path, from->key, k / c->features, (double)to[k], k % c->features);
  return R4_OK;
}

const struct column_kind floats_column = {
  .name = "floats",
  .element = "features",
  .tag = 1,
  .size = sizeof(float),
  .read = read_floats,
  .write = write_floats,
  .doubt = doubt,
  .stem = "x",
  .arrays = "floats",
  .shapes = "[examples, features], or [examples, height, width] with or without channels",
  .least = 2,
  .most = 4,
  .array = ARRAY_F32,
  .takes = array_is_float,
  .take = take,
};
