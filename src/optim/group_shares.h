/* The weights q of groups in Group DRO, q_g >= 0 and sum_g q_g = 1: exponentiated gradient ascent on sum_g q_g l_g,
 *
 *     q_g <- q_g exp(eta l_g) / sum_k q_k exp(eta l_k),     at first q_g = 1 / G
 *
 * where l_g is the mean loss of group g in the batch, and 0 for a group that is not in it, as in the published code.
 * The published algorithm moves q before it takes the step with it, here after: the weights of a step are an input of
 * it, and come from the losses of those before. */
#ifndef R4_OPTIM_GROUP_SHARES_H
#define R4_OPTIM_GROUP_SHARES_H

#include <stddef.h>

/* Groups of which there is nothing have q_g = 0 from the start, and keep it. */
void group_dro_step(double eta, size_t groups, const double *loss, double *q);

#endif
