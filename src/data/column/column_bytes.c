/* Bytes with a scale: value = byte * scale + offset. Images have the scale 1/255. */
#include <string.h>

#include "data/column/column.h"

enum { SCALE, OFFSET };

/* The formula in double gives the same floats; this becomes vector code, and a table takes three times as long. */
static void read_image(const uint8_t *from, size_t n, float *restrict to)
{
  for (size_t k = 0; k < n; k++) to[k] = (float)from[k] / 255;
}

static double exact_of(const struct column *c, uint8_t byte)
{
  return column_is_usual(c) ? byte / 255. : byte * c->number[SCALE] + c->number[OFFSET];
}

static double exact(const struct column *c, size_t row, size_t feature)
{
  return exact_of(c, ((const uint8_t *)column_row(c, row))[feature]);
}

static float value_of(const struct column *c, uint8_t byte)
{
  return (float)exact_of(c, byte);
}

static void read_bytes(const struct column *c, size_t row, size_t first, size_t n, float *to)
{
  const uint8_t *from = (const uint8_t *)column_row(c, row) + first;
  if (column_is_usual(c))
    read_image(from, n, to);
  else
    for (size_t k = 0; k < n; k++) to[k] = value_of(c, from[k]);
}

static void range(const struct column *c, float *low, float *high)
{
  bool falls = c->number[SCALE] < 0;
  *low = value_of(c, falls ? 255 : 0);
  *high = value_of(c, falls ? 0 : 255);
}

static bool takes(const struct array *a)
{
  return a->type == ARRAY_U8;
}

static r4_status take(struct column *c, size_t row, const struct array *a, const struct column_source *from)
{
  (void)from;
  if (!c->borrowed) memcpy(column_row(c, row), a->data, (size_t)array_count(a));
  return R4_OK;
}

const struct column_kind bytes_column = {
  .name = "bytes",
  .element = "features",
  .tag = 0,
  .size = 1,
  .number = {[SCALE] = {"scale", 1. / 255}, [OFFSET] = {"offset", 0}},
  .read = read_bytes,
  .exact = exact,
  .changed = &floats_column,
  .range = range,
  .stem = "x",
  .arrays = "uint8",
  .shapes = "[examples, features], or [examples, height, width] with or without channels",
  .least = 2,
  .most = 4,
  .array = ARRAY_U8,
  .takes = takes,
  .take = take,
};
