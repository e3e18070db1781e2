/* A whole data set in one file of a cache, which is mapped: rows of values, lengths, records, distinct masks, and all
 * words. So an array that is compressed, or a text, is read once, and all processes of a machine share one copy of the
 * rows, which may be larger than the memory. Folders of images have a cache of their own (cache_file.h), for which
 * other labels are no reason to decode anything again. */
#ifndef R4_DATA_FORMAT_WHOLE_H
#define R4_DATA_FORMAT_WHOLE_H

#include "base/map.h"
#include "data/data.h"

enum { WHOLE_VERSION = 1 }; /* goes up when the same files give other data, or this file another layout */

/* Where the data were read from begins most of their sentences; it is left out of the file, and put back from source
 * when they are read: a path may be written in several ways. */
r4_status whole_write(const char *path, const char *source, const r4_data *d, r4_error *e);

/* The data set, or NULL: no such file, or a damaged one. An error is only set when out of memory. What is in the file
 * must be known to be whole: cache_is_whole. */
r4_data *whole_load(struct map *m, const char *source, r4_error *e);

#endif
