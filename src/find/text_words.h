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

/* How texts are looked at. */
struct text_look {
  bool unmasked; /* no word counts as masked                                                              */
  int32_t
    frame[2]; /* the token that all texts begin with, and that all end with, where pieces are not known: they
                        stand for no word; -1: there is none */
};

struct text_look text_look_of(const r4_data *d, bool unmasked);

/* The words of example i, at most "room" of them; see text_look. Returns how many there are. */
size_t text_words(const r4_data *d, size_t i, const struct text_look *how, struct text_word *to, size_t room);
/* Tokens from .. from + n - 1 of example i, as people read them. */
void text_of_tokens(struct text *to, const r4_data *d, size_t i, size_t from, size_t n);

#endif
