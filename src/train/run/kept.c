#include "train/run/kept.h"

#include <string.h>

#include "base/checksum.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"

enum { MOST_BYTES = 1 << 24, BLOCK = 1 << 14 };

/* ---- The key ---- */

static r4_status add_file(struct hash *h, const char *folder, const char *name, r4_error *e)
{
  uint8_t block[BLOCK];
  char *path = file_join(folder, name, e);
  if (!path) return R4_E_MEMORY;
  FILE *f = file_open(path, e);
  uint64_t size = 0;
  for (size_t n; f && (n = fread(block, 1, sizeof block, f)) > 0; size += n) hash_add(h, block, n);
  hash_add_number(h, size);
  r4_status s = !f ? e->status : ferror(f) ? r4_fail(e, R4_E_IO, "%s: cannot be read", path) : R4_OK;
  if (f) fclose(f);
  r4_mem_free(path);
  return s;
}

static void add_text(struct hash *h, const char *text)
{
  hash_add_number(h, strlen(text));
  hash_add(h, text, strlen(text));
}

r4_status kept_key(const char *folder, const char *data_hash, double eps, char key[R4_HASH_SIZE], r4_error *e)
{
  struct hash h;
  uint8_t digest[HASH_BYTES];
  uint64_t bits;
  memcpy(&bits, &eps, sizeof bits);
  hash_start(&h);
  add_text(&h, R4_VERSION);
  add_text(&h, data_hash);
  hash_add_number(&h, bits);
  r4_status s = add_file(&h, folder, "config.yaml", e);
  if (!s) s = add_file(&h, folder, "model.safetensors", e);
  hash_end(&h, digest);
  hash_hex(digest, key);
  return s;
}

/* ---- Writing ---- */

void kept_open(struct json_writer *w, const char *what, int64_t format, const char *key)
{
  jw_open(w, NULL, '{');
  jw_whole(w, what, format);
  jw_text(w, "r4", R4_VERSION);
  jw_text(w, "key", key);
}

r4_status kept_write(const char *path, struct json_writer *w, r4_error *e)
{
  checksum_close(w);
  text_add(&w->text, "\n");
  return file_write_text(path, &w->text, e);
}

/* ---- Reading ---- */

static r4_status check_form(const char *path, const struct js *root, const char *what, int64_t format, r4_error *e)
{
  int64_t form;
  const char *version = js_text(js_get(root, "r4"));
  if (!version) return r4_fail(e, R4_E_PARSE, "%s: does not name the r4 that made it: not figures of a net", path);
  if (strcmp(version, R4_VERSION))
    return r4_fail(e, R4_E_ARGUMENT, "%s: is from r4 %.20s, this is r4 %s", path, version, R4_VERSION);
  if (!js_whole(js_get(root, what), &form) || form != format || !js_text(js_get(root, "key")))
    return r4_fail(e, R4_E_PARSE, "%s: has another form: expected \"%s\":%lld and a key", path, what,
                   (long long)format);
  return R4_OK;
}

static r4_status check_key(const char *path, const char *own, const char *key, r4_error *e)
{
  if (!strcmp(own, key)) return R4_OK;
  return r4_fail(e, R4_E_ARGUMENT,
                 "%s: belongs to other settings, data or weights: its key is %.12s.., expected %.12s..", path, own,
                 key);
}

r4_status kept_read(const char *path, const char *what, int64_t format, const char *key, struct js **root, r4_error *e)
{
  uint8_t *text = NULL;
  size_t size = 0;
  r4_status s = file_read(path, MOST_BYTES, &text, &size, e);
  if (!s) s = js_parse(path, text, size, root, e);
  if (!s) s = check_form(path, *root, what, format, e);
  if (!s && !checksum_matches((const char *)text, size))
    s = r4_fail(e, R4_E_ARGUMENT, "%s: was edited: its SHA-256 does not match the one at its end", path);
  if (!s) s = check_key(path, js_text(js_get(*root, "key")), key, e);
  r4_mem_free(text);
  return s;
}
