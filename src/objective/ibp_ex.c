/* IBP-Ex: sum_i w_i CE(worst_i, y_i) / max(1, sum_i w_i),  w_i = 1 if example i has a mask, else 0,
 *
 *     worst_i = lo_i at the label, hi_i elsewhere,   lo_i <= z(x') <= hi_i for all x' in x_i -+ eps m_i
 *
 * The loss must stay small for the worst logits that masked features might cause: it asks that
 * they do not change the answer, where the others ask that they do not explain it. */
#include "objective/objective.h"

r4_id ibp_ex_penalty(const struct objective *o)
{
  r4_graph *g = o->g;
  struct view v = view_clean(o);
  r4_box box = objective_box(o, v);
  r4_pair z = r4_bound(g, objective_logits(o, v.x), 1, &box);
  r4_id one = r4_const(g, 1, R4_SCALAR);
  r4_id worst = r4_add(g, r4_mul(g, o->one_hot, z.lo), r4_mul(g, r4_sub(g, one, o->one_hot), z.hi));
  r4_id w = r4_step(g, objective_example_sum(o, o->m));
  r4_id total = r4_sum(g, r4_mul(g, w, r4_cross_entropy(g, worst, o->one_hot)), R4_ALL);
  return r4_div(g, total, r4_max(g, one, r4_sum(g, w, R4_ALL)));
}
