/* Images: PNG and JPEG to bytes, and bytes to PNG.
 *
 * A JPEG that says how it is to be turned (the orientation of EXIF) is turned, as programs that show it do: masks are
 * drawn on what is shown. What a file says about gamma and colour profiles is ignored. Alpha is composited on black,
 * v <- v a / 255; 16 bits are scaled to 8. A file that its library warns about, that ends early or that goes on after
 * its end is refused. */
#ifndef R4_PICTURE_IMAGE_H
#define R4_PICTURE_IMAGE_H

#include "base/error.h"

enum { IMAGE_MAX_PIXELS = 100000000, IMAGE_MAX_BYTES = 1 << 30 };

/* Row by row, the channels of a pixel next to each other. */
struct image {
  size_t height, width, channels; /* 1: grey, 3: red, green, blue */
  uint8_t *pixel;
};

/* Whether the name ends as PNG and JPEG files do. */
bool is_image_name(const char *name);

/* Height, width and channels (1 or 3) of the file in memory, from its header alone; pixel stays NULL. Messages start
 * with name. */
r4_status image_look(const uint8_t *data, size_t size, const char *name, struct image *as, r4_error *e);

/* The image of the file in memory, with 1 or 3 channels as asked for. Grey of a colour is
 * (19595 r + 38470 g + 7471 b) / 65536, rounded. On failure image is empty. */
r4_status image_decode(const uint8_t *data, size_t size, const char *name, size_t channels,
                       struct image *image, r4_error *e);

/* What each pixel of a file is stored as, whatever it looks like: the index in its palette, or its grey, of 8 bits
 * (fewer are widened) or 16. Pixels with colours or transparency have no such number: they count as the grey that
 * they show. */
struct image_values {
  size_t height, width;
  uint16_t *value;
  bool exact;   /* the file keeps numbers: PNG does, JPEG does not */
  bool indexes; /* of a palette */
};

bool image_has_palette(const uint8_t *data, size_t size); /* of a file that can be decoded */
/* On failure v is empty. */
r4_status image_read_values(const uint8_t *data, size_t size, const char *name, struct image_values *v,
                            r4_error *e);
void image_values_clear(struct image_values *v);

/* As a PNG file, in new memory (r4_mem_free) or on the disk. */
r4_status image_encode(const struct image *image, uint8_t **data, size_t *size, r4_error *e);
r4_status image_write(const struct image *image, const char *file, r4_error *e);

/* Zeroed pixels. */
r4_status image_new(struct image *image, size_t height, size_t width, size_t channels, r4_error *e);
void image_clear(struct image *image); /* frees the pixels */

#endif
