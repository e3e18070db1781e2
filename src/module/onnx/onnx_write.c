/* A net as a graph of ONNX: part by part, each by the rule of its kind. */
#include <math.h>
#include <string.h>

#include "module/onnx/onnx.h"

enum { ATTRIBUTES = 6 };

/* ---- Nodes ---- */

/* "layer1.0.conv1/Conv_12": names of parts and parameters have no slash, so that no two names are equal. */
struct slice onnx_op(struct onnx_writer *w, const char *op, size_t inputs, const struct slice *input)
{
  struct onnx_model *m = w->m;
  struct onnx_node *all = onnx_grow(m, m->node, m->nodes, sizeof *all);
  struct onnx_node n = {.op = slice_of(op),
                        .input = onnx_new(m, inputs, sizeof *n.input),
                        .output = onnx_new(m, 1, sizeof *n.output),
                        .attribute = onnx_new(m, ATTRIBUTES, sizeof *n.attribute),
                        .inputs = inputs,
                        .outputs = 1,
                        .name = onnx_text(m, "%s/%s_%zu", w->part, op, m->nodes)};
  if (m->failed) return (struct slice){0};
  memcpy(n.input, input, inputs * sizeof *input);
  n.output[0] = n.name;
  m->node = all;
  m->node[m->nodes++] = n;
  return n.name;
}

static struct onnx_attribute *attribute(struct onnx_writer *w, const char *name, int64_t type)
{
  struct onnx_node *n = w->m->failed ? NULL : &w->m->node[w->m->nodes - 1];
  if (!n) return NULL;
  n->attribute[n->attributes] = (struct onnx_attribute){.name = slice_of(name), .type = type};
  return &n->attribute[n->attributes++];
}

void onnx_whole(struct onnx_writer *w, const char *name, int64_t v)
{
  struct onnx_attribute *a = attribute(w, name, ONNX_A_INT);
  if (a) a->whole = v;
}

void onnx_real(struct onnx_writer *w, const char *name, double v)
{
  struct onnx_attribute *a = attribute(w, name, ONNX_A_FLOAT);
  if (a) a->real = (float)v;
}

void onnx_list(struct onnx_writer *w, const char *name, size_t n, const int64_t *v)
{
  int64_t *list = onnx_new(w->m, n, sizeof *list);
  struct onnx_attribute *a = attribute(w, name, ONNX_A_INTS);
  if (!a) return;
  memcpy(list, v, n * sizeof *v);
  a->list = list;
  a->n = n;
}

/* ---- Tensors ---- */

static void add_tensor(struct onnx_model *m, struct onnx_tensor t)
{
  struct onnx_tensor *all = onnx_grow(m, m->tensor, m->tensors, sizeof *all);
  if (!all) return;
  m->tensor = all;
  m->tensor[m->tensors++] = t;
}

struct slice onnx_param(const struct module *m, struct onnx_writer *w, size_t k)
{
  return slice_of(w->net->param[m->first_param + k].name);
}

static struct slice constant(struct onnx_writer *w, enum onnx_type type, r4_shape shape, size_t bytes,
                             void *data)
{
  struct onnx_tensor t = {.name = onnx_text(w->m, "%s/constant_%zu", w->part, w->m->tensors),
                          .type = type,
                          .shape = shape,
                          .data = {data, bytes}};
  add_tensor(w->m, t);
  return t.name;
}

struct slice onnx_numbers(struct onnx_writer *w, r4_shape shape, const double *v)
{
  size_t n = (size_t)r4_shape_count(shape);
  float *data = onnx_new(w->m, n, sizeof *data);
  for (size_t k = 0; data && k < n; k++) data[k] = (float)v[k];
  return constant(w, ONNX_FLOAT, shape, n * sizeof *data, data);
}

struct slice onnx_number_of(struct onnx_writer *w, double v)
{
  return onnx_numbers(w, R4_SCALAR, &v);
}

