/* Patterns of names: "fc.*, layer4.?.conv1.weight". A star stands for any letters or none, dots included, a question
 * mark for one byte; commas separate patterns, and spaces around them do not count. */
#ifndef R4_BASE_PATTERN_H
#define R4_BASE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/* One pattern of a list: s[0..length), without the spaces around it. */
struct pattern {
  const char *s;
  size_t length;
};

/* The first pattern at or after *at, and *at behind it; false after the last. Nothing between two commas is none. */
bool pattern_next(const char **at, struct pattern *p);
bool pattern_fits(struct pattern p, const char *name);
/* One pattern of the list fits the name. */
bool pattern_any(const char *list, const char *name);

#endif
