/* Tables: what is in them. table_write.c has their forms. */
#include "report/table.h"

#include <string.h>
#include <strings.h>

#include "base/csv.h"
#include "base/file.h"
#include "base/mem.h"

enum { MOST_BYTES = 1 << 26 };

r4_table *r4_table_new(void)
{
  return r4_mem_new(1, sizeof(r4_table));
}

void table_empty(r4_table *t)
{
  for (size_t k = 0; k < t->cells; k++) r4_mem_free(t->cell[k]);
  t->cells = 0;
}

void r4_table_free(r4_table *t)
{
  if (!t) return;
  table_empty(t);
  for (size_t k = 0; k < t->columns; k++) r4_mem_free(t->column[k].heading);
  r4_mem_free(t->column);
  r4_mem_free(t->cell);
  r4_mem_free(t);
}

/* ---- Filling ---- */

/* As a terminal may show it, in new memory. */
static char *shown_copy(const char *s)
{
  size_t n = r4_text_printable(s, NULL, 0);
  char *to = r4_mem_new(n + 1, 1);
  if (to) r4_text_printable(s, to, n + 1);
  return to;
}

void r4_table_column(r4_table *t, const char *heading, char side, int width)
{
  if (!t || t->failed) return;
  struct table_column *grown = r4_mem_grow(t->column, t->columns + 1, sizeof *grown);
  char *copy = grown && heading ? shown_copy(heading) : NULL;
  if (grown) t->column = grown;
  t->failed = !grown || (heading && !copy);
  if (!t->failed) t->column[t->columns++] = (struct table_column){copy, side == 'r', width};
}

void r4_table_cell(r4_table *t, const char *text)
{
  if (!t || t->failed) return;
  if (t->cells == t->room) {
    size_t room = t->room ? 2 * t->room : 32;
    char **grown = r4_mem_grow(t->cell, room, sizeof *grown);
    t->failed = !grown;
    if (!grown) return;
    t->cell = grown;
    t->room = room;
  }
  char *copy = shown_copy(text);
  t->failed = !copy;
  if (copy) t->cell[t->cells++] = copy;
}

/* ---- Reading ---- */

static r4_status read_rows(r4_table *t, struct csv *c, r4_error *e)
{
  r4_status s;
  bool row = false;
  for (int k = 0; k < c->columns; k++) r4_table_column(t, c->name[k], 'l', 0);
  while (!(s = csv_next(c, &row, e)) && row)
    for (int k = 0; k < c->columns; k++) r4_table_cell(t, c->field[k]);
  return s;
}

r4_table *r4_table_read(const char *file, r4_error *e)
{
  NEEDS(file, "a file", NULL);
  uint8_t *bytes = NULL;
  size_t size;
  struct csv c = {0};
  r4_table *t = NULL;
  r4_status s = file_read(file, MOST_BYTES, &bytes, &size, e);
  if (!s) s = csv_open(&c, bytes, size, file, e);
  if (!s) t = r4_table_new();
  if (t) s = read_rows(t, &c, e);
  if (!s && (!t || t->failed)) s = r4_fail(e, R4_E_MEMORY, "%s: out of memory", file);
  csv_close(&c);
  r4_mem_free(bytes);
  if (!s) return t;
  r4_table_free(t);
  return NULL;
}

size_t r4_table_rows(const r4_table *t)
{
  return t && t->columns ? t->cells / t->columns : 0;
}

const char *r4_table_at(const r4_table *t, size_t row, const char *heading)
{
  if (row >= r4_table_rows(t)) return NULL;
  for (size_t k = 0; k < t->columns; k++)
    if (t->column[k].heading && !strcasecmp(t->column[k].heading, heading))
      return t->cell[row * t->columns + k];
  return NULL;
}
