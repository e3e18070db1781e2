/* Better lower slopes of relus (alpha-CROWN): every slope between 0 and 1 gives true bounds, so a search may look for
 * good ones in plain arithmetic, and what it finds needs no proof. */
#ifndef R4_CERTIFY_SLOPES_H
#define R4_CERTIFY_SLOPES_H

#include "module/net.h"
#include "pass/bound.h"

struct slopes;

/* Of the functionals least [functionals, batch] of g, which must outlive it: relus has the inputs that are searched
 * for. lo, hi, class: what the inputs of these names are bound to. */
struct slopes *slopes_new(const r4_net *n, r4_graph *g, r4_id least, const struct linear_relus *relus,
                          const double *weights, const double *lo, const double *hi, const double *class, r4_error *e);
void slopes_free(struct slopes *s);

double *slopes_values(struct slopes *s, size_t k); /* of relu k: all 0 at first, and those found after a search */
void slopes_reset(struct slopes *s);
r4_status slopes_search(struct slopes *s, int64_t steps, r4_error *e);

#endif
