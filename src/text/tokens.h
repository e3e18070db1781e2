/* Texts as ids of tokens, by BERT's tokenizer (WordPiece). */
#ifndef R4_TEXT_TOKENS_H
#define R4_TEXT_TOKENS_H

#include "base/error.h"

struct tokenizer;

/* May be used by several threads at once. path: a tokenizer.json, a vocab.txt (a piece in each line; in lower case,
 * unless a tokenizer_config.json beside it says otherwise), or a folder with one of them. A vocabulary needs [UNK], for
 * words that it has no pieces of. */
struct tokenizer *tokenizer_open(const char *path, r4_error *e);
void tokenizer_free(struct tokenizer *t);
int64_t tokenizer_size(const struct tokenizer *t);                  /* one more than the largest id */
int32_t tokenizer_id(const struct tokenizer *t, const char *piece); /* -1: there is none            */
const char *tokenizer_piece(const struct tokenizer *t, int32_t id); /* NULL: there is none          */

struct token {
  int32_t id;
  uint32_t from, to; /* the bytes of the text: from, and the one behind its last */
};

/* Start with all 0; may be used for one text after the other. */
struct tokens {
  size_t n, room;
  struct token *token;
};

/* The tokens of the text alone, without [CLS] and [SEP], with the ids that Hugging Face's tokenizers gives; where a
 * text names them ("[SEP]"), these are tokens. It has size bytes, of UTF-8: R4_E_PARSE names the first that is not. */
r4_status tokenize(const struct tokenizer *t, const char *text, size_t size, struct tokens *to, r4_error *e);
void tokens_free(struct tokens *to);

#endif
