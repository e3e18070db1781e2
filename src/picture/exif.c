/* A block is "II" (little-endian) or "MM", 42, and the place of a directory: the number of its entries, and these, each
 * of 12 bytes: tag, type, count (2, 2 and 4 bytes) and the value, or where it is. */
#include "picture/exif.h"

#include <stdbool.h>
#include <string.h>

struct block {
  const uint8_t *data;
  size_t size;
  bool little;
};

/* n bytes at a place, as a number; 0 where there are none. */
static uint32_t number(const struct block *b, size_t at, size_t n)
{
  uint32_t value = 0;
  if (at > b->size || n > b->size - at) return 0;
  for (size_t k = 0; k < n; k++) value = value << 8 | b->data[at + (b->little ? n - 1 - k : k)];
  return value;
}

static bool is_sound(const struct block *b)
{
  enum { HEADER = 8, MAGIC = 42 };
  return b->size >= HEADER && !memcmp(b->data, b->little ? "II" : "MM", 2) && number(b, 2, 2) == MAGIC;
}

int exif_orientation(const uint8_t *data, size_t size)
{
  enum { ENTRY = 12, ORIENTATION = 0x112, SHORT = 3, LAST = 8 };
  const struct block b = {data, size, size && *data == 'I'};
  if (!is_sound(&b)) return 1;
  size_t directory = number(&b, 4, 4), entries = number(&b, directory, 2);
  for (size_t k = 0; k < entries; k++) {
    size_t at = directory + 2 + k * ENTRY;
    if (number(&b, at, 2) != ORIENTATION) continue;
    uint32_t value = number(&b, at + 2, 2) == SHORT && number(&b, at + 4, 4) == 1 ? number(&b, at + 8, 2) : 1;
    return value >= 1 && value <= LAST ? (int)value : 1;
  }
  return 1;
}
