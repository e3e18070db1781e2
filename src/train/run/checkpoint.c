#include "train/run/checkpoint.h"

#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"

enum { NUMBER = 8, MAGIC = 8, NAME = 64, DIGEST_AT = MAGIC + NUMBER, BODY_AT = DIGEST_AT + HASH_BYTES };
static const char magic[MAGIC + 1] = "r4check\n";
static const size_t most_bytes = (size_t)1 << 40;

static void put_number(uint64_t v, uint8_t to[NUMBER])
{
  for (size_t k = 0; k < NUMBER; k++) to[k] = (uint8_t)(v >> 8 * k);
}

static uint64_t get_number(const uint8_t *from)
{
  uint64_t v = 0;
  for (size_t k = NUMBER; k--;) v = v << 8 | from[k];
  return v;
}

/* ---- Writing ---- */

/* Everything behind the digest, to a hash or to a file. */
typedef void sink(void *to, const void *data, size_t size);

static void to_hash(void *to, const void *data, size_t size)
{
  hash_add(to, data, size);
}

static void to_file(void *to, const void *data, size_t size)
{
  fwrite(data, 1, size, to);
}

static void put_body(size_t n, const struct checkpoint_part *part, sink *put, void *to)
{
  uint8_t number[NUMBER];
  uint64_t size = NUMBER;
  for (size_t k = 0; k < n; k++) size += 2 * NUMBER + strlen(part[k].name) + part[k].size;
  put_number(size, number);
  put(to, number, NUMBER);
  for (size_t k = 0; k < n; k++) {
    put_number(strlen(part[k].name), number);
    put(to, number, NUMBER);
    put_number(part[k].size, number);
    put(to, number, NUMBER);
    put(to, part[k].name, strlen(part[k].name));
    put(to, part[k].data, part[k].size);
  }
}

r4_status checkpoint_write(const char *path, size_t n, const struct checkpoint_part *part, r4_error *e)
{
  for (size_t k = 0; k < n; k++)
    if (strlen(part[k].name) >= NAME)
      return r4_fail(e, R4_E_ARGUMENT, "%s: the name \"%.80s\" of a part is too long", path, part[k].name);
  struct hash h;
  struct file_writer w;
  uint8_t head[BODY_AT];
  memcpy(head, magic, MAGIC);
  put_number(CHECKPOINT_VERSION, head + MAGIC);
  hash_start(&h);
  put_body(n, part, to_hash, &h);
  hash_end(&h, head + DIGEST_AT);
  r4_status s = file_begin(&w, path, e);
  if (s) return s;
  fwrite(head, 1, sizeof head, w.f);
  put_body(n, part, to_file, w.f);
  return file_end(&w, e);
}

/* ---- Reading ---- */

static r4_status damaged(const struct checkpoint *c, const char *what, r4_error *e)
{
  return r4_fail(e, R4_E_PARSE, "%s: damaged: %s", c->path, what);
}

static r4_status check_whole(const struct checkpoint *c, size_t size, r4_error *e)
{
  if (size < MAGIC || memcmp(c->bytes, magic, MAGIC))
    return r4_fail(e, R4_E_PARSE, "%s: is not an r4 checkpoint", c->path);
  if (size < BODY_AT + NUMBER) return damaged(c, "it is cut off", e);
  uint64_t version = get_number(c->bytes + MAGIC);
  if (version != CHECKPOINT_VERSION)
    return r4_fail(e, R4_E_PARSE, "%s: is a checkpoint of version %llu; this r4 reads version %d%s", c->path,
                   (unsigned long long)version, CHECKPOINT_VERSION,
                   version > CHECKPOINT_VERSION ? ": a newer r4 may have written it" : "");
  uint64_t body = get_number(c->bytes + BODY_AT);
  if (body != size - BODY_AT)
    return r4_fail(e, R4_E_PARSE, "%s: damaged: it has %zu bytes where it says %llu", c->path, size - BODY_AT,
                   (unsigned long long)body);
  struct hash h;
  uint8_t digest[HASH_BYTES];
  hash_start(&h);
  hash_add(&h, c->bytes + BODY_AT, size - BODY_AT);
  hash_end(&h, digest);
  return memcmp(digest, c->bytes + DIGEST_AT, HASH_BYTES) ? damaged(c, "its checksum does not match", e)
                                                          : R4_OK;
}

