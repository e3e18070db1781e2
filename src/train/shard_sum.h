/* The sum of one vector for each shard, along a fixed tree, by all processes of a team: the same additions in the same
 * order, whoever makes them, so that the bits do not depend on the number of processes.
 *
 *     sum of shards from .. to - 1 = (sum of from .. middle - 1) + (sum of middle .. to - 1)
 *     middle = from + the largest power of two below to - from
 *
 * Each process adds up the subtrees that are its own. Then every element has a process that adds it up: it gets the
 * sums of the others' subtrees for its part of the vector, and sends the result to all. With n processes and G bytes
 * each sends and receives (n - 1) / n G for the sums, or up to twice that if n is no power of two, and as much for the
 * results.
 *
 * A gradient is known from its end to its beginning, as the backward pass goes. It is cut into buckets, and one that
 * the last shard of a process has settled is on its way while the rest is computed. */
#ifndef R4_TRAIN_SHARD_SUM_H
#define R4_TRAIN_SHARD_SUM_H

#include "base/team_talk.h"

struct shard_sum;

/* Shards are shared out in order (team_first). */
struct shard_sum *shard_sum_new(size_t shards, const r4_team *team, r4_error *e);
void shard_sum_free(struct shard_sum *s);

/* Vectors of so many floats, of which the first settle as above: all processes must ask for the same. What was summed
 * is gone. */
r4_status shard_sum_size(struct shard_sum *s, size_t gradient, size_t total, r4_error *e);

/* make fills the vector of a shard of this process. Of the last one, "settles" is not NULL: make may call
 * shard_sum_settle while it computes. */
typedef void shard_make(size_t shard, float *to, struct shard_sum *settles, void *user);
r4_status shard_sum_run(struct shard_sum *s, shard_make *make, void *user, r4_error *e);
/* Elements from .. gradient - 1 of the vector are final. Called with less and less; often, as messages need it. */
void shard_sum_settle(struct shard_sum *s, size_t from);

/* The sum, after a run. */
float *shard_sum_whole(const struct shard_sum *s);

#endif
