#include "tensor/foreign/tfjs.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"

static const size_t most_json = (size_t)100 << 20, most_shard = (size_t)1 << 40;

static r4_status no_memory(const struct tfjs *t, r4_error *e)
{
  return r4_fail(e, R4_E_MEMORY, "%s: out of memory", t->path);
}

/* ---- Shards ---- */

static r4_status append(struct tfjs *t, const uint8_t *data, size_t size, r4_error *e)
{
  uint8_t *all = size <= SIZE_MAX - t->size ? r4_mem_grow(t->data, t->size + size + 1, 1) : NULL;
  if (!all) return no_memory(t, e);
  memcpy(all + t->size, data, size);
  t->data = all;
  t->size += size;
  return R4_OK;
}

static r4_status read_shard(struct tfjs *t, const char *name, r4_error *e)
{
  const char *slash = strrchr(t->path, '/');
  struct text path = {0};
  if (!name || !*name || strchr(name, '/'))
    return r4_fail(e, R4_E_PARSE, "%s: \"paths\" has something other than names of files beside it", t->path);
  text_add(&path, "%.*s%s", slash ? (int)(slash + 1 - t->path) : 0, t->path, name);
  char *file = text_take(&path);
  uint8_t *data = NULL;
  size_t size = 0;
  r4_status s = file ? file_read(file, most_shard, &data, &size, e) : no_memory(t, e);
  if (!s) s = append(t, data, size, e);
  r4_mem_free(data);
  r4_string_free(file);
  return s;
}

/* ---- Tensors ---- */

static r4_status refuse(const struct tfjs *t, const char *name, const char *what, r4_error *e)
{
  return r4_fail(e, R4_E_PARSE, "%s: tensor \"%.80s\": %s", t->path, name ? name : "", what);
}

static r4_status read_shape(const struct tfjs *t, const char *name, const struct js *list, r4_shape *shape,
                            size_t *bytes, r4_error *e)
{
  if (js_kind(list) != JS_LIST || js_size(list) > R4_MAX_RANK)
    return refuse(t, name, "its shape is not a list of at most 6 numbers", e);
  shape->rank = (int)js_size(list);
  *bytes = sizeof(float);
  for (int k = 0; k < shape->rank; k++) {
    int64_t *dim = &shape->dim[k];
    if (!js_whole(js_at(list, (size_t)k), dim) || *dim < 1)
      return refuse(t, name, "its shape has something other than whole numbers from 1 on", e);
    if (__builtin_mul_overflow(*bytes, (size_t)*dim, bytes))
      return refuse(t, name, "its shape is too large", e);
  }
  return R4_OK;
}

/* The tensor at *at of the data, and *at behind it. Its address is known when all data are there: until then, only how
 * far it is from the beginning. */
static r4_status read_tensor(struct tfjs *t, const struct js *entry, size_t *at, r4_error *e)
{
  struct tfjs_tensor *grown = r4_mem_grow(t->tensor, t->n + 1, sizeof *grown);
  const char *name = js_text(js_get(entry, "name")), *type = js_text(js_get(entry, "dtype"));
  size_t bytes = 0;
  if (!grown) return no_memory(t, e);
  t->tensor = grown;
  struct tfjs_tensor *to = &t->tensor[t->n];
  *to = (struct tfjs_tensor){.name = name};
  if (!name) return refuse(t, NULL, "has no name", e);
  if (!type || strcmp(type, "float32") || js_get(entry, "quantization"))
    return refuse(t, name, "is not float32, or quantized", e);
  if (tfjs_find(t, name)) return refuse(t, name, "stands twice", e);
  r4_status s = read_shape(t, name, js_get(entry, "shape"), &to->shape, &bytes, e);
  if (s) return s;
  if (bytes > t->size - *at)
    return r4_fail(e, R4_E_PARSE,
                   "%s: tensor \"%.80s\" needs %zu bytes, its shards have %zu left: they are cut off",
                   t->path, name, bytes, t->size - *at);
  *at += bytes;
  t->n++;
  return R4_OK;
}

static r4_status read_group(struct tfjs *t, const struct js *group, r4_error *e)
{
  const struct js *paths = js_get(group, "paths"), *weights = js_get(group, "weights");
  size_t at = t->size;
  r4_status s = R4_OK;
  if (js_kind(paths) != JS_LIST || js_kind(weights) != JS_LIST)
    return r4_fail(e, R4_E_PARSE, "%s: a group of its weightsManifest has no lists \"paths\" and \"weights\"",
                   t->path);
  for (const struct js *v = NULL; !s && (v = js_next(paths, v));) s = read_shard(t, js_text(v), e);
  for (const struct js *v = NULL; !s && (v = js_next(weights, v));) s = read_tensor(t, v, &at, e);
  if (s || at == t->size) return s;
  return r4_fail(e, R4_E_PARSE, "%s: its shards have %zu bytes more than its tensors need", t->path,
                 t->size - at);
}

static void place(struct tfjs *t)
{
  const uint8_t *at = t->data;
  for (size_t k = 0; k < t->n; k++) {
    t->tensor[k].data = (const float *)(const void *)at;
    at += (size_t)r4_shape_count(t->tensor[k].shape) * sizeof(float);
  }
}

static r4_status read_all(struct tfjs *t, r4_error *e)
{
  uint8_t *text = NULL;
  size_t size = 0;
  r4_status s = file_read(t->path, most_json, &text, &size, e);
  if (!s) s = js_parse(t->path, text, size, &t->root, e);
  r4_mem_free(text);
  if (s) return s;
  const struct js *groups = js_get(t->root, "weightsManifest");
  if (js_kind(groups) != JS_LIST)
    return r4_fail(e, R4_E_PARSE, "%s: has no list \"weightsManifest\": it is not a model of TensorFlow.js",
                   t->path);
  for (const struct js *v = NULL; !s && (v = js_next(groups, v));) s = read_group(t, v, e);
  if (!s) place(t);
  return s;
}

r4_status tfjs_read(struct tfjs *t, const char *path, r4_error *e)
{
  *t = (struct tfjs){.path = mem_copy(path, e)};
  r4_status s = t->path ? read_all(t, e) : R4_E_MEMORY;
  if (s) tfjs_free(t);
  return s;
}

void tfjs_free(struct tfjs *t)
{
  js_free(t->root);
  r4_mem_free(t->tensor);
  r4_mem_free(t->data);
  r4_string_free(t->path);
  *t = (struct tfjs){0};
}

const struct tfjs_tensor *tfjs_find(const struct tfjs *t, const char *name)
{
  for (size_t k = 0; k < t->n; k++)
    if (!strcmp(t->tensor[k].name, name)) return &t->tensor[k];
  return NULL;
}
