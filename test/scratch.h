/* A folder for the files of a test program, and errors by their text. */
#ifndef SCRATCH_H
#define SCRATCH_H

#include "check.h"

/* Group setup and teardown of cmocka. Data sets that "r4 data get" got on this machine are not seen from then on: one
 * may be called as a folder of a test is. */
int scratch_make(void **state);
int scratch_remove(void **state);

const char *scratch_folder(void);
/* The path of a file in the folder; valid until the next call. */
const char *scratch_path(const char *name);

/* Puts other bytes in the place of the first that are equal to from in a file of the folder. */
void scratch_patch(const char *name, const void *from, const void *to, size_t size);
/* The numbers of a model of r4 may change from now on, as those of files of others may. */
void scratch_unseal(const char *name);

/* status is an error, e holds it, and its text has expected in it. */
void assert_error(const r4_error *e, r4_status status, const char *expected);

#endif
