/* Reading, for programs: texts, and sealed files. */
#include "base/checksum.h"
#include "base/file.h"
#include "base/mem.h"
#include "r4_tools.h"

enum { MOST_BYTES = 1 << 26 };

static const struct js *inner(const r4_json_value *v)
{
  return (const struct js *)(const void *)v;
}

static const r4_json_value *outer(const struct js *v)
{
  return (const r4_json_value *)(const void *)v;
}

r4_json_value *r4_json_read_sealed(const char *file, r4_error *e)
{
  NEEDS(file, "a file", NULL);
  uint8_t *text = NULL;
  size_t size = 0;
  struct js *root = NULL;
  r4_status s = file_read(file, MOST_BYTES, &text, &size, e);
  if (!s) s = js_parse(file, text, size, &root, e);
  if (!s && !checksum_matches((const char *)text, size))
    s = r4_fail(e, R4_E_ARGUMENT, "%s: was edited: its SHA-256 does not match the one at its end", file);
  r4_mem_free(text);
  if (!s) return (r4_json_value *)(void *)root;
  js_free(root);
  return NULL;
}

r4_json_value *r4_json_parse(const char *name, const void *text, size_t bytes, r4_error *e)
{
  NEEDS(name, "a name", NULL);
  NEEDS(text || !bytes, "a text", NULL);
  struct js *root = NULL;
  return js_parse(name, text, bytes, &root, e) ? NULL : (r4_json_value *)(void *)root;
}

void r4_json_value_free(r4_json_value *root)
{
  js_free((struct js *)(void *)root);
}

const r4_json_value *r4_json_get(const r4_json_value *object, const char *key)
{
  return key ? outer(js_get(inner(object), key)) : NULL;
}

const r4_json_value *r4_json_at(const r4_json_value *list, size_t k)
{
  return js_kind(inner(list)) == JS_LIST ? outer(js_at(inner(list), k)) : NULL;
}

size_t r4_json_size(const r4_json_value *v)
{
  enum js_kind kind = js_kind(inner(v));
  return kind == JS_OBJECT || kind == JS_LIST ? js_size(inner(v)) : 0;
}

bool r4_json_as_real(const r4_json_value *v, double *to)
{
  return to && js_real(inner(v), to);
}

bool r4_json_as_flag(const r4_json_value *v, bool *to)
{
  return to && js_flag(inner(v), to);
}

const char *r4_json_as_text(const r4_json_value *v)
{
  return js_text(inner(v));
}
