/* Rand-R4: q_i = max_s || m_i . g_i(x_i + d_is) ||,  d_i0 = 0,  d_is = eps m_i . xi_is,  xi in [-1, 1], s = 1 .. S
 *
 * The derivative of a maximum is that of its largest term. So the search for the largest runs forward
 * only, sample by sample, and just the point that it finds is differentiated with respect to the weights. */
#include "base/purpose.h"
#include "objective/objective.h"

/* Sample s of the noise, [samples * batch, ...]. */
static r4_id sample(const struct objective *o, r4_id noise, int s)
{
  r4_shape size = r4_node_shape(o->g, o->m);
  int64_t start[R4_MAX_RANK] = {s * size.dim[0]};
  r4_id xi = r4_slice(o->g, noise, start, size.dim, NULL);
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
  r4_shape rows = r4_node_shape(g, o->m);
  rows.dim[0] *= o->options->samples;
  r4_id noise = objective_draw(o, "noise", rows, PURPOSE_NOISE, draw_signed);
  r4_id best = view_nowhere(o), largest = objective_norm(o, objective_explain_examples(o));
  for (int s = 0; s < o->options->samples; s++) {
    r4_id d = sample(o, noise, s), size = size_at(o, d);
    best = view_select(o, r4_less(g, largest, size), d, best);
    largest = r4_max(g, largest, size);
  }
  return size_at(o, r4_detach(g, best));
}

static const struct term term = {
  .quantity = quantity, .settings = TERM_SETTINGS("eps", "eps=range", "samples", "penalty.norm", "range", "explain")};

const struct method method_rand_r4 = {
  .term = &term,
  .lambda = 1,
  .fills = true,
  .formula = "max_s ||m . g(x_s)||_p",
  .where = "x_s are x and random points of its box",
  .about = "The largest masked gradient among random points of the box: R4 by sampling."};
