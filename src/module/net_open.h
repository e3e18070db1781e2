/* Nets by name, and from files. */
#ifndef R4_MODULE_NET_OPEN_H
#define R4_MODULE_NET_OPEN_H

#include "base/embedded.h"
#include "module/reader.h"

/* From what the reader has before it, behind its head. */
r4_net *net_make(struct reader *r, r4_shape input, r4_error *e);

/* Whether the text of a net is the name of a file: what ends as one does, unless the end is that of a comment. */
bool net_is_file(const char *text);

/* The architectures that r4 brings along, in the order of their names. Made by the Makefile from nets/NAME.net. */
extern const struct embedded architectures[];
extern const size_t architectures_count;

#endif
