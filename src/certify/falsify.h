/* A search for points of a box where what is to be proved is false: downhill on
 *
 *     J(x) = max_k (coef_k . z(x) + rest_k),          which has to be above 0 everywhere
 *
 * by the sign of its slope, a row for each point. It looks in floats; the lowest points are judged in double. */
#ifndef R4_CERTIFY_FALSIFY_H
#define R4_CERTIFY_FALSIFY_H

#include "certify/relaxed.h"

struct falsifier {
  size_t batch, functionals, features, classes;
  double *lo, *hi, *at;   /* [batch, features]; at: where it begins, and where it was lowest */
  double *coef, *rest;    /* [batch, functionals, classes], [batch, functionals] */
  double *lowest;         /* after a search: J in double, [batch] */
  float *near;            /* what the plan in floats has */
  float *x, *functional, *added, *value, *slope, *best, *least;
  r4_plan *look, *judge;
};

struct falsifier *falsifier_new(const struct weighted *n, size_t batch, size_t functionals, r4_error *e);
void falsifier_free(struct falsifier *f);
/* From the points in at, in so many steps, each looked at; they begin with the size of the whole box. */
r4_status falsifier_search(struct falsifier *f, int steps, r4_error *e);

#endif
