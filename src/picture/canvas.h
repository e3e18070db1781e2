/* Drawing on an RGB image: areas, letters, outlines of masks. */
#ifndef R4_PICTURE_CANVAS_H
#define R4_PICTURE_CANVAS_H

#include "base/error.h"
#include "picture/font.h"
#include "picture/image.h"

/* What lies beside the image is not drawn. */
void canvas_fill(struct image *on, size_t x, size_t y, size_t width, size_t height, const uint8_t colour[3]);

/* Writes text with the upper left corner of its capitals at x, y, and not beyond width pixels; what does not fit is cut
 * and ends with "..". */
void canvas_text(struct image *on, size_t x, size_t y, const struct font *f, size_t width, const uint8_t colour[3],
                 const char *text);
size_t canvas_text_width(const char *text, const struct font *f);

/* The border of a mask, a byte per pixel, 1 from 128 on: two pixels of a colour inside, and a dark one outside, so that
 * it shows on any ground. The mask lies at x, y and nothing is drawn beside it. */
void canvas_outline(struct image *on, size_t x, size_t y, size_t height, size_t width, const uint8_t *mask,
                    const uint8_t inner[3]);

#endif
