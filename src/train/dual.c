#include "train/dual.h"

#include <math.h>

static const double SMALL_LAMBDA = 0.003, LARGEST_LAMBDA = 1, LARGEST_MOVE = 2;
static const double AT_ONCE = 0.5; /* the least share of q that is asked for next */
static const double MEMORY = 20;   /* steps that the running means look back      */

static double clip(double v, double low, double high)
{
  return fmin(fmax(v, low), high);
}

struct dual dual_begin(double delta, double rate, double chance, double lambda)
{
  return (struct dual){
    .delta = delta, .rate = rate, .chance = chance, .may_cost = 0.5, .lambda = fmin(lambda, LARGEST_LAMBDA)};
}

double dual_target(const struct dual *d, double fallen)
{
  double path = d->delta * pow(d->first / d->delta, 1 - fallen);
  return fmax(path, AT_ONCE * d->q);
}

double dual_worth(const struct dual *d)
{
  double learned = fmax(d->chance - d->data, 0);
  return fmin(d->may_cost * learned / log1p(d->q / d->delta), LARGEST_LAMBDA);
}

/* The mean of what was seen at first, later one that forgets. */
static void follow(double *mean, double value, double seen)
{
  *mean += (value - *mean) / fmin(seen, MEMORY);
}

void dual_step(struct dual *d, double q, double data, double fallen)
{
  d->seen++;
  if (d->seen == 1) d->first = fmax(q, d->delta); /* a small q is no reason to ask for less */
  follow(&d->q, q, d->seen);
  follow(&d->data, data, d->seen);
  double above = clip(q / dual_target(d, fallen) - 1, -1, LARGEST_MOVE);
  d->lambda = clip(d->lambda + d->rate * above * (d->lambda + SMALL_LAMBDA), 0, dual_worth(d));
}
