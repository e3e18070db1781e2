/* The words that take the place of masked ones in texts: those that a setting lists, as ids of tokens. */
#ifndef R4_TRAIN_WORD_LIST_H
#define R4_TRAIN_WORD_LIST_H

#include "config/settings.h"

struct word_list {
  float *id; /* NULL: words are drawn from the batch */
  size_t n;
  size_t listed, unknown,
    several; /* words as they were listed, and how many are not in the vocabulary, or are of
                                      several pieces: a masked token is one piece, and they replace nothing */
  char first_unknown[48], first_several[48];
};

/* What the setting words says, for the method and the data of a run; none for methods that replace no words. */
r4_status word_list_open(struct word_list *w, const struct settings *s, const r4_data *d, r4_error *e);
/* The list that the settings name, whatever the method: words, or else data.mask_words; none if these name none. */
r4_status word_list_named(struct word_list *w, const struct settings *s, const r4_data *d, r4_error *e);
void word_list_close(struct word_list *w);

#endif
