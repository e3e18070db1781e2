/* Reading what a listing names: first the headers of all files, which tell the shape, then the pixels. */
#include <pthread.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "data/format/cache.h"
#include "data/format/cache_file.h"
#include "data/format/folder_list.h"
#include "data/format/folder_masks.h"
#include "data/format/images.h"
#include "picture/resize.h"

/* ---- Errors of threads: that of the first example wins, so that messages do not depend on timing ---- */

struct first_error {
  size_t example; /* SIZE_MAX: none */
  r4_error error;
};

static const struct first_error no_error = {.example = SIZE_MAX};

/* Whether example i need not be looked at: one before it has failed. */
static bool is_behind(const struct first_error *f, size_t i)
{
  size_t example;
#pragma omp atomic read
  example = f->example;
  return i > example;
}

static void note_error(struct first_error *f, size_t i, const r4_error *error)
{
  static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER; /* see data/mask/mask_values.c */
  pthread_mutex_lock(&one_at_a_time);
  if (i < f->example) {
    f->error = *error;
#pragma omp atomic write
    f->example = i;
  }
  pthread_mutex_unlock(&one_at_a_time);
}

static r4_status report(const struct first_error *f, r4_error *e)
{
  if (f->example == SIZE_MAX) return R4_OK;
  if (e) *e = f->error;
  return f->error.status;
}

/* ---- Files ---- */

static r4_status look_at(const struct listing *l, size_t i, struct image *as, r4_error *e)
{
  char name[LISTING_NAME];
  uint8_t *data = NULL;
  size_t size = 0;
  listing_name(l, i, name);
  r4_status s = listing_read_file(l, l->at[i].file, &data, &size, e);
  if (!s) s = image_look(data, size, name, as, e);
  r4_mem_free(data);
  return s;
}

/* ---- Shape ---- */

static r4_status look_at_all(const struct listing *l, struct image *as, r4_error *e)
{
  struct first_error first = no_error;
#pragma omp parallel for schedule(dynamic, 16)
  for (size_t i = 0; i < l->n; i++) {
    r4_error error = {0};
    if (!is_behind(&first, i) && look_at(l, i, as + i, &error)) note_error(&first, i, &error);
  }
  return report(&first, e);
}

static r4_status check_equal_sizes(const struct listing *l, const struct image *as, r4_error *e)
{
  for (size_t i = 1; i < l->n; i++)
    if (as[i].height != as[0].height || as[i].width != as[0].width)
      return r4_fail(
        e, R4_E_SHAPE,
        "%s: %s has %zu x %zu pixels and %s has %zu x %zu: give a size to resize them to (data.size in settings, "
        "--size of a "
        "command, height and width in C)",
        l->folder, l->at[0].file, as[0].width, as[0].height, l->at[i].file, as[i].width, as[i].height);
  return R4_OK;
}

/* Of one example: as the options say, or as all images are; grey if all are. */
static r4_status find_shape(const struct listing *l, const r4_data_options *options, r4_shape *shape,
                            r4_error *e)
{
  struct image *as = mem_new(l->n ? l->n : 1, sizeof *as, "files", e);
  if (!as) return R4_E_MEMORY;
  r4_status s = look_at_all(l, as, e);
  if (!s && !options->height) s = check_equal_sizes(l, as, e);
  if (!s) {
    size_t channels = 1;
    for (size_t i = 0; i < l->n; i++) channels = as[i].channels > channels ? as[i].channels : channels;
    int64_t height = options->height ? options->height : (int64_t)as[0].height;
    int64_t width = options->height ? options->width : (int64_t)as[0].width;
    *shape = R4_SHAPE(height, width, (int64_t)channels);
  }
  r4_mem_free(as);
  return s;
}

/* ---- Pixels ---- */

/* The image to its row of values, and the mask, if there is one, to mask. */
static r4_status read_example(struct mask_reader *r, const struct column *values, size_t i, uint8_t *mask,
                              r4_error *e)
{
  const struct listing *l = r->l;
  char name[LISTING_NAME];
  uint8_t *data = NULL;
  size_t size = 0;
  struct image was = {0};
  listing_name(l, i, name);
  r4_status s = listing_read_file(l, l->at[i].file, &data, &size, e);
  if (!s) s = image_row(data, size, name, values->shape, column_row(values, i), &was, e);
  if (!s && (l->at[i].mask || l->at[i].marks)) s = mask_reader_read(r, i, &was, mask, e);
  r4_mem_free(data);
  return s;
}

enum { BLOCK = 256 }; /* examples that are decoded before their masks are joined, in order */

static r4_status read_block(struct mask_reader *r, r4_data *d, size_t start, uint8_t *mask, r4_error *e)
{
  struct first_error first = no_error;
  const struct listing *l = r->l;
  r4_shape shape = data_x(d)->shape;
  size_t end = l->n - start < BLOCK ? l->n : start + BLOCK, pixels = (size_t)(shape.dim[0] * shape.dim[1]);
#pragma omp parallel for schedule(dynamic)
  for (size_t i = start; i < end; i++) {
    r4_error error = {0};
    uint8_t *own = mask ? mask + (i - start) * pixels : NULL;
    if (!is_behind(&first, i) && read_example(r, data_x(d), i, own, &error)) note_error(&first, i, &error);
  }
  r4_status s = report(&first, e);
  for (size_t i = start; !s && i < end; i++)
    if (l->at[i].mask || l->at[i].marks)
      s = masks_add(data_masks(d), mask + (i - start) * pixels, &d->record[i].mask, e);
  return s;
}

