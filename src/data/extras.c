#include "data/extras.h"

#include <stdatomic.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"

struct extras *extras_new(r4_error *e)
{
  struct extras *x = mem_new(1, sizeof *x, "further columns", e);
  if (x) x->column = mem_new(EXTRAS_MOST, sizeof *x->column, "further columns", e);
  if (x) x->references = 1;
  if (x && x->column) return x;
  r4_mem_free(x);
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
  char *kept = mem_copy(name, e);
  if (!kept) return R4_E_MEMORY;
  x->column[x->n++].name = kept;
  x->next = x->n;
  return R4_OK;
}

static r4_status make_room(struct extra *c, size_t bytes, r4_error *e)
{
  if (c->size + bytes > UINT32_MAX) return r4_fail(e, R4_E_PARSE, "column %s: has more than 4 GB", c->name);
  if (mem_more(&c->text, &c->room, c->size + bytes, sizeof *c->text, "further columns", e))
    return R4_E_MEMORY;
  if (mem_more(&c->at, &c->row_room, c->rows + 1, sizeof *c->at, "further columns", e)) return R4_E_MEMORY;
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
