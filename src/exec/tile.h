/* Tiles: a group of element-wise operations and reductions over the same number of elements, run
 * in one pass over memory in pieces that stay in the first-level cache.
 *
 * The group's elements are numbered 0 .. count-1 in row-major order; reshapes do not change that
 * number, and a broadcast operand finds its element from it. Reductions see the elements as a
 * matrix of rows x columns and reduce along one of the two, or both. The order of all sums depends
 * on the shape alone, never on the number of threads. */
#ifndef R4_EXEC_TILE_H
#define R4_EXEC_TILE_H

#include "exec/plan.h"

/* How a reduction sees its operand: rows are reduced over their columns to one value each, columns
 * over the rows. */
enum reduce_how { REDUCE_NONE, REDUCE_ROWS, REDUCE_COLUMNS, REDUCE_BOTH };

struct split {
  enum reduce_how how;
  int64_t rows, columns;
};

/* The split of a sum or reduce_max, or how = REDUCE_NONE if its axes are neither first nor last. */
struct split tile_split(const r4_graph *g, r4_id reduce);

/* Compiles the group's roots. *in gets the n_in nodes that it reads from memory. */
struct tile_request {
  const r4_graph *g;
  r4_type type;
  const r4_id *roots;
  uint32_t n_roots;
  const bool *memory; /* by node: read it, do not compute it (roots of this very group excepted) */
};
struct tile *tile_new(const struct tile_request *q, r4_id **in, uint32_t *n_in, r4_error *e);
void tile_free(struct tile *t);
/* Makes room for so many threads, if there is less; false when out of memory. */
bool tile_fit(struct tile *t, int threads);
void tile_run(const struct tile *t, void *const *in, void *const *out);
uint32_t tile_instructions(const struct tile *t);
/* Whether root "out" may be written to the memory of operand "in", because every read of it comes before. */
bool tile_may_overwrite(const struct tile *t, uint32_t in, uint32_t out);

#endif
