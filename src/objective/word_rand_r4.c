/* Word-Rand-R4: q_i = max_s || m_i . g_i(x_is) ||,  x_i0 = x_i,  s = 0 .. S
 *
 * Rand-R4 for texts: in x_is the masked tokens of x_i are masked tokens of the batch, drawn for each. */
#include "base/purpose.h"
#include "objective/words.h"

static r4_id quantity(struct objective *o)
{
  r4_graph *g = o->g;
  if (!objective_check_count(g, "samples", o->options->samples)) return R4_NONE;
  r4_id ids = words_ids(o);
  if (!ids.i) return R4_NONE;
  r4_shape all = R4_SHAPE(o->options->samples * o->rows, r4_net_input(o->net).dim[0]);
  r4_id words = objective_draw(o, "words", all, PURPOSE_WORDS, draw_masked_words), masked = words_masked(o);
  struct words_best best = words_start(o, ids);
  for (int s = 0; s < o->options->samples; s++)
    words_try(o, &best, r4_select(g, masked, words_sample(o, words, s), ids));
  return words_size(o, best);
}

static const struct term term = {.quantity = quantity,
                                 .settings = TERM_SETTINGS("samples", "norm", "explain")};

const struct method method_word_rand_r4 = {.term = {&term}, .lambda = 1, .fills = true, .texts = true};
