/* What passes over bounds share. */
#ifndef R4_PASS_BOUND_H
#define R4_PASS_BOUND_H

#include "op/op_rules.h"

struct bounds {
  r4_graph *g;
  r4_bound_options options;
  bool *live, *touched;      /* touched: by a box, and its interval is known; by node up to y, as all others are */
  struct interval *interval; /* of touched nodes */
  /* Of linear bounds: */
  bool *box;    /* is a box: a walk ends here */
  bool *moves;  /* a box that is no single point reaches it */
  bool *wanted; /* how it is relaxed above depends on its ends */
  bool *exact;  /* its ends are reached, each by itself */
  bool *apart;  /* its elements depend on different elements of the boxes */
  int64_t widest; /* elements of a row, of what moves */
  struct linear_shifts *shifts; /* or NULL */
};

/* The free slopes of the relus that the last walk passes: inputs "slope.0", "slope.1", .., a shift for each element and
 * functional, all of which are valid; 0 is the usual slope. */
enum { MOST_SHIFTS = 32 };
struct linear_shifts {
  size_t n;
  r4_id input[MOST_SHIFTS];
};

/* The least values of functionals of y over the boxes, [times, rows of y]: coef [times * rows of y, ..]. By walking
 * back; ends inside by the options. shifts, or NULL, gets the inputs of free slopes. R4_NONE after an error. */
r4_id bound_least(r4_graph *g, r4_id y, size_t n, const r4_box *box, const r4_bound_options *options, r4_id coef,
                  int64_t times, struct linear_shifts *shifts);

/* ---- linear.c ---- */

/* Before the nodes are visited: what moves, and which ends are wanted. */
void linear_prepare(struct bounds *b, r4_id y);
/* After the interval of node y is known: whether it is exact; and a better one, if that is wanted and worth it. */
void linear_visit(struct bounds *b, r4_id y);
/* Bounds of y by walking back to the boxes. Its own interval is known. */
struct interval linear_bound(struct bounds *b, r4_id y);
/* The tighter ends of both, never outside of a: where a is a point, rounding must not move it to the other side of a
 * kink. A linear end that overflowed is not known. */
struct interval linear_tighter(r4_graph *g, struct interval a, struct interval linear);

/* The least values of functionals of y [rows, ..]: coef [times * rows, ..], or [times, ..], the same for all rows, if
 * rows is 1; the result is [times, rows of y]. R4_NONE after an error. */
r4_id linear_least(struct bounds *b, r4_id y, r4_id coef, int64_t times, int64_t rows);

#endif
