#include "data/extras.h"

#include <stdatomic.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"

static r4_status no_memory(r4_error *e)
{
  return r4_fail(e, R4_E_MEMORY, "out of memory for further columns");
}

struct extras *extras_new(r4_error *e)
{
  struct extras *x = r4_mem_new(1, sizeof *x);
  if (x) x->column = r4_mem_new(EXTRAS_MOST, sizeof *x->column);
  if (x) x->references = 1;
  if (x && x->column) return x;
  r4_mem_free(x);
  no_memory(e);
  return NULL;
}

struct extras *extras_share(struct extras *x)
{
  if (x) atomic_fetch_add(&x->references, 1);
  return x;
}

void extras_drop(struct extras *x)
{
  if (!x || atomic_fetch_sub(&x->references, 1) > 1) return;
  for (size_t k = 0; k < x->n; k++) {
    r4_mem_free(x->column[k].name);
    r4_mem_free(x->column[k].text);
    r4_mem_free(x->column[k].at);
  }
  r4_mem_free(x->column);
  r4_mem_free(x);
}

r4_status extras_column(struct extras *x, const char *name, size_t *column, r4_error *e)
{
  for (size_t k = 0; k < x->n; k++) { /* from row to row they are asked for in the same order */
    *column = (x->next + k) % x->n;
    if (strcasecmp(x->column[*column].name, name)) continue;
    x->next = *column + 1;
    return R4_OK;
  }
  *column = *name ? x->n : EXTRAS_MOST;
  if (*column == EXTRAS_MOST) return R4_OK;
  struct text copy = {0};
  text_add(&copy, "%s", name);
  char *kept = text_take(&copy);
  if (!kept) return no_memory(e);
  x->column[x->n++].name = kept;
  x->next = x->n;
  return R4_OK;
}

static r4_status make_room(struct extra *c, size_t bytes, r4_error *e)
{
  if (c->size + bytes > UINT32_MAX) return r4_fail(e, R4_E_PARSE, "column %s: has more than 4 GB", c->name);
  if (c->size + bytes > c->room) {
    size_t room = 2 * (c->size + bytes);
    char *text = r4_mem_grow(c->text, room, 1);
    if (!text) return no_memory(e);
    c->text = text;
    c->room = room;
  }
  if (c->rows == c->row_room) {
    size_t rows = c->row_room ? 2 * c->row_room : 64;
    uint32_t *at = r4_mem_grow(c->at, rows, sizeof *at);
    if (!at) return no_memory(e);
    c->at = at;
    c->row_room = rows;
  }
  return R4_OK;
}

r4_status extras_set(struct extras *x, size_t column, size_t row, const char *value, r4_error *e)
{
  struct extra *c = x->column + column;
  r4_status s = R4_OK;
  while (!s && c->rows <= row) {
    const char *one = c->rows < row ? "" : value;
    size_t n = strlen(one) + 1;
    s = make_room(c, n, e);
    if (s) return s;
    memcpy(c->text + c->size, one, n);
    c->at[c->rows++] = (uint32_t)c->size;
    c->size += n;
  }
  return s;
}

const char *extras_at(const struct extras *x, size_t column, size_t row)
{
  const struct extra *c = x->column + column;
  return row < c->rows ? c->text + c->at[row] : "";
}
