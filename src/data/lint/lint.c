/* What is probably wrong with a data set: its examples, and all checks together. */
#include "data/lint/lint.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/mem.h"
#include "data/format/folder.h"
#include "data/format/format.h"
#include "r4_tools.h"

void lint_tell(struct lint *l, enum lint_kind kind, const char *code, const char *format, ...)
{
  if (l->n == R4_FINDINGS) return;
  r4_finding *f = &l->finding[l->n++];
  f->note = kind == NOTE;
  f->code = code;
  char text[2 * R4_ERROR_SIZE];
  va_list args;
  va_start(args, format);
  c_locale_vprint(text, sizeof text, format, args);
  va_end(args);
  r4_text_printable(text, f->text, sizeof f->text);
}

struct lint_name lint_name_of(const r4_data *d, size_t i)
{
  struct lint_name name;
  r4_example x = r4_data_example(d, i);
  snprintf(name.text, sizeof name.text, "example %zu%s%.120s%s", i, x.file ? " (" : "", x.file ? x.file : "",
           x.file ? ")" : "");
  return name;
}

/* ---- Examples ---- */

static bool is_constant(const struct column *x, size_t row)
{
  size_t size = x->is->size, n = column_length(x, row);
  const char *first = column_row(x, row);
  return n > 1 && !memcmp(first, first + size, (n - 1) * size);
}

static void constant_examples(struct lint *l)
{
  size_t n = 0, first = 0;
  for (size_t i = l->d->n; i-- > 0;)
    if (is_constant(data_x(l->d), l->d->record[i].row)) first = i, n++;
  if (n)
    lint_tell(l, WARNING, "constant", "%zu examples have one value everywhere, %s first", n,
              lint_name_of(l->d, first).text);
}

static r4_status overlapping_splits(struct lint *l, r4_error *e)
{
  r4_error found = {0};
  r4_status s = r4_data_check_overlap(l->d, &found);
  if (s == R4_E_ARGUMENT) lint_tell(l, WARNING, "overlap", "%s", found.text);
  return s && s != R4_E_ARGUMENT ? r4_fail(e, s, "%s", found.text) : R4_OK;
}

/* Examples of a split that equal one before, and the first two of them. */
struct equals {
  size_t n, pair[2];
};

static void add_equal(struct equals *all, size_t a, size_t b)
{
  if (!all->n++) all->pair[0] = a, all->pair[1] = b;
}

static void find_equals(const struct lint *l, r4_split split, struct equals *repeats,
                        struct equals *conflicts)
{
  const struct record *record = l->d->record;
  const struct overlap_key *last = NULL;
  for (const struct overlap_key *k = l->key; k < l->key + l->d->n; k++) {
    if (record[k->example].split != split) continue;
    if (last && overlap_same(last, k)) {
      bool differ = record[last->example].label != record[k->example].label;
      add_equal(differ ? conflicts : repeats, last->example, k->example);
    }
    last = k;
  }
}

static void tell_repeats(struct lint *l, const struct equals *repeats)
{
  static const char *const where[R4_SPLITS] = {"training", "validation", "test"};
  char count[R4_SPLITS * 40] = "";
  size_t all = 0, first = 0;
  for (size_t s = R4_SPLITS; s-- > 0;)
    if (repeats[s].n) first = s, all += repeats[s].n;
  for (size_t s = 0, n = 0; s < R4_SPLITS; s++)
    if (repeats[s].n)
      n += (size_t)c_locale_print(count + n, sizeof count - n, "%s%zu %s", n ? ", " : "", repeats[s].n,
                                  where[s]);
  if (all)
    lint_tell(l, NOTE, "repeated", "%s examples equal another one of their split and class: %s and %s", count,
              lint_name_of(l->d, repeats[first].pair[0]).text,
              lint_name_of(l->d, repeats[first].pair[1]).text);
}

/* Equal values in a split: with another label one of the two is wrong; with the same label they count twice. */
static void equal_examples(struct lint *l)
{
  struct equals repeats[R4_SPLITS] = {{0}}, conflicts[R4_SPLITS] = {{0}};
  for (int s = 0; s < R4_SPLITS; s++) find_equals(l, (r4_split)s, &repeats[s], &conflicts[s]);
  const struct equals *wrong = &conflicts[R4_TRAIN];
  if (wrong->n)
    lint_tell(l, WARNING, "label-conflict",
              "%zu training examples equal another one of another class: %s and %s", wrong->n,
              lint_name_of(l->d, wrong->pair[0]).text, lint_name_of(l->d, wrong->pair[1]).text);
  tell_repeats(l, repeats);
}

static void odd_values(struct lint *l)
{
  char text[R4_ERROR_SIZE];
  const char *code = column_doubt(data_x(l->d), text, sizeof text);
  if (code) lint_tell(l, WARNING, code, "%s", text);
}

/* ---- Files ---- */

static r4_status stray_masks(struct lint *l, r4_error *e)
{
  if (!l->source || format_of(l->source) != &folder_format) return R4_OK;
  struct names *stray = folder_stray_masks(l->source, e);
  if (!stray) return e && e->status ? e->status : R4_E_IO;
  if (stray->n)
    lint_tell(l, WARNING, "mask-stray", "%zu mask files belong to no image, %s first", stray->n,
              stray->name[0]);
  names_drop(stray);
  return R4_OK;
}

/* That a cache has no room says nothing about the data. */
static void odd_reading(struct lint *l)
{
  for (size_t k = 0; k < r4_data_notes(l->d); k++) {
    const char *note = r4_data_note(l->d, k);
    bool unkept = !strncmp(note, DATA_UNKEPT, strlen(DATA_UNKEPT));
    lint_tell(l, unkept ? NOTE : WARNING, "reading", "%s", note);
  }
}

/* ---- All ---- */

r4_status r4_data_lint_masks(const r4_data *d, r4_finding finding[R4_FINDINGS], size_t *n, r4_error *e)
{
  NEEDS(d, "data", R4_E_ARGUMENT);
  NEEDS(finding, "room for findings", R4_E_ARGUMENT);
  NEEDS(n, "room for their number", R4_E_ARGUMENT);
  struct lint l = {.d = d, .finding = finding};
  lint_masks(&l);
  *n = l.n;
  return R4_OK;
}

r4_status r4_data_lint(const r4_data *d, const char *source, r4_finding finding[R4_FINDINGS], size_t *n,
                       r4_error *e)
{
  NEEDS(d, "data", R4_E_ARGUMENT);
  NEEDS(finding, "room for findings", R4_E_ARGUMENT);
  NEEDS(n, "room for their number", R4_E_ARGUMENT);
  static void (*const check[])(struct lint *) = {odd_reading, equal_examples, constant_examples, odd_values,
                                                 lint_groups, lint_rare_classes, lint_class_of_masks,
                                                 lint_masks, lint_no_masks, lint_words, lint_images};
  struct lint l = {.d = d, .source = source, .finding = finding, .key = overlap_keys(d, e)};
  *n = 0;
  if (!l.key) return R4_E_MEMORY;
  r4_status s = overlapping_splits(&l, e);
  for (size_t k = 0; k < sizeof check / sizeof *check; k++) check[k](&l);
  if (!s && l.status) s = r4_fail(e, l.status, "out of memory for looking at the data set");
  if (!s) s = stray_masks(&l, e);
  r4_mem_free(l.key);
  *n = l.n;
  return s;
}
