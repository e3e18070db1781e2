/* A table: columns, and cells row by row. r4_tools.h has its functions. */
#ifndef R4_REPORT_TABLE_H
#define R4_REPORT_TABLE_H

#include "base/error.h"
#include "r4_tools.h"

struct table_column {
  char *heading; /* or NULL */
  bool right;
  int width; /* at least */
};

struct r4_table {
  size_t columns, cells, room; /* room: for cells */
  struct table_column *column;
  char **cell; /* as a terminal may show them */
  bool headed; /* the headings have been written */
  bool failed; /* an allocation has */
};

/* Removes the cells. */
void table_empty(r4_table *t);

#endif
