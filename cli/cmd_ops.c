/* r4 ops: the table of operations and their rules. */
#include <string.h>

#include "cli.h"
#include "json_out.h"

struct ops_settings {
  bool json, markdown;
};

static const struct option options[] = {
  {"json", OPTION_FLAG, offsetof(struct ops_settings, json), NULL, 0, 0, "for machines"},
  {"markdown", OPTION_FLAG, offsetof(struct ops_settings, markdown), NULL, 0, 0, "for documents"},
  {0},
};

static int print_json(void)
{
  r4_json *w = r4_json_new();
  r4_json_open(w, '[');
  for (size_t k = 0; k < r4_op_count(); k++) {
    r4_op_info op = r4_op_describe(k);
    r4_json_break(w);
    r4_json_open(w, '{');
    json_text(w, "name", op.name);
    json_whole(w, "arity", op.arity);
    json_text(w, "grad", op.grad);
    json_text(w, "bound", op.bound);
    json_text(w, "kernels", op.kernels);
    r4_json_close(w, '}');
  }
  r4_json_close(w, ']');
  return json_print(stdout, "ops", w);
}

enum { COLUMNS = 5 };
struct row {
  r4_op_info op;
  char arity[16];
};

/* Row 0 is the heading. */
static struct row row_of(size_t k)
{
  if (!k)
    return (struct row){{.name = "operation", .grad = "grad", .bound = "bound", .kernels = "kernels"},
                        "args"};
  struct row r = {r4_op_describe(k - 1), "any"};
  if (r.op.arity >= 0) snprintf(r.arity, sizeof r.arity, "%d", r.op.arity);
  return r;
}

static const char *cell(const struct row *r, int column)
{
  const char *cells[COLUMNS] = {r->op.name, r->arity, r->op.grad, r->op.bound, r->op.kernels};
  return cells[column];
}

/* Columns as wide as their widest cell. */
static void print_table(const char *before, const char *between, const char *after, const char *rule)
{
  int width[COLUMNS] = {0};
  for (size_t k = 0; k <= r4_op_count(); k++) {
    struct row r = row_of(k);
    for (int c = 0; c < COLUMNS - 1; c++) {
      int length = (int)strlen(cell(&r, c));
      if (length > width[c]) width[c] = length;
    }
  }
  for (size_t k = 0; k <= r4_op_count(); k++) {
    struct row r = row_of(k);
    for (int c = 0; c < COLUMNS; c++) printf("%s%-*s", c ? between : before, width[c], cell(&r, c));
    printf("%s\n%s", after, k ? "" : rule);
  }
}

static int run(int argc, char **argv)
{
  struct ops_settings s;
  if (!options_read("ops", options, &s, argc, argv)) return EXIT_USAGE;
  if (s.json && s.markdown) return cli_fail("ops", R4_E_ARGUMENT, "choose one of --json and --markdown");
  if (s.json) return print_json();
  if (s.markdown)
    print_table("| ", " | ", " |", "|---|---|---|---|---|\n");
  else
    print_table("", "  ", "", "");
  return EXIT_DONE;
}

const struct command command_ops = {
  .name = "ops",
  .summary = "list the operations and their rules",
  .details =
    "Every operation of the graph: number of arguments, whether it can be differentiated and bounded\n"
    "(or why not), and the kernels that compute it.",
  .options = options,
  .run = run,
};
