#include "tensor/foreign/torch.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/utf8.h"
#include "tensor/foreign/torch_storage.h"

static const uint8_t ZIP[] = {'P', 'K', 3, 4};
/* The pickle of the number 0x1950a86a20f9469cfc6c. */
static const uint8_t MAGIC[] = {0x80, 2,    0x8a, 10,   0x6c, 0xfc, 0x9c, 0x46,
                                0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, '.'};
static const size_t most_bytes = (size_t)1 << 40;
enum { MOST_NAME = 1000 };

/* ---- Tensors ---- */

static r4_status refuse(const struct torch_file *r, const char *name, const char *what)
{
  return r4_fail(r->e, R4_E_PARSE, "%s: tensor \"%.80s\": %s", r->path, name, what);
}

/* The next key, and its value; NULL at the end. */
static const struct pickled *next_entry(const struct torch_file *r, const struct pickled *dictionary,
                                        uint32_t *at, const struct pickled **value)
{
  if (!*at && dictionary->kind == PICKLE_CALL) /* what is called, and its arguments */
    pickle_next(r->p, dictionary, at), pickle_next(r->p, dictionary, at);
  const struct pickled *key = pickle_next(r->p, dictionary, at);
  *value = key ? pickle_next(r->p, dictionary, at) : NULL;
  return *value ? key : NULL;
}

/* The arguments of torch._utils._rebuild_tensor_v2(storage, offset, sizes, strides, ..), perhaps within a parameter; or
 * NULL. */
static const struct pickled *tensor_arguments(const struct torch_file *r, const struct pickled *v)
{
  for (int depth = 0; depth < 2 && v && v->kind == PICKLE_CALL; depth++) {
    const struct pickled *what = pickle_item(r->p, v, 0), *arguments = pickle_item(r->p, v, 1);
    bool tensor = pickle_is_global(r->p, what, "torch._utils", "_rebuild_tensor_v2") ||
                  pickle_is_global(r->p, what, "torch._utils", "_rebuild_tensor");
    if (!arguments || arguments->kind != PICKLE_LIST) return NULL;
    if (tensor) return arguments;
    v = pickle_is_global(r->p, what, "torch._utils", "_rebuild_parameter") ? pickle_item(r->p, arguments, 0)
                                                                           : NULL;
  }
  return NULL;
}

/* Numbers from 0 on; returns how many, or -1. */
static int read_numbers(const struct torch_file *r, const struct pickled *list, int64_t to[R4_MAX_RANK])
{
  if (!list || list->kind != PICKLE_LIST || list->items > R4_MAX_RANK) return -1;
  const struct pickled *v;
  int n = 0;
  for (uint32_t k = 0; (v = pickle_next(r->p, list, &k));) {
    if (v->kind != PICKLE_WHOLE || v->whole < 0) return -1;
    to[n++] = v->whole;
  }
  return n;
}

/* Where a tensor lies: its first element, how many there are, and how far apart. */
struct place {
  r4_shape shape;
  int64_t stride[R4_MAX_RANK], count;
  uint64_t first;
};

static r4_status read_place(const struct torch_file *r, const char *name, const struct pickled *arguments,
                            struct place *p)
{
  const struct pickled *offset = pickle_item(r->p, arguments, 1);
  *p = (struct place){.count = 1};
  p->shape.rank = read_numbers(r, pickle_item(r->p, arguments, 2), p->shape.dim);
  int strides = read_numbers(r, pickle_item(r->p, arguments, 3), p->stride);
  if (!offset || offset->kind != PICKLE_WHOLE || offset->whole < 0 || p->shape.rank < 0 ||
      p->shape.rank != strides)
    return refuse(
      r, name, "its offset is not a number from 0 on, or its sizes and strides are not lists of at most 6");
  p->first = (uint64_t)offset->whole;
  for (int k = 0; k < p->shape.rank; k++)
    if (__builtin_mul_overflow(p->count, p->shape.dim[k], &p->count))
      return refuse(r, name, "its shape is too large");
  return R4_OK;
}

