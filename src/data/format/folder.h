/* Folders of images: what other layouts and checks share with the plain one. */
#ifndef R4_DATA_FORMAT_FOLDER_H
#define R4_DATA_FORMAT_FOLDER_H

#include "base/csv.h"
#include "data/format/folder_list.h"
#include "data/format/folder_scan.h"

/* train, val and test in any case, also training, valid, validation and testing, or 0, 1 and 2; R4_E_PARSE, without a
 * message, for another name. */
r4_status folder_read_split(const char *name, r4_split *split);

/* *path becomes the path in folder, in new memory, of a file that lies in the first of the folders below
 * (NULL-terminated, "" is folder itself) that has it; NULL if none has. */
r4_status folder_find_file(const char *folder, const char *file, const char *const *below, char **path,
                           r4_error *e);

/* A column of a table, and what makes a listing of the row in hand: column[k] is the place of the k-th, or -1. */
struct table_column {
  const char *name;
  bool optional;
};
typedef r4_status add_row(struct listing *l, struct mask_index *masks, const struct csv *c, const int *column,
                          r4_error *e);

/* Calls add for each row of l->table, which has n columns that matter. */
r4_status folder_list_table(struct listing *l, struct mask_index *masks, size_t n,
                            const struct table_column *columns, add_row *add, r4_error *e);

/* Fills in label, group, split and id of an image file of that name; the strings must stay until the next call. */
typedef r4_status describe_image(const char *name, void *context, struct listed *one, r4_error *e);

/* Lists the images in l->folder/inside, with their masks unless masks is NULL. */
r4_status folder_list_images(struct listing *l, struct mask_index *masks, const char *inside,
                             describe_image *describe, void *context, r4_error *e);

/* Lists the whole folder l->folder. The caller clears l and masks in any case. Without options annotations are left
 * out. */
r4_status folder_list_all(struct listing *l, struct mask_index *masks, const r4_data_options *options,
                          r4_error *e);

/* States what white means in the masks of a layout that is known; an error if the options say otherwise. */
r4_status folder_state_meaning(const char *folder, r4_mask_meaning meaning, r4_data_options *options,
                               r4_error *e);

/* The mask files of a folder that are the mask of no image; names_drop. */
struct names *folder_stray_masks(const char *path, r4_error *e);

#endif
