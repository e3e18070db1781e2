/* Files of ONNX as if they were models of r4.
 *
 * A file that r4 has written says in its notes which net it is. Nobody is believed: the net is written once more, and
 * only if that gives the same graph, operator by operator, is the file taken by its word, whatever parts the net has.
 * All other graphs are read operator by operator. */
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "module/onnx/onnx.h"
#include "module/weights.h"

bool onnx_is_file(const char *path)
{
  static const char end[] = ".onnx";
  size_t n = path ? strlen(path) : 0, m = sizeof end - 1;
  return n > m && !strcmp(path + n - m, end);
}

/* ---- Files of r4's own ---- */

static bool same_list(const struct slice *a, size_t n, const struct slice *b, size_t m)
{
  for (size_t k = 0; n == m && k < n; k++)
    if (!slice_equal(a[k], b[k])) return false;
  return n == m;
}

/* All that r4 writes are numbers and lists of them. */
static bool same_attribute(const struct onnx_attribute *a, const struct onnx_attribute *b)
{
  return slice_equal(a->name, b->name) && a->type == b->type && !memcmp(&a->real, &b->real, sizeof a->real) &&
         a->whole == b->whole && a->n == b->n && (!a->n || !memcmp(a->list, b->list, a->n * sizeof *a->list));
}

static bool same_node(const struct onnx_node *a, const struct onnx_node *b)
{
  bool same = slice_equal(a->op, b->op) && slice_equal(a->domain, b->domain) &&
              a->attributes == b->attributes && same_list(a->input, a->inputs, b->input, b->inputs) &&
              same_list(a->output, a->outputs, b->output, b->outputs);
  for (size_t k = 0; same && k < a->attributes; k++)
    same = same_attribute(&a->attribute[k], &b->attribute[k]);
  return same;
}

/* The batch may have been fixed. */
static bool same_values(const struct onnx_value *a, size_t n, const struct onnx_value *b, size_t m)
{
  bool same = n == m;
  for (size_t k = 0; same && k < n; k++) {
    r4_shape mine = a[k].shape, other = b[k].shape;
    if (other.rank) other.dim[0] = mine.dim[0];
    same = slice_equal(a[k].name, b[k].name) && a[k].type == b[k].type && r4_shape_equal(mine, other);
  }
  return same;
}

static const struct onnx_tensor *find_tensor(const struct onnx_model *m, size_t likely, struct slice name)
{
  if (likely < m->tensors && slice_equal(m->tensor[likely].name, name)) return &m->tensor[likely];
  for (size_t k = 0; k < m->tensors; k++)
    if (slice_equal(m->tensor[k].name, name)) return &m->tensor[k];
  return NULL;
}

static bool same_kind(const struct onnx_tensor *a, const struct onnx_tensor *b)
{
  size_t count;
  return b && a->type == b->type && r4_shape_equal(a->shape, b->shape) && onnx_count(b, &count);
}

/* What the net asks for is there: no more than that is in the file can then be asked for. */
static bool has_weights(const struct onnx_model *file, const r4_net *n)
{
  bool has = true;
  for (size_t k = 0; has && k < n->params; k++) {
    const struct onnx_tensor mine = {.type = ONNX_FLOAT, .shape = n->param[k].file_shape};
    has = same_kind(&mine, find_tensor(file, k, slice_of(n->param[k].name)));
  }
  return has;
}

/* Those of mine behind the weights. */
static bool same_constants(const struct onnx_model *mine, size_t weights, const struct onnx_model *file)
{
  bool same = true;
  for (size_t k = weights; same && k < mine->tensors; k++) {
    const struct onnx_tensor *a = &mine->tensor[k], *b = find_tensor(file, k, a->name);
    same = same_kind(a, b) && slice_equal(a->data, b->data);
  }
  return same;
}

static bool same_graph(const struct onnx_model *mine, size_t weights, const struct onnx_model *file)
{
  bool same = mine->opset == file->opset && mine->nodes == file->nodes &&
              same_values(mine->input, mine->inputs, file->input, file->inputs) &&
              same_values(mine->output, mine->outputs, file->output, file->outputs);
  for (size_t k = 0; same && k < mine->nodes; k++) same = same_node(&mine->node[k], &file->node[k]);
  return same && same_constants(mine, weights, file);
}

static char *note_text(const struct onnx_model *m, const char *key)
{
  const struct onnx_note *n = onnx_note(m, key);
  struct text t = {0};
  if (n) text_add(&t, "%.*s", n->value.n < INT32_MAX ? (int)n->value.n : 0, n->value.s);
  return n ? text_take(&t) : NULL;
}

/* The net that the notes name, if the graph is what it would be written as; else NULL. */
static r4_status own_net(const struct onnx_model *m, r4_net **to)
{
  r4_shape shape;
  r4_error e = {0};
  struct onnx_model mine = {0};
  char *text = NULL, *input = NULL;
  *to = NULL;
  if (!onnx_note(m, "net") || !onnx_note(m, "input")) return R4_OK;
  text = note_text(m, "net");
  input = note_text(m, "input");
  r4_status s = text && input ? net_input_parse(input, &shape) : R4_E_MEMORY;
  if (!s && !(*to = net_new(text, shape, &e))) s = e.status;
  bool has = !s && has_weights(m, *to);
  if (has) s = onnx_of_net(&mine, *to, NULL, &e);
  bool same = has && !s && same_graph(&mine, (*to)->params, m);
  onnx_free(&mine);
  r4_string_free(text);
  r4_string_free(input);
  if (same) return R4_OK;
  r4_net_free(*to);
  *to = NULL;
  return s == R4_E_MEMORY ? s : R4_OK;
}

