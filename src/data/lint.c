/* What is probably wrong with a data set. Each function below looks for one thing, and tells it once. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "data/counts.h"
#include "data/folder.h"
#include "data/format.h"
#include "data/overlap.h"

enum { FEW = 20 }; /* test examples of a group below which its accuracy says little */

struct lint {
  const r4_data *d;
  const char *source;
  struct overlap_key *key;
  r4_finding *finding;
  size_t n;
};

enum kind { WARNING, NOTE };

R4_PRINTF(4, 5) static void tell(struct lint *l, enum kind kind, const char *code, const char *format, ...)
{
  if (l->n == R4_FINDINGS) return;
  r4_finding *f = &l->finding[l->n++];
  f->note = kind == NOTE;
  f->code = code;
  va_list args;
  va_start(args, format);
  vsnprintf(f->text, sizeof f->text, format, args);
  va_end(args);
}

/* How an example is called in a text. */
struct name {
  char text[160];
};

static struct name name_of(const r4_data *d, size_t i)
{
  struct name name;
  r4_example x = r4_data_example(d, i);
  snprintf(name.text, sizeof name.text, "example %zu%s%.120s%s", i, x.file ? " (" : "", x.file ? x.file : "",
           x.file ? ")" : "");
  return name;
}

/* ---- Examples ---- */

static bool is_constant(const struct values *v, size_t row)
{
  size_t size = v->bytes ? 1 : sizeof(float);
  const char *first =
    v->bytes ? (const char *)values_row(v, row) : (const char *)(v->floats + row * v->features);
  return v->features > 1 && !memcmp(first, first + size, (v->features - 1) * size);
}

static void constant_examples(struct lint *l)
{
  size_t n = 0, first = 0;
  for (size_t i = l->d->n; i-- > 0;)
    if (is_constant(l->d->values, l->d->record[i].row)) first = i, n++;
  if (n)
    tell(l, WARNING, "constant", "%zu examples have one value everywhere, %s first", n,
         name_of(l->d, first).text);
}

static r4_status overlapping_splits(struct lint *l, r4_error *e)
{
  r4_error found = {0};
  r4_status s = r4_data_check_overlap(l->d, &found);
  if (s == R4_E_ARGUMENT) tell(l, WARNING, "overlap", "%s", found.text);
  return s && s != R4_E_ARGUMENT ? r4_fail(e, s, "%s", found.text) : R4_OK;
}

/* Equal values in training: with another label one of the two is wrong; with the same label they count twice. */
static void equal_examples(struct lint *l)
{
  const r4_data *d = l->d;
  size_t conflicts = 0, repeats = 0, conflict[2] = {0}, repeat[2] = {0};
  const struct overlap_key *last = NULL;
  for (const struct overlap_key *k = l->key; k < l->key + d->n; k++) {
    if (d->record[k->example].split != R4_TRAIN) continue;
    if (last && overlap_same(last, k)) {
      bool differ = d->record[last->example].label != d->record[k->example].label;
      size_t *pair = differ ? conflict : repeat;
      if ((*(differ ? &conflicts : &repeats))++ == 0) pair[0] = last->example, pair[1] = k->example;
    }
    last = k;
  }
  if (conflicts)
    tell(l, WARNING, "label-conflict", "%zu training examples equal another one of another class: %s and %s",
         conflicts, name_of(d, conflict[0]).text, name_of(d, conflict[1]).text);
  if (repeats)
    tell(l, NOTE, "repeated", "%zu training examples equal another one of their class: %s and %s", repeats,
         name_of(d, repeat[0]).text, name_of(d, repeat[1]).text);
}

/* ---- Classes and groups ---- */

