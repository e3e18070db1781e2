/* Texts with other words in them: what the methods of tokens share. */
#ifndef R4_OBJECTIVE_WORDS_H
#define R4_OBJECTIVE_WORDS_H

#include "objective/objective.h"

/* R4_NONE, and an error in the graph, unless the net has a leaf behind its embeddings. */
r4_id words_ids(struct objective *o);         /* the ids of the examples that are looked at, [rows, tokens] */
r4_id words_inner(const struct objective *o); /* 1 for what is neither first nor last, nor padding          */
r4_id words_masked(
  const struct objective *o); /* 1 for masked tokens, from the half on                      */

/* Words for each place of each text, times over: of the list, or as of_batch draws them. [times * rows, tokens] */
r4_id words_draw(struct objective *o, int times, draw_fill *of_batch);
r4_id words_sample(const struct objective *o, r4_id all, int s); /* rows of sample s of such */

/* g at texts [rows, tokens] of ids, which are constants, shaped as the leaf. */
r4_id words_explain(const struct objective *o, r4_id ids);
/* The same at what the net makes of them up to its leaf. */
r4_id words_explain_at(const struct objective *o, r4_id leaf);
r4_id words_leaf(const struct objective *o, r4_id ids);

r4_id words_list(const struct objective *o); /* the ids of the list, [words] */
/* [words, tokens, width]: each word of the list at each place, at the leaf. R4_NONE, and an error in the graph, if
 * tokens see each other before it. */
r4_id words_list_leaves(const struct objective *o);

/* The texts that Word-Adv-R4 finds, [rows, tokens]. */
r4_id word_adv_find(struct objective *o);

/* Ids, one for each place: of inner tokens of the batch, and of its masked tokens. */
draw_fill draw_words, draw_masked_words;

#endif
