/* How a file format of images gives its pixels to image.c: one file and one struct each. */
#ifndef R4_PICTURE_IMAGE_CODEC_H
#define R4_PICTURE_IMAGE_CODEC_H

#include "picture/image.h"

/* The file in memory and its name, for messages. */
struct image_source {
  const uint8_t *data;
  size_t size;
  const char *name;
  r4_error *e;
};

/* What a pixel is stored as. */
enum image_stored { STORED_SHOWN = 0 /* none but what it shows */, STORED_INDEX, STORED_GREY16 };

struct image_codec {
  const char *name, *magic; /* the bytes that a file starts with */
  bool exact;               /* pixels come back as they were written */
  /* Height, width and channels of what decode gives: 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha. Takes no memory
   * for a size before image_check_claim has seen it. */
  r4_status (*look)(const struct image_source *from, struct image *as);
  /* Fills pixel, which has as much memory as look asked for. */
  r4_status (*decode)(const struct image_source *from, struct image *to);
  /* How pixels are stored, of a file that look accepts, and these numbers: a byte each, or two, the higher first. NULL:
   * always as they show. */
  enum image_stored (*stored)(const struct image_source *from);
  r4_status (*decode_stored)(const struct image_source *from, struct image *to);
  /* How the image is to be turned to be shown, 1 to 8 as EXIF has it. NULL: not at all. */
  int (*orientation)(const struct image_source *from);
  size_t most_pixels_per_byte; /* a file that claims more lies: nothing compresses so well */
};

extern const struct image_codec image_png, image_jpeg;

/* R4_E_PARSE for a size that no image may have, or that no file of so many bytes can hold. */
r4_status image_check_claim(const struct image_source *from, const struct image_codec *codec, size_t height,
                            size_t width);

#endif
