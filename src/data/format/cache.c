/* A cache file is the header, the mask number of each example, the rows of values, the masks from number 1 on, and
 * the SHA-256 of all that. Numbers are in the byte order of the machine: it never leaves it. */
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

enum { DECODER_VERSION = 2 }; /* goes up when the same files give other pixels, or this file another layout */

static const char magic[16] = "r4 image cache\n";

struct header {
  char magic[sizeof magic];
  uint64_t version, examples, height, width, channels, masks; /* masks: without number 0, "none" */
};

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

r4_status cache_name(const struct listing *l, const r4_data_options *options, char **name, r4_error *e)
{
  char place[PATH_MAX], hex[HASH_HEX];
  uint8_t digest[HASH_BYTES];
  const uint64_t settings[] = {DECODER_VERSION,
                               (uint64_t)options->mask_means,
                               options->soft_masks,
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

struct reader {
  FILE *f;
  struct hash hash;
};

static bool take(struct reader *r, void *to, size_t size)
{
  if (fread(to, 1, size, r->f) != size) return false;
  hash_add(&r->hash, to, size);
  return true;
}

/* Whether the header is that of n examples and tells the length of the file: nothing is allocated for one that lies. */
static bool is_sound(const struct header *h, size_t n, FILE *f)
{
  struct stat about;
  size_t pixels, features, rows, masks, bytes;
  if (memcmp(h->magic, magic, sizeof magic) || h->version != DECODER_VERSION || h->examples != n)
    return false;
  if (!h->height || !h->width || (h->channels != 1 && h->channels != 3)) return false;
  if (__builtin_mul_overflow(h->height, h->width, &pixels) ||
      __builtin_mul_overflow(pixels, h->channels, &features) || __builtin_mul_overflow(features, n, &rows) ||
      __builtin_mul_overflow(pixels, h->masks, &masks) || __builtin_add_overflow(rows, masks, &bytes) ||
      __builtin_add_overflow(bytes, sizeof *h + n * sizeof(uint32_t) + HASH_BYTES, &bytes))
    return false;
  return !fstat(fileno(f), &about) && (size_t)about.st_size == bytes;
}

/* Masks 1 to n, which are distinct: each gets its number again. */
static struct masks *take_masks(struct reader *r, size_t n, size_t size)
{
  struct masks *m = masks_new(size, NULL);
  uint8_t *bytes = r4_mem_new(size, 1);
  bool good = m && bytes;
  for (size_t k = 1; good && k <= n; k++) {
    uint32_t number = 0;
    good = take(r, bytes, size) && !masks_add(m, bytes, &number, NULL) && number == k;
  }
  r4_mem_free(bytes);
  if (good) return m;
  masks_drop(m);
  return NULL;
}

static bool take_end(struct reader *r)
{
  uint8_t want[HASH_BYTES], got[HASH_BYTES];
  hash_end(&r->hash, got);
  return fread(want, 1, sizeof want, r->f) == sizeof want && !memcmp(want, got, sizeof want);
}

static bool load(struct reader *r, r4_data *d)
{
  struct header h;
  if (!take(r, &h, sizeof h) || !is_sound(&h, d->n, r->f)) return false;
  uint32_t *number = r4_mem_new(d->n, sizeof *number);
  struct column *values = NULL;
  struct masks *masks = NULL;
  bool good = number && take(r, number, d->n * sizeof *number);
  for (size_t i = 0; good && i < d->n; i++) good = number[i] <= h.masks;
  if (good)
    values = column_new(&bytes_column, R4_SHAPE((int64_t)h.height, (int64_t)h.width, (int64_t)h.channels),
                        d->n, NULL);
  good = good && values && take(r, values->data, values->rows * values->features);
  if (good && h.masks) good = (masks = take_masks(r, h.masks, h.height * h.width));
  good = good && take_end(r);
  if (good) {
    for (size_t i = 0; i < d->n; i++) d->record[i].mask = number[i];
    data_set_x(d, values);
    data_set_masks(d, masks);
  } else {
    column_drop(values);
    masks_drop(masks);
  }
  r4_mem_free(number);
  return good;
}

bool cache_load(const char *file, r4_data *d)
{
  struct reader r = {.f = file_open(file, NULL)};
  if (!r.f) return false;
  hash_start(&r.hash);
  bool good = load(&r, d);
  fclose(r.f);
  return good;
}

/* ---- Writing ---- */

static void put(struct file_writer *w, struct hash *h, const void *data, size_t size)
{
  fwrite(data, 1, size, w->f);
  hash_add(h, data, size);
}

static r4_status make_folder_of(const char *file, r4_error *e)
{
  struct text folder = {0};
  text_add(&folder, "%.*s", (int)(strrchr(file, '/') - file), file);
  char *name = text_done(&folder, file, e);
  r4_status s = name ? file_make_folder(name, e) : R4_E_MEMORY;
  r4_mem_free(name);
  return s;
}

r4_status cache_store(const char *file, const r4_data *d, r4_error *e)
{
  struct file_writer w;
  struct hash hash;
  const struct column *v = data_x(d);
  uint8_t digest[HASH_BYTES];
  struct header h = {.version = DECODER_VERSION,
                     .examples = d->n,
                     .height = (uint64_t)v->shape.dim[0],
                     .width = (uint64_t)v->shape.dim[1],
                     .channels = (uint64_t)v->shape.dim[2],
                     .masks = data_masks(d) ? data_masks(d)->n - 1 : 0};
  memcpy(h.magic, magic, sizeof magic);
  r4_status s = make_folder_of(file, e);
  if (!s) s = file_begin(&w, file, e);
  if (s) return s;
  hash_start(&hash);
  put(&w, &hash, &h, sizeof h);
  for (size_t i = 0; i < d->n; i++) put(&w, &hash, &d->record[i].mask, sizeof d->record[i].mask);
  put(&w, &hash, v->data, v->rows * v->features);
  if (h.masks) put(&w, &hash, masks_at(data_masks(d), 1), h.masks * data_masks(d)->size);
  hash_end(&hash, digest);
  fwrite(digest, 1, sizeof digest, w.f);
  return file_end(&w, e);
}
