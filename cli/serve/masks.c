/* masks/: white is what must not matter. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "serve/serve.h"

static const char none[] = "none";

static r4_status wrong(r4_error *e, r4_status s, const char *file, const char *why)
{
  snprintf(e->text, sizeof e->text, "%.300s: %s", file, why);
  return e->status = s;
}

static void version_of(const uint8_t *bytes, size_t size, char version[VERSION_SIZE])
{
  char hex[R4_HASH_SIZE];
  r4_hash(bytes, size, hex);
  snprintf(version, VERSION_SIZE, "%.*s", VERSION_SIZE - 1, hex);
}

/* The bytes of the mask, NULL if there is none. */
static r4_status load(const struct site *s, size_t photo, uint8_t **bytes, size_t *size,
                      char version[VERSION_SIZE], r4_error *e)
{
  int why = place_read(s, r4_photos_at(s->photos, photo).place, MOST_PHOTO, bytes, size, NULL, e);
  if (why && why != ENOENT) return R4_E_IO;
  if (why)
    snprintf(version, VERSION_SIZE, none);
  else
    version_of(*bytes, *size, version);
  return R4_OK;
}

r4_status mask_version(const struct site *s, size_t photo, char version[VERSION_SIZE], r4_error *e)
{
  uint8_t *bytes;
  size_t size;
  r4_status status = load(s, photo, &bytes, &size, version, e);
  free(bytes);
  return status;
}

bool mask_settle(r4_image *mask)
{
  bool any = false;
  for (size_t k = 0; k < mask->height * mask->width; k++) {
    mask->pixel[k] = mask->pixel[k] >= 128 ? 255 : 0;
    any = any || mask->pixel[k];
  }
  return any;
}

r4_status mask_photo_size(const struct site *s, size_t photo, r4_image *size, r4_error *e)
{
  uint8_t *bytes = NULL;
  size_t n = 0;
  const char *path = r4_photos_at(s->photos, photo).path;
  if (place_read(s, path, MOST_PHOTO, &bytes, &n, NULL, e)) return R4_E_IO;
  r4_status status = r4_image_look(bytes, n, path, size, e);
  free(bytes);
  if (!status && size->height > MOST_MASK / size->width)
    status = wrong(e, R4_E_SHAPE, path, "has more than 40 million pixels, too many to paint on in a browser");
  return status;
}

static r4_status decode(const uint8_t *bytes, size_t size, const char *path, size_t height, size_t width,
                        r4_image *to, r4_error *e)
{
  r4_image as;
  r4_status status = r4_image_look(bytes, size, path, &as, e);
  if (!status && height && (as.height != height || as.width != width)) {
    snprintf(e->text, sizeof e->text, "%.200s: has %zu x %zu pixels, expected %zu x %zu as its photo", path,
             as.width, as.height, width, height);
    return e->status = R4_E_SHAPE;
  }
  if (!status) status = r4_image_read(bytes, size, path, 1, to, e);
  if (!status) mask_settle(to);
  return status;
}

r4_status mask_read_file(const struct site *s, const char *path, size_t height, size_t width, r4_image *to,
                         r4_error *e)
{
  uint8_t *bytes = NULL;
  size_t size = 0;
  *to = (r4_image){0};
  if (place_read(s, path, MOST_PHOTO, &bytes, &size, NULL, e)) return R4_E_IO;
  r4_status status = decode(bytes, size, path, height, width, to, e);
  free(bytes);
  return status;
}

r4_status mask_read(const struct site *s, size_t photo, r4_image *to, char version[VERSION_SIZE], r4_error *e)
{
  uint8_t *bytes = NULL;
  size_t size = 0;
  r4_image shown;
  *to = (r4_image){0};
  r4_status status = mask_photo_size(s, photo, &shown, e);
  if (!status) status = load(s, photo, &bytes, &size, version, e);
  if (!status && bytes)
    status = decode(bytes, size, r4_photos_at(s->photos, photo).place, shown.height, shown.width, to, e);
  else if (!status) {
    to->pixel = calloc(shown.height, shown.width);
    to->height = shown.height, to->width = shown.width, to->channels = 1;
    if (!to->pixel) status = wrong(e, R4_E_MEMORY, "the mask", "out of memory");
  }
  free(bytes);
  return status;
}

/* ---- Writing ---- */

static r4_status check_base(const struct site *s, size_t photo, const char *base, char version[VERSION_SIZE],
                            r4_error *e)
{
  r4_status status = mask_version(s, photo, version, e);
  if (status || !strcmp(version, base)) return status;
  return wrong(e, R4_E_BUSY, r4_photos_at(s->photos, photo).place,
               "the mask was changed elsewhere, in another tab or by another program: look at it first");
}

static r4_status check_place(const struct site *s, const r4_photo *p, r4_error *e)
{
  if (s->refuses_masks) return wrong(e, R4_E_ARGUMENT, p->name, s->refuses_masks);
  if (p->outlined)
    return wrong(e, R4_E_ARGUMENT, p->name,
                 "has outlines in a file with annotations, and may not have a mask as well");
  return R4_OK;
}

r4_status mask_write(struct site *s, size_t photo, r4_image *mask, char version[VERSION_SIZE],
                     const char *base, r4_error *e)
{
  r4_photo p = r4_photos_at(s->photos, photo);
  uint8_t *bytes = NULL;
  size_t size = 0;
  bool any = mask_settle(mask);
  r4_status status = check_place(s, &p, e);
  if (!status && any) status = r4_image_png(mask, &bytes, &size, e);
  char made[VERSION_SIZE] = "none";
  if (!status && any) version_of(bytes, size, made);
  if (!status) status = check_base(s, photo, base, version, e);
  if (status == R4_E_BUSY && !strcmp(version, made)) status = R4_OK; /* it is what is there: said twice */
  if (!status) status = marks_begin(s, e);
  if (!status && strcmp(version, made))
    status = any ? place_write(s, p.place, bytes, size, e) : place_remove(s, p.place, e);
  r4_bytes_free(bytes);
  if (status) return status;
  snprintf(version, VERSION_SIZE, "%s", made);
  s->masked[photo] = any;
  return R4_OK;
}
