#include <string.h>

#include "base/utf8.h"
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

/* The letter at *text, which is moved on to the next one. What the font has not, and what is not UTF-8, is "?". */
static const struct glyph *next_glyph(const struct font *f, const char **text)
{
  uint32_t code;
  size_t n = utf8_next(*text, &code);
  *text += n ? n : 1;
  if (n && code >= ' ' && code <= '~') return f->glyph + (code - ' ');
  if (n && code >= 0xa0 && code <= 0xff) return f->glyph + ('~' - ' ' + 1) + (code - 0xa0);
  return f->glyph + ('?' - ' ');
}

size_t canvas_text_width(const char *text, const struct font *f)
{
  size_t width = 0;
  while (*text) width += (size_t)next_glyph(f, &text)->advance;
  return width;
}

/* colour with a weight of shade / 15 over what is there */
static void blend(struct image *on, size_t x, size_t y, int shade, const uint8_t colour[3])
{
  if (x >= on->width || y >= on->height) return;
  uint8_t *to = on->pixel + (y * on->width + x) * 3;
  for (int c = 0; c < 3; c++) to[c] = (uint8_t)((to[c] * (15 - shade) + colour[c] * shade + 7) / 15);
}

/* What lies left of the image or above it has coordinates near SIZE_MAX, and is not drawn either. */
static void draw_glyph(struct image *on, size_t x, size_t y, const struct font *f, const struct glyph *g,
                       const uint8_t colour[3])
{
  const char *pixel = f->pixel + g->pixel;
  for (int i = 0; i < g->height; i++)
    for (int j = 0; j < g->width; j++, pixel++) {
      int shade = *pixel <= '9' ? *pixel - '0' : *pixel - 'a' + 10;
      blend(on, x + (size_t)(g->left + j), y + (size_t)(g->top + i), shade, colour);
    }
}

/* The end of as much of text as fits into width, "..", if it must be cut, included. */
static const char *cut(const char *text, const struct font *f, size_t width)
{
  size_t dots = canvas_text_width("..", f), used = 0;
  if (canvas_text_width(text, f) <= width) return text + strlen(text);
  for (const char *next = text;; text = next) {
    used += (size_t)next_glyph(f, &next)->advance;
    if (used + dots > width) return text;
  }
}

static size_t draw_text(struct image *on, size_t x, size_t y, const struct font *f, const uint8_t colour[3],
                        const char *text, const char *end)
{
  while (text < end) {
    const struct glyph *g = next_glyph(f, &text);
    draw_glyph(on, x, y, f, g, colour);
    x += (size_t)g->advance;
  }
  return x;
}

void canvas_text(struct image *on, size_t x, size_t y, const struct font *f, size_t width,
                 const uint8_t colour[3], const char *text)
{
  static const char dots[] = "..";
  const char *end = cut(text, f, width);
  x = draw_text(on, x, y, f, colour, text, end);
  if (*end && canvas_text_width(dots, f) <= width) draw_text(on, x, y, f, colour, dots, dots + 2);
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