/* pile: a folder where masks are put, which may be more than the memory has room for; NULL: the memory. */
static r4_status read_all(const struct listing *l, const r4_data_options *options, const char *pile,
                          r4_data *d, r4_error *e)
{
  struct mask_reader r;
  uint8_t *mask = NULL;
  r4_status s = mask_reader_start(&r, l, options, data_x(d)->shape, e);
  if (!s && listing_masks(l)) {
    size_t pixels = data_mask_layout(d).size;
    data_set_masks(d, pile ? masks_new_in(pile, pixels, e) : masks_new(pixels, e));
    mask = data_masks(d) ? mem_new(BLOCK, pixels, "masks", e) : NULL;
    if (!mask) s = R4_E_MEMORY;
  }
  for (size_t start = 0; !s && start < l->n; start += BLOCK) s = read_block(&r, d, start, mask, e);
  r4_mem_free(mask);
  return s ? s : mask_reader_settle(&r, options, d, e);
}

/* ---- All ---- */

static r4_status check_request(const struct listing *l, const r4_data_options *options, r4_error *e)
{
  enum { LARGEST = 1 << 14 };
  int64_t h = options->height, w = options->width;
  if (!l->n) return r4_fail(e, R4_E_PARSE, "%s: has no images", l->folder);
  if (l->n > UINT32_MAX / 2) return r4_fail(e, R4_E_ARGUMENT, "%s: too many files", l->folder);
  if (h < 0 || w < 0 || h > LARGEST || w > LARGEST || !h != !w)
    return r4_fail(e, R4_E_ARGUMENT, "%s: height %lld and width %lld, expected both from 1 to %d, or none",
                   l->folder, (long long)h, (long long)w, LARGEST);
  if (listing_masks(l) && options->mask_means == R4_MASKS_UNSTATED)
    return r4_fail(
      e, R4_E_ARGUMENT,
      "%s: has masks (%s), but what white means in them is not stated: set mask_means to irrelevant or "
      "relevant (--mask-means irrelevant; in settings data.mask_means: irrelevant)",
      l->folder, listing_masks(l));
  return R4_OK;
}

static r4_status read_to_memory(const struct listing *l, const r4_data_options *options, r4_data *d,
                                r4_error *e)
{
  r4_shape shape;
  r4_status s = find_shape(l, options, &shape, e);
  struct column *values = s ? NULL : column_new(&bytes_column, shape, l->n, e);
  if (s || !values) return s ? s : R4_E_MEMORY;
  data_set_x(d, values);
  return read_all(l, options, NULL, d, e);
}

static r4_status make_cache(const struct listing *l, const r4_data_options *options, const char *cache,
                            r4_data *d, r4_error *e)
{
  r4_shape shape;
  struct cache_maker maker;
  r4_status s = find_shape(l, options, &shape, e);
  if (!s) s = cache_file_begin(&maker, cache, shape, d, e);
  if (s) return s;
  s = read_all(l, options, options->cache, d, e);
  if (!s) return cache_file_end(&maker, d, e);
  data_set_x(d, NULL);
  cache_file_abandon(&maker);
  return s;
}

/* From the cache, which is made if nobody else makes it. */
static r4_status read_to_cache(const struct listing *l, const r4_data_options *options, const char *cache,
                               r4_data *d, r4_error *e)
{
  r4_lock *lock = cache_lock(cache, e);
  if (!lock) return e->status ? e->status : R4_E_IO;
  r4_status s = R4_OK;
  if (!cache_load(cache, false, d)) {
    s = make_cache(l, options, cache, d, e);
    data_forget_notes(d);
    data_set_masks(d, NULL);
    if (!s && !cache_load(cache, false, d)) s = r4_fail(e, R4_E_IO, "%s: cannot be read again", cache);
  }
  r4_lock_free(lock);
  return s;
}

/* The same; where nothing can be kept, the images are decoded into the memory, and a note says why. An image that
 * cannot be read is an error there, too. */
static r4_status read_to_cache_or_memory(const struct listing *l, const r4_data_options *options, const char *cache,
                                         r4_data *d, r4_error *e)
{
  r4_error why = {0};
  r4_status s = read_to_cache(l, options, cache, d, &why);
  if (s && s != R4_E_IO) {
    if (e) *e = why;
    return s;
  }
  if (!s) return s;
  for (size_t i = 0; i < d->n; i++) d->record[i].mask = 0;
  s = read_to_memory(l, options, d, e);
  return s ? s : data_add_unkept(d, &why, e);
}

/* Values, masks and the mask of each record, from the cache or from the files. */
static r4_status read_pixels(const struct listing *l, const r4_data_options *options, r4_data *d, r4_error *e)
{
  char *cache = NULL;
  r4_status s = options->cache ? cache_name(l, options, &cache, e) : R4_OK;
  if (s) return s;
  if (!cache || !cache_load(cache, options->cache_only_read, d))
    s = cache && !options->cache_only_read ? read_to_cache_or_memory(l, options, cache, d, e)
                                           : read_to_memory(l, options, d, e);
  r4_mem_free(cache);
  return s;
}

r4_data *listing_read(const struct listing *l, const r4_data_options *options, const char *about, r4_error *e)
{
  char masks[192];
  if (check_request(l, options, e)) return NULL;
  r4_data *d = data_new(l->n, NULL, e);
  if (d && !listing_records(l, d, e) && !read_pixels(l, options, d, e)) {
    mask_reader_describe(l, d, options, masks, sizeof masks);
    if (!data_set_about(d, e, "%s %s, %zu images, masks: %s", about, l->folder, l->n, masks) &&
        !data_finish(d, l->folder, e))
      return d;
  }
  r4_data_free(d);
  return NULL;
}
