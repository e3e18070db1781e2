/* Texts on their way to a data set: what is known of each is listed, its tokens are kept, and what is marked in it
 * becomes a mask. Whatever the format, texts are added one by one and finished together. */
#ifndef R4_DATA_FORMAT_TEXTS_H
#define R4_DATA_FORMAT_TEXTS_H

#include "data/format/folder_list.h"
#include "text/tokens.h"

/* Bytes of a text that are marked. */
struct mark {
  size_t from, to;
};

struct marks {
  size_t n, room;
  struct mark *at;
};

r4_status marks_add(struct marks *m, size_t from, size_t to, r4_error *e);
void marks_free(struct marks *m);
/* Characters from .. to - 1 of text, which must be there. where begins messages. */
r4_status marks_add_characters(struct marks *m, const char *text, int64_t from, int64_t to, const char *where,
                               r4_error *e);
/* "3-9 20-25": characters, the second number is behind the last. */
r4_status marks_read(struct marks *m, const char *text, const char *spans, const char *where, r4_error *e);
/* Takes [[ and ]] out of text, in place, and marks what was between them. */
r4_status marks_take_brackets(struct marks *m, char *text, const char *where, r4_error *e);

/* Words that must not matter, each as the ids of its pieces. */
struct mark_word {
  char *word;
  size_t n, found; /* ids, and how often it was found */
  int32_t *id;
  size_t next; /* the number + 1 of the next word with the same first piece; 0: none */
};

struct mark_words {
  size_t n, room;
  struct mark_word *at;
  size_t *first; /* by piece: the number + 1 of the first word that begins with it; 0: none */
};

/* From a list, separated by commas or blanks, or a file of words. An error if the vocabulary has none of
 * them. setting begins messages. */
r4_status mark_words_read(struct mark_words *w, const char *setting, const char *list, const struct tokenizer *t,
                          r4_error *e);
/* The list itself, never a file of this name; none of its words need be known. */
r4_status mark_words_take(struct mark_words *w, const char *setting, const char *list, const struct tokenizer *t,
                          r4_error *e);
void mark_words_free(struct mark_words *w);
/* Sets mask[k] to 255 for the tokens of each of the words in a text, where it is a word and not a part of one. */
void mark_words_find(struct mark_words *w, const struct tokenizer *t, const int32_t *id, size_t n, uint8_t *mask);
/* The piece goes on with the word of the one before. */
bool token_continues(const struct tokenizer *t, int32_t id);

struct texts {
  const char *source;
  const r4_data_options *options;
  struct tokenizer *tokenizer;
  int32_t start, end, padding; /* ids; -1: the vocabulary has none */
  size_t most;                 /* tokens of a text, with start and end */
  struct mark_words words;
  struct tokens room;
  struct listing listing;
  size_t texts, tokens, token_room, longest, cut; /* cut: texts that were longer */
  size_t marked, lost; /* texts with marks, and those of whose marks nothing is left */
  size_t *at, at_room; /* where the tokens of each text begin */
  uint32_t *whole;     /* beside at: how many each would have if none were cut */
  int32_t *id;
  uint8_t *mask; /* beside id */
};

/* Options that speak of texts: tokenizer, length, mask_words, mask_means. texts_close in any case. */
r4_status texts_open(struct texts *t, const char *source, const r4_data_options *options, r4_error *e);
void texts_close(struct texts *t);

/* One more; strings of one are copied, and marks may be NULL. where begins messages: "FILE:LINE". */
r4_status texts_add(struct texts *t, const struct listed *one, const char *text, const struct marks *marks,
                    const char *where, r4_error *e);
/* All of a file with this name: a table, lines of JSON, or one text. bytes[size] must be 0; they are changed. */
r4_status texts_read(struct texts *t, const char *path, uint8_t *bytes, size_t size, r4_error *e);
/* The data set of all that was added. */
r4_data *texts_data(struct texts *t, const char *about, r4_error *e);

/* Adds the files that options speak of, of the tokenizer and of words. */
r4_status texts_list_files(const r4_data_options *options, struct names *to, r4_error *e);
/* The tokenizer that options speak of: a path, or a name that "r4 data get" knows. */
struct tokenizer *texts_tokenizer(const char *named, const char *folder, r4_error *e);

#endif
