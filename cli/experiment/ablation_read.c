/* The table of an ablation, a CSV file with a row for each line of the plot:
 *
 *     name       of the line             preset   whose settings it begins with      panel   of the plot, or empty
 *     settings   of all its points: key=value ..; in a value, a product such as 0.001*x means x, that of the point
 *     x          the setting that changes along it
 *     values     its values, with blanks between them, or semicolons where a value has a blank
 *     labels     what stands at the axis in their place, or empty
 *     quick      the values of --quick; empty: all of them; "-": no such line
 *     y, y_values, y_quick   the same of a second setting: a heat map, or empty
 */
#include <stdlib.h>
#include <string.h>

#include "experiment/ablation_jobs.h"

static const char *field(const struct ablation *a, size_t row, const char *column)
{
  const char *text = r4_table_at(a->table, row, column);
  return text ? text : "";
}

static int refuse(const struct ablation *a, size_t row, const char *what)
{
  char text[PATH_SIZE + 400];
  snprintf(text, sizeof text, "%s: row %zu: %s", a->path, row + 1, what);
  return cli_fail("ablate", R4_E_ARGUMENT, text);
}

/* ---- Lists ---- */

/* labels: of values, which may be more than those of this list. */
static bool read_list(const char *text, const char *values, const char *labels, struct value_list *to)
{
  static char all[MAX_VALUES][VALUE_SIZE], label[MAX_VALUES][VALUE_SIZE];
  size_t n, labelled;
  if (!list_split(text, ' ', &to->n, to->text) || !list_split(values, ' ', &n, all) ||
      !list_split(labels, ' ', &labelled, label) || (labelled && labelled != n))
    return false;
  for (size_t k = 0; k < to->n; k++) {
    size_t i = 0;
    while (i < n && strcmp(all[i], to->text[k])) i++;
    snprintf(to->label[k], sizeof to->label[k], "%.60s", labelled && i < n ? label[i] : to->text[k]);
  }
  return true;
}

/* ---- Rows ---- */

static const char lists[] =
  "expected values that differ from each other, at most 32 of at most 255 characters, and "
  "as many labels or none";

static int read_line(struct ablation *a, size_t row, bool quick)
{
  struct ablation_line *l = &a->line[a->lines];
  const char *fast = field(a, row, "quick"), *fast_y = field(a, row, "y_quick");
  if (quick && !strcmp(fast, "-")) return EXIT_DONE;
  if (a->lines == MAX_LINES) return refuse(a, row, "more than 64 rows");
  *l = (struct ablation_line){.name = field(a, row, "name"),
                              .panel = field(a, row, "panel"),
                              .preset = field(a, row, "preset"),
                              .settings = field(a, row, "settings"),
                              .x = field(a, row, "x"),
                              .y = field(a, row, "y")};
  const char *values = field(a, row, "values"), *y_values = field(a, row, "y_values");
  if (!*l->name || !*l->preset || !*l->x) return refuse(a, row, "expected a name, a preset and x, a setting");
  if (!read_list(quick && *fast ? fast : values, values, field(a, row, "labels"), &l->xs) ||
      !read_list(quick && *fast_y ? fast_y : y_values, y_values, "", &l->ys))
    return refuse(a, row, lists);
  if (!l->xs.n) return refuse(a, row, "expected values of x, such as \"0 0.5 1\"");
  if (!*l->y != !l->ys.n) return refuse(a, row, "expected both y and y_values, or neither");
  a->lines++;
  return EXIT_DONE;
}

int ablation_read(struct ablation *a, bool quick, bool needed)
{
  r4_error e = {0};
  int code = EXIT_DONE;
  a->table = r4_table_read(a->path, &e);
  if (!a->table) return cli_fail("ablate", e.status, e.text);
  for (size_t k = 0; k < r4_table_rows(a->table) && !code; k++) code = read_line(a, k, quick);
  if (!code && !r4_table_rows(a->table)) return refuse(a, 0, "there is no row");
  if (!code && !a->lines && needed) return refuse(a, 0, "no row has a --quick form");
  return code;
}

void ablation_free(struct ablation *a)
{
  r4_table_free(a->table);
}

/* ---- Points ---- */

/* "0.001*x" with x = 0.5: 0.0005. What is no product of numbers and x stays as it is; false: it looks like one, but
 * x is no number. */
static bool work_out(const char *value, const char *x, char to[VALUE_SIZE])
{
  double product = 1;
  snprintf(to, VALUE_SIZE, "%s", value);
  if (!strchr(value, '*') && strcmp(value, "x")) return true;
  for (const char *at = value;; at++) {
    bool is_x = *at == 'x';
    char *end = NULL;
    double v = strtod(is_x ? x : at, &end);
    if (is_x ? *end || !*x : end == at) return false;
    product *= v;
    at = is_x ? at + 1 : end;
    if (!*at) break;
    if (*at != '*') return false;
  }
  snprintf(to, VALUE_SIZE, "%.9g", product);
  return true;
}

static size_t append(char *to, size_t size, size_t used, const char *key, size_t length, const char *value)
{
  int n = used < size
            ? snprintf(to + used, size - used, "%s%.*s=%s", used ? "\n" : "", (int)length, key, value)
            : 0;
  return used + (size_t)n;
}

bool ablation_point(const struct ablation *a, const struct ablation_line *l, size_t ix, size_t iy, char *to,
                    size_t size)
{
  size_t used = 0;
  *to = 0;
  for (const char *at = l->settings; *(at += strspn(at, " "));) {
    size_t length = strcspn(at, " "), key = strcspn(at, "= ");
    char value[VALUE_SIZE], result[VALUE_SIZE];
    snprintf(value, sizeof value, "%.*s", (int)(length > key ? length - key - 1 : 0), at + key + 1);
    if (key >= length || length >= VALUE_SIZE || !work_out(value, l->xs.text[ix], result)) {
      fprintf(stderr, "r4 ablate: %s: %s: \"%.*s\": expected key=value, or a product of numbers and x\n",
              a->path, shown(l->name).text, (int)length, at);
      return false;
    }
    used = append(to, size, used, at, key, result);
    at += length;
  }
  used = append(to, size, used, l->x, strlen(l->x), l->xs.text[ix]);
  if (l->ys.n) used = append(to, size, used, l->y, strlen(l->y), l->ys.text[iy]);
  return used < size;
}