static r4_status take_own(struct onnx_net *to, struct onnx_model *m, const r4_net *n)
{
  struct text copy = {0};
  text_add(&copy, "%s", n->text);
  *to = (struct onnx_net){
    .text = text_take(&copy), .input = n->input, .source = onnx_new(m, n->params + 1, sizeof *to->source)};
  for (size_t k = 0; to->source && k < n->params; k++) {
    struct slice name = onnx_text(m, "%s", n->param[k].name);
    const struct onnx_tensor *from = find_tensor(m, k, slice_of(n->param[k].name));
    to->source[to->sources++] = (struct onnx_source){name, n->param[k].file_shape, from, false, 1};
  }
  return to->text && !m->failed ? R4_OK : R4_E_MEMORY;
}

/* ---- As a model ---- */

static void copy_numbers(const struct onnx_source *from, float *to)
{
  size_t rows = (size_t)from->shape.dim[0], n = (size_t)r4_shape_count(from->shape), columns = n / rows;
  double times = from->times < 0 || from->times > 0 ? from->times : 1;
  for (size_t k = 0; k < n; k++)
    to[k] = (float)(times * onnx_number(from->from, from->transposed ? k % columns * rows + k / columns : k));
}

/* Tensors may lie upon each other, and one may be used by many nodes. */
static r4_status check_size(const struct onnx_net *net, size_t read, const char *path, r4_error *e)
{
  enum { TIMES = 4, LITTLE = 1 << 20 };
  size_t bytes = 0;
  for (size_t k = 0; k < net->sources; k++)
    if (__builtin_add_overflow(bytes, (size_t)r4_shape_count(net->source[k].shape) * sizeof(float), &bytes))
      bytes = SIZE_MAX;
  if (bytes / TIMES <= read + LITTLE) return R4_OK;
  return r4_fail(e, R4_E_PARSE,
                 "%s: %zu bytes would become %zu of weights: parts that share so much are not read", path,
                 read, bytes);
}

static r4_status pack(struct st_file *to, const struct onnx_net *net, const struct st_note *note,
                      size_t notes, const char *path, r4_error *e)
{
  struct st_new *tensor = r4_mem_new(net->sources + 1, sizeof *tensor);
  size_t size = 0, packed = 0;
  uint8_t *data = NULL;
  for (size_t k = 0; k < net->sources; k++) size += (size_t)r4_shape_count(net->source[k].shape);
  float *numbers = r4_mem_new(size + 1, sizeof *numbers), *at = numbers;
  r4_status s = tensor && numbers ? R4_OK : R4_E_MEMORY;
  for (size_t k = 0; !s && k < net->sources; at += r4_shape_count(net->source[k++].shape)) {
    copy_numbers(&net->source[k], at);
    tensor[k] = (struct st_new){net->source[k].name.s, net->source[k].shape, at};
  }
  if (!s) s = st_pack(net->sources, tensor, notes, note, &data, &packed);
  if (s) r4_fail(e, s, "%s: out of memory", path);
  r4_mem_free(numbers);
  r4_mem_free(tensor);
  return s ? s : st_parse(to, path, data, packed, e);
}

r4_status onnx_translate(struct st_file *to, struct onnx_model *m, const char *path, r4_shape example,
                         r4_error *e)
{
  struct onnx_net net = {0};
  char shape[SHAPE_TEXT], *classes = NULL;
  r4_net *own;
  r4_status s = own_net(m, &own);
  if (!s && own) s = take_own(&net, m, own);
  if (!s && own && onnx_note(m, "classes") && !(classes = note_text(m, "classes"))) s = R4_E_MEMORY;
  if (s)
    r4_fail(e, s, "%s: out of memory", path);
  else if (!own)
    s = onnx_import(&net, m, path, example, e);
  struct st_note note[6] = {{"net", net.text},
                            {"input", shape_text(net.input, shape)},
                            {own ? "r4" : "graph", own ? R4_VERSION : "of another program"}};
  size_t notes = 3;
  if (classes) note[notes++] = (struct st_note){"classes", classes};
  if (net.channels_last) note[notes++] = (struct st_note){"channels-last", "yes"};
  if (net.softmax) note[notes++] = (struct st_note){"softmax", "yes"};
  if (!s) s = check_size(&net, m->bytes, path, e);
  if (!s) s = pack(to, &net, note, notes, path, e);
  r4_string_free(classes);
  r4_string_free(net.text);
  r4_net_free(own);
  return s;
}

r4_status onnx_open(struct st_file *to, const char *path, r4_shape example, r4_error *e)
{
  struct onnx_model m;
  r4_error own;
  if (!e) e = &own;
  *to = (struct st_file){0};
  r4_status s = onnx_read(&m, path, e);
  if (s) return s;
  s = onnx_translate(to, &m, path, example, e);
  onnx_free(&m);
  return s;
}