static void missing_classes(struct lint *l)
{
  static const char *const split_name[R4_SPLITS] = {"training", "validation", "test"};
  r4_counts all = r4_data_counts(l->d, -1, -1);
  for (size_t k = 0; k < r4_data_classes(l->d); k++) {
    r4_counts c = r4_data_counts(l->d, (int32_t)k, -1);
    for (int s = 0; s < R4_SPLITS; s++) {
      if (c.examples[s] || !all.examples[s]) continue;
      tell(l, WARNING, "class-missing", "class %s has no %s examples", r4_data_class_name(l->d, k),
           split_name[s]);
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
    tell(l, NOTE, "group-small",
         "%zu groups have fewer than %d test examples, %s first: their accuracy says little", n, FEW,
         r4_data_group_name(l->d, first));
}

/* ---- Masks ---- */

static void full_masks(struct lint *l)
{
  size_t n = 0, first = 0;
  for (size_t i = l->d->n; i-- > 0;)
    if (l->d->record[i].mask && data_mask_area(l->d, l->d->record[i].mask) == 1) first = i, n++;
  if (n)
    tell(l, WARNING, "mask-full", "%zu masks cover the whole example, %s first: then nothing may matter", n,
         name_of(l->d, first).text);
}

static bool is_soft(const r4_data *d, uint32_t number)
{
  const uint8_t *mask = masks_at(d->masks, number);
  for (size_t k = 0; k < d->masks->size; k++)
    if (mask[k] && mask[k] != 255) return true;
  return false;
}

static void soft_masks(struct lint *l)
{
  size_t n = 0, first = 0;
  for (size_t i = l->d->n; i-- > 0;)
    if (l->d->record[i].mask && is_soft(l->d, l->d->record[i].mask)) first = i, n++;
  if (n)
    tell(l, NOTE, "mask-soft", "%zu masks have values between 0 and 1, %s first: these count in part", n,
         name_of(l->d, first).text);
}

/* Training examples without a mask where most have one; an empty mask is none. */
static void missing_masks(struct lint *l)
{
  r4_counts c = r4_data_counts(l->d, -1, -1);
  size_t n = c.examples[R4_TRAIN] - c.masked[R4_TRAIN], first = 0;
  if (!n || 2 * c.masked[R4_TRAIN] <= c.examples[R4_TRAIN]) return;
  while (l->d->record[first].split != R4_TRAIN || l->d->record[first].mask) first++;
  tell(l, WARNING, "mask-missing", "%zu of %zu training examples have no mask, or an empty one, %s first", n,
       c.examples[R4_TRAIN], name_of(l->d, first).text);
}

/* A class with less than a quarter of the coverage of another one. */
static void uneven_masks(struct lint *l)
{
  double least = 2, most = -1;
  size_t at = 0, other = 0;
  for (size_t k = 0; k < r4_data_classes(l->d); k++) {
    r4_counts c = r4_data_counts(l->d, (int32_t)k, -1);
    if (!c.examples[R4_TRAIN]) continue;
    double share = (double)c.masked[R4_TRAIN] / (double)c.examples[R4_TRAIN];
    if (share < least) least = share, at = k;
    if (share > most) most = share, other = k;
  }
  if (most > 0 && 4 * least < most)
    tell(l, WARNING, "mask-uneven", "%.0f %% of class %s have a mask in training, and %.0f %% of class %s",
         100 * least, r4_data_class_name(l->d, at), 100 * most, r4_data_class_name(l->d, other));
}

/* Masks may mean the reverse of what was said:
 *   - most cover more than half of the example, and there are few different ones: the rest looks like a patch;
 *   - most cover the middle of the image: the middle is where the object is.
 * Masks that cover more than half and are all different may well be right (all but the object): a note. */
static void inverted_masks(struct lint *l)
{
  const r4_data *d = l->d;
  size_t masked = 0, large = 0, middle = 0, different = d->masks->n - 1;
  r4_shape shape = d->values->shape;
  bool images = shape.rank == 3 && data_mask_layout(d).size == (size_t)(shape.dim[0] * shape.dim[1]);
  size_t centre = images ? (size_t)(shape.dim[0] / 2 * shape.dim[1] + shape.dim[1] / 2) : 0;
  for (size_t i = 0; i < d->n; i++) {
    uint32_t number = d->record[i].mask;
    if (!number) continue;
    masked++;
    large += data_mask_area(d, number) > 0.5;
    middle += images && masks_at(d->masks, number)[centre];
  }
  const char *reverse = "1 must mean \"must not matter\"; if it means the reverse, say so: --mask-means";
  if (2 * large > masked && 10 * different <= masked)
    tell(l, WARNING, "mask-inverted",
         "%zu of %zu masks cover more than half of the example, and there are only %zu different ones: %s",
         large, masked, different, reverse);
  else if (2 * large > masked)
    tell(l, NOTE, "mask-large", "%zu of %zu masks cover more than half of the example: %s", large, masked,
         reverse);
  else if (2 * middle > masked)
    tell(l, WARNING, "mask-inverted",
         "%zu of %zu masks cover the middle of the image, where the object usually is: %s", middle, masked,
         reverse);
}

static r4_status stray_masks(struct lint *l, r4_error *e)
{
  if (!l->source || format_of(l->source) != &folder_format) return R4_OK;
  struct names *stray = folder_stray_masks(l->source, e);
  if (!stray) return e && e->status ? e->status : R4_E_IO;
  if (stray->n)
    tell(l, WARNING, "mask-stray", "%zu mask files belong to no image, %s first", stray->n, stray->name[0]);
  names_drop(stray);
  return R4_OK;
}

/* ---- All ---- */

r4_status r4_data_lint(const r4_data *d, const char *source, r4_finding finding[R4_FINDINGS], size_t *n,
                       r4_error *e)
{
  static void (*const on_examples[])(struct lint *) = {equal_examples, constant_examples, missing_classes,
                                                       small_groups};
  static void (*const on_masks[])(struct lint *) = {full_masks, inverted_masks, missing_masks, uneven_masks,
                                                    soft_masks};
  struct lint l = {.d = d, .source = source, .finding = finding, .key = overlap_keys(d, e)};
  *n = 0;
  if (!l.key) return R4_E_MEMORY;
  r4_status s = overlapping_splits(&l, e);
  for (size_t k = 0; k < sizeof on_examples / sizeof *on_examples; k++) on_examples[k](&l);
  for (size_t k = 0; d->masks && k < sizeof on_masks / sizeof *on_masks; k++) on_masks[k](&l);
  if (!s) s = stray_masks(&l, e);
  r4_mem_free(l.key);
  *n = l.n;
  return s;
}
