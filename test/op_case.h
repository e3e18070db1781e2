/* op_case.h - the samples of the table of operations as graphs and values. */
#ifndef OP_CASE_H
#define OP_CASE_H

#include "check.h"
#include "graph/op.h"

struct op_case {
  const struct op *op;
  const struct sample *sample;
  char what[80]; /* "div sample 2" */
  size_t n;      /* arguments */
};

/* Calls f for each sample of each operation, with the draws started anew. Fails for an operation
 * without a sample; an input, which computes nothing, needs none. */
void each_case(void (*f)(const struct op_case *c));

/* The names of the arguments' inputs are "a", "b", "c", after the prefix. */
const char *arg_name(const char *prefix, size_t k);
bool is_index(const struct op_case *c, size_t k);
/* Bit k: argument k is not an index. */
unsigned movable(const struct op_case *c);

/* Inputs for the arguments, and the operation on them. Fails if the graph refuses. */
r4_id case_build(const struct op_case *c, r4_graph *g, r4_id *arg);

/* sum(y * weight), with an input of that name. */
r4_id weighted_sum(r4_graph *g, r4_id y, const char *weight);

/* Values for argument k: drawn from the sample's range; near the sample's own values if it has some. */
void case_values(const struct op_case *c, size_t k, double *x, size_t n);
/* Moves values to halves where the domain allows it: many are equal then, and some 0. */
void case_snap(const struct op_case *c, size_t k, double *x, size_t n);
/* Radii so that x -+ r stays in the operation's domain: at most "size" times the largest allowed. */
void case_radii(const struct op_case *c, size_t k, const double *x, double size, double *r, size_t n);
void draw_weights(double *w, size_t n);

#endif
