/* The built-in data set: handwritten-looking digits, drawn from strokes, as many as wanted. */
#ifndef R4_DATA_KNOWN_DIGITS_H
#define R4_DATA_KNOWN_DIGITS_H

#include <stddef.h>
#include <stdint.h>

enum { DIGITS_SIDE = 28, DIGITS_PIXELS = DIGITS_SIDE * DIGITS_SIDE, DIGITS_CLASSES = 10 };

/* Images first .. first + n - 1 of the endless sequence that belongs to seed: n * DIGITS_PIXELS bytes,
 * row by row, 0 is paper and 255 ink, and n labels, 0 .. 9 with equal probability. Image i depends on
 * seed and i alone: training and test data are two ranges of one seed, or two seeds. The same bytes
 * come from any number of threads and from any compiler that rounds as IEEE 754 says. */
void r4_digits(uint64_t seed, uint64_t first, size_t n, uint8_t *images, uint8_t *labels);

#endif
