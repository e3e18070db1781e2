#include "optim/dual.h"

#include <math.h>

#include "optim/guard.h"

static const double SMALL_LAMBDA = 0.003, LARGEST_LAMBDA = 1, LARGEST_MOVE = 2;
static const double AT_ONCE = 0.5; /* the least share of q that is asked for next */

static double clip(double v, double low, double high)
{
  return fmin(fmax(v, low), high);
}

struct dual dual_begin(double delta, double rate, double lambda)
{
  return (struct dual){.delta = delta, .rate = rate, .lambda = fmin(lambda, LARGEST_LAMBDA)};
}

double dual_target(const struct dual *d, double fallen)
{
  double path = d->delta * pow(d->first / d->delta, 1 - fallen);
  return fmax(path, AT_ONCE * d->q);
}

void dual_step(struct dual *d, double q, double fallen)
{
  d->seen++;
  if (d->seen == 1) d->first = fmax(q, d->delta); /* a small q is no reason to ask for less */
  guard_follow(&d->q, q, d->seen);
  double above = clip(q / dual_target(d, fallen) - 1, -1, LARGEST_MOVE);
  d->lambda = clip(d->lambda + d->rate * above * (d->lambda + SMALL_LAMBDA), 0, LARGEST_LAMBDA);
}
