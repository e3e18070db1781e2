/* Data sets that are kept whole in options->cache: opened there, or read and put there by the first who comes. */
#ifndef R4_DATA_FORMAT_WHOLE_OPEN_H
#define R4_DATA_FORMAT_WHOLE_OPEN_H

#include "data/format/format.h"

/* As f->open does. Where nothing can be kept, the data are in the memory, and a note says why. */
r4_data *whole_open(const struct format *f, const char *path, const r4_data_options *options, r4_error *e);

/* Where a reader puts what is large: the folder of the cache if something may be added to it, or NULL, the memory. */
const char *whole_room(const r4_data_options *options);

#endif
