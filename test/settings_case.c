#include "settings_case.h"

#include <string.h>

#include "check.h"

r4_status settings_case_read(r4_settings *s, const char *text, r4_error *e)
{
  return settings_parse(s, "a.yaml", text, strlen(text), e);
}

r4_settings *settings_case(const char *text)
{
  r4_error e;
  r4_settings *s = r4_settings_new();
  assert_non_null(s);
  if (settings_case_read(s, text, &e)) fail_msg("%s", e.text);
  return s;
}

r4_settings *settings_case_with(const char *const *common, const char *const *more)
{
  r4_error e = {0};
  r4_settings *s = r4_settings_new();
  for (int pass = 0; pass < 2; pass++)
    for (const char *const *a = pass ? more : common; a && *a; a++)
      if (r4_settings_set(s, *a, "test", &e)) fail_msg("%s", e.text);
  return s;
}
