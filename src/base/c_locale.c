#include "base/c_locale.h"

#include <locale.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* Made once, by whoever comes first, and kept. 0 if it cannot be made: then the thread's locale stays. */
static locale_t c_locale(void)
{
  static _Atomic(locale_t) kept;
  locale_t known = atomic_load(&kept);
  if (known) return known;
  locale_t made = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (made && atomic_compare_exchange_strong(&kept, &known, made)) return made;
  if (made) freelocale(made);
  return known;
}

int c_locale_vprint(char *to, size_t size, const char *format, va_list args)
{
  locale_t before = uselocale(c_locale());
  int n = vsnprintf(to, size, format, args);
  uselocale(before);
  return n;
}

int c_locale_print(char *to, size_t size, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  int n = c_locale_vprint(to, size, format, args);
  va_end(args);
  return n;
}

double c_locale_real(const char *text, char **end)
{
  locale_t before = uselocale(c_locale());
  double v = strtod(text, end);
  uselocale(before);
  return v;
}
