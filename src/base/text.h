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
/* A finite number with the fewest digits (of 15 to 17) that read back as it. An exponent comes with a point, "1.0e-05":
 * YAML 1.1 knows no other, JSON takes any. */
void text_add_real(struct text *t, double v);
/* Hands the string to the caller (r4_string_free), or NULL if an allocation failed. */
char *text_take(struct text *t);
/* The same where there is an error to fill: "out of memory for the page". */
char *text_done(struct text *t, const char *what, r4_error *e);

#endif
