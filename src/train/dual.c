#include "train/dual.h"

#include <math.h>

static const double SMALL_LAMBDA = 0.003, LARGEST_LAMBDA = 1, LARGEST_MOVE = 2;

static double clip(double v, double low, double high)
{
  return fmin(fmax(v, low), high);
}

struct dual dual_begin(double delta, double rate, double steps, double lambda)
{
  return (struct dual){.delta = delta, .rate = rate, .steps = steps, .lambda = fmin(lambda, LARGEST_LAMBDA)};
}

/* first^(1 - u) delta^u */
double dual_target(const struct dual *d)
{
  double u = d->step < d->steps ? d->step / d->steps : 1;
  return d->delta * pow(d->first / d->delta, 1 - u);
}

void dual_step(struct dual *d, double q)
{
  if (d->first == 0) d->first = fmax(q, d->delta); /* a small q is no reason to ask for less */
  double above = clip(q / dual_target(d) - 1, -1, LARGEST_MOVE);
  d->lambda = clip(d->lambda + d->rate * above * (d->lambda + SMALL_LAMBDA), 0, LARGEST_LAMBDA);
  d->step++;
}
