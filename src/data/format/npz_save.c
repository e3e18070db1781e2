/* Data sets as npz files, in the convention that npz_data.c reads: nothing of the content is lost. */
#include <string.h>

#include "base/mem.h"
#include "data/data.h"
#include "data/format/npz_keys.h"
#include "data/mask/mask.h"
#include "tensor/npz.h"

/* Deflate of images saves half at best and takes most of the time: the fast way. Masks and numbers are repetitive. */
enum { FAST = 1, SMALL = 6, LISTS = 6, ENTRIES = (int)NPZ_COLUMNS * R4_SPLITS + LISTS + COLUMN_NUMBERS };

struct file {
  const r4_data *d;
  size_t n[R4_SPLITS], entries;
  struct npz_entry entry[ENTRIES];
  npz_keys *keys;
  char number_key[COLUMN_NUMBERS][COLUMN_KEY];
  r4_error *e;
};

/* A new array under a key; NULL when out of memory. */
static struct array *add(struct file *f, const char *key, int level, enum array_type type, size_t width,
                         int rank, const int64_t *dim)
{
  struct npz_entry *entry = &f->entry[f->entries];
  if (array_new(&entry->array, type, width, rank, dim, f->e)) return NULL;
  entry->key = key;
  entry->level = level;
  f->entries++;
  return &entry->array;
}

/* ---- Columns ---- */

/* [n], and the shape of an example, with or without its channels. */
static int shape_of(const struct file *f, int split, bool channels, int64_t dim[ARRAY_RANK])
{
  r4_shape shape = data_x(f->d)->shape;
  int rank = shape.rank == 3 && !channels ? 2 : shape.rank;
  dim[0] = (int64_t)f->n[split];
  memcpy(dim + 1, shape.dim, (size_t)rank * sizeof *dim);
  return 1 + rank;
}

static r4_status add_values(struct file *f, int split)
{
  const struct column *v = data_x(f->d);
  int64_t dim[ARRAY_RANK];
  int rank = shape_of(f, split, v->shape.rank != 3 || v->shape.dim[2] > 1, dim);
  struct array *a = add(f, (*f->keys)[NPZ_X][split], FAST, v->is->array, 0, rank, dim);
  if (!a) return R4_E_MEMORY;
  size_t row = v->features * a->width;
  char *to = a->data;
  for (size_t i = 0; i < f->d->n; i++) {
    if (f->d->record[i].split != split) continue;
    memcpy(to, column_row(v, f->d->record[i].row), row);
    to += row;
  }
  return R4_OK;
}

/* Whether all masks have no other values than 0 and 1. */
static bool masks_are_binary(const struct masks *m)
{
  for (size_t k = 0; k < m->n * m->size; k++)
    if (m->bytes[k] != 0 && m->bytes[k] != 255) return false;
  return true;
}

/* bool, or floats byte / 255, which are rounded to the same byte when they are read. */
static r4_status add_masks(struct file *f, int split, bool binary)
{
  const struct masks *m = data_masks(f->d);
  size_t size = m->size;
  int64_t dim[ARRAY_RANK];
  int rank = shape_of(f, split, data_mask_layout(f->d).repeat == 1 && data_x(f->d)->shape.dim[2] > 1, dim);
  struct array *a = add(f, (*f->keys)[NPZ_M][split], SMALL, binary ? ARRAY_BOOL : ARRAY_F32, 0, rank, dim);
  if (!a) return R4_E_MEMORY;
  uint8_t *bools = a->data;
  float *floats = a->data;
  for (size_t i = 0; i < f->d->n; i++) {
    const struct record *r = &f->d->record[i];
    if (r->split != split) continue;
    const uint8_t *from = masks_at(m, r->mask);
    if (binary)
      for (size_t k = 0; k < size; k++) *bools++ = from[k] == 255;
    else
      for (size_t k = 0; k < size; k++) *floats++ = (float)from[k] / 255;
  }
  return R4_OK;
}

static int64_t number_of(const struct file *f, enum npz_column c, size_t i)
{
  const struct record *r = &f->d->record[i];
  switch (c) {
  case NPZ_Y:
    return r->label;
  case NPZ_G:
    return r->group;
  case NPZ_FILE:
    return r->file == DATA_NO_ID ? -1 : (int64_t)r->file;
  case NPZ_ID:
    return r->id == DATA_NO_ID ? -1 : (int64_t)r->id;
  case NPZ_LENGTH:
    return (int64_t)column_length(data_x(f->d), r->row);
  default:
    return (int64_t)i;
  }
}

static r4_status add_numbers(struct file *f, enum npz_column c, int split)
{
  struct array *a = add(f, (*f->keys)[c][split], SMALL, ARRAY_I64, 0, 1, (int64_t[]){(int64_t)f->n[split]});
  if (!a) return R4_E_MEMORY;
  int64_t *to = a->data;
  for (size_t i = 0; i < f->d->n; i++)
    if (f->d->record[i].split == split) *to++ = number_of(f, c, i);
  return R4_OK;
}

