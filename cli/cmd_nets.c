/* r4 nets: the architectures that r4 brings along, and the parts that nets are made of. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "json_out.h"
#include "table_out.h"

struct nets_settings {
  const char *name;
  bool parts, json;
};

#define AT(field) offsetof(struct nets_settings, field)
static const struct option options[] = {
  {"NAME", OPTION_WORD, AT(name), "", 0, 0, "print the text of this net, to read, copy and change; "
   "mlp784-512-10 is one of dense layers of these sizes"},
  {"parts", OPTION_FLAG, AT(parts), NULL, 0, 0, "list the parts that nets are made of"},
  {"json", OPTION_FLAG, AT(json), NULL, 0, 0, "print JSON"},
  {0},
};

static int print_text_json(const char *name, const char *text)
{
  r4_json *w = r4_json_new();
  r4_json_open(w, NULL, '{');
  r4_json_text(w, "name", name);
  r4_json_text(w, "text", text);
  r4_json_close(w, '}');
  return json_print(stdout, "nets", w);
}

/* "mlp784-512-10" is no file, but a form: the sizes of dense layers, the first that of the input. */
static r4_net *net_of_sizes(const char *name)
{
  char *end;
  if (strncmp(name, "mlp", 3)) return NULL;
  long long features = strtoll(name + 3, &end, 10);
  return end > name + 3 && *end == '-' && features > 0 ? r4_net_open(name, R4_SHAPE(features), NULL) : NULL;
}

static int print_one(const struct nets_settings *s)
{
  const char *text = r4_architecture_text(s->name);
  r4_net *sizes = text ? NULL : net_of_sizes(s->name);
  if (sizes) {
    printf("%s\n", r4_net_layers(sizes));
    r4_net_free(sizes);
    return EXIT_DONE;
  }
  if (!text) {
    fprintf(stderr, "r4 nets: no net \"%s\"; \"r4 nets\" lists them\n", shown(s->name).text);
    return EXIT_USAGE;
  }
  if (s->json) return print_text_json(s->name, text);
  fputs(text, stdout);
  return EXIT_DONE;
}

static void shape_text(r4_shape s, char *to, size_t size)
{
  size_t n = 0;
  for (int k = 0; k < s.rank && n < size; k++)
    n += (size_t)snprintf(to + n, size - n, "%s%lld", k ? " x " : "", (long long)s.dim[k]);
}

/* The sentence behind "about". */
static void about_text(const char *name, char *to, size_t size)
{
  const char *text = r4_architecture_text(name), *about = text ? strstr(text, "about ") : NULL;
  size_t n = about ? strcspn(about += strlen("about "), "\n") : 0;
  snprintf(to, size, "%.*s", (int)n, about ? about : "");
}

struct facts {
  const char *name;
  char input[40], about[120];
  double parameters, flops;
};

static bool facts_of(size_t k, struct facts *f)
{
  r4_error e = {0};
  r4_net *n = r4_net_open(r4_architecture_name(k), R4_SCALAR, &e);
  if (!n) return cli_fail("nets", e.status, e.text), false;
  *f = (struct facts){.name = r4_architecture_name(k), .flops = r4_net_flops(n)};
  for (size_t p = 0; p < r4_net_params(n); p++)
    if (!r4_net_param_is_buffer(n, p)) f->parameters += (double)r4_shape_count(r4_net_param_shape(n, p));
  shape_text(r4_net_input(n), f->input, sizeof f->input);
  about_text(f->name, f->about, sizeof f->about);
  r4_net_free(n);
  return true;
}

static void add_json(r4_json *w, const struct facts *f)
{
  r4_json_break(w);
  r4_json_open(w, NULL, '{');
  r4_json_text(w, "name", f->name);
  r4_json_text(w, "input", f->input);
  r4_json_real(w, "parameters", f->parameters);
  r4_json_real(w, "flops", f->flops);
  r4_json_text(w, "about", f->about);
  r4_json_close(w, '}');
}

static int print_all_json(void)
{
  r4_json *w = r4_json_new();
  r4_json_open(w, NULL, '[');
  for (size_t k = 0; k < r4_architecture_count(); k++) {
    struct facts f;
    if (!facts_of(k, &f)) return r4_json_free(w), EXIT_NO;
    add_json(w, &f);
  }
  r4_json_close(w, ']');
  return json_print(stdout, "nets", w);
}

static void add_row(r4_table *t, const struct facts *f)
{
  r4_table_cell(t, f->name);
  cell(t, "%.0f", f->parameters);
  cell(t, "%.3f", f->flops / 1e9);
  r4_table_cell(t, f->input);
  r4_table_cell(t, f->about);
}

static int print_all(void)
{
  r4_table *t = r4_table_new();
  r4_table_column(t, "net", 'l', 0);
  r4_table_column(t, "parameters", 'r', 0);
  r4_table_column(t, "GFLOP", 'r', 0);
  r4_table_column(t, "input", 'l', 0);
  r4_table_column(t, NULL, 'l', 0);
  for (size_t k = 0; k < r4_architecture_count(); k++) {
    struct facts f;
    if (!facts_of(k, &f)) return r4_table_free(t), EXIT_NO;
    add_row(t, &f);
  }
  r4_table_cell(t, "mlpA-B-..");
  cells_empty(t, 2);
  r4_table_cell(t, "A");
  r4_table_cell(t, "dense layers of these sizes, relu between them");
  int code = table_end(stdout, "nets", t, R4_TABLE_PLAIN);
  if (!code) printf("\nr4 nets NAME prints a net's text; in a run: net: NAME, or net: NAME(classes=6).\n");
  return code;
}

static int print_parts(void)
{
  r4_table *t = r4_table_new();
  r4_table_column(t, NULL, 'l', 0);
  r4_table_column(t, NULL, 'l', 0);
  for (size_t k = 0; k < r4_module_count(); k++) {
    r4_table_cell(t, r4_module_describe(k).usage);
    r4_table_cell(t, r4_module_describe(k).about);
  }
  return table_end(stdout, "nets", t, R4_TABLE_PLAIN);
}

static int run(int argc, char **argv)
{
  struct nets_settings s;
  if (!options_read("nets", options, &s, argc, argv)) return EXIT_USAGE;
  if (s.parts && (s.json || *s.name)) return cli_fail("nets", R4_E_ARGUMENT, "--parts stands alone");
  if (s.parts) return print_parts();
  if (*s.name) return print_one(&s);
  return s.json ? print_all_json() : print_all();
}

const struct command command_nets = {
  .name = "nets",
  .summary = "list the nets that come with r4, or print one",
  .details = "The architectures that a run can name, with their parameters, the cost of one prediction, and their "
             "input; or\n"
             "the text of one of them. doc/nets.md describes the language.",
  .options = options,
  .run = run,
};
