/* An npz file that is being read as a data set: which convention it follows, and its columns. */
#ifndef R4_DATA_FORMAT_NPZ_SOURCE_H
#define R4_DATA_FORMAT_NPZ_SOURCE_H

#include "data/format/npz_keys.h"
#include "tensor/npz.h"

struct npz_convention {
  const char *about;
  npz_keys *keys;
  const char *has, *has_not; /* NULL: any of its x is there */
  r4_mask_meaning means;     /* of masks, where the convention says it */
  int64_t side;              /* rows of side * side features are images; 0: rows are rows */
};

struct npz_source {
  const char *path;
  struct npz *npz;
  const struct npz_convention *is;
  struct array column[NPZ_COLUMNS][R4_SPLITS]; /* data is NULL where there is none */
  size_t n[R4_SPLITS], count;                  /* examples */
  r4_error *e;
};

/* Reads the columns of every split there is. npz_source_close in any case. */
r4_status npz_source_open(struct npz_source *s, const char *path, r4_error *e);
void npz_source_close(struct npz_source *s);

/* The name of a column in this file. */
const char *npz_source_key(const struct npz_source *s, enum npz_column c, int split);
/* "FILE: KEY is uint8 [2, 3], expected ..." */
r4_status npz_source_wrong(const struct npz_source *s, const char *key, const struct array *a,
                           const char *expected);
/* A column of whole numbers from low to limit - 1, of shape [n] or [n, 1], however they are stored. */
r4_status npz_source_whole(const struct npz_source *s, enum npz_column c, int split, int low, int64_t limit,
                           int32_t *to);
/* An array of text with its key; a->data is NULL if the file has none. */
r4_status npz_source_text(struct npz_source *s, const char *key, struct array *a);

#endif
