/* One training step: the objective on a batch, and its derivative with respect to the weights. */
#ifndef R4_TRAIN_STEP_H
#define R4_TRAIN_STEP_H

#include "base/error.h"
#include "module/guide_cells.h"

struct step;

struct step_options {
  const r4_net *net;
  r4_objective_options objective; /* batch, masked and guided are set here, per batch */
  size_t masked;                  /* as in r4_batch_options: 0, or U features, listed by index */
  const float *index;
  const r4_reach *reach; /* or NULL; then masked is 0 */
  enum cell_rule cells;  /* masks of a net that is explained behind its input */
  uint64_t seed;         /* of the inputs that are drawn */
  bool winograd, bf16;   /* as in r4_plan_options */
};

/* What may change from step to step; looked at if the objective is live. */
struct step_weights {
  double lambda[R4_TERMS], eps;
  bool off; /* the penalty has not begun, and is not computed */
  const float *example; /* v of each example of the batch; looked at if the objective is weighted */
  uint32_t shard;       /* of a batch: what is drawn is drawn for it; 0: as without shards */
};

struct step_result {
  double loss, data, penalty[R4_TERMS], form[R4_TERMS]; /* as in r4_objective */
  size_t right;                                         /* examples whose largest logit is the label's */
  int64_t only; /* the one answer of all examples, or PULSE_SEVERAL */
  bool guided;  /* the penalty was looked at                        */
};

/* net, index and reach must outlive it. */
struct step *step_new(const struct step_options *options, r4_error *e);
void step_free(struct step *s);

/* Step number n. A plan is compiled for each size of batches when it is first met, one for batches without masks, which
 * leave the penalty out, one for batches with few, if these come first, one for each length that texts were cut to, for
 * which the net must be the same (net_of_length), and one for each number of masked tokens in
 * texts, rounded up to a power of two, if a search looks at them one by one. A loss that is
 * not a number or not finite is R4_E_DOMAIN, with the examples at fault in the text. Of parameters that do not learn
 * (buffers, and those with a rate of 0) gradient is left as it is; the rest of it is memory for other values until it
 * is set. */
r4_status step_run(struct step *s, const r4_batch *batch, uint32_t n, const struct step_weights *at,
                   const float *weights, float *gradient, struct step_result *result, r4_error *e);
/* While a step runs, settled is called again and again: elements from .. of the gradient are final, and may be changed;
 * those before may not yet. NULL: no more. */
void step_listen(struct step *s, void (*settled)(size_t from, void *user), void *user);
/* That the last step ran, or NULL. */
r4_plan *step_plan(const struct step *s);
/* Of each example of the batch, w[y_i] l_i: after a step. */
const float *step_losses(const struct step *s);
/* Whether the penalty would look at any example of this batch. */
bool step_guides(const r4_objective_options *o, const r4_batch *b, bool off);
/* New values of the net's buffers, n floats, after a step; NULL: it has none. */
const float *step_buffers(const struct step *s, size_t *n);
/* After the optimiser: buffers of the net get the values that the last step found, or these. Their part of the gradient
 * is left as it is, 0 if it was 0, so that neither the length of the gradient nor the optimiser sees them. */
void step_put_buffers(const struct step *s, const float *values, float *weights);

#endif
