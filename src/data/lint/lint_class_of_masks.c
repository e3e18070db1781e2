/* A class that is none: a folder of masks that is not called masks is read as one more class.
 *
 * Its files have the names of images of other classes. So may the files of every class, where each counts from 1. What
 * tells masks: nearly all names of the folder are names of others, and without it hardly any name is in two classes. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/lint/lint.h"

/* The name of a file, without its folder and ending, and its class. */
struct stem {
  const char *from;
  size_t n;
  int32_t class;
};

static struct stem stem_of(const r4_data *d, size_t i)
{
  static const char *const ends[] = {"_mask", "_segmentation"};
  r4_example x = r4_data_example(d, i);
  const char *slash = strrchr(x.file, '/'), *from = slash ? slash + 1 : x.file, *dot = strrchr(from, '.');
  struct stem s = {from, dot ? (size_t)(dot - from) : strlen(from), x.label};
  for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
    size_t m = strlen(ends[k]);
    if (s.n > m && !strncmp(from + s.n - m, ends[k], m)) s.n -= m;
  }
  return s;
}

static int by_stem(const void *a, const void *b)
{
  const struct stem *p = a, *q = b;
  int order = strncmp(p->from, q->from, p->n < q->n ? p->n : q->n);
  if (!order) order = (p->n > q->n) - (p->n < q->n);
  return order ? order : (p->class > q->class) - (p->class < q->class);
}

/* Of each class: its names, those that others have as well, and those that one other has. */
struct shared {
  size_t names, shared, pairs;
};

/* Returns how many names are in two classes or more. */
static size_t count_shared(const struct stem *s, size_t n, struct shared *of)
{
  size_t all = 0;
  for (size_t first = 0, end; first < n; first = end) {
    size_t classes = 0;
    for (end = first; end < n && s[end].n == s[first].n && !strncmp(s[end].from, s[first].from, s[first].n); end++)
      classes += end == first || s[end].class != s[end - 1].class;
    all += classes > 1;
    for (size_t k = first; k < end; k++) {
      if (k > first && s[k].class == s[k - 1].class) continue;
      of[s[k].class].names++;
      of[s[k].class].shared += classes > 1;
      of[s[k].class].pairs += classes == 2;
    }
  }
  return all;
}

static void tell(struct lint *l, const struct shared *of, size_t all)
{
  enum { MOST = 10 }; /* a tenth may be otherwise */
  size_t classes = r4_data_classes(l->d);
  for (size_t k = 0; classes > 2 && k < classes; k++) {
    bool has_others = of[k].names && MOST * of[k].shared >= (MOST - 1) * of[k].names;
    size_t without = all - of[k].pairs; /* names in two classes, were this one not there */
    if (!has_others || MOST * without > all) continue;
    lint_tell(l, WARNING, "mask-folder",
              "the folder %s is read as a class, but %zu of its %zu files are called like images of other classes: are "
              "these masks? Masks are read from a folder called masks",
              r4_data_class_name(l->d, k), of[k].shared, of[k].names);
    return;
  }
}

void lint_class_of_masks(struct lint *l)
{
  size_t n = l->d->n;
  if (!l->d->files || !n) return;
  struct stem *s = r4_mem_new(n, sizeof *s);
  struct shared *of = r4_mem_new(r4_data_classes(l->d), sizeof *of);
  if (s && of) {
    size_t named = 0;
    for (size_t i = 0; i < n; i++)
      if (r4_data_example(l->d, i).file) s[named++] = stem_of(l->d, i);
    qsort(s, named, sizeof *s, by_stem);
    tell(l, of, count_shared(s, named, of));
  } else {
    l->status = R4_E_MEMORY;
  }
  r4_mem_free(s);
  r4_mem_free(of);
}
