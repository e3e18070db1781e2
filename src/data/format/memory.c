/* Data sets from arrays of the caller: they become what an npz file would hold, and are read and checked as one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "data/format/npz_source.h"
#include "data/mask/mask.h"

enum { ENTRIES = 10, NAME = 24, MOST_NAMES = 1 << 20 };

struct made {
  const r4_data_arrays *from;
  const struct column_kind *kind;
  size_t n;
  struct npz_entry entry[ENTRIES];
  double number[COLUMN_NUMBERS];
  char number_key[COLUMN_NUMBERS][COLUMN_KEY];
  char *names[2]; /* classes, groups */
  r4_error *e;
};

/* ---- Checking what an array cannot say itself ---- */

static r4_status check_shape(const r4_data_arrays *a, bool tokens, r4_error *e)
{
  size_t bytes = a->n;
  bool too_many = false;
  if (a->shape.rank != 1 && (a->shape.rank != 3 || tokens))
    return r4_fail(e, R4_E_SHAPE, "r4_data_new: a shape of rank %d, expected %s", a->shape.rank,
                   tokens ? "[tokens]" : "[features] or [height, width, channels]");
  for (int k = 0; k < a->shape.rank; k++) {
    if (a->shape.dim[k] < 1)
      return r4_fail(e, R4_E_SHAPE, "r4_data_new: shape.dim[%d] is %lld, expected at least 1", k,
                     (long long)a->shape.dim[k]);
    too_many |= __builtin_mul_overflow(bytes, (size_t)a->shape.dim[k], &bytes);
  }
  if (!too_many && bytes <= SIZE_MAX / 16) return R4_OK;
  return r4_fail(e, R4_E_ARGUMENT, "r4_data_new: %zu examples of this shape are more than memory can hold",
                 a->n);
}

/* ---- Checking names ---- */

static int by_text(const void *a, const void *b)
{
  const char *const *x = *(const char *const *const *)a, *const *y = *(const char *const *const *)b;
  int order = strcmp(*x, *y);
  return order ? order : (x > y) - (x < y);
}

/* Who reads a name must know which class is meant. */
static r4_status check_different(const char *key, size_t n, const char *const *name, r4_error *e)
{
  const char *const **sorted = mem_new(n, sizeof *sorted, key, e);
  if (!sorted) return R4_E_MEMORY;
  r4_status s = R4_OK;
  for (size_t k = 0; k < n; k++) sorted[k] = name + k;
  qsort(sorted, n, sizeof *sorted, by_text);
  for (size_t k = 1; !s && k < n; k++)
    if (!strcmp(*sorted[k - 1], *sorted[k]))
      s = r4_fail(e, R4_E_ARGUMENT, "r4_data_new: %s: %zu and %zu are both \"%.100s\", expected different names",
                  key, (size_t)(sorted[k - 1] - name), (size_t)(sorted[k] - name), *sorted[k]);
  r4_mem_free(sorted);
  return s;
}

static r4_status check_names(const char *key, const char *count, size_t n, const char *const *name, r4_error *e)
{
  if (n > MOST_NAMES)
    return r4_fail(e, R4_E_ARGUMENT, "r4_data_new: %s is %zu, expected at most %d", count, n, MOST_NAMES);
  if (!name) return R4_OK;
  if (!n)
    return r4_fail(e, R4_E_ARGUMENT, "r4_data_new: %s are given and %s is 0, expected how many there are", key, count);
  for (size_t k = 0; k < n; k++) {
    if (!name[k]) return r4_fail(e, R4_E_ARGUMENT, "r4_data_new: %s: name %zu of %zu is NULL", key, k, n);
    if (!utf8_valid(name[k])) return r4_fail(e, R4_E_ARGUMENT, "r4_data_new: %s: name %zu is not UTF-8", key, k);
  }
  return check_different(key, n, name, e);
}

static r4_status check_arrays(const r4_data_arrays *a, r4_error *e)
{
  int values = (a->floats != NULL) + (a->bytes != NULL) + (a->tokens != NULL);
  if (!a->n || a->n > INT32_MAX)
    return r4_fail(e, R4_E_ARGUMENT, "r4_data_new: %zu examples, expected 1 to %d", a->n, INT32_MAX);
  if (values != 1)
    return r4_fail(e, R4_E_ARGUMENT, "r4_data_new: %d of floats, bytes and tokens are given, expected one",
                   values);
  if (a->tokens && !a->lengths)
    return r4_fail(e, R4_E_ARGUMENT, "r4_data_new: tokens are given without lengths");
  if (a->mask_floats && a->mask_bytes)
    return r4_fail(e, R4_E_ARGUMENT,
                   "r4_data_new: masks are given as floats and as bytes, expected one of the two");
  if (mask_meaning_check(a->mask_means, "r4_data_new", e)) return R4_E_ARGUMENT;
  if ((a->mask_floats || a->mask_bytes) && !a->mask_means)
    return r4_fail(e, R4_E_ARGUMENT,
                   "r4_data_new: masks are given without mask_means, expected whether they mark what is irrelevant or "
                   "relevant");
  for (size_t i = 0; a->splits && i < a->n; i++)
    if ((unsigned)a->splits[i] >= R4_SPLITS)
      return r4_fail(e, R4_E_ARGUMENT, "r4_data_new: splits: example %zu has %d, expected 0 to %d", i,
                     (int)a->splits[i], R4_SPLITS - 1);
  return check_shape(a, a->tokens != NULL, e);
}

