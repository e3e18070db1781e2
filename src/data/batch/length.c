#include "data/batch/length.h"

static size_t unit_of(size_t width, size_t steps)
{
  enum { ALIGNED = 8 };
  size_t unit = steps > 1 ? (width + steps - 1) / steps : width;
  size_t rounded = (unit + ALIGNED - 1) / ALIGNED * ALIGNED;
  return rounded < width ? rounded : width;
}

size_t length_step(size_t longest, size_t width, size_t steps)
{
  return longest ? (longest - 1) / unit_of(width, steps) : 0;
}

size_t length_rounded(size_t longest, size_t width, size_t steps)
{
  size_t rounded = (length_step(longest, width, steps) + 1) * unit_of(width, steps);
  return rounded < width ? rounded : width;
}
