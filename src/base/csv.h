/* Comma-separated values as RFC 4180 has them: a row of names, then rows of as many fields. Fields may be in quotes,
 * "" inside quotes is one quote, and commas and line ends inside quotes belong to the field. Lines end with LF or
 * CRLF, empty lines are skipped, and so is a byte order mark. In place of commas there may be semicolons or tabs, as
 * spreadsheets write them: what the first line has most of is taken, commas first. Names of columns may be in
 * any case, with blanks around them. Nothing else is guessed: a stray quote, a zero byte, a carriage return alone or a
 * row of another length is an error that names the line. */
#ifndef R4_BASE_CSV_H
#define R4_BASE_CSV_H

#include "base/error.h"

enum { CSV_COLUMNS = 1 << 16 }; /* at most */

struct csv {
  const char *file; /* for messages */
  size_t line;      /* where the row in hand begins, from 1 */
  int columns;
  char separator;
  char **name, **field; /* of the columns, and of the row in hand; in the caller's bytes */
  char *at, *end;
  size_t next_line;
};

/* Reads the names. bytes[size] must be 0, as file_read leaves it; fields are unescaped in place, so bytes must stay
 * until csv_close. */
r4_status csv_open(struct csv *c, uint8_t *bytes, size_t size, const char *file, r4_error *e);
void csv_close(struct csv *c);

/* Without the blanks (and tabs) around it; cuts off those at the end. */
char *csv_trim(char *field);
/* All fields of the row in hand; whether one is left with content. */
bool csv_trim_row(struct csv *c);

bool csv_has(const struct csv *c, const char *name);
/* The number of a column; an error if there is none, or more than one, of that name. */
r4_status csv_column(const struct csv *c, const char *name, int *column, r4_error *e);

/* Goes to the next row; *row becomes false behind the last. */
r4_status csv_next(struct csv *c, bool *row, r4_error *e);

#endif
