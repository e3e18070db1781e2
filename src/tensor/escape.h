/* UTF-8 that loses nothing, one character at a time. A byte that is not UTF-8 is the character U+DC00 plus the byte,
 * and back, as in Python's surrogateescape: names of files keep their bytes. */
#ifndef R4_TENSOR_ESCAPE_H
#define R4_TENSOR_ESCAPE_H

#include <stddef.h>
#include <stdint.h>

/* Reads the character at s, which is not at the terminating zero; returns how many bytes it has. */
size_t escape_get(const char *s, uint32_t *code);
/* Writes a character, at most 4 bytes; returns how many, or 0 if code is not a character. */
size_t escape_put(uint32_t code, char *to);

#endif
