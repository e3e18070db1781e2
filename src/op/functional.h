/* Linear rules: affine bounds of a node by its arguments, where intervals lose what elements have in common.
 *
 * A functional of a node y [rows, ..] is, for each row b, a number f_b(y) = sum_i coef_bi y_bi. There are `times` of
 * them side by side, coef [times * rows, ..]; or rows = 1, where all rows of y have the same. A linear rule bounds them
 * from below by functionals of the arguments, with what is known of these, their intervals:
 *
 *     f(y) >= sum_k to_k(x_k) + rest          for all x_k in their intervals
 *
 * Upper bounds are lower ones of -f. pass/linear.c walks back from y to the boxes by these rules (CROWN). All is about
 * real numbers, and nodes of the graph: bounds can be differentiated, and enclosed by the sound rules (op/sound.h).
 *
 * A rule is about single rows: row b of the result may depend on row b of the arguments alone (weights have no rows).
 * It says false where that is not so, or where it does not apply: then the interval of y is taken, which always
 * holds. */
#ifndef R4_OP_FUNCTIONAL_H
#define R4_OP_FUNCTIONAL_H

#include "op/op_rules.h"

struct functional {
  r4_graph *g;
  r4_id y, coef;
  int64_t times, rows;      /* rows: those of y, or 1 */
  const struct interval *x; /* of the arguments; single points are what no box touches */
  r4_id shift;              /* [times * rows of y, ..]: of the lower slopes of a relu, which are free; or R4_NONE */
  r4_id to[MAX_ARITY];      /* the result: coefficients of the arguments; R4_NONE: none */
  r4_id rest;               /* to be added up over all axes but the first, or R4_NONE */
};

/* ---- Shared rules ---- */

/* y = L(x), linear in all of its arguments together, row by row: to_k = the derivative of f(L). */
bool lin_transpose(struct functional *f);
/* y = p(a, b), linear in each: the derivative by the one that moves. False if both do. */
bool lin_product(struct functional *f);

/* Element-wise, of up to three arguments: below <= y <= above for
 *     below = sum_k slope[0][k] x_k + at[0],   above = sum_k slope[1][k] x_k + at[1]             (R4_NONE is 0)
 *     coef y >= coef below where coef > 0, and coef above elsewhere */
enum { LINE_ARGS = 3 };
struct lines {
  r4_id slope[2][LINE_ARGS], at[2]; /* one array of nodes, for functional_repeat */
};
bool lin_between(struct functional *f, const struct lines *l);

/* Smooth and piecewise linear functions of one argument: linear_curve.c. */
bool lin_convex(struct functional *f);
bool lin_concave(struct functional *f);
bool lin_sigmoidal(struct functional *f); /* the slope rises up to 0, then falls */
bool lin_relu(struct functional *f), lin_abs(struct functional *f), lin_step(struct functional *f);
bool lin_sign(struct functional *f);

/* Of two arguments and more: linear_pair.c. */
bool lin_mul(struct functional *f), lin_div(struct functional *f), lin_max(struct functional *f);
bool lin_min(struct functional *f), lin_select(struct functional *f), lin_check(struct functional *f);
void lin_relu_lines(r4_graph *g, r4_id lo, r4_id hi, struct lines *l); /* of relu(x), lo <= x <= hi */

/* Of windows and axes: linear_largest.c. */
bool lin_reduce_max(struct functional *f), lin_pool_max(struct functional *f), lin_logsumexp(struct functional *f);

/* ---- For rules ---- */

/* The shape of a node with rows for all functionals. */
r4_shape functional_shape(const struct functional *f, r4_shape s);
/* coef times what is below where coef > 0, and what is above elsewhere; R4_NONE is 0. */
r4_id functional_line(struct functional *f, r4_id below, r4_id above);
/* Gives each row of y its own coefficients. */
void functional_spread(struct functional *f);
/* Nodes v[0..n) with the rows of y, or without any, repeated for each functional; spreads if one of them needs it.
 * R4_NONE stays. */
void functional_repeat(struct functional *f, size_t n, r4_id *v);
/* x [times * rows, ..] for the other number of rows, by repeating those of 1. */
r4_id functional_rows(r4_graph *g, r4_id x, int64_t times, int64_t rows);

#endif
