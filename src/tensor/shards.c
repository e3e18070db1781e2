#include "tensor/shards.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"

static const size_t most_index = (size_t)100 << 20;

/* ---- The index ---- */

static bool is_name(const char *s)
{
  return *s && strcmp(s, ".") && strcmp(s, "..") && !strchr(s, '/');
}

r4_status st_parse_index(const char *path, const void *data, size_t size, struct js **root,
                         const struct js **map, r4_error *e)
{
  r4_status s = js_parse(path, data, size, root, e);
  if (s) return s;
  *map = js_get(*root, "weight_map");
  if (js_kind(*map) != JS_OBJECT)
    return r4_fail(e, R4_E_PARSE, "%s: has no object \"weight_map\" from names of tensors to files", path);
  for (const struct js *v = NULL; (v = js_next(*map, v));) {
    const char *shard = js_text(v);
    if (!shard) return r4_fail(e, R4_E_PARSE, "%s: weight_map: \"%.80s\" is not text", path, js_key(v));
    if (!is_name(shard))
      return r4_fail(e, R4_E_PARSE,
                     "%s: weight_map: \"%.80s\" is in \"%.120s\", expected a file next to the index", path,
                     js_key(v), shard);
  }
  return R4_OK;
}

/* ---- Its shards ---- */

static const char *last_part(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static const struct st_file *find_shard(const struct st_set *s, const char *name)
{
  for (size_t k = 0; k < s->files; k++)
    if (!strcmp(last_part(s->file[k].path), name)) return &s->file[k];
  return NULL;
}

static r4_status read_shard(struct st_set *s, const char *name, r4_error *e)
{
  struct text path = {0};
  struct st_file *file = r4_mem_grow(s->file, s->files + 1, sizeof *file);
  text_add(&path, "%.*s%s", (int)(last_part(s->path) - s->path), s->path, name);
  char *shard = text_take(&path);
  r4_status status = R4_E_MEMORY;
  r4_error why = {.status = R4_E_MEMORY, .text = "out of memory"};
  if (file) s->file = file;
  if (file && shard) status = st_read(&s->file[s->files], shard, &why);
  if (status)
    r4_fail(e, status, "%.120s: a shard cannot be read: %.360s", s->path, why.text);
  else
    s->files++;
  r4_string_free(shard);
  return status;
}

/* Each tensor is in the shard that the index says, and in no other. */
static r4_status check_shards(const struct st_set *s, const struct js *map, r4_error *e)
{
  for (const struct js *v = NULL; (v = js_next(map, v));)
    if (!st_find(find_shard(s, js_text(v)), js_key(v)))
      return r4_fail(e, R4_E_PARSE, "%s: says that \"%.80s\" is in %.120s, which does not have it", s->path,
                     js_key(v), js_text(v));
  for (size_t k = 0; k < s->files; k++)
    for (size_t i = 0; i < s->file[k].n; i++) {
      const char *name = s->file[k].tensor[i].name, *shard = last_part(s->file[k].path);
      const char *said = js_text(js_get(map, name));
      if (!said)
        return r4_fail(e, R4_E_PARSE, "%s: does not list \"%.80s\", which is in %.120s", s->path, name,
                       shard);
      if (strcmp(said, shard))
        return r4_fail(e, R4_E_PARSE, "%s: \"%.80s\" is in two shards, %.100s and %.100s", s->path, name,
                       said, shard);
    }
  return R4_OK;
}

static r4_status read_shards(struct st_set *s, r4_error *e)
{
  uint8_t *data = NULL;
  size_t size = 0;
  struct js *root = NULL;
  const struct js *map = NULL;
  r4_status status = file_read(s->path, most_index, &data, &size, e);
  if (!status) status = st_parse_index(s->path, data, size, &root, &map, e);
  for (const struct js *v = NULL; !status && (v = js_next(map, v));)
    if (!find_shard(s, js_text(v))) status = read_shard(s, js_text(v), e);
  if (!status) status = check_shards(s, map, e);
  js_free(root);
  r4_mem_free(data);
  return status;
}

/* ---- Opening ---- */

static bool ends_with(const char *s, const char *end)
{
  size_t n = strlen(s), m = strlen(end);
  return n >= m && !strcmp(s + n - m, end);
}

/* In a folder, the file itself or else the index. */
static char *resolve(const char *path, r4_error *e)
{
  static const char model[] = "model.safetensors";
  struct text t = {0};
  text_add(&t, "%s", path);
  if (file_is_folder(path)) text_add(&t, "%s%s", ends_with(path, "/") ? "" : "/", model);
  if (file_is_folder(path) && !file_exists_in(path, model)) {
    size_t length = t.length;
    text_add(&t, ".index.json");
    if (!t.failed && !file_exists(t.s)) t.s[t.length = length] = 0;
  }
  return text_done(&t, path, e);
}

r4_status st_open(struct st_set *s, const char *path, r4_error *e)
{
  r4_status status = R4_OK;
  *s = (struct st_set){.path = resolve(path, e)};
  if (!s->path) {
    status = R4_E_MEMORY;
  } else if (ends_with(s->path, ".json")) {
    status = read_shards(s, e);
  } else if (!(s->file = mem_new(1, sizeof *s->file, path, e))) {
    status = R4_E_MEMORY;
  } else {
    status = st_read(s->file, s->path, e);
    s->files = !status;
  }
  if (status) st_close(s);
  return status;
}

void st_close(struct st_set *s)
{
  for (size_t k = 0; k < s->files; k++) st_free(&s->file[k]);
  r4_mem_free(s->file);
  r4_string_free(s->path);
  *s = (struct st_set){0};
}
