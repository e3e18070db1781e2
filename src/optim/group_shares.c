#include "optim/group_shares.h"

#include <math.h>

/* A common factor of all exp(eta l_g) makes no difference: with the largest as 1, nothing overflows. */
void group_dro_step(double eta, size_t groups, const double *loss, double *q)
{
  double most = -INFINITY, sum = 0;
  for (size_t g = 0; g < groups; g++)
    if (q[g] > 0) most = fmax(most, eta * loss[g]);
  for (size_t g = 0; g < groups; g++) {
    if (q[g] > 0) q[g] *= exp(eta * loss[g] - most);
    sum += q[g];
  }
  for (size_t g = 0; g < groups; g++) q[g] /= sum;
}
