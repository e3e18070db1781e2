/* Objectives: what training minimises, data + lambda * penalty. A method is one file with one
 * function, its penalty as a scalar node, and one line in the table of objective.c.
 *
 *     l_i   = CE(z(x_i), y_i)           loss of example i
 *     g_i   = d l_i / d x_i             its explanation
 *     m_i   in [0, 1], 1 = must not matter
 *
 * The leaf is the perturbation. With masks on U listed features the network is seen at
 * x + P d, where d [batch, U] is zero and P places it: the explanation of these features is the
 * derivative by d, their box is d in -+ eps m. What depends on d alone then folds away, and
 * products of the width of x become products of width U. With masks on all features the leaf is x. */
#ifndef R4_OBJECTIVE_OBJECTIVE_H
#define R4_OBJECTIVE_OBJECTIVE_H

#include "r4.h"

struct objective {
  r4_graph *g;
  const r4_net *net;
  const r4_id *param;
  const r4_objective_options *options;
  r4_id x, one_hot; /* the examples, and their labels */
  r4_id m, index;   /* masks; index is R4_NONE for masks on all features */
};

/* Penalties: scalars, a mean over examples each. */
r4_id erm_penalty(const struct objective *o);
r4_id r3_penalty(const struct objective *o);
r4_id adv_r4_penalty(const struct objective *o);
r4_id cert_r4_penalty(const struct objective *o);
r4_id ibp_ex_penalty(const struct objective *o);

/* ---- Pieces that methods share ---- */

/* A place to look at the network from: the examples x as a function of leaf, which has the shape
 * of the masks. */
struct view {
  r4_id x, leaf, centre; /* centre: the value of the leaf */
};

struct view view_clean(const struct objective *o);          /* at x itself             */
struct view view_moved(const struct objective *o, r4_id d); /* at x + P d, the leaf is d */

r4_id objective_logits(const struct objective *o, r4_id x);
r4_id objective_losses(const struct objective *o, r4_id x);        /* l [batch]        */
r4_id objective_explain(const struct objective *o, struct view v); /* g, shaped as m   */
r4_box objective_box(const struct objective *o, struct view v);    /* leaf -+ eps m    */
r4_id objective_squares(const struct objective *o, r4_id v);       /* || m . v_i ||^2  */
r4_id objective_example_sum(const struct objective *o, r4_id v);   /* sum_j v_ij       */

#endif
