/* exp for float without branches, so that compilers turn loops over it into vector code.
 *
 *     exp(x) = 2^n exp(r),   n = round(x / ln 2),   |r| <= ln 2 / 2,
 *
 * exp(r) by its Taylor polynomial of degree 7, whose remainder is below 2^-27 there; ln 2 in two
 * parts keeps r exact. At most 2 units in the last place from the true value; what is below the smallest
 * normal number becomes 0, infinities and NaN behave as in expf. */
#ifndef R4_BASE_EXPF_H
#define R4_BASE_EXPF_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* a b + c, in one instruction where the machine has it */
static inline float r4_fmaf(float a, float b, float c)
{
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}

/* c[0] + c[1] x + .. + c[n - 1] x^(n-1), for a number n that the compiler knows */
static inline __attribute__((always_inline)) float r4_polyf(float x, const float *c, int n)
{
  float y = c[n - 1];
  for (int k = n - 2; k >= 0; k--) y = r4_fmaf(y, x, c[k]);
  return y;
}

/* exp(x) = p 2^n for -88 < x < 89 */
static inline float r4_expf_parts(float x, int32_t *n)
{
  const float log2_e = 1.44269504f, ln2_high = 0.693145752f, ln2_low = 1.42860677e-6f;
  const float shift = 12582912.f; /* 1.5 * 2^23: adding it rounds to a whole number */
  const float c[] = {1, 1, 1.f / 2, 1.f / 6, 1.f / 24, 1.f / 120, 1.f / 720, 1.f / 5040};
  float whole = r4_fmaf(x, log2_e, shift) - shift;
  float r = r4_fmaf(-whole, ln2_low, r4_fmaf(-whole, ln2_high, x));
  *n = (int32_t)whole;
  return r4_polyf(r, c, 8);
}

/* 2^n for -126 <= n <= 127 */
static inline float r4_power_of_2f(int32_t n)
{
  int32_t bits = (n + 127) << 23;
  float y;
  memcpy(&y, &bits, sizeof y);
  return y;
}

static inline float r4_expf(float x)
{
  const float highest = 88.72284f, lowest = -87.33654f;
  float clipped = x < highest ? x : highest; /* one choice at a time, or it is a branch */
  clipped = clipped > lowest ? clipped : lowest;
  int32_t n;
  float p = r4_expf_parts(clipped, &n);
  int32_t half = n / 2; /* two factors: 2^128 is not a float */
  float y = p * r4_power_of_2f(half) * r4_power_of_2f(n - half);
  y = x > highest ? INFINITY : y;
  y = x < lowest ? 0 : y;
  return x != x ? x : y;
}

/* The same for -87 < x < 88, and nothing else. */
static inline float r4_expf_inside(float x)
{
  int32_t n;
  float p = r4_expf_parts(x, &n);
  return p * r4_power_of_2f(n);
}

#endif
