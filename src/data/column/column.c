#include "data/column/column.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* ---- The kinds ---- */

static const struct column_kind *const kinds[] = {&bytes_column, &floats_column, &tokens_column};

enum { KINDS = sizeof kinds / sizeof *kinds };

const struct column_kind *column_kind_for(const char *stem, const struct array *a)
{
  for (size_t k = 0; k < KINDS; k++)
    if (!strcmp(kinds[k]->stem, stem) && kinds[k]->takes(a)) return kinds[k];
  return NULL;
}

void column_arrays(const char *stem, char text[COLUMN_TEXT])
{
  size_t used = 0;
  text[0] = 0;
  for (size_t k = 0; k < KINDS; k++)
    if (!strcmp(kinds[k]->stem, stem) && used < COLUMN_TEXT)
      used += (size_t)snprintf(text + used, COLUMN_TEXT - used, "%s%s", used ? " or " : "", kinds[k]->arrays);
}

void column_number_key(const struct column_kind *kind, int k, char key[COLUMN_KEY])
{
  snprintf(key, COLUMN_KEY, "%s_%s", kind->stem, kind->number[k].name);
}

/* ---- Making ---- */

/* Where the folder has no room the memory may have it. */
static void *in_file(struct column *c, const char *folder, size_t bytes)
{
  if (map_pile_open(&c->pile, folder, NULL)) return NULL;
  if (!map_pile_grow(&c->pile, bytes, NULL)) return c->pile.bytes;
  map_pile_clear(&c->pile);
  return NULL;
}

static bool allocate(struct column *c, const char *folder)
{
  size_t rows = c->rows ? c->rows : 1, elements, bytes;
  if (__builtin_mul_overflow(rows, c->features, &elements)) return false;
  if (folder && !__builtin_mul_overflow(elements, c->is->size, &bytes)) c->data = in_file(c, folder, bytes);
  if (!c->data) c->data = r4_mem_new(elements, c->is->size);
  if (c->is->lengths) c->length = r4_mem_new(rows, sizeof *c->length);
  return c->data && (c->length || !c->is->lengths);
}

static struct column *make(void *data, const char *folder, const struct column_kind *kind, r4_shape shape,
                           size_t rows, r4_error *e)
{
  struct column *c = r4_mem_new(1, sizeof *c);
  size_t features = (size_t)r4_shape_count(shape);
  if (c) {
    *c = (struct column){.references = 1, .is = kind, .shape = shape, .features = features, .rows = rows};
    c->data = data;
    c->borrowed = data;
    for (int k = 0; k < COLUMN_NUMBERS; k++) c->number[k] = kind->number[k].usual;
    if (allocate(c, folder)) {
      for (size_t i = 0; c->length && i < rows; i++) c->length[i] = (uint32_t)features;
      return c;
    }
  }
  column_drop(c);
  r4_fail(e, R4_E_MEMORY, "out of memory for %zu examples of %zu %s", rows, features, kind->element);
  return NULL;
}

struct column *column_new(const struct column_kind *kind, r4_shape shape, size_t rows, r4_error *e)
{
  return make(NULL, NULL, kind, shape, rows, e);
}

struct column *column_new_in(const char *folder, const struct column_kind *kind, r4_shape shape, size_t rows,
                             r4_error *e)
{
  return make(NULL, folder, kind, shape, rows, e);
}

struct column *column_over(void *data, const struct column_kind *kind, r4_shape shape, size_t rows,
                           r4_error *e)
{
  return make(data, NULL, kind, shape, rows, e);
}

struct column *column_mapped(struct map *m, size_t at, const struct column_kind *kind, r4_shape shape,
                             size_t rows, r4_error *e)
{
  struct column *c = column_over(m->bytes + at, kind, shape, rows, e);
  if (c) c->map = map_share(m);
  return c;
}

struct column *column_for_changed(const struct column *c, size_t rows, r4_error *e)
{
  struct column *made = column_new(c->is->changed ? c->is->changed : c->is, c->shape, rows, e);
  if (made && made->is == c->is) memcpy(made->number, c->number, sizeof c->number);
  return made;
}

void column_drop(struct column *c)
{
  if (!c || atomic_fetch_sub(&c->references, 1) != 1) return;
  if (!c->borrowed && !c->pile.folder) r4_mem_free(c->data);
  map_pile_clear(&c->pile);
  map_drop(c->map);
  r4_mem_free(c->length);
  r4_mem_free(c);
}

/* ---- Rows ---- */

void *column_row(const struct column *c, size_t row)
{
  return (char *)c->data + row * c->features * c->is->size;
}

void column_will_need(const struct column *c, size_t row)
{
  if (c->map) map_will_need(c->map, column_row(c, row), c->features * c->is->size);
}

size_t column_length(const struct column *c, size_t row)
{
  return c->length ? c->length[row] : c->features;
}

void column_read(const struct column *c, size_t row, float *to)
{
  c->is->read(c, row, 0, c->features, to);
}

void column_write(struct column *c, size_t row, const float *from, const struct column *like, size_t like_row)
{
  if (c->length) c->length[row] = (uint32_t)column_length(like, like_row);
  c->is->write(c, row, from);
}

float column_value(const struct column *c, size_t row, size_t feature)
{
  float value;
  c->is->read(c, row, feature, 1, &value);
  return value;
}

double column_exact(const struct column *c, size_t row, size_t feature)
{
  return c->is->exact ? c->is->exact(c, row, feature) : (double)column_value(c, row, feature);
}

const char *column_doubt(const struct column *c, char *text, size_t size)
{
  return c->is->doubt ? c->is->doubt(c, text, size) : NULL;
}

r4_status column_check(const struct column *c, const struct column_source *from)
{
  for (int k = 0; k < COLUMN_NUMBERS; k++)
    if (!isfinite(c->number[k]))
      return r4_fail(from->e, R4_E_PARSE, "%s: the %s of %s is %g, expected a finite number", from->path,
                     c->is->number[k].name, c->is->name, c->number[k]);
  return c->is->check ? c->is->check(c, from) : R4_OK;
}

bool column_is_usual(const struct column *c)
{
  for (int k = 0; k < COLUMN_NUMBERS; k++)
    if (c->number[k] != c->is->number[k].usual) return false;
  return true;
}

bool column_is_image_bytes(const struct column *c)
{
  return c->is == &bytes_column && column_is_usual(c);
}

/* ---- Hashing ---- */

/* Numbers that are not the usual ones follow, and the tag says that they do. */
void column_hash(const struct column *c, struct hash *h)
{
  bool usual = column_is_usual(c);
  hash_add_number(h, usual ? c->is->tag : c->is->tag | UINT64_C(1) << 32);
  for (int k = 0; k < COLUMN_NUMBERS && !usual; k++) {
    uint64_t bits;
    memcpy(&bits, c->number + k, sizeof bits);
    hash_add_number(h, bits);
  }
  for (int k = 0; k < c->shape.rank; k++) hash_add_number(h, (uint64_t)c->shape.dim[k]);
}

/* Padding is not content. */
void column_hash_row(const struct column *c, size_t row, struct hash *h)
{
  size_t length = column_length(c, row);
  if (c->length) hash_add_number(h, length);
  hash_add(h, column_row(c, row), length * c->is->size);
}
