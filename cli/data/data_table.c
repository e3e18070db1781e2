/* What a data set holds, as tables and as JSON. */
#include <string.h>

#include "data/cmd_data.h"
#include "json_out.h"
#include "table_out.h"

enum { TELLING = 8 }; /* words of texts that are named */

static const char *const split_name[R4_SPLITS] = {"train", "val", "test"};

static void print_shape(r4_shape s)
{
  for (int k = 0; k < s.rank; k++) printf("%s%lld", k ? " x " : "", (long long)s.dim[k]);
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

static void add_row(r4_table *t, const char *name, r4_counts c)
{
  size_t masked = 0;
  r4_table_cell(t, name);
  for (int k = 0; k < R4_SPLITS; k++) {
    cell(t, "%zu", c.examples[k]);
    masked += c.masked[k];
  }
  cell(t, "%zu", masked);
}

static int print_counts(const r4_data *d, bool groups)
{
  size_t n = groups ? r4_data_groups(d) : r4_data_classes(d);
  r4_table *t = r4_table_new();
  r4_table_column(t, groups ? "group" : "class", 'l', 0);
  for (int k = 0; k < R4_SPLITS; k++) r4_table_column(t, split_name[k], 'r', 7);
  r4_table_column(t, "masked", 'r', 7);
  for (size_t k = 0; k < n; k++) {
    int32_t number = (int32_t)k;
    if (groups)
      add_row(t, r4_data_group_name(d, k), r4_data_counts(d, -1, number));
    else
      add_row(t, r4_data_class_name(d, k), r4_data_counts(d, number, -1));
  }
  add_row(t, "all", r4_data_counts(d, -1, -1));
  printf("\n");
  return table_end(stdout, "data", t, R4_TABLE_PLAIN);
}

static struct shown token_name(const r4_data *d, int32_t id)
{
  char number[16];
  const char *piece = r4_data_piece(d, id);
  snprintf(number, sizeof number, "%d", (int)id);
  return shown(piece ? piece : number);
}

static void print_lengths(const r4_data *d, const r4_facts *f)
{
  printf(" tokens at most: %zu to %zu, half up to %zu, 95 %% up to %zu, mean %.4g; ids from %.0f to %.0f of "
         "%lld\n",
         f->shortest, f->longest, f->median_length, f->length_95,
         (double)f->values / (double)r4_data_count(d), f->low, f->high, (long long)r4_data_vocabulary(d));
}

static int print_telling(const r4_data *d)
{
  r4_giveaway_word word[TELLING];
  size_t n = 0;
  r4_error e = {0};
  if (r4_data_giveaway_words(d, TELLING, word, &n, &e)) return cli_fail("data", e.status, e.text);
  if (n) printf("unmasked tokens that say most about the class: ");
  for (size_t k = 0; k < n; k++)
    printf("%s%s %.0f %% %s", k ? ", " : "", token_name(d, word[k].id).text,
           100 * (double)word[k].of_class / (double)word[k].texts,
           shown(r4_data_class_name(d, (size_t)word[k].label)).text);
  if (n) printf("\n");
  return EXIT_DONE;
}

static void print_masks(const r4_data *d, const r4_facts *f)
{
  if (!f->masked) {
    printf("none has a mask\n");
    return;
  }
  printf("%zu have a mask, which covers %.1f %% (%.1f to %.1f) and marks what must not matter", f->masked,
         100 * f->mean_mask, 100 * f->smallest_mask, 100 * f->largest_mask);
  if (r4_data_vocabulary(d))
    printf("; %.2f %% of all tokens are masked", 100 * (double)f->masked_values / (double)f->values);
  printf("\n");
}

/* What else their table says, by name: "r4 eval --by" takes these. */
static void print_extras(const r4_data *d)
{
  for (size_t k = 0; k < r4_data_extras(d); k++)
    printf("%s%s", k ? ", " : "further columns: ", shown(r4_data_extra_name(d, k)).text);
  if (r4_data_extras(d)) printf("\n");
}

static int print_text(const r4_data *d)
{
  char hash[R4_HASH_SIZE];
  r4_facts f = r4_data_facts(d);
  r4_data_hash(d, hash);
  char about[2048];
  r4_text_printable(r4_data_about(d), about, sizeof about);
  printf("%s\n%zu examples of ", about, r4_data_count(d));
  print_shape(r4_data_shape(d));
  if (r4_data_vocabulary(d))
    print_lengths(d, &f);
  else
    printf(", values from %.4g to %.4g, mean %.4g\n", f.low, f.high, f.mean);
  print_masks(d, &f);
  int code = print_telling(d);
  print_extras(d);
  printf("hash %s\n", hash);
  if (!code) code = print_counts(d, false);
  return !code && has_groups(d) ? print_counts(d, true) : code;
}

/* ---- For machines ---- */

static void add_counts(r4_json *w, r4_counts c)
{
  for (int k = 0; k < R4_SPLITS; k++) r4_json_whole(w, split_name[k], (int64_t)c.examples[k]);
  for (int k = 0; k < R4_SPLITS; k++) {
    char key[32];
    snprintf(key, sizeof key, "masked_%s", split_name[k]);
    r4_json_whole(w, key, (int64_t)c.masked[k]);
  }
}

static void add_counts_of(r4_json *w, const r4_data *d, bool groups)
{
  size_t n = groups ? r4_data_groups(d) : r4_data_classes(d);
  r4_json_open(w, groups ? "groups" : "classes", '[');
  for (size_t k = 0; k < n; k++) {
    int32_t number = (int32_t)k;
    r4_json_break(w);
    r4_json_open(w, NULL, '{');
    r4_json_text(w, "name", groups ? r4_data_group_name(d, k) : r4_data_class_name(d, k));
    add_counts(w, groups ? r4_data_counts(d, -1, number) : r4_data_counts(d, number, -1));
    r4_json_close(w, '}');
  }
  r4_json_close(w, ']');
}

static int add_telling(r4_json *w, const r4_data *d)
{
  r4_giveaway_word word[TELLING];
  size_t n = 0;
  r4_error e = {0};
  if (r4_data_giveaway_words(d, TELLING, word, &n, &e)) return cli_fail("data", e.status, e.text);
  r4_json_open(w, "telling", '[');
  for (size_t k = 0; k < n; k++) {
    r4_json_break(w);
    r4_json_open(w, NULL, '{');
    r4_json_text(w, "token", token_name(d, word[k].id).text);
    r4_json_text(w, "class", r4_data_class_name(d, (size_t)word[k].label));
    r4_json_whole(w, "texts", (int64_t)word[k].texts);
    r4_json_whole(w, "of_class", (int64_t)word[k].of_class);
    r4_json_close(w, '}');
  }
  r4_json_close(w, ']');
  return EXIT_DONE;
}

static void add_lengths(r4_json *w, const r4_data *d, r4_facts f)
{
  r4_json_open(w, "tokens", '{');
  r4_json_whole(w, "shortest", (int64_t)f.shortest);
  r4_json_whole(w, "longest", (int64_t)f.longest);
  r4_json_whole(w, "median", (int64_t)f.median_length);
  r4_json_whole(w, "most_of_95_per_cent", (int64_t)f.length_95);
  r4_json_whole(w, "all", (int64_t)f.values);
  r4_json_whole(w, "masked", (int64_t)f.masked_values);
  r4_json_whole(w, "vocabulary", r4_data_vocabulary(d));
  r4_json_close(w, '}');
}

static void add_facts(r4_json *w, r4_facts f)
{
  r4_json_open(w, "values", '{');
  r4_json_real(w, "low", f.low);
  r4_json_real(w, "high", f.high);
  r4_json_real(w, "mean", f.mean);
  r4_json_close(w, '}');
  r4_json_open(w, "masks", '{');
  r4_json_whole(w, "examples", (int64_t)f.masked);
  r4_json_real(w, "mean_area", f.mean_mask);
  r4_json_real(w, "smallest_area", f.smallest_mask);
  r4_json_real(w, "largest_area", f.largest_mask);
  r4_json_text(w, "meaning", "irrelevant");
  r4_json_close(w, '}');
}

static int print_json(const r4_data *d)
{
  char hash[R4_HASH_SIZE];
  r4_json *w = r4_json_new();
  r4_shape shape = r4_data_shape(d);
  r4_data_hash(d, hash);
  r4_json_open(w, NULL, '{');
  r4_json_text(w, "about", r4_data_about(d));
  r4_json_text(w, "hash", hash);
  r4_json_whole(w, "examples", (int64_t)r4_data_count(d));
  r4_json_open(w, "shape", '[');
  for (int k = 0; k < shape.rank; k++) r4_json_whole(w, NULL, shape.dim[k]);
  r4_json_close(w, ']');
  r4_facts facts = r4_data_facts(d);
  int code = EXIT_DONE;
  add_facts(w, facts);
  if (r4_data_vocabulary(d)) {
    add_lengths(w, d, facts);
    code = add_telling(w, d);
  }
  r4_json_open(w, "all", '{');
  add_counts(w, r4_data_counts(d, -1, -1));
  r4_json_close(w, '}');
  add_counts_of(w, d, false);
  add_counts_of(w, d, true);
  r4_json_close(w, '}');
  int printed = json_print(stdout, "data", w);
  return code ? code : printed;
}

int print_data(const r4_data *d, bool json)
{
  for (size_t k = 0; k < r4_data_notes(d); k++) fprintf(stderr, "note: %s\n", r4_data_note(d, k));
  return (json ? print_json : print_text)(d);
}
