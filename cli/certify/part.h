/* What is done of a certificate, in a file beside the model, so that whoever was interrupted need not begin again: a
 * line that says what it is of, then a line for each item, in order. */
#ifndef R4_CLI_PART_H
#define R4_CLI_PART_H

#include "cli.h"

/* Items are so many bytes each: how they are written, and read back. A line ends with " end", which is looked at
 * before: one that was cut off by a kill has none. */
struct part_kind {
  size_t size;
  void (*print)(FILE *f, const void *item, size_t size);
  bool (*scan)(const char *line, void *item, size_t size);
};

struct part {
  FILE *f; /* NULL: it cannot be written, and nothing is kept */
  struct part_kind kind;
};

/* Reads what is there of the same key, a text without its end, of at most n items, and returns how many; then the file
 * is ready for the next ones. */
size_t part_open(struct part *p, const struct part_kind *kind, const char *path, const char *key, size_t n, void *to);
/* Adds items, which are on the disk when this returns, as far as the system is concerned. */
void part_add(struct part *p, size_t n, const void *item);
void part_close(struct part *p);

#endif
