/* Word-Adv-R4: q_i = || m_i . g_i(x_i*) ||, where x_i* is found by a greedy search, one masked token p after the other:
 *
 *     x_i0    = x_i
 *     x_i,k+1 = x_ik with w* at the k-th masked token p,   w* = argmax_w || g_i(x_ik with w at p) at p ||_2
 *
 * over what stands at p already and the words w of a list, the first of them at a tie; without a list, over as many
 * masked tokens of the batch as "samples" says, drawn for each place. x_i* is constant for the weights.
 *
 * A long list need not be tried as a whole. To first order, putting w at p changes J = || g at p ||^2 by h . (v_w - v),
 * with h = dJ / dv at p and v_w the vector of w there: one derivative of J ranks all words, and "candidates" of them
 * are tried. */
#include "base/purpose.h"
#include "graph/graph.h"
#include "objective/words.h"

/* What can stand at any place, by number: [rows, tokens], [rows, 1] or a scalar. */
struct choice {
  size_t n;
  r4_id *word;
};

/* ---- Places ---- */

/* [rows, tokens]: for a masked token how many there are up to it, from 1 on; for others 0. */
static r4_id ranks(const struct objective *o, r4_id masked)
{
  r4_graph *g = o->g;
  int64_t tokens = r4_node_shape(g, masked).dim[1];
  r4_shape all = R4_SHAPE(tokens, tokens);
  r4_id up_to = r4_less(g, r4_iota(g, 0, all), r4_add(g, r4_iota(g, 1, all), r4_const(g, 0.5, R4_SCALAR)));
  return r4_mul(g, masked, r4_matmul(g, masked, up_to, false, false));
}

static r4_id place_of(const struct objective *o, r4_id rank, int64_t k)
{
  return r4_equal(o->g, rank, r4_const(o->g, (double)(k + 1), R4_SCALAR));
}

static r4_id at_place(const struct objective *o, r4_id place, r4_id v)
{
  r4_shape s = r4_node_shape(o->g, place);
  return r4_mul(o->g, r4_reshape(o->g, place, R4_SHAPE(s.dim[0], s.dim[1], 1)), v);
}

/* J: || g at the place ||_2^2 */
static r4_id size_at(const struct objective *o, r4_id place, r4_id leaf)
{
  r4_id there = at_place(o, place, words_explain_at(o, leaf));
  return objective_example_sum(o, r4_square(o->g, there));
}

/* ---- Choices ---- */

/* [rows, words]: h . v_w for each word of the list */
static r4_id estimates(const struct objective *o, r4_id place, r4_id ids)
{
  r4_graph *g = o->g;
  r4_id leaf = words_leaf(o, ids), slope = R4_NONE, leaves = words_list_leaves(o);
  r4_id total = r4_sum(g, size_at(o, place, leaf), R4_ALL);
  if (!leaves.i || !total.i) return R4_NONE;
  r4_grad(g, total, 1, &leaf, &slope);
  int64_t width = r4_shape_count(net_leaf(o->net)), words = (int64_t)o->options->word_count;
  return r4_matmul(g, r4_reshape(g, at_place(o, place, slope), R4_SHAPE(o->rows, width)),
                   r4_reshape(g, leaves, R4_SHAPE(words, width)), false, true);
}

/* The words of the list whose estimates are largest, one after the other. */
static void screen(const struct objective *o, r4_id place, r4_id ids, r4_id list, struct choice *c)
{
  static const double BEHIND_ALL = -1e30;
  r4_graph *g = o->g;
  r4_id left = estimates(o, place, ids);
  if (!left.i) return;
  r4_shape all = r4_node_shape(g, left), column = R4_SHAPE(o->rows, 1);
  r4_id number = r4_iota(g, 1, all), none = r4_const(g, (double)all.dim[1], R4_SCALAR);
  for (size_t k = 0; k < c->n; k++) {
    r4_id most = r4_reshape(g, r4_reduce_max(g, left, R4_AXIS(1)), column);
    r4_id tied = r4_select(g, r4_equal(g, left, most), number, none);
    r4_id first = r4_neg(g, r4_reshape(g, r4_reduce_max(g, r4_neg(g, tied), R4_AXIS(1)), column));
    r4_id chosen = r4_equal(g, number, first);
    c->word[k] = r4_reshape(g, r4_sum(g, r4_mul(g, chosen, list), R4_AXIS(1)), column);
    left = r4_select(g, chosen, r4_const(g, BEHIND_ALL, R4_SCALAR), left);
  }
}

static bool screens(const r4_objective_options *p)
{
  return p->words && p->candidates > 0 && (size_t)p->candidates < p->word_count;
}

/* All that is tried at every place, unless words are screened. drawn: R4_NONE with a list. */
static struct choice choices(const struct objective *o, r4_id drawn)
{
  const r4_objective_options *p = o->options;
  struct choice c = {.n = screens(p) ? (size_t)p->candidates : p->words ? p->word_count : (size_t)p->samples};
  c.word = graph_keep(o->g, c.n, sizeof *c.word);
  for (size_t k = 0; c.word && !screens(p) && k < c.n; k++)
    c.word[k] = p->words ? r4_const(o->g, (double)p->words[k], R4_SCALAR) : words_sample(o, drawn, (int)k);
  return c;
}

/* ---- The search ---- */

static r4_id search(const struct objective *o, r4_id place, const struct choice *c, r4_id ids)
{
  r4_graph *g = o->g;
  r4_id best = ids, largest = size_at(o, place, words_leaf(o, ids));
  for (size_t k = 0; k < c->n; k++) {
    r4_id other = r4_select(g, place, c->word[k], ids), size = size_at(o, place, words_leaf(o, other));
    r4_id larger = r4_reshape(g, r4_less(g, largest, size), R4_SHAPE(o->rows, 1));
    best = r4_select(g, larger, other, best);
    largest = r4_max(g, largest, size);
  }
  return r4_detach(g, best);
}

r4_id word_adv_find(struct objective *o)
{
  const r4_objective_options *p = o->options;
  if (!objective_check_count(o->g, "steps", p->steps)) return R4_NONE;
  if (!p->words && !objective_check_count(o->g, "samples", p->samples)) return R4_NONE;
  r4_id ids = words_ids(o);
  if (!ids.i) return R4_NONE;
  struct choice c = choices(o, p->words ? R4_NONE : words_draw(o, p->samples, draw_masked_words));
  r4_id rank = ranks(o, words_masked(o)), list = screens(p) ? words_list(o) : R4_NONE;
  int64_t places = p->places > 0 && p->places < p->steps ? p->places : p->steps;
  for (int64_t k = 0; c.word && k < places; k++) {
    r4_id place = place_of(o, rank, k);
    if (screens(p)) screen(o, place, ids, list, &c);
    ids = search(o, place, &c, ids);
  }
  return ids;
}

static r4_id quantity(struct objective *o)
{
  r4_id found = word_adv_find(o);
  return found.i ? objective_norm(o, words_explain(o, found)) : R4_NONE;
}

static const struct term term = {.quantity = quantity,
                                 .settings = TERM_SETTINGS("words.list", "samples", "attack.steps",
                                                           "words.candidates", "penalty.norm", "explain")};

const struct method method_word_adv_r4 = {
  .term = &term,
  .lambda = 1,
  .fills = true,
  .texts = true,
  .formula = "||m . g(x with the worst masked words)||_p",
  .about = "Texts: adv-r4, by a greedy search over replacements of masked words."};
