/* Adv-R4: q_i = || m_i . g_i(x_i + d_i) ||, where d maximises it over |d_i| <= eps m_i:
 *
 *     d <- clip(d + alpha m . sign(d J / d d), -eps m, eps m),   J = sum_i || m_i . g_i(x_i + d_i) ||_2^2
 *
 * for a number of steps from d = eps m . start, start in [-1, 1], or from 0. Each d is detached: a leaf
 * for J, and a constant for the derivative by the weights. */
#include "objective/objective.h"

static r4_id ascend(const struct objective *o, r4_id d, r4_id alpha)
{
  r4_graph *g = o->g;
  r4_id J = r4_sum(g, objective_squares(o, objective_explain(o, view_moved(o, d))), R4_ALL), slope = R4_NONE;
  r4_grad(g, J, 1, &d, &slope);
  r4_id step = r4_mul(g, r4_mul(g, o->in.m, r4_sign(g, slope)), alpha);
  return view_allowed(o, r4_add(g, d, step));
}

static r4_id start(struct objective *o)
{
  if (!o->options->random_start) return view_nowhere(o);
  o->in.start = r4_input(o->g, "start", r4_node_shape(o->g, o->in.m));
  return view_allowed(o, r4_mul(o->g, view_radius(o), o->in.start));
}

static r4_id quantity(struct objective *o)
{
  r4_graph *g = o->g;
  const r4_objective_options *p = o->options;
  if (!objective_check_count(g, "steps", p->steps)) return R4_NONE;
  r4_id alpha = p->alpha > 0 ? r4_const(g, p->alpha, R4_SCALAR) : r4_scale(g, o->eps, 0.25);
  r4_id d = start(o);
  for (int k = 0; k < p->steps; k++) d = ascend(o, d, alpha);
  return objective_norm(o, objective_explain(o, view_moved(o, d)));
}

const struct term term_adv_r4 = {quantity, false};
