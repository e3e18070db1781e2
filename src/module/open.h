/* Nets by name, and from files. */
#ifndef R4_MODULE_OPEN_H
#define R4_MODULE_OPEN_H

#include "module/reader.h"

/* From what the reader has before it, behind its head. */
r4_net *net_make(struct reader *r, r4_shape input, r4_error *e);

/* An architecture that r4 brings along, in the order of their names; NULL after the last. Made by the Makefile from
 * nets/NAME.net. */
struct architecture {
  const char *name, *text;
};
extern const struct architecture architectures[];
extern const size_t architecture_count;

#endif
