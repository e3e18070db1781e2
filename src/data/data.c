#include "data/data.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "r4_tools.h"

const char *const split_words[R4_SPLITS] = {[R4_TRAIN] = "train", [R4_VAL] = "val", [R4_TEST] = "test"};
const char *const split_titles[R4_SPLITS] = {
  [R4_TRAIN] = "training", [R4_VAL] = "validation", [R4_TEST] = "test"};

/* ---- Making ---- */

#define SHARE(part) ((part) ? (void)atomic_fetch_add(&(part)->references, 1) : (void)0)

r4_data *data_new(size_t n, struct column *x, r4_error *e)
{
  r4_data *d = mem_new(1, sizeof *d, "the records of examples", e);
  if (d) {
    d->column[0] = (struct data_column){.name = "x", .values = x};
    d->columns = 1;
    d->n = n;
    d->record = mem_new(n ? n : 1, sizeof *d->record, "the records of examples", e);
    d->classes = names_new(e);
    d->groups = names_new(e);
  } else {
    column_drop(x);
  }
  if (!d || !d->record || !d->classes || !d->groups || data_set_about(d, e, "%s", "")) {
    r4_data_free(d);
    return NULL;
  }
  for (size_t i = 0; i < n; i++)
    d->record[i] = (struct record){.row = (uint32_t)i,
                                   .origin = (uint32_t)i,
                                   .file = DATA_NO_ID,
                                   .id = DATA_NO_ID,
                                   .extra = (uint32_t)i};
  return d;
}

r4_data *data_derive(const r4_data *d, r4_error *e)
{
  r4_data *copy = mem_new(1, sizeof *copy, "the records of examples", e);
  struct record *record = mem_new(d->n ? d->n : 1, sizeof *record, "the records of examples", e);
  if (!copy || !record) {
    r4_mem_free(copy);
    r4_mem_free(record);
    return NULL;
  }
  *copy = *d;
  copy->record = memcpy(record, d->record, d->n * sizeof *record);
  copy->about = NULL;
  for (size_t k = 0; k < d->columns; k++) {
    SHARE(d->column[k].values);
    SHARE(d->column[k].masks);
  }
  SHARE(d->classes);
  SHARE(d->groups);
  SHARE(d->files);
  SHARE(d->ids);
  SHARE(d->notes);
  SHARE(d->pieces);
  extras_share(d->extras);
  if (!data_set_about(copy, e, "%s", d->about)) return copy;
  r4_data_free(copy);
  return NULL;
}

void r4_data_free(r4_data *d)
{
  if (!d) return;
  for (size_t k = 0; k < d->columns; k++) {
    column_drop(d->column[k].values);
    masks_drop(d->column[k].masks);
  }
  names_drop(d->classes);
  names_drop(d->groups);
  names_drop(d->files);
  names_drop(d->ids);
  names_drop(d->notes);
  names_drop(d->pieces);
  extras_drop(d->extras);
  r4_mem_free(d->record);
  r4_mem_free(d->about);
  r4_mem_free(d);
}

struct column *data_x(const r4_data *d)
{
  return d->column[0].values;
}

struct masks *data_masks(const r4_data *d)
{
  return d->column[0].masks;
}

void data_set_x(r4_data *d, struct column *x)
{
  column_drop(d->column[0].values);
  d->column[0].values = x;
}

void data_set_masks(r4_data *d, struct masks *m)
{
  masks_drop(d->column[0].masks);
  d->column[0].masks = m;
}

r4_status data_add_column(r4_data *d, const char *name, struct column *values, r4_error *e)
{
  struct data_column *to = &d->column[d->columns];
  r4_status s = R4_OK;
  if (d->columns == DATA_COLUMNS || strlen(name) >= sizeof to->name || data_column(d, name))
    s = r4_fail(e, R4_E_ARGUMENT,
                "column %.40s: expected another name, of at most %zu letters, and at most %d columns", name,
                sizeof to->name - 1, DATA_COLUMNS);
  else if (values->rows != d->n)
    s = r4_fail(e, R4_E_ARGUMENT, "column %s: %zu rows for %zu examples", name, values->rows, d->n);
  if (s) {
    column_drop(values);
    return s;
  }
  *to = (struct data_column){.values = values};
  memcpy(to->name, name, strlen(name));
  for (size_t i = 0; d->columns == 1 && i < d->n; i++) d->record[i].origin = (uint32_t)i;
  d->columns++;
  return R4_OK;
}

