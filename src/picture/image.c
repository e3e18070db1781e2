#include "picture/image.h"

#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/mem.h"
#include "picture/image_codec.h"

static const struct image_codec *const codecs[] = {&image_png, &image_jpeg};

enum { CODECS = sizeof codecs / sizeof *codecs };

bool is_image_name(const char *name)
{
  const char *dot = strrchr(name, '.');
  return dot && (!strcasecmp(dot, ".png") || !strcasecmp(dot, ".jpg") || !strcasecmp(dot, ".jpeg"));
}

r4_status image_new(struct image *image, size_t height, size_t width, size_t channels, r4_error *e)
{
  *image = (struct image){height, width, channels, r4_mem_new(height * width, channels)};
  if (image->pixel) return R4_OK;
  *image = (struct image){0};
  return r4_fail(e, R4_E_MEMORY, "out of memory for an image of %zu x %zu pixels", width, height);
}

void image_clear(struct image *image)
{
  r4_mem_free(image->pixel);
  *image = (struct image){0};
}

static const struct image_codec *codec_of(const struct image_source *from)
{
  for (size_t k = 0; k < CODECS; k++) {
    size_t n = strlen(codecs[k]->magic);
    if (from->size >= n && !memcmp(from->data, codecs[k]->magic, n)) return codecs[k];
  }
  return NULL;
}

r4_status image_check_claim(const struct image_source *from, const struct image_codec *codec, size_t height,
                            size_t width)
{
  size_t pixels = 0;
  if (__builtin_mul_overflow(height, width, &pixels) || pixels > IMAGE_MAX_PIXELS)
    return r4_fail(from->e, R4_E_PARSE, "%s: claims %zu x %zu pixels, more than %d million", from->name, width,
                   height, IMAGE_MAX_PIXELS / 1000000);
  if (pixels / codec->most_pixels_per_byte > from->size)
    return r4_fail(from->e, R4_E_PARSE, "%s: claims %zu x %zu pixels, more than %zu bytes of %s can hold",
                   from->name, width, height, from->size, codec->name);
  return R4_OK;
}

/* The header, with a claim of size that the file can keep. */
static r4_status look(const struct image_source *from, const struct image_codec **codec, struct image *as)
{
  *as = (struct image){0};
  *codec = codec_of(from);
  if (!*codec) {
    if (!from->size) return r4_fail(from->e, R4_E_PARSE, "%s: is empty, expected PNG or JPEG", from->name);
    return r4_fail(from->e, R4_E_PARSE, "%s: does not start like a PNG or JPEG", from->name);
  }
  return (*codec)->look(from, as);
}

/* ---- Turning ---- */

static int orientation_of(const struct image_source *from, const struct image_codec *codec)
{
  return codec->orientation ? codec->orientation(from) : 1;
}

/* From 5 on, rows are shown as columns. */
static void swap_sides(int orientation, struct image *as)
{
  size_t height = as->height;
  if (orientation < 5) return;
  as->height = as->width;
  as->width = height;
}

/* What is shown at (y, x) is stored at (y, x), or at (x, y) from 5 on, counted from below and from the right where the
 * orientation says so:
 *
 *     1 upright   2 mirrored   3 upside down   4 both   5, 8, 7, 6 the same, with rows and columns swapped */
static void turn(const struct image *stored, int orientation, struct image *shown)
{
  bool swapped = orientation >= 5;
  bool from_below = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  uint8_t *to = shown->pixel;
  for (size_t y = 0; y < shown->height; y++)
    for (size_t x = 0; x < shown->width; x++, to += stored->channels) {
      size_t row = swapped ? x : y, column = swapped ? y : x;
      if (from_below) row = stored->height - 1 - row;
      if (from_right) column = stored->width - 1 - column;
      memcpy(to, stored->pixel + (row * stored->width + column) * stored->channels, stored->channels);
    }
}

/* As it is shown, in the place of what is stored. */
static r4_status make_upright(struct image *image, int orientation, r4_error *e)
{
  if (orientation == 1) return R4_OK;
  struct image as = *image, shown;
  swap_sides(orientation, &as);
  r4_status s = image_new(&shown, as.height, as.width, as.channels, e);
  if (s) return s;
  turn(image, orientation, &shown);
  image_clear(image);
  *image = shown;
  return R4_OK;
}

/* ---- Looking ---- */

