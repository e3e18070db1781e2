#include "objective/words.h"

#include "base/purpose.h"
#include "graph/graph.h"

r4_id words_ids(struct objective *o)
{
  if (!objective_leaf_is_rows(o->net) || o->in.index.i || o->in.at.i)
    return r4_graph_fail(o->g, R4_E_ARGUMENT,
                         "objective: %s is for texts: a net of tokens with a leaf behind its embeddings",
                         o->options->method);
  return net_first_rows(o->g, o->in.x, o->rows);
}

/* 0 < place < length - 1 */
r4_id words_inner(const struct objective *o)
{
  r4_graph *g = o->g;
  r4_shape all = R4_SHAPE(o->rows, r4_net_input(o->net).dim[0]);
  r4_id place = r4_iota(g, 1, all), length = r4_const(g, (double)all.dim[1], R4_SCALAR);
  if (o->in.length.i) length = r4_reshape(g, net_first_rows(g, o->in.length, o->rows), R4_SHAPE(o->rows, 1));
  r4_id behind_first = r4_less(g, r4_const(g, 0, R4_SCALAR), place);
  return r4_mul(g, behind_first, r4_less(g, place, r4_sub(g, length, r4_const(g, 1, R4_SCALAR))));
}

r4_id words_masked(const struct objective *o)
{
  return r4_less(o->g, r4_const(o->g, 0.499, R4_SCALAR), net_first_rows(o->g, o->in.m, o->rows));
}

r4_id words_draw(struct objective *o, int times, draw_fill *of_batch)
{
  r4_shape all = R4_SHAPE(times * o->rows, r4_net_input(o->net).dim[0]);
  r4_id words = objective_draw(o, "words", all, PURPOSE_WORDS, of_batch);
  if (!words.i || !o->options->words) return words;
  r4_drawn *drawn = &o->drawn->list[o->drawn->n - 1];
  drawn->list = o->options->words;
  drawn->listed = o->options->word_count;
  return words;
}

r4_id words_sample(const struct objective *o, r4_id all, int s)
{
  int64_t tokens = r4_net_input(o->net).dim[0], start[] = {s * o->rows, 0}, size[] = {o->rows, tokens};
  return r4_slice(o->g, all, start, size, NULL);
}

r4_id words_leaf(const struct objective *o, r4_id ids)
{
  return net_to_leaf(o->net, o->g, o->param, &o->look, ids);
}

r4_id words_explain_at(const struct objective *o, r4_id leaf)
{
  return objective_explain(o, (struct view){.x = leaf, .leaf = leaf, .centre = leaf, .rows = o->rows});
}

r4_id words_explain(const struct objective *o, r4_id ids)
{
  return words_explain_at(o, words_leaf(o, ids));
}

r4_id words_list(const struct objective *o)
{
  double *id = graph_keep(o->g, o->options->word_count, sizeof *id);
  if (!id) return R4_NONE;
  for (size_t k = 0; k < o->options->word_count; k++) id[k] = (double)o->options->words[k];
  return graph_vector(o->g, (int64_t)o->options->word_count, id);
}

/* Up to the leaf a token knows nothing but its id and its place: a text of one word has it at all places. */
r4_id words_list_leaves(const struct objective *o)
{
  r4_graph *g = o->g;
  const int64_t n = (int64_t)o->options->word_count, tokens = r4_net_input(o->net).dim[0];
  if (!net_leaf_by_token(o->net))
    return r4_graph_fail(
      g, R4_E_ARGUMENT,
      "objective: tokens see each other before the leaf of the net: words of a list have no "
      "vectors of their own there");
  r4_id column = r4_reshape(g, words_list(o), R4_SHAPE(n, 1));
  return net_to_leaf(o->net, g, o->param, NULL, r4_broadcast(g, column, R4_SHAPE(n, tokens)));
}

/* ---- Drawing ---- */

static size_t length_of(const r4_batch *b, size_t i)
{
  return b->length ? (size_t)b->length[i] : b->features;
}

void draw_words(r4_random key, const r4_batch *b, size_t n, float *to)
{
  for (size_t k = 0; k < n; k++) {
    size_t i = b && b->count ? r4_random_below(key, 2 * k, b->count) : 0,
           length = b && b->count ? length_of(b, i) : 0;
    size_t at = length > 2 ? 1 + r4_random_below(key, 2 * k + 1, length - 2) : 0;
    to[k] = length ? b->x[i * b->features + at] : 0;
  }
}

/* The masked tokens of some texts, at most so many. */
static size_t collect(r4_random key, const r4_batch *b, uint64_t first, size_t room, float *word)
{
  enum { TEXTS = 8 };
  size_t n = 0;
  for (uint64_t t = 0; t < TEXTS && n < room; t++) {
    size_t i = r4_random_below(key, first + t, b->count);
    for (size_t k = 0; k < length_of(b, i) && n < room; k++)
      if (b->m[i * b->features + k] >= 0.5f) word[n++] = b->x[i * b->features + k];
  }
  return n;
}

/* For each row, of the masked tokens of some texts. A batch without any: its first token. */
void draw_masked_words(r4_random key, const r4_batch *b, size_t n, float *to)
{
  enum { WORDS = 64 };
  float word[WORDS];
  size_t width = b && b->count && b->m ? b->features : n, words = 0;
  for (size_t k = 0; k < n; k++) {
    if (k % width == 0) words = b && b->count && b->m ? collect(key, b, n + k, WORDS, word) : 0;
    to[k] = words ? word[r4_random_below(key, k, words)] : b && b->count ? b->x[0] : 0;
  }
}
