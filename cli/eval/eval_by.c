/* Accuracy by the values of a further column in "r4 eval", or by class and mask: a net that uses a shortcut is wrong
 * where it misleads, which the accuracy of a whole class hides. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "eval/eval.h"
#include "experiment/figures.h"
#include "table_out.h"

static bool is_asked(const struct evaluation *v)
{
  return v->by.masks || (v->by.column && *v->by.column);
}

/* ---- The column ---- */

static int no_column(const struct evaluation *v)
{
  fprintf(stderr, "r4 eval: --by: %s: the data have no column \"%s\"; expected", shown(v->path).text,
          shown(v->by.column).text);
  size_t n = r4_data_extras(v->data);
  for (size_t k = 0; k < n; k++) fprintf(stderr, "%s %s", k ? "," : "", shown(r4_data_extra_name(v->data, k)).text);
  fprintf(stderr, n ? "\n" : " none\n");
  return EXIT_USAGE;
}

static bool find_column(struct evaluation *v)
{
  size_t *k = &v->by.number, n = r4_data_extras(v->data);
  for (*k = 0; *k < n; ++*k)
    if (!strcasecmp(r4_data_extra_name(v->data, *k), v->by.column)) return true;
  return false;
}

/* ---- Its values ---- */

/* Numbers in their order, before everything else. */
static int by_value(const void *a, const void *b)
{
  const char *x = *(const char *const *)a, *y = *(const char *const *)b;
  char *end_x, *end_y;
  double p = strtod(x, &end_x), q = strtod(y, &end_y);
  bool number = *x && !*end_x, other = *y && !*end_y;
  if (number != other) return number ? -1 : 1;
  return number && p != q ? (p > q) - (p < q) : strcmp(x, y);
}

static size_t drop_repeated(const char **value, size_t n)
{
  size_t kept = 0;
  for (size_t i = 0; i < n; i++)
    if (!kept || strcmp(value[kept - 1], value[i])) value[kept++] = value[i];
  return kept;
}

static void number_examples(struct evaluation *v)
{
  struct by *b = &v->by;
  for (size_t i = 0; i < r4_data_count(v->data); i++) {
    const char *own = r4_data_extra(v->data, i, b->number);
    const char **found = bsearch(&own, b->value, b->values, sizeof own, by_value);
    b->of[i] = (uint32_t)(found - b->value);
    b->count[b->of[i]]++;
  }
}

static int make_counts(struct by *b, size_t seeds)
{
  b->count = calloc(b->values, sizeof *b->count);
  b->right = calloc(b->values * seeds, sizeof *b->right);
  return b->count && b->right ? EXIT_DONE : cli_fail("eval", R4_E_MEMORY, "");
}

/* ---- By class and mask ---- */

/* Groups are classes, and some class has examples with a mask and without. */
static bool masks_divide(const r4_data *d)
{
  size_t classes = r4_data_classes(d), with[R4_MAX_GROUPS] = {0}, without[R4_MAX_GROUPS] = {0};
  if (r4_data_groups(d) != classes || classes > R4_MAX_GROUPS / 2) return false;
  for (size_t i = 0; i < r4_data_count(d); i++) {
    r4_example x = r4_data_example(d, i);
    if (x.group != x.label || x.label < 0) return false;
    (r4_data_has_mask(d, i) ? with : without)[x.label]++;
  }
  for (size_t k = 0; k < classes; k++)
    if (with[k] && without[k]) return true;
  return false;
}

static int open_masks(struct evaluation *v)
{
  struct by *b = &v->by;
  size_t classes = r4_data_classes(v->data);
  if (!masks_divide(v->data)) return EXIT_DONE;
  b->masks = true;
  b->values = 2 * classes;
  b->name = calloc(b->values, sizeof *b->name);
  b->value = calloc(b->values, sizeof *b->value);
  b->of = calloc(r4_data_count(v->data), sizeof *b->of);
  if (!b->name || !b->value || !b->of) return cli_fail("eval", R4_E_MEMORY, "");
  for (size_t k = 0; k < b->values; k++) {
    snprintf(b->name[k], sizeof *b->name, "%.100s, %s", r4_data_class_name(v->data, k / 2),
             k % 2 ? "no mask" : "masked");
    b->value[k] = b->name[k];
  }
  int code = make_counts(b, v->run->seeds);
  for (size_t i = 0; i < r4_data_count(v->data) && !code; i++) {
    b->of[i] = 2 * (uint32_t)r4_data_example(v->data, i).label + !r4_data_has_mask(v->data, i);
    b->count[b->of[i]]++;
  }
  return code;
}

