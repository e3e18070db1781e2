/* What changes with time: the learning rate, and ramps of eps and lambda. Time is counted in epochs, parts of one
 * included: the batch b of B in epoch e is at e + b / B. */
#ifndef R4_OPTIM_SCHEDULE_H
#define R4_OPTIM_SCHEDULE_H

#include <stddef.h>

enum schedule_kind { SCHEDULE_CONSTANT, SCHEDULE_LINEAR, SCHEDULE_COSINE, SCHEDULE_STEPS };
extern const char *const schedule_words[]; /* of each; NULL ends them */

struct schedule {
  enum schedule_kind kind;
  double epochs, warmup;  /* in all; and of these, rising from 0 */
  const double *decay_at; /* SCHEDULE_STEPS: at these epochs ...   */
  size_t decays;
  double decay_by; /* ... the rate is multiplied by this    */
};

/* The factor of the learning rate at time t:
 *
 *     t / warmup                      while t < warmup; from then on, with u = (t - warmup) / (epochs - warmup),
 *     constant   1
 *     linear     1 - u
 *     cosine     (1 + cos(pi u)) / 2
 *     steps      decay_by ^ (number of decay_at <= t) */
double schedule_rate(const struct schedule *s, double t);

/* min(1, t / length); 1 for a ramp of length 0. */
double schedule_ramp(double length, double t);

#endif
