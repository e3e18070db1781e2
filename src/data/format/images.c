/* Data sets of image files that nobody has labelled. */
#include "data/format/images.h"

#include "base/file.h"
#include "base/mem.h"
#include "data/data.h"
#include "picture/resize.h"

r4_status image_row(const uint8_t *data, size_t size, const char *name, r4_shape shape, uint8_t *to,
                    struct image *was, r4_error *e)
{
  struct image image = {0};
  r4_status s = image_decode(data, size, name, (size_t)shape.dim[2], &image, e);
  if (!s) s = resize(&image, (size_t)shape.dim[0], (size_t)shape.dim[1], to, e);
  *was = (struct image){image.height, image.width, image.channels, NULL};
  image_clear(&image);
  return s;
}

r4_status images_check(size_t n, r4_shape shape, r4_error *e)
{
  enum { LARGEST = 1 << 14 };
  if (!n) return r4_fail(e, R4_E_ARGUMENT, "no image files to read");
  if (n > UINT32_MAX / 2) return r4_fail(e, R4_E_ARGUMENT, "%zu image files are too many", n);
  if (shape.rank != 3 || (shape.dim[2] != 1 && shape.dim[2] != 3))
    return r4_fail(e, R4_E_SHAPE,
                   "expected images [height, width, channels] with 1 or 3 channels, got %d dimensions%s",
                   shape.rank, shape.rank == 3 ? " with another number of channels" : "");
  for (int k = 0; k < 2; k++)
    if (shape.dim[k] < 1 || shape.dim[k] > LARGEST)
      return r4_fail(e, R4_E_SHAPE, "images of %lld x %lld pixels, expected 1 to %d", (long long)shape.dim[1],
                     (long long)shape.dim[0], LARGEST);
  return R4_OK;
}

static void read_one(const char *file, r4_shape shape, uint8_t *to, r4_image_info *info)
{
  uint8_t *data = NULL;
  size_t size = 0;
  struct image was = {0};
  *info = (r4_image_info){0};
  r4_status s = file_read(file, IMAGE_MAX_BYTES, &data, &size, &info->error);
  if (!s) s = image_row(data, size, file, shape, to, &was, &info->error);
  if (!s) info->height = (int64_t)was.height, info->width = (int64_t)was.width;
  r4_mem_free(data);
}

static void read_all(const char *const *file, r4_data *d, r4_image_info *info)
{
#pragma omp parallel for schedule(dynamic)
  for (size_t i = 0; i < d->n; i++) read_one(file[i], data_x(d)->shape, column_row(data_x(d), i), info + i);
}

/* Drops the records of files that could not be read; the first of these is the error unless some may fail. */
static r4_status keep_readable(r4_data *d, const r4_image_info *info, bool some_may_fail, r4_error *e)
{
  const r4_error *first = NULL;
  size_t kept = 0;
  for (size_t i = 0; i < d->n; i++) {
    if (!info[i].error.status)
      d->record[kept++] = d->record[i];
    else if (!first)
      first = &info[i].error;
  }
  d->n = kept;
  if (!first || (some_may_fail && kept)) return R4_OK;
  if (e) *e = *first;
  return first->status;
}

static r4_status name_all(const char *const *file, r4_data *d, r4_error *e)
{
  r4_status s = names_add(d->classes, "unknown", NULL, e);
  if (!s) s = (d->files = names_new(e)) ? R4_OK : R4_E_MEMORY;
  for (size_t i = 0; !s && i < d->n; i++) s = names_add(d->files, file[i], &d->record[i].file, e);
  return s ? s : data_set_about(d, e, "%zu image files", d->n);
}

r4_status images_finish(r4_data *d, const char *const *file, const r4_image_info *info, bool some_may_fail,
                        r4_error *e)
{
  r4_status s = name_all(file, d, e);
  if (!s) s = keep_readable(d, info, some_may_fail, e);
  return s ? s : data_finish(d, "image files", e);
}

r4_data *r4_data_images(const char *const *file, size_t n, r4_shape shape, r4_image_info *info, r4_error *e)
{
  NEEDS(file || !n, "files", NULL);
  NEEDS_EACH(n, file, "file", NULL);
  if (images_check(n, shape, e)) return NULL;
  struct column *values = column_new(&bytes_column, shape, n, e);
  r4_data *d = values ? data_new(n, values, e) : NULL;
  if (!d) return NULL;
  r4_image_info *own = info ? NULL : mem_new(n, sizeof *own, "image files", e), *each = info ? info : own;
  if (each) read_all(file, d, each);
  r4_status s = each ? images_finish(d, file, each, info, e) : R4_E_MEMORY;
  r4_mem_free(own);
  if (!s) return d;
  r4_data_free(d);
  return NULL;
}

/* ---- Labels ---- */

static r4_status check_labels(size_t n, const int32_t *label, size_t classes, r4_error *e)
{
  if (!classes) return r4_fail(e, R4_E_ARGUMENT, "relabel: no classes");
  for (size_t i = 0; i < n; i++)
    if (label[i] < 0 || (size_t)label[i] >= classes)
      return r4_fail(e, R4_E_ARGUMENT, "relabel: example %zu has label %d, expected 0 to %zu", i, label[i],
                     classes - 1);
  return R4_OK;
}

r4_data *r4_data_relabel(const r4_data *d, const int32_t *label, size_t classes, const char *const *name,
                         r4_error *e)
{
  NEEDS(d, "data", NULL);
  NEEDS(label, "labels", NULL);
  NEEDS(name, "names", NULL);
  NEEDS_EACH(classes, name, "name", NULL);
  if (check_labels(d->n, label, classes, e)) return NULL;
  r4_data *copy = data_derive(d, e);
  struct names *own = copy ? names_new(e) : NULL;
  r4_status s = own ? R4_OK : R4_E_MEMORY;
  for (size_t k = 0; !s && k < classes; k++) s = names_add(own, name[k], NULL, e);
  for (size_t i = 0; own && i < copy->n; i++) copy->record[i].label = label[i];
  if (own) data_set_classes(copy, own);
  if (!s) return copy;
  r4_data_free(copy);
  return NULL;
}
