/* The substitution test of texts: whether an answer is right whatever words of a list stand at the masked tokens. */
#ifndef R4_MEASURE_SUBSTITUTE_H
#define R4_MEASURE_SUBSTITUTE_H

#include "r4.h"

enum { MOST_PIECES = 32 }; /* of a word that can replace another */

/* Words by the number of their pieces: id[n] has n * count[n] ids. */
struct words_by_pieces {
  size_t count[MOST_PIECES + 1];
  const int32_t *id[MOST_PIECES + 1];
};

struct substitute_options {
  const float *words; /* ids: all pieces of all words, of which boxes are hulls */
  size_t word_count;
  struct words_by_pieces by_pieces;
  size_t most;  /* texts with masked tokens that are looked at, evenly spread */
  size_t tries; /* a text with at most so many replacements is tried with each of them */
  int64_t batch;
};

r4_status substitute_test(const r4_net *net, const float *weights, const r4_data *d,
                          const struct substitute_options *o, r4_substituted *to, r4_error *e);

#endif
