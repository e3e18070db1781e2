/* Examples of which a part is masked, and a part is not: the core. */
#ifndef R4_MEASURE_WITH_CORE_H
#define R4_MEASURE_WITH_CORE_H

#include "r4.h"

/* Those of d, for r4_data_free. NULL and R4_E_ARGUMENT if there are none; what: what they are needed for. */
r4_data *data_with_core(const r4_data *d, const char *what, r4_error *e);

#endif
