/* Decoded images on the disk, so that a folder is decoded once. */
#ifndef R4_DATA_FORMAT_CACHE_H
#define R4_DATA_FORMAT_CACHE_H

#include "data/format/folder_list.h"

/* The file in options->cache that belongs to the listing: its name is the SHA-256 of all that the pixels depend on,
 * that is the paths, sizes and times of all files, the options, and the version of the decoder. Labels, groups and
 * splits are not in it. r4_mem_free. */
r4_status cache_name(const struct listing *l, const r4_data_options *options, char **name, r4_error *e);

/* Sets values, masks and record[i].mask of d from the file. False if there is no such file or it is damaged. */
bool cache_load(const char *file, r4_data *d);
r4_status cache_store(const char *file, const r4_data *d, r4_error *e);

#endif
