/* Cert-R4: mean_i || m_i . max(|lo_i|, |hi_i|) ||_2,  lo_i <= g_i(x') <= hi_i for all x' in x_i -+ eps m_i
 *
 * The largest explanation on the mask that the bounds cannot rule out, whatever the masked features
 * are: bound(grad(loss)), and training it is grad(bound(grad(loss))). */
#include "objective/objective.h"

r4_id cert_r4_penalty(const struct objective *o)
{
  r4_graph *g = o->g;
  struct view v = view_clean(o);
  r4_box box = objective_box(o, v);
  r4_pair bounds = r4_bound(g, objective_explain(o, v), 1, &box);
  r4_id largest = r4_max(g, r4_abs(g, bounds.lo), r4_abs(g, bounds.hi));
  return r4_mean(g, r4_sqrt(g, objective_squares(o, largest)), R4_ALL);
}
