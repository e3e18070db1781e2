/* Tables on a stream: cells by a format, and the text. The writer is the library's. */
#ifndef R4_CLI_TABLE_OUT_H
#define R4_CLI_TABLE_OUT_H

#include <stdio.h>

#include "r4_tools.h"

enum { CELL_SIZE = 8192 }; /* what is longer is cut */

/* The next cell. */
void cell(r4_table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Of one double; empty if it is not a number. */
void cell_number(r4_table *t, const char *format, double x);
void cells_empty(r4_table *t, size_t n);

/* Prints the rows so far. Returns an exit code. */
int table_print(FILE *f, const char *command, r4_table *t, r4_table_form form);
/* The same, and frees the table. */
int table_end(FILE *f, const char *command, r4_table *t, r4_table_form form);

#endif
