/* Weights are finite numbers, or the net is no net. */
#include <math.h>

#include "graph/graph.h"
#include "module/net.h"

/* The index [i0, i1, ...] of element k, written as a shape is. */
static r4_shape index_of(r4_shape shape, size_t k)
{
  r4_shape index = shape;
  for (int axis = shape.rank - 1; axis >= 0; axis--) {
    index.dim[axis] = (int64_t)k % shape.dim[axis];
    k /= (size_t)shape.dim[axis];
  }
  return index;
}

r4_status check_finite(const char *where, const char *name, r4_shape shape, const float *v, r4_error *e)
{
  size_t n = (size_t)r4_shape_count(shape), k = 0;
  char index[SHAPE_TEXT];
  while (k < n && isfinite(v[k])) k++;
  if (k == n) return R4_OK;
  return r4_fail(e, R4_E_DOMAIN, "%s: \"%s\" is %s at %s, expected a finite number", where, name,
                 isnan(v[k]) ? "nan"
                 : v[k] > 0  ? "inf"
                             : "-inf",
                 shape_text(index_of(shape, k), index));
}

r4_status net_check_finite(const r4_net *n, const float *weights, const char *where, r4_error *e)
{
  r4_status s = R4_OK;
  for (size_t k = 0; k < n->params && !s; k++)
    s = check_finite(where, n->param[k].name, n->param[k].shape, weights + n->param[k].offset, e);
  return s;
}
