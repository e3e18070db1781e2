/* Adv-R4: q_i = || m_i . g_i(x_i + d_i) ||, where d_i is the best point that an attack visits:
 *
 *     d_i     = argmax over d_i0 .. d_iK of J_i,      J_i(d) = || m_i . g_i(x_i + d) ||_2^2
 *     d_i0    = 0
 *     d_i1    = eps m_i . start, start in [-1, 1], if a random start is asked for; else as all others:
 *     d_i,k+1 = clip(d_ik + alpha_k m_i . sign(d J_i / d d at d_ik)),  |d| <= eps m_i
 *
 * alpha_k is the given alpha. If none is given, it begins as eps and halves with each third of the steps, which
 * also goes on from the best point so far, by its slope: far at first, as J has kinks that its slope does not see,
 * then close.
 *
 * Steps along a sign have a fixed length and cross kinks of the net, so that the last point can lie below
 * the first. J_ik is computed for its slope anyway, and the forward pass at d = 0 is the data term's: to keep the best
 * costs little.
 *
 * Each d_k is detached: a leaf for J. The search runs forward only, and d is a constant for the derivative
 * with respect to the weights. */
#include "base/purpose.h"
#include "objective/objective.h"

/* Where an attack is: the point, how large the explanation is there, and its slope. */
struct point {
  r4_id d, squares, slope;
};

/* Examples do not see each other, so the slope of sum_i J_i holds those of all J_i. */
static struct point look(const struct objective *o, struct view v, r4_id d)
{
  r4_id squares = objective_squares(o, objective_explain(o, v)), slope = R4_NONE;
  r4_grad(o->g, r4_sum(o->g, squares, R4_ALL), 1, &v.leaf, &slope);
  return (struct point){d, squares, slope};
}

static struct point look_at(const struct objective *o, r4_id d)
{
  return look(o, view_moved(o, d), d);
}

static struct point look_at_examples(const struct objective *o)
{
  struct view v = view_clean(o);
  struct point p = look(o, v, view_nowhere(o));
  p.squares = view_at_examples(o, v, p.squares);
  p.slope = view_at_examples(o, v, p.slope);
  return p;
}

static r4_id step_from(const struct objective *o, r4_id d, r4_id slope, r4_id alpha)
{
  r4_id step = r4_mul(o->g, r4_mul(o->g, o->m, r4_sign(o->g, slope)), alpha);
  return view_allowed(o, r4_add(o->g, d, step));
}

/* For each example the better one; the first of equals. */
static struct point better(const struct objective *o, struct point a, struct point b)
{
  r4_id second = r4_less(o->g, a.squares, b.squares);
  return (struct point){view_select(o, second, b.d, a.d), r4_max(o->g, a.squares, b.squares),
                        view_select(o, second, b.slope, a.slope)};
}

static r4_id random_start(struct objective *o)
{
  r4_id start = objective_draw(o, "start", r4_node_shape(o->g, o->m), PURPOSE_START, draw_signed);
  return view_allowed(o, r4_mul(o->g, view_radius(o), start));
}

static r4_id best_point(struct objective *o)
{
  const r4_objective_options *p = o->options;
  r4_id alpha = p->alpha > 0 ? r4_const(o->g, p->alpha, R4_SCALAR) : o->eps;
  struct point at = look_at_examples(o), best = at;
  for (int k = 0; k < p->steps; k++) {
    bool next_third = k > 0 && 3 * k / p->steps > 3 * (k - 1) / p->steps;
    if (next_third && !(p->alpha > 0)) {
      alpha = r4_scale(o->g, alpha, 0.5);
      at = best;
    }
    bool starts = k == 0 && p->random_start;
    at = look_at(o, starts ? random_start(o) : step_from(o, at.d, at.slope, alpha));
    best = better(o, best, at);
  }
  return best.d;
}

static r4_id quantity(struct objective *o)
{
  if (!objective_check_count(o->g, "steps", o->options->steps)) return R4_NONE;
  return objective_norm(o, objective_explain(o, view_moved(o, r4_detach(o->g, best_point(o)))));
}

static const struct term term = {.quantity = quantity,
                                 .settings =
                                   TERM_SETTINGS("eps", "eps=range", "attack.steps", "attack.step",
                                                 "attack.random_start", "penalty.norm", "range", "explain")};

const struct method method_adv_r4 = {.term = &term,
                                     .lambda = 1,
                                     .fills = true,
                                     .formula = "||m . g(x')||_p",
                                     .where = "x' is the worst point of the box of x that an attack finds",
                                     .about = "The largest masked gradient that an attack finds in the box: "
                                              "R4 by attack. Stronger than rand-r4, and slower."};
