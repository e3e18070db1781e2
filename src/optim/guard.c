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

void guard_step(struct guard *g, double data, double form, double form_r3)
{
  g->seen++;
  if (g->seen > 1) guard_follow(&g->noise, pow(data - g->last, 2) / 2, g->seen - 1);
  g->last = data;
  guard_follow(&g->data, data, g->seen);
  guard_follow(&g->form, form, g->seen);
  guard_follow(&g->form_r3, form_r3, g->seen);
}

static bool has_learned(const struct guard *g)
{
  double n = fmin(g->seen, 2 * MEMORY - 1);
  return g->seen > 1 && g->chance - g->data >= fmax(ERRORS * sqrt(g->noise / n), LEAST * g->chance);
}

double guard_factor(const struct guard *g, double lambda, double lambda_r3)
{
  double may_cost = g->share * fmax(g->chance - g->data, 0), cost = lambda * g->form + lambda_r3 * g->form_r3;
  if (!has_learned(g)) return 0;
  return cost > may_cost ? may_cost / cost : 1;
}
