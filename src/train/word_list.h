/* The words that take the place of masked ones in texts: those that a setting lists, as ids of tokens. */
#ifndef R4_TRAIN_WORD_LIST_H
#define R4_TRAIN_WORD_LIST_H

#include "config/settings.h"
#include "measure/substitute.h"

struct word_list {
  float *id; /* what may stand at a masked token, each once; NULL: words are drawn from the batch */
  size_t n;
  size_t listed, unknown,
    several; /* words as they were listed, and how many are not in the vocabulary, or are of
                                      several pieces: where tokens are replaced one by one, they replace nothing */
  char first_unknown[48], first_several[48];
  struct words_by_pieces by_pieces; /* whole words; its ids are those of whole */
  int32_t *whole;
};

/* What the setting words says, for the method and the data of a run; none for methods that replace no words. For boxes
 * that are hulls of words, id has all pieces of all words: a box has a word in it if it has its pieces. */
r4_status word_list_open(struct word_list *w, const struct settings *s, const r4_data *d, r4_error *e);
/* The list that the settings name, whatever the method: words, or else data.mask_words; none if these name none. id has
 * all pieces of all words. */
r4_status word_list_named(struct word_list *w, const struct settings *s, const r4_data *d, r4_error *e);
void word_list_close(struct word_list *w);

/* The substitution test (r4.h) with that list. */
r4_status substitution_test(const r4_net *n, const float *weights, const r4_data *d, const r4_settings *s,
                            r4_substituted *to, r4_error *e);

#endif
