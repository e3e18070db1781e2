/* Smooth-R3: q_i = || m_i . mean_s g_i(x_i + xi_is) ||_2^2,  xi ~ N(0, sigma^2) on all features, s = 1 .. S
 *
 * sigma is the option noise, or eps if there is none. R3 on SmoothGrad's explanation (Smilkov and others, 2017).
 * mean_s g_i(x_i + xi_is) is the derivative of mean_s e_i(x_i + xi_is), so that all samples share one leaf. */
#include "base/purpose.h"
#include "objective/objective.h"

static r4_id quantity(struct objective *o)
{
  r4_graph *g = o->g;
  if (!objective_check_count(g, "samples", o->options->samples)) return R4_NONE;
  int64_t samples = o->options->samples;
  r4_shape rows = objective_batch(net_leaf(o->net), samples * o->rows);
  r4_id noise = objective_draw(o, "noise", rows, PURPOSE_NOISE, draw_normal);
  r4_id sigma = o->options->noise > 0 ? r4_const(g, o->options->noise, R4_SCALAR) : o->eps;
  r4_id sum = objective_explain(o, view_noisy(o, r4_mul(g, noise, sigma)));
  return objective_squares(o, r4_scale(g, sum, 1.0 / (double)samples));
}

static const struct term term = {.quantity = quantity,
                                 .settings = TERM_SETTINGS("eps", "noise", "samples", "explain")};

const struct method method_smooth_r3 = {.term = &term,
                                        .lambda = 10,
                                        .fills = true,
                                        .formula = "||m . mean_s g(x + noise_s)||_2^2",
                                        .about =
                                          "R3 on a gradient averaged over noisy copies (SmoothGrad): smoother, and "
                                          "slower by the number of samples."};
