/* An npz file that is being read as a data set: which convention it follows, and its columns. Arrays of a caller can
 * take the place of the file, and are read in the same way. */
#ifndef R4_DATA_FORMAT_NPZ_SOURCE_H
#define R4_DATA_FORMAT_NPZ_SOURCE_H

#include "data/data.h"
#include "data/format/npz_keys.h"
#include "tensor/npz.h"

struct npz_convention {
  const char *about, *stem; /* stem: of the kinds of its values */
  npz_keys *keys;
  bool own;                  /* r4's, which has numbers and texts for all values as well */
  const char *has, *has_not; /* NULL: any of its x is there */
  r4_mask_meaning means;     /* of masks, where the convention says it */
  int64_t side;              /* rows of side * side features are images; 0: rows are rows */
};

struct npz_source {
  const char *path;
  struct npz *npz;              /* or else */
  const struct npz_entry *held; /* arrays of the caller, who frees them */
  size_t helds;
  bool borrow;      /* held values need not be copied */
  const char *room; /* a folder for what is large; NULL: the memory */
  const struct npz_convention *is;
  struct array column[NPZ_COLUMNS][R4_SPLITS]; /* data is NULL where there is none */
  struct map_pile pile[NPZ_COLUMNS][R4_SPLITS]; /* where these data are, or {0}: in the memory */
  size_t n[R4_SPLITS], count;                  /* examples */
  r4_error *e;
};

/* Reads the columns of every split there is. npz_source_close in any case. Arrays that are held are called by the names
 * of fields of r4_data_arrays, and have values of kinds with this stem, all in the first split. */
r4_status npz_source_open(struct npz_source *s, const char *path, const char *room, r4_error *e);
r4_status npz_source_hold(struct npz_source *s, const char *stem, size_t n, const struct npz_entry *held,
                          r4_error *e);
void npz_source_close(struct npz_source *s);

/* The name of a column in this file. */
const char *npz_source_key(const struct npz_source *s, enum npz_column c, int split);
/* "FILE: KEY is uint8 [2, 3], expected ..." */
r4_status npz_source_wrong(const struct npz_source *s, const char *key, const struct array *a,
                           const char *expected);
/* A column of whole numbers from low to limit - 1, of shape [n] or [n, 1], however they are stored. */
r4_status npz_source_whole(const struct npz_source *s, enum npz_column c, int split, int low, int64_t limit,
                           int32_t *to);
/* Frees the data of a column, and keeps its shape. */
void npz_source_let_go(struct npz_source *s, enum npz_column c, int split);
/* Frees an array, unless it is held. */
void npz_source_drop(const struct npz_source *s, struct array *a);
/* An array of text with its key; a->data is NULL if the file has none. npz_source_drop. */
r4_status npz_source_text(struct npz_source *s, const char *key, struct array *a);

/* A number of all values, which stays as it is if the file has none. */
r4_status npz_source_number(struct npz_source *s, const char *key, double *number);

/* The data set that is in it. */
r4_data *npz_source_data(struct npz_source *s, const r4_data_options *options);

#endif
