/* How the file of an image is, and how it is called: what no net can see, and sources differ in. */
#ifndef R4_DATA_LINT_FILE_LOOK_H
#define R4_DATA_LINT_FILE_LOOK_H

#include <stdint.h>

#include "base/error.h"

/* What is known of a file; NAN: it is not. */
struct about_file {
  double bytes, height, width; /* logarithms */
  double format,
    quality;   /* its first byte; the sum of a JPEG's first table, which goes down with the quality */
  double name; /* a number for what its name begins with, up to the first digit */
};

uint8_t *file_head_new(r4_error *e); /* room for what is read of a file; r4_mem_free */
/* name: NULL: there is no file. The only error is R4_E_MEMORY: a file that cannot be read is not known. */
r4_status file_look_in(const char *folder, const char *name, uint8_t *head, struct about_file *about);
/* Where the name of a file begins, after its folder, and how long it is up to the first digit or point. */
const char *name_beginning(const char *file, size_t *n);
/* Whether a name has another one in it, in any case. */
bool name_has(const char *name, const char *part);

#endif
