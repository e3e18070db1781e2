/* What is probably wrong with a folder that has a table: classes that are misspelt, and folders of masks that are not
 * read. */
#include <string.h>
#include <strings.h>

#include "base/csv.h"
#include "base/file.h"
#include "base/mem.h"
#include "data/counts.h"
#include "data/format/folder.h"
#include "data/format/format.h"
#include "data/lint/lint.h"
#include "r4_tools.h"

enum { FEW = 3, TIMES = 20, CLOSE = 2, MOST_BYTES = 1 << 28 };

static const char table[] = "metadata.csv", masks[] = "masks";

static bool has_table(const struct lint *l)
{
  return l->source && format_of(l->source) == &folder_format && file_exists_in(l->source, table);
}

/* ---- Classes ---- */

static size_t examples_of(const struct lint *l, size_t class)
{
  r4_counts c = r4_data_counts(l->d, (int32_t)class, -1);
  return c.examples[R4_TRAIN] + c.examples[R4_VAL] + c.examples[R4_TEST];
}

/* The line of the table that names a class first; 0: it is not known. */
static size_t line_of(struct csv *c, const char *class)
{
  int column;
  bool row = false;
  if (csv_column(c, "label", &column, NULL)) return 0;
  while (!csv_next(c, &row, NULL) && row)
    if (!strcmp(csv_trim(c->field[column]), class)) return c->line;
  return 0;
}

static size_t line_in_table(const struct lint *l, const char *class)
{
  size_t size, line = 0;
  uint8_t *bytes = NULL;
  struct csv c;
  char *path = has_table(l) ? file_join(l->source, table, NULL) : NULL;
  if (path && !file_read(path, MOST_BYTES, &bytes, &size, NULL) && !csv_open(&c, bytes, size, path, NULL)) {
    line = line_of(&c, class);
    csv_close(&c);
  }
  r4_mem_free(bytes);
  r4_mem_free(path);
  return line;
}

/* The class of the closest name, at most two letters away and not all of them, that has many more examples. */
static const char *meant(const struct lint *l, size_t class, size_t n)
{
  const char *name = r4_data_class_name(l->d, class), *best = NULL;
  size_t least = CLOSE + 1;
  for (size_t k = 0; k < r4_data_classes(l->d); k++) {
    size_t distance = r4_word_distance(name, r4_data_class_name(l->d, k));
    if (k == class || distance >= least || distance >= strlen(name) || examples_of(l, k) < TIMES * n) continue;
    best = r4_data_class_name(l->d, k), least = distance;
  }
  return best;
}

static void tell_rare(struct lint *l, size_t class, size_t n)
{
  const char *name = r4_data_class_name(l->d, class), *best = meant(l, class, n);
  size_t line = line_in_table(l, name);
  struct text t = {0};
  text_add(&t, "class \"%.80s\" has %zu example%s only", name, n, n > 1 ? "s" : "");
  if (line) text_add(&t, " (%s, line %zu)", table, line);
  if (best) text_add(&t, ": did you mean \"%.80s\"?", best);
  if (!best) text_add(&t, ": is it misspelt?");
  char *text = text_take(&t);
  if (text)
    lint_tell(l, WARNING, "class-rare", "%s", text);
  else
    l->status = R4_E_MEMORY;
  r4_string_free(text);
}

void lint_rare_classes(struct lint *l)
{
  size_t largest = lint_largest_class(l);
  for (size_t k = 0; k < r4_data_classes(l->d); k++) {
    size_t n = examples_of(l, k);
    if (n && n <= FEW && largest >= TIMES * n) tell_rare(l, k, n);
  }
}

size_t lint_largest_class(const struct lint *l)
{
  size_t largest = 0;
  for (size_t k = 0; k < r4_data_classes(l->d); k++) {
    size_t n = examples_of(l, k);
    if (n > largest) largest = n;
  }
  return largest;
}

/* ---- Masks ---- */

static bool is_like_masks(const char *name)
{
  return strcmp(name, masks) && !strncasecmp(name, masks, strlen(masks) - 1);
}

/* No example has a mask: is there a folder that was meant? */
void lint_no_masks(struct lint *l)
{
  struct names *folders = NULL;
  if (data_masks(l->d) || !has_table(l)) return;
  if (folder_scan(l->source, "", true, &folders, NULL)) {
    l->status = R4_E_MEMORY;
    return;
  }
  size_t told = l->n;
  for (size_t k = 0; k < folders->n; k++)
    if (is_like_masks(folders->name[k]))
      lint_tell(l, WARNING, "mask-folder", "the folder %s is not read: masks are read from one called %s",
                folders->name[k], masks);
  if (l->n == told)
    lint_tell(l, NOTE, "mask-none", "there are no masks: nothing says yet what must not matter (r4 find looks for it)");
  names_drop(folders);
}
