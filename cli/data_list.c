/* r4 data list: the data sets that have a name, recipes, and what can be read. */
#include "data.h"

struct settings {
  bool json;
};

static const struct option options[] = {
  {"json", OPTION_FLAG, offsetof(struct settings, json), NULL, 0, 0, "for machines"},
  {0},
};

/* ---- For people ---- */

static void print_known(const r4_known *k)
{
  char size[32] = "", path[PATH_MAX] = "";
  if (known_bytes(k) > 0) snprintf(size, sizeof size, "%.0f MB", 1e-6 * known_bytes(k));
  printf("  %-14s %-7s %-13s %s\n", k->name, size, k->licence, k->about);
  if (known_built_in(k)) return;
  if (known_is_here(k) && known_path(k, path))
    printf("  %-14s in %s\n", "", path);
  else
    printf("  %-14s not here; r4 data get %s%s\n", "", k->name, k->by_hand ? " says how to get it" : "");
}

static void print_text(void)
{
  const r4_known *k;
  printf("Known data sets\n");
  for (size_t i = 0; (k = r4_known_at(i)); i++) print_known(k);
  printf("\nRecipes (r4 data make)\n");
  for (size_t i = 0; i < r4_recipe_count(); i++) {
    r4_recipe_info r = r4_recipe_describe(i);
    printf("  %-16s %s\n  %-16s from %s\n", r.name, r.about, "", r.from ? r.from : "any source (--from)");
  }
  printf("\nFormats\n");
  for (size_t i = 0; i < r4_format_count(); i++)
    printf("  %-14s %s\n", r4_format_describe(i).name, r4_format_describe(i).about);
  printf("\nMasks, besides images of them (--masks)\n");
  for (size_t i = 0; i < r4_mask_source_count(); i++)
    printf("  %-14s %s\n", r4_mask_source_describe(i).name, r4_mask_source_describe(i).about);
}

/* ---- For machines ---- */

static void print_pair(const char *before, const char *key, const char *value)
{
  printf("%s\"%s\": ", before, key);
  json_string(stdout, value);
}

static void print_known_json(const r4_known *k, bool first)
{
  char path[PATH_MAX] = "";
  print_pair(first ? "\n    {" : ",\n    {", "name", k->name);
  print_pair(", ", "about", k->about);
  print_pair(", ", "licence", k->licence);
  if (known_bytes(k) > 0) printf(", \"bytes\": %.0f", known_bytes(k));
  printf(", \"built_in\": %s, \"here\": %s", known_built_in(k) ? "true" : "false",
         known_is_here(k) ? "true" : "false");
  if (k->by_hand) printf(", \"by_hand\": true");
  if (!known_built_in(k) && known_path(k, path)) print_pair(", ", "path", path);
  printf("}");
}

static void print_format(r4_format_info f, bool first)
{
  print_pair(first ? "\n    {" : ",\n    {", "name", f.name);
  print_pair(", ", "about", f.about);
  printf("}");
}

static void print_json(void)
{
  const r4_known *k;
  printf("{\n  \"known\": [");
  for (size_t i = 0; (k = r4_known_at(i)); i++) print_known_json(k, !i);
  printf("\n  ],\n  \"recipes\": [");
  for (size_t i = 0; i < r4_recipe_count(); i++) {
    r4_recipe_info r = r4_recipe_describe(i);
    print_pair(i ? ",\n    {" : "\n    {", "name", r.name);
    print_pair(", ", "about", r.about);
    if (r.from) print_pair(", ", "from", r.from);
    printf("}");
  }
  printf("\n  ],\n  \"formats\": [");
  for (size_t i = 0; i < r4_format_count(); i++) print_format(r4_format_describe(i), !i);
  printf("\n  ],\n  \"mask_sources\": [");
  for (size_t i = 0; i < r4_mask_source_count(); i++) print_format(r4_mask_source_describe(i), !i);
  printf("\n  ]\n}\n");
}

static int run(int argc, char **argv)
{
  struct settings s;
  if (!options_read("data list", options, &s, argc, argv)) return EXIT_USAGE;
  if (s.json)
    print_json();
  else
    print_text();
  return EXIT_DONE;
}

const struct command data_list = {
  .name = "list",
  .summary = "the known data sets, recipes and formats",
  .details = "Each with its size, its licence, and where it is on this machine.",
  .options = options,
  .run = run,
};
