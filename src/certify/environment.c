/* Is the arithmetic what the proofs assume? Another library of the process may have changed it, on one thread alone. */
#include <fenv.h>
#include <float.h>

#include "certify/enclose.h"

#if FLT_RADIX != 2 || DBL_MANT_DIG != 53 || DBL_MIN_EXP != -1021 || (FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 1)
#error "sound arithmetic needs IEEE double precision, evaluated as it is written"
#endif

enum fault { NONE, ROUNDING, SUBNORMALS };

/* volatile: computed when it runs, not when it is compiled. */
static enum fault look(void)
{
  volatile double one = 1, half_ulp = 0x1p-53, third = 0x1.8p-53, least = 0x1p-1022, smallest = 0x1p-1074;
  volatile double even = one + half_ulp, up = one + third, down = -one - half_ulp;
  volatile double small = least / 2, twice = smallest * 2;
  if (fegetround() != FE_TONEAREST || even != one || !(up > one) || down != -one) return ROUNDING;
  if (small == 0 || small + small != least || smallest == 0 || twice == 0 || twice == smallest) return SUBNORMALS;
  return NONE;
}

r4_status sound_environment(r4_error *e)
{
  enum fault worst = look();
#pragma omp parallel
  {
    enum fault here = look();
#pragma omp critical(sound_environment)
    if (here > worst) worst = here;
  }
  if (worst == ROUNDING)
    return r4_fail(e, R4_E_DOMAIN, "enclose: a thread does not round to nearest: its rounding mode was changed");
  if (worst == SUBNORMALS)
    return r4_fail(e, R4_E_DOMAIN, "enclose: a thread flushes subnormal numbers to zero: nothing can be certified");
  return R4_OK;
}
