/* Contact sheets: drawing on an RGB image. r4_data_sheet in r4.h is the public side. */
#ifndef R4_DATA_SHEET_H
#define R4_DATA_SHEET_H

#include "data/data.h"
#include "data/image.h"

enum { SHEET_FIRST_LETTER = ' ', SHEET_LETTERS = 95, SHEET_LETTER_WIDTH = 5, SHEET_LETTER_HEIGHT = 7 };

extern const uint8_t sheet_font[SHEET_LETTERS][SHEET_LETTER_HEIGHT];

/* Pixels between the starts of two letters. */
enum { SHEET_LETTER_STEP = SHEET_LETTER_WIDTH + 1 };

/* What lies beside the image is not drawn. */
void sheet_fill(struct image *on, size_t x, size_t y, size_t width, size_t height, const uint8_t colour[3]);

/* Writes text in letters of a whole size with its upper left corner at x, y and not beyond width pixels; what does not
 * fit is cut and ends with "..". What is not ASCII is a question mark. */
void sheet_text(struct image *on, size_t x, size_t y, size_t size, size_t width, const uint8_t colour[3],
                const char *text);
size_t sheet_text_width(const char *text, size_t size);

/* The border of a mask, a byte per pixel, 1 from 128 on: two pixels of a colour inside, and a dark one outside, so that
 * it shows on any ground. The mask lies at x, y and nothing is drawn beside it. */
void sheet_outline(struct image *on, size_t x, size_t y, size_t height, size_t width, const uint8_t *mask,
                   const uint8_t inner[3]);

#endif
