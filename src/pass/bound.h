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
  struct linear_relus *relus; /* or NULL */
  bool last;                  /* the walk is that of bound_least */
  r4_id first;                /* of the boxes */
};

/* The relus below y, in the order of nodes, and what a walk back from y leaves free:
 *
 *     slope        of the lower line, a shift for each element and functional: every one is valid, 0 is the usual slope
 *     multiplier   of the sign of the argument x: f(x) >= f(x) + m x where m x <= 0, which is any m <= 0 where x >= 0
 *                  is known, and any m >= 0 where x <= 0 is. Of others the part that is not valid is taken for 0
 *
 * All are inputs: "slope.K", "multiplier.K"; with given, "least.K" and "most.K" are the ends of the argument, which are
 * then taken from there. Branching has x >= 0 in one half, and x <= 0 in the other, by these ends and multipliers
 * (beta-CROWN). */
enum { MOST_RELUS = 32 };
struct linear_relu {
  r4_id y, lo, hi; /* ends of the argument */
  r4_id slope, multiplier, coef; /* of the last walk, coef those of y; R4_NONE: it does not pass y */
};
struct linear_relus {
  bool given;
  size_t n;
  struct linear_relu relu[MOST_RELUS];
  r4_id box; /* coefficients of the first box [times * rows, ..], or R4_NONE */
};

/* The least values of functionals of y over the boxes, [times, rows of y]: coef [times * rows of y, ..]. By walking
 * back; ends inside by the options. relus, or NULL, gets what is free in this walk; its field given is read. R4_NONE
 * after an error. */
r4_id bound_least(r4_graph *g, r4_id y, size_t n, const r4_box *box, const r4_bound_options *options, r4_id coef,
                  int64_t times, struct linear_relus *relus);

/* ---- linear.c ---- */

/* Before the nodes are visited: what moves, and which ends are wanted. */
void linear_prepare(struct bounds *b, r4_id y);
/* After the interval of node y is known: whether it is exact; and a better one, if that is wanted and worth it. Relus
 * are noted before. */
void linear_visit(struct bounds *b, r4_id y);
void linear_relu(struct bounds *b, r4_id y);
/* Bounds of y by walking back to the boxes. Its own interval is known. */
struct interval linear_bound(struct bounds *b, r4_id y);
/* The tighter ends of both, never outside of a: where a is a point, rounding must not move it to the other side of a
 * kink. A linear end that overflowed is not known. */
struct interval linear_tighter(r4_graph *g, struct interval a, struct interval linear);

/* The least values of functionals of y [rows, ..]: coef [times * rows, ..], or [times, ..], the same for all rows, if
 * rows is 1; the result is [times, rows of y]. R4_NONE after an error. */
r4_id linear_least(struct bounds *b, r4_id y, r4_id coef, int64_t times, int64_t rows);

#endif
