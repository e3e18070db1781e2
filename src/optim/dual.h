/* "delta" in place of lambda: the user states how small the penalty q (a mean over the batch) must become, and the
 * weight follows. The loss is
 *
 *     data + lambda log(1 + q / delta)
 *
 * (of ibp-ex+r3 one such logarithm for each of its penalties, whose sum is the q below) and after each step, by dual
 * ascent on a scale that is logarithmic for all but the smallest lambda,
 *
 *     lambda <- clip(lambda + rate clamp(q / target - 1, -1, 2) (lambda + 0.003), 0, 1)
 *     target  = max(first^(1-u) delta^u, q~ / 2)            u: how much of the fall should be done by now
 *
 * where first is the first q, delta at least, and q~ a running mean. Batches without masks do not count.
 *
 * Why so. The lambda that holds q at delta differs by orders of magnitude from net to net, hence steps in proportion
 * to it. At rest the mean of q / delta is 1, but for moves that are clamped; a rule in log q would rest where the
 * geometric mean is, lower. With the 1 in the logarithm the pull on q weakens as q falls below delta, which damps
 * the swings of lambda and q. The target waits for q: asking for more than a half of what is there would wind lambda up
 * for the time when q arrives; for the same reason lambda is never left above what the net can bear (guard.h). */
#ifndef R4_OPTIM_DUAL_H
#define R4_OPTIM_DUAL_H

struct dual {
  double delta, rate; /* what to reach, and how fast lambda moves                            */
  double lambda;      /* the weight                                                          */
  double first, q;    /* the first q, and its running mean                                   */
  double seen;        /* steps so far                                                        */
};

/* Begins with lambda, or with the largest that is allowed. */
struct dual dual_begin(double delta, double rate, double lambda);

/* After a step whose batch had the mean penalty q; fallen is u, from 0 to 1. */
void dual_step(struct dual *d, double q, double fallen);

/* What q should be by now, once the first step is done. */
double dual_target(const struct dual *d, double fallen);

#endif
