/* Slices before the work instead of after it. */
#ifndef R4_PASS_EARLY_H
#define R4_PASS_EARLY_H

#include "graph/graph.h"

/* Elements start, start + step, ... of an axis, size of them. */
struct cut {
  int axis;
  int64_t start, step, size;
};

/* The cut of x, computed from cuts of what x is made of, down to where more than the cut is needed. Node "from" is
 * taken as it is: derivatives with respect to it, and boxes around it, find it. */
r4_id early_slice(r4_graph *g, r4_id x, struct cut c, r4_id from);

#endif
