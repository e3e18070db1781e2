#include "base/csv.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/utf8.h"

static r4_status bad(const struct csv *c, size_t line, const char *what, r4_error *e)
{
  return r4_fail(e, R4_E_PARSE, "%s:%zu: %s", c->file, line, what);
}

/* ---- Fields ---- */

/* Stands on an opening quote; leaves c->at behind the closing one. The text moves to the front by one byte for each
 * quote that goes, so its end never passes the closing quote. */
static r4_status read_quoted(struct csv *c, char **field, r4_error *e)
{
  size_t opened = c->next_line;
  char *to = *field = ++c->at;
  for (;; c->at++) {
    if (c->at == c->end) return bad(c, opened, "a quote is not closed", e);
    if (!*c->at) return bad(c, c->next_line, "a zero byte, expected text", e);
    if (*c->at == '"' && *++c->at != '"') break;
    c->next_line += *c->at == '\n';
    *to++ = *c->at;
  }
  *to = 0;
  return R4_OK;
}

static const char *misplaced(char c)
{
  switch (c) {
  case '"':
    return "a quote inside a field, which must then be in quotes as a whole";
  case '\r':
    return "a carriage return without a line feed";
  case 0:
    return "a zero byte, expected text";
  default:
    return "text after a closing quote, expected a separator or the end of the line";
  }
}

/* Behind blanks, unless these separate. */
static char *behind_blanks(const struct csv *c, char *at)
{
  while (*at == ' ' || (*at == '\t' && c->separator != '\t')) at++;
  return at;
}

/* Blanks may stand around quotes, and then belong to nothing. */
static r4_status read_content(struct csv *c, char **field, r4_error *e)
{
  char *first = behind_blanks(c, c->at);
  *field = c->at;
  if (*first != '"') {
    c->at += strcspn(c->at, (char[]){c->separator, '\n', '\r', '"', 0});
    return R4_OK;
  }
  c->at = first;
  r4_status s = read_quoted(c, field, e);
  if (!s) c->at = behind_blanks(c, c->at);
  return s;
}

/* One field and what separates it from the next; *last tells that a line, or the file, ended. */
static r4_status read_field(struct csv *c, char **field, bool *last, r4_error *e)
{
  r4_status s = read_content(c, field, e);
  if (s) return s;
  char *stop = c->at;
  *last = *stop != c->separator;
  if (stop < c->end) {
    c->at += *stop == '\r' && stop[1] == '\n' ? 2 : 1;
    if (*stop != c->separator && c->at[-1] != '\n') return bad(c, c->next_line, misplaced(*stop), e);
  }
  c->next_line += *last;
  *stop = 0;
  return R4_OK;
}

static void skip_empty_lines(struct csv *c)
{
  for (; *c->at == '\n' || (*c->at == '\r' && c->at[1] == '\n'); c->next_line++)
    c->at += strcspn(c->at, "\n") + 1;
  c->line = c->next_line;
}

/* ---- Rows ---- */

static r4_status room_for_column(struct csv *c, int *capacity, r4_error *e)
{
  if (c->columns == CSV_COLUMNS) return bad(c, c->line, "more than 65536 columns", e);
  if (c->columns < *capacity) return R4_OK;
  *capacity = *capacity ? 2 * *capacity : 16;
  char **grown = mem_grow(c->name, (size_t)*capacity, sizeof *grown, "columns", e);
  if (!grown) return R4_E_MEMORY;
  c->name = grown;
  return R4_OK;
}

/* How many there are in the line in hand, outside of quotes. */
static size_t count_in_line(const struct csv *c, char separator)
{
  size_t n = 0;
  bool quoted = false;
  for (const char *s = c->at; s < c->end && (quoted || *s != '\n'); s++) {
    quoted ^= *s == '"';
    n += !quoted && *s == separator;
  }
  return n;
}

static char find_separator(const struct csv *c)
{
  static const char known[] = {',', ';', '\t'};
  char best = ',';
  for (size_t k = 1; k < sizeof known; k++)
    if (count_in_line(c, known[k]) > count_in_line(c, best)) best = known[k];
  return best;
}

