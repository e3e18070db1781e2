/* Images in memory, for programs. */
#include "base/mem.h"
#include "picture/image.h"
#include "picture/resize.h"
#include "r4_tools.h"

static r4_image outer(const struct image *i)
{
  return (r4_image){i->height, i->width, i->channels, i->pixel};
}

static struct image inner(const r4_image *i)
{
  return (struct image){i->height, i->width, i->channels, i->pixel};
}

void r4_image_clear(r4_image *image)
{
  if (!image) return;
  r4_mem_free(image->pixel);
  *image = (r4_image){0};
}

r4_status r4_image_look(const void *file, size_t bytes, const char *name, r4_image *as, r4_error *e)
{
  NEEDS(file, "a file", R4_E_ARGUMENT);
  NEEDS(name, "a name", R4_E_ARGUMENT);
  NEEDS(as, "room for the size", R4_E_ARGUMENT);
  struct image size;
  r4_status s = image_look(file, bytes, name, &size, e);
  *as = s ? (r4_image){0} : outer(&size);
  return s;
}

r4_status r4_image_read(const void *file, size_t bytes, const char *name, size_t channels, r4_image *to,
                        r4_error *e)
{
  NEEDS(file, "a file", R4_E_ARGUMENT);
  NEEDS(name, "a name", R4_E_ARGUMENT);
  NEEDS(to, "room for the image", R4_E_ARGUMENT);
  *to = (r4_image){0};
  if (channels != 1 && channels != 3)
    return r4_fail(e, R4_E_ARGUMENT, "r4_image_read: %zu channels, expected 1 or 3", channels);
  struct image image;
  r4_status s = image_decode(file, bytes, name, channels, &image, e);
  if (!s) *to = outer(&image);
  return s;
}

static r4_status check(const char *function, const r4_image *image, r4_error *e)
{
  if (image->pixel && image->height && image->width && (image->channels == 1 || image->channels == 3))
    return R4_OK;
  return r4_fail(e, R4_E_ARGUMENT, "%s: %zu x %zu pixels of %zu channels, expected some of 1 or 3", function,
                 image->width, image->height, image->channels);
}

r4_status r4_image_resize(const r4_image *from, size_t height, size_t width, r4_image *to, r4_error *e)
{
  NEEDS(from, "an image", R4_E_ARGUMENT);
  NEEDS(to, "room for the image", R4_E_ARGUMENT);
  *to = (r4_image){0};
  const struct image source = inner(from);
  struct image image;
  r4_status s = check("r4_image_resize", from, e);
  if (!s && (!height || !width || height > IMAGE_MAX_PIXELS / width))
    s = r4_fail(e, R4_E_ARGUMENT, "r4_image_resize: to %zu x %zu pixels, expected 1 to %d in all", width,
                height, IMAGE_MAX_PIXELS);
  if (!s) s = image_new(&image, height, width, from->channels, e);
  if (s) return s;
  s = resize(&source, height, width, image.pixel, e);
  if (s)
    image_clear(&image);
  else
    *to = outer(&image);
  return s;
}

r4_status r4_image_png(const r4_image *image, uint8_t **file, size_t *bytes, r4_error *e)
{
  NEEDS(image, "an image", R4_E_ARGUMENT);
  NEEDS(file, "room for the file", R4_E_ARGUMENT);
  NEEDS(bytes, "room for its size", R4_E_ARGUMENT);
  const struct image source = inner(image);
  r4_status s = check("r4_image_png", image, e);
  return s ? s : image_encode(&source, file, bytes, e);
}

void r4_bytes_free(uint8_t *bytes)
{
  r4_mem_free(bytes);
}
