/* Fragility: how far the explanation can move while the input moves in a box,
 *
 *     kappa_ij = hi_ij - lo_ij,   lo_i <= g_i(x') <= hi_i for all x' in x_i -+ eps b_i
 *
 * for the features j of the box b_i: the mask m_i, or the core 1 - m_i. g_i is the derivative of the loss of example i
 * by its features. */
#ifndef R4_MEASURE_KAPPA_H
#define R4_MEASURE_KAPPA_H

#include "measure/probe.h"

struct kappa {
  size_t n; /* examples with a box: those without a mask have none, those masked all over have no core */
  double max,
    mean; /* the largest kappa_ij; the mean over examples of the mean over the features of their box; NaN if
                       no example has a box */
};

r4_status kappa_of(const r4_net *net, const float *weights, const r4_data *d, enum probe_mask box, double eps,
                   int64_t batch, struct kappa *k, r4_error *e);

#endif
