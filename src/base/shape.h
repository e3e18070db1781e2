#ifndef R4_BASE_SHAPE_H
#define R4_BASE_SHAPE_H

#include <stdbool.h>

#include "r4.h"

/* "[2,3]" in a buffer of SHAPE_TEXT bytes; returns the buffer. */
enum { SHAPE_TEXT = 160 };
const char *shape_text(r4_shape s, char *buffer);
/* True if every dimension is at least 1 and the number of elements stays below 2^40. */
bool shape_valid(r4_shape s);

#endif
