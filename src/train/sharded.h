/* A training step whose batch is cut into shards: each has its gradient, and these are summed along a fixed tree,
 * whoever computed them. So a step has the same bits for any number of processes that share the shards out.
 *
 *     batch of B examples, shard s = examples s, s + S, s + 2 S ..          (n_s of them, m_s with a mask)
 *     gradient = sum_s n_s / B grad( data_s + sum_k lambda_k (v_sk B / n_s) form_k )
 *     v_sk = n_s / B, or m_s / sum_t m_t for a penalty that is a mean over the examples with a mask
 *
 * which is the gradient of the whole batch, but for rounding, where examples do not depend on each other. With batch
 * norm, each shard has statistics of its own, and buffers become the mean over the shards. Each shard draws its own
 * numbers. Examples with a mask, which come first, are spread over the shards. */
#ifndef R4_TRAIN_SHARDED_H
#define R4_TRAIN_SHARDED_H

#include "train/step.h"
#include "base/team_talk.h"

struct shards;

/* n shards: 1 is a step as it is. Of a team, each process has its part of the shards, in order. */
struct shards *shards_new(const struct step_options *options, size_t n, const r4_team *team, r4_error *e);
void shards_free(struct shards *p);

/* As step_run, for all processes of the team: the gradient and the result are those of the batch. */
r4_status shards_run(struct shards *p, const r4_batch *batch, uint32_t n, const struct step_weights *at,
                     const float *weights, float *gradient, struct step_result *result, r4_error *e);

/* As those of a step. */
r4_plan *shards_plan(const struct shards *p);
const float *shards_losses(const struct shards *p);
void shards_update_buffers(const struct shards *p, float *weights);

#endif
