/* Which labels of annotations are wanted: those that the user lists, or all. */
#ifndef R4_DATA_ANNOTATION_CATEGORIES_H
#define R4_DATA_ANNOTATION_CATEGORIES_H

#include "base/error.h"

enum { CATEGORIES_MOST = 64 };

struct categories {
  char *text; /* the list, cut into words; NULL: all are wanted */
  size_t n;
  const char *word[CATEGORIES_MOST];
  bool seen[CATEGORIES_MOST];
  char known[200]; /* some of the labels that there are, for messages */
};

/* list: "tag, ruler"; NULL or "": all. */
r4_status categories_read(struct categories *c, const char *list, r4_error *e);
void categories_clear(struct categories *c);

bool categories_want(struct categories *c, const char *label);
/* The same for another way to write a label, which messages do not list; false where all are wanted. */
bool categories_want_also(struct categories *c, const char *label);
/* R4_E_ARGUMENT if a word of the list was never asked for, after all labels were. */
r4_status categories_check(const struct categories *c, const char *file, r4_error *e);

#endif