size_t by_rows(const struct evaluation *v)
{
  return v->by.masks ? v->by.values : 0;
}

int by_open(struct evaluation *v)
{
  struct by *b = &v->by;
  size_t n = r4_data_count(v->data);
  if (b->column && !*b->column) return open_masks(v);
  if (!is_asked(v)) return EXIT_DONE;
  if (!find_column(v)) return no_column(v);
  b->value = malloc(n * sizeof *b->value);
  b->of = malloc(n * sizeof *b->of);
  if (!b->value || !b->of) return cli_fail("eval", R4_E_MEMORY, "");
  for (size_t i = 0; i < n; i++) b->value[i] = r4_data_extra(v->data, i, b->number);
  qsort(b->value, n, sizeof *b->value, by_value);
  b->values = drop_repeated(b->value, n);
  if (b->values > MOST_VALUES_BY) {
    fprintf(stderr, "r4 eval: --by: %s has %zu values, expected at most %d\n", shown(b->column).text, b->values,
            (int)MOST_VALUES_BY);
    return EXIT_USAGE;
  }
  int code = make_counts(b, v->run->seeds);
  if (!code) number_examples(v);
  return code;
}

void by_close(struct evaluation *v)
{
  free(v->by.value);
  free(v->by.name);
  free(v->by.count);
  free(v->by.of);
  free(v->by.right);
}

/* ---- Measuring ---- */

void by_count(struct evaluation *v, const int32_t *predicted, size_t seed)
{
  struct by *b = &v->by;
  double *right = b->right + seed * b->values;
  if (!is_asked(v)) return;
  for (size_t i = 0; i < r4_data_count(v->data); i++)
    right[b->of[i]] += predicted[i] == r4_data_example(v->data, i).label;
  for (size_t k = 0; k < b->values; k++) right[k] /= (double)b->count[k]; /* 0 / 0 is NaN */
}

/* ---- Over seeds ---- */

r4_mean_sd by_accuracy(const struct evaluation *v, size_t value)
{
  double x[MAX_SEEDS];
  for (size_t k = 0; k < v->run->seeds; k++) x[k] = v->by.right[k * v->by.values + value];
  return r4_mean_sd_of(v->run->seeds, x);
}

int by_print(const struct evaluation *v)
{
  if (!is_asked(v) || v->by.masks) return EXIT_DONE;
  char text[FIGURE_SIZE];
  r4_table *t = r4_table_new();
  printf("\n");
  r4_table_column(t, r4_data_extra_name(v->data, v->by.number), 'l', 15);
  r4_table_column(t, "accuracy", 'l', 17);
  r4_table_column(t, "examples", 'r', 8);
  for (size_t k = 0; k < v->by.values; k++) {
    r4_mean_sd a = by_accuracy(v, k);
    r4_table_cell(t, *v->by.value[k] ? v->by.value[k] : "(empty)");
    cell(t, "%s %%", percent_text(a, 6, text));
    cell(t, "%zu", v->by.count[k]);
  }
  return table_end(stdout, "eval", t, R4_TABLE_PLAIN);
}

void by_add_json(r4_json *w, const struct evaluation *v)
{
  if (!is_asked(v)) return;
  r4_json_open(w, "by", '{');
  r4_json_text(w, "column", v->by.masks ? "class, mask" : r4_data_extra_name(v->data, v->by.number));
  r4_json_open(w, "values", '[');
  for (size_t k = 0; k < v->by.values; k++) {
    r4_json_open(w, NULL, '{');
    r4_json_text(w, "value", v->by.value[k]);
    r4_json_whole(w, "examples", (int64_t)v->by.count[k]);
    json_mean_sd(w, "accuracy", by_accuracy(v, k));
    r4_json_close(w, '}');
  }
  r4_json_close(w, ']');
  r4_json_close(w, '}');
}
