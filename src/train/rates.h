/* Which parameters learn, and how fast. */
#ifndef R4_TRAIN_RATES_H
#define R4_TRAIN_RATES_H

#include "config/settings.h"

/* The factor of the learning rate of each parameter, as "freeze" and "rates" say; 0: it stays as it is. Patterns that
 * fit no name are refused, and so is to train nothing. */
r4_status rates_of(const r4_settings *s, const r4_net *net, double *factor, r4_error *e);
/* The same while only what "head" names learns. */
r4_status rates_of_head(const r4_settings *s, const r4_net *net, double *factor, r4_error *e);
/* Tells the optimiser. Buffers are not its own. */
r4_status rates_set(r4_optimizer *o, const r4_net *net, const double *factor, r4_error *e);

#endif
