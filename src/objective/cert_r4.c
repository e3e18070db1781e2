/* Cert-R4: q_i = || m_i . max(|lo_i|, |hi_i|) ||,  lo_i <= g_i(x') <= hi_i for all x' in x_i -+ eps m_i
 *
 * The largest explanation on the mask that the bounds cannot rule out, whatever the masked features
 * are: bound(grad(loss)), and training it is grad(bound(grad(loss))). The norm "sum" is the one of the
 * published code, sum_j m_ij (|lo_ij| + |hi_ij|). Of texts, the box can be of all words of a list (view_bounds). */
#include "objective/objective.h"

static r4_id quantity(struct objective *o)
{
  r4_graph *g = o->g;
  r4_pair bounds = objective_explain_bounds(o, objective_bound_by(o), view_radius(o));
  r4_id zero = r4_const(g, 0, R4_SCALAR); /* without a mask nothing counts, not even 0 times infinity */
  r4_id lo = r4_select(g, o->m, r4_abs(g, bounds.lo), zero),
        hi = r4_select(g, o->m, r4_abs(g, bounds.hi), zero);
  if (o->options->norm == R4_NORM_SUM) return objective_example_sum(o, r4_mul(g, o->m, r4_add(g, lo, hi)));
  return objective_norm(o, r4_max(g, lo, hi));
}

static const struct term term = {
  .quantity = quantity,
  .settings = TERM_SETTINGS("eps", "eps=range", "range", "box", "bounds", "words.list", "penalty.norm",
                            "penalty.norm=sum", "explain")};

const struct method method_cert_r4 = {
  .term = &term,
  .lambda = 0.1,
  .form = R4_FORM_LOG,
  .fills = true,
  .waits = true,
  .formula = "||m . max(|lo|, |hi|)||_p",
  .formula_of_sums = "sum(m . (|lo| + |hi|))",
  .where = "lo <= g <= hi everywhere in the box of x",
  .about = "An upper bound of the masked gradient over the whole box: R4 by bounds, and the basis of "
           "certificates. For small\n"
           "nets; needs masks on most examples, otherwise use cert-r4+pairing."};

/* Where few examples have masks the others teach the shortcut while Cert-R4 waits, and its bounds, once small, hold a
 * net that has learned it. In "cert-r4+r3", R3 keeps the shortcut out from the first step on. "cert-r4+pairing" is
 * stronger where masks are few: pairing keeps the shortcut out by what happens with other content, and the bounds say
 * how much could. */
