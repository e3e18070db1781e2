/* Models of ONNX in memory, and as bytes. Numbers of fields are those of onnx.proto. */
#include "tensor/foreign/onnx_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/file.h"
#include "base/mem.h"
#include "tensor/array.h"

/* ---- Memory ---- */

struct onnx_room {
  struct onnx_room *next;
  size_t used, size;
  max_align_t data[];
};

enum { ROOM = 1 << 16 };

void *onnx_new(struct onnx_model *m, size_t count, size_t size)
{
  size_t bytes;
  bool fits = !__builtin_mul_overflow(count, size, &bytes) && bytes < SIZE_MAX / 2;
  bytes = (bytes + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
  struct onnx_room *r = m->room;
  if (fits && (!r || bytes > r->size - r->used)) {
    size_t all = bytes > ROOM ? bytes : ROOM;
    r = r4_mem_new(1, sizeof *r + all);
    if (r) *r = (struct onnx_room){.next = m->room, .size = all}, m->room = r;
  }
  m->failed |= !fits || !r;
  if (!fits || !r) return NULL;
  r->used += bytes;
  return (char *)r->data + r->used - bytes;
}

/* Lists double in a room that gives nothing back, so that all of them together take twice what the last one does. */
void *onnx_grow(struct onnx_model *m, void *list, size_t n, size_t size)
{
  if (n & (n - 1)) return list; /* not 0, and no power of two: there is room */
  void *more = onnx_new(m, n ? 2 * n : 1, size);
  if (more && n) memcpy(more, list, n * size);
  return more;
}

struct slice onnx_text(struct onnx_model *m, const char *format, ...)
{
  char text[4096]; /* a path fits */
  va_list args;
  va_start(args, format);
  int n = c_locale_vprint(text, sizeof text, format, args);
  va_end(args);
  size_t size = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
  char *s = onnx_new(m, size + 1, 1);
  if (s) memcpy(s, text, size);
  return s ? (struct slice){s, size} : (struct slice){0};
}

void onnx_free(struct onnx_model *m)
{
  for (struct onnx_room *r = m->room; r;) {
    struct onnx_room *next = r->next;
    r4_mem_free(r);
    r = next;
  }
  for (size_t k = 0; k < m->files; k++) r4_mem_free(m->file[k].data);
  *m = (struct onnx_model){0};
}

/* ---- Writing ---- */

static void write_tensor(struct wire *w, unsigned field, const struct onnx_tensor *t)
{
  size_t opened = wire_open(w, field);
  for (int k = 0; k < t->shape.rank; k++) wire_whole(w, 1, t->shape.dim[k]);
  wire_whole(w, 2, t->type);
  wire_text(w, 8, t->name);
  wire_bytes(w, 9, t->data.s, t->data.n);
  wire_close(w, opened);
}

static void write_attribute(struct wire *w, const struct onnx_attribute *a)
{
  size_t opened = wire_open(w, 5);
  wire_text(w, 1, a->name);
  if (a->type == ONNX_A_FLOAT) wire_float(w, 2, a->real);
  if (a->type == ONNX_A_INT) wire_whole(w, 3, a->whole);
  if (a->type == ONNX_A_TEXT) wire_bytes(w, 4, a->text.s, a->text.n);
  if (a->type == ONNX_A_TENSOR) write_tensor(w, 5, a->tensor);
  for (size_t k = 0; a->type == ONNX_A_INTS && k < a->n; k++) wire_whole(w, 8, a->list[k]);
  wire_whole(w, 20, a->type);
  wire_close(w, opened);
}

/* An input that is left out has an empty name. */
static void write_node(struct wire *w, const struct onnx_node *n)
{
  size_t opened = wire_open(w, 1);
  for (size_t k = 0; k < n->inputs; k++) wire_bytes(w, 1, n->input[k].s, n->input[k].n);
  for (size_t k = 0; k < n->outputs; k++) wire_bytes(w, 2, n->output[k].s, n->output[k].n);
  wire_text(w, 3, n->name);
  wire_text(w, 4, n->op);
  for (size_t k = 0; k < n->attributes; k++) write_attribute(w, &n->attribute[k]);
  wire_text(w, 7, n->domain);
  wire_close(w, opened);
}

static void write_value(struct wire *w, unsigned field, const struct onnx_value *v)
{
  size_t opened = wire_open(w, field);
  wire_text(w, 1, v->name);
  size_t type = wire_open(w, 2), tensor = wire_open(w, 1);
  wire_whole(w, 1, v->type);
  size_t shape = wire_open(w, 2);
  for (int k = 0; k < v->shape.rank; k++) {
    size_t dim = wire_open(w, 1);
    if (v->shape.dim[k]) wire_whole(w, 1, v->shape.dim[k]);
    wire_text(w, 2, v->dim_name[k]);
    wire_close(w, dim);
  }
  wire_close(w, shape);
  wire_close(w, tensor);
  wire_close(w, type);
  wire_close(w, opened);
}

static void write_graph(struct wire *w, const struct onnx_model *m)
{
  size_t opened = wire_open(w, 7);
  for (size_t k = 0; k < m->nodes; k++) write_node(w, &m->node[k]);
  wire_text(w, 2, slice_of("net"));
  for (size_t k = 0; k < m->tensors; k++) write_tensor(w, 5, &m->tensor[k]);
  for (size_t k = 0; k < m->inputs; k++) write_value(w, 11, &m->input[k]);
  for (size_t k = 0; k < m->outputs; k++) write_value(w, 12, &m->output[k]);
  wire_close(w, opened);
}

static void write_model(struct wire *w, const struct onnx_model *m)
{
  wire_whole(w, 1, m->version);
  wire_text(w, 2, m->producer);
  wire_text(w, 3, m->producer_version);
  write_graph(w, m);
  size_t opset = wire_open(w, 8);
  wire_whole(w, 2, m->opset);
  wire_close(w, opset);
  for (size_t k = 0; k < m->notes; k++) {
    size_t note = wire_open(w, 14);
    wire_text(w, 1, m->note[k].key);
    wire_text(w, 2, m->note[k].value);
    wire_close(w, note);
  }
}

r4_status onnx_write(const char *path, const struct onnx_model *m, r4_error *e)
{
  struct wire w = {.failed = m->failed};
  write_model(&w, m);
  r4_status s = R4_OK;
  if (w.failed)
    s = r4_fail(e, R4_E_MEMORY, "%s: out of memory", path);
  else if (w.size > INT32_MAX)
    s = r4_fail(e, R4_E_SHAPE, "%s: would have %zu bytes, ONNX files have less than 2 GB", path, w.size);
  else
    s = file_write(path, w.data, w.size, e);
  r4_mem_free(w.data);
  return s;
}

/* ---- Asking ---- */

const struct onnx_attribute *onnx_attribute(const struct onnx_node *n, const char *name)
{
  for (size_t k = 0; k < n->attributes; k++)
    if (slice_is(n->attribute[k].name, name)) return &n->attribute[k];
  return NULL;
}

const struct onnx_note *onnx_note(const struct onnx_model *m, const char *key)
{
  for (size_t k = 0; k < m->notes; k++)
    if (slice_is(m->note[k].key, key)) return &m->note[k];
  return NULL;
}

static size_t width_of(int64_t type)
{
  static const struct {
    enum onnx_type type;
    size_t width;
  } known[] = {{ONNX_FLOAT, 4},  {ONNX_INT32, 4},   {ONNX_INT64, 8},
               {ONNX_DOUBLE, 8}, {ONNX_FLOAT16, 2}, {ONNX_BFLOAT16, 2}};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (known[k].type == type) return known[k].width;
  return 0;
}

bool onnx_count(const struct onnx_tensor *t, size_t *n)
{
  size_t width = width_of(t->type), bytes = width;
  for (int k = 0; k < t->shape.rank; k++)
    if (__builtin_mul_overflow(bytes, (size_t)t->shape.dim[k], &bytes)) return false;
  *n = width ? bytes / width : 0;
  return width && bytes == t->data.n;
}

double onnx_number(const struct onnx_tensor *t, size_t k)
{
  size_t width = width_of(t->type);
  const char *at = t->data.s + k * width;
  uint16_t half;
  uint32_t bits;
  float single;
  double real;
  int32_t small;
  int64_t whole;
  switch (t->type) {
  case ONNX_FLOAT:
    return memcpy(&single, at, width), (double)single;
  case ONNX_DOUBLE:
    return memcpy(&real, at, width), real;
  case ONNX_INT32:
    return memcpy(&small, at, width), (double)small;
  case ONNX_INT64:
    return memcpy(&whole, at, width), (double)whole;
  case ONNX_FLOAT16:
    return memcpy(&half, at, width), (double)array_half(half);
  default: /* ONNX_BFLOAT16: the upper half of a binary32 */
    memcpy(&half, at, width);
    bits = (uint32_t)half << 16;
    return memcpy(&single, &bits, sizeof single), (double)single;
  }
}

int64_t onnx_integer(const struct onnx_tensor *t, size_t k)
{
  const double most = 9007199254740992; /* doubles have all whole numbers up to it */
  double v = onnx_number(t, k);
  if (!(v > -most)) v = -most; /* NaN, too */
  return (int64_t)(v < most ? v : most);
}
