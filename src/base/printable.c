#include "base/printable.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "r4_tools.h"

bool printable_is_control(uint32_t code)
{
  static const uint32_t range[][2] = {
    {0, 0x1f}, {0x7f, 0x9f}, {0x2028, 0x202e} /* lines, directions */, {0x2066, 0x2069} /* directions */};
  for (size_t k = 0; k < sizeof range / sizeof *range; k++)
    if (code >= range[k][0] && code <= range[k][1]) return true;
  return false;
}

/* The character at s as it is shown, in piece; returns how many bytes of s it is. */
static size_t show_one(const char *s, char piece[16])
{
  uint32_t code = 0;
  size_t n = utf8_next(s, &code);
  if (!n || code < 0x80) code = (uint8_t)*s;
  if (!n || (printable_is_control(code) && code < 0x80))
    snprintf(piece, 16, "\\x%02x", code);
  else if (printable_is_control(code))
    snprintf(piece, 16, "\\u%04x", code);
  else
    snprintf(piece, 16, "%.*s", (int)n, s);
  return n ? n : 1;
}

size_t r4_text_printable(const char *s, char *to, size_t size)
{
  size_t length = 0;
  bool room = size > 0;
  if (room) *to = 0;
  while (*s) {
    char piece[16];
    s += show_one(s, piece);
    size_t n = strlen(piece);
    room = room && length + n < size; /* characters are whole, or not there */
    if (room) memcpy(to + length, piece, n + 1);
    length += n;
  }
  return length;
}
