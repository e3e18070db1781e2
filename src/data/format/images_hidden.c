/* Image files, with what masks mark replaced by a constant.
 *
 * A prediction about the result cannot depend on what was marked, whatever it is, if no number of the result does.
 * Resizing mixes pixels: of a pixel of the result that a marked pixel has any part in, nothing is left. */
#include "base/file.h"
#include "base/mem.h"
#include "data/data.h"
#include "data/format/images.h"
#include "picture/resize.h"

/* What is asked for. */
struct hidden {
  const char *const *file, *const *mask;
  bool relevant;
  r4_shape shape;
  const float *constant;
};

/* From one half up it is white; relevant: what is not is marked. */
static void mark(struct image *mask, bool relevant)
{
  for (size_t k = 0; k < mask->height * mask->width; k++)
    mask->pixel[k] = (mask->pixel[k] >= 128) != relevant;
}

/* 1 where the resized image is hidden. */
static r4_status read_mask(const struct hidden *h, const char *file, const struct image *photo, uint8_t *to,
                           r4_error *e)
{
  uint8_t *data = NULL;
  size_t size = 0;
  struct image mask = {0};
  r4_status s = file_read(file, IMAGE_MAX_BYTES, &data, &size, e);
  if (!s) s = image_decode(data, size, file, 1, &mask, e);
  if (!s && (mask.height != photo->height || mask.width != photo->width))
    s = r4_fail(e, R4_E_SHAPE, "%s: the mask has %zu x %zu pixels, its image %zu x %zu", file, mask.width,
                mask.height, photo->width, photo->height);
  if (!s) {
    mark(&mask, h->relevant);
    s = resize_touched(&mask, (size_t)h->shape.dim[0], (size_t)h->shape.dim[1], to, e);
  }
  image_clear(&mask);
  r4_mem_free(data);
  return s;
}

static void hide(const struct hidden *h, const uint8_t *bytes, const uint8_t *marked, float *to)
{
  size_t channels = (size_t)h->shape.dim[2], n = (size_t)r4_shape_count(h->shape);
  for (size_t k = 0; k < n; k++)
    to[k] = marked[k / channels] ? h->constant[k % channels] : (float)bytes[k] / 255;
}

static r4_status read_one(const struct hidden *h, size_t i, float *to, r4_image_info *info)
{
  uint8_t *data = NULL;
  size_t size = 0, n = (size_t)r4_shape_count(h->shape);
  struct image was = {0};
  r4_error *e = &info->error;
  *info = (r4_image_info){0};
  uint8_t *bytes = mem_new(2 * n, 1, h->file[i], e), *marked = bytes ? bytes + n : NULL;
  r4_status s = bytes ? file_read(h->file[i], IMAGE_MAX_BYTES, &data, &size, e) : R4_E_MEMORY;
  if (!s) s = image_row(data, size, h->file[i], h->shape, bytes, &was, e);
  if (!s) s = read_mask(h, h->mask[i], &was, marked, e);
  if (!s) {
    hide(h, bytes, marked, to);
    info->height = (int64_t)was.height, info->width = (int64_t)was.width;
  }
  r4_mem_free(bytes);
  r4_mem_free(data);
  return s;
}

r4_data *r4_data_images_hidden(const char *const *file, const char *const *mask, bool relevant, size_t n,
                               r4_shape shape, const float *constant, r4_image_info *info, r4_error *e)
{
  NEEDS(file || !n, "files", NULL);
  NEEDS(mask || !n, "masks", NULL);
  NEEDS_EACH(n, file, "file", NULL);
  NEEDS_EACH(n, mask, "mask", NULL);
  NEEDS(constant, "a constant", NULL);
  const struct hidden h = {file, mask, relevant, shape, constant};
  if (images_check(n, shape, e)) return NULL;
  struct column *values = column_new(&floats_column, shape, n, e);
  r4_data *d = values ? data_new(n, values, e) : NULL;
  if (!d) return NULL;
  r4_image_info *own = info ? NULL : mem_new(n, sizeof *own, "image files", e), *each = info ? info : own;
  if (each) {
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < n; i++) read_one(&h, i, column_row(values, i), each + i);
  }
  r4_status s = each ? images_finish(d, file, each, info, e) : R4_E_MEMORY;
  r4_mem_free(own);
  if (!s) return d;
  r4_data_free(d);
  return NULL;
}
