/* Weights of files into nets: by name and shape, all or nothing, and one sentence that says what does not fit. */
#include "module/weights.h"

#include <string.h>

#include "base/mem.h"
#include "base/pattern.h"
#include "base/text.h"
#include "graph/graph.h"
#include "module/net.h"
#include "module/onnx/onnx.h"
#include "tensor/foreign/torch.h"

struct fitting {
  const r4_net *net;
  const struct st_set *from;
  const char *skip, *optional, *ignore, *prefix;
};

/* What becomes of a parameter. */
enum fate { TAKEN, LEFT, MISSING, MISSHAPEN };

struct found {
  const struct st_file *file;
  const struct st_tensor *tensor;
};

/* ---- Names ---- */

/* The name of a tensor without the prefix; NULL if it does not have it. */
static const char *own_name(const struct fitting *f, const char *name)
{
  size_t n = strlen(f->prefix);
  return strncmp(name, f->prefix, n) ? NULL : name + n;
}

static struct found find_tensor(const struct fitting *f, const char *param)
{
  for (size_t k = 0; k < f->from->files; k++)
    for (size_t i = 0; i < f->from->file[k].n; i++) {
      const char *name = own_name(f, f->from->file[k].tensor[i].name);
      if (name && !strcmp(name, param)) return (struct found){&f->from->file[k], &f->from->file[k].tensor[i]};
    }
  return (struct found){0};
}

static bool is_param(const r4_net *n, const char *name)
{
  for (size_t k = 0; k < r4_net_params(n); k++)
    if (!strcmp(r4_net_param_name(n, k), name)) return true;
  return false;
}

static enum fate fate_of(const struct fitting *f, size_t k, struct found *found)
{
  const char *name = r4_net_param_name(f->net, k);
  if (pattern_any(f->skip, name)) return LEFT;
  *found = find_tensor(f, name);
  if (!found->tensor) return pattern_any(f->optional, name) ? LEFT : MISSING;
  return r4_shape_equal(found->tensor->shape, f->net->param[k].file_shape) ? TAKEN : MISSHAPEN;
}

/* Whole numbers are counters and positions (num_batches_tracked, position_ids), never weights. */
static bool has_place(const struct fitting *f, const struct st_tensor *t)
{
  const char *name = own_name(f, t->name);
  bool number = strchr(t->type, 'F');
  return !number || pattern_any(f->ignore, t->name) ||
         (name && (is_param(f->net, name) || pattern_any(f->skip, name)));
}

/* ---- The sentence ---- */

enum { ROOM = 100, PATH_ROOM = 100 }; /* bytes for the names of a list, and for the end of the path */

/* Names of one kind, as many as there is room for. */
struct list {
  const char *what;
  size_t count, listed;
  struct text names;
};

static void list_add(struct list *l, const char *name, const r4_shape *is, const r4_shape *expected)
{
  char a[SHAPE_TEXT], b[SHAPE_TEXT];
  size_t length = l->names.length;
  if (l->count++ > l->listed) return;
  text_add(&l->names, "%s%s", l->listed ? ", " : "", name);
  if (is) text_add(&l->names, " is %s,", shape_text(*is, a));
  if (expected) text_add(&l->names, "%s %s", is ? " expected" : "", shape_text(*expected, b));
  if (l->names.length <= ROOM || l->names.failed)
    l->listed++;
  else
    l->names.s[l->names.length = length] = 0;
}

/* "; 2 missing: a [3], b [4], ..." */
static void list_write(struct text *to, struct list *l)
{
  char *names = text_take(&l->names);
  if (l->count)
    text_add(to, "; %zu %s%s%s%s", l->count, l->what, l->listed ? ": " : "", names ? names : "",
             l->listed && l->listed < l->count ? ", ..." : "");
  r4_string_free(names);
}

static const char *path_end(const char *path)
{
  size_t n = strlen(path);
  return n > PATH_ROOM ? path + n - PATH_ROOM : path;
}

static r4_status does_not_fit(const struct fitting *f, size_t taken, struct list list[3], r4_error *e)
{
  struct text t = {0};
  text_add(&t, "%s: does not fit the net: %zu of its %zu parameters match", path_end(f->from->path), taken,
           r4_net_params(f->net));
  for (int k = 0; k < 3; k++) list_write(&t, &list[k]);
  char *sentence = text_done(&t, f->from->path, e);
  r4_status s = sentence ? r4_fail(e, R4_E_SHAPE, "%s", sentence) : R4_E_MEMORY;
  r4_string_free(sentence);
  return s;
}

