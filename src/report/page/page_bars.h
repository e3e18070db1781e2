/* Rows in a page: for each its name, a bar from the left end or a dot, a whisker as long as sd to both sides, and the
 * number as text. */
#ifndef R4_REPORT_PAGE_PAGE_BARS_H
#define R4_REPORT_PAGE_PAGE_BARS_H

#include "report/plot/plot.h"

enum bar_mark { BAR_WHOLE, BAR_DOT };

struct bars {
  struct plane plane;
  enum bar_mark mark;
  double numbers; /* room for them, at the right */
  size_t rows;    /* that were added */
};

/* With room for numbers of so many letters; and, before they begin, room for each of the names. */
struct bars bars_of(struct html *h, enum bar_mark mark, size_t letters, struct scale x);
void bars_fit(struct bars *b, const char *name);
void bars_begin(struct bars *b, size_t rows, const char *title, const char *about);
void bars_row(struct bars *b, size_t series, const char *name, r4_mean_sd v, const char *number);
void bars_end(struct bars *b);

#endif
