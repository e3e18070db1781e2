/* random_net.h - networks made of random blocks, for tests that hold for every network. */
#ifndef RANDOM_NET_H
#define RANDOM_NET_H

#include "check.h"

enum { NET_PARAMS = 40 };

struct random_net {
  r4_graph *g;
  r4_id x, y, loss; /* input "x", output [batch, classes], scalar */
  r4_id param[NET_PARAMS];
  int64_t below[NET_PARAMS]; /* > 0: the "parameter" is an index, of whole numbers below this */
  size_t params;
  bool large, detached;
  char story[400]; /* the blocks in order */
};

/* Draws a network, from the stream of draws as it stands. Every block keeps values moderate, and is
 * defined everywhere, also over boxes. */
void random_net_draw(struct random_net *n, bool large);

/* Values for all inputs of r: parameters, indices, labels, and x; radii (names "radius...") up to the
 * given one, some of them zero; all others in -1 .. 1. */
void random_net_fill(const struct random_net *n, struct runner *r, double radius);

#endif
