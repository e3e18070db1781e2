#include "find/giveaway.h"

static const double LEADS = .25;

double giveaway_share(struct giveaway g)
{
  if (!g.m || !g.class || g.class >= g.all) return 0;
  double k = (double)g.k, base = (double)g.class / (double)g.all;
  return k / (double)g.class * (k / (double)g.m - base) / (1 - base);
}

bool giveaway_is_pure(struct giveaway g)
{
  return 50 * (g.m - g.k) <= g.m;
}

bool giveaway_leads(struct giveaway g)
{
  return giveaway_is_pure(g) || giveaway_share(g) >= LEADS;
}

double giveaway_order(struct giveaway g, double log_p)
{
  return giveaway_is_pure(g) ? log_p : log_p / 2;
}

bool giveaway_is_told(size_t a, size_t b, size_t common, size_t class)
{
  double chance = class ? (double)a * (double)b / (double)class : 0, smaller = (double)(a < b ? a : b);
  return 2 * ((double)common - chance) >= smaller - chance;
}
