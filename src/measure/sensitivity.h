/* Relative core sensitivity, from answers: the formulas of r4.h. */
#ifndef R4_MEASURE_SENSITIVITY_H
#define R4_MEASURE_SENSITIVITY_H

#include "base/error.h"

struct rcs {
  double spurious, core; /* means of the two */
  double value, se;      /* NaN where the means leave no difference, both 0 or both 1 */
};

/* Of example i, spurious[i] is the share of its draws that is right with noise on what is masked, core[i] with noise on
 * the core. se is that of the jackknife: theta_i without example i, se^2 = (n - 1) / n sum_i (theta_i - mean theta)^2;
 * NaN if it is not defined without some example. */
struct rcs rcs_of(size_t n, const double *spurious, const double *core);

#endif
