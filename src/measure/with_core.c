#include "measure/with_core.h"

#include "base/error.h"
#include "base/mem.h"

/* m has room for a mask. */
static bool has_core(const r4_data *d, size_t i, size_t features, float *m)
{
  size_t masked = 0;
  if (!r4_data_mask(d, i, m)) return false;
  for (size_t j = 0; j < features; j++) masked += m[j] > 0.5f;
  return masked && masked < features;
}

r4_data *data_with_core(const r4_data *d, const char *what, r4_error *e)
{
  size_t n = r4_data_count(d), features = (size_t)r4_shape_count(r4_data_shape(d)), found = 0;
  size_t *list = mem_new(n + 1, sizeof *list, what, e);
  float *m = mem_new(features + 1, sizeof *m, what, e);
  r4_data *these = NULL;
  for (size_t i = 0; i < n && list && m; i++)
    if (has_core(d, i, features, m)) list[found++] = i;
  if (found)
    these = r4_data_subset(d, found, list, e);
  else if (list && m)
    r4_fail(e, R4_E_ARGUMENT, "%s: no example has a mask that covers only a part of it", what);
  r4_mem_free(list);
  r4_mem_free(m);
  return these;
}
