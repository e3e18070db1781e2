/* Logit pairing: q_i = sum_k (d_ik - mean_k d_ik)^2,   d_i = z(f_i) - z(x_i)
 *
 * f_i is example i as the data term sees it, with its masked content replaced, or with that of another pasted on it.
 * What must not matter must not move the logits: known as counterfactual logit pairing (Garg and others, 2019). A
 * constant that is added to all logits changes no answer, so the mean of d_i does not count. Unlike an explanation,
 * which says what would happen nearby, d_i is what does happen when the content is another one; and it costs a pass,
 * not a second derivative. */
#include "graph/graph.h"
#include "objective/objective.h"

static r4_id logits_as_is(const struct objective *o)
{
  struct view v = view_clean(o);
  return view_at_examples(o, v, view_logits(o, v));
}

static r4_id logits_filled(const struct objective *o)
{
  return view_logits(o, (struct view){.x = o->filled, .leaf = o->filled, .rows = o->rows});
}

static r4_id quantity(struct objective *o)
{
  r4_graph *g = o->g;
  if (!o->options->filled)
    return r4_graph_fail(g, R4_E_ARGUMENT, "objective: %s compares with filled examples, and there are none",
                         o->options->method);
  r4_id d = r4_sub(g, logits_filled(o), logits_as_is(o));
  int64_t rows = o->rows, classes = r4_node_shape(g, d).dim[1];
  r4_id mean = r4_reshape(g, r4_mean(g, d, R4_AXIS(1)), R4_SHAPE(rows, 1));
  return r4_sum(g, r4_square(g, r4_sub(g, d, r4_broadcast(g, mean, R4_SHAPE(rows, classes)))), R4_AXIS(1));
}

static const struct term term = {.quantity = quantity, .settings = NO_SETTINGS, .pairs = true};

const struct method method_pairing = {.term = &term,
                                      .lambda = 3,
                                      .fills = true,
                                      .formula = "||d - mean d||_2^2",
                                      .where = "d = z(filled x) - z(x), its mean is over classes",
                                      .about = "The logits must not change when masked content is exchanged "
                                               "(counterfactual logit pairing; Garg and others, 2019).\n"
                                               "The strongest in practice with few masks and with pretrained nets; "
                                               "method auto usually takes it. Gives no bound."};
