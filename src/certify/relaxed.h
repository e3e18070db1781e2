/* The linear relaxation of a net over many sub-domains at once: a row is a sub-problem. Its box, what is known of the
 * arguments of relus, and the functional whose least value is bounded are data, as are slopes and multipliers that
 * make the bound better and are all valid (pass/bound.h). One graph is compiled for floats, with its derivatives, for
 * searches; and enclosed by sound rules in double, for what is claimed. */
#ifndef R4_CERTIFY_RELAXED_H
#define R4_CERTIFY_RELAXED_H

#include "certify/enclose.h"
#include "module/net.h"
#include "pass/bound.h"

/* A net with its weights, in both precisions. */
struct weighted {
  const r4_net *net;
  const float *near;
  const double *exact;
};

/* The relus of a net, in the order of nodes. Their units are numbered through. */
struct relaxed_units {
  size_t relus, units, features, logits;
  uint32_t relu[MOST_RELUS], argument[MOST_RELUS]; /* nodes of every graph of the net */
  size_t first[MOST_RELUS + 1];
};

/* One relu below the node that is bounded: [batch, n] each. */
struct relaxed_relu {
  size_t n, unit;       /* unit: the number of the first one */
  double *least, *most; /* of the argument */
  float *slope, *multiplier;
  float *slope_by, *multiplier_by, *coef; /* after a run: derivatives, and the coefficients of the result */
};

/* The same numbers, for the plan and for the encloser. */
struct relaxed_copy {
  double *exact;
  float *near;
  size_t n;
};
enum { RELAXED_GIVEN = 3 + 2 * MOST_RELUS, RELAXED_FREE = 2 * MOST_RELUS };

struct relaxed {
  size_t batch, width, relus; /* width: of the node that is bounded, in a row */
  struct relaxed_units units;
  struct relaxed_relu relu[MOST_RELUS];
  double *lo, *hi;          /* [batch, features] */
  double *functional;       /* [batch, width] */
  double *spread, *above;   /* 0 at first; and functional + spread, between which what is proved may have it */
  float *value, *towards;   /* after a run: [batch]; coefficients of the features, [batch, features] */
  struct relaxed_copy given[RELAXED_GIVEN], free[RELAXED_FREE]; /* what is bounded; slopes and multipliers */
  r4_graph *g;
  r4_id least;
  r4_plan *plan;
  struct encloser *encloser;
  double *exact;
  float *near;
};

enum { RELAXED_LOGITS = MOST_RELUS };

/* The relus of n, and the ends of their arguments over a box, enclosed: [units] each; by walking back, with the usual
 * slopes. R4_E_RULE names an operation without a linear rule. */
r4_status relaxed_ends(const struct weighted *n, const double *lo, const double *hi, struct relaxed_units *units,
                       double **least, double **most, r4_error *e);

/* Of the argument of relu k, or of the logits; so many rows. */
struct relaxed *relaxed_new(const struct weighted *n, const struct relaxed_units *units, size_t k, size_t batch,
                            r4_error *e);
void relaxed_free(struct relaxed *r);
/* Rows for which the largest node is as large as a pass may be. */
size_t relaxed_batch(const struct relaxed_units *units, size_t most);

/* After rows have been set: values, derivatives and coefficients in plain arithmetic; again, after other slopes and
 * multipliers. */
r4_status relaxed_begin(struct relaxed *r, r4_error *e);
r4_status relaxed_run(struct relaxed *r, r4_error *e);
/* Encloses the values of all rows: at least so much is true. Valid until the next time. */
r4_status relaxed_prove(struct relaxed *r, const double **least, r4_error *e);

/* Better slopes and multipliers of the first n rows, from those that are there, in so many steps; they, value, towards
 * and coef are then those of the best ones. A row of value + rest > 0 is done; it ends when all are. */
r4_status relaxed_search(struct relaxed *r, size_t n, const double *rest, size_t steps, double size, r4_error *e);

#endif
