#include "base/shape.h"

#include <stdio.h>

int64_t r4_shape_count(r4_shape s)
{
  int64_t n = 1;
  for (int k = 0; k < s.rank; k++) n *= s.dim[k];
  return n;
}

bool r4_shape_equal(r4_shape a, r4_shape b)
{
  if (a.rank != b.rank) return false;
  for (int k = 0; k < a.rank; k++)
    if (a.dim[k] != b.dim[k]) return false;
  return true;
}

bool shape_valid(r4_shape s)
{
  const int64_t limit = (int64_t)1 << 40;
  int64_t n = 1;
  if (s.rank < 0 || s.rank > R4_MAX_RANK) return false;
  for (int k = 0; k < s.rank; k++) {
    if (s.dim[k] < 1 || s.dim[k] > limit / n) return false;
    n *= s.dim[k];
  }
  return true;
}

const char *shape_text(r4_shape s, char *buffer)
{
  int n = snprintf(buffer, SHAPE_TEXT, "[");
  for (int k = 0; k < s.rank && k < R4_MAX_RANK; k++)
    n += snprintf(buffer + n, (size_t)(SHAPE_TEXT - n), "%s%lld", k ? "," : "", (long long)s.dim[k]);
  snprintf(buffer + n, (size_t)(SHAPE_TEXT - n), "]");
  return buffer;
}
