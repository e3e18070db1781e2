/* npz files as data sets. Three kinds of files are known by the names of their arrays; see doc/formats.md. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "data/catalog/published.h"
#include "data/format/format.h"
#include "data/format/whole_open.h"
#include "data/format/npz_masks.h"

/* ---- Values ---- */

static r4_status check_x(const struct npz_source *s, int split, const struct array *first,
                         const struct column_kind *kind)
{
  const struct array *x = &s->column[NPZ_X][split];
  const char *key = npz_source_key(s, NPZ_X, split);
  const struct column_kind *here = column_kind_for(s->is->stem, x);
  char expected[COLUMN_TEXT];
  column_arrays(s->is->stem, expected);
  if (!here) return npz_source_wrong(s, key, x, expected);
  if (x->rank < here->least || x->rank > here->most) return npz_source_wrong(s, key, x, here->shapes);
  for (int k = 1; k < x->rank; k++)
    if (!x->dim[k]) return npz_source_wrong(s, key, x, "dimensions of at least 1");
  bool same = x->rank == first->rank && here == kind;
  for (int k = 1; same && k < x->rank; k++) same = x->dim[k] == first->dim[k];
  if (same) return R4_OK;
  array_describe(first, expected, sizeof expected);
  return npz_source_wrong(s, key, x, expected);
}

static r4_shape shape_of(const struct npz_source *s, const struct array *x)
{
  int64_t side = s->is->side;
  if (x->rank == 2 && side && x->dim[1] == side * side) return R4_SHAPE(side, side, 1);
  if (x->rank == 2) return R4_SHAPE(x->dim[1]);
  return R4_SHAPE(x->dim[1], x->dim[2], x->rank == 4 ? x->dim[3] : 1);
}

static r4_status take_numbers(struct npz_source *s, struct column *c)
{
  r4_status status = R4_OK;
  for (int k = 0; !status && k < COLUMN_NUMBERS && c->is->number[k].name; k++) {
    char key[COLUMN_KEY];
    column_number_key(c->is, k, key);
    status = npz_source_number(s, key, &c->number[k]);
  }
  return status ? status : column_check(c, &(struct column_source){s->path, s->is->stem, s->e});
}

/* From 1 on: there is no empty text. */
static r4_status take_lengths(const struct npz_source *s, int split, struct column *c, size_t row)
{
  int32_t *length = mem_new(s->n[split], sizeof *length, s->path, s->e);
  if (!length) return R4_E_MEMORY;
  r4_status status = npz_source_whole(s, NPZ_LENGTH, split, 1, (int64_t)c->features + 1, length);
  for (size_t i = 0; !status && i < s->n[split]; i++) c->length[row + i] = (uint32_t)length[i];
  r4_mem_free(length);
  return status;
}

static r4_status take_values(struct npz_source *s, struct column *c)
{
  r4_status status = take_numbers(s, c);
  for (size_t k = 0, row = 0; !status && k < R4_SPLITS; row += s->n[k++]) {
    struct array *x = &s->column[NPZ_X][k];
    if (!s->n[k]) continue;
    if (c->length && (status = take_lengths(s, (int)k, c, row))) break;
    const struct column_source from = {s->path, npz_source_key(s, NPZ_X, (int)k), s->e};
    status = c->is->take(c, row, x, &from);
    npz_source_let_go(s, NPZ_X, (int)k); /* the shape is still needed, for masks */
  }
  return status;
}

static struct column *read_values(struct npz_source *s)
{
  const struct array *first = NULL;
  for (int k = R4_SPLITS; k--;)
    if (s->n[k]) first = &s->column[NPZ_X][k];
  const struct column_kind *kind = column_kind_for(s->is->stem, first);
  for (int k = 0; k < R4_SPLITS; k++)
    if (s->n[k] && check_x(s, k, first, kind)) return NULL;
  bool as_they_are = s->borrow && first->type == kind->array && !kind->lengths;
  r4_shape shape = shape_of(s, first);
  struct column *c = as_they_are ? column_over(first->data, kind, shape, s->count, s->e)
                                 : column_new_in(s->room, kind, shape, s->count, s->e);
  if (!c || !take_values(s, c)) return c;
  column_drop(c);
  return NULL;
}