r4_status image_look(const uint8_t *data, size_t size, const char *name, struct image *as, r4_error *e)
{
  const struct image_codec *codec = NULL;
  const struct image_source from = {data, size, name, e};
  r4_status s = look(&from, &codec, as);
  if (!s) swap_sides(orientation_of(&from, codec), as);
  as->channels = as->channels < 3 ? 1 : 3;
  return s;
}

/* ---- From what the file has to what is asked for ---- */

static uint8_t over_black(unsigned v, unsigned alpha)
{
  return (uint8_t)((v * alpha + 127) / 255);
}

static uint8_t grey_of(unsigned r, unsigned g, unsigned b)
{
  return (uint8_t)((19595 * r + 38470 * g + 7471 * b + 32768) >> 16);
}

static void convert(size_t pixels, const uint8_t *from, size_t from_channels, uint8_t *to, size_t to_channels)
{
  bool grey = from_channels < 3, alpha = from_channels % 2 == 0;
  for (size_t i = 0; i < pixels; i++, from += from_channels, to += to_channels) {
    uint8_t rgb[3] = {from[0], from[grey ? 0 : 1], from[grey ? 0 : 2]};
    uint8_t a = alpha ? from[from_channels - 1] : 255;
    for (int k = 0; alpha && k < 3; k++) rgb[k] = over_black(rgb[k], a);
    if (to_channels == 3)
      memcpy(to, rgb, 3);
    else
      *to = grey ? rgb[0] : grey_of(rgb[0], rgb[1], rgb[2]);
  }
}

r4_status image_decode(const uint8_t *data, size_t size, const char *name, size_t channels,
                       struct image *image, r4_error *e)
{
  const struct image_source from = {data, size, name, e};
  const struct image_codec *codec = NULL;
  struct image has = {0};
  *image = (struct image){0};
  r4_status s = look(&from, &codec, &has);
  if (!s) s = image_new(&has, has.height, has.width, has.channels, e);
  if (!s) s = codec->decode(&from, &has);
  if (!s) s = make_upright(&has, orientation_of(&from, codec), e);
  if (!s && has.channels == channels) {
    *image = has;
    return R4_OK;
  }
  if (!s) s = image_new(image, has.height, has.width, channels, e);
  if (!s) convert(has.height * has.width, has.pixel, has.channels, image->pixel, channels);
  image_clear(&has);
  return s;
}

/* ---- Numbers ---- */

void image_values_clear(struct image_values *v)
{
  r4_mem_free(v->value);
  *v = (struct image_values){0};
}

static r4_status take_values(const struct image *image, struct image_values *v, r4_error *e)
{
  size_t pixels = image->height * image->width;
  const uint8_t *from = image->pixel;
  v->height = image->height;
  v->width = image->width;
  if (!(v->value = mem_new(pixels, sizeof *v->value, "the values of pixels", e))) return R4_E_MEMORY;
  for (size_t i = 0; i < pixels; i++, from += image->channels)
    v->value[i] = (uint16_t)(image->channels == 1 ? from[0] : from[0] << 8 | from[1]);
  return R4_OK;
}

bool image_has_palette(const uint8_t *data, size_t size)
{
  const struct image_source from = {.data = data, .size = size};
  const struct image_codec *codec = codec_of(&from);
  return codec && codec->stored && codec->stored(&from) == STORED_INDEX;
}

r4_status image_read_values(const uint8_t *data, size_t size, const char *name, struct image_values *v,
                            r4_error *e)
{
  const struct image_source from = {data, size, name, e};
  const struct image_codec *codec = NULL;
  struct image as = {0}, image = {0};
  *v = (struct image_values){0};
  r4_status s = look(&from, &codec, &as);
  enum image_stored stored = !s && codec->stored ? codec->stored(&from) : STORED_SHOWN;
  if (!s && stored) s = image_new(&image, as.height, as.width, stored == STORED_GREY16 ? 2 : 1, e);
  if (!s) s = stored ? codec->decode_stored(&from, &image) : image_decode(data, size, name, 1, &image, e);
  if (!s) s = take_values(&image, v, e);
  image_clear(&image);
  if (s) return s;
  v->exact = codec->exact;
  v->indexes = stored == STORED_INDEX;
  return R4_OK;
}

r4_status image_write(const struct image *image, const char *file, r4_error *e)
{
  uint8_t *data = NULL;
  size_t size = 0;
  r4_status s = image_encode(image, &data, &size, e);
  if (!s) s = file_write(file, data, size, e);
  r4_mem_free(data);
  return s;
}
