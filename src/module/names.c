/* Parameters by patterns of their names. */
#include <stdio.h>

#include "base/pattern.h"
#include "base/text.h"
#include "module/net.h"

static bool fits_any(const r4_net *n, struct pattern p)
{
  for (size_t k = 0; k < r4_net_params(n); k++)
    if (pattern_fits(p, r4_net_param_name(n, k))) return true;
  return false;
}

/* A few names, so that a reader sees what they look like. */
static char *some_names(const r4_net *n)
{
  enum { SHOWN = 6 };
  struct text t = {0};
  size_t all = r4_net_params(n), step = all > SHOWN ? all / SHOWN : 1, shown = 0;
  for (size_t k = 0; k < all && shown < SHOWN; k += step, shown++)
    text_add(&t, "%s%.48s", k ? ", " : "", r4_net_param_name(n, k));
  if (shown < all) text_add(&t, " and %zu more", all - shown);
  return text_take(&t);
}

r4_status net_check_pattern(const r4_net *n, const char *where, struct pattern p, r4_error *e)
{
  if (fits_any(n, p)) return R4_OK;
  char *names = some_names(n);
  r4_status s =
    r4_fail(e, R4_E_ARGUMENT, "%.100s: no parameter of the net matches \"%.*s\"; expected %s", where,
            p.length < 60 ? (int)p.length : 60, p.s, names ? names : "others");
  r4_string_free(names);
  return s;
}

r4_status net_check_patterns(const r4_net *n, const char *where, const char *list, r4_error *e)
{
  struct pattern p;
  r4_status s = R4_OK;
  while (!s && pattern_next(&list, &p)) s = net_check_pattern(n, where, p, e);
  return s;
}
