/* Texts with other words in them: what the methods of tokens share. */
#ifndef R4_OBJECTIVE_WORDS_H
#define R4_OBJECTIVE_WORDS_H

#include "objective/objective.h"

/* R4_NONE, and an error in the graph, unless the net has a leaf behind its embeddings. */
r4_id words_ids(struct objective *o);         /* the ids of the examples that are looked at, [rows, tokens] */
r4_id words_inner(const struct objective *o); /* 1 for what is neither first nor last, nor padding          */
r4_id words_masked(
  const struct objective *o); /* 1 for masked tokens, from the half on                      */
r4_id words_sample(const struct objective *o, r4_id all,
                   int s); /* rows of sample s of [samples * rows, tokens]   */

/* g at texts [rows, tokens] of ids, which are constants, shaped as the leaf. */
r4_id words_explain(const struct objective *o, r4_id ids);

/* The texts at which the explanation is largest, of those that were tried. The search runs forward only; just what it
 * finds is differentiated with respect to the weights. */
struct words_best {
  r4_id ids, size; /* || m . g || */
};
struct words_best words_start(const struct objective *o, r4_id ids);
void words_try(const struct objective *o, struct words_best *best, r4_id ids);
r4_id words_size(const struct objective *o, struct words_best best);

/* Ids, one for each place: of inner tokens of the batch, and of its masked tokens. */
draw_fill draw_words, draw_masked_words;

#endif
