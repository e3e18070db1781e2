/* How much penalty a net can bear. A dead net, which gives every example the same answer, has no gradient at its input
 * and so no penalty: its loss is "chance", and that is the best there is once the weighted penalty exceeds what the
 * net has learned, chance - data. So the penalty may cost half of that and no more: all lambdas are multiplied by
 *
 *     factor = min(1, share max(chance - data~, 0) / cost~),    cost = sum of lambda form(q) over the terms
 *
 * where ~ are running means, and share is 1/2. A net that has learned nothing yet is left to learn, and the penalty
 * comes in as the net gets better and its penalty smaller; certified bounds that begin at 10^5 do no harm.
 *
 * Batches differ, so data~ falls below chance by luck as well. Deep nets may stay at chance for an epoch and more,
 * where the slope of their data term is next to nothing, and the little penalty that luck lets in is then all that
 * moves them, to death. A net that has just begun is easily held where it is, too. So what counts as learned must
 * exceed its own error three times, and a tenth of what there is to learn: the factor is 0 where
 *
 *     chance - data~ < max(3 se, chance / 10),  se^2 = ((data_t - data_t-1)^2 / 2)~ / n,  n = min(seen, 2 memory - 1),
 *
 * the variance of a mean of n values, and that of one that forgets with the given memory. Neighbouring steps differ
 * by their batches alone, whereas the spread of all losses grows with every loss that falls: a net that learns fast
 * would look as if it guessed, for as long as the memory holds its first steps, which may be all of a short run. */
#ifndef R4_OPTIM_GUARD_H
#define R4_OPTIM_GUARD_H

#include "r4.h"

struct guard {
  double chance, share;
  double data, noise, form[R4_TERMS]; /* running means; noise: of (data_t - data_t-1)^2 / 2 */
  double last;                        /* data of the last step                              */
  double seen;                        /* steps they are made of                             */
};

struct guard guard_begin(double chance);

/* After a step, whose batch had masks. */
void guard_step(struct guard *g, double data, const double form[R4_TERMS]);

/* 0 before the first step, and while nothing was learned. */
double guard_factor(const struct guard *g, const double lambda[R4_TERMS]);

/* Moves a running mean: that of all values at first, later one that forgets. seen counts this value. */
void guard_follow(double *mean, double value, double seen);

#endif
