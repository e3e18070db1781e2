/* R3: q_i = || m_i . g_i(x_i) ||_2^2
 *
 * Right for the right reasons (Ross, Hughes and Doshi-Velez, 2017): the explanation must vanish on
 * the mask, at the examples themselves. */
#include "objective/objective.h"

static r4_id quantity(struct objective *o)
{
  return objective_squares(o, objective_explain_examples(o));
}

static const struct term term = {.quantity = quantity, .settings = TERM_SETTINGS("explain")};

const struct method method_r3 = {.term = &term,
                                 .lambda = 10,
                                 .fills = true,
                                 .formula = "||m . g(x)||_2^2",
                                 .about = "The gradient of the loss with respect to masked features must "
                                          "vanish at the examples (Ross and others, 2017).\n"
                                          "Needs masks on most examples. Twice the cost of erm."};
