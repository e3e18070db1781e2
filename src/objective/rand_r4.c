/* Rand-R4: q_i = max_s || m_i . g_i(x_i + d_is) ||,  d_i0 = 0,  d_is = eps m_i . xi_is,  xi in [-1, 1], s = 1 .. S
 *
 * The derivative of a maximum is that of its largest term. So the search for the largest runs forward
 * only, sample by sample, and just the point that it finds is differentiated by the weights. */
#include "objective/objective.h"

/* Sample s of the noise, [samples * batch, ...]. */
static r4_id draw(const struct objective *o, int s)
{
  r4_shape size = r4_node_shape(o->g, o->in.m);
  int64_t start[R4_MAX_RANK] = {s * size.dim[0]};
  r4_id xi = r4_slice(o->g, o->in.noise, start, size.dim, NULL);
  return view_allowed(o, r4_mul(o->g, view_radius(o), xi));
}

static r4_id size_at(const struct objective *o, r4_id d)
{
  return objective_norm(o, objective_explain(o, view_moved(o, d)));
}

static r4_id quantity(struct objective *o)
{
  r4_graph *g = o->g;
  if (!objective_check_count(g, "samples", o->options->samples)) return R4_NONE;
  r4_shape rows = r4_node_shape(g, o->in.m);
  rows.dim[0] *= o->options->samples;
  o->in.noise = r4_input(g, "noise", rows);
  r4_id nowhere = view_nowhere(o);
  r4_id best = nowhere, largest = objective_norm(o, objective_explain_examples(o));
  for (int s = 0; s < o->options->samples; s++) {
    r4_id d = draw(o, s), size = size_at(o, d);
    best = view_select(o, r4_less(g, largest, size), d, best);
    largest = r4_max(g, largest, size);
  }
  return size_at(o, r4_detach(g, best));
}

const struct term term_rand_r4 = {.quantity = quantity};
