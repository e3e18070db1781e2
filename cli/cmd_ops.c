/* r4 ops: the table of operations and their rules. */
#include "cli.h"
#include "json_out.h"
#include "table_out.h"

struct ops_settings {
  bool json, markdown;
};

static const struct option options[] = {
  {"json", OPTION_FLAG, offsetof(struct ops_settings, json), NULL, 0, 0, "print JSON"},
  {"markdown", OPTION_FLAG, offsetof(struct ops_settings, markdown), NULL, 0, 0, "for documents"},
  {0},
};

static int print_json(void)
{
  r4_json *w = r4_json_new();
  r4_json_open(w, NULL, '[');
  for (size_t k = 0; k < r4_op_count(); k++) {
    r4_op_info op = r4_op_describe(k);
    r4_json_break(w);
    r4_json_open(w, NULL, '{');
    r4_json_text(w, "name", op.name);
    r4_json_whole(w, "arity", op.arity);
    r4_json_text(w, "grad", op.grad);
    r4_json_text(w, "bound", op.bound);
    r4_json_text(w, "kernels", op.kernels);
    r4_json_close(w, '}');
  }
  r4_json_close(w, ']');
  return json_print(stdout, "ops", w);
}

static int print_table(r4_table_form form)
{
  static const char *const heading[] = {"operation", "args", "grad", "bound", "kernels"};
  r4_table *t = r4_table_new();
  for (int k = 0; k < 5; k++) r4_table_column(t, heading[k], 'l', 0);
  for (size_t k = 0; k < r4_op_count(); k++) {
    r4_op_info op = r4_op_describe(k);
    r4_table_cell(t, op.name);
    cell(t, op.arity >= 0 ? "%d" : "any", op.arity);
    r4_table_cell(t, op.grad);
    r4_table_cell(t, op.bound);
    r4_table_cell(t, op.kernels);
  }
  return table_end(stdout, "ops", t, form);
}

static int run(int argc, char **argv)
{
  struct ops_settings s;
  if (!options_read("ops", options, &s, argc, argv)) return EXIT_USAGE;
  if (s.json && s.markdown) return cli_fail("ops", R4_E_ARGUMENT, "give one of --json and --markdown");
  if (s.json) return print_json();
  return print_table(s.markdown ? R4_TABLE_MARKDOWN : R4_TABLE_PLAIN);
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
