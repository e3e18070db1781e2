#include <string.h>

#include "picture/canvas.h"

static void dot(struct image *on, size_t x, size_t y, const uint8_t colour[3])
{
  if (x < on->width && y < on->height) memcpy(on->pixel + (y * on->width + x) * 3, colour, 3);
}

void canvas_fill(struct image *on, size_t x, size_t y, size_t width, size_t height, const uint8_t colour[3])
{
  for (size_t i = 0; i < height; i++)
    for (size_t j = 0; j < width; j++) dot(on, x + j, y + i, colour);
}

/* ---- Text ---- */

static const uint8_t *letter(unsigned char c)
{
  bool printable = c >= FIRST_LETTER && c < FIRST_LETTER + LETTERS;
  return font[(printable ? c : '?') - FIRST_LETTER];
}

/* Bytes of UTF-8 that go on with the character before. */
static bool is_continuation(unsigned char c)
{
  return c >> 6 == 2;
}

static size_t characters(const char *text)
{
  size_t n = 0;
  for (; *text; text++) n += !is_continuation((unsigned char)*text);
  return n;
}

size_t canvas_text_width(const char *text, size_t size)
{
  size_t n = characters(text);
  return n ? (n * LETTER_STEP - 1) * size : 0;
}

void canvas_text(struct image *on, size_t x, size_t y, size_t size, size_t width, const uint8_t colour[3],
                 const char *text)
{
  size_t n = characters(text), most = (width / size + 1) / LETTER_STEP;
  size_t whole = n <= most ? n : most > 2 ? most - 2 : 0, shown = n <= most ? n : most;
  for (size_t k = 0; k < shown; k++, x += LETTER_STEP * size) {
    char c = k < whole ? *text : '.';
    const uint8_t *rows = letter((unsigned char)c);
    size_t top = y + (strchr("gpqy", c) ? size : 0); /* these hang below the line */
    for (size_t i = 0; i < LETTER_HEIGHT; i++)
      for (size_t j = 0; j < LETTER_WIDTH; j++)
        if (rows[i] >> (LETTER_WIDTH - 1 - j) & 1)
          canvas_fill(on, x + j * size, top + i * size, size, size, colour);
    do text++;
    while (is_continuation((unsigned char)*text));
  }
}

/* ---- Outlines ---- */

/* Whether a pixel within reach of (i, j) is on the other side of the border of the mask. Beside the mask is outside. */
static bool is_near_border(size_t height, size_t width, const uint8_t *mask, size_t i, size_t j, size_t reach)
{
  bool inside = mask[i * width + j] >= 128;
  for (size_t a = i < reach ? 0 : i - reach; a <= i + reach; a++)
    for (size_t b = j < reach ? 0 : j - reach; b <= j + reach; b++) {
      bool beside = a >= height || b >= width;
      if ((!beside && mask[a * width + b] >= 128) != inside) return true;
    }
  return inside && (i < reach || j < reach);
}

void canvas_outline(struct image *on, size_t x, size_t y, size_t height, size_t width, const uint8_t *mask,
                    const uint8_t inner[3])
{
  static const uint8_t dark[3] = {0, 0, 0};
  for (size_t i = 0; i < height; i++)
    for (size_t j = 0; j < width; j++) {
      bool inside = mask[i * width + j] >= 128;
      if (is_near_border(height, width, mask, i, j, inside ? 2 : 1))
        dot(on, x + j, y + i, inside ? inner : dark);
    }
}
