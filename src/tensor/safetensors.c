#include "tensor/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "r4_tools.h"
#include "tensor/array.h"

enum { LENGTH = 8, MOST_HEADER = 100 << 20 }; /* the limit of the format's own reader */
static const size_t most_bytes = (size_t)1 << 40;

static uint64_t little(const uint8_t *p, size_t bytes)
{
  uint64_t v = 0;
  for (size_t k = bytes; k--;) v = v << 8 | p[k];
  return v;
}

/* ---- Reading the header ---- */

static r4_status refuse(const struct st_file *f, const struct st_tensor *t, r4_error *e, const char *what)
{
  return r4_fail(e, R4_E_PARSE, "%s: tensor \"%.80s\": %s", f->path, t->name, what);
}

static const struct {
  const char *name;
  size_t width;
} types[] = {
  {"F32", 4}, {"F64", 8}, {"F16", 2}, {"BF16", 2}, {"BOOL", 1}, {"U8", 1},  {"I8", 1},      {"F8_E5M2", 1},
  {"U16", 2}, {"I16", 2}, {"U32", 4}, {"I32", 4},  {"U64", 8},  {"I64", 8}, {"F8_E4M3", 1},
};

static r4_status read_type(const struct st_file *f, const struct js *entry, struct st_tensor *t, r4_error *e)
{
  const char *name = js_text(js_get(entry, "dtype"));
  for (size_t k = 0; name && k < sizeof types / sizeof *types; k++)
    if (!strcmp(types[k].name, name)) {
      t->type = types[k].name;
      t->width = types[k].width;
      return R4_OK;
    }
  return refuse(f, t, e, "its dtype is missing or not known");
}

/* The shape, and the bytes it needs. */
static r4_status read_shape(const struct st_file *f, const struct js *entry, struct st_tensor *t,
                            uint64_t *bytes, r4_error *e)
{
  const struct js *list = js_get(entry, "shape");
  if (js_kind(list) != JS_LIST || js_size(list) > R4_MAX_RANK)
    return refuse(f, t, e, "its shape is not a list of at most 6 numbers");
  t->shape.rank = (int)js_size(list);
  *bytes = t->width;
  for (int k = 0; k < t->shape.rank; k++) {
    int64_t *dim = &t->shape.dim[k];
    if (!js_whole(js_at(list, (size_t)k), dim) || *dim < 0)
      return refuse(f, t, e, "its shape has something other than whole numbers from 0 on");
    if (__builtin_mul_overflow(*bytes, (uint64_t)*dim, bytes))
      return refuse(f, t, e, "its shape is too large");
  }
  return R4_OK;
}

static r4_status read_offsets(const struct st_file *f, const struct js *entry, struct st_tensor *t,
                              uint64_t bytes, uint64_t available, r4_error *e)
{
  const struct js *offsets = js_get(entry, "data_offsets");
  int64_t begin = 0, end = 0;
  if (js_size(offsets) != 2 || !js_whole(js_at(offsets, 0), &begin) || !js_whole(js_at(offsets, 1), &end))
    return refuse(f, t, e, "its data_offsets are not a list of two whole numbers");
  if (begin < 0 || end < begin || (uint64_t)end > available)
    return r4_fail(e, R4_E_PARSE,
                   "%s: tensor \"%.80s\": data_offsets [%lld,%lld] are outside of the %llu bytes of data",
                   f->path, t->name, (long long)begin, (long long)end, (unsigned long long)available);
  t->begin = (uint64_t)begin;
  t->end = (uint64_t)end;
  if (t->end - t->begin == bytes) return R4_OK;
  return r4_fail(
    e, R4_E_PARSE, "%s: tensor \"%.80s\": its dtype %s and shape need %llu bytes, its data_offsets give %llu",
    f->path, t->name, t->type, (unsigned long long)bytes, (unsigned long long)(t->end - t->begin));
}

static r4_status read_metadata(const struct st_file *f, const struct js *notes, r4_error *e)
{
  if (js_kind(notes) != JS_OBJECT)
    return r4_fail(e, R4_E_PARSE, "%s: __metadata__ is not an object", f->path);
  for (const struct js *v = NULL; (v = js_next(notes, v));)
    if (!js_text(v))
      return r4_fail(e, R4_E_PARSE, "%s: __metadata__: \"%.80s\" is not text", f->path, js_key(v));
  return R4_OK;
}

static r4_status read_entry(struct st_file *f, const struct js *entry, uint64_t available, r4_error *e)
{
  struct st_tensor *t = &f->tensor[f->n++];
  uint64_t bytes = 0;
  t->name = js_key(entry);
  if (js_kind(entry) != JS_OBJECT)
    return refuse(f, t, e, "is not an object with dtype, shape and data_offsets");
  r4_status s = read_type(f, entry, t, e);
  if (!s) s = read_shape(f, entry, t, &bytes, e);
  return s ? s : read_offsets(f, entry, t, bytes, available, e);
}

