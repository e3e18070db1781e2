/* tanh and erf for float without branches, so that compilers turn loops over them into vector code.
 *
 * Both are odd. Near 0 they are an odd polynomial, elsewhere 1 less something small,
 *
 *     tanh(x) = 1 - 2 / (1 + exp(2 x))                      from 0.625 on
 *     erf(x)  = 1 - exp(-R(x)),   R(x) = -log(erfc(x))      from 0.9 on
 *
 * with minimax polynomials, whose error is at most 2^-27 of the result. At most 2 units in the last place from
 * the true value, so that bounds of what rises with x hold as far as rounding lets them.
 * The sign of zero, infinities and NaN behave as in libm, and values stay in [-1, 1]. */
#ifndef R4_BASE_TANHF_H
#define R4_BASE_TANHF_H

#include "base/expf.h"

static inline float r4_tanhf(float x)
{
  const float c[] = {-.333332819f, .133314422f, -5.37397146e-2f, 2.06390857e-2f, -5.70498514e-3f};
  float t = fabsf(x), s = x * x;
  float most = t < 10 ? t : 10; /* where it is 1; for NaN as well, which is near */
  float near = r4_fmaf(t * s, r4_polyf(s, c, 5), t), far = 1 - 2 / (1 + r4_expf_inside(2 * most));
  return copysignf(t >= .625f ? far : near, x);
}

static inline float r4_erff(float x)
{
  const float c[] = {.128379167f,    -.37612635f,    .11283715f,    -2.68605087e-2f,
                     5.20385964e-3f, -8.1756439e-4f, 8.51312118e-5f};
  const float d[] = {1.66446638e-4f,  1.12779725f,    .636976076f,    .104113685f,
                     -2.23152163e-2f, 3.06549114e-3f, -1.98219743e-4f};
  float t = fabsf(x), most = t < 4 ? t : 4; /* where it is 1; for NaN as well, which is near */
  float near = r4_fmaf(t, r4_polyf(x * x, c, 7), t), far = 1 - r4_expf_inside(-r4_polyf(most, d, 7));
  return copysignf(t >= .9f ? far : near, x);
}

#endif
