#include "exec/kernel/bf16.h"

#include "op/op_rules.h"

enum { ALL_ONES = 0xffff, HALF = 0x7fff, QUIET = 0x40 };
#define INFINITE UINT32_C(0x7f800000)
#define LEAST_NORMAL UINT32_C(0x00800000)
#define SIGN UINT32_C(0x80000000)

static inline uint32_t bits_of(float x)
{
  uint32_t b;
  memcpy(&b, &x, sizeof b);
  return b;
}

static inline float float_of(uint16_t upper)
{
  uint32_t b = (uint32_t)upper << 16;
  float x;
  memcpy(&x, &b, sizeof x);
  return x;
}

/* The upper half, plus 1 if the lower one is more than a half of its last place, or just that and the upper is odd. */
static inline uint16_t nearest(float x)
{
  uint32_t b = bits_of(x), up = b + HALF + (b >> 16 & 1);
  return (uint16_t)((b & ~SIGN) > INFINITE ? b >> 16 | QUIET : up >> 16);
}

/* The upper half, plus 1 if there is anything below. */
static inline uint16_t outward(float x)
{
  uint32_t b = bits_of(x), size = b & ~SIGN, sign = b & SIGN;
  uint32_t up = size < LEAST_NORMAL && size ? LEAST_NORMAL : size + ALL_ONES;
  return (uint16_t)(size > INFINITE ? b >> 16 | QUIET : (sign | up) >> 16);
}

ELEMENT1(bf16, float_of(nearest((float)a)))
ELEMENT1(bf16_out, float_of(outward((float)a)))

const struct op op_bf16 = {ELEMENT_OP(bf16, 1), .keeps_sign = EVERY_ARG, .no_vjp = "plans alone round"};
const struct op op_bf16_out = {ELEMENT_OP(bf16_out, 1), .keeps_sign = EVERY_ARG,
                               .no_vjp = "plans alone round"};

static void store_nearest(size_t n, const float *a, const float *b, const float *c, float *y)
{
  uint16_t *to = (uint16_t *)(void *)y;
  (void)b, (void)c;
#pragma omp simd
  for (size_t k = 0; k < n; k++) to[k] = nearest(a[k]);
}

static void store_outward(size_t n, const float *a, const float *b, const float *c, float *y)
{
  uint16_t *to = (uint16_t *)(void *)y;
  (void)b, (void)c;
#pragma omp simd
  for (size_t k = 0; k < n; k++) to[k] = outward(a[k]);
}

element_f32 *bf16_store(const struct op *op)
{
  return op == &op_bf16_out ? store_outward : store_nearest;
}

void bf16_load(size_t n, const uint16_t *x, float *y)
{
#pragma omp simd
  for (size_t k = 0; k < n; k++) y[k] = float_of(x[k]);
}

void bf16_rectify(uint16_t *x, int64_t n)
{
  enum { MINUS_INFINITE = 0xff80 };
#pragma omp parallel for simd schedule(static) if (n > 16384)
  for (int64_t k = 0; k < n; k++) x[k] = x[k] > 0x8000 && x[k] <= MINUS_INFINITE ? 0 : x[k];
}
