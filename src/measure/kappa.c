#include "measure/kappa.h"

#include <math.h>

#include "base/mem.h"
#include "measure/probe.h"

enum { LARGEST, MEAN, INSIDE };

/* largest_i = max_j b_ij kappa_ij,  mean_i = sum_j b_ij kappa_ij / sum_j b_ij,  where b_ij > 0 counts as 1 */
static size_t build(struct objective *o, r4_id out[PROBE_OUTPUTS])
{
  r4_graph *g = o->g;
  r4_pair bounds = objective_explain_bounds(o, BOUND_BY_INTERVALS, view_radius(o));
  r4_id inside = r4_step(g, o->m), zero = r4_const(g, 0, R4_SCALAR);
  r4_id width =
    r4_select(g, inside, r4_sub(g, bounds.hi, bounds.lo), zero); /* not inside * width: 0 * infinity */
  unsigned features = (R4_AXIS(r4_node_shape(g, width).rank) - 1) & ~R4_AXIS(0);
  r4_id count = objective_example_sum(o, inside);
  out[LARGEST] = r4_reduce_max(g, width, features);
  out[MEAN] = r4_div(g, objective_example_sum(o, width), r4_max(g, count, r4_const(g, 1, R4_SCALAR)));
  out[INSIDE] = count;
  return 3;
}

r4_status kappa_of(const r4_net *net, const float *weights, const r4_data *d, enum probe_mask box, double eps,
                   int64_t batch, struct kappa *k, r4_error *e)
{
  const struct probe_options options = {
    .net = net, .batch = batch, .eps = eps, .build = build, .mask = box, .cuts = true};
  struct probe *p = probe_new(&options, e);
  if (!p) return e->status;
  size_t n = r4_data_count(d), *order = probe_order(d, e);
  r4_status s = order ? R4_OK : R4_E_MEMORY;
  double sum = 0;
  *k = (struct kappa){0};
  for (size_t first = 0; first < n && !s; first += probe_batch(p)) {
    size_t here = n - first < probe_batch(p) ? n - first : probe_batch(p);
    s = probe_ask(p, weights, d, here, order + first, e);
    for (size_t i = 0; i < here && !s; i++) {
      if (*probe_row(p, INSIDE, i) == 0) continue;
      k->n++;
      k->max = fmax(k->max, (double)*probe_row(p, LARGEST, i));
      sum += (double)*probe_row(p, MEAN, i);
    }
  }
  k->mean = sum / (double)k->n;
  if (!k->n) k->max = NAN; /* and the mean, 0 / 0: none is not 0 */
  r4_mem_free(order);
  probe_free(p);
  return s;
}
