#include "table_out.h"

#include <math.h>
#include <stdarg.h>

#include "cli.h"

void cell(r4_table *t, const char *format, ...)
{
  char text[CELL_SIZE];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  r4_table_cell(t, text);
}

void cell_number(r4_table *t, const char *format, double x)
{
  if (isnan(x))
    r4_table_cell(t, "");
  else
    cell(t, format, x);
}

void cells_empty(r4_table *t, size_t n)
{
  for (size_t k = 0; k < n; k++) r4_table_cell(t, "");
}

int table_print(FILE *f, const char *command, r4_table *t, r4_table_form form)
{
  char *text = r4_table_take(t, form);
  if (!text) return cli_fail(command, R4_E_MEMORY, "");
  fputs(text, f);
  r4_string_free(text);
  return EXIT_DONE;
}

int table_end(FILE *f, const char *command, r4_table *t, r4_table_form form)
{
  int code = table_print(f, command, t, form);
  r4_table_free(t);
  return code;
}
