/* Adv-R4: mean_i || m_i . g_i(x_i + d_i) ||_2, where d maximises it over |d_i| <= eps m_i:
 *
 *     d <- clip(d + alpha m . sign(d J / d d), -eps m, eps m),   J = sum_i || m_i . g_i(x_i + d_i) ||_2^2
 *
 * for a number of steps from d = eps m . start, start in [-1, 1]. Each d is detached: a leaf for J,
 * and a constant for the derivative by the weights. */
#include <math.h>

#include "graph/graph.h"
#include "objective/objective.h"

static r4_id explained_squares(const struct objective *o, r4_id d)
{
  return objective_squares(o, objective_explain(o, view_moved(o, d)));
}

static r4_id ascend(const struct objective *o, r4_id d, r4_id radius, double alpha)
{
  r4_graph *g = o->g;
  r4_id J = r4_sum(g, explained_squares(o, d), R4_ALL), slope = R4_NONE;
  r4_grad(g, J, 1, &d, &slope);
  r4_id moved = r4_add(g, d, r4_scale(g, r4_mul(g, o->m, r4_sign(g, slope)), alpha));
  return r4_detach(g, r4_min(g, r4_max(g, moved, r4_neg(g, radius)), radius));
}

r4_id adv_r4_penalty(const struct objective *o)
{
  r4_graph *g = o->g;
  const r4_objective_options *p = o->options;
  if (p->steps < 1 || !isfinite(p->alpha)) {
    return r4_graph_fail(g, R4_E_ARGUMENT,
                         "objective: steps is %d and alpha %g, expected at least 1 and finite", p->steps,
                         p->alpha);
  }
  double alpha = p->alpha > 0 ? p->alpha : p->eps / 4;
  r4_id start = r4_input(g, "start", r4_node_shape(g, o->m));
  r4_id radius = r4_scale(g, o->m, p->eps);
  r4_id d = r4_detach(g, r4_mul(g, radius, start));
  for (int k = 0; k < p->steps; k++) d = ascend(o, d, radius, alpha);
  return r4_mean(g, r4_sqrt(g, explained_squares(o, d)), R4_ALL);
}
