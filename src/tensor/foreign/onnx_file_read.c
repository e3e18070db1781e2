/* ONNX from files, which may be anyone's: nothing is believed, and lists have limits before they have memory. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "tensor/foreign/onnx_file.h"

enum {
  MOST_NODES = 1 << 16,
  MOST_TENSORS = 1 << 16,
  MOST_OTHERS = 1 << 12, /* inputs and outputs of a node or a graph, attributes, notes */
  MOST_LIST = 1 << 20    /* numbers of an attribute, or of a tensor that has them one by one */
};
static const size_t most_file = INT32_MAX, most_beside = (size_t)1 << 40;

/* What is read from, for messages. */
struct reading {
  struct onnx_model *m;
  const char *path;
  r4_error *e;
};

static r4_status damaged(const struct reading *r, const char *what)
{
  return r4_fail(r->e, R4_E_PARSE, "%s: not ONNX, or damaged: %s", r->path, what);
}

static r4_status no_memory(const struct reading *r)
{
  return r4_fail(r->e, R4_E_MEMORY, "%s: out of memory", r->path);
}

/* Memory for all fields of one number. */
static r4_status list_new(const struct reading *r, struct slice message, uint32_t number, size_t most,
                          size_t size, const char *what, void *to)
{
  char text[80];
  size_t n = wire_count(message, number);
  snprintf(text, sizeof text, "more than %zu %s", most, what);
  if (n > most) return damaged(r, text);
  void *list = n ? onnx_new(r->m, n, size) : NULL;
  memcpy(to, &list, sizeof list);
  return n && !list ? no_memory(r) : R4_OK;
}

/* Calls read for each field of a message; whether all of it was understood. */
static r4_status each(const struct reading *r, struct slice message, const char *what,
                      r4_status (*read)(const struct reading *r, const struct field *f, void *to), void *to)
{
  r4_status s = R4_OK;
  struct field f;
  while (!s && wire_next(&message, &f)) s = read(r, &f, to);
  return s || !message.n ? s : damaged(r, what);
}

/* ---- Lists of numbers, packed or one by one ---- */

static r4_status read_wholes(const struct reading *r, struct slice message, uint32_t number,
                             const int64_t **list, size_t *n)
{
  size_t most = 0;
  struct field f;
  for (struct slice at = message; wire_next(&at, &f);)
    if (f.number == number) most += f.type == WIRE_BYTES ? f.bytes.n : 1;
  *n = 0;
  *list = NULL;
  if (!most) return R4_OK;
  if (most > MOST_LIST) return damaged(r, "a list of more than a million numbers");
  int64_t *to = onnx_new(r->m, most, sizeof *to);
  if (!to) return no_memory(r);
  *list = to;
  uint64_t v;
  while (wire_next(&message, &f)) {
    if (f.number != number) continue;
    if (f.type == WIRE_VARINT) to[(*n)++] = (int64_t)f.value;
    while (f.type == WIRE_BYTES && wire_varint(&f.bytes, &v)) to[(*n)++] = (int64_t)v;
    if (f.bytes.n) return damaged(r, "a list of numbers is cut off");
  }
  return R4_OK;
}

/* ---- Tensors ---- */

static r4_status read_place(const struct reading *r, const struct field *f, void *to)
{
  struct slice *pair = to;
  (void)r;
  if (f->type == WIRE_BYTES && (f->number == 1 || f->number == 2)) pair[f->number - 1] = f->bytes;
  return R4_OK;
}

static bool read_digits(struct slice s, uint64_t *to)
{
  *to = 0;
  for (size_t k = 0; k < s.n; k++)
    if (s.s[k] < '0' || s.s[k] > '9' || __builtin_mul_overflow(*to, (uint64_t)10, to) ||
        __builtin_add_overflow(*to, (uint64_t)(s.s[k] - '0'), to))
      return false;
  return s.n > 0;
}

/* "location", "offset", "length" of data in another file */
static r4_status read_external(const struct reading *r, struct slice entry, struct onnx_tensor *t)
{
  struct slice pair[2] = {{0}, {0}};
  r4_status s = each(r, entry, "where the data of a tensor are", read_place, pair);
  bool ok = true;
  if (slice_is(pair[0], "location")) t->file = pair[1];
  if (slice_is(pair[0], "offset")) ok = read_digits(pair[1], &t->offset);
  if (slice_is(pair[0], "length")) ok = read_digits(pair[1], &t->length);
  return s || ok ? s : damaged(r, "the place of a tensor's data is not a number");
}

