/* random_tree.h - texts of random nets: trees of all kinds of parts that fit. */
#ifndef RANDOM_TREE_H
#define RANDOM_TREE_H

#include "check.h"

enum { TREE_TEXT = 4000 };

struct random_tree {
  char text[TREE_TEXT];
  r4_shape input;
  int64_t tokens; /* > 0: the input is ids below this */
};

/* From the stream of draws as it stands. Values stay moderate. */
void random_tree_draw(struct random_tree *t);

#endif