static r4_status check_place(const struct torch_file *r, const char *name, const struct place *p, uint64_t count)
{
  uint64_t last = p->first, far;
  bool outside = false;
  for (int k = 0; k < p->shape.rank && p->count; k++)
    outside |= __builtin_mul_overflow((uint64_t)p->shape.dim[k] - 1, (uint64_t)p->stride[k], &far) ||
               __builtin_add_overflow(last, far, &last);
  if (!outside && (!p->count || last < count)) return R4_OK;
  return refuse(r, name, "it reaches beyond the end of its storage");
}

/* The seventh argument, if any, says what else is done to the values: {"neg": True} for views that negate, such as
 * z.conj().imag. */
static r4_status read_sign(const struct torch_file *r, const char *name, const struct pickled *arguments,
                           float *sign)
{
  const struct pickled *metadata = pickle_item(r->p, arguments, 6), *key, *value;
  bool known = !metadata || metadata->kind == PICKLE_NONE || metadata->kind == PICKLE_DICT;
  *sign = 1;
  for (uint32_t at = 0; known && metadata && (key = next_entry(r, metadata, &at, &value));) {
    known = pickle_is_text(key, "neg") && value->kind == PICKLE_WHOLE;
    if (known) *sign = value->whole ? -1 : 1;
  }
  return known ? R4_OK : refuse(r, name, "it has metadata other than the negative bit");
}

static void copy_elements(const struct storage *from, const struct place *p, float sign, float *to)
{
  st_convert *convert = st_converter(from->type->type);
  size_t width = from->type->width;
  int64_t index[R4_MAX_RANK] = {0};
  uint64_t at = p->first;
  for (int64_t i = 0; i < p->count; i++) {
    uint64_t bits = 0;
    for (size_t k = width; k--;) bits = bits << 8 | from->data[at * width + k];
    to[i] = sign * convert(bits);
    for (int k = p->shape.rank - 1; k >= 0; k--) {
      at += (uint64_t)p->stride[k];
      if (++index[k] < p->shape.dim[k]) break;
      at -= (uint64_t)(p->shape.dim[k] * p->stride[k]);
      index[k] = 0;
    }
  }
}

/* The name belongs to the reader if all is well. */
static r4_status read_tensor(struct torch_file *r, char *name, const struct pickled *arguments)
{
  struct place p;
  float sign;
  struct storage *from = torch_storage_of(r, pickle_item(r->p, arguments, 0));
  r4_status s = read_place(r, name, arguments, &p);
  if (!s) s = read_sign(r, name, arguments, &sign);
  if (!s && (!from || !from->type))
    s = refuse(r, name, "it has no storage, or one of a type that is not known");
  if (!s && !from->data && r->zip) s = torch_storage_unzip(r, from);
  if (!s && !from->data) s = refuse(r, name, "its storage is not in the file");
  if (!s) s = check_place(r, name, &p, from->count);
  if (!s && p.count > INT64_MAX / (int64_t)sizeof(float)) s = refuse(r, name, "its shape is too large");
  if (!s) s = torch_count_bytes(r, (uint64_t)p.count * sizeof(float));
  if (s) return s;
  float *to = mem_new((size_t)p.count + 1, sizeof *to, r->path, r->e);
  if (!to) return R4_E_MEMORY;
  copy_elements(from, &p, sign, to);
  r->tensor[r->tensors++] = (struct st_new){.name = name, .shape = p.shape, .data = to};
  return R4_OK;
}

/* ---- The dictionary ---- */

static bool is_dictionary(const struct torch_file *r, const struct pickled *v)
{
  if (v->kind == PICKLE_DICT) return true;
  return v->kind == PICKLE_CALL &&
         pickle_is_global(r->p, pickle_item(r->p, v, 0), "collections", "OrderedDict");
}

static const struct pickled *find_dictionary(const struct torch_file *r, const struct pickled *root)
{
  static const char *const usual[] = {"state_dict", "model_state_dict", "model"};
  const struct pickled *key, *value;
  for (size_t n = 0; n < sizeof usual / sizeof *usual; n++)
    for (uint32_t at = 0; (key = next_entry(r, root, &at, &value));)
      if (pickle_is_text(key, usual[n]) && is_dictionary(r, value)) return value;
  return root;
}

