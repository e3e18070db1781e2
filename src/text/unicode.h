/* Characters as BERT's tokenizer sees them. */
#ifndef R4_TEXT_UNICODE_H
#define R4_TEXT_UNICODE_H

#include <stddef.h>
#include <stdint.h>

enum unicode_class {
  UNICODE_PLAIN,
  UNICODE_REMOVED,     /* controls, format characters, private ones, U+FFFD: as if they were not there */
  UNICODE_SPACE,       /* between words                                                               */
  UNICODE_PUNCTUATION, /* a word of its own                                                           */
  UNICODE_MARK,        /* an accent that is written on the character before                           */
};

enum { UNICODE_PARTS = 18 }; /* of a character, at most */

/* By the tables of tokenizers, which are older than utf8proc's. */
enum unicode_class unicode_class(uint32_t c);
/* Of the blocks whose characters are words of their own. */
int unicode_is_cjk(uint32_t c);
/* Its canonical decomposition (NFD), in to; returns how many characters these are, one for most. */
size_t unicode_decompose(uint32_t c, uint32_t to[UNICODE_PARTS]);
/* Where it stands among the marks that follow a character (its canonical combining class); 0: it is no such mark. */
int unicode_order(uint32_t c);
/* Its lower case; of one character, U+0130, that has two. */
size_t unicode_lower(uint32_t c, uint32_t to[2]);

#endif
