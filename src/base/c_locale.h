/* Numbers as text, the same in every locale: a host program may have chosen one where 1.5 is "1,5". Everything that the
 * library prints or reads with a decimal point goes through here. */
#ifndef R4_BASE_C_LOCALE_H
#define R4_BASE_C_LOCALE_H

#include <stdarg.h>

#include "base/error.h"

/* snprintf and strtod, in the locale "C". */
int c_locale_print(char *to, size_t size, const char *format, ...) R4_PRINTF(3, 4);
int c_locale_vprint(char *to, size_t size, const char *format, va_list args);
double c_locale_real(const char *text, char **end);

#endif
