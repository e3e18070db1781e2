#include "data/known/ham_split.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/format/folder.h"

/* A photograph, by the name of its file without folder and ending. */
struct photograph {
  const char *name;
  size_t length, example;
  bool told; /* the table has had it */
};

struct own_split {
  struct listing table; /* first: rows are handed to add_row with it */
  r4_data *d;
  struct photograph *photograph; /* sorted by name */
};

static struct photograph photograph_of(const r4_data *d, size_t example)
{
  const char *file = d->files->name[d->record[example].file], *slash = strrchr(file, '/');
  const char *name = slash ? slash + 1 : file, *dot = strrchr(name, '.');
  return (struct photograph){name, dot ? (size_t)(dot - name) : strlen(name), example, false};
}

static int compare(const void *a, const void *b)
{
  const struct photograph *p = a, *q = b;
  size_t common = p->length < q->length ? p->length : q->length;
  int order = memcmp(p->name, q->name, common);
  return order ? order : (p->length > q->length) - (p->length < q->length);
}

enum { SPLIT, IMAGE, COLUMNS };

static const struct table_column columns[COLUMNS] = {{"split", false}, {"image_id", false}};

static r4_status place_row(struct listing *l, struct mask_index *masks, const struct csv *c, const int *at,
                           r4_error *e)
{
  (void)masks;
  struct own_split *own = (struct own_split *)l;
  const char *name = c->field[at[IMAGE]];
  r4_split split;
  struct photograph key = {.name = name, .length = strlen(name)};
  struct photograph *found = bsearch(&key, own->photograph, own->d->n, sizeof key, compare);
  if (!found)
    return r4_fail(e, R4_E_PARSE, "%s:%zu: image %s is not in the metadata", c->file, c->line, name);
  if (found->told) return r4_fail(e, R4_E_PARSE, "%s:%zu: image %s occurs twice", c->file, c->line, name);
  if (folder_read_split(c->field[at[SPLIT]], &split))
    return r4_fail(e, R4_E_PARSE, "%s:%zu: split '%s', expected train, val or test", c->file, c->line,
                   c->field[at[SPLIT]]);
  found->told = true;
  own->d->record[found->example].split = (uint8_t)split;
  return R4_OK;
}

static r4_status check_all_placed(const struct own_split *own, r4_error *e)
{
  for (size_t k = 0; k < own->d->n; k++) {
    const struct photograph *p = own->photograph + k;
    if (!p->told)
      return r4_fail(e, R4_E_PARSE, "%s/%s: image %.*s is missing, which the metadata has", own->table.folder,
                     own->table.table, (int)p->length, p->name);
  }
  return R4_OK;
}

static r4_status place_all(struct own_split *own, r4_error *e)
{
  for (size_t i = 0; i < own->d->n; i++) own->photograph[i] = photograph_of(own->d, i);
  qsort(own->photograph, own->d->n, sizeof *own->photograph, compare);
  r4_status s = folder_list_table(&own->table, NULL, COLUMNS, columns, place_row, e);
  return s ? s : check_all_placed(own, e);
}

r4_data *ham_own_split(const r4_data *all, const char *folder, r4_error *e)
{
  struct own_split own = {.table = {.folder = folder, .table = "dermamnist_split.csv"},
                          .d = data_derive(all, e),
                          .photograph = mem_new(all->n, sizeof *own.photograph, "its split", e)};
  r4_status s = own.d ? R4_OK : R4_E_MEMORY;
  if (!s && !own.photograph) s = R4_E_MEMORY;
  if (!s) s = place_all(&own, e);
  r4_mem_free(own.photograph);
  if (!s) return own.d;
  r4_data_free(own.d);
  return NULL;
}
