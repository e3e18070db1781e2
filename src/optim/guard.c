#include "optim/guard.h"

#include <math.h>
#include <stdbool.h>

static const double MEMORY = 20; /* steps that running means look back */
static const double ERRORS = 3;  /* what is learned is more than that many errors of its mean, */
static const double LEAST = 0.1; /* and than this share of what there is to learn */

struct guard guard_begin(double chance)
{
  return (struct guard){.chance = chance, .share = 0.5};
}

void guard_follow(double *mean, double value, double seen)
{
  *mean += (value - *mean) / fmin(seen, MEMORY);
}

void guard_step(struct guard *g, double data, const double form[R4_TERMS])
{
  g->seen++;
  if (g->seen > 1) guard_follow(&g->noise, pow(data - g->last, 2) / 2, g->seen - 1);
  g->last = data;
  guard_follow(&g->data, data, g->seen);
  for (size_t k = 0; k < R4_TERMS; k++) guard_follow(&g->form[k], form[k], g->seen);
}

static bool has_learned(const struct guard *g)
{
  double n = fmin(g->seen, 2 * MEMORY - 1);
  return g->seen > 1 && g->chance - g->data >= fmax(ERRORS * sqrt(g->noise / n), LEAST * g->chance);
}

double guard_factor(const struct guard *g, const double lambda[R4_TERMS])
{
  double may_cost = g->share * fmax(g->chance - g->data, 0), cost = 0;
  for (size_t k = 0; k < R4_TERMS; k++) cost += lambda[k] * g->form[k];
  if (!has_learned(g)) return 0;
  return cost > may_cost ? may_cost / cost : 1;
}