static r4_status not_a_dictionary(const struct torch_file *r, const struct pickled *root)
{
  const struct pickled *class = root->kind == PICKLE_CALL ? pickle_item(r->p, root, 0) : NULL;
  const struct pickled *name = class && class->kind == PICKLE_GLOBAL ? pickle_item(r->p, class, 1) : NULL;
  int length = name ? (int)(name->length < 80 ? name->length : 80) : 0;
  return r4_fail(
    r->e, R4_E_PARSE,
    "%s: holds %s%.*s, expected a dictionary of tensors, as written by torch.save(model.state_dict(), PATH)",
    r->path, length ? "an object of the class " : "one value", length, length ? name->text : "");
}

/* In new memory. NULL and an error unless the key is text that can be a name. */
static char *name_of(const struct torch_file *r, const struct pickled *key)
{
  struct text copy = {0};
  if (key->kind != PICKLE_TEXT || key->length > MOST_NAME || memchr(key->text, 0, key->length) ||
      pickle_is_text(key, "__metadata__")) {
    r4_fail(r->e, R4_E_PARSE, "%s: a tensor has a name that is not text of at most %d bytes", r->path,
            MOST_NAME);
    return NULL;
  }
  text_add(&copy, "%.*s", (int)key->length, key->text);
  char *name = text_done(&copy, r->path, r->e);
  if (!name || utf8_valid(name)) return name;
  r4_fail(r->e, R4_E_PARSE, "%s: the name of a tensor is not UTF-8", r->path);
  r4_string_free(name);
  return NULL;
}

static r4_status read_tensors(struct torch_file *r)
{
  const struct pickled *root = pickle_root(r->p), *key, *value;
  if (!is_dictionary(r, root)) return not_a_dictionary(r, root);
  const struct pickled *dictionary = find_dictionary(r, root);
  if (!(r->tensor = mem_new(dictionary->items / 2 + 1, sizeof *r->tensor, r->path, r->e))) return R4_E_MEMORY;
  r4_status s = R4_OK;
  for (uint32_t at = 0; !s && (key = next_entry(r, dictionary, &at, &value));) {
    const struct pickled *arguments = tensor_arguments(r, value);
    const struct storage *from = arguments ? torch_storage_of(r, pickle_item(r->p, arguments, 0)) : NULL;
    /* Such as the number of an epoch, or a tensor of whole numbers. */
    if (!arguments || (from && from->type && !from->type->type)) continue;
    char *name = name_of(r, key);
    s = name ? read_tensor(r, name, arguments) : r->e->status;
    if (s) r4_string_free(name);
  }
  if (!s && !r->tensors)
    return r4_fail(r->e, R4_E_PARSE, "%s: its dictionary has no tensors of real numbers", r->path);
  return s;
}

/* ---- The two kinds ---- */

/* Newer files say in which order the bytes of numbers are. */
static r4_status check_order(const struct torch_file *r)
{
  char member[sizeof r->prefix + 16];
  uint8_t *order = NULL;
  uint64_t claimed = 0;
  size_t size = 0;
  snprintf(member, sizeof member, "%sbyteorder", r->prefix);
  if (!npz_has(r->zip, member)) return R4_OK;
  r4_status s = npz_size(r->zip, member, &claimed, r->e);
  if (!s && claimed == 6) s = npz_bytes(r->zip, member, &order, &size, r->e);
  if (!s && (size != 6 || memcmp(order, "little", 6)))
    s = r4_fail(r->e, R4_E_PARSE, "%s: its numbers have their highest byte first, expected the lowest",
                r->path);
  r4_mem_free(order);
  return s;
}

