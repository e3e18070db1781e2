/* "delta" in place of lambda: the user states how small the penalty q (a mean over the batch) must become, and the
 * weight follows. The loss is
 *
 *     data + lambda log(q + delta / 1000)
 *
 * and after each step, by dual ascent on a logarithmic scale,
 *
 *     lambda <- clip(lambda + rate clamp(log q - log target, -2, 2), 0, 10)
 *
 * where target falls geometrically from the first q to delta over the first steps: asking for delta at once
 * kills a net whose q begins at a thousand. */
#ifndef R4_TRAIN_DUAL_H
#define R4_TRAIN_DUAL_H

struct dual {
  double delta, rate, steps; /* settings: what to reach, how fast lambda moves, how long target falls */
  double lambda, first;      /* state: the weight, and the first q (0: none seen yet)                 */
  double step;               /* state: steps done                                                     */
};

/* After a step whose batch had the mean penalty q. A q of 0 (nothing left to push, or no masks) counts as
 * delta / 1000. */
void dual_step(struct dual *d, double q);

/* What q should be at the present step. */
double dual_target(const struct dual *d);

#endif
