#include "tensor/array.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static const struct {
  const char *name;
  size_t width;
} types[] = {
  [ARRAY_BOOL] = {"bool", 1},   [ARRAY_U8] = {"uint8", 1},    [ARRAY_I8] = {"int8", 1},
  [ARRAY_U16] = {"uint16", 2},  [ARRAY_I16] = {"int16", 2},   [ARRAY_U32] = {"uint32", 4},
  [ARRAY_I32] = {"int32", 4},   [ARRAY_U64] = {"uint64", 8},  [ARRAY_I64] = {"int64", 8},
  [ARRAY_F16] = {"float16", 2}, [ARRAY_F32] = {"float32", 4}, [ARRAY_F64] = {"float64", 8},
  [ARRAY_TEXT] = {"text", 0},
};

size_t array_width(enum array_type type)
{
  return types[type].width;
}

int64_t array_count(const struct array *a)
{
  int64_t n = 1;
  for (int k = 0; k < a->rank; k++) n *= a->dim[k];
  return n;
}

r4_status array_new(struct array *a, enum array_type type, size_t width, int rank, const int64_t *dim,
                    r4_error *e)
{
  *a = (struct array){.type = type, .width = type == ARRAY_TEXT ? width : array_width(type), .rank = rank};
  int64_t bytes = (int64_t)a->width;
  bool overflow = false, empty = false;
  for (int k = 0; k < rank; k++) {
    a->dim[k] = dim[k];
    empty |= !dim[k];
    overflow |= dim[k] && __builtin_mul_overflow(bytes, dim[k], &bytes);
  }
  if (!overflow) a->data = r4_mem_new(empty || !bytes ? 1 : (size_t)bytes, 1);
  if (a->data) return R4_OK;
  char shape[128];
  array_describe(a, shape, sizeof shape);
  *a = (struct array){0};
  return r4_fail(e, R4_E_MEMORY, "out of memory for an array, %s", shape);
}

void array_free(struct array *a)
{
  r4_mem_free(a->data);
  *a = (struct array){0};
}

/* ---- Elements ---- */

/* IEEE binary16: sign, 5 bits of exponent with bias 15, 10 bits of fraction. */
float array_half(uint16_t bits)
{
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  float size = exponent == 31  ? (fraction ? NAN : INFINITY)
               : exponent == 0 ? ldexpf((float)fraction, -24)
                               : ldexpf((float)(fraction + 1024), exponent - 25);
  return bits >> 15 ? -size : size;
}

#define EVERY_NUMBER(CASE)              \
  CASE(ARRAY_BOOL, uint8_t, )           \
  CASE(ARRAY_U8, uint8_t, )             \
  CASE(ARRAY_I8, int8_t, )              \
  CASE(ARRAY_U16, uint16_t, )           \
  CASE(ARRAY_I16, int16_t, )            \
  CASE(ARRAY_U32, uint32_t, )           \
  CASE(ARRAY_I32, int32_t, )            \
  CASE(ARRAY_U64, uint64_t, )           \
  CASE(ARRAY_I64, int64_t, )            \
  CASE(ARRAY_F16, uint16_t, array_half) \
  CASE(ARRAY_F32, float, )              \
  CASE(ARRAY_F64, double, )

double array_number(const struct array *a, int64_t i)
{
  switch (a->type) {
#define NUMBER(name, type, decode) \
  case name:                       \
    return (double)decode(((const type *)a->data)[i]);
    EVERY_NUMBER(NUMBER)
#undef NUMBER
  case ARRAY_TEXT:
    break;
  }
  return 0;
}

void array_floats(const struct array *a, int64_t first, int64_t n, float *to)
{
  switch (a->type) {
#define FLOATS(name, type, decode)                                                             \
  case name:                                                                                   \
    for (int64_t i = 0; i < n; i++) to[i] = (float)decode(((const type *)a->data)[first + i]); \
    break;
    EVERY_NUMBER(FLOATS)
#undef FLOATS
  case ARRAY_TEXT:
    break;
  }
}

const char *array_text(const struct array *a, int64_t i)
{
  return a->type == ARRAY_TEXT ? (const char *)a->data + (size_t)i * a->width : "";
}

bool array_is_integer(const struct array *a)
{
  return a->type <= ARRAY_I64;
}

bool array_is_float(const struct array *a)
{
  return a->type >= ARRAY_F16 && a->type <= ARRAY_F64;
}

void array_describe(const struct array *a, char *to, size_t size)
{
  size_t at = (size_t)snprintf(to, size, "%s [", types[a->type].name);
  for (int k = 0; k < a->rank && at < size; k++)
    at += (size_t)snprintf(to + at, size - at, "%s%lld", k ? ", " : "", (long long)a->dim[k]);
  if (at < size) snprintf(to + at, size - at, "]");
}
