/* Models: a net and its weights as safetensors that PyTorch reads. Names and layouts are PyTorch's: layout.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/c_locale.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "graph/graph.h"
#include "module/net.h"
#include "module/weights.h"

struct r4_model {
  struct st_file file; /* while loading */
  r4_net *own;         /* NULL: the caller's */
  const r4_net *net;
  float *weights;
  struct js *classes; /* a list of names, or NULL */
  float *constant;    /* [constants], or NULL */
  size_t constants;
  bool channels_last, softmax; /* of the file, if it is one of ONNX */
};

static const char CONSTANT[] = "constant";

/* ---- Saving ---- */

/* A net with one output has two classes. */
static int64_t names_of(const r4_net *n)
{
  return r4_net_classes(n) > 1 ? r4_net_classes(n) : 2;
}

bool net_classes_given(const r4_net *n, const char *const *class_names, const char *function, r4_error *e)
{
  return r4_each_given(class_names ? (size_t)names_of(n) : 0, class_names, function, "class name", e);
}

char *net_classes_text(const r4_net *n, const char *const *class_names)
{
  struct json_writer w = {0};
  jw_open(&w, NULL, '[');
  for (int64_t k = 0; class_names && k < names_of(n); k++) jw_text(&w, NULL, class_names[k]);
  jw_close(&w, ']');
  return text_take(&w.text);
}

/* "0x1.8p-1,0x1p-2": every bit of each number. */
static char *constant_text(size_t n, const float *constant)
{
  struct text t = {0};
  for (size_t k = 0; k < n; k++) text_add(&t, "%s%a", k ? "," : "", (double)constant[k]);
  return text_take(&t);
}

/* Whoever reads a file of that name takes it for ONNX. */
static r4_status check_name(const char *path, r4_error *e)
{
  static const char ONNX[] = ".onnx";
  size_t n = path ? strlen(path) : 0, end = sizeof ONNX - 1;
  if (n < end || strcasecmp(path + n - end, ONNX)) return R4_OK;
  return r4_fail(e, R4_E_ARGUMENT,
                 "%s: a model is a safetensors file, expected another name, as model.safetensors; r4_onnx_save writes "
                 "ONNX",
                 path);
}

r4_status model_save(const r4_net *n, const float *weights, const char *const *class_names, size_t constants,
                     const float *constant, const char *path, r4_error *e)
{
  r4_error_clear(e);
  r4_status s = check_name(path, e);
  if (!s) s = net_check_finite(n, weights, path, e);
  if (s) return s;
  char input[SHAPE_TEXT], sum[HASH_HEX], *classes = net_classes_text(n, class_names);
  char *fill = constant_text(constants, constant);
  float *file = r4_mem_new(n->size, sizeof *file);
  struct st_new *tensor = r4_mem_new(n->params, sizeof *tensor);
  s = R4_E_MEMORY;
  if (!classes || !file || !tensor || !fill) {
    r4_fail(e, s, "%s: out of memory", path);
    goto done;
  }
  net_reorder(n, true, weights, file);
  for (size_t k = 0; k < n->params; k++)
    tensor[k] = (struct st_new){n->param[k].name, n->param[k].file_shape, file + n->param[k].offset};
  shape_text(n->input, input);
  st_sum(n->params, tensor, sum);
  struct st_note note[7] = {{"format", "pt"}, {"r4", R4_VERSION}, {"net", n->text}, {"input", input}, {ST_SUM, sum}};
  size_t notes = 5;
  if (class_names) note[notes++] = (struct st_note){"classes", classes};
  if (constants) note[notes++] = (struct st_note){CONSTANT, fill};
  s = st_write(path, n->params, tensor, notes, note, e);
done:
  r4_mem_free(tensor);
  r4_mem_free(file);
  r4_string_free(classes);
  r4_string_free(fill);
  return s;
}

r4_status r4_model_save(const r4_net *n, const float *weights, const char *const *class_names,
                        const char *path, r4_error *e)
{
  NEEDS(n, "a net", R4_E_ARGUMENT);
  NEEDS(weights, "weights", R4_E_ARGUMENT);
  if (!net_classes_given(n, class_names, __func__, e)) return R4_E_ARGUMENT;
  return model_save(n, weights, class_names, 0, NULL, path, e);
}

/* ---- Making ---- */

