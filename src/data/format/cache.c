#include "data/format/cache.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/format/cache_file.h"
#include "data/format/cache_parts.h"
#include "r4_tools.h"

/* ---- Names ---- */

static r4_status add_file(struct hash *h, const struct listing *l, const char *file, r4_error *e)
{
  hash_add_number(h, file != NULL);
  if (!file) return R4_OK;
  char *path = file_join(l->folder, file, e);
  if (!path) return R4_E_MEMORY;
  struct stat about;
  r4_status s = stat(path, &about) ? r4_fail(e, R4_E_IO, "%s: %s", path, strerror(errno)) : R4_OK;
  r4_mem_free(path);
  if (s) return s;
  hash_add(h, file, strlen(file) + 1);
  hash_add_number(h, (uint64_t)about.st_size);
  hash_add_number(h, (uint64_t)about.st_mtim.tv_sec);
  hash_add_number(h, (uint64_t)about.st_mtim.tv_nsec);
  return R4_OK;
}

#define DECODED(options, field, ...) (uint64_t)options->field,

r4_status cache_name(const struct listing *l, const r4_data_options *options, char **name, r4_error *e)
{
  char place[PATH_MAX], hex[HASH_HEX];
  uint8_t digest[HASH_BYTES];
  const uint64_t settings[] = {DECODER_VERSION,
                               (uint64_t)options->mask_means,
                               R4_IMAGE_READING(DECODED, options)
                               (uint64_t)options->height,
                               (uint64_t)options->width,
                               l->mask_from,
                               l->n};
  struct hash h;
  hash_start(&h);
  for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) hash_add_number(&h, settings[k]);
  hash_add_number(&h, options->mask_value_count);
  hash_add(&h, options->mask_values, options->mask_value_count * sizeof *options->mask_values);
  if (l->annotations) {
    const char *categories = options->mask_categories ? options->mask_categories : "";
    hash_add(&h, l->annotations->digest, sizeof l->annotations->digest);
    hash_add(&h, categories, strlen(categories) + 1);
  }
  const char *folder = realpath(l->folder, place) ? place : l->folder;
  hash_add(&h, folder, strlen(folder) + 1);
  r4_status s = R4_OK;
  for (size_t i = 0; !s && i < l->n; i++) {
    s = add_file(&h, l, l->at[i].file, e);
    if (!s) s = add_file(&h, l, l->at[i].mask, e);
    if (!s && l->at[i].mask2) s = add_file(&h, l, l->at[i].mask2, e);
  }
  if (s) return s;
  hash_end(&h, digest);
  hash_hex(digest, hex);
  struct text path = {0};
  text_add(&path, "%s/%s.images", options->cache, hex);
  *name = text_done(&path, options->cache, e);
  return *name ? R4_OK : R4_E_MEMORY;
}

/* ---- Reading ---- */

bool cache_load(const char *file, bool only_read, r4_data *d)
{
  struct map *m = map_open(file, NULL);
  if (!m) return false;
  m->only_read = only_read;
  bool good = cache_is_whole(m) && cache_file_load(m, d);
  map_drop(m);
  return good;
}

/* ---- Making ---- */

r4_lock *cache_lock(const char *file, r4_error *e)
{
  struct text folder = {0};
  text_add(&folder, "%.*s", (int)(strrchr(file, '/') - file), file);
  char *name = text_done(&folder, file, e);
  r4_status s = name ? file_make_folder(name, e) : R4_E_MEMORY;
  r4_mem_free(name);
  return s ? NULL : lock_wait(file, e);
}
