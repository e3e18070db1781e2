/* Word-Adv-R4: q_i = || m_i . g_i(x_i*) ||, where x_i* is found by a greedy search:
 *
 *     x_i0    = x_i
 *     x_i,k+1 = x_ik with one masked token, drawn, replaced by a masked token of the batch, drawn, if that makes
 *               || m_i . g_i || larger; otherwise x_ik
 *
 * Adv-R4 for texts: words cannot be followed along a slope, so each step tries one. */
#include "base/purpose.h"
#include "objective/words.h"

/* 1 at one of the masked tokens of each text: that with the largest chance. */
static r4_id one_place(const struct objective *o, r4_id masked, r4_id chance)
{
  r4_graph *g = o->g;
  r4_id value = r4_mul(g, masked, r4_add(g, chance, r4_const(g, 1, R4_SCALAR)));
  r4_id most = r4_reshape(g, r4_reduce_max(g, value, R4_AXIS(1)), R4_SHAPE(o->rows, 1));
  return r4_mul(g, masked, r4_equal(g, value, most));
}

static r4_id quantity(struct objective *o)
{
  r4_graph *g = o->g;
  if (!objective_check_count(g, "steps", o->options->steps)) return R4_NONE;
  r4_id ids = words_ids(o);
  if (!ids.i) return R4_NONE;
  r4_shape all = R4_SHAPE(o->options->steps * o->rows, r4_net_input(o->net).dim[0]);
  r4_id words = objective_draw(o, "words", all, PURPOSE_WORDS, draw_masked_words);
  r4_id chance = objective_draw(o, "chance", all, PURPOSE_CHANCE, draw_unit), masked = words_masked(o);
  struct words_best best = words_start(o, ids);
  for (int k = 0; k < o->options->steps; k++) {
    r4_id place = one_place(o, masked, words_sample(o, chance, k));
    words_try(o, &best, r4_select(g, place, words_sample(o, words, k), best.ids));
  }
  return words_size(o, best);
}

static const struct term term = {.quantity = quantity, .settings = TERM_SETTINGS("steps", "norm", "explain")};

const struct method method_word_adv_r4 = {.term = {&term}, .lambda = 1, .fills = true, .texts = true};