struct slice onnx_wholes(struct onnx_writer *w, size_t n, const int64_t *v)
{
  int64_t *data = onnx_new(w->m, n, sizeof *data);
  if (data) memcpy(data, v, n * sizeof *v);
  return constant(w, ONNX_INT64, R4_SHAPE((int64_t)n), n * sizeof *data, data);
}

/* ---- What several kinds do ---- */

struct slice onnx_as_it_is(const struct module *m, struct onnx_writer *w, struct slice x)
{
  (void)m, (void)w;
  return x;
}

static struct slice cast(struct onnx_writer *w, struct slice x, enum onnx_type to)
{
  struct slice y = ONNX_OP(w, "Cast", x);
  onnx_whole(w, "to", to);
  return y;
}

/* Ids become real numbers where they are not looked up. */
static struct slice as_real(struct onnx_writer *w, struct slice x)
{
  return w->ids.n && slice_equal(x, w->ids) ? cast(w, x, ONNX_FLOAT) : x;
}

struct slice onnx_sum(struct onnx_writer *w, struct slice a, struct slice b)
{
  struct slice x = as_real(w, a), y = as_real(w, b);
  return ONNX_OP(w, "Add", x, y);
}

struct slice onnx_of_tokens(const struct module *m, struct onnx_writer *w, struct slice x, size_t k,
                            bool bias)
{
  struct slice weight = ONNX_OP(w, "Transpose", onnx_param(m, w, k));
  ONNX_LIST(w, "perm", 1, 0);
  struct slice y = ONNX_OP(w, "MatMul", x, weight);
  return bias ? ONNX_OP(w, "Add", y, onnx_param(m, w, k + 1)) : y;
}

void onnx_window(const struct module *m, struct onnx_writer *w, struct windows of)
{
  r4_window win = module_window(m, of);
  ONNX_LIST(w, "kernel_shape", of.kernel, of.kernel);
  ONNX_LIST(w, "strides", of.stride, of.stride);
  ONNX_LIST(w, "pads", win.pad[0], win.pad[2], win.pad[1], win.pad[3]);
}

/* The features of a flattened image in r4's order: channels last. */
static struct slice channels_last(struct onnx_writer *w, struct slice x, r4_shape image)
{
  struct slice shape = ONNX_WHOLES(w, 0, image.dim[2], image.dim[0], image.dim[1]);
  struct slice y = ONNX_OP(w, "Reshape", x, shape);
  y = ONNX_OP(w, "Transpose", y);
  ONNX_LIST(w, "perm", 0, 2, 3, 1);
  y = ONNX_OP(w, "Flatten", y);
  onnx_whole(w, "axis", 1);
  return y;
}

struct slice onnx_ids(const struct module *m, struct onnx_writer *w, struct slice x)
{
  if (slice_equal(x, w->ids)) return x;
  return cast(w, m->image.rank ? channels_last(w, x, m->image) : x, ONNX_INT64);
}

static void add_value(struct onnx_model *m, struct onnx_value **list, size_t *n, struct onnx_value v)
{
  struct onnx_value *all = onnx_grow(m, *list, *n, sizeof *all);
  if (!all) return;
  *list = all;
  (*list)[(*n)++] = v;
}

static struct onnx_value batch_of(const char *name, enum onnx_type type, r4_shape one)
{
  struct onnx_value v = {.name = slice_of(name), .type = type, .shape = {.rank = one.rank + 1}};
  v.dim_name[0] = slice_of("batch");
  memcpy(v.shape.dim + 1, one.dim, (size_t)one.rank * sizeof *one.dim);
  return v;
}

struct slice onnx_mask(struct onnx_writer *w)
{
  if (w->mask.n) return w->mask;
  struct onnx_value v = batch_of("attention_mask", ONNX_INT64, R4_SHAPE(r4_shape_count(w->net->input)));
  add_value(w->m, &w->m->input, &w->m->inputs, v);
  return w->mask = cast(w, v.name, ONNX_FLOAT);
}

struct slice onnx_turned(struct onnx_writer *w, struct slice x)
{
  struct slice y = ONNX_OP(w, "Transpose", x);
  ONNX_LIST(w, "perm", 0, 2, 1);
  return y;
}

