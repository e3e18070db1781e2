/* What is done of a cover certificate, in a file beside the model, so that whoever was interrupted need not begin
 * again: a line that says what it is of, then a line for each example, in order. */
#ifndef R4_CLI_COVER_PART_H
#define R4_CLI_COVER_PART_H

#include "cli.h"

struct cover_part {
  FILE *f; /* NULL: it cannot be written, and nothing is kept */
};

/* Reads what is there of the same key, a line without its end, of at most n examples, and returns how many; then the
 * file is ready for the next ones. */
size_t cover_part_open(struct cover_part *p, const char *path, const char *key, size_t n, r4_covered *to);
/* Adds examples, which are on the disk when this returns, as far as the system is concerned. */
void cover_part_add(struct cover_part *p, size_t n, const r4_covered *x);
void cover_part_close(struct cover_part *p);

#endif
