/* Columns: the values of all examples, a row for each.
 *
 * A kind of column is one struct in one file of this folder, and one line in the table of column.c: how a row is stored
 * and becomes floats, how it is written to files and read from them, and what may be done with it. Nothing else asks
 * which kinds there are. A column is made, filled, then handed to a data set and never changed again. */
#ifndef R4_DATA_COLUMN_COLUMN_H
#define R4_DATA_COLUMN_COLUMN_H

#include "base/hash.h"
#include "base/map.h"
#include "tensor/array.h"

enum { COLUMN_NUMBERS = 2, COLUMN_TEXT = 160, COLUMN_KEY = 32 };

struct column {
  _Atomic long references;
  const struct column_kind *is;
  r4_shape shape; /* of one row */
  size_t features, rows;
  double number[COLUMN_NUMBERS]; /* those that its kind names, for all rows */
  void *data;                    /* [rows, features], elements of is->size bytes */
  bool borrowed;                 /* data is the caller's                         */
  struct map *map;               /* that data is in, or NULL                     */
  struct map_pile pile;          /* or this, a file without a name; or {0}       */
  uint32_t *length;              /* [rows], elements of a row, behind which it is padded; NULL: all of it */
};

/* Where values come from, for messages: "FILE: KEY: example 3 has ...". */
struct column_source {
  const char *path, *key;
  r4_error *e;
};

struct column_kind {
  const char *name;    /* "bytes"                                                             */
  const char *element; /* what a row has many of, in sentences: "features", "tokens"          */
  uint64_t tag;        /* begins the hash: another one for each kind, and never changed       */
  size_t size;         /* bytes of a stored element                                           */
  bool lengths;        /* rows have lengths                                                   */
  bool ids; /* values are names of things: not to be scaled, averaged, mixed, drawn or moved as quantities */
  struct {
    const char *name; /* NULL: no more */
    double usual;
  } number[COLUMN_NUMBERS];

  /* Elements first .. first + n - 1 of a row, as the floats that a plan reads. */
  void (*read)(const struct column *c, size_t row, size_t first, size_t n, float *to);
  /* An element, before it is rounded to a float. NULL: it is a float. */
  double (*exact)(const struct column *c, size_t row, size_t feature);
  /* A row from floats. NULL: only some values can be stored, and changed rows are of another kind. */
  void (*write)(struct column *c, size_t row, const float *from);
  const struct column_kind *changed; /* that kind; NULL: this one */
  /* Between which values all rows must lie, by the kind itself. NULL: nothing is known. */
  void (*range)(const struct column *c, float *low, float *high);
  /* What is probably wrong with the values: a word for it and a sentence in text, or NULL. May be NULL. */
  const char *(*doubt)(const struct column *c, char *text, size_t size);

  /* Whether the numbers can be so, besides being finite. NULL: any can. */
  r4_status (*check)(const struct column *c, const struct column_source *from);

  /* In npz files: arrays STEM_train and so on, of so many dimensions, examples included; written as array, element by
   * element as they are stored; read from what takes accepts. take fills as many rows as the array has, once the
   * numbers and the lengths of these rows are there. Numbers are called STEM_NAME, and written if not the usual. */
  const char *stem, *arrays, *shapes; /* arrays, shapes: what is accepted, in sentences */
  int least, most;
  enum array_type array;
  bool (*takes)(const struct array *a);
  r4_status (*take)(struct column *c, size_t row, const struct array *a, const struct column_source *from);
};

extern const struct column_kind bytes_column;  /* value = byte * scale + offset, byte / 255 as a rule */
extern const struct column_kind floats_column; /* as they are                                        */
extern const struct column_kind tokens_column; /* ids, below 2^24, with lengths                      */

/* How many ids there are, as stated, or else as the rows have; 0 unless they are tokens. */
int64_t column_vocabulary(const struct column *c);

/* The first kind with this stem that takes the array; NULL: none does. */
const struct column_kind *column_kind_for(const char *stem, const struct array *a);
/* What the kinds with this stem take, in words: "uint8 or floats". */
void column_arrays(const char *stem, char text[COLUMN_TEXT]);

/* What the k-th of its numbers is called in npz files: "x_scale". */
void column_number_key(const struct column_kind *kind, int k, char key[COLUMN_KEY]);

/* Zeroed rows, of full length, with the usual numbers. */
struct column *column_new(const struct column_kind *kind, r4_shape shape, size_t rows, r4_error *e);
/* The same for more than the memory may have room for: rows are in a file without a name in this folder, if that has
 * room. NULL: in the memory. */
struct column *column_new_in(const char *folder, const struct column_kind *kind, r4_shape shape, size_t rows,
                             r4_error *e);
/* The same over memory of the caller, which outlives it. */
struct column *column_over(void *data, const struct column_kind *kind, r4_shape shape, size_t rows,
                           r4_error *e);
/* The same in a mapped file, from this byte of it on. */
struct column *column_mapped(struct map *m, size_t at, const struct column_kind *kind, r4_shape shape,
                             size_t rows, r4_error *e);
/* Room for so many rows of c after their values were changed: lengths are zero where there are some. */
struct column *column_for_changed(const struct column *c, size_t rows, r4_error *e);
void column_drop(struct column *c);

/* The stored elements of a row: bytes, floats, as the kind says. */
void *column_row(const struct column *c, size_t row);
/* The row will be read soon: where rows are in a file, the disk may begin. */
void column_will_need(const struct column *c, size_t row);
/* How many of them count; the others are padding. */
size_t column_length(const struct column *c, size_t row);
/* A whole row as floats; from floats, with the length of a row of another column (column_for_changed). */
void column_read(const struct column *c, size_t row, float *to);
void column_write(struct column *c, size_t row, const float *from, const struct column *like,
                  size_t like_row);
float column_value(const struct column *c, size_t row, size_t feature);
double column_exact(const struct column *c, size_t row, size_t feature); /* before it is rounded to a float */

/* What is probably wrong with the values, of whatever kind: as doubt above. */
const char *column_doubt(const struct column *c, char *text, size_t size);
/* Whether its numbers can be what they are. */
r4_status column_check(const struct column *c, const struct column_source *from);
/* Whether they are the usual ones. */
bool column_is_usual(const struct column *c);
/* Bytes / 255, as images are stored. */
bool column_is_image_bytes(const struct column *c);

/* What a hash has of all rows together, and of one. */
void column_hash(const struct column *c, struct hash *h);
void column_hash_row(const struct column *c, size_t row, struct hash *h);

#endif
