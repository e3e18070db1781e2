/* Word-Rand-R4: q_i = max_s || m_i . g_i(x_is) ||,  x_i0 = x_i,  s = 0 .. S
 *
 * Rand-R4 for texts: in x_is the masked tokens of x_i are words of a list, or masked tokens of the batch, drawn for
 * each. The largest is found forward only, and differentiated once.
 *
 * element_max takes the largest feature by feature, || m_i . max_s |g_i(x_is)| ||, as the paper does: it is above the
 * former, and every sample is differentiated. */
#include "base/purpose.h"
#include "objective/words.h"

static r4_id sample(const struct objective *o, r4_id words, int s, r4_id ids)
{
  return r4_select(o->g, words_masked(o), words_sample(o, words, s), ids);
}

static r4_id by_norm(const struct objective *o, r4_id words, r4_id ids)
{
  r4_graph *g = o->g;
  r4_id best = ids, largest = objective_norm(o, words_explain(o, ids));
  for (int s = 0; s < o->options->samples; s++) {
    r4_id other = sample(o, words, s, ids), size = objective_norm(o, words_explain(o, other));
    r4_id larger = r4_reshape(g, r4_less(g, largest, size), R4_SHAPE(o->rows, 1));
    best = r4_select(g, larger, other, best);
    largest = r4_max(g, largest, size);
  }
  return objective_norm(o, words_explain(o, r4_detach(g, best)));
}

static r4_id by_element(const struct objective *o, r4_id words, r4_id ids)
{
  r4_graph *g = o->g;
  r4_id largest = r4_abs(g, words_explain(o, ids));
  for (int s = 0; s < o->options->samples; s++)
    largest = r4_max(g, largest, r4_abs(g, words_explain(o, sample(o, words, s, ids))));
  return objective_norm(o, largest);
}

static r4_id quantity(struct objective *o)
{
  if (!objective_check_count(o->g, "samples", o->options->samples)) return R4_NONE;
  r4_id ids = words_ids(o);
  if (!ids.i) return R4_NONE;
  r4_id words = words_draw(o, o->options->samples, draw_masked_words);
  return o->options->element_max ? by_element(o, words, ids) : by_norm(o, words, ids);
}

static const struct term term = {
  .quantity = quantity,
  .settings = TERM_SETTINGS("words.list", "samples", "published.sample_max", "penalty.norm", "explain")};

const struct method method_word_rand_r4 = {.term = &term,
                                           .lambda = 1,
                                           .fills = true,
                                           .texts = true,
                                           .formula = "max_s ||m . g(x_s)||_p",
                                           .formula_of_elements = "||m . max_s |g(x_s)| ||_p",
                                           .where = "x_s are x and texts with other masked words",
                                           .about = "Texts: rand-r4 with masked words replaced at random."};
