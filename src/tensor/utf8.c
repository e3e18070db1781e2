#include "tensor/utf8.h"

enum { ESCAPE = 0xDC00, SURROGATES = 0xD800, SURROGATES_END = 0xE000, CODES = 0x110000 };

/* The smallest code that needs so many bytes: a longer form of a smaller one is not UTF-8. */
static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};

size_t utf8_get(const char *s, uint32_t *code)
{
  uint8_t first = (uint8_t)*s;
  *code = first;
  if (first < 0x80) return 1;
  size_t n = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  uint32_t value = first & (0x7Fu >> n);
  for (size_t k = 1; k < n; k++) {
    uint8_t next = (uint8_t)s[k];
    if ((next & 0xC0) != 0x80) goto escape; /* so is the terminating zero */
    value = value << 6 | (next & 0x3F);
  }
  if (first < 0xC0 || first >= 0xF8 || value < smallest[n] || value >= CODES ||
      (value >= SURROGATES && value < SURROGATES_END))
    goto escape;
  *code = value;
  return n;
escape:
  *code = ESCAPE + first;
  return 1;
}

size_t utf8_put(uint32_t code, char *to)
{
  if (code < 0x80 || (code >= ESCAPE + 0x80 && code < ESCAPE + 0x100)) {
    *to = (char)(code & 0xFF);
    return 1;
  }
  if (code >= CODES || (code >= SURROGATES && code < SURROGATES_END)) return 0;
  size_t n = code < smallest[3] ? 2 : code < smallest[4] ? 3 : 4;
  for (size_t k = n - 1; k; k--, code >>= 6) to[k] = (char)(0x80 | (code & 0x3F));
  to[0] = (char)(0xF00u >> n | code); /* n ones, then a zero; the lower byte of it */
  return n;
}
