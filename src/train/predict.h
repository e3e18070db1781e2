/* What a net says about a data set. */
#ifndef R4_TRAIN_PREDICT_H
#define R4_TRAIN_PREDICT_H

#include "base/error.h"

/* A net compiled for batches of a fixed size: made once, used with any weights. */
struct predictor;

struct predictor *predictor_new(const r4_net *net, int64_t batch, r4_error *e);
void predictor_free(struct predictor *p);

/* predicted[i] gets the class of example i: the largest logit, the first at a tie; with one output 1 if the logit is
 * above 0. *loss gets the mean cross entropy. */
r4_status predictor_run(struct predictor *p, const float *weights, const r4_data *d, int32_t *predicted,
                        double *loss, r4_error *e);

/* Binds the parameters of a net to a plan that has them as inputs. */
r4_status predict_bind(r4_plan *plan, const r4_net *net, const float *weights, r4_error *e);

#endif
