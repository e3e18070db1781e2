/* Words of VNN-LIB (certify/vnnlib.h), and its terms: sums of constants times numbers. */
#ifndef R4_CERTIFY_VNNLIB_TERM_H
#define R4_CERTIFY_VNNLIB_TERM_H

#include "certify/vnnlib.h"

enum { VNN_MOST_DEPTH = 32, VNN_MOST_TERMS = 64, VNN_WORD = 2048 };

struct vnn_reader {
  const char *path, *at, *end;
  size_t line, line_of; /* where it is, and where the last word began */
  char word[VNN_WORD];  /* the last one: a bracket, or a symbol; empty at the end of the file */
  struct vnn_spec *s;
  r4_error *e;
};

/* sum_k factor_k part_k + rest */
struct vnn_term {
  size_t parts;
  struct vnn_part part[VNN_MOST_TERMS];
  struct vnn_number rest;
};

/* Refuses the last word. */
r4_status vnn_refuse(const struct vnn_reader *r, const char *expected);
r4_status vnn_next(struct vnn_reader *r);
bool vnn_is_next(struct vnn_reader *r, char bracket);
r4_status vnn_take(struct vnn_reader *r, const char *word);
/* X_12 or Y_3 */
bool vnn_is_constant(const char *word, size_t *index);

r4_status vnn_read_term(struct vnn_reader *r, struct vnn_term *t, int depth);
/* a - b, in a */
r4_status vnn_subtract(const struct vnn_reader *r, struct vnn_term *a, const struct vnn_term *b);

#endif
