#include "op/element.h"

/* Aligned at the last dimension; 1 gives way to the other. */
static bool join(r4_shape a, r4_shape b, r4_shape *out)
{
  out->rank = a.rank > b.rank ? a.rank : b.rank;
  for (int k = 1; k <= out->rank; k++) {
    int64_t p = k <= a.rank ? a.dim[a.rank - k] : 1, q = k <= b.rank ? b.dim[b.rank - k] : 1;
    if (p != q && p != 1 && q != 1) return false;
    out->dim[out->rank - k] = p == 1 ? q : p;
  }
  return true;
}

r4_id element1(r4_graph *g, const struct op *op, r4_id x)
{
  return graph_add(g, op, 1, &x, NULL, NULL, NULL);
}

static r4_id element(r4_graph *g, const struct op *op, size_t n, r4_id *x)
{
  if (r4_graph_status(g, NULL)) return R4_NONE;
  r4_shape shape = {0};
  for (size_t k = 0; k < n; k++) {
    if (!x[k].i || x[k].i > g->size) return graph_add(g, op, n, x, NULL, NULL, NULL); /* says what is wrong */
    if (!join(shape, r4_node_shape(g, x[k]), &shape)) {
      char a[SHAPE_TEXT], b[SHAPE_TEXT];
      return r4_graph_fail(g, R4_E_SHAPE, "%s: %s does not broadcast with %s", op->name,
                           shape_text(r4_node_shape(g, x[k]), a), shape_text(r4_node_shape(g, x[0]), b));
    }
  }
  for (size_t k = 0; k < n; k++) x[k] = r4_broadcast(g, x[k], shape);
  return graph_add(g, op, n, x, NULL, NULL, NULL);
}

r4_id element2(r4_graph *g, const struct op *op, r4_id a, r4_id b)
{
  return element(g, op, 2, (r4_id[]){a, b});
}

r4_id element3(r4_graph *g, const struct op *op, r4_id a, r4_id b, r4_id c)
{
  return element(g, op, 3, (r4_id[]){a, b, c});
}
