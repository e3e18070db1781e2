#ifndef R4_OPTIM_OPTIMIZER_H
#define R4_OPTIM_OPTIMIZER_H

/* The words of each r4_optimizer_kind; NULL ends them. */
extern const char *const optimizer_words[];

#endif
