/* Pickles: how Python writes objects down, as a program for a machine with a stack. Of that program, what makes plain
 * values is run. What would call a function or make an object of a class is only noted down, so that a file can do
 * nothing but be read. Protocols 2 to 5, as far as PyTorch's files need them. */
#ifndef R4_TENSOR_FOREIGN_PICKLE_H
#define R4_TENSOR_FOREIGN_PICKLE_H

#include "base/error.h"

enum pickle_kind {
  PICKLE_NONE,
  PICKLE_WHOLE,  /* a number, or true and false */
  PICKLE_REAL,   /* one that is not whole; its value is not kept */
  PICKLE_TEXT,   /* or bytes */
  PICKLE_LIST,   /* or a tuple or set: its items */
  PICKLE_DICT,   /* its items are keys and values by turns */
  PICKLE_GLOBAL, /* a class or function of Python: two texts, its module and its name */
  PICKLE_CALL,   /* the first item called with the second, a tuple; then keys and values that were set in it */
  PICKLE_STORED  /* something that lies elsewhere, as its one item says */
};

struct pickle;
struct pickled {
  enum pickle_kind kind;
  int64_t whole;
  const char *text; /* not ended by 0 */
  size_t length;
  uint32_t first, last, items; /* the chain of its items, for pickle_item */
};

/* Reads one pickle from the start of the data, which must stay; *used gets its size. NULL and an error if it cannot. */
struct pickle *pickle_read(const char *path, const uint8_t *data, size_t size, size_t *used, r4_error *e);
void pickle_free(struct pickle *p);

const struct pickled *pickle_root(const struct pickle *p);
/* The k-th item, or NULL; takes k steps. */
const struct pickled *pickle_item(const struct pickle *p, const struct pickled *of, size_t k);
/* The items in order: *at is 0 at first, and NULL is returned at the end. */
const struct pickled *pickle_next(const struct pickle *p, const struct pickled *of, uint32_t *at);
/* All values in the order in which they were made, k from 0 on; NULL after the last. */
const struct pickled *pickle_at(const struct pickle *p, size_t k);
/* v may be NULL, which is neither. */
bool pickle_is_text(const struct pickled *v, const char *text);
bool pickle_is_global(const struct pickle *p, const struct pickled *v, const char *module, const char *name);

#endif
