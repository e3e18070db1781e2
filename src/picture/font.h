/* Letters in shades of grey. */
#ifndef R4_PICTURE_FONT_H
#define R4_PICTURE_FONT_H

#include <stddef.h>
#include <stdint.h>

enum { GLYPHS = 191 }; /* of U+0020 to U+007E, and U+00A0 to U+00FF */

/* A rectangle of pixels, left of which starts so far from the pen, and whose top lies so far below that of capitals. */
struct glyph {
  int16_t advance, left, top, width, height, pixel; /* pixel: the first of them */
};

struct font {
  size_t height, descent; /* of capitals; below the line, at most */
  const struct glyph *glyph;
  const char *pixel; /* hexadecimal digits, f is ink */
};

extern const struct font font_small, font_large;

#endif
