#include "base/text.h"

#include <string.h>

#include "base/c_locale.h"
#include "base/mem.h"

static bool reserve(struct text *t, size_t more)
{
  if (t->failed) return false;
  if (t->length + more + 1 <= t->capacity) return true;
  size_t capacity = 2 * (t->length + more + 1);
  char *s = r4_mem_grow(t->s, capacity, 1);
  t->failed = !s;
  if (!s) return false;
  t->s = s;
  t->capacity = capacity;
  return true;
}

void text_add(struct text *t, const char *format, ...)
{
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int n = c_locale_vprint(NULL, 0, format, args);
  va_end(args);
  if (n >= 0 && reserve(t, (size_t)n)) {
    c_locale_vprint(t->s + t->length, (size_t)n + 1, format, again);
    t->length += (size_t)n;
  }
  va_end(again);
}

void text_add_real(struct text *t, double v)
{
  char s[40];
  for (int precision = 15; precision <= 17; precision++) {
    c_locale_print(s, sizeof s, "%.*g", precision, v);
    if (c_locale_real(s, NULL) == v) break;
  }
  size_t mantissa = strcspn(s, "e");
  bool point = !s[mantissa] || strchr(s, '.');
  text_add(t, "%.*s%s%s", (int)mantissa, s, point ? "" : ".0", s + mantissa);
}

char *text_take(struct text *t)
{
  text_add(t, "%s", "");
  char *s = t->s;
  if (t->failed) {
    r4_mem_free(s);
    s = NULL;
  }
  *t = (struct text){0};
  return s;
}

char *text_done(struct text *t, const char *what, r4_error *e)
{
  size_t bytes = t->length + 1;
  char *s = text_take(t);
  if (!s) r4_fail(e, R4_E_MEMORY, "out of memory for %s (%zu bytes)", what, bytes);
  return s;
}

void r4_string_free(char *s)
{
  r4_mem_free(s);
}
