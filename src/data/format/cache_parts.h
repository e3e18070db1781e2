/* What the files of a cache have in common: a head of one page, parts that begin where vectors may, and the SHA-256 of
 * all that at the end. Numbers are in the byte order of the machine: such a file never leaves it. */
#ifndef R4_DATA_FORMAT_CACHE_PARTS_H
#define R4_DATA_FORMAT_CACHE_PARTS_H

#include "base/map.h"

enum { CACHE_HEAD = 4096, CACHE_STEP = 64 };

/* Where the part behind one of n bytes begins. */
size_t cache_up(size_t n);
/* Bytes, and zeros up to where the next part begins. Errors show when the file is closed. */
void cache_put(FILE *f, const void *bytes, size_t size);
/* The SHA-256 of what was written so far, at the end. */
r4_status cache_put_digest(struct file_writer *w, r4_error *e);

/* Whether its SHA-256 is right. Whoever finds out notes it, and a file that is written to since has lost its notes. */
bool cache_is_whole(const struct map *m);

#endif
