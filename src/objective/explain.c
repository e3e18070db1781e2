/* What the network's answer is explained by, and how large the explanation is on the mask. */
#include "graph/graph.h"
#include "objective/objective.h"

static const double MINUS_MUCH = -1e9; /* a logit without a share: exp of it is 0 */

/* ---- What is explained ---- */

/* One output z: the logits [0, z]. */
r4_id objective_logits(const struct objective *o, r4_id z)
{
  if (r4_net_classes(o->net) > 1) return z;
  int64_t rows = r4_node_shape(o->g, z).dim[0];
  return r4_pad(o->g, z, (const int64_t[]){0, 1}, (const int64_t[]){1, 1}, R4_SHAPE(rows, 2));
}

static r4_id own(r4_graph *g, r4_id z, r4_id one_hot)
{
  return r4_sum(g, r4_mul(g, z, one_hot), R4_AXIS(r4_node_shape(g, z).rank - 1));
}

r4_id r4_cross_entropy(r4_graph *g, r4_id logits, r4_id one_hot)
{
  if (r4_node_shape(g, logits).rank < 1)
    return r4_graph_fail(g, R4_E_SHAPE, "cross_entropy: logits are a scalar");
  return r4_sub(g, r4_logsumexp(g, logits), own(g, logits, one_hot));
}

/* z_y - log sum_{k != y} exp(z_k), which is log(p_y / (1 - p_y)) */
static r4_id margin(r4_graph *g, r4_id z, r4_id one_hot)
{
  r4_id others = r4_select(g, one_hot, r4_const(g, MINUS_MUCH, R4_SCALAR), z);
  return r4_sub(g, own(g, z, one_hot), r4_logsumexp(g, others));
}

/* sum_k log p_k */
static r4_id logprob_sum(r4_graph *g, r4_id z)
{
  double classes = (double)r4_node_shape(g, z).dim[1];
  return r4_sub(g, r4_sum(g, z, R4_AXIS(1)), r4_scale(g, r4_logsumexp(g, z), classes));
}

/* e of each row of z. With one output the logit of label 0 is a constant: then the margin, z or -z. */
static r4_id explained(const struct objective *o, r4_id z, r4_id one_hot)
{
  switch (o->options->explain) {
  case R4_EXPLAIN_LOGIT:
    return r4_net_classes(o->net) > 1 ? own(o->g, z, one_hot) : margin(o->g, z, one_hot);
  case R4_EXPLAIN_MARGIN:
    return margin(o->g, z, one_hot);
  case R4_EXPLAIN_LOGPROB_SUM:
    return logprob_sum(o->g, z);
  case R4_EXPLAIN_LOSS:
    break;
  }
  return r4_cross_entropy(o->g, z, one_hot);
}

r4_id objective_explained(const struct objective *o, struct view v)
{
  int64_t times = v.rows / o->rows;
  r4_id labels = times > 1 ? view_repeat(o->g, o->one_hot, times) : o->one_hot;
  return explained(o, view_logits(o, v), labels);
}

/* Examples do not see each other, so the derivative of sum_i e_i holds all g_i. */
r4_id objective_explain(const struct objective *o, struct view v)
{
  r4_graph *g = o->g;
  r4_id total = r4_sum(g, objective_explained(o, v), R4_ALL), gradient = R4_NONE;
  r4_grad(g, total, 1, &v.leaf, &gradient);
  return gradient;
}

r4_id objective_explain_examples(const struct objective *o)
{
  struct view v = view_clean(o);
  return view_at_examples(o, v, objective_explain(o, v));
}

r4_pair objective_explain_bounds(const struct objective *o, enum bound_by by, r4_id radius)
{
  struct view v = view_clean(o);
  return view_bounds(o, by, v, objective_explain(o, v), radius);
}

/* ---- How large it is on the mask ---- */

r4_id objective_example_sum(const struct objective *o, r4_id v)
{
  unsigned all = R4_AXIS(r4_node_shape(o->g, v).rank) - 1;
  return r4_sum(o->g, v, all & ~R4_AXIS(0));
}

r4_id objective_squares(const struct objective *o, r4_id v)
{
  return objective_example_sum(o, r4_square(o->g, r4_mul(o->g, o->m, v)));
}

r4_id objective_norm(const struct objective *o, r4_id v)
{
  if (o->options->norm == R4_NORM_L2) return r4_sqrt(o->g, objective_squares(o, v));
  if (o->options->norm == R4_NORM_SUM)
    return r4_graph_fail(o->g, R4_E_ARGUMENT, "objective: %s does not know the norm \"sum\"",
                         o->options->method);
  return objective_example_sum(o, r4_mul(o->g, o->m, r4_abs(o->g, v)));
}

r4_id objective_masked(const struct objective *o)
{
  return r4_step(o->g, objective_example_sum(o, o->m));
}