/* ---- Labels, groups and other numbers ---- */

/* A column of all splits, one number per example in the order of the file. */
static r4_status read_numbers(const struct npz_source *s, enum npz_column c, int low, int64_t limit,
                              int32_t *to)
{
  r4_status status = R4_OK;
  for (int k = 0; !status && k < R4_SPLITS; to += s->n[k++])
    if (s->n[k]) status = npz_source_whole(s, c, k, low, limit, to);
  return status;
}

/* Whether all splits with examples have a column; it is an error if only some have. */
static r4_status has_column(const struct npz_source *s, enum npz_column c, bool *has)
{
  int with = 0, without = -1;
  for (int k = 0; k < R4_SPLITS; k++) {
    if (!s->n[k]) continue;
    with += s->column[c][k].data != NULL;
    if (!s->column[c][k].data) without = k;
  }
  *has = with && without < 0;
  if (!with || without < 0) return R4_OK;
  return r4_fail(s->e, R4_E_PARSE, "%s: has no %s, which other splits have", s->path,
                 npz_source_key(s, c, without));
}

static r4_status add_names(const struct array *text, struct names *l, r4_error *e)
{
  r4_status status = R4_OK;
  for (int64_t k = 0; !status && k < array_count(text); k++)
    status = names_add(l, array_text(text, k), NULL, e);
  return status;
}

static r4_status read_names(struct npz_source *s, const char *key, struct names *l)
{
  struct array text;
  r4_status status = npz_source_text(s, key, &text);
  if (text.data) status = add_names(&text, l, s->e);
  npz_source_drop(s, &text);
  return status;
}

/* The numbers of a column, which have names; and, if the file has none, how many of them there are. */
static r4_status read_named(struct npz_source *s, enum npz_column c, const char *key, struct names *l,
                            int32_t *to, int32_t *unnamed)
{
  enum { MOST = 1 << 16 };
  r4_status status = read_names(s, key, l);
  *unnamed = 0;
  if (!status) status = read_numbers(s, c, 0, l->n ? (int64_t)l->n : MOST, to);
  for (size_t i = 0; !status && !l->n && i < s->count; i++)
    if (to[i] >= *unnamed) *unnamed = to[i] + 1;
  return status;
}

/* A name for each of n numbers: those of a data set that is known, or the number itself. */
static r4_status make_names(struct names *l, int32_t n, const struct published *known, r4_error *e)
{
  r4_status status = R4_OK;
  for (int32_t k = 0; !status && (known ? known->class_name[k] != NULL : k < n); k++) {
    char number[16];
    snprintf(number, sizeof number, "%d", k);
    status = names_add(l, known ? known->class_name[k] : number, NULL, e);
  }
  return status;
}

static r4_status read_labels(struct npz_source *s, r4_data *d, int32_t *number)
{
  bool has;
  int32_t unnamed;
  r4_status status = read_named(s, NPZ_Y, NPZ_CLASS_NAMES, d->classes, number, &unnamed);
  for (size_t i = 0; !status && i < s->count; i++) d->record[i].label = number[i];
  if (!status && unnamed) status = make_names(d->classes, unnamed, published_find(d), s->e);
  if (!status) status = has_column(s, NPZ_G, &has);
  if (status || !has) return status;
  status = read_named(s, NPZ_G, NPZ_GROUP_NAMES, d->groups, number, &unnamed);
  for (size_t i = 0; !status && i < s->count; i++) d->record[i].group = number[i];
  return !status && unnamed ? make_names(d->groups, unnamed, NULL, s->e) : status;
}

/* Names of files, or ids: a list, and a number or -1 for each example. */
static r4_status read_origin(struct npz_source *s, enum npz_column c, const char *key, struct names **l,
                             int32_t *number)
{
  bool has;
  r4_status status = has_column(s, c, &has);
  if (status || !has) return status;
  *l = names_new(s->e);
  if (!*l) return R4_E_MEMORY;
  status = read_names(s, key, *l);
  return status ? status : read_numbers(s, c, -1, (int64_t)(*l)->n, number);
}

