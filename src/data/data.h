/* The inside of a data set.
 *
 * A data set is a list of small records, one per example, and shared parts that never change: columns of values,
 * distinct masks, names. To derive a data set is to copy the records and edit the copy, and to take another
 * reference to the parts that stay: no image is copied, and what was there before cannot change. */
#ifndef R4_DATA_DATA_H
#define R4_DATA_DATA_H

#include "base/map.h"
#include "data/column/column.h"
#include "data/extras.h"

enum { DATA_NO_ID = UINT32_MAX, DATA_COLUMNS = 4 };

/* What the splits are called, in files and commands ("train", "val", "test"), and in sentences. */
extern const char *const split_words[R4_SPLITS], *const split_titles[R4_SPLITS];

struct record {
  uint32_t row;    /* of x                                                                               */
  uint32_t origin; /* the row of all other columns, which stays when x gets other rows                   */
  uint32_t mask;   /* of the masks of x; 0: the example has none                                         */
  int32_t label, group;
  uint32_t file, id; /* in the lists of names, or DATA_NO_ID */
  uint32_t extra;    /* the row of the further columns */
  uint8_t split;
};

/* Distinct masks, a byte per element: value = byte / 255. An element is a pixel, whatever its channels, or a
 * feature, or a token. Mask 0 stands for "none" and is all zero. Equal masks are stored once. */
struct masks {
  _Atomic long references;
  size_t n, capacity, size; /* size: elements of one mask: height * width, or features */
  uint8_t *bytes;
  uint32_t *table; /* hash table for masks_add; 0 is empty. NULL: they are in a mapped file, and stay as they are */
  size_t slots;
  struct map *map;      /* that file, or NULL                                    */
  struct map_pile pile; /* where bytes are while they are made in a file; or {0} */
};

struct names {
  _Atomic long references;
  size_t n, capacity;
  char **name;
};

struct r4_data {
  size_t n;
  struct record *record;
  size_t columns;
  struct data_column {
    char name[16];
    struct column *values;
    struct masks *masks;                        /* NULL: no example has one */
  } column[DATA_COLUMNS];                       /* the first is x */
  struct names *classes, *groups, *files, *ids; /* files and ids may be NULL */
  struct names *notes;                          /* what reading found odd; NULL: nothing */
  struct names *pieces;                         /* of tokens, by id, to be shown; NULL: not known */
  struct extras *extras;                        /* further columns of its table; NULL: none. No part of the hash */
  r4_mask_meaning means;                        /* what white said in the masks of x when they were read, if known: as
                                                   they are here, masks mark what must not matter */
  char *about;
};

/* ---- Parts: made, filled, then handed to a data set and never changed again ---- */

struct masks *masks_new(size_t size, r4_error *e);
/* The same for more masks than the memory may have room for: they are in a file without a name in this folder. */
struct masks *masks_new_in(const char *folder, size_t size, r4_error *e);
/* n masks, number 0 among them, that are in a file. */
struct masks *masks_mapped(struct map *m, size_t at, size_t n, size_t size, r4_error *e);
void masks_drop(struct masks *m);
/* The number of a mask with these bytes, 0 for all zero; a new one if there is no equal. */
r4_status masks_add(struct masks *m, const uint8_t *bytes, uint32_t *number, r4_error *e);
const uint8_t *masks_at(const struct masks *m, uint32_t number);

struct names *names_new(r4_error *e);
void names_drop(struct names *l);
r4_status names_add(struct names *l, const char *name, uint32_t *number,
                    r4_error *e); /* at the end, always */
bool names_find(const struct names *l, const char *name, uint32_t *number);

/* ---- Data sets ---- */

/* A data set of n zeroed records (row i at i), which takes over x, also on failure; classes and groups empty. */
r4_data *data_new(size_t n, struct column *x, r4_error *e);
/* Its first column, and the masks of that. */
struct column *data_x(const r4_data *d);
struct masks *data_masks(const r4_data *d);
/* One more, of a row for each example as they are numbered now, which is taken over, also on failure; before the data
 * set is shared. It goes with its examples wherever they go. */
r4_status data_add_column(r4_data *d, const char *name, struct column *values, r4_error *e);
/* NULL: none has this name. */
const struct column *data_column(const r4_data *d, const char *name);
/* A copy of the records with a reference to every part. The caller may edit its records, and replace parts. */
r4_data *data_derive(const r4_data *d, r4_error *e);
/* Replaces one part by another (drops the old one); works for NULL. */
void data_set_x(r4_data *d, struct column *x);
void data_set_masks(r4_data *d, struct masks *m);
/* Once the records have the new labels: groups that are the classes go with them. */
void data_set_classes(r4_data *d, struct names *classes);
/* Adds the note that the data could not be kept in a cache, which begins with that: one to be told whatever the data
 * are. */
#define DATA_UNKEPT "the cache is not used: "
r4_status data_add_unkept(r4_data *d, const r4_error *why, r4_error *e);
/* Adds a sentence about what is odd; before the data set is shared. */
r4_status data_add_note(r4_data *d, r4_error *e, const char *format, ...) R4_PRINTF(3, 4);
void data_forget_notes(r4_data *d);
r4_status data_set_about(r4_data *d, r4_error *e, const char *format, ...) R4_PRINTF(3, 4);

/* Elements of a mask of this data set, and how many neighbouring features share one: height * width and channels
 * for images with a mask per pixel, otherwise features (or tokens) and 1. */
struct mask_layout {
  size_t size, repeat;
};
struct mask_layout data_mask_layout(const r4_data *d);
/* Takes from a mask of a row of x what lies on padding: there is nothing that could matter. */
void data_trim_mask(const r4_data *d, size_t row, uint8_t *mask);
/* The mask of example i; NULL: it has none. */
const uint8_t *data_mask_bytes(const r4_data *d, size_t i);

/* r4_data_split with a share of each group instead of each class. */
r4_data *data_split_groups(const r4_data *d, double val, double test, uint64_t seed, r4_error *e);
/* r4_data_hold_out for any part: a share of training moves there. */
r4_data *data_hold_out(const r4_data *d, r4_split to, double share, uint64_t seed, r4_error *e);

/* Checks what every reader must guarantee (labels and groups in range, at least one example and class) and
 * fills in what is implied: groups are the classes where there are none. Call it last. */
r4_status data_finish(r4_data *d, const char *source, r4_error *e);

/* SHA-256 of x of example i alone: equal images have equal digests. */
void data_digest(const r4_data *d, size_t i, uint8_t digest[HASH_BYTES]);

#endif
