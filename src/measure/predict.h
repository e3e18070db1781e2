/* What a net says about a data set. */
#ifndef R4_MEASURE_PREDICT_H
#define R4_MEASURE_PREDICT_H

#include "base/team_talk.h"
#include "measure/probe.h"

/* The number of the largest logit, the first at a tie. */
size_t predict_class(const float *z, size_t classes);

/* A probe for predictor_run. */
struct probe *predictor_new(const r4_net *net, int64_t batch, r4_error *e);

/* predicted[i] gets the class of example i: the largest logit, the first at a tie; -1 - k where logit k is the first
 * that is NaN or infinite: no answer. *loss gets the mean cross entropy. */
r4_status predictor_run(struct probe *p, const float *weights, const r4_data *d, int32_t *predicted,
                        double *loss, r4_error *e);

/* The same, and the softmax of the logits, [examples, classes], in to, unless it is NULL. */
r4_status predictor_probabilities(struct probe *p, const float *weights, const r4_data *d, int32_t *predicted,
                                  double *loss, float *to, r4_error *e);

/* predictor_run by a team, each of whose processes asks about its part of the batches: all get all, and the same bits
 * as one process alone. Batches have the same examples whoever asks, so that nothing need be known of how an answer
 * depends on its neighbours. */
r4_status predictor_run_shared(struct probe *p, const r4_team *t, const float *weights, const r4_data *d,
                               int32_t *predicted, double *loss, r4_error *e);

/* R4_E_DOMAIN if an example has no answer: how many have none, and which is the first. *missing is their number. */
r4_status predicted_check(const r4_data *d, const int32_t *predicted, size_t *missing, r4_error *e);

#endif
