#include "data/format/whole_open.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/format/cache.h"
#include "data/format/cache_parts.h"
#include "data/format/whole.h"
#include "data/format/texts.h"
#include "r4_tools.h"

const char *whole_room(const r4_data_options *options)
{
  return options->cache_only_read ? NULL : options->cache;
}

/* ---- Names ---- */

static void add_text(struct hash *h, const char *text)
{
  hash_add_number(h, text != NULL);
  if (text) hash_add(h, text, strlen(text) + 1);
}

/* A file by where it is and what it was like. */
static r4_status add_file(struct hash *h, const char *path, r4_error *e)
{
  char place[PATH_MAX];
  struct stat about;
  if (stat(path, &about)) return r4_fail(e, R4_E_IO, "%s: %s", path, strerror(errno));
  add_text(h, realpath(path, place) ? place : path);
  const uint64_t part[] = {(uint64_t)about.st_size, (uint64_t)about.st_mtim.tv_sec, (uint64_t)about.st_mtim.tv_nsec};
  for (size_t k = 0; k < sizeof part / sizeof *part; k++) hash_add_number(h, part[k]);
  return R4_OK;
}

#define NUMBER(options, field, ...) (uint64_t)options->field,

/* All options of which what is read depends; words that must not matter are a list, or a file of them. */
static void add_options(struct hash *h, const r4_data_options *o)
{
  const uint64_t number[] = {R4_IMAGE_READING(NUMBER, o) R4_TEXT_READING(NUMBER, o)(uint64_t) o->mask_means,
                             (uint64_t)o->height, (uint64_t)o->width, o->seed, o->own_split, o->mask_value_count};
  for (size_t k = 0; k < sizeof number / sizeof *number; k++) hash_add_number(h, number[k]);
  hash_add(h, o->mask_values, o->mask_value_count * sizeof *o->mask_values);
  add_text(h, o->mask_words && file_exists(o->mask_words) ? "" : o->mask_words);
}

static r4_status list_files(const struct format *f, const char *path, const r4_data_options *o, struct names *files,
                            r4_error *e)
{
  r4_status s = f->files(path, files, e);
  if (!s && f->takes & TAKES_WORDS) s = texts_list_files(o, files, e);
  return s;
}

/* Its name is the SHA-256 of all that the data depend on. r4_string_free. */
static r4_status name_of(const struct format *f, const char *path, const r4_data_options *o, char **name, r4_error *e)
{
  char place[PATH_MAX], hex[HASH_HEX];
  uint8_t digest[HASH_BYTES];
  struct hash h;
  struct names *files = names_new(e);
  r4_status s = files ? list_files(f, path, o, files, e) : R4_E_MEMORY;
  hash_start(&h);
  hash_add_number(&h, WHOLE_VERSION);
  add_text(&h, R4_VERSION);
  add_text(&h, f->name);
  add_text(&h, realpath(path, place) ? place : path);
  add_options(&h, o);
  for (size_t k = 0; !s && k < files->n; k++) s = add_file(&h, files->name[k], e);
  names_drop(files);
  if (s) return s;
  hash_end(&h, digest);
  hash_hex(digest, hex);
  struct text t = {0};
  text_add(&t, "%s/%s.data", o->cache, hex);
  *name = text_done(&t, path, e);
  return *name ? R4_OK : R4_E_MEMORY;
}

/* ---- Opening ---- */

/* NULL where there is none that is whole; an error only when out of memory. */
static r4_data *load(const char *file, const char *path, bool only_read, r4_error *e)
{
  r4_error why = {0};
  struct map *m = map_open(file, &why);
  if (!m && why.status == R4_E_MEMORY && e) *e = why;
  if (!m) return NULL;
  m->only_read = only_read;
  r4_data *d = cache_is_whole(m) ? whole_load(m, path, e) : NULL;
  map_drop(m);
  return d;
}

/* The data without what could not be done; NULL if there is no memory to say so. */
static r4_data *unkept(r4_data *d, const r4_error *why, r4_error *e)
{
  if (!d || !data_add_unkept(d, why, e)) return d;
  r4_data_free(d);
  return NULL;
}

static r4_data *open_in_memory(const struct format *f, const char *path, const r4_data_options *o, const r4_error *why,
                               r4_error *e)
{
  r4_data_options in_memory = *o;
  in_memory.cache = NULL;
  return unkept(f->open(path, &in_memory, e), why, e);
}

/* What was read lies in the folder of the cache, or in memory: it makes way for what is kept. */
static r4_data *keep(r4_data *d, const char *file, const char *path, r4_error *e)
{
  r4_error why = {0};
  r4_status s = whole_write(file, path, d, &why);
  r4_data *kept = s ? NULL : load(file, path, false, &why);
  if (kept) {
    r4_data_free(d);
    return kept;
  }
  if (why.status != R4_E_MEMORY) {
    if (!s) r4_fail(&why, R4_E_IO, "%s: cannot be read again", file);
    return unkept(d, &why, e);
  }
  if (e) *e = why;
  r4_data_free(d);
  return NULL;
}

/* Read in the folder of the cache, and kept; in the memory where that has no room. */
static r4_data *make(const struct format *f, const char *path, const r4_data_options *o, const char *file, r4_error *e)
{
  r4_error why = {0};
  r4_data *d = f->open(path, o, &why);
  if (d) return d->columns == 1 ? keep(d, file, path, e) : d;
  if (why.status == R4_E_IO) return open_in_memory(f, path, o, &why, e);
  if (e) *e = why;
  return NULL;
}

/* From what is kept, which is made if nobody else makes it. */
static r4_data *load_or_make(const struct format *f, const char *path, const r4_data_options *o, const char *file,
                             r4_error *e)
{
  r4_error why = {0};
  r4_lock *lock = cache_lock(file, &why);
  if (!lock && why.status != R4_E_MEMORY) return open_in_memory(f, path, o, &why, e);
  r4_data *d = lock ? load(file, path, false, &why) : NULL;
  if (!d && why.status != R4_E_MEMORY)
    d = make(f, path, o, file, e);
  else if (!d && e)
    *e = why;
  r4_lock_free(lock);
  return d;
}

r4_data *whole_open(const struct format *f, const char *path, const r4_data_options *options, r4_error *e)
{
  char *file = NULL;
  r4_error why = {0};
  if (!options->cache || !f->files || options->unlabelled) return f->open(path, options, e);
  r4_status s = name_of(f, path, options, &file, &why);
  if (s && s != R4_E_MEMORY) return f->open(path, options, e); /* which says better what is missing */
  r4_data *d = s ? NULL : load(file, path, options->cache_only_read, &why);
  if (!d && why.status == R4_E_MEMORY) {
    if (e) *e = why;
  } else if (!d) {
    d = options->cache_only_read ? f->open(path, options, e) : load_or_make(f, path, options, file, e);
  }
  r4_string_free(file);
  return d;
}