/* Copies of the net, the weights and the names. */
static r4_status copy_all(r4_model *m, const r4_net *n, const float *weights, const char *const *class_names,
                          r4_error *e)
{
  static const char WHO[] = "a model";
  char *names = class_names ? net_classes_text(n, class_names) : NULL;
  m->net = m->own = net_new(n->text, n->input, e);
  m->weights = mem_new(n->size, sizeof *m->weights, WHO, e);
  r4_status s = R4_OK;
  if (!m->net)
    s = e->status;
  else if (!m->weights || (class_names && !names))
    s = r4_fail(e, R4_E_MEMORY, "%s: out of memory", WHO);
  if (!s && names) s = js_parse(WHO, names, strlen(names), &m->classes, e);
  if (!s) memcpy(m->weights, weights, n->size * sizeof *weights);
  r4_string_free(names);
  return s;
}

r4_model *r4_model_new(const r4_net *n, const float *weights, const char *const *class_names, r4_error *e)
{
  NEEDS(n, "a net", NULL);
  NEEDS(weights, "weights", NULL);
  if (!net_classes_given(n, class_names, __func__, e)) return NULL;
  r4_error own = {0};
  if (!e) e = &own;
  r4_error_clear(e);
  if (net_check_finite(n, weights, "a model", e)) return NULL;
  r4_model *m = mem_new(1, sizeof *m, "a model", e);
  if (!m || !copy_all(m, n, weights, class_names, e)) return m;
  r4_model_free(m);
  return NULL;
}

/* ---- Loading ---- */

/* A shape as "[28,28,1]". */
r4_status net_input_parse(const char *text, r4_shape *shape)
{
  struct js *list;
  r4_status s = js_parse("input", text, strlen(text), &list, NULL);
  if (s == R4_E_MEMORY) return s;
  *shape = (r4_shape){.rank = (int)js_size(list)};
  bool ok = js_kind(list) == JS_LIST && js_size(list) <= R4_MAX_RANK;
  for (int k = 0; ok && k < shape->rank; k++) ok = js_whole(js_at(list, (size_t)k), &shape->dim[k]);
  js_free(list);
  return ok ? R4_OK : R4_E_PARSE;
}

r4_net *weights_net(const struct st_file *f, r4_error *e)
{
  const char *line = st_note(f, "net"), *input = st_note(f, "input");
  r4_shape shape;
  r4_error why;
  r4_net *n = NULL;
  r4_status s = line && input ? net_input_parse(input, &shape) : R4_OK;
  if (!line || !input)
    r4_fail(e, R4_E_PARSE,
            "%s: does not say which net it belongs to (no \"net\" and \"input\" in its metadata)", f->path);
  else if (s == R4_E_MEMORY)
    r4_fail(e, s, "%s: out of memory", f->path);
  else if (s)
    r4_fail(e, s, "%s: metadata: input is \"%.60s\", expected a shape such as [28,28,1]", f->path, input);
  else if (!(n = net_new(line, shape, &why)))
    r4_fail(e, why.status, "%s: %.300s", f->path, why.text);
  return n;
}

static r4_status load_classes(r4_model *m, r4_error *e)
{
  const char *text = st_note(&m->file, "classes");
  if (!text) return R4_OK;
  r4_status s = js_parse(m->file.path, text, strlen(text), &m->classes, e);
  if (s) return s;
  size_t n = js_size(m->classes);
  bool first_alone = n == 1 && r4_net_classes(m->net) == 1; /* as files of one output were written once */
  bool ok = js_kind(m->classes) == JS_LIST && (n == (size_t)names_of(m->net) || first_alone);
  for (size_t k = 0; ok && k < js_size(m->classes); k++) ok = js_text(js_at(m->classes, k));
  if (ok) return R4_OK;
  return r4_fail(e, R4_E_PARSE, "%s: metadata: classes is not a list of %lld names", m->file.path,
                 (long long)names_of(m->net));
}

static r4_status load_constant(r4_model *m, r4_error *e)
{
  const char *text = st_note(&m->file, CONSTANT);
  if (!text) return R4_OK;
  size_t n = 1;
  for (const char *s = text; *s; s++) n += *s == ',';
  if (!(m->constant = mem_new(n, sizeof *m->constant, m->file.path, e))) return R4_E_MEMORY;
  for (char *end; m->constants < n; text = end + 1) {
    double v = c_locale_real(text, &end);
    if (end == text || !isfinite(v) || *end != (m->constants + 1 < n ? ',' : 0))
      return r4_fail(e, R4_E_PARSE, "%s: metadata: constant is \"%.60s\", expected numbers separated by commas",
                     m->file.path, st_note(&m->file, CONSTANT));
    m->constant[m->constants++] = (float)v;
  }
  return R4_OK;
}