static r4_status read_names(struct csv *c, r4_error *e)
{
  int capacity = 0;
  skip_empty_lines(c);
  if (c->at == c->end) return bad(c, c->line, "empty, expected a row with the names of columns", e);
  c->separator = find_separator(c);
  for (bool last = false; !last; c->columns++) {
    r4_status s = room_for_column(c, &capacity, e);
    if (!s) s = read_field(c, &c->name[c->columns], &last, e);
    if (s) return s;
    c->name[c->columns] = csv_trim(c->name[c->columns]);
  }
  c->field = mem_new((size_t)c->columns, sizeof *c->field, "columns", e);
  return c->field ? R4_OK : R4_E_MEMORY;
}

/* Spreadsheets call it "Unicode text". */
static bool is_utf16(const uint8_t *bytes, size_t size)
{
  return size >= 2 && (!memcmp(bytes, "\xff\xfe", 2) || !memcmp(bytes, "\xfe\xff", 2));
}

r4_status csv_open(struct csv *c, uint8_t *bytes, size_t size, const char *file, r4_error *e)
{
  *c = (struct csv){
    .file = file, .at = (char *)bytes + utf8_mark(bytes, size), .end = (char *)bytes + size, .next_line = 1};
  r4_status s = is_utf16(bytes, size) ? bad(c, 1, "UTF-16, expected UTF-8: save it as \"CSV UTF-8\"", e)
                                      : read_names(c, e);
  if (s) csv_close(c);
  return s;
}

void csv_close(struct csv *c)
{
  r4_mem_free(c->name);
  r4_mem_free(c->field);
  *c = (struct csv){0};
}

r4_status csv_next(struct csv *c, bool *row, r4_error *e)
{
  skip_empty_lines(c);
  *row = c->at < c->end;
  if (!*row) return R4_OK;
  int n = 0;
  for (bool last = false; !last; n++) {
    char *behind;
    r4_status s = read_field(c, n < c->columns ? &c->field[n] : &behind, &last, e);
    if (s) return s;
  }
  if (n == c->columns) return R4_OK;
  return r4_fail(e, R4_E_PARSE, "%s:%zu: %d fields, expected %d, one for each column", c->file, c->line, n,
                 c->columns);
}

/* ---- Columns ---- */

char *csv_trim(char *field)
{
  field += strspn(field, " \t");
  size_t n = strlen(field);
  while (n && (field[n - 1] == ' ' || field[n - 1] == '\t')) n--;
  field[n] = 0;
  return field;
}

bool csv_trim_row(struct csv *c)
{
  bool any = false;
  for (int k = 0; k < c->columns; k++) {
    c->field[k] = csv_trim(c->field[k]);
    any |= *c->field[k] != 0;
  }
  return any;
}

bool csv_has(const struct csv *c, const char *name)
{
  for (int k = 0; k < c->columns; k++)
    if (!strcasecmp(c->name[k], name)) return true;
  return false;
}

/* "a", "b", "c": as many as there is room for. */
static void list_names(const struct csv *c, char *text, size_t size)
{
  enum { LONGEST = 40 };
  size_t n = 0;
  int k = 0;
  for (; k < c->columns && n + LONGEST + 8 < size; k++)
    n += (size_t)snprintf(text + n, size - n, "%s\"%.*s\"", k ? ", " : "", LONGEST, c->name[k]);
  if (k < c->columns) snprintf(text + n, size - n, ", ...");
}

r4_status csv_column(const struct csv *c, const char *name, int *column, r4_error *e)
{
  *column = -1;
  for (int k = 0; k < c->columns; k++) {
    if (strcasecmp(c->name[k], name)) continue;
    if (*column >= 0)
      return r4_fail(e, R4_E_PARSE, "%s: columns %d and %d are both called \"%s\"", c->file, *column + 1,
                     k + 1, name);
    *column = k;
  }
  if (*column >= 0) return R4_OK;
  char names[200];
  list_names(c, names, sizeof names);
  return r4_fail(e, R4_E_PARSE, "%s:1: no column \"%s\"; the first line names %s", c->file, name, names);
}
