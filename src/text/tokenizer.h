/* The inside of a tokenizer: BERT's, in the words of Hugging Face's tokenizers.
 *
 *     text -> without controls, CJK characters apart, decomposed, without accents, in lower case    (normalize.c)
 *          -> words: what stands between blanks; punctuation is a word for each character           (normalize.c)
 *          -> pieces: the longest that the word begins with, then the longest of the rest after ##  (tokenize.c)
 *
 * Special tokens ("[SEP]") in the text are taken out before all that. */
#ifndef R4_TEXT_TOKENIZER_H
#define R4_TEXT_TOKENIZER_H

#include "text/tokens.h"
#include "text/vocabulary.h"

enum { WORD_CHARACTERS = 256 };

struct tokenizer {
  struct vocabulary vocabulary;
  struct vocabulary special; /* found in texts as they are                              */
  char special_first;        /* what all of these begin with, to be quick; 0: not all the same */
  int32_t unknown;           /* what a word becomes that has no pieces */
  uint32_t inside;           /* node of the vocabulary from which pieces within a word start: that of "##" */
  size_t word_most;          /* a word of more characters is unknown   */
  bool clean, cjk, accents_off, lower;
  struct {
    uint8_t class; /* an unicode_class, without MARK */
    char lower;
  } ascii[128];
};

/* A tokenizer from the bytes of a file, which are changed; path is for messages. */
r4_status tokenizer_parse(struct tokenizer **made, const char *path, uint8_t *bytes, size_t size, r4_error *e);
/* Once the settings are there: the table of ASCII. */
void tokenizer_prepare(struct tokenizer *t);

/* A character of a word, and the bytes of the text that it stands for. */
struct span {
  uint32_t from, to;
};

/* A word as it is looked up. Behind word_most characters only its end is kept. */
struct word {
  size_t characters, bytes;
  struct span all;
  char byte[4 * WORD_CHARACTERS];
  struct span of[4 * WORD_CHARACTERS]; /* of each byte, the bytes of the text */
};

/* What the words of a text are given to. */
struct word_sink {
  void *to;
  r4_status (*take)(void *to, const struct word *w); /* anything but R4_OK ends it */
};

/* The words of a stretch of text, which begins at byte `at` of the whole, in order. Errors of UTF-8 name the byte. */
r4_status words_of(const struct tokenizer *t, const char *text, size_t size, size_t at,
                   const struct word_sink *sink, r4_error *e);

#endif
