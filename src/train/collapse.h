/* Is the net alive? A net that gives every example the same answer has learned nothing, or has been pressed flat by its
 * penalty; all that measures how little it looks at the mask then praises it. */
#ifndef R4_TRAIN_COLLAPSE_H
#define R4_TRAIN_COLLAPSE_H

#include "base/error.h"

/* The answers of the latest batches. */
struct pulse {
  int64_t answer;  /* the one that all of them got, as long as there is just one */
  int64_t batches; /* how many got no other, up to now; 0: the last had several  */
};

enum { PULSE_SEVERAL = -1 }; /* in place of an answer */

/* The one answer of n examples, or PULSE_SEVERAL. */
int64_t pulse_of(const int32_t *answer, size_t n);

/* After a batch whose examples got this one answer, or PULSE_SEVERAL. */
void pulse_beat(struct pulse *p, int64_t answer);

/* The least mean loss of a net that gives every example of d the same probabilities. With n_c examples of class c and
 * weights w_c (NULL: all 1) these are p_c = w_c n_c / sum_k w_k n_k, and the loss is
 *
 *     chance = - sum_c w_c n_c log p_c / sum_c n_c
 *
 * With weights of groups (NULL: all 1), each example counts as often as that of its group says in w_c n_c. */
double pulse_chance(const r4_data *d, const double *class_weights, const double *group_weights);

#endif