const struct column *data_column(const r4_data *d, const char *name)
{
  for (size_t k = 0; k < d->columns; k++)
    if (!strcmp(d->column[k].name, name)) return d->column[k].values;
  return NULL;
}

r4_status data_set_about(r4_data *d, r4_error *e, const char *format, ...)
{
  char line[1024];
  va_list args;
  va_start(args, format);
  c_locale_vprint(line, sizeof line, format, args);
  va_end(args);
  char *kept = mem_copy(line, e);
  if (!kept) return R4_E_MEMORY;
  r4_mem_free(d->about);
  d->about = kept;
  return R4_OK;
}

r4_status data_add_note(r4_data *d, r4_error *e, const char *format, ...)
{
  char line[R4_ERROR_SIZE], text[2 * R4_ERROR_SIZE];
  va_list args;
  va_start(args, format);
  c_locale_vprint(text, sizeof text, format, args);
  va_end(args);
  r4_text_printable(text, line, sizeof line);
  if (!d->notes && !(d->notes = names_new(e))) return R4_E_MEMORY;
  return names_add(d->notes, line, NULL, e);
}

r4_status data_add_unkept(r4_data *d, const r4_error *why, r4_error *e)
{
  return data_add_note(d, e, DATA_UNKEPT "%.300s; each process has the data in its own memory", why->text);
}

void data_forget_notes(r4_data *d)
{
  names_drop(d->notes);
  d->notes = NULL;
}

/* ---- Checking ---- */

/* Without groups, the classes are the groups. */
static void groups_from_classes(r4_data *d)
{
  SHARE(d->classes);
  names_drop(d->groups);
  d->groups = d->classes;
  for (size_t i = 0; i < d->n; i++) d->record[i].group = d->record[i].label;
}

void data_set_classes(r4_data *d, struct names *classes)
{
  bool groups_too = d->groups == d->classes;
  names_drop(d->classes);
  d->classes = classes;
  if (groups_too) groups_from_classes(d);
}

static r4_status check_record(const r4_data *d, size_t i, const char *source, r4_error *e)
{
  const struct record *r = d->record + i;
  if (r->label < 0 || (size_t)r->label >= d->classes->n)
    return r4_fail(e, R4_E_PARSE, "%s: example %zu has label %d, expected 0 to %zu", source, i, r->label,
                   d->classes->n - 1);
  if (r->group < 0 || (size_t)r->group >= d->groups->n)
    return r4_fail(e, R4_E_PARSE, "%s: example %zu has group %d, expected 0 to %zu", source, i, r->group,
                   d->groups->n - 1);
  bool behind = r->row >= data_x(d)->rows;
  for (size_t k = 1; k < d->columns; k++) behind |= r->origin >= d->column[k].values->rows;
  if (behind || r->split >= R4_SPLITS || (r->mask && (!data_masks(d) || r->mask >= data_masks(d)->n)))
    return r4_fail(e, R4_E_INTERNAL, "%s: example %zu refers to row %u, mask %u, split %u", source, i, r->row,
                   r->mask, r->split);
  return R4_OK;
}

r4_status data_finish(r4_data *d, const char *source, r4_error *e)
{
  if (!d->n) return r4_fail(e, R4_E_PARSE, "%s: has no examples", source);
  if (!d->classes->n) return r4_fail(e, R4_E_PARSE, "%s: has no classes", source);
  if (!d->groups->n) groups_from_classes(d);
  if (data_masks(d) && data_masks(d)->size != data_mask_layout(d).size)
    return r4_fail(e, R4_E_INTERNAL, "%s: masks have %zu elements, examples %zu features", source,
                   data_masks(d)->size, data_x(d)->features);
  for (size_t i = 0; i < d->n; i++) {
    r4_status s = check_record(d, i, source, e);
    if (s) return s;
  }
  return R4_OK;
}

