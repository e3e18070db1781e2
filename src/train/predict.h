/* What a net says about a data set. */
#ifndef R4_TRAIN_PREDICT_H
#define R4_TRAIN_PREDICT_H

#include "train/probe.h"

/* The number of the largest logit, the first at a tie. */
size_t predict_class(const float *z, size_t classes);

/* A probe for predictor_run. */
struct probe *predictor_new(const r4_net *net, int64_t batch, r4_error *e);

/* predicted[i] gets the class of example i: the largest logit, the first at a tie. *loss gets the mean cross
 * entropy. */
r4_status predictor_run(struct probe *p, const float *weights, const r4_data *d, int32_t *predicted,
                        double *loss, r4_error *e);

#endif