static r4_status check_fit(const struct fitting *f, r4_load_report *report, r4_error *e)
{
  struct list list[] = {{.what = "missing"}, {.what = "unexpected"}, {.what = "of another shape"}};
  struct found found = {0};
  for (size_t k = 0; k < r4_net_params(f->net); k++) {
    const char *name = r4_net_param_name(f->net, k);
    r4_shape shape = f->net->param[k].file_shape;
    enum fate fate = fate_of(f, k, &found);
    report->taken += fate == TAKEN;
    report->left += fate == LEFT;
    if (fate == MISSING) list_add(&list[0], name, NULL, &shape);
    if (fate == MISSHAPEN) list_add(&list[2], name, &found.tensor->shape, &shape);
  }
  for (size_t k = 0; k < f->from->files; k++)
    for (size_t i = 0; i < f->from->file[k].n; i++) {
      const struct st_tensor *t = &f->from->file[k].tensor[i];
      report->ignored++;
      if (!has_place(f, t)) list_add(&list[1], t->name, NULL, NULL);
    }
  report->ignored -= report->taken;
  if (list[0].count || list[1].count || list[2].count) return does_not_fit(f, report->taken, list, e);
  return R4_OK;
}

/* ---- The numbers ---- */

/* Indices in messages are those of the file, as its readers in other languages count. */
static r4_status take_all(const struct fitting *f, float *file, r4_error *e)
{
  r4_status s = R4_OK;
  for (size_t k = 0; k < r4_net_params(f->net) && !s; k++) {
    struct found found = {0};
    float *to = file + r4_net_param_offset(f->net, k);
    if (fate_of(f, k, &found) != TAKEN) continue;
    s = st_floats(found.file, found.tensor, to, e);
    if (!s) s = check_finite(found.file->path, found.tensor->name, found.tensor->shape, to, e);
  }
  return s;
}

static const char *or_empty(const char *s)
{
  return s ? s : "";
}

r4_status weights_take(const r4_net *n, const struct st_set *from, const r4_load_options *options,
                       float *weights, r4_load_report *report, r4_error *e)
{
  const r4_load_options o = options ? *options : (r4_load_options){0};
  const struct fitting f = {.net = n,
                            .from = from,
                            .skip = or_empty(o.skip),
                            .optional = or_empty(o.optional),
                            .ignore = or_empty(o.ignore),
                            .prefix = or_empty(o.prefix)};
  r4_load_report own;
  if (!report) report = &own;
  *report = (r4_load_report){0};
  r4_status s = net_check_patterns(n, from->path, f.skip, e);
  if (!s) s = check_fit(&f, report, e);
  if (s || !weights) return s;
  float *file = mem_new(r4_net_size(n), sizeof *file, from->path, e);
  if (!file) return R4_E_MEMORY;
  net_reorder(n, true, weights, file); /* what is left stays */
  s = take_all(&f, file, e);
  if (!s) net_reorder(n, false, file, weights);
  r4_mem_free(file);
  return s;
}

/* ---- Files ---- */

r4_status weights_read(struct st_file *to, const char *path, r4_shape example, r4_error *e)
{
  if (onnx_is_file(path)) return onnx_open(to, path, example, e);
  return (torch_is_file(path) ? torch_read : st_read)(to, path, e);
}

r4_status weights_open(struct st_set *to, const char *path, r4_error *e)
{
  if (!onnx_is_file(path) && !torch_is_file(path)) return st_open(to, path, e);
  *to = (struct st_set){.path = mem_copy(path, e), .file = mem_new(1, sizeof *to->file, path, e)};
  r4_status s = to->path && to->file ? weights_read(to->file, path, (r4_shape){0}, e) : R4_E_MEMORY;
  to->files = !s;
  if (s) st_close(to);
  return s;
}

r4_status r4_net_load(const r4_net *n, const char *path, const r4_load_options *options, float *weights,
                      r4_load_report *report, r4_error *e)
{
  NEEDS(n, "a net", R4_E_ARGUMENT);
  NEEDS(path, "a path", R4_E_ARGUMENT);
  NEEDS(weights, "room for weights", R4_E_ARGUMENT);
  r4_error_clear(e);
  struct st_set from;
  r4_status s = weights_open(&from, path, e);
  if (s) return s;
  s = weights_take(n, &from, options, weights, report, e);
  st_close(&from);
  return s;
}
