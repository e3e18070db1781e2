/* What a data set holds, as tables and as JSON. */
#include <string.h>

#include "data.h"

static const char *const split_name[R4_SPLITS] = {"train", "val", "test"};

static void print_shape(r4_shape s, const char *between)
{
  for (int k = 0; k < s.rank; k++) printf("%s%lld", k ? between : "", (long long)s.dim[k]);
}

/* Whether the groups are more than the classes again. */
static bool has_groups(const r4_data *d)
{
  if (r4_data_groups(d) != r4_data_classes(d)) return true;
  for (size_t k = 0; k < r4_data_groups(d); k++)
    if (strcmp(r4_data_group_name(d, k), r4_data_class_name(d, k))) return true;
  return false;
}

/* ---- For people ---- */

static void print_row(const char *name, int width, r4_counts c)
{
  size_t masked = 0;
  printf("%-*s", width, shown(name).text);
  for (int k = 0; k < R4_SPLITS; k++) {
    printf(" %8zu", c.examples[k]);
    masked += c.masked[k];
  }
  printf(" %8zu\n", masked);
}

static void print_rows(const r4_data *d, const char *title, bool groups)
{
  size_t n = groups ? r4_data_groups(d) : r4_data_classes(d);
  int width = (int)strlen(title);
  for (size_t k = 0; k < n; k++) {
    int length = (int)strlen(shown(groups ? r4_data_group_name(d, k) : r4_data_class_name(d, k)).text);
    if (length > width) width = length;
  }
  printf("\n%-*s %8s %8s %8s %8s\n", width, title, "train", "val", "test", "masked");
  for (size_t k = 0; k < n; k++) {
    int32_t number = (int32_t)k;
    if (groups)
      print_row(r4_data_group_name(d, k), width, r4_data_counts(d, -1, number));
    else
      print_row(r4_data_class_name(d, k), width, r4_data_counts(d, number, -1));
  }
  print_row("all", width, r4_data_counts(d, -1, -1));
}

static void print_text(const r4_data *d)
{
  char hash[R4_HASH_SIZE];
  r4_facts f = r4_data_facts(d);
  r4_data_hash(d, hash);
  char about[2048];
  r4_text_shown(r4_data_about(d), about, sizeof about);
  printf("%s\n%zu examples of ", about, r4_data_count(d));
  print_shape(r4_data_shape(d), " x ");
  printf(", values from %.4g to %.4g, mean %.4g\n", f.low, f.high, f.mean);
  if (f.masked)
    printf("%zu have a mask, which covers %.1f %% (%.1f to %.1f) and marks what must not matter\n", f.masked,
           100 * f.mean_mask, 100 * f.smallest_mask, 100 * f.largest_mask);
  else
    printf("none has a mask\n");
  printf("hash %s\n", hash);
  print_rows(d, "class", false);
  if (has_groups(d)) print_rows(d, "group", true);
}

/* ---- For machines ---- */

static void print_counts_json(r4_counts c)
{
  for (int k = 0; k < R4_SPLITS; k++) printf("%s\"%s\": %zu", k ? ", " : "", split_name[k], c.examples[k]);
  for (int k = 0; k < R4_SPLITS; k++) printf(", \"masked_%s\": %zu", split_name[k], c.masked[k]);
  printf("}");
}

static void print_rows_json(const r4_data *d, bool groups)
{
  size_t n = groups ? r4_data_groups(d) : r4_data_classes(d);
  for (size_t k = 0; k < n; k++) {
    printf("%s\n    {\"name\": ", k ? "," : "");
    json_string(stdout, groups ? r4_data_group_name(d, k) : r4_data_class_name(d, k));
    printf(", ");
    print_counts_json(groups ? r4_data_counts(d, -1, (int32_t)k) : r4_data_counts(d, (int32_t)k, -1));
  }
}

static void print_json(const r4_data *d)
{
  char hash[R4_HASH_SIZE];
  r4_facts f = r4_data_facts(d);
  r4_data_hash(d, hash);
  printf("{\n  \"about\": ");
  json_string(stdout, r4_data_about(d));
  printf(",\n  \"hash\": \"%s\",\n  \"examples\": %zu,\n  \"shape\": [", hash, r4_data_count(d));
  print_shape(r4_data_shape(d), ", ");
  printf("],\n  \"values\": {\"low\": %.9g, \"high\": %.9g, \"mean\": %.9g},\n", f.low, f.high, f.mean);
  printf(
    "  \"masks\": {\"examples\": %zu, \"mean_area\": %.9g, \"smallest_area\": %.9g, \"largest_area\": %.9g, "
    "\"meaning\": \"irrelevant\"},\n",
    f.masked, f.mean_mask, f.smallest_mask, f.largest_mask);
  printf("  \"all\": {");
  print_counts_json(r4_data_counts(d, -1, -1));
  printf(",\n  \"classes\": [");
  print_rows_json(d, false);
  printf("\n  ],\n  \"groups\": [");
  print_rows_json(d, true);
  printf("\n  ]\n}\n");
}

void print_data(const r4_data *d, bool json)
{
  for (size_t k = 0; k < r4_data_notes(d); k++) fprintf(stderr, "note: %s\n", r4_data_note(d, k));
  if (json)
    print_json(d);
  else
    print_text(d);
}
