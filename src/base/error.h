/* Errors: fill an r4_error (which may be NULL) and hand the status on. */
#ifndef R4_BASE_ERROR_H
#define R4_BASE_ERROR_H

#include "r4.h"

#if defined(__GNUC__)
#define R4_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define R4_PRINTF(fmt, args)
#endif

r4_status r4_fail(r4_error *e, r4_status status, const char *format, ...) R4_PRINTF(3, 4);
/* Whether a function of r4.h was given what it needs; if not, the error says which function needs what. */
bool r4_given(bool there, const char *function, const char *what, r4_error *e);
/* At the start of such a function, which has an "r4_error *e". */
#define NEEDS(thing, what, failure) \
  if (!r4_given(thing, __func__, what, e)) return failure

/* The same of each of a list of n texts. */
bool r4_each_given(size_t n, const char *const *text, const char *function, const char *what, r4_error *e);
#define NEEDS_EACH(n, text, what, failure) \
  if (!r4_each_given(n, text, __func__, what, e)) return failure

void r4_error_clear(r4_error *e);

#endif