struct mask_layout data_mask_layout(const r4_data *d)
{
  const struct column *v = data_x(d);
  size_t features = v->features;
  bool images = v->shape.rank == 3;
  size_t pixels = images ? (size_t)(v->shape.dim[0] * v->shape.dim[1]) : features;
  bool by_pixel = data_masks(d) ? data_masks(d)->size == pixels : images;
  return by_pixel ? (struct mask_layout){pixels, features / pixels} : (struct mask_layout){features, 1};
}

void data_trim_mask(const r4_data *d, size_t row, uint8_t *mask)
{
  size_t length = column_length(data_x(d), row);
  if (data_x(d)->length) memset(mask + length, 0, data_x(d)->features - length);
}

const uint8_t *data_mask_bytes(const r4_data *d, size_t i)
{
  uint32_t number = d->record[i].mask;
  return number ? masks_at(data_masks(d), number) : NULL;
}

/* ---- Asking ---- */

size_t r4_data_count(const r4_data *d)
{
  return d->n;
}

size_t r4_data_length(const r4_data *d, size_t i)
{
  return column_length(data_x(d), d->record[i].row);
}

int64_t r4_data_vocabulary(const r4_data *d)
{
  return column_vocabulary(data_x(d));
}

r4_shape r4_data_shape(const r4_data *d)
{
  return data_x(d)->shape;
}

static const char *name_or_null(const struct names *l, uint32_t number)
{
  return l && number < l->n ? l->name[number] : NULL;
}

r4_example r4_data_example(const r4_data *d, size_t i)
{
  const struct record *r = d->record + i;
  return (r4_example){.label = r->label,
                      .group = r->group,
                      .split = (r4_split)r->split,
                      .file = name_or_null(d->files, r->file),
                      .id = name_or_null(d->ids, r->id)};
}

void r4_data_values(const r4_data *d, size_t i, float *to)
{
  column_read(data_x(d), d->record[i].row, to);
}

bool r4_data_has_mask(const r4_data *d, size_t i)
{
  return d->record[i].mask != 0;
}

bool r4_data_mask(const r4_data *d, size_t i, float *to)
{
  uint32_t number = d->record[i].mask;
  if (!number) {
    memset(to, 0, data_x(d)->features * sizeof *to);
    return false;
  }
  struct mask_layout layout = data_mask_layout(d);
  const uint8_t *from = masks_at(data_masks(d), number);
  for (size_t k = 0; k < layout.size; k++)
    for (size_t c = 0; c < layout.repeat; c++) *to++ = (float)from[k] / 255;
  return true;
}

size_t r4_data_classes(const r4_data *d)
{
  return d->classes->n;
}

const char *r4_data_class_name(const r4_data *d, size_t k)
{
  return k < d->classes->n ? d->classes->name[k] : NULL;
}

size_t r4_data_groups(const r4_data *d)
{
  return d->groups->n;
}

const char *r4_data_group_name(const r4_data *d, size_t k)
{
  return k < d->groups->n ? d->groups->name[k] : NULL;
}

size_t r4_data_extras(const r4_data *d)
{
  return d->extras ? d->extras->n : 0;
}

const char *r4_data_extra_name(const r4_data *d, size_t k)
{
  return k < r4_data_extras(d) ? d->extras->column[k].name : NULL;
}

const char *r4_data_extra(const r4_data *d, size_t i, size_t k)
{
  return k < r4_data_extras(d) && i < d->n ? extras_at(d->extras, k, d->record[i].extra) : NULL;
}

const char *r4_data_about(const r4_data *d)
{
  return d->about;
}

size_t r4_data_notes(const r4_data *d)
{
  return d->notes ? d->notes->n : 0;
}

const char *r4_data_note(const r4_data *d, size_t k)
{
  return k < r4_data_notes(d) ? d->notes->name[k] : NULL;
}