static r4_status read_tensor_field(const struct reading *r, const struct field *f, void *to)
{
  struct onnx_tensor *t = to;
  bool bytes = f->type == WIRE_BYTES;
  if (f->number == 2 && f->type == WIRE_VARINT) t->type = (int64_t)f->value;
  if (f->number == 8 && bytes) t->name = f->bytes;
  if ((f->number == 4 || f->number == 9 || f->number == 10) && bytes) t->data = f->bytes;
  return f->number == 13 && bytes ? read_external(r, f->bytes, t) : R4_OK;
}

/* Whole numbers may stand one by one. */
static r4_status read_listed(const struct reading *r, struct slice message, struct onnx_tensor *t)
{
  const int64_t *list;
  size_t n;
  bool small = t->type == ONNX_INT32 || t->type == ONNX_BOOL;
  if (t->data.n || (t->type != ONNX_INT64 && !small)) return R4_OK;
  r4_status s = read_wholes(r, message, small ? 5 : 7, &list, &n);
  if (s || !n) return s;
  t->data = (struct slice){(const char *)list, n * sizeof *list};
  int32_t *half = small ? onnx_new(r->m, n, sizeof *half) : NULL;
  if (!small) return R4_OK;
  if (!half) return no_memory(r);
  for (size_t k = 0; k < n; k++) half[k] = (int32_t)list[k];
  t->data = (struct slice){(const char *)half, n * sizeof *half};
  return R4_OK;
}

static r4_status read_tensor(const struct reading *r, struct slice message, struct onnx_tensor *t)
{
  const int64_t *dim;
  size_t rank;
  r4_status s = each(r, message, "a tensor is cut off", read_tensor_field, t);
  if (!s) s = read_wholes(r, message, 1, &dim, &rank);
  if (s) return s;
  if (rank > R4_MAX_RANK) return damaged(r, "a tensor of more than 6 dimensions");
  t->shape.rank = (int)rank;
  for (size_t k = 0; k < rank; k++) {
    if (dim[k] < 0) return damaged(r, "a tensor of a dimension below 0");
    t->shape.dim[k] = dim[k];
  }
  return read_listed(r, message, t);
}

/* ---- Nodes ---- */

static r4_status read_attribute_field(const struct reading *r, const struct field *f, void *to)
{
  struct onnx_attribute *a = to;
  uint32_t bits = (uint32_t)f->value;
  if (f->number == 1 && f->type == WIRE_BYTES) a->name = f->bytes;
  if (f->number == 2 && f->type == WIRE_4) memcpy(&a->real, &bits, sizeof a->real);
  if (f->number == 3 && f->type == WIRE_VARINT) a->whole = (int64_t)f->value;
  if (f->number == 4 && f->type == WIRE_BYTES) a->text = f->bytes;
  if (f->number == 20 && f->type == WIRE_VARINT) a->type = (int64_t)f->value;
  if (f->number != 5 || f->type != WIRE_BYTES) return R4_OK;
  struct onnx_tensor *t = onnx_new(r->m, 1, sizeof *t);
  a->tensor = t;
  return t ? read_tensor(r, f->bytes, t) : no_memory(r);
}

static r4_status read_attribute(const struct reading *r, struct slice message, struct onnx_attribute *a)
{
  r4_status s = each(r, message, "an attribute is cut off", read_attribute_field, a);
  return s ? s : read_wholes(r, message, 8, &a->list, &a->n);
}

static r4_status read_node_field(const struct reading *r, const struct field *f, void *to)
{
  struct onnx_node *n = to;
  if (f->type != WIRE_BYTES) return f->number > 7 ? R4_OK : damaged(r, "a node has a number for a name");
  switch (f->number) {
  case 1:
    n->input[n->inputs++] = f->bytes;
    break;
  case 2:
    n->output[n->outputs++] = f->bytes;
    break;
  case 3:
    n->name = f->bytes;
    break;
  case 4:
    n->op = f->bytes;
    break;
  case 5:
    return read_attribute(r, f->bytes, &n->attribute[n->attributes++]);
  case 7:
    n->domain = f->bytes;
    break;
  default:
    break;
  }
  return R4_OK;
}