/* After the check the file holds as many numbers as are allocated here. */
static r4_status load_weights(r4_model *m, r4_error *e)
{
  const struct st_set from = {.path = m->file.path, .file = &m->file, .files = 1};
  r4_status s = weights_take(m->net, &from, NULL, NULL, NULL, e);
  if (s) return s;
  if (!(m->weights = mem_new(m->net->size, sizeof *m->weights, m->file.path, e))) return R4_E_MEMORY;
  return weights_take(m->net, &from, NULL, m->weights, NULL, e);
}

static r4_model *open_file(const char *path, const r4_net *net, r4_error *e)
{
  r4_model *m = mem_new(1, sizeof *m, path, e);
  if (!m) return NULL;
  m->net = net;
  r4_status s = weights_read(&m->file, path, (r4_shape){0}, e);
  if (!s && !net) m->net = m->own = weights_net(&m->file, e);
  if (!s && !m->net) s = e->status;
  if (!s) s = load_classes(m, e);
  if (!s) s = load_constant(m, e);
  if (!s) s = load_weights(m, e);
  m->channels_last = !s && st_note(&m->file, "channels-last");
  m->softmax = !s && st_note(&m->file, "softmax");
  st_free(&m->file);
  if (!s) return m;
  bool contradicts_itself = !net && s != R4_E_MEMORY && s != R4_E_IO && s != R4_E_DOMAIN;
  if (contradicts_itself) e->status = R4_E_PARSE;
  r4_model_free(m);
  return NULL;
}

r4_model *r4_model_open(const char *path, const r4_net *net, r4_error *e)
{
  NEEDS(path, "a path", NULL);
  r4_error own = {0};
  if (!e) e = &own;
  r4_error_clear(e);
  if (!file_is_folder(path)) return open_file(path, net, e);
  char *file = file_join(path, "model.safetensors", e);
  r4_model *m = file ? open_file(file, net, e) : NULL;
  r4_mem_free(file);
  return m;
}

void r4_model_free(r4_model *m)
{
  if (!m) return;
  js_free(m->classes);
  r4_mem_free(m->constant);
  r4_mem_free(m->weights);
  r4_net_free(m->own);
  r4_mem_free(m);
}

const r4_net *r4_model_net(const r4_model *m)
{
  return m->net;
}

size_t r4_model_classes(const r4_model *m)
{
  return (size_t)names_of(m->net);
}

const float *r4_model_weights(const r4_model *m)
{
  return m->weights;
}

bool model_channels_last(const r4_model *m)
{
  return m->channels_last;
}

bool model_has_softmax(const r4_model *m)
{
  return m->softmax;
}

const char *r4_model_class_name(const r4_model *m, size_t k)
{
  return js_text(js_at(m->classes, k));
}

bool r4_model_constant(const r4_model *m, size_t n, float *to)
{
  if (!n || m->constants != n) return false;
  memcpy(to, m->constant, n * sizeof *to);
  return true;
}

size_t r4_model_constants(const r4_model *m)
{
  return m->constants;
}

r4_status r4_model_set_constant(r4_model *m, size_t n, const float *constant, r4_error *e)
{
  NEEDS(m, "a model", R4_E_ARGUMENT);
  NEEDS(constant || !n, "a constant", R4_E_ARGUMENT);
  for (size_t k = 0; k < n; k++)
    if (!isfinite(constant[k]))
      return r4_fail(e, R4_E_DOMAIN, "number %zu of the constant is %g, expected a finite one", k, (double)constant[k]);
  float *copy = mem_new(n + 1, sizeof *copy, "a constant", e);
  if (!copy) return R4_E_MEMORY;
  if (n) memcpy(copy, constant, n * sizeof *copy);
  r4_mem_free(m->constant);
  m->constant = copy;
  m->constants = n;
  return R4_OK;
}

r4_status r4_model_write(const r4_model *m, const char *path, r4_error *e)
{
  NEEDS(m, "a model", R4_E_ARGUMENT);
  size_t n = m->classes ? js_size(m->classes) : 0;
  const char **name = mem_new(n + 1, sizeof *name, "a model", e);
  if (!name) return R4_E_MEMORY;
  for (size_t k = 0; k < n; k++) name[k] = js_text(js_at(m->classes, k));
  bool named = n && (int64_t)n == names_of(m->net);
  r4_status s = model_save(m->net, m->weights, named ? name : NULL, m->constants, m->constant, path, e);
  r4_mem_free(name);
  return s;
}
