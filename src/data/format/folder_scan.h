/* What is in a folder, and which mask belongs to which image. */
#ifndef R4_DATA_FORMAT_FOLDER_SCAN_H
#define R4_DATA_FORMAT_FOLDER_SCAN_H

#include "data/data.h"

/* *names (names_drop) becomes the files, or the folders, in folder/inside ("": folder itself), sorted byte by byte,
 * without those that start with a dot. A link that leads out of the folder is refused. */
r4_status folder_scan(const char *folder, const char *inside, bool folders, struct names **names,
                      r4_error *e);

/* Mask files by what they are a mask of: the path in the folder of masks without its ending and without "_mask" or
 * "_segmentation" behind it. */
struct mask_file {
  char *key, *path; /* path: in the folder of the data set */
  bool used;
};

struct mask_index {
  size_t n, capacity;
  struct mask_file *at;
};

/* Adds folder/sub and the folders in it, if it exists. */
r4_status mask_index_add(struct mask_index *m, const char *folder, const char *sub, r4_error *e);
/* Sorts, after the last add; an error if two masks are of the same image. */
r4_status mask_index_sort(struct mask_index *m, const char *folder, r4_error *e);
/* The mask of an image file, by the whole path without ending or else by the name alone; it is marked as used. NULL if
 * there is none. */
const char *mask_index_find(struct mask_index *m, const char *file);
void mask_index_clear(struct mask_index *m);

#endif