static r4_status read_node(const struct reading *r, struct slice message, struct onnx_node *n)
{
  r4_status s = list_new(r, message, 1, MOST_OTHERS, sizeof *n->input, "inputs of a node", &n->input);
  if (!s) s = list_new(r, message, 2, MOST_OTHERS, sizeof *n->output, "outputs of a node", &n->output);
  if (!s) s = list_new(r, message, 5, MOST_OTHERS, sizeof *n->attribute, "attributes", &n->attribute);
  return s ? s : each(r, message, "a node is cut off", read_node_field, n);
}

/* ---- Inputs and outputs ---- */

static r4_status read_dim(const struct reading *r, const struct field *f, void *to)
{
  struct onnx_value *v = to;
  int k = v->shape.rank - 1;
  if (f->number == 1 && f->type == WIRE_VARINT) v->shape.dim[k] = (int64_t)f->value;
  if (f->number == 2 && f->type == WIRE_BYTES) v->dim_name[k] = f->bytes;
  return v->shape.dim[k] < 0 ? damaged(r, "a dimension below 0") : R4_OK;
}

static r4_status read_shape(const struct reading *r, const struct field *f, void *to)
{
  struct onnx_value *v = to;
  if (f->number != 1 || f->type != WIRE_BYTES) return R4_OK;
  if (v->shape.rank == R4_MAX_RANK) return damaged(r, "an input or output of more than 6 dimensions");
  v->shape.rank++;
  return each(r, f->bytes, "a dimension is cut off", read_dim, v);
}

static r4_status read_tensor_type(const struct reading *r, const struct field *f, void *to)
{
  struct onnx_value *v = to;
  if (f->number == 1 && f->type == WIRE_VARINT) v->type = (int64_t)f->value;
  if (f->number != 2 || f->type != WIRE_BYTES) return R4_OK;
  v->shape = (r4_shape){0};
  return each(r, f->bytes, "a shape is cut off", read_shape, v);
}

static r4_status read_type(const struct reading *r, const struct field *f, void *to)
{
  bool is_tensor = f->number == 1 && f->type == WIRE_BYTES;
  return is_tensor ? each(r, f->bytes, "a type is cut off", read_tensor_type, to) : R4_OK;
}

static r4_status read_value(const struct reading *r, const struct field *f, void *to)
{
  struct onnx_value *v = to;
  if (f->type != WIRE_BYTES) return R4_OK;
  if (f->number == 1) v->name = f->bytes;
  return f->number == 2 ? each(r, f->bytes, "a type is cut off", read_type, v) : R4_OK;
}

/* ---- The graph and the model ---- */

static r4_status read_graph_field(const struct reading *r, const struct field *f, void *to)
{
  struct onnx_model *m = to;
  if (f->type != WIRE_BYTES) return R4_OK;
  switch (f->number) {
  case 1:
    return read_node(r, f->bytes, &m->node[m->nodes++]);
  case 5:
    return read_tensor(r, f->bytes, &m->tensor[m->tensors++]);
  case 11:
    return each(r, f->bytes, "an input is cut off", read_value, &m->input[m->inputs++]);
  case 12:
    return each(r, f->bytes, "an output is cut off", read_value, &m->output[m->outputs++]);
  default:
    return R4_OK;
  }
}

static r4_status read_graph(const struct reading *r, struct slice graph)
{
  struct onnx_model *m = r->m;
  if (m->node || m->tensor || m->input || m->output) return damaged(r, "more than one graph");
  r4_status s = list_new(r, graph, 1, MOST_NODES, sizeof *m->node, "nodes", &m->node);
  if (!s) s = list_new(r, graph, 5, MOST_TENSORS, sizeof *m->tensor, "tensors", &m->tensor);
  if (!s) s = list_new(r, graph, 11, MOST_OTHERS, sizeof *m->input, "inputs", &m->input);
  if (!s) s = list_new(r, graph, 12, MOST_OTHERS, sizeof *m->output, "outputs", &m->output);
  return s ? s : each(r, graph, "the graph is cut off", read_graph_field, m);
}

static r4_status read_opset(const struct reading *r, struct slice message)
{
  struct slice domain = {0};
  int64_t version = 0;
  for (struct field f; wire_next(&message, &f);) {
    if (f.number == 1) domain = f.bytes;
    if (f.number == 2) version = (int64_t)f.value;
  }
  if (!domain.n || slice_is(domain, "ai.onnx")) r->m->opset = version;
  return message.n ? damaged(r, "a version of operators is cut off") : R4_OK;
}

