/* The language of nets, word by word.
 *
 *     net    = { "param" NAME VALUE [KEY] | "input" NUMBERS ["any" [LEAST]] | "preprocess" WORD | "about" TEXT
 *              | "def" NAME(NAMES) "{" row "}" }
 *     row
 *     row    = item { "," item }
 *     item   = [NAME ":"] ["repeat" N] ( "(" row ")"  |  NAME(VALUES)  |  KIND arguments ["(" row {";" row} ")"] )
 *
 * The lines at the top are for nets in files: what may be chosen (KEY is what a config.json calls it), the shape of an
 * example (LEAST: the smallest height and width that make sense), what inputs of pretrained weights usually are, a
 * sentence, and abbreviations. $NAME stands for the value of a parameter, or of an argument of the
 * abbreviation that it is in; "$n*4" is four times that. A # begins a comment.
 *
 * Names. A part is called by its name, or by its number in the row, from 0 on, as in PyTorch's Sequential; what
 * stands in brackets is called by its own name behind that of the brackets: "layer1.0.conv1". The brackets of
 * residual and sum have no name unless one is given: parts in them that have names are called by these alone, as
 * others call them. A name that begins with a dot is a whole name, wherever it stands. repeat is the same as to write
 * what follows N times; behind a name, the numbers begin with 0. */
#ifndef R4_MODULE_READER_H
#define R4_MODULE_READER_H

#include "module/module.h"

/* A word has room for the longest name of a part: printed nets have whole names. */
enum { WORD_SIZE = PARAM_NAME - 31, READER_PARAMS = 24, READER_ARGUMENTS = 6, READER_DEFINITIONS = 16 };

struct word {
  char s[WORD_SIZE];
};

/* What may be chosen of a net: its value, and what a config.json calls it. */
struct choice {
  struct word name, value, key;
  bool chosen; /* else the value is the one in the text */
};

/* An abbreviation. */
struct definition {
  struct word name, argument[READER_ARGUMENTS];
  size_t arguments;
  const char *body, *end;
};

/* Values of the arguments of a definition while it is read. */
struct frame {
  const struct definition *of;
  struct word value[READER_ARGUMENTS];
};

struct reader {
  const char *name; /* of a file, for messages; NULL: a line of text */
  const char *text, *at, *end;
  struct choice param[READER_PARAMS];
  struct definition definition[READER_DEFINITIONS];
  size_t params, definitions;
  size_t usable;             /* of the definitions, in this place */
  const struct frame *frame; /* NULL: not in a definition */
  const char *about, *about_end;
  r4_shape input; /* rank 0: not stated */
  bool any_size;  /* of input, other images will do as well */
  int64_t least;  /* their least height and width */
  struct word preprocess;
  bool expands; /* it is more than a row of parts: what was read is not what can be read again by itself */
};

/* Starts at the beginning of text[0 .. size). */
void reader_open(struct reader *r, const char *name, const char *text, size_t size);
/* The lines before the row. Values of parameters that are set stay (reader_set): call reader_open, reader_head,
 * reader_set .., reader_head again, as definitions and the input may depend on them. */
r4_status reader_head(struct reader *r, r4_error *e);
/* Chooses the value of a parameter; R4_E_ARGUMENT if there is none of that name: the message lists those that there
 * are. */
r4_status reader_set(struct reader *r, const char *name, const char *value, r4_error *e);

/* Skips blanks and comments; whether c stands here. */
bool reader_sees(struct reader *r, char c);
/* The same, and goes behind it. */
bool reader_takes(struct reader *r, char c);
bool reader_done(struct reader *r);
/* The next word, with values in place of $NAME; empty if there is none here. */
r4_status reader_word(struct reader *r, struct word *w, r4_error *e);

/* The abbreviation of this name that may be used in this place, or NULL. */
const struct definition *reader_definition(const struct reader *r, const char *name);
/* Whether there is one, in this place or another. */
bool reader_defines(const struct reader *r, const char *name);

/* An error at a place in the text: "net: column 7: ..." or "FILE:3:7: ...". */
r4_status reader_fail(const struct reader *r, const char *at, r4_status status, r4_error *e,
                      const char *format, ...) R4_PRINTF(5, 6);

/* Reads a whole number from lowest to 10^9 at *s, before end, and moves *s behind it. */
bool number_parse(const char **s, const char *end, int64_t lowest, int64_t *value);
/* A whole word as a number from least to 10^9: "64", or a product, "64*4". */
bool word_whole(const struct word *w, int64_t least, int64_t *value);
bool word_real(const char *s, double *value);
bool word_is(const struct word *w, const char *s);

/* ---- Making parts: part_arguments.c, build.c ---- */

/* Reads what follows the kind of a part, in m->kind. What is wrong with the part goes to why; what is wrong with the
 * text, with its place, to e. */
r4_status module_read_arguments(struct reader *r, struct module *m, r4_error *why, r4_error *e);

/* Reads the row of a net for examples of shape input. */
r4_status build_row(struct reader *r, struct maker *maker, r4_shape input, struct row *row, r4_error *e);
void row_free(struct row *row);

#endif
