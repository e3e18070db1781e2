/* UTF-8. */
#ifndef R4_BASE_UTF8_H
#define R4_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The code point at s and its length in bytes; 0 if there is none: the shortest form only, no surrogates. */
size_t utf8_next(const char *s, uint32_t *code);
/* The bytes of a byte order mark at the beginning of n bytes: 3 or 0. */
size_t utf8_mark(const void *bytes, size_t n);
/* The whole string is UTF-8. */
bool utf8_valid(const char *s);

#endif
