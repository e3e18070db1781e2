/* Pieces of words and their ids, as a tree of bytes: the longest piece that a text begins with is found in one walk. */
#ifndef R4_TEXT_VOCABULARY_H
#define R4_TEXT_VOCABULARY_H

#include "base/error.h"

enum { VOCABULARY_MOST = 1 << 22, PIECE_MOST = 1 << 12 }; /* ids, and bytes of a piece */

struct vocabulary {
  int32_t *id;        /* of the piece that ends at a node; -1: none does                 */
  size_t nodes, room; /* node 0 is the root                                              */
  uint64_t *edge;     /* hash table: (node << 8 | byte) + 1, 0 is empty; and where it leads */
  uint32_t *child;
  size_t slots;
  char **piece;            /* by id; NULL: none has it */
  size_t size, piece_room; /* size: one more than the largest id */
};

void vocabulary_free(struct vocabulary *v);
/* A piece that is there already gets the new id. */
r4_status vocabulary_add(struct vocabulary *v, const char *piece, int32_t id, r4_error *e);

#define VOCABULARY_NOWHERE UINT32_MAX

/* The node that n bytes lead to from a node. */
uint32_t vocabulary_walk(const struct vocabulary *v, uint32_t node, const char *bytes, size_t n);
/* The longest piece that text of n bytes begins with, from a node on: its length, or 0, and its id. */
size_t vocabulary_longest(const struct vocabulary *v, uint32_t node, const char *text, size_t n, int32_t *id);
/* -1: there is no such piece. */
int32_t vocabulary_id(const struct vocabulary *v, const char *piece);

#endif
