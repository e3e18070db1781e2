/* How many texts of each class have a word, two words after each other, a word at their beginning or at their end. */
#ifndef R4_FIND_WORD_TABLE_H
#define R4_FIND_WORD_TABLE_H

#include "find/text_words.h"

enum word_cue { CUE_WORD, CUE_PHRASE, CUE_FIRST, CUE_LAST, WORD_CUES };

struct word_entry {
  uint64_t key;         /* of the cue and its words; 0: free          */
  uint32_t last;        /* the text that had it last, + 1              */
  uint32_t example, at; /* where it was first: a text, and the number of its word */
  uint32_t texts;
  uint8_t cue;
};

struct word_table {
  size_t slots, n, classes;
  struct word_entry *entry; /* [slots], a power of two */
  uint32_t *of_class;       /* [slots, classes]: texts */
};

r4_status word_table_new(struct word_table *t, size_t classes, r4_error *e);
void word_table_clear(struct word_table *t);
/* Counts the cues of a text of a class: its n words. number: of the text, from 0 on; example: as the data have it. */
r4_status word_table_add(struct word_table *t, const struct text_word *word, size_t n, uint32_t number,
                         uint32_t example, int32_t label, r4_error *e);

/* The key of a cue at word k of n; 0 if there is none there: words that are masked do not count. */
uint64_t word_key(const struct text_word *word, size_t n, size_t k, enum word_cue cue);

#endif