static int by_offset(const void *a, const void *b)
{
  const struct st_tensor *s = a, *t = b;
  if (s->begin != t->begin) return s->begin < t->begin ? -1 : 1;
  return s->end < t->end ? -1 : s->end > t->end;
}

static r4_status check_cover(const struct st_file *f, uint64_t available, r4_error *e)
{
  uint64_t at = 0;
  for (size_t k = 0; k < f->n; at = f->tensor[k++].end)
    if (f->tensor[k].begin != at)
      return r4_fail(e, R4_E_PARSE, "%s: tensor \"%.80s\" begins at %llu, expected %llu: tensors %s", f->path,
                     f->tensor[k].name, (unsigned long long)f->tensor[k].begin, (unsigned long long)at,
                     f->tensor[k].begin < at ? "overlap" : "leave a hole");
  if (at == available) return R4_OK;
  return r4_fail(e, R4_E_PARSE, "%s: %llu bytes of data, but the tensors end at %llu", f->path,
                 (unsigned long long)available, (unsigned long long)at);
}

static r4_status read_entries(struct st_file *f, uint64_t available, r4_error *e)
{
  r4_status s = R4_OK;
  if (!(f->tensor = mem_new(js_size(f->header), sizeof *f->tensor, f->path, e))) return R4_E_MEMORY;
  for (const struct js *v = NULL; !s && (v = js_next(f->header, v));)
    s = strcmp(js_key(v), "__metadata__") ? read_entry(f, v, available, e) : read_metadata(f, v, e);
  if (s) return s;
  qsort(f->tensor, f->n, sizeof *f->tensor, by_offset);
  return check_cover(f, available, e);
}

static r4_status check_sum(const struct st_file *f, size_t size, r4_error *e)
{
  const char *expected = st_note(f, ST_SUM);
  char hex[R4_HASH_SIZE];
  if (!expected) return R4_OK;
  r4_hash(f->tensors, size, hex);
  if (!strcmp(hex, expected)) return R4_OK;
  return r4_fail(e, R4_E_PARSE,
                 "%s: its numbers have changed since it was written: expected the SHA-256 %.64s (" ST_SUM
                 " in its metadata), got %s",
                 f->path, expected, hex);
}

static r4_status read_header(struct st_file *f, size_t size, r4_error *e)
{
  if (size < LENGTH) return r4_fail(e, R4_E_PARSE, "%s: %zu bytes, too short for safetensors", f->path, size);
  uint64_t length = little(f->data, LENGTH);
  if (length > size - LENGTH || length > MOST_HEADER)
    return r4_fail(e, R4_E_PARSE,
                   "%s: its header would have %llu bytes, the file has %zu: not safetensors, or cut off",
                   f->path, (unsigned long long)length, size);
  if (!length || f->data[LENGTH] != '{')
    return r4_fail(e, R4_E_PARSE, "%s: its header does not begin with {", f->path);
  char where[R4_ERROR_SIZE];
  snprintf(where, sizeof where, "%.300s: header", f->path);
  r4_status s = js_parse(where, f->data + LENGTH, (size_t)length, &f->header, e);
  if (s) return s;
  f->tensors = f->data + LENGTH + length;
  s = read_entries(f, size - LENGTH - length, e);
  return s ? s : check_sum(f, size - LENGTH - length, e);
}

/* ---- Reading ---- */

r4_status st_parse(struct st_file *f, const char *path, uint8_t *data, size_t size, r4_error *e)
{
  *f = (struct st_file){.path = mem_copy(path, e), .data = data};
  r4_status s = f->path ? read_header(f, size, e) : R4_E_MEMORY;
  if (s) st_free(f);
  return s;
}

r4_status st_read(struct st_file *f, const char *path, r4_error *e)
{
  uint8_t *data = NULL;
  size_t size = 0;
  *f = (struct st_file){0};
  r4_status s = file_read(path, most_bytes, &data, &size, e);
  return s ? s : st_parse(f, path, data, size, e);
}

void st_free(struct st_file *f)
{
  js_free(f->header);
  r4_mem_free(f->tensor);
  r4_mem_free(f->data);
  r4_mem_free(f->path);
  *f = (struct st_file){0};
}

/* ---- Using ---- */

const struct st_tensor *st_find(const struct st_file *f, const char *name)
{
  for (size_t k = 0; k < f->n; k++)
    if (!strcmp(f->tensor[k].name, name)) return &f->tensor[k];
  return NULL;
}

const char *st_note(const struct st_file *f, const char *key)
{
  return js_text(js_get(js_get(f->header, "__metadata__"), key));
}

size_t st_count(const struct st_tensor *t)
{
  return (size_t)(t->end - t->begin) / t->width;
}

static float half(uint64_t bits)
{
  return array_half((uint16_t)bits);
}

