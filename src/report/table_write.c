/* Tables as text for people, as Markdown and as CSV. */
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "report/table.h"

/* ---- Widths ---- */

/* Characters, not bytes. */
static int width_of(const char *s)
{
  int n = 0;
  for (; *s; s++) n += ((unsigned char)*s & 0xc0) != 0x80;
  return n;
}

static int wider(int width, const char *s)
{
  int n = s ? width_of(s) : 0;
  return n > width ? n : width;
}

/* Of each column: as wide as its widest cell. */
static int *find_widths(const r4_table *t)
{
  int *width = r4_mem_new(t->columns + 1, sizeof *width);
  if (!width) return NULL;
  for (size_t c = 0; c < t->columns; c++) {
    width[c] = wider(t->column[c].width, t->headed ? NULL : t->column[c].heading);
    for (size_t k = c; k < t->cells; k += t->columns) width[c] = wider(width[c], t->cell[k]);
  }
  return width;
}

/* ---- Cells ---- */

static void add_blanks(struct text *to, int n)
{
  if (n > 0) text_add(to, "%*s", n, "");
}

/* A bar in a cell would end it in Markdown. */
static void add_text(struct text *to, const char *s, bool markdown)
{
  for (; *s; s++) text_add(to, markdown && *s == '|' ? "\\%c" : "%c", *s);
}

static void trim_line(struct text *to)
{
  while (!to->failed && to->length && to->s[to->length - 1] == ' ') to->length--;
  text_add(to, "\n");
}

/* In quotes where RFC 4180 or a spreadsheet needs them. */
static void add_csv(struct text *to, const char *s)
{
  size_t n = strlen(s);
  bool quotes = n && (strpbrk(s, ",;\"") || *s == ' ' || s[n - 1] == ' ');
  if (quotes) text_add(to, "\"");
  for (; *s; s++) text_add(to, quotes && *s == '"' ? "\"%c" : "%c", *s);
  if (quotes) text_add(to, "\"");
}

/* Every character that LaTeX reads as something else; "+-" is what it says. */
static void add_latex(struct text *to, const char *s)
{
  static const struct {
    const char *plain, *latex;
  } known[] = {{"+-", "$\\pm$"}, {"\\", "\\textbackslash{}"}, {"^", "\\textasciicircum{}"}, {"~", "\\textasciitilde{}"},
               {"<", "$<$"},     {">", "$>$"},                   {"|", "$|$"},                  {"&", "\\&"},
               {"%", "\\%"},     {"$", "\\$"},                   {"#", "\\#"},                  {"_", "\\_"},
               {"{", "\\{"},     {"}", "\\}"}};
  while (*s) {
    size_t k = 0, n = sizeof known / sizeof *known;
    while (k < n && strncmp(s, known[k].plain, strlen(known[k].plain))) k++;
    if (k < n)
      text_add(to, "%s", known[k].latex);
    else
      text_add(to, "%c", *s);
    s += k < n ? strlen(known[k].plain) : 1;
  }
}

/* ---- Rows ---- */

struct form {
  const r4_table *t;
  r4_table_form as;
  const int *width;
};

static void add_cell(struct text *to, const struct form *f, size_t c, const char *s)
{
  bool last = c + 1 == f->t->columns, right = f->t->column[c].right;
  int blanks = f->width[c] - width_of(s);
  if (f->as == R4_TABLE_CSV) {
    if (c) text_add(to, ",");
    add_csv(to, s);
    return;
  }
  if (f->as == R4_TABLE_LATEX) {
    text_add(to, "%s", c ? " & " : "");
    add_latex(to, s);
    text_add(to, "%s", last ? " \\\\" : "");
    return;
  }
  bool markdown = f->as == R4_TABLE_MARKDOWN;
  text_add(to, "%s", markdown ? (c ? " | " : "| ") : c ? "  " : "");
  if (right) add_blanks(to, blanks);
  add_text(to, s, markdown);
  if (!right && !last) add_blanks(to, blanks);
  if (markdown && last) text_add(to, " |");
}

static void add_row(struct text *to, const struct form *f, char *const *cell)
{
  for (size_t c = 0; c < f->t->columns; c++) add_cell(to, f, c, cell[c]);
  trim_line(to);
}

static bool has_headings(const r4_table *t)
{
  for (size_t c = 0; c < t->columns; c++)
    if (t->column[c].heading) return true;
  return false;
}

static void add_headings(struct text *to, const struct form *f)
{
  for (size_t c = 0; c < f->t->columns; c++) {
    const char *heading = f->t->column[c].heading;
    add_cell(to, f, c, heading ? heading : "");
  }
  trim_line(to);
  if (f->as == R4_TABLE_LATEX) text_add(to, "\\hline\n");
  if (f->as != R4_TABLE_MARKDOWN) return;
  for (size_t c = 0; c < f->t->columns; c++) text_add(to, c ? "---|" : "|---|");
  text_add(to, "\n");
}

static void add_begin(struct text *to, const struct form *f)
{
  if (f->as != R4_TABLE_LATEX) return;
  text_add(to, "\\begin{tabular}{");
  for (size_t c = 0; c < f->t->columns; c++) text_add(to, f->t->column[c].right ? "r" : "l");
  text_add(to, "}\n\\hline\n");
}

static void add_end(struct text *to, const struct form *f)
{
  if (f->as == R4_TABLE_LATEX) text_add(to, "\\hline\n\\end{tabular}\n");
}

char *r4_table_take(r4_table *t, r4_table_form form)
{
  struct text to = {0};
  int *width = t && !t->failed ? find_widths(t) : NULL;
  if (width) {
    struct form f = {t, form, width};
    add_begin(&to, &f);
    if (!t->headed && has_headings(t)) add_headings(&to, &f);
    for (size_t k = 0; k + t->columns <= t->cells && t->columns; k += t->columns)
      add_row(&to, &f, &t->cell[k]);
    add_end(&to, &f);
    t->headed = true;
  }
  if (t) table_empty(t);
  r4_mem_free(width);
  return width ? text_take(&to) : NULL;
}
