/* A probe asks a net about examples: a graph over one batch, compiled once, run with any weights over any part of a
 * data set. Predictions, fragility and heat maps are probes; they differ in what they build. */
#ifndef R4_MEASURE_PROBE_H
#define R4_MEASURE_PROBE_H

#include "base/error.h"
#include "objective/objective.h"

enum { PROBE_OUTPUTS = 4, PROBE_DRAWS = 2 }; /* at most */

/* What the input "m" holds: the mask, or 1 - the mask; zeros for an example without a mask. */
enum probe_mask { PROBE_MASKED, PROBE_CORE };

struct probe_options {
  const r4_net *net;
  int64_t batch;
  double eps;
  int samples;   /* for a build that looks at several points  */
  uint64_t seed; /* of what it draws, once, for all examples  */
  r4_explain explain;
  /* Adds the outputs to the graph, each [batch, ...]; returns how many. */
  size_t (*build)(struct objective *o, r4_id out[PROBE_OUTPUTS]);
  enum probe_mask mask;
  const float *words; /* texts: bounds are over these, not over eps; or NULL */
  size_t word_count;
  bool cuts; /* results do not depend on padding: that of texts may be cut */
};

struct probe;

struct probe *probe_new(const struct probe_options *options, r4_error *e);
void probe_free(struct probe *p);

size_t probe_batch(const struct probe *p);
/* Binds an input that build added to those of an objective. The memory stays the caller's. */
r4_status probe_input(struct probe *p, const char *name, const float *data, r4_error *e);
/* These examples of d, n at most the batch. */
r4_status probe_ask(struct probe *p, const float *weights, const r4_data *d, size_t n, const size_t *example,
                    r4_error *e);
/* The order in which examples are asked about: as they are, and texts by their length. r4_mem_free; NULL when out of
 * memory. */
size_t *probe_order(const r4_data *d, r4_error *e);
/* Examples first .. first + n - 1 of d, n at most the batch. */
r4_status probe_run(struct probe *p, const float *weights, const r4_data *d, size_t first, size_t n,
                    r4_error *e);
/* Examples that are in no data set, n of them, each of at most so many tokens (0: not texts): they are written to
 * probe_room, all features of each and its length, and probe_run_rows asks about them. Outputs that need labels or
 * masks are those of examples with label 0 and no mask. */
r4_status probe_begin_rows(struct probe *p, size_t longest, r4_error *e);
float *probe_room(struct probe *p, size_t i);
void probe_end_row(struct probe *p, size_t i, size_t length);
r4_status probe_run_rows(struct probe *p, const float *weights, size_t n, r4_error *e);
/* Row i of output k after a run, and the length of a row. */
const float *probe_row(const struct probe *p, size_t k, size_t i);
size_t probe_width(const struct probe *p, size_t k);

#endif
