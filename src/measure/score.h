/* Accuracy by group. */
#ifndef R4_MEASURE_SCORE_H
#define R4_MEASURE_SCORE_H

#include "base/error.h"

enum { SCORE_GROUPS = 1024 };

struct score {
  size_t groups;
  double loss, accuracy; /* over all examples                                               */
  double avg, worst;     /* mean and least of the accuracies of the groups that have examples */
  size_t worst_group;
  double group[SCORE_GROUPS]; /* NaN for a group without examples */
  size_t count[SCORE_GROUPS];
  /* Of validation (exchanged.h); 0 where nobody asks. */
  double avg_se, worst_se, score; /* standard errors, and what nets are chosen by */
  size_t exchanged;               /* examples                                     */
  double changed, lost, lost_se;  /* shares of their predictions, and of the correct ones */
  double plain;                   /* avg before the exchange                              */
};

/* Accuracies are shares, 0 to 1. */
r4_status score_of(const r4_data *d, const int32_t *predicted, double loss, struct score *s, r4_error *e);

#endif
