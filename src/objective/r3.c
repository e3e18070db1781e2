/* R3: mean_i || m_i . g_i(x_i) ||_2^2
 *
 * Right for the right reasons (Ross, Hughes and Doshi-Velez, 2017): the explanation must vanish on
 * the mask, at the examples themselves. */
#include "objective/objective.h"

r4_id r3_penalty(const struct objective *o)
{
  r4_id explanation = objective_explain(o, view_clean(o));
  return r4_mean(o->g, objective_squares(o, explanation), R4_ALL);
}
