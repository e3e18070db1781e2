/* PNG files of any kind, byte by byte: a writer without libpng. */
#ifndef MAKE_PNG_H
#define MAKE_PNG_H

#include "check.h"

struct bytes {
  size_t n;
  uint8_t at[1 << 16];
};

enum { GREY = 0, RGB = 2, PALETTE = 3, GREY_ALPHA = 4, RGBA = 6 };

struct png {
  uint32_t width, height;
  uint8_t depth, type, interlaced;
  size_t n_palette, n_transparent,
    n_rows; /* rows: filter byte and packed pixels, as they stand in the file */
  const uint8_t *palette, *transparent, *rows;
};

/* Gives n_palette and so on with the list. */
#define LIST(name, ...) .name = (const uint8_t[]){__VA_ARGS__}, .n_##name = sizeof((uint8_t[]){__VA_ARGS__})

void bytes_put(struct bytes *b, const void *data, size_t n);

/* The file, with a chunk about gamma that must make no difference. */
void write_png(struct bytes *b, struct png p);

#endif
