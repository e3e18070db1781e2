#ifndef R4_OPTIM_OPTIMIZER_H
#define R4_OPTIM_OPTIMIZER_H

#include "r4.h"

/* The words of each r4_optimizer_kind; NULL ends them. */
extern const char *const optimizer_words[];

/* Forgets all steps. */
void optimizer_reset(r4_optimizer *o);

#endif
