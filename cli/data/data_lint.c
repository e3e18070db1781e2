/* r4 data lint: what is probably wrong with a data set. */
#include "data/cmd_data.h"
#include "json_out.h"

struct data_lint_settings {
  struct source source;
  bool json;
};

static const struct option options[] = {
  SOURCE_OPTIONS(struct data_lint_settings, source),
  {"json", OPTION_FLAG, offsetof(struct data_lint_settings, json), NULL, 0, 0, "print JSON"},
  {0},
};

static int print_json(const r4_finding *finding, size_t n)
{
  r4_json *w = r4_json_new();
  r4_json_open(w, NULL, '[');
  for (size_t k = 0; k < n; k++) {
    r4_json_break(w);
    r4_json_open(w, NULL, '{');
    r4_json_text(w, "kind", finding[k].note ? "note" : "warning");
    r4_json_text(w, "code", finding[k].code);
    r4_json_text(w, "text", finding[k].text);
    r4_json_close(w, '}');
  }
  r4_json_close(w, ']');
  return json_print(stdout, "data lint", w);
}

static int print_text(const r4_finding *finding, size_t n)
{
  for (size_t k = 0; k < n; k++)
    printf("%s %s: %s\n", finding[k].note ? "note   " : "warning", finding[k].code, finding[k].text);
  if (!n) printf("nothing found\n");
  return EXIT_DONE;
}

static int run(int argc, char **argv)
{
  struct data_lint_settings s = {0};
  int code;
  r4_error e = {0};
  r4_finding finding[R4_FINDINGS];
  size_t n = 0;
  if (!options_read("data lint", options, &s, argc, argv)) return EXIT_USAGE;
  r4_data *d = source_open("data lint", &s.source, &code);
  if (!d) return code;
  r4_status status = r4_data_lint(d, s.source.path, finding, &n, &e);
  r4_data_free(d);
  if (status) return cli_fail("data lint", status, e.text);
  code = (s.json ? print_json : print_text)(finding, n);
  for (size_t k = 0; k < n && !code; k++)
    if (!finding[k].note) code = EXIT_NO;
  return code;
}

const struct command data_lint = {
  .name = "lint",
  .summary = "find probable mistakes and giveaways in a data set",
  .details =
    "Reports masks that are empty, full, missing, on one class only, uneven over the classes or probably inverted; "
    "mask\n"
    "files without an image; examples that occur in two splits, or twice with different labels; splits without\n"
    "examples; classes that are missing in a split, the only one, or spelled in two ways; images of one colour;\n"
    "floats that are bytes; groups that are too small to be measured. And what gives the label away: words;\n"
    "the colour, texture, place or size of what masks cover; corners and the border of images; format, size\n"
    "and names of their files. Exit code 1 if there is something to fix, 0 if there are only notes.\n"
    "doc/data.md has the exact rules.",
  .options = options,
  .run = run,
  .threads = THREADS_HERE,
};
