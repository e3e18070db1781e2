/* Adv-R4: q_i = || m_i . g_i(x_i + d_i) ||, where d_i is the best point that an attack visits:
 *
 *     d_i     = argmax over d_i0 .. d_iK of J_i,         J_i(d) = || m_i . g_i(x_i + d) ||_2^2
 *     d_i,k+1 = clip(d_ik + alpha m_i . sign(d J_i / d d)),  K steps, |d| <= eps m_i
 *     d_i0    = eps m_i . start, start in [-1, 1], or 0
 *
 * Steps along a sign have a fixed length and cross kinks of the net, so that the last point can lie below
 * the first. J_ik is computed for its slope anyway: to keep the best costs one evaluation, at d_iK.
 *
 * Each d_k is detached: a leaf for J. The search runs forward only, and d is a constant for the derivative
 * by the weights. */
#include "objective/objective.h"

static r4_id start(struct objective *o)
{
  if (!o->options->random_start) return view_nowhere(o);
  o->in.start = r4_input(o->g, "start", r4_node_shape(o->g, o->in.m));
  return view_allowed(o, r4_mul(o->g, view_radius(o), o->in.start));
}

static r4_id squares_at(const struct objective *o, r4_id d)
{
  return objective_squares(o, objective_explain(o, view_moved(o, d)));
}

/* Examples do not see each other, so the slope of sum_i J_i holds those of all J_i. */
static r4_id ascend(const struct objective *o, r4_id d, r4_id squares, r4_id alpha)
{
  r4_graph *g = o->g;
  r4_id slope = R4_NONE;
  r4_grad(g, r4_sum(g, squares, R4_ALL), 1, &d, &slope);
  r4_id step = r4_mul(g, r4_mul(g, o->in.m, r4_sign(g, slope)), alpha);
  return view_allowed(o, r4_add(g, d, step));
}

static r4_id quantity(struct objective *o)
{
  r4_graph *g = o->g;
  const r4_objective_options *p = o->options;
  if (!objective_check_count(g, "steps", p->steps)) return R4_NONE;
  r4_id alpha = p->alpha > 0 ? r4_const(g, p->alpha, R4_SCALAR) : r4_scale(g, o->eps, 0.25);
  r4_id d = start(o), squares = squares_at(o, d);
  struct best best = {d, squares};
  for (int k = 0; k < p->steps; k++) {
    d = ascend(o, d, squares, alpha);
    squares = squares_at(o, d);
    view_keep_best(o, &best, d, squares);
  }
  return objective_norm(o, objective_explain(o, view_moved(o, r4_detach(g, best.d))));
}

const struct term term_adv_r4 = {quantity, false};
