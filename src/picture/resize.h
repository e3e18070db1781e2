/* Images of another size. */
#ifndef R4_PICTURE_RESIZE_H
#define R4_PICTURE_RESIZE_H

#include "picture/image.h"

/* Writes height * width * channels bytes to to. With s = from / to, the ratio of the sizes along one axis, element j of
 * the result is at c = (j + 1/2) s in the source, whose element i is at i + 1/2, and
 *
 *     to[j] = sum_i w(i) from[i] / sum_i w(i),    w(i) = max(0, 1 - |i + 1/2 - c| / max(1, s)):
 *
 * bilinear interpolation, and when shrinking a triangle as wide as two elements of the result, so that nothing is
 * skipped. It is Pillow's BILINEAR. Along x first, then along y, in float without rounding between; then rounded to
 * the nearest byte, halves up. */
r4_status resize(const struct image *from, size_t height, size_t width, uint8_t *to, r4_error *e);

/* What marked pixels have a part in: to, [height, width], is 1 where some i, j with from[i, j] != 0 is among the
 * sources of resize, whatever its weight, else 0. from has one channel. */
r4_status resize_touched(const struct image *from, size_t height, size_t width, uint8_t *to, r4_error *e);

#endif
