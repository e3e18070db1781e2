/* Texts as words: tokens that belong together, without those that stand for no word ("[CLS]"). */
#ifndef R4_FIND_TEXT_WORDS_H
#define R4_FIND_TEXT_WORDS_H

#include "base/text.h"
#include "data/data.h"

struct text_word {
  uint64_t hash; /* of its tokens */
  size_t at, n;  /* its first token, and how many there are */
  bool masked;   /* any of them is */
};

/* The words of example i, at most "room" of them; unmasked: none counts as masked. Returns how many there are. */
size_t text_words(const r4_data *d, size_t i, bool unmasked, struct text_word *to, size_t room);
/* Tokens from .. from + n - 1 of example i, as people read them. */
void text_of_tokens(struct text *to, const r4_data *d, size_t i, size_t from, size_t n);

#endif
