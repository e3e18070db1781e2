/* enclose_case.h - nodes of graphs enclosed over boxes of their inputs, and points of these boxes. */
#ifndef ENCLOSE_CASE_H
#define ENCLOSE_CASE_H

#include "check.h"

struct boxes {
  size_t n;
  char name[RUNNER_MAX][48];
  double *lo[RUNNER_MAX], *hi[RUNNER_MAX]; /* one array: single values */
  size_t count[RUNNER_MAX];
};

void boxes_add(struct boxes *b, const char *name, size_t count, bool moves);
void boxes_free(struct boxes *b);

r4_status enclose(const r4_graph *g, r4_id y, const struct boxes *b, r4_semantics semantics, double *lo, double *hi,
                  r4_error *e);
/* room: for points that are computed by less exact formulas than the enclosure; usually none is needed. */
void assert_within(const char *what, const double *lo, const double *x, const double *hi, size_t n, double room);
/* Runs at a point of the boxes: any, a corner, or a middle of sides. */
void move(struct runner *r, const struct boxes *b, int number);

#endif