static r4_status open_zip(struct torch_file *r)
{
  static const char end[] = "/data.pkl";
  uint64_t claimed = 0;
  size_t size = 0, used;
  r->zip = npz_open_bytes(r->data, r->size, r->path, r->e);
  if (!r->zip) return r->e->status;
  for (size_t k = 0; k < npz_count(r->zip) && !*r->prefix; k++) {
    const char *name = npz_name(r->zip, k);
    size_t n = name ? strlen(name) : 0, m = sizeof end - 1;
    if (n > m && n - m + 2 < sizeof r->prefix && !strcmp(name + n - m, end))
      snprintf(r->prefix, sizeof r->prefix, "%.*s/", (int)(n - m), name);
  }
  if (!*r->prefix)
    return r4_fail(r->e, R4_E_PARSE, "%s: an archive without data.pkl, so not of PyTorch", r->path);
  char member[sizeof r->prefix + 16];
  snprintf(member, sizeof member, "%sdata.pkl", r->prefix);
  r4_status s = check_order(r);
  if (!s) s = npz_size(r->zip, member, &claimed, r->e);
  if (!s && claimed > r->size) s = r4_fail(r->e, R4_E_PARSE, "%s: data.pkl is larger than the file", r->path);
  if (!s) s = npz_bytes(r->zip, member, &r->text, &size, r->e);
  if (s) return s;
  r->p = pickle_read(r->path, r->text, size, &used, r->e);
  return r->p ? torch_storages_list(r) : r->e->status;
}

static r4_status open_old(struct torch_file *r)
{
  enum { VERSION, MACHINE, BEFORE };
  size_t at = sizeof MAGIC, used;
  for (int k = VERSION; k < BEFORE; k++) {
    struct pickle *skipped = pickle_read(r->path, r->data + at, r->size - at, &used, r->e);
    if (!skipped) return r->e->status;
    pickle_free(skipped);
    at += used;
  }
  r->p = pickle_read(r->path, r->data + at, r->size - at, &used, r->e);
  if (!r->p) return r->e->status;
  r4_status s = torch_storages_list(r);
  return s ? s : torch_storages_in_file(r, at + used);
}

static void forget(struct torch_file *r)
{
  for (size_t k = 0; k < r->tensors; k++) {
    r4_string_free((char *)(uintptr_t)r->tensor[k].name);
    r4_mem_free((void *)(uintptr_t)r->tensor[k].data);
  }
  for (size_t k = 0; k < r->storages; k++) r4_mem_free(r->storage[k].own);
  r4_mem_free(r->tensor);
  r4_mem_free(r->storage);
  pickle_free(r->p);
  r4_mem_free(r->text);
  npz_close(r->zip);
}

r4_status torch_parse(struct st_file *f, const char *path, const uint8_t *data, size_t size, r4_error *e)
{
  r4_error own = {0};
  struct torch_file r = {.path = path, .data = data, .size = size, .e = e ? e : &own};
  r4_status s;
  *f = (struct st_file){0};
  r4_error_clear(r.e);
  if (size > sizeof MAGIC && !memcmp(data, MAGIC, sizeof MAGIC))
    s = open_old(&r);
  else if (size > sizeof ZIP && !memcmp(data, ZIP, sizeof ZIP))
    s = open_zip(&r);
  else
    s = r4_fail(r.e, R4_E_PARSE, "%s: not a file of PyTorch", path);
  if (!s) s = read_tensors(&r);
  uint8_t *packed = NULL;
  size_t bytes = 0;
  if (!s && st_pack(r.tensors, r.tensor, 0, NULL, &packed, &bytes))
    s = r4_fail(r.e, R4_E_MEMORY, "out of memory for %s", r.path);
  forget(&r);
  return s ? s : st_parse(f, path, packed, bytes, r.e);
}

bool torch_is_file(const char *path)
{
  uint8_t head[sizeof MAGIC] = {0};
  FILE *f = path && file_exists(path) && !file_is_folder(path) ? file_open(path, NULL) : NULL;
  size_t n = f ? fread(head, 1, sizeof head, f) : 0;
  if (f) fclose(f);
  return (n == sizeof MAGIC && !memcmp(head, MAGIC, n)) ||
         (n >= sizeof ZIP && !memcmp(head, ZIP, sizeof ZIP));
}

r4_status torch_read(struct st_file *f, const char *path, r4_error *e)
{
  uint8_t *data = NULL;
  size_t size = 0;
  *f = (struct st_file){0};
  r4_status s = file_read(path, most_bytes, &data, &size, e);
  if (!s) s = torch_parse(f, path, data, size, e);
  r4_mem_free(data);
  return s;
}
