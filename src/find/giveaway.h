/* How much of a class a set gives away, and whether a set says again what another one said. */
#ifndef R4_FIND_GIVEAWAY_H
#define R4_FIND_GIVEAWAY_H

#include <stdbool.h>
#include <stddef.h>

/* Of "all" examples, "class" are of the class; of the m of a set, k are. */
struct giveaway {
  size_t m, k, all, class;
};

/* The share of the class that is given away: those in the set, times how much purer than a set by chance it is,
 *
 *     k / class * (k / m - base) / (1 - base),   base = class / all.
 *
 * A pure set has the share of the class that is in it, one that is no purer than all examples has nothing. */
double giveaway_share(struct giveaway g);
/* Either nearly all of the set is of the class, or it gives away a quarter of it: what a shortcut is like. */
bool giveaway_is_pure(struct giveaway g);
bool giveaway_leads(struct giveaway g);

/* Where it comes among what leads: by p, of which one that is not pure has the root. Most of what is planted has
 * nothing else in its set. */
double giveaway_order(struct giveaway g, double log_p);

/* Of a class, a set has a, another one b, and both "common". Two sets that have nothing to do with each other share
 * ab / class by chance. They say the same if they share more than half of what the smaller could beyond that:
 *
 *     common - ab / class >= (min(a, b) - ab / class) / 2.
 *
 * What is on most of a class has most of any other set of it, which says nothing. */
bool giveaway_is_told(size_t a, size_t b, size_t common, size_t class);

#endif