struct slice onnx_of_there(struct onnx_writer *w, struct slice x)
{
  struct slice mask = onnx_mask(w);
  return ONNX_OP(w, "Mul", x, ONNX_OP(w, "Unsqueeze", mask, ONNX_WHOLES(w, 2)));
}

/* ---- Nets ---- */

static struct slice write_part(const struct module *m, struct onnx_writer *w, struct slice x)
{
  w->part = m->name;
  if (!m->kind->onnx) {
    w->status = R4_E_ARGUMENT;
    return x;
  }
  bool passes_on = m->kind->takes_ids || m->branches || m->kind->onnx == onnx_as_it_is;
  return m->kind->onnx(m, w, passes_on ? x : as_real(w, x));
}

struct slice onnx_row(const struct row *row, struct onnx_writer *w, struct slice x)
{
  for (size_t k = 0; k < row->n && !w->status; k++) x = write_part(&row->part[k], w, x);
  return x;
}

static bool takes_ids(const struct row *row)
{
  for (size_t k = 0; k < row->n; k++) {
    if (row->part[k].kind->takes_ids) return true;
    for (size_t i = 0; i < row->part[k].branches; i++)
      if (takes_ids(&row->part[k].branch[i])) return true;
  }
  return false;
}

static struct slice add_input(struct onnx_writer *w)
{
  r4_shape one = w->net->input;
  bool ids = takes_ids(w->net->row);
  if (one.rank == 3) one = R4_SHAPE(one.dim[2], one.dim[0], one.dim[1]);
  struct onnx_value v = batch_of(ids ? "input_ids" : "input", ids ? ONNX_INT64 : ONNX_FLOAT, one);
  if (ids) w->ids = v.name;
  add_value(w->m, &w->m->input, &w->m->inputs, v);
  return v.name;
}

/* The result of the last node is called "logits"; what is not that of a node passes through one. */
static void add_output(struct onnx_writer *w, struct slice y)
{
  const struct module *last = &w->net->row->part[w->net->row->n - 1];
  struct onnx_model *m = w->m;
  w->part = last->name;
  if (last->out_image.rank == 3) y = channels_last(w, y, last->out_image);
  y = as_real(w, y);
  bool is_last = !m->failed && m->nodes && slice_equal(m->node[m->nodes - 1].output[0], y);
  if (!is_last) ONNX_OP(w, "Identity", y);
  struct onnx_value v = batch_of("logits", ONNX_FLOAT, last->out);
  if (!m->failed) m->node[m->nodes - 1].output[0] = v.name;
  add_value(m, &m->output, &m->outputs, v);
}

static void add_params(struct onnx_model *m, const r4_net *n, const float *file)
{
  for (size_t k = 0; k < n->params; k++) {
    const struct param *p = &n->param[k];
    struct onnx_tensor t = {.name = slice_of(p->name), .type = ONNX_FLOAT, .shape = p->file_shape};
    if (file)
      t.data =
        (struct slice){(const char *)(file + p->offset), (size_t)r4_shape_count(p->shape) * sizeof *file};
    add_tensor(m, t);
  }
}

r4_status onnx_of_net(struct onnx_model *m, const r4_net *n, const float *file, r4_error *e)
{
  *m = (struct onnx_model){.version = ONNX_VERSION,
                           .opset = ONNX_OPSET,
                           .producer = slice_of("r4"),
                           .producer_version = slice_of(R4_VERSION)};
  struct onnx_writer w = {.m = m, .net = n, .part = "net"};
  add_params(m, n, file);
  struct slice y = onnx_row(n->row, &w, add_input(&w));
  if (!w.status) add_output(&w, y);
  r4_status s = w.status;
  if (s) r4_fail(e, s, "part %s: its kind cannot be written as ONNX", w.part);
  if (m->failed) s = r4_fail(e, R4_E_MEMORY, "net: out of memory");
  if (s) onnx_free(m);
  return s;
}
