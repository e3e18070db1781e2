/* r4 data list: the data sets that have a name, recipes, and what can be read. */
#include "data/cmd_data.h"
#include "json_out.h"
#include "table_out.h"

struct data_list_settings {
  bool json;
};

static const struct option options[] = {
  {"json", OPTION_FLAG, offsetof(struct data_list_settings, json), NULL, 0, 0, "print JSON"},
  {0},
};

/* ---- For people ---- */

/* Indented, with so many columns. */
static r4_table *list_new(int columns)
{
  r4_table *t = r4_table_new();
  for (int k = 0; k <= columns; k++) r4_table_column(t, NULL, 'l', 0);
  return t;
}

/* The second line says where it is. */
static void add_known_rows(r4_table *t, const r4_known *k)
{
  char path[PATH_MAX] = "";
  cells_empty(t, 1);
  r4_table_cell(t, k->name);
  if (known_bytes(k) > 0)
    cell(t, "%.0f MB", 1e-6 * known_bytes(k));
  else
    cells_empty(t, 1);
  r4_table_cell(t, k->licence);
  r4_table_cell(t, k->about);
  if (known_built_in(k)) return;
  cells_empty(t, 4);
  if (known_is_here(k) && known_path(k, path))
    cell(t, "in %s", path);
  else
    cell(t, "not on this machine; r4 data get %s%s", k->name, k->by_hand ? " says how to get it" : "");
}

static int print_known(void)
{
  const r4_known *k;
  r4_table *t = list_new(4);
  for (size_t i = 0; (k = r4_known_at(i)); i++) add_known_rows(t, k);
  return table_end(stdout, "data list", t, R4_TABLE_PLAIN);
}

static int print_recipes(void)
{
  r4_table *t = list_new(2);
  for (size_t i = 0; i < r4_recipe_count(); i++) {
    r4_recipe_info r = r4_recipe_describe(i);
    cells_empty(t, 1);
    r4_table_cell(t, r.name);
    r4_table_cell(t, r.about);
    cells_empty(t, 2);
    cell(t, "from %s", r.from ? r.from : "any source (--from)");
  }
  return table_end(stdout, "data list", t, R4_TABLE_PLAIN);
}

static int print_formats(size_t n, r4_format_info (*describe)(size_t))
{
  r4_table *t = list_new(2);
  for (size_t i = 0; i < n; i++) {
    cells_empty(t, 1);
    r4_table_cell(t, describe(i).name);
    r4_table_cell(t, describe(i).about);
  }
  return table_end(stdout, "data list", t, R4_TABLE_PLAIN);
}

static int print_text(void)
{
  printf("Known data sets\n");
  int code = print_known();
  printf("\nRecipes (r4 data make)\n");
  if (!code) code = print_recipes();
  printf("\nFormats\n");
  if (!code) code = print_formats(r4_format_count(), r4_format_describe);
  printf("\nMasks as annotations (--masks)\n");
  return code ? code : print_formats(r4_mask_source_count(), r4_mask_source_describe);
}

/* ---- For machines ---- */

static void add_named(r4_json *w, const char *name, const char *about)
{
  r4_json_break(w);
  r4_json_open(w, NULL, '{');
  r4_json_text(w, "name", name);
  r4_json_text(w, "about", about);
}

static void add_known(r4_json *w, const r4_known *k)
{
  char path[PATH_MAX] = "";
  add_named(w, k->name, k->about);
  r4_json_text(w, "licence", k->licence);
  if (known_bytes(k) > 0) r4_json_real(w, "bytes", known_bytes(k));
  r4_json_flag(w, "built_in", known_built_in(k));
  r4_json_flag(w, "here", known_is_here(k));
  if (k->by_hand) r4_json_flag(w, "by_hand", true);
  if (!known_built_in(k) && known_path(k, path)) r4_json_text(w, "path", path);
  r4_json_close(w, '}');
}

static void add_recipe(r4_json *w, r4_recipe_info r)
{
  add_named(w, r.name, r.about);
  if (r.from) r4_json_text(w, "from", r.from);
  r4_json_close(w, '}');
}

static void add_formats(r4_json *w, const char *key, size_t n, r4_format_info (*describe)(size_t))
{
  r4_json_open(w, key, '[');
  for (size_t i = 0; i < n; i++) {
    add_named(w, describe(i).name, describe(i).about);
    r4_json_close(w, '}');
  }
  r4_json_close(w, ']');
}

static int print_json(void)
{
  r4_json *w = r4_json_new();
  const r4_known *k;
  r4_json_open(w, NULL, '{');
  r4_json_open(w, "known", '[');
  for (size_t i = 0; (k = r4_known_at(i)); i++) add_known(w, k);
  r4_json_close(w, ']');
  r4_json_open(w, "recipes", '[');
  for (size_t i = 0; i < r4_recipe_count(); i++) add_recipe(w, r4_recipe_describe(i));
  r4_json_close(w, ']');
  add_formats(w, "formats", r4_format_count(), r4_format_describe);
  add_formats(w, "mask_sources", r4_mask_source_count(), r4_mask_source_describe);
  r4_json_close(w, '}');
  return json_print(stdout, "data list", w);
}

static int run(int argc, char **argv)
{
  struct data_list_settings s;
  if (!options_read("data list", options, &s, argc, argv)) return EXIT_USAGE;
  return s.json ? print_json() : print_text();
}

const struct command data_list = {
  .name = "list",
  .summary = "list the known data sets, recipes and formats",
  .details = "Each with its size, its licence, and where it is on this machine.",
  .options = options,
  .run = run,
};
