/* What is probably wrong with the classes, groups and splits of a data set. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "data/counts.h"
#include "data/lint/lint.h"

enum { FEW = 20 }; /* test examples of a group below which its accuracy says little */

/* ---- Splits ---- */

/* Validation may be held out later; training and test may not be missing. */
static void empty_splits(struct lint *l)
{
  r4_counts all = r4_data_counts(l->d, -1, -1);
  if (!all.examples[R4_TRAIN])
    lint_tell(l, WARNING, "split-empty", "there are no training examples");
  else if (!all.examples[R4_TEST])
    lint_tell(l, WARNING, "split-empty",
              all.examples[R4_VAL]
                ? "there are no test examples: the net is evaluated on those for validation, which it may be chosen by"
                : "there are no test examples: data.val holds some out for validation, and the net is evaluated on "
                  "those; "
                  "set others apart (split test) for the last word");
}

/* ---- Classes and groups ---- */

static void one_class(struct lint *l)
{
  size_t with = 0, last = 0;
  for (size_t k = 0; k < r4_data_classes(l->d); k++) {
    r4_counts c = r4_data_counts(l->d, (int32_t)k, -1);
    if (c.examples[R4_TRAIN] + c.examples[R4_VAL] + c.examples[R4_TEST]) with++, last = k;
  }
  if (with == 1)
    lint_tell(l, WARNING, "class-single", "all examples are of class %s: there is nothing to learn",
              r4_data_class_name(l->d, last));
}

static void missing_classes(struct lint *l)
{
  r4_counts all = r4_data_counts(l->d, -1, -1);
  for (size_t k = 0; k < r4_data_classes(l->d); k++) {
    r4_counts c = r4_data_counts(l->d, (int32_t)k, -1);
    for (int s = 0; s < R4_SPLITS; s++) {
      if (c.examples[s] || !all.examples[s]) continue;
      lint_tell(l, WARNING, "class-missing", "class %s has no %s examples", r4_data_class_name(l->d, k),
                split_titles[s]);
      return;
    }
  }
}

static void small_groups(struct lint *l)
{
  size_t n = 0, first = 0;
  if (!r4_data_counts(l->d, -1, -1).examples[R4_TEST]) return;
  for (size_t k = r4_data_groups(l->d); k-- > 0;) {
    size_t test = r4_data_counts(l->d, -1, (int32_t)k).examples[R4_TEST];
    if (test && test < FEW) first = k, n++;
  }
  if (n)
    lint_tell(l, NOTE, "group-small",
              "%zu groups have fewer than %d test examples, %s first: their accuracy is uncertain", n, FEW,
              r4_data_group_name(l->d, first));
}

bool r4_data_thin_validation(const r4_data *d, char text[R4_ERROR_SIZE])
{
  enum { ENOUGH = 5 };
  size_t thin = 0, first = 0, least = 0;
  *text = 0;
  if (!d || !r4_data_counts(d, -1, -1).examples[R4_VAL]) return false;
  for (size_t k = r4_data_groups(d); k-- > 0;) {
    r4_counts c = r4_data_counts(d, -1, (int32_t)k);
    if (c.examples[R4_TRAIN] && c.examples[R4_VAL] < ENOUGH) thin++, first = k, least = c.examples[R4_VAL];
  }
  if (thin)
    c_locale_print(text, R4_ERROR_SIZE,
                   "%zu of %zu groups have fewer than %d validation examples, %.100s first (%zu): the worst group of "
                   "validation, by which nets and settings are chosen, is decided by very few or leaves some out",
                   thin, r4_data_groups(d), ENOUGH, r4_data_group_name(d, first), least);
  return thin;
}

static void thin_validation(struct lint *l)
{
  char text[R4_ERROR_SIZE];
  if (r4_data_thin_validation(l->d, text)) lint_tell(l, NOTE, "val-small", "%s", text);
}

static void groups_of_one(struct lint *l)
{
  bool classes = l->d->groups == l->d->classes;
  if (classes && lint_largest_class(l) >= FEW) return; /* told of each */
  size_t n = 0, first = 0;
  for (size_t k = r4_data_groups(l->d); k-- > 0;) {
    r4_counts c = r4_data_counts(l->d, -1, (int32_t)k);
    if (c.examples[R4_TRAIN] + c.examples[R4_VAL] + c.examples[R4_TEST] == 1) first = k, n++;
  }
  if (n)
    lint_tell(l, WARNING, "group-single", "%zu of %zu %s have one example only, %s first%s", n,
              r4_data_groups(l->d), classes ? "classes" : "groups", r4_data_group_name(l->d, first),
              classes ? "" : ": are these ids?");
}

/* ---- Names ---- */

/* As strcmp, but for case and blanks. */
static int compare_loosely(const char *a, const char *b)
{
  for (;; a++, b++) {
    while (isspace((unsigned char)*a)) a++;
    while (isspace((unsigned char)*b)) b++;
    int order = tolower((unsigned char)*a) - tolower((unsigned char)*b);
    if (order || !*a) return order;
  }
}

static int by_loose_name(const void *a, const void *b)
{
  const char *p = *(const char *const *)a, *q = *(const char *const *)b;
  int order = compare_loosely(p, q);
  return order ? order : strcmp(p, q);
}

static void alike(struct lint *l, const struct names *names, const char *what)
{
  const char **name = r4_mem_new(names->n, sizeof *name);
  if (!name) {
    l->status = R4_E_MEMORY;
    return;
  }
  for (size_t k = 0; k < names->n; k++) name[k] = names->name[k];
  qsort(name, names->n, sizeof *name, by_loose_name);
  size_t n = 0, first = 0;
  for (size_t k = names->n; k-- > 1;)
    if (!compare_loosely(name[k], name[k - 1])) first = k, n++;
  if (n)
    lint_tell(l, WARNING, "names-alike",
              "%zu %s differ from another one by case or blanks only, \"%s\" and \"%s\" first", n, what,
              name[first - 1], name[first]);
  r4_mem_free(name);
}

static void alike_names(struct lint *l)
{
  alike(l, l->d->classes, "classes");
  if (l->d->groups != l->d->classes) alike(l, l->d->groups, "groups");
}

/* Spreadsheets save tables in the bytes of old Windows unless they are told not to. */
static void names_of_other_bytes(struct lint *l)
{
  const struct names *all[] = {l->d->classes, l->d->groups != l->d->classes ? l->d->groups : NULL};
  for (size_t list = 0; list < sizeof all / sizeof *all; list++)
    for (size_t k = 0; all[list] && k < all[list]->n; k++) {
      if (utf8_valid(all[list]->name[k])) continue;
      lint_tell(l, WARNING, "name-bytes", "the name \"%s\" is not UTF-8: save the table as \"CSV UTF-8\"",
                all[list]->name[k]);
      return;
    }
}

void lint_groups(struct lint *l)
{
  static void (*const check[])(struct lint *) = {empty_splits,  one_class,     missing_classes,
                                                 small_groups,  thin_validation,
                                                 groups_of_one, alike_names, names_of_other_bytes};
  for (size_t k = 0; k < sizeof check / sizeof *check; k++) check[k](l);
}
