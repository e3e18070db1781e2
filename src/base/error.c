#include "base/error.h"

#include "base/c_locale.h"
#include "base/cpu.h"
#include "r4_tools.h"

const char *r4_status_name(r4_status s)
{
  static const char *const name[] = {
    [R4_OK] = "ok",
    [R4_E_MEMORY] = "memory",
    [R4_E_SHAPE] = "shape",
    [R4_E_ARGUMENT] = "argument",
    [R4_E_RULE] = "rule",
    [R4_E_DOMAIN] = "domain",
    [R4_E_PARSE] = "parse",
    [R4_E_IO] = "io",
    [R4_E_INTERNAL] = "internal",
    [R4_E_BUSY] = "busy",
    [R4_E_CPU] = "cpu",
    [R4_E_TEAM] = "team",
  };
  return (unsigned)s < sizeof name / sizeof *name ? name[s] : "unknown";
}

r4_status r4_fail(r4_error *e, r4_status status, const char *format, ...)
{
  if (!e) return status;
  e->status = status;
  char text[2 * R4_ERROR_SIZE];
  va_list args;
  va_start(args, format);
  c_locale_vprint(text, sizeof text, format, args);
  va_end(args);
  r4_text_printable(text, e->text, sizeof e->text); /* names of files are in it, whatever these are */
  return status;
}

bool r4_given(bool there, const char *function, const char *what, r4_error *e)
{
  if (!cpu_fits(function, e)) return false;
  if (!there) r4_fail(e, R4_E_ARGUMENT, "%s: needs %s, got NULL", function, what);
  return there;
}

bool r4_each_given(size_t n, const char *const *text, const char *function, const char *what, r4_error *e)
{
  for (size_t k = 0; k < n; k++)
    if (!text[k]) return r4_fail(e, R4_E_ARGUMENT, "%s: %s %zu of %zu is NULL", function, what, k, n) == R4_OK;
  return true;
}

void r4_error_clear(r4_error *e)
{
  if (!e) return;
  e->status = R4_OK;
  e->text[0] = 0;
}
