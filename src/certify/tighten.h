/* Better ends of the arguments of relus over a box: those of a layer by walking back from there, with searched slopes
 * (alpha-CROWN), before those of the next one. */
#ifndef R4_CERTIFY_TIGHTEN_H
#define R4_CERTIFY_TIGHTEN_H

#include "certify/domain.h"

struct tightener;

struct tightener *tightener_new(const struct weighted *n, const struct relaxed_units *units, size_t batch, r4_error *e);
void tightener_free(struct tightener *t);
/* Of units that are undecided; least and most are those of w. Ends when time is over, after which they hold as well. */
r4_status tighten(struct tightener *t, const struct whole *w, double *least, double *most, double until, r4_error *e);

#endif