static r4_status read_origins(struct npz_source *s, r4_data *d, int32_t *number)
{
  r4_status status = read_origin(s, NPZ_FILE, NPZ_FILE_NAMES, &d->files, number);
  for (size_t i = 0; !status && d->files && i < s->count; i++) d->record[i].file = (uint32_t)number[i];
  if (!status) status = read_origin(s, NPZ_ID, NPZ_ID_NAMES, &d->ids, number);
  for (size_t i = 0; !status && d->ids && i < s->count; i++) d->record[i].id = (uint32_t)number[i];
  return status;
}

/* Records to the places that the file gives them. */
static r4_status arrange(struct npz_source *s, r4_data *d, int32_t *place)
{
  bool has;
  r4_status status = has_column(s, NPZ_PLACE, &has);
  if (status || !has) return status;
  status = read_numbers(s, NPZ_PLACE, 0, (int64_t)s->count, place);
  if (status) return status;
  struct record *moved = mem_new(s->count, sizeof *moved, s->path, s->e);
  uint8_t *taken = mem_new(s->count, 1, s->path, s->e);
  if (!moved || !taken) status = R4_E_MEMORY;
  for (size_t i = 0; !status && i < s->count; i++) {
    if (taken[place[i]]++)
      status = r4_fail(s->e, R4_E_PARSE, "%s: two examples have place %d", s->path, place[i]);
    moved[place[i]] = d->record[i];
  }
  r4_mem_free(taken);
  r4_mem_free(status ? moved : d->record);
  if (!status) d->record = moved;
  return status;
}

/* ---- The data set ---- */

static r4_status read_about(struct npz_source *s, r4_data *d)
{
  struct array text;
  r4_status status = npz_source_text(s, NPZ_ABOUT, &text);
  if (status) return status;
  if (text.data && array_count(&text) == 1)
    status = data_set_about(d, s->e, "%s", array_text(&text, 0));
  else
    status = data_set_about(d, s->e, "%s, %s", s->path, s->is->about);
  npz_source_drop(s, &text);
  return status;
}

static r4_status read_all(struct npz_source *s, r4_data *d, const r4_data_options *options)
{
  int32_t *number = mem_new(s->count, sizeof *number, s->path, s->e);
  if (!number) return R4_E_MEMORY;
  for (size_t k = 0, i = 0; k < R4_SPLITS; k++)
    for (size_t end = i + s->n[k]; i < end; i++) d->record[i].split = (uint8_t)k;
  r4_status status = read_labels(s, d, number);
  if (!status) status = read_origins(s, d, number);
  if (!status) status = npz_read_masks(s, d, options);
  if (!status) status = arrange(s, d, number);
  if (!status) status = read_about(s, d);
  r4_mem_free(number);
  return status ? status : data_finish(d, s->path, s->e);
}

r4_data *npz_source_data(struct npz_source *s, const r4_data_options *options)
{
  struct column *v = read_values(s);
  r4_data *d = v ? data_new(s->count, v, s->e) : NULL;
  if (!d || !read_all(s, d, options)) return d;
  r4_data_free(d);
  return NULL;
}

static r4_data *npz_data_open(const char *path, const r4_data_options *options, r4_error *e)
{
  struct npz_source s;
  r4_data *d = npz_source_open(&s, path, whole_room(options), e) ? NULL : npz_source_data(&s, options);
  npz_source_close(&s);
  return d;
}

static r4_status list_files(const char *path, struct names *to, r4_error *e)
{
  return names_add(to, path, NULL, e);
}

static bool matches(const char *path)
{
  size_t n = strlen(path);
  return n > 4 && !strcasecmp(path + n - 4, ".npz");
}

const struct format npz_format = {
  "npz", "a file with x_train (or t_train), y_train and so on, or MedMNIST's, or Decoy MNIST's arrays",
  matches, npz_data_open, 0, list_files};
