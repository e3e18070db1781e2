/* The files that "r4 reproduce" leaves, and what it prints. */
#include <errno.h>
#include <string.h>

#include "data/cmd_data.h"
#include "experiment/reproduce.h"

static int print_text(FILE *f, const struct table *t)
{
  return tables_print(f, t, R4_TABLE_PLAIN);
}

static int print_markdown(FILE *f, const struct table *t)
{
  return tables_print(f, t, R4_TABLE_MARKDOWN);
}

static int print_costs(FILE *f, const struct table *t)
{
  return costs_print(f, t, R4_TABLE_MARKDOWN);
}

static const struct {
  const char *file, *form;
  int (*print)(FILE *f, const struct table *t);
} outputs[] = {
  {"results.txt", "text", print_text}, {"results.md", "markdown", print_markdown},
  {"results.csv", "csv", csv_print},   {"results.json", "json", rows_print_json},
  {"costs.md", NULL, print_costs},     {"costs.csv", NULL, costs_print_csv},
};
enum { OUTPUTS = sizeof outputs / sizeof *outputs };

static bool write_file(const struct table *t, size_t k)
{
  char path[PATH_SIZE], beside[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", t->out, outputs[k].file);
  FILE *f = file_beside(path, beside);
  bool whole = f && outputs[k].print(f, t) == EXIT_DONE;
  if (f && !fclose(f) && whole && !rename(beside, path)) return true;
  if (!f || whole) fprintf(stderr, "r4 reproduce: %s: %s\n", path, strerror(errno));
  return false;
}

int results_write(const struct table *t)
{
  for (size_t k = 0; k < OUTPUTS; k++)
    if (!write_file(t, k)) return EXIT_WORLD;
  return EXIT_DONE;
}

int results_print(const struct table *t, const char *form)
{
  int code = EXIT_DONE;
  for (size_t k = 0; k < OUTPUTS; k++)
    if (outputs[k].form && !strcmp(outputs[k].form, form)) code = outputs[k].print(stdout, t);
  bool text = !strcmp(form, "text"), markdown = !strcmp(form, "markdown");
  if (code || (!text && !markdown)) return code;
  printf("\n");
  return costs_print(stdout, t, text ? R4_TABLE_PLAIN : R4_TABLE_MARKDOWN);
}

bool results_have_form(const char *form)
{
  for (size_t k = 0; k < OUTPUTS; k++)
    if (outputs[k].form && !strcmp(outputs[k].form, form)) return true;
  fprintf(stderr, "r4 reproduce: --form needs text, markdown, csv or json, not \"%s\"\n", shown(form).text);
  return false;
}
