/* "delta" in place of lambda: the user states how small the penalty q (a mean over the batch) must become, and the
 * weight follows. The loss is
 *
 *     data + lambda log(1 + q / delta)
 *
 * (of ibp-ex+r3 one such logarithm for each of its penalties, whose sum is the q below) and after each step, by dual
 * ascent on a scale that is logarithmic for all but the smallest lambda,
 *
 *     lambda <- min(lambda + rate clamp(q / target - 1, -1, 2) (lambda + 0.003), worth, 1)        and at least 0
 *     target  = max(delta, first^(1-u) delta^u, q~ / 2)            u: how much of the fall should be done by now
 *     worth   = share max(chance - data~, 0) / log(1 + q~ / delta),  share = 1/2
 *
 * where first is the first q, q~ and data~ are running means, and chance is the loss of the best net that gives every
 * example the same answer. Batches without masks do not count.
 *
 * Why so. The lambda that holds q at delta differs by orders of magnitude from net to net, hence steps in proportion
 * to it. At rest the mean of q / delta is 1, but for moves that are clamped; a rule in log q would rest where the
 * geometric mean is, lower. With the 1 in the logarithm the pull on q weakens as q falls below delta, which damps
 * the swings of lambda and q.
 *
 * A dead net, which gives every example the same answer, has q = 0 and the loss "chance": the best there is, once
 * lambda log(1 + q / delta) exceeds what the net has learned, chance - data. So the penalty may cost half of that and
 * no more; a net that has learned nothing yet is left to learn. And the target waits for q: asking for more than a
 * half of what is there would wind lambda up for the time when q arrives. */
#ifndef R4_TRAIN_DUAL_H
#define R4_TRAIN_DUAL_H

struct dual {
  double delta, rate, chance; /* what to reach, how fast lambda moves, and the loss of one answer for all */
  double lambda;              /* the weight                                                               */
  double may_cost;            /* the share of what was learned that the penalty may cost, 1/2 at first    */
  double first, q, data;      /* the first q, delta at least, and the running means                       */
  double seen;                /* steps so far                                                             */
};

/* Begins with lambda, or with the largest that is allowed. */
struct dual dual_begin(double delta, double rate, double chance, double lambda);

/* After a step whose batch had the mean penalty q and the loss data; fallen is u, from 0 to 1. */
void dual_step(struct dual *d, double q, double data, double fallen);

/* What q should be by now, and the largest lambda that the net can bear, once the first step is done. */
double dual_target(const struct dual *d, double fallen);
double dual_worth(const struct dual *d);

#endif
