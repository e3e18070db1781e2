/* Decoded images on the disk, so that a folder is decoded once, and so that all processes of a machine share one copy,
 * which may be larger than the memory: data/format/cache_file.h. */
#ifndef R4_DATA_FORMAT_CACHE_H
#define R4_DATA_FORMAT_CACHE_H

#include "base/lock.h"
#include "data/format/folder_list.h"

/* The file in options->cache that belongs to the listing: its name is the SHA-256 of all that the pixels depend on,
 * that is the paths, sizes and times of all files, the options, and the version of the decoder. Labels, groups and
 * splits are not in it. r4_mem_free. */
r4_status cache_name(const struct listing *l, const r4_data_options *options, char **name, r4_error *e);

/* Sets values, masks, notes and record[i].mask of d from the file, which stays mapped. False if there is no such file,
 * or it is damaged. */
bool cache_load(const char *file, bool only_read, r4_data *d);

/* One process makes a file, and others wait for it here. The folder is made where missing. r4_lock_free. */
r4_lock *cache_lock(const char *file, r4_error *e);

#endif