static r4_status read_model_field(const struct reading *r, const struct field *f, void *to)
{
  struct onnx_model *m = to;
  if (f->number == 1 && f->type == WIRE_VARINT) m->version = (int64_t)f->value;
  if (f->type != WIRE_BYTES) return R4_OK;
  switch (f->number) {
  case 2:
    m->producer = f->bytes;
    return R4_OK;
  case 3:
    m->producer_version = f->bytes;
    return R4_OK;
  case 7:
    return read_graph(r, f->bytes);
  case 8:
    return read_opset(r, f->bytes);
  case 14:
    return each(r, f->bytes, "a note is cut off", read_place, &m->note[m->notes++]);
  default:
    return R4_OK;
  }
}

r4_status onnx_parse(struct onnx_model *m, const char *path, const void *data, size_t size, r4_error *e)
{
  const struct slice all = {data, size};
  *m = (struct onnx_model){.bytes = size};
  const struct reading r = {m, path, e};
  r4_status s = list_new(&r, all, 14, MOST_OTHERS, sizeof *m->note, "notes", &m->note);
  if (!s) s = each(&r, all, "it is truncated, or not ONNX", read_model_field, m);
  if (!s && !m->version) s = damaged(&r, "it does not state its ONNX version");
  if (s) onnx_free(m);
  return s;
}

/* ---- Files ---- */

/* The file of a name beside the model, read once. */
static r4_status open_beside(const struct reading *r, struct slice name, const struct onnx_file **to)
{
  struct onnx_model *m = r->m;
  for (size_t k = 1; k < m->files; k++)
    if (slice_equal(m->file[k].name, name)) return *to = &m->file[k], R4_OK;
  if (m->files == ONNX_FILES) return damaged(r, "its tensors are in more files than r4 reads");
  const char *slash = strrchr(r->path, '/');
  struct slice plain = onnx_text(m, "%.*s", (int)(name.n < 256 ? name.n : 256), name.s);
  struct slice path =
    onnx_text(m, "%.*s%.*s", slash ? (int)(slash + 1 - r->path) : 0, r->path, (int)plain.n, plain.s);
  if (!plain.s || !path.s) return no_memory(r);
  if (!plain.n || plain.n != name.n || file_leads_out(plain.s) || memchr(plain.s, '/', plain.n))
    return r4_fail(r->e, R4_E_PARSE, "%s: a tensor's data are in \"%.200s\", expected a file next to it",
                   r->path, plain.s);
  struct onnx_file *f = &m->file[m->files];
  r4_status s = file_read(path.s, most_beside, &f->data, &f->size, r->e);
  if (s) return s;
  f->name = name;
  m->files++;
  m->bytes += f->size;
  *to = f;
  return R4_OK;
}

static r4_status fetch(const struct reading *r, struct onnx_tensor *t)
{
  const struct onnx_file *f = NULL;
  r4_status s = t->file.n ? open_beside(r, t->file, &f) : R4_OK;
  if (s || !f) return s;
  if (t->offset > f->size || t->length > f->size - t->offset)
    return r4_fail(r->e, R4_E_PARSE, "%s: tensor \"%.*s\": its data are outside of %.*s", r->path,
                   t->name.n < 80 ? (int)t->name.n : 80, t->name.s, t->file.n < 80 ? (int)t->file.n : 80,
                   t->file.s);
  t->data =
    (struct slice){(const char *)f->data + t->offset, (size_t)(t->length ? t->length : f->size - t->offset)};
  return R4_OK;
}

r4_status onnx_read(struct onnx_model *m, const char *path, r4_error *e)
{
  uint8_t *data = NULL;
  size_t size = 0;
  *m = (struct onnx_model){0};
  r4_status s = file_read(path, most_file, &data, &size, e);
  if (s) return s;
  s = onnx_parse(m, path, data, size, e);
  if (s) {
    r4_mem_free(data);
    return s;
  }
  m->file[m->files++] = (struct onnx_file){.data = data, .size = size};
  const struct reading r = {m, path, e};
  for (size_t k = 0; !s && k < m->tensors; k++) s = fetch(&r, &m->tensor[k]);
  if (s) onnx_free(m);
  return s;
}
