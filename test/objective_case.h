/* objective_case.h - an objective on a small net with random data, for tests that hold for every method. */
#ifndef OBJECTIVE_CASE_H
#define OBJECTIVE_CASE_H

#include "check.h"

enum {
  CASE_BATCH = 8,
  CASE_FEATURES = 18,
  CASE_LISTED = 4,
  CASE_SAMPLES = 20,
  CASE_PARAMS = 6,
  CASE_SIZE = 700,
  CASE_CLASSES = 3,
};

/* Data in the form of masks on all features; o.masked = CASE_LISTED takes the listed ones from it. */
struct objective_case {
  r4_net *net;
  r4_objective_options o;
  size_t batch, features;
  double filled[CASE_BATCH * CASE_FEATURES]; /* if o.filled */
  double x[CASE_BATCH * CASE_FEATURES], m[CASE_BATCH * CASE_FEATURES], start[CASE_BATCH * CASE_FEATURES];
  double y[CASE_BATCH], noise[CASE_SAMPLES * CASE_BATCH * CASE_FEATURES], weights[CASE_SIZE];
};

struct objective_numbers {
  double loss, data, penalty; /* of the first term */
  double penalties[R4_TERMS]; /* of all               */
  double losses[CASE_BATCH], each[CASE_BATCH], logits[CASE_BATCH * CASE_CLASSES];
  double slope[CASE_SIZE], penalty_slope[CASE_SIZE]; /* of the loss and of the penalty, by each weight */
};

/* Batch 4, all in [-1, 1], masks on the listed features but none for example 2, steps and samples 3. */
struct objective_case objective_case_new(const char *layers, r4_shape input, const char *method);
void objective_case_free(struct objective_case *c);

/* A plan for the case, to be run with other weights and examples: runner_free. */
struct runner *objective_case_open(const struct objective_case *c, r4_plan_options options);
struct objective_numbers objective_case_go(const struct objective_case *c, struct runner *r);

/* Both, in double. */
struct objective_numbers objective_case_run(const struct objective_case *c);

void assert_near(double a, double b, double tolerance, const char *what);

#endif
