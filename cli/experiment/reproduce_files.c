/* The files that "r4 reproduce" leaves, and what it prints. */
#include <string.h>

#include "experiment/reproduce.h"

static int print_text(FILE *f, const void *t)
{
  return tables_print(f, t, R4_TABLE_PLAIN);
}

static int print_markdown(FILE *f, const void *t)
{
  return tables_print(f, t, R4_TABLE_MARKDOWN);
}

static int print_costs(FILE *f, const void *t)
{
  return costs_print(f, t, R4_TABLE_MARKDOWN);
}

static const struct result_file files[] = {
  {"results.txt", print_text},       {"results.md", print_markdown}, {"results.csv", csv_print},
  {"results.json", rows_print_json}, {"costs.md", print_costs},      {"costs.csv", costs_print_csv},
};
static const char *const forms[] = {"text", "markdown", "csv", "json"}; /* of the first files */
enum { FILES = sizeof files / sizeof *files, FORMS = sizeof forms / sizeof *forms };

int results_write_all(const struct table *t)
{
  return results_write("reproduce", t->out, FILES, files, t);
}

static r4_table_form form_of(const char *form)
{
  return !strcmp(form, "latex") ? R4_TABLE_LATEX : !strcmp(form, "text") ? R4_TABLE_PLAIN : R4_TABLE_MARKDOWN;
}

int results_print(const struct table *t, const char *form)
{
  bool latex = !strcmp(form, "latex");
  int code = latex ? tables_print(stdout, t, R4_TABLE_LATEX) : EXIT_DONE;
  for (size_t k = 0; k < FORMS; k++)
    if (!strcmp(forms[k], form)) code = files[k].print(stdout, t);
  bool people = latex || !strcmp(form, "text") || !strcmp(form, "markdown");
  if (code || !people) return code;
  printf("\n");
  return costs_print(stdout, t, form_of(form));
}

bool results_have_form(const char *form)
{
  if (!strcmp(form, "latex")) return true;
  for (size_t k = 0; k < FORMS; k++)
    if (!strcmp(forms[k], form)) return true;
  fprintf(stderr, "r4 reproduce: --form needs text, markdown, latex, csv or json, not \"%s\"\n", shown(form).text);
  return false;
}
