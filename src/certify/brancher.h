/* Branch and bound: what linear bounds do not prove of a box is cut in two, x_u >= 0 and x_u <= 0 for the argument of
 * an undecided relu u, and each half is bounded by itself; halves that nothing proves are cut again. A point at which
 * x_u is 0 is in both. What is proved of all leaves is true of the box: their bounds are enclosed by sound rules. */
#ifndef R4_CERTIFY_BRANCHER_H
#define R4_CERTIFY_BRANCHER_H

#include "base/error.h"
#include "module/net.h"

enum { BRANCH_FUNCTIONALS = 16 }; /* at most, of a question */

/* To be proved: for every x of the box, c_k . z(x) + rest_k > 0 for some k, whatever c_k is between coef_k and coef_k +
 * spread_k. Both [functionals, classes]; spread NULL: zeros. */
struct branch_question {
  size_t functionals;
  const double *coef, *spread, *rest;
};

enum branch_answer { BRANCH_OPEN, BRANCH_PROVED, BRANCH_REFUTED };

struct branch_result {
  enum branch_answer is; /* of all questions together */
  double least;          /* proved: of every question some functional is at least this, less 1e-6 (1 + its size) */
  size_t refuted;        /* which question */
  double value;          /* of J (falsify.h) there */
  size_t leaves, cuts;
};

struct branch_options {
  double seconds; /* in all */
  bool equal;     /* a point at which J is 0 refutes, too */
  size_t bytes;   /* of sub-domains that wait, at most: more, and it stays open; 0: 2 GB */
  size_t starts;  /* of the attack on each question before anything is bounded; 0: it was attacked before */
};

struct brancher;

/* For boxes of n, and questions of at most so many functionals. n and weights stay the caller's. */
struct brancher *brancher_new(const r4_net *n, const float *weights, size_t functionals, r4_error *e);
void brancher_free(struct brancher *b);
/* point [features], if it is refuted: where. */
r4_status brancher_run(struct brancher *b, const double *lo, const double *hi, size_t questions,
                       const struct branch_question *question, const struct branch_options *options, double *point,
                       struct branch_result *result, r4_error *e);

#endif
