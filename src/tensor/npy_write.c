/* Arrays as npy files. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tensor/escape.h"
#include "tensor/npy.h"

enum { ALIGNMENT = 64 };

static const char order_here = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';

static size_t characters(const char *text)
{
  size_t n = 0;
  for (uint32_t code; *text; n++) text += escape_get(text, &code);
  return n;
}

/* Text as rows of UCS-4, as many characters as the longest has; *width gets that number. */
static r4_status encode_text(const struct array *a, struct npy *n, size_t *width, r4_error *e)
{
  int64_t count = array_count(a);
  *width = 1;
  for (int64_t i = 0; i < count; i++) {
    size_t length = characters(array_text(a, i));
    if (length > *width) *width = length;
  }
  uint32_t *to = mem_new(count ? (size_t)count : 1, *width * sizeof *to, "texts", e);
  if (!to) return R4_E_MEMORY;
  n->body = n->owned = to;
  n->body_size = (size_t)count * *width * sizeof *to;
  for (int64_t i = 0; i < count; i++, to += *width) {
    const char *text = array_text(a, i);
    for (size_t k = 0; *text; k++) text += escape_get(text, &to[k]);
  }
  return R4_OK;
}

r4_status npy_encode(const struct array *a, struct npy *n, r4_error *e)
{
  static const char kind[] = {
    [ARRAY_BOOL] = 'b', [ARRAY_U8] = 'u',  [ARRAY_I8] = 'i',  [ARRAY_U16] = 'u', [ARRAY_I16] = 'i',
    [ARRAY_U32] = 'u',  [ARRAY_I32] = 'i', [ARRAY_U64] = 'u', [ARRAY_I64] = 'i', [ARRAY_F16] = 'f',
    [ARRAY_F32] = 'f',  [ARRAY_F64] = 'f', [ARRAY_TEXT] = 'U'};
  size_t width = a->width;
  *n = (struct npy){.body = a->data, .body_size = (size_t)array_count(a) * a->width};
  if (a->type == ARRAY_TEXT && encode_text(a, n, &width, e)) return R4_E_MEMORY;
  char *head = (char *)n->head;
  size_t at = 10;
  at += (size_t)snprintf(head + at, NPY_HEAD - at, "{'descr': '%c%c%zu', 'fortran_order': False, 'shape': (",
                         array_width(a->type) == 1 ? '|' : order_here, kind[a->type], width);
  for (int k = 0; k < a->rank; k++)
    at += (size_t)snprintf(head + at, NPY_HEAD - at, "%s%lld%s", k ? " " : "", (long long)a->dim[k],
                           k + 1 < a->rank || !k ? "," : "");
  at += (size_t)snprintf(head + at, NPY_HEAD - at, "), }");
  n->head_size = (at + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  memset(head + at, ' ', n->head_size - at);
  head[n->head_size - 1] = '\n';
  memcpy(head, "\x93NUMPY\1", 8);
  head[8] = (char)((n->head_size - 10) & 0xFF);
  head[9] = (char)((n->head_size - 10) >> 8);
  return R4_OK;
}

void npy_free(struct npy *n)
{
  r4_mem_free(n->owned);
  *n = (struct npy){0};
}
