/* Lower bounds of margins z_c - z_j of a batch of logits, from sound enclosures.
 *
 * If the logits are z = W h + b, the margin is one row, (W_c - W_j) h + (b_c - b_j): its bound over the box of h is
 * tighter than the difference of those of z_c and z_j. */
#ifndef R4_CERTIFY_MARGIN_H
#define R4_CERTIFY_MARGIN_H

#include "certify/enclose.h"

/* What an encloser must compute: the logits, and where they come from. */
struct margins {
  r4_id logits, hidden, weights, bias; /* hidden R4_NONE: the last part is not linear; bias R4_NONE: there is none */
  int64_t classes, features;
  bool any_float;
};

enum { MARGIN_NODES = 4 };

void margins_find(struct margins *m, const r4_graph *g, r4_id logits, r4_semantics semantics);
/* The nodes to be enclosed; returns how many. */
size_t margins_nodes(const struct margins *m, r4_id node[MARGIN_NODES]);
/* Of row i, for class c: the least of z_c - z_j over all others, less 1e-6 of all sizes (doc/certificates.md); -infinity
 * if nothing is known. Of one output: z for class 1, -z for class 0. */
double margins_least(const struct margins *m, const struct encloser *x, int64_t i, int64_t c);

#endif
