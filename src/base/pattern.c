#include "base/pattern.h"

#include <string.h>

bool pattern_next(const char **at, struct pattern *p)
{
  static const char space[] = " \t\r\n";
  while (**at && strchr(" \t\r\n,", **at)) ++*at;
  p->s = *at;
  p->length = strcspn(*at, ",");
  *at += p->length;
  while (p->length && strchr(space, p->s[p->length - 1])) p->length--;
  return p->length;
}

/* Walks both at once. Where they part, the last star takes one letter more: an earlier one need never be tried again,
 * as what fits after it could as well be taken by the later one. */
bool pattern_fits(struct pattern p, const char *name)
{
  const char *s = p.s, *end = p.s + p.length, *star = NULL, *from = NULL;
  while (*name) {
    if (s < end && *s == '*') {
      star = ++s;
      from = name;
    } else if (s < end && (*s == '?' || *s == *name)) {
      s++, name++;
    } else if (star) {
      s = star;
      name = ++from;
    } else {
      return false;
    }
  }
  while (s < end && *s == '*') s++;
  return s == end;
}

bool pattern_any(const char *list, const char *name)
{
  struct pattern p;
  while (pattern_next(&list, &p))
    if (pattern_fits(p, name)) return true;
  return false;
}
