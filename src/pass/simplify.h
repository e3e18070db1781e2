/* Simplification: a graph to an equal, smaller graph. */
#ifndef R4_PASS_SIMPLIFY_H
#define R4_PASS_SIMPLIFY_H

#include "graph/graph.h"

/* A new graph with what out[0..n) needs, every operation's simplify rule applied until none
 * applies, and out[k] in new_out[k]. NULL with *e filled on failure. */
r4_graph *simplify(const r4_graph *g, size_t n, const r4_id *out, r4_id *new_out, r4_error *e);

#endif
