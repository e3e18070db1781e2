/* As r4_evaluate, from predictions that are there already. */
#ifndef R4_MEASURE_EVALUATE_H
#define R4_MEASURE_EVALUATE_H

#include "data/data.h"

/* What a net says about the examples of a data set, in their order. */
struct predictions {
  size_t classes;
  int32_t *answer;    /* [examples]          */
  float *probability; /* [examples, classes] */
};

/* Accuracies by p->probability alone, which must be of as many classes as there are labels; fills in p->answer. Without
 * fragility. */
r4_status evaluate_predictions(const r4_data *d, const struct predictions *p, r4_metrics *m, r4_error *e);

#endif
