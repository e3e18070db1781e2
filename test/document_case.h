/* Commands and code in the documents: Markdown, as far as ours goes. */
#ifndef DOCUMENT_CASE_H
#define DOCUMENT_CASE_H

#include "check.h"

/* Where something stands: a path from the root of the tree, and the line. */
struct place {
  const char *document;
  int line;
};

typedef void document_seen(struct place at, const char *text, void *to);

/* A line of a block of code (four blanks, or between fences without a language), without what explains it: from " #"
 * on, or from three blanks on. Lines that a quote, a parenthesis or a backslash leaves open are one. block is a number
 * that lines of one block share; a line of a session counts if it begins with "$ ", and session says that it does. */
struct block_line {
  struct place at;
  int block;
  bool session;
  char text[1600];
};

/* The lines, whose memory is the caller's (free), and their number. */
struct block_line *document_lines(const char *document, size_t *n);
/* Each text between backquotes outside of blocks, which may run over the end of a line. */
void document_codes(const char *document, document_seen *seen, void *to);
/* Calls for each of README.md, CONTRIBUTING.md, doc and the documents of experiments; returns their number. */
size_t documents_each(void (*call)(const char *document, void *to), void *to);

#endif
