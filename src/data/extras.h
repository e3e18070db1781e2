/* Further columns of a table: texts that r4 does not understand and keeps, so that figures can be told apart by them. A
 * row stands for an example; one that has nothing in a column has "". */
#ifndef R4_DATA_EXTRAS_H
#define R4_DATA_EXTRAS_H

#include "base/error.h"

enum { EXTRAS_MOST = 1024 }; /* columns; what is behind them is not kept */

/* The texts of a column one after the other, each with a zero at its end. */
struct extra {
  char *name, *text;
  size_t rows, row_room, size, room;
  uint32_t *at; /* where that of each row begins */
};

struct extras {
  _Atomic long references;
  size_t n, next;       /* next: where the column that is asked for next is likely to be */
  struct extra *column; /* EXTRAS_MOST of them */
};

struct extras *extras_new(r4_error *e);
struct extras *extras_share(struct extras *x); /* another reference; NULL of NULL */
void extras_drop(struct extras *x);
/* The number of the column with this name, in any case; a new one if there is none. EXTRAS_MOST: there is no room for
 * it, or it has no name. */
r4_status extras_column(struct extras *x, const char *name, size_t *column, r4_error *e);
/* Rows of a column are set in order; those left out are "". */
r4_status extras_set(struct extras *x, size_t column, size_t row, const char *value, r4_error *e);
const char *extras_at(const struct extras *x, size_t column, size_t row);

#endif
