/* Builders of element-wise operations. */
#ifndef R4_OP_ELEMENT_H
#define R4_OP_ELEMENT_H

#include "op/op_rules.h"

/* op on x, op on a and b, op on a, b and c after broadcasting (see r4.h). */
r4_id element1(r4_graph *g, const struct op *op, r4_id x);
r4_id element2(r4_graph *g, const struct op *op, r4_id a, r4_id b);
r4_id element3(r4_graph *g, const struct op *op, r4_id a, r4_id b, r4_id c);

#endif
