/* IBP-Ex: q_i = CE(worst_i, y_i) for examples with a mask, over which its mean is, else 0,
 *
 *     worst_i = lo_i at the label, hi_i elsewhere,   lo_i <= z(x') <= hi_i for all x' in x_i -+ eps m_i
 *
 * The loss must stay small for the worst logits that masked features might cause: it asks that
 * they do not change the answer, where the others ask that they do not explain it. */
#include "objective/objective.h"

static r4_id quantity(struct objective *o)
{
  r4_graph *g = o->g;
  struct view v = view_clean(o);
  r4_pair z = view_bounds(o, objective_bound_by(o), v, view_logits(o, v), view_radius(o));
  r4_id worst = r4_select(g, o->one_hot, z.lo, z.hi);
  return r4_mul(g, objective_masked(o), r4_cross_entropy(g, worst, o->one_hot));
}

static const struct term term = {.quantity = quantity,
                                 .settings = TERM_SETTINGS("eps", "eps=range", "range", "box", "bounds", "words.list"),
                                 .over_masked = true,
                                 .answers = true};

const struct method method_ibp_ex = {.term = &term,
                                     .lambda = 1,
                                     .fills = true,
                                     .formula = "CE(worst logits in the box of x)",
                                     .about = "The prediction must stay correct for any masked content "
                                              "within eps, by interval bounds. For small nets."};
