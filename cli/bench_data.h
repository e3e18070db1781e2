/* Random data for any net, for measuring. */
#ifndef R4_CLI_BENCH_DATA_H
#define R4_CLI_BENCH_DATA_H

#include "r4_tools.h"

struct bench_masks {
  int64_t listed; /* as many features, the same for all examples; 0: each by chance */
  int64_t corner; /* of images: a square of this size in one of the four corners; 0: elsewhere, as listed says */
};

/* One batch of examples in the net's shape (tokens for a net that takes these, texts of full length), all with masks.
 * The data are these examples, many times over: an epoch, with all that is due after it, should not be over after each
 * step. */
r4_data *bench_data(const r4_net *net, size_t batch, struct bench_masks masks, uint64_t seed, r4_error *e);

#endif
