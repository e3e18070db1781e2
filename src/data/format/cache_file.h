/* The file of a cache, mapped: a header, the rows of values, the number of the mask of each example, the distinct masks
 * (number 0, "none", among them), what was odd about the files, and the SHA-256 of all that. Numbers are in the byte
 * order of the machine: it never leaves it.
 *
 * It is made in its place: rows are decoded into the file, so that the data set may be larger than the memory. */
#ifndef R4_DATA_FORMAT_CACHE_FILE_H
#define R4_DATA_FORMAT_CACHE_FILE_H

#include "base/map.h"
#include "data/data.h"

enum { DECODER_VERSION = 3 }; /* goes up when the same files give other pixels, or this file another layout */

/* Sets values, masks, notes and record[i].mask of d from the file; false if it is not one of d->n examples. What is in
 * it must be known to be whole: cache_is_whole. */
bool cache_file_load(struct map *m, r4_data *d);

struct cache_maker {
  struct file_writer writer;
  uint8_t *room; /* the header and the rows */
  size_t size;
};

/* Gives d rows of this shape, of zeros, which are in the file. Without room on the disk: R4_E_IO, and no file. */
r4_status cache_file_begin(struct cache_maker *c, const char *path, r4_shape shape, r4_data *d, r4_error *e);
/* Adds the masks and notes of d; the file appears. d must let go of its rows before: their memory is gone. */
r4_status cache_file_end(struct cache_maker *c, r4_data *d, r4_error *e);
void cache_file_abandon(struct cache_maker *c);

#endif
