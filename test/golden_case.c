#include "golden_case.h"

#include <stdio.h>
#include <stdlib.h>

golden *golden_open(const char *file)
{
  char path[512], error[GOLDEN_ERROR_SIZE];
  const char *folder = getenv("R4_TEST_DIR");
  snprintf(path, sizeof path, "%s/golden/%s.txt", folder ? folder : "test", file);
  golden *g = golden_read(path, error);
  if (!g) fail_msg("%s", error);
  return g;
}

const golden_tensor *golden_get(const golden *g, const char *format, ...)
{
  char name[200];
  va_list args;
  va_start(args, format);
  vsnprintf(name, sizeof name, format, args);
  va_end(args);
  const golden_tensor *t = golden_find(g, name);
  if (!t) fail_msg("the golden file has no tensor %s", name);
  return t;
}

double golden_number(const golden *g, const char *name)
{
  double v = 0;
  if (golden_numbers(g, name, 1, &v) != 1) fail_msg("the golden file has no number %s", name);
  return v;
}

r4_shape golden_shape(const golden_tensor *t)
{
  r4_shape s = {.rank = t->rank};
  for (int k = 0; k < t->rank; k++) s.dim[k] = t->dim[k];
  return s;
}
