/* Folders of images: a listing says which files make an example, whatever the layout of the folder; reading it is the
 * same for all layouts. */
#ifndef R4_DATA_FORMAT_FOLDER_LIST_H
#define R4_DATA_FORMAT_FOLDER_LIST_H

#include "data/annotation/annotation.h"
#include "data/data.h"

/* One example. Paths are relative to the folder; mask, group and id may be NULL, and file if it is in a table. With
 * mask2, which may be NULL as well, what either of two masks marks is marked. */
struct listed {
  const char *file, *mask, *mask2, *label, *group, *id;
  size_t line; /* of the table; 0: there is none */
  size_t named; /* where in file the name begins that the table has: it may be in images/ */
  r4_split split;
  size_t
    marks; /* the number + 1 of the image in the annotations that has its outlines; 0: none. listing_add finds it */
};

/* What a folder has and a listing does not: how many, and the first. */
struct left_out {
  size_t n;
  char *first;
};

struct listing {
  const char *folder, *table;      /* table: the name of the file with the labels, for messages, or NULL */
  const char *const *classes;      /* NULL-terminated; NULL: the labels in order                          */
  uint8_t mask_from;               /* masks are 1 from this byte on; 0: from the half, 128                 */
  struct annotations *annotations; /* outlines of what is masked, or NULL; listing_clear frees them */
  struct extras *extras;           /* further columns of the table, a row for each example, or NULL; likewise */
  size_t n, capacity;
  struct listed *at;
  struct left_out skipped, bare; /* files of a format that is not read; folders of classes without an image */
};

/* What the last example that was added has in a further column of its table. */
r4_status listing_add_extra(struct listing *l, const char *column, const char *value, r4_error *e);

/* Copies the strings of one. R4_E_IO if one of its files is not in the folder. */
r4_status listing_add(struct listing *l, const struct listed *one, r4_error *e);
void listing_clear(struct listing *l);
/* One more that is left out: folder/name, or name where folder is "". */
r4_status listing_leave_out(struct left_out *all, const char *folder, const char *name, r4_error *e);
/* Notes of what was left out, for whoever reads the data. */
r4_status listing_tell_left_out(const struct listing *l, r4_data *d, r4_error *e);

/* Where masks come from, for messages: the first mask, or the annotations; NULL: nowhere. */
const char *listing_masks(const struct listing *l);

/* How messages call example i: "FOLDER/metadata.csv:LINE: file FILE", or "FOLDER/FILE" without a table. */
enum { LISTING_NAME = 256 };
void listing_name(const struct listing *l, size_t i, char name[LISTING_NAME]);

/* Labels, groups, ids, splits and file names of the listing as records. Names are numbered in their order: as numbers
 * if all are whole numbers, otherwise byte by byte. A file that is listed twice is an error, and so is a
 * mask of two images. */
r4_status listing_records(const struct listing *l, r4_data *d, r4_error *e);

/* The data set: images are decoded and resized as the options say, on all threads; errors are those of the first
 * example that has one. about describes it. */
r4_data *listing_read(const struct listing *l, const r4_data_options *options, const char *about,
                      r4_error *e);

#endif