static r4_status add_part(struct checkpoint *c, const uint8_t *name, size_t length, const uint8_t *data,
                          size_t size, r4_error *e)
{
  struct checkpoint_part *part = mem_grow(c->part, c->n + 1, sizeof *part, c->path, e);
  if (part) c->part = part;
  char(*names)[NAME] = part ? mem_grow(c->name, c->n + 1, sizeof *names, c->path, e) : NULL;
  if (!names) return R4_E_MEMORY;
  c->name = names;
  memset(names[c->n], 0, NAME);
  memcpy(names[c->n], name, length);
  part[c->n++] = (struct checkpoint_part){.data = data, .size = size};
  return R4_OK;
}

/* A checksum is no protection against a forged file: sizes are still checked. */
static r4_status read_parts(struct checkpoint *c, size_t size, r4_error *e)
{
  const uint8_t *at = c->bytes + BODY_AT + NUMBER, *end = c->bytes + size;
  while (at < end) {
    if (end - at < 2 * NUMBER) return damaged(c, "a part is cut off", e);
    uint64_t length = get_number(at), bytes = get_number(at + NUMBER);
    at += 2 * NUMBER;
    if (length >= NAME || length > (uint64_t)(end - at) || bytes > (uint64_t)(end - at) - length)
      return damaged(c, "the sizes of a part are wrong", e);
    r4_status s = add_part(c, at, (size_t)length, at + length, (size_t)bytes, e);
    if (s) return s;
    at += length + bytes;
  }
  for (size_t k = 0; k < c->n; k++) c->part[k].name = c->name[k];
  return R4_OK;
}

r4_status checkpoint_parse(struct checkpoint *c, const char *path, uint8_t *bytes, size_t size, r4_error *e)
{
  *c = (struct checkpoint){.path = mem_copy(path, e), .bytes = bytes};
  r4_status s = c->path ? check_whole(c, size, e) : R4_E_MEMORY;
  if (!s) s = read_parts(c, size, e);
  if (s) checkpoint_free(c);
  return s;
}

r4_status checkpoint_read(struct checkpoint *c, const char *path, r4_error *e)
{
  uint8_t *bytes = NULL;
  size_t size = 0;
  *c = (struct checkpoint){0};
  r4_status s = file_read(path, most_bytes, &bytes, &size, e);
  return s ? s : checkpoint_parse(c, path, bytes, size, e);
}

void checkpoint_free(struct checkpoint *c)
{
  r4_mem_free(c->name);
  r4_mem_free(c->part);
  r4_mem_free(c->bytes);
  r4_mem_free(c->path);
  *c = (struct checkpoint){0};
}

const struct checkpoint_part *checkpoint_find(const struct checkpoint *c, const char *name)
{
  for (size_t k = 0; k < c->n; k++)
    if (!strcmp(c->part[k].name, name)) return &c->part[k];
  return NULL;
}

r4_status checkpoint_take(const struct checkpoint *c, const char *name, void *to, size_t size, r4_error *e)
{
  const struct checkpoint_part *p = checkpoint_find(c, name);
  if (!p) return r4_fail(e, R4_E_PARSE, "%s: has no part \"%s\": it belongs to another run", c->path, name);
  if (p->size != size)
    return r4_fail(e, R4_E_PARSE, "%s: part \"%s\" has %zu bytes, expected %zu: it belongs to another run",
                   c->path, name, p->size, size);
  memcpy(to, p->data, size);
  return R4_OK;
}
