/* Lower bounds of margins by walking back from the logits (pass/bound.h), soundly.
 *
 * In real arithmetic, the walk's result is at most every margin over the box: its rules are proved (doc/bounds.md). It
 * is a graph of its own over the weights and the ends of the box, which are single numbers. The sound rules enclose the
 * value of that graph, [a, b]: so a <= its value <= every margin, and a is what is claimed. No rule is written twice,
 * and coefficients need no proof of their own. */
#ifndef R4_CERTIFY_WALK_BACK_H
#define R4_CERTIFY_WALK_BACK_H

#include "certify/enclose.h"
#include "module/net.h"

struct walk_back;

/* For so many examples at a time; 0: as many as fit in so much memory as a pass may take, of so many that there are.
 * weights: of the net in double, the caller's. */
struct walk_back *walk_back_new(const r4_net *n, const double *weights, size_t batch, size_t examples, r4_error *e);
void walk_back_free(struct walk_back *w);
size_t walk_back_batch(const struct walk_back *w);

/* Where the boxes of the examples go, [batch, features], and their classes, [batch], before a run. */
struct walk_back_room {
  double *lo, *hi, *class;
};
struct walk_back_room walk_back_room(struct walk_back *w);
/* With slopes of relus that so many steps of a search have improved; 0: the usual ones. */
r4_status walk_back_run(struct walk_back *w, int64_t steps, r4_error *e);
/* Of row i after a run: the least of z_class - z_j over all others, less 1e-6 (1 + its size); -infinity if nothing is
 * known. Of one output: z for class 1, -z for class 0. */
double walk_back_least(const struct walk_back *w, size_t i);

#endif
