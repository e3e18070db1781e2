/* Weights of files, as one net needs them. */
#ifndef R4_MODULE_WEIGHTS_H
#define R4_MODULE_WEIGHTS_H

#include "r4.h"
#include "tensor/shards.h"

/* r4_net_load, of files that are open. weights may be NULL: then it is only checked whether all is there. */
r4_status weights_take(const r4_net *n, const struct st_set *from, const r4_load_options *options,
                       float *weights, r4_load_report *report, r4_error *e);

#endif
