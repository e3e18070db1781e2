/* r4_evaluate, for those who need what the net said, too. */
#ifndef R4_MEASURE_EVALUATE_H
#define R4_MEASURE_EVALUATE_H

#include "data/data.h"

/* What a net says about the examples of a data set, in their order. */
struct predictions {
  size_t classes;
  int32_t *answer;    /* [examples]          */
  float *probability; /* [examples, classes] */
};

struct evaluate_options {
  double eps;
  int64_t batch;
  size_t most;                    /* examples with a mask whose fragility is measured */
  struct predictions predictions; /* filled in, unless a pointer is NULL              */
};

/* Accuracies by p->probability alone, which must be of as many classes as there are labels; fills in p->answer. Without
 * fragility. */
r4_status evaluate_predictions(const r4_data *d, const struct predictions *p, r4_metrics *m, r4_error *e);
r4_status evaluate_all(const r4_net *net, const float *weights, const r4_data *d, const struct evaluate_options *o,
                       r4_metrics *m, r4_error *e);

#endif
