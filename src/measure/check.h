/* What a net and data must be before the net is asked about them. */
#ifndef R4_MEASURE_CHECK_H
#define R4_MEASURE_CHECK_H

#include "data/data.h"

/* R4_E_ARGUMENT without examples, R4_E_SHAPE if the net is for others, R4_E_DOMAIN if a weight is not finite. */
r4_status eval_check(const r4_net *net, const float *weights, const r4_data *d, r4_error *e);

#endif
