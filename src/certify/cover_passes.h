/* Forward passes over masked examples, in batches.
 *
 * What is certified is what passes give, so a masked example must have the same bits wherever it is. All batches have
 * the same number of rows, and so the same plan; rows that are left over are not looked at. Texts share a batch only
 * with those that are cut to the same length. Before a plan is used, all of its rows are asked about one example: if
 * two of them differ in a bit, examples are asked about one by one. */
#ifndef R4_CERTIFY_COVER_PASSES_H
#define R4_CERTIFY_COVER_PASSES_H

#include "certify/cover.h"
#include "measure/probe.h"

enum { PASSES_BATCH = 16, NO_MASK = SIZE_MAX };

/* An example with masks i and j hidden, or NO_MASK, and what became of it. */
struct pass {
  size_t example, i, j;
  int32_t predicted; /* -1: a logit is not finite                  */
  float lead;        /* the predicted logit above the next largest */
};

struct passes;

/* d and weights are the caller's. */
struct passes *passes_new(const r4_net *n, const float *weights, const r4_data *d, const r4_cover *c,
                          const float *constant, r4_error *e);
void passes_free(struct passes *p);

/* Fills in predicted and lead of each. */
r4_status passes_run(struct passes *p, size_t n, struct pass *pass, r4_error *e);

#endif