/* ---- Arrays ---- */

static struct array *add(struct made *m, const char *key, enum array_type type, const void *data)
{
  struct npz_entry *entry = &m->entry[m->n++];
  entry->key = key;
  /* never written to, nor freed: npz_source holds it */
  entry->array = (struct array){.type = type, .width = array_width(type), .rank = 1, .data = (void *)data};
  entry->array.dim[0] = (int64_t)m->from->n;
  return &entry->array;
}

/* [n], and the shape of an example, with or without its channels; those of images only have one if it is not 1. */
static void add_shaped(struct made *m, const char *key, enum array_type type, const void *data, bool channels)
{
  struct array *a = add(m, key, type, data);
  r4_shape s = m->from->shape;
  int rank = s.rank == 3 && !channels ? 2 : s.rank;
  memcpy(a->dim + 1, s.dim, (size_t)rank * sizeof *s.dim);
  a->rank = 1 + rank;
}

static void add_values(struct made *m)
{
  const r4_data_arrays *a = m->from;
  if (a->floats) add_shaped(m, "values", ARRAY_F32, a->floats, true);
  if (a->bytes) add_shaped(m, "values", ARRAY_U8, a->bytes, true);
  if (a->tokens) add_shaped(m, "tokens", ARRAY_I32, a->tokens, true);
  if (a->tokens) add(m, "lengths", ARRAY_I32, a->lengths);
  if (a->mask_floats) add_shaped(m, "masks", ARRAY_F32, a->mask_floats, a->masks_by_feature);
  if (a->mask_bytes) add_shaped(m, "masks", ARRAY_U8, a->mask_bytes, a->masks_by_feature);
}

static void add_numbers(struct made *m)
{
  const r4_data_arrays *a = m->from;
  if (a->bytes && a->scale != 0) m->number[0] = a->scale, m->number[1] = a->offset;
  if (a->tokens) m->number[0] = (double)a->vocabulary, m->number[1] = a->padding;
  for (int k = 0; (a->tokens || (a->bytes && a->scale != 0)) && k < COLUMN_NUMBERS; k++) {
    column_number_key(m->kind, k, m->number_key[k]);
    add(m, m->number_key[k], ARRAY_F64, m->number + k)->rank = 0;
  }
}

/* As many names as are stated, or else their numbers. */
static r4_status add_names(struct made *m, int which, const char *key, size_t n, const char *const *name)
{
  size_t width = NAME;
  for (size_t k = 0; name && k < n; k++)
    if (strlen(name[k]) >= width) width = strlen(name[k]) + 1;
  if (!n) return R4_OK;
  char *text = m->names[which] = r4_mem_new(n, width);
  if (!text) return r4_fail(m->e, R4_E_MEMORY, "out of memory for %zu names", n);
  for (size_t k = 0; k < n; k++)
    if (name)
      memcpy(text + k * width, name[k], strlen(name[k]));
    else
      snprintf(text + k * width, width, "%zu", k);
  struct array *a = add(m, key, ARRAY_TEXT, text);
  a->width = width;
  a->dim[0] = (int64_t)n;
  return R4_OK;
}

static r4_status add_all(struct made *m)
{
  const r4_data_arrays *a = m->from;
  add_values(m);
  add_numbers(m);
  add(m, "labels", ARRAY_I32, a->labels);
  if (a->groups) add(m, "groups", ARRAY_I32, a->groups);
  r4_status s = check_names("class_names", "classes", a->classes, a->class_names, m->e);
  if (!s && a->groups) s = check_names("group_names", "group_count", a->group_count, a->group_names, m->e);
  if (!s) s = add_names(m, 0, NPZ_CLASS_NAMES, a->classes, a->class_names);
  return s ? s : add_names(m, 1, NPZ_GROUP_NAMES, a->groups ? a->group_count : 0, a->group_names);
}

/* ---- The data set ---- */

static r4_data *read_arrays(const struct made *m)
{
  struct npz_source s;
  const r4_data_options options = {.mask_means = m->from->mask_means, .soft_masks = m->from->soft_masks};
  r4_status status = npz_source_hold(&s, m->kind->stem, m->n, m->entry, m->e);
  s.borrow = m->from->borrow;
  r4_data *d = status ? NULL : npz_source_data(&s, &options);
  npz_source_close(&s);
  for (size_t i = 0; d && m->from->splits && i < d->n; i++) d->record[i].split = (uint8_t)m->from->splits[i];
  return d;
}

r4_data *r4_data_new(const r4_data_arrays *arrays, r4_error *e)
{
  NEEDS(arrays, "arrays", NULL);
  NEEDS(arrays->labels, "labels", NULL);
  if (check_arrays(arrays, e)) return NULL;
  const struct column_kind *kind = arrays->tokens  ? &tokens_column
                                   : arrays->bytes ? &bytes_column
                                                   : &floats_column;
  struct made m = {.from = arrays, .kind = kind, .e = e};
  r4_data *d = add_all(&m) ? NULL : read_arrays(&m);
  r4_mem_free(m.names[0]);
  r4_mem_free(m.names[1]);
  return d;
}
