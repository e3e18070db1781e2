/* "delta" in place of lambda: the user states how small the penalty q (a mean over the batch) must become, and the
 * weight follows. The loss is
 *
 *     data + lambda log(1 + q / delta)
 *
 * (of ibp-ex+r3 one such logarithm for each of its penalties, whose sum is the q below) and after each step, by dual
 * ascent on a scale that is logarithmic for all but the smallest lambda,
 *
 *     lambda <- clip(lambda + rate clamp(q / target - 1, -1, 2) (lambda + 0.003), 0, 1)
 *
 * where target falls geometrically from the first q to delta over the first steps: asking for delta at once
 * kills a net whose q begins at a thousand. Batches without masks do not count.
 *
 * Why so. The lambda that holds q at delta differs by orders of magnitude from net to net, hence steps in proportion
 * to it. At rest the mean of q / delta is 1, but for moves that are clamped; a rule in log q would rest where the
 * geometric mean is, lower. With the 1 in the logarithm the pull on q weakens as q falls below delta, which damps
 * the swings of lambda and q. Above 1 nothing is gained: a tenth of q would be worth 2.3, the loss of guessing one
 * of ten classes. */
#ifndef R4_TRAIN_DUAL_H
#define R4_TRAIN_DUAL_H

struct dual {
  double delta, rate, steps; /* settings: what to reach, how fast lambda moves, how long target falls */
  double lambda, first;      /* state: the weight, and the first q, delta at least (0: none seen yet) */
  double step;               /* state: steps done                                                     */
};

/* Begins with lambda, or with the largest that is allowed. */
struct dual dual_begin(double delta, double rate, double steps, double lambda);

/* After a step whose batch had the mean penalty q. */
void dual_step(struct dual *d, double q);

/* What q should be at the present step, once the first is done. */
double dual_target(const struct dual *d);

#endif