/* Those that are not the usual ones. */
static r4_status add_column_numbers(struct file *f)
{
  const struct column *c = data_x(f->d);
  for (int k = 0; k < COLUMN_NUMBERS; k++) {
    if (c->number[k] == c->is->number[k].usual) continue;
    column_number_key(c->is, k, f->number_key[k]);
    struct array *a = add(f, f->number_key[k], SMALL, ARRAY_F64, 0, 0, NULL);
    if (!a) return R4_E_MEMORY;
    *(double *)a->data = c->number[k];
  }
  return R4_OK;
}

/* ---- Texts ---- */

static r4_status add_list(struct file *f, const char *key, const struct names *l)
{
  size_t width = 1;
  for (size_t k = 0; k < l->n; k++)
    if (strlen(l->name[k]) >= width) width = strlen(l->name[k]) + 1;
  struct array *a = add(f, key, SMALL, ARRAY_TEXT, width, 1, (int64_t[]){(int64_t)l->n});
  for (size_t k = 0; a && k < l->n; k++) memcpy((char *)a->data + k * width, l->name[k], strlen(l->name[k]));
  return a ? R4_OK : R4_E_MEMORY;
}

static r4_status add_text(struct file *f, const char *key, const char *text)
{
  struct array *a = add(f, key, SMALL, ARRAY_TEXT, strlen(text) + 1, 0, NULL);
  if (a) memcpy(a->data, text, strlen(text));
  return a ? R4_OK : R4_E_MEMORY;
}

/* ---- The file ---- */

static bool has_masks(const r4_data *d)
{
  for (size_t i = 0; i < d->n; i++)
    if (d->record[i].mask) return true;
  return false;
}

/* Whether the examples of training come first, then those of validation, then those of test. */
static bool is_in_order(const r4_data *d)
{
  for (size_t i = 1; i < d->n; i++)
    if (d->record[i].split < d->record[i - 1].split) return false;
  return true;
}

static r4_status add_columns(struct file *f)
{
  const r4_data *d = f->d;
  bool masks = has_masks(d), binary = masks && masks_are_binary(data_masks(d));
  const bool has[NPZ_COLUMNS] = {[NPZ_Y] = true,
                                 [NPZ_G] = true,
                                 [NPZ_FILE] = d->files,
                                 [NPZ_ID] = d->ids,
                                 [NPZ_PLACE] = !is_in_order(d),
                                 [NPZ_LENGTH] = data_x(d)->length};
  r4_status s = add_column_numbers(f);
  for (int k = 0; !s && k < R4_SPLITS; k++) {
    s = add_values(f, k);
    if (!s && masks) s = add_masks(f, k, binary);
    for (int c = 0; !s && c < NPZ_COLUMNS; c++)
      if (has[c]) s = add_numbers(f, (enum npz_column)c, k);
  }
  if (!s && masks) s = add_text(f, NPZ_MASK_MEANS, mask_meaning_words[R4_MASKS_IRRELEVANT]);
  return s;
}

static r4_status add_lists(struct file *f)
{
  const r4_data *d = f->d;
  r4_status s = add_list(f, NPZ_CLASS_NAMES, d->classes);
  if (!s) s = add_list(f, NPZ_GROUP_NAMES, d->groups);
  if (!s && d->files) s = add_list(f, NPZ_FILE_NAMES, d->files);
  if (!s && d->ids) s = add_list(f, NPZ_ID_NAMES, d->ids);
  if (!s) s = add_text(f, NPZ_ABOUT, d->about);
  return s;
}

r4_status r4_data_save(const r4_data *d, const char *file, r4_error *e)
{
  NEEDS(d, "data", R4_E_ARGUMENT);
  r4_shape shape = data_x(d)->shape;
  if (shape.rank != 1 && shape.rank != 3)
    return r4_fail(e, R4_E_SHAPE, "%s: examples of rank %d, expected features or images", file, shape.rank);
  npz_keys *keys = data_x(d)->is->stem ? npz_own_keys(data_x(d)->is->stem) : NULL;
  if (d->columns > 1 || !keys)
    return r4_fail(e, R4_E_ARGUMENT, "%s: npz files have no place for a column %s of %s", file,
                   d->column[d->columns - 1].name, d->column[d->columns - 1].values->is->name);
  struct file f = {.d = d, .keys = keys, .e = e};
  for (size_t i = 0; i < d->n; i++) f.n[d->record[i].split]++;
  r4_status s = add_columns(&f);
  if (!s) s = add_lists(&f);
  if (!s) s = npz_write(file, f.entries, f.entry, e);
  for (size_t k = 0; k < f.entries; k++) array_free(&f.entry[k].array);
  return s;
}