static float single(uint64_t bits)
{
  uint32_t low = (uint32_t)bits;
  float v;
  memcpy(&v, &low, sizeof v);
  return v;
}

static float brain(uint64_t bits) /* the upper half of a binary32 */
{
  return single(bits << 16);
}

static float twice(uint64_t bits)
{
  double v;
  memcpy(&v, &bits, sizeof v);
  return (float)v;
}

st_convert *st_converter(const char *type)
{
  static const struct {
    const char *type;
    st_convert *convert;
  } floats[] = {{"F16", half}, {"BF16", brain}, {"F32", single}, {"F64", twice}};
  for (size_t k = 0; k < sizeof floats / sizeof *floats; k++)
    if (!strcmp(floats[k].type, type)) return floats[k].convert;
  return NULL;
}

r4_status st_floats(const struct st_file *f, const struct st_tensor *t, float *to, r4_error *e)
{
  st_convert *convert = st_converter(t->type);
  if (!convert)
    return r4_fail(e, R4_E_PARSE, "%s: tensor \"%.80s\" is %s, expected F32, F64, F16 or BF16", f->path,
                   t->name, t->type);
  const uint8_t *from = f->tensors + t->begin;
  for (size_t i = 0, n = st_count(t); i < n; i++) to[i] = convert(little(from + i * t->width, t->width));
  return R4_OK;
}

/* ---- Writing ---- */

static char *new_header(size_t n, const struct st_new *tensor, size_t notes, const struct st_note *note)
{
  struct json_writer w = {0};
  int64_t at = 0;
  jw_open(&w, NULL, '{');
  if (notes) {
    jw_open(&w, "__metadata__", '{');
    for (size_t k = 0; k < notes; k++) jw_text(&w, note[k].key, note[k].value);
    jw_close(&w, '}');
  }
  for (size_t k = 0; k < n; k++) {
    jw_open(&w, tensor[k].name, '{');
    jw_text(&w, "dtype", "F32");
    jw_open(&w, "shape", '[');
    for (int i = 0; i < tensor[k].shape.rank; i++) jw_whole(&w, NULL, tensor[k].shape.dim[i]);
    jw_close(&w, ']');
    jw_open(&w, "data_offsets", '[');
    jw_whole(&w, NULL, at);
    at += r4_shape_count(tensor[k].shape) * (int64_t)sizeof(float);
    jw_whole(&w, NULL, at);
    jw_close(&w, ']');
    jw_close(&w, '}');
  }
  jw_close(&w, '}');
  while (w.text.length % 8 && !w.text.failed) text_add(&w.text, " ");
  return text_take(&w.text);
}

static void write_length(const char *header, uint8_t to[LENGTH])
{
  for (size_t k = 0; k < LENGTH; k++) to[k] = (uint8_t)((uint64_t)strlen(header) >> 8 * k);
}

static size_t bytes_of(const struct st_new *t)
{
  return (size_t)r4_shape_count(t->shape) * sizeof *t->data;
}

void st_sum(size_t n, const struct st_new *tensor, char hex[HASH_HEX])
{
  struct hash h;
  uint8_t digest[HASH_BYTES];
  hash_start(&h);
  for (size_t k = 0; k < n; k++) hash_add(&h, tensor[k].data, bytes_of(&tensor[k]));
  hash_end(&h, digest);
  hash_hex(digest, hex);
}

r4_status st_pack(size_t n, const struct st_new *tensor, size_t notes, const struct st_note *note,
                  uint8_t **data, size_t *size)
{
  char *header = new_header(n, tensor, notes, note);
  size_t at = LENGTH + (header ? strlen(header) : 0);
  *size = at;
  for (size_t k = 0; k < n; k++) *size += bytes_of(&tensor[k]);
  *data = header ? r4_mem_new(*size, 1) : NULL;
  if (*data) {
    write_length(header, *data);
    memcpy(*data + LENGTH, header, at - LENGTH);
    for (size_t k = 0; k < n; at += bytes_of(&tensor[k++]))
      memcpy(*data + at, tensor[k].data, bytes_of(&tensor[k]));
  }
  r4_string_free(header);
  return *data ? R4_OK : R4_E_MEMORY;
}

r4_status st_write(const char *path, size_t n, const struct st_new *tensor, size_t notes,
                   const struct st_note *note, r4_error *e)
{
  char *header = new_header(n, tensor, notes, note);
  if (!header) return r4_fail(e, R4_E_MEMORY, "%s: out of memory", path);
  struct file_writer w;
  r4_status s = file_begin(&w, path, e);
  if (!s) {
    uint8_t length[LENGTH];
    write_length(header, length);
    fwrite(length, 1, LENGTH, w.f);
    fputs(header, w.f);
    for (size_t k = 0; k < n; k++) fwrite(tensor[k].data, 1, bytes_of(&tensor[k]), w.f);
    s = file_end(&w, e);
  }
  r4_string_free(header);
  return s;
}
