/* Sound enclosures: a graph evaluated by the sound rules of its operations (op/sound.h), in double. Every value that a
 * node takes while its inputs range over the given sets is between the ends that come out. */
#ifndef R4_CERTIFY_ENCLOSE_H
#define R4_CERTIFY_ENCLOSE_H

#include "base/error.h"
#include "graph/graph.h"

struct encloser;

/* For the nodes out[0..n), of a graph that must outlive it. R4_E_RULE names an operation without a sound rule, or, in
 * the semantics any-float, without a known float error. */
struct encloser *encloser_new(const r4_graph *g, size_t n, const r4_id *out, r4_semantics semantics, r4_error *e);
void encloser_free(struct encloser *c);

/* The set of values of an input: all between lo and hi; one array for both is single values. The memory stays the
 * caller's, who may change what is in it between runs. A name that the outputs do not need is ignored. */
r4_status encloser_input(struct encloser *c, const char *name, const double *lo, const double *hi, r4_error *e);
/* R4_E_DOMAIN if the arithmetic of a thread is not that of IEEE in round-to-nearest. Elements of which nothing is known
 * are -infinity to infinity. */
r4_status encloser_run(struct encloser *c, r4_error *e);
/* After a run, valid until the next one. */
const double *encloser_lo(const struct encloser *c, r4_id x);
const double *encloser_hi(const struct encloser *c, r4_id x);
size_t encloser_bytes(const struct encloser *c); /* of all values, after the first run */

/* R4_E_DOMAIN unless every thread rounds to nearest and keeps subnormal numbers. */
r4_status sound_environment(r4_error *e);

#endif
