/* Word-Smooth-R3: q_i = || m_i . mean_s g_i(x_is) ||_2^2,  s = 1 .. S
 *
 * Smooth-R3 for texts: in x_is each inner token of x_i is, with probability p, another one, of the batch or of a
 * list; p is the option word_share, or alpha, or a quarter. Noise of the batch is of words as they occur, where that of
 * a vocabulary is of words that hardly do. */
#include "base/purpose.h"
#include "objective/words.h"

static r4_id quantity(struct objective *o)
{
  r4_graph *g = o->g;
  const int samples = o->options->samples;
  if (!objective_check_count(g, "samples", samples)) return R4_NONE;
  r4_id ids = words_ids(o), sum = R4_NONE;
  if (!ids.i) return R4_NONE;
  r4_id words = words_draw(o, samples, draw_words);
  r4_id chance = objective_draw(o, "chance", r4_node_shape(g, words), PURPOSE_CHANCE, draw_unit);
  const r4_objective_options *p = o->options;
  double share = p->word_share > 0 ? p->word_share : p->alpha > 0 ? p->alpha : 0.25;
  for (int s = 0; s < samples; s++) {
    r4_id other = r4_less(g, words_sample(o, chance, s), r4_const(g, share, R4_SCALAR));
    r4_id moved = r4_select(g, r4_mul(g, other, words_inner(o)), words_sample(o, words, s), ids);
    r4_id explanation = words_explain(o, moved);
    sum = s ? r4_add(g, sum, explanation) : explanation;
  }
  return objective_squares(o, r4_scale(g, sum, 1.0 / samples));
}

static const struct term term = {.quantity = quantity,
                                 .settings = TERM_SETTINGS("words.list", "words.list=vocabulary", "samples",
                                                           "words.share", "attack.step", "explain")};

const struct method method_word_smooth_r3 = {
  .term = &term,
  .lambda = 10,
  .fills = true,
  .texts = true,
  .formula = "||m . mean_s g(x with random words)||_2^2",
  .about = "Texts: smooth-r3 with random replacements of words instead of noise."};
