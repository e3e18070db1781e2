#include "tensor/escape.h"

#include "base/utf8.h"

enum { ESCAPE = 0xDC00, SURROGATES = 0xD800, SURROGATES_END = 0xE000, CODES = 0x110000 };

size_t escape_get(const char *s, uint32_t *code)
{
  size_t n = utf8_next(s, code);
  if (n) return n;
  *code = ESCAPE + (uint8_t)*s;
  return 1;
}

size_t escape_put(uint32_t code, char *to)
{
  if (code < 0x80 || (code >= ESCAPE + 0x80 && code < ESCAPE + 0x100)) {
    *to = (char)(code & 0xFF);
    return 1;
  }
  if (code >= CODES || (code >= SURROGATES && code < SURROGATES_END)) return 0;
  size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (size_t k = n - 1; k; k--, code >>= 6) to[k] = (char)(0x80 | (code & 0x3F));
  to[0] = (char)(0xF00u >> n | code); /* n ones, then a zero; the lower byte of it */
  return n;
}
