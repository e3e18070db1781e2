#include "base/utf8.h"

#include <string.h>

/* Leading bytes 0xxxxxxx, 110xxxxx, 1110xxxx, 11110xxx, then 10xxxxxx each. */
size_t utf8_next(const char *s, uint32_t *code)
{
  static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const uint8_t *b = (const uint8_t *)s;
  size_t n = b[0] < 0x80 ? 1 : b[0] < 0xc0 ? 0 : b[0] < 0xe0 ? 2 : b[0] < 0xf0 ? 3 : b[0] < 0xf8 ? 4 : 0;
  if (!n || !b[0]) return 0;
  uint32_t c = n == 1 ? b[0] : b[0] & (0x7fu >> n);
  for (size_t k = 1; k < n; k++) {
    if ((b[k] & 0xc0) != 0x80) return 0;
    c = c << 6 | (b[k] & 0x3f);
  }
  if (c < smallest[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return 0;
  *code = c;
  return n;
}

size_t utf8_mark(const void *bytes, size_t n)
{
  return n >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3) ? 3 : 0;
}

bool utf8_valid(const char *s)
{
  uint32_t code;
  for (size_t n; *s; s += n)
    if (!(n = utf8_next(s, &code))) return false;
  return true;
}
