#include "data/mask/mask_shape.h"

#include <string.h>

#include "base/mem.h"

struct shape_box shape_box(const uint8_t *mask, struct shape_size size)
{
  size_t top = size.height, left = size.width, bottom = 0, right = 0;
  for (size_t row = 0; row < size.height; row++) {
    for (size_t column = 0; column < size.width; column++) {
      if (!mask[row * size.width + column]) continue;
      if (row < top) top = row;
      if (column < left) left = column;
      if (row >= bottom) bottom = row + 1;
      if (column >= right) right = column + 1;
    }
  }
  return (struct shape_box){top, left, bottom - top, right - left};
}

bool shape_is_corner(const uint8_t *mask, struct shape_size size)
{
  struct shape_box b = shape_box(mask, size);
  bool top = !b.top, left = !b.left, bottom = b.top + b.height == size.height,
       right = b.left + b.width == size.width;
  if (b.height != b.width || top == bottom || left == right) return false;
  for (size_t row = b.top; row < b.top + b.height; row++)
    for (size_t column = b.left; column < b.left + b.width; column++)
      if (mask[row * size.width + column] != 255) return false;
  return true;
}

void shape_move(const uint8_t *mask, struct shape_size size, int64_t down, int64_t right, uint8_t *to)
{
  int64_t height = (int64_t)size.height, width = (int64_t)size.width;
  memset(to, 0, size.height * size.width);
  for (int64_t row = 0; row < height; row++) {
    if (row + down < 0 || row + down >= height) continue;
    for (int64_t column = 0; column < width; column++)
      if (column + right >= 0 && column + right < width)
        to[(row + down) * width + column + right] = mask[row * width + column];
  }
}

/* a[i] becomes the largest of a[i .. i + window - 1], for n blocks of bytes a[i]: windows of 1, 2, 4, ... are joined
 * from two of half the length, the last from two that overlap. Reads n + window - 1 blocks. */
static void largest_in_window(uint8_t *a, size_t n, size_t block, size_t window)
{
  size_t end = (n + window - 1) * block, step = 1;
  for (; 2 * step <= window; step *= 2)
    for (size_t i = 0; i + step * block < end; i++)
      if (a[i + step * block] > a[i]) a[i] = a[i + step * block];
  for (size_t i = 0, rest = (window - step) * block; rest && i < n * block; i++)
    if (a[i + rest] > a[i]) a[i] = a[i + rest];
}

/* Rows first, then columns; `flip` is 255 to shrink, which is to grow what is not marked. */
static r4_status spread(const uint8_t *mask, struct shape_size size, size_t by, uint8_t flip, uint8_t *to,
                        r4_error *e)
{
  size_t pixels = size.height * size.width, window = 2 * by + 1;
  uint8_t *line = mem_new(size.width + 2 * by, 1, "a mask", e),
          *image = mem_new(size.height + 2 * by, size.width, "a mask", e);
  r4_status s = R4_OK;
  if (line && image) {
    for (size_t row = 0; row < size.height; row++) {
      memset(line, 0, size.width + 2 * by);
      for (size_t k = 0; k < size.width; k++) line[by + k] = mask[row * size.width + k] ^ flip;
      largest_in_window(line, size.width, 1, window);
      memcpy(image + (by + row) * size.width, line, size.width);
    }
    largest_in_window(image, size.height, size.width, window);
    for (size_t k = 0; k < pixels; k++) to[k] = image[k] ^ flip;
  } else {
    s = R4_E_MEMORY;
  }
  r4_mem_free(line);
  r4_mem_free(image);
  return s;
}

r4_status shape_grow(const uint8_t *mask, struct shape_size size, size_t by, uint8_t *to, r4_error *e)
{
  return spread(mask, size, by, 0, to, e);
}

r4_status shape_shrink(const uint8_t *mask, struct shape_size size, size_t by, uint8_t *to, r4_error *e)
{
  return spread(mask, size, by, 255, to, e);
}

static bool is_empty(const uint8_t *mask, size_t n)
{
  return !*mask && !memcmp(mask, mask + 1, n - 1);
}

r4_status shape_depth(const uint8_t *mask, struct shape_size size, size_t *depth, r4_error *e)
{
  size_t pixels = size.height * size.width,
         none = 0; /* by bisection: none leaves something, *depth nothing */
  *depth = size.height > size.width ? size.height : size.width;
  uint8_t *less = mem_new(pixels, 1, "a mask", e);
  r4_status s = less ? R4_OK : R4_E_MEMORY;
  while (!s && *depth - none > 1) {
    size_t middle = none + (*depth - none) / 2;
    s = shape_shrink(mask, size, middle, less, e);
    if (is_empty(less, pixels))
      *depth = middle;
    else
      none = middle;
  }
  r4_mem_free(less);
  return s;
}
