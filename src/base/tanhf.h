/* tanh and erf for float without branches, so that compilers turn loops over them into vector code.
 *
 * Both are odd. Near 0 they are an odd polynomial, elsewhere 1 less something small,
 *
 *     tanh(x) = 1 - 2 / (1 + exp(2 x))                      from 0.625 on
 *     erf(x)  = 1 - exp(-R(x)),   R(x) = -log(erfc(x))      from 0.9 on
 *
 * with polynomials of the smallest largest error, at most 2^-27 of the result. At most 2 units in the last place from
 * the true value, so that bounds of what rises with x hold as far as rounding lets them.
 * The sign of zero, infinities and NaN behave as in libm, and values stay in [-1, 1]. */
#ifndef R4_BASE_TANHF_H
#define R4_BASE_TANHF_H

#include "base/expf.h"

static inline float r4_tanhf(float x)
{
  float t = fabsf(x), s = x * x;
  float p =
    -.333332819f + s * (.133314422f + s * (-5.37397146e-2f + s * (2.06390857e-2f - s * 5.70498514e-3f)));
  float near = t + t * s * p, far = 1 - 2 / (1 + r4_expf(2 * t));
  return copysignf(t < .625f ? near : far, x);
}

static inline float r4_erff(float x)
{
  float t = fabsf(x), s = x * x;
  t = t > 4 ? 4 : t; /* where it is 1; not a number stays */
  float p = .128379167f +
            s * (-.37612635f +
                 s * (.11283715f + s * (-2.68605087e-2f +
                                        s * (5.20385964e-3f + s * (-8.1756439e-4f + s * 8.51312118e-5f)))));
  float r = 1.66446638e-4f +
            t * (1.12779725f +
                 t * (.636976076f +
                      t * (.104113685f + t * (-2.23152163e-2f + t * (3.06549114e-3f - t * 1.98219743e-4f)))));
  float near = t + t * p, far = 1 - r4_expf(-r);
  return copysignf(t < .9f ? near : far, x);
}

#endif
