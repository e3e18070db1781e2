#include "tensor/foreign/torch_storage.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

enum {
  MOST_KEY = 255,
  /* What is read may be this many times as large as the file: halves become floats, and tensors share storages. A file
   * that names one storage a thousand times is not a net. */
  SHARED = 16
};

static const struct storage_type types[] = {
  {"FloatStorage", 4, "F32"}, {"HalfStorage", 2, "F16"}, {"BFloat16Storage", 2, "BF16"}, {"DoubleStorage", 8, "F64"},
  {"LongStorage", 8, NULL},   {"IntStorage", 4, NULL},   {"ShortStorage", 2, NULL},      {"CharStorage", 1, NULL},
  {"ByteStorage", 1, NULL},   {"BoolStorage", 1, NULL}};

r4_status torch_count_bytes(struct torch_file *r, uint64_t more)
{
  uint64_t most = SHARED * (uint64_t)r->size;
  if (more <= most && r->bytes <= most - more) {
    r->bytes += more;
    return R4_OK;
  }
  return r4_fail(r->e, R4_E_PARSE, "%s: its tensors have more than %d times the bytes of the file", r->path,
                 SHARED);
}

static int compare_keys(const struct pickled *a, const struct pickled *b)
{
  if (a->length != b->length) return a->length < b->length ? -1 : 1;
  return memcmp(a->text, b->text, a->length);
}

static int by_key(const void *a, const void *b)
{
  return compare_keys(((const struct storage *)a)->key, ((const struct storage *)b)->key);
}

static struct storage *find_storage(const struct torch_file *r, const struct pickled *key)
{
  struct storage like = {.key = key};
  if (!key || key->kind != PICKLE_TEXT) return NULL;
  return bsearch(&like, r->storage, r->storages, sizeof like, by_key);
}

/* ("storage", torch.FloatStorage, key, device, count); before PyTorch 1.0 also what it is a view of, or None */
static const struct pickled *stored_key(const struct torch_file *r, const struct pickled *stored)
{
  const struct pickled *id = stored && stored->kind == PICKLE_STORED ? pickle_item(r->p, stored, 0) : NULL;
  if (!id || id->kind != PICKLE_LIST || !pickle_is_text(pickle_item(r->p, id, 0), "storage")) return NULL;
  return pickle_item(r->p, id, 2);
}

static const struct storage_type *stored_type(const struct torch_file *r, const struct pickled *stored)
{
  const struct pickled *class = pickle_item(r->p, pickle_item(r->p, stored, 0), 1);
  for (size_t k = 0; k < sizeof types / sizeof *types; k++)
    if (pickle_is_global(r->p, class, "torch", types[k].name)) return &types[k];
  return NULL;
}

static uint64_t stored_count(const struct torch_file *r, const struct pickled *stored)
{
  const struct pickled *count = pickle_item(r->p, pickle_item(r->p, stored, 0), 4);
  return count && count->kind == PICKLE_WHOLE && count->whole >= 0 ? (uint64_t)count->whole : UINT64_MAX;
}

static r4_status check_storage(const struct torch_file *r, const struct pickled *key,
                               const struct pickled *stored)
{
  const struct pickled *view = pickle_item(r->p, pickle_item(r->p, stored, 0), 5);
  if (key->kind != PICKLE_TEXT || key->length > MOST_KEY)
    return r4_fail(r->e, R4_E_PARSE, "%s: a storage has no key of at most %d bytes", r->path, MOST_KEY);
  if (view && view->kind != PICKLE_NONE)
    return r4_fail(r->e, R4_E_PARSE,
                   "%s: a storage is a view of another one, as PyTorch before 1.0 had it; save it again",
                   r->path);
  return R4_OK;
}

r4_status torch_storages_list(struct torch_file *r)
{
  const struct pickled *v;
  size_t all = 0, kept = 0;
  for (size_t k = 0; (v = pickle_at(r->p, k)); k++) all += v->kind == PICKLE_STORED;
  if (!(r->storage = mem_new(all + 1, sizeof *r->storage, r->path, r->e))) return R4_E_MEMORY;
  for (size_t k = 0; (v = pickle_at(r->p, k)); k++) {
    const struct pickled *key = stored_key(r, v);
    if (!key) continue; /* such as the source of a class */
    if (check_storage(r, key, v)) return r->e->status;
    r->storage[r->storages++] =
      (struct storage){.key = key, .type = stored_type(r, v), .count = stored_count(r, v)};
  }
  qsort(r->storage, r->storages, sizeof *r->storage, by_key);
  for (size_t k = 0; k < r->storages; k++)
    if (!kept || by_key(&r->storage[kept - 1], &r->storage[k])) r->storage[kept++] = r->storage[k];
  r->storages = kept;
  return R4_OK;
}

r4_status torch_storages_in_file(struct torch_file *r, size_t at)
{
  size_t used;
  struct pickle *keys = pickle_read(r->path, r->data + at, r->size - at, &used, r->e);
  if (!keys) return r->e->status;
  r4_status s = R4_OK;
  const struct pickled *key;
  at += used;
  for (uint32_t k = 0; !s && (key = pickle_next(keys, pickle_root(keys), &k));) {
    struct storage *to = find_storage(r, key);
    uint64_t count = 0, left = r->size - at;
    for (size_t b = 8; left >= 8 && b--;) count = count << 8 | r->data[at + b];
    if (!to || !to->type)
      s = r4_fail(r->e, R4_E_PARSE, "%s: has a storage that no tensor is in, or of a type that is not known",
                  r->path);
    else if (left < 8 || count > (left - 8) / to->type->width)
      s = r4_fail(r->e, R4_E_PARSE, "%s: byte %zu: the file ends within a storage", r->path, at);
    if (s) break;
    *to = (struct storage){.key = to->key, .type = to->type, .data = r->data + at + 8, .count = count};
    at += 8 + (size_t)count * to->type->width;
  }
  pickle_free(keys);
  return s;
}

/* Before it is unpacked: a few bytes of an archive can become a thousand times as many. */
static r4_status check_size(struct torch_file *r, const struct storage *of, const char *member)
{
  int length = (int)of->key->length;
  uint64_t size, want;
  if (__builtin_mul_overflow(of->count, of->type->width, &want))
    return r4_fail(r->e, R4_E_PARSE, "%s: storage \"%.*s\" does not say how many elements it has", r->path,
                   length, of->key->text);
  r4_status s = npz_size(r->zip, member, &size, r->e);
  if (!s && size != want)
    s = r4_fail(r->e, R4_E_PARSE, "%s: storage \"%.*s\" has %llu bytes, expected %llu", r->path, length,
                of->key->text, (unsigned long long)size, (unsigned long long)want);
  return s ? s : torch_count_bytes(r, size);
}

r4_status torch_storage_unzip(struct torch_file *r, struct storage *to)
{
  struct text name = {0};
  size_t size = 0;
  text_add(&name, "%sdata/%.*s", r->prefix, (int)to->key->length, to->key->text);
  char *member = text_done(&name, r->path, r->e);
  r4_status s = member ? check_size(r, to, member) : R4_E_MEMORY;
  if (!s) s = npz_bytes(r->zip, member, &to->own, &size, r->e);
  r4_string_free(member);
  to->data = to->own;
  return s;
}

struct storage *torch_storage_of(const struct torch_file *r, const struct pickled *stored)
{
  return find_storage(r, stored_key(r, stored));
}
