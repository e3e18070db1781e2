/* Small runs of decoy digits, in folders of the scratch folder: 12 steps an epoch, 3 epochs, with everything that a
 * checkpoint must remember. */
#ifndef TRAIN_CASE_H
#define TRAIN_CASE_H

#include "check.h"

/* A file of a run, or its folder if name is ""; valid until the fourth call from now. */
const char *train_path(const char *run, const char *name);
/* Their settings, and then more: key=value up to NULL, or NULL. */
r4_settings *train_settings(const char *const *more);

/* Stops after so many steps; 0: at the end. stopped may be NULL. */
r4_status train_case(const char *const *more, const char *run, bool resume, int steps, bool *stopped,
                     r4_error *e);
/* To the end. */
void train_or_fail(const char *const *more, const char *run, bool resume);

void assert_same_file(const char *a, const char *b);

#endif
