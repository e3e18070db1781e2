/* A string that grows. A failed allocation is kept and shows once, in text_take. */
#ifndef R4_BASE_TEXT_H
#define R4_BASE_TEXT_H

#include "base/error.h"

struct text {
  char *s;
  size_t length, capacity;
  bool failed;
};

void text_add(struct text *t, const char *format, ...) R4_PRINTF(2, 3);
/* Hands the string to the caller (r4_string_free), or NULL if an allocation failed. */
char *text_take(struct text *t);

#endif
