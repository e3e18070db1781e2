/* Adv-R4: q_i = || m_i . g_i(x_i + d_i) ||, where d_i is the best point that an attack visits:
 *
 *     d_i     = argmax over 0, d_i0 .. d_iK of J_i,      J_i(d) = || m_i . g_i(x_i + d) ||_2^2
 *     d_i,k+1 = clip(d_ik + alpha_k m_i . sign(d J_i / d d)),  K steps, |d| <= eps m_i
 *     d_i0    = eps m_i . start, start in [-1, 1], or 0
 *
 * alpha_k is the given alpha. If none is given, it begins as eps and halves with each quarter of the steps, which
 * also starts from the best point so far: far at first, as J has kinks that its slope does not see, then close.
 *
 * Steps along a sign have a fixed length and cross kinks of the net, so that the last point can lie below
 * the first. J_ik is computed for its slope anyway: to keep the best costs an evaluation at 0, one at d_iK, and
 * one where the search goes on from the best.
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

static r4_id best_point(struct objective *o)
{
  const r4_objective_options *p = o->options;
  r4_id nowhere = view_nowhere(o), d = start(o), squares = squares_at(o, d);
  r4_id alpha = p->alpha > 0 ? r4_const(o->g, p->alpha, R4_SCALAR) : o->eps;
  struct best best = {d, squares};
  if (p->random_start) view_keep_best(o, &best, nowhere, objective_squares(o, objective_explain_examples(o)));
  for (int k = 0; k < p->steps; k++) {
    bool next_quarter = k > 0 && 4 * k / p->steps > 4 * (k - 1) / p->steps;
    if (next_quarter && !(p->alpha > 0)) {
      alpha = r4_scale(o->g, alpha, 0.5);
      d = r4_detach(o->g, best.d);
      squares = squares_at(o, d);
    }
    d = ascend(o, d, squares, alpha);
    squares = squares_at(o, d);
    view_keep_best(o, &best, d, squares);
  }
  return best.d;
}

static r4_id quantity(struct objective *o)
{
  if (!objective_check_count(o->g, "steps", o->options->steps)) return R4_NONE;
  return objective_norm(o, objective_explain(o, view_moved(o, r4_detach(o->g, best_point(o)))));
}

const struct term term_adv_r4 = {.quantity = quantity};
