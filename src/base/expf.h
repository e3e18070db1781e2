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

static inline float r4_expf(float x)
{
  const float log2_e = 1.44269504f, ln2_high = 0.693145752f, ln2_low = 1.42860677e-6f;
  const float shift = 12582912.f; /* 1.5 * 2^23: adding it rounds to a whole number */
  const float highest = 88.72284f, lowest = -87.33654f;
  float clipped = x < highest ? x : highest; /* one choice at a time, or it is a branch */
  clipped = clipped > lowest ? clipped : lowest;
  float shifted = clipped * log2_e + shift, n = shifted - shift;
  float r = (clipped - n * ln2_high) - n * ln2_low;
  float p =
    1 +
    r * (1 + r * (1.f / 2 + r * (1.f / 6 + r * (1.f / 24 + r * (1.f / 120 + r * (1.f / 720 + r / 5040))))));
  int32_t bits, half = (int32_t)n / 2, rest = (int32_t)n - half; /* two factors: 2^128 is no float */
  float first, second;
  bits = (half + 127) << 23;
  memcpy(&first, &bits, sizeof first);
  bits = (rest + 127) << 23;
  memcpy(&second, &bits, sizeof second);
  float y = p * first * second;
  y = x > highest ? INFINITY : y;
  y = x < lowest ? 0 : y;
  return x != x ? x : y;
}

#endif
