/* How far a change of a small part of an image reaches, layer by layer. */
#ifndef R4_MODULE_REACH_H
#define R4_MODULE_REACH_H

#include "module/net.h"

/* Rows or columns from .. to - 1. */
struct range {
  int64_t from, to;
};

/* Images of one size on the way through the net: the input, and what each convolution or pool makes of it. */
struct level {
  int64_t image[2], window[2];
  int64_t kernel, stride, pad; /* of the layer before it; not of the input */
};

struct r4_reach {
  size_t layers; /* the first ones, after which the windows are put back into whole images */
  size_t levels;
  struct level *level;
  double share;
};

/* The outputs of a window layer that see any of the inputs r, of those that there are. */
struct range reach_through(const struct level *l, int axis, struct range r);

/* The net's outputs for the first rows of x, as many as d and at have, if d is added in a window of each:
 *
 *     z(x + place(d, at))
 *
 * as a function of d whose cost is that of the windows, once z(x) is there. With h_k(x) the images of level k, the
 * change D_k is what remains of d after k levels, inside its window W_k:
 *
 *     D_0 = d,   D_k+1 = conv(D_k)                                    a convolution, without its bias
 *                D_k+1 = f(W_k h_k + D_k) - f(W_k h_k)                an activation or a pool
 *
 * and after the last level the net goes on with h + place(D). h does not depend on d, so bounds over a box of d are the
 * same as those of z itself. */
r4_id reach_apply(const r4_reach *reach, const r4_net *n, r4_graph *g, const r4_id *param, r4_id x, r4_id d,
                  r4_id at);

/* Of the places at [rows, levels, 2] those in the input, [rows, 2]. */
r4_id reach_first(const r4_reach *reach, r4_graph *g, r4_id at);

#endif
