/* What the section on heat maps shows: which examples, and what each net makes of them. */
#ifndef R4_REPORT_PAGE_HEAT_H
#define R4_REPORT_PAGE_HEAT_H

#include "report/page.h"

enum heat_map { HEAT_GRADIENT, HEAT_BOUNDS, HEAT_MAPS };

struct heat {
  const struct page *p;
  size_t n, features;
  size_t *example; /* their numbers in the test part                            */
  size_t wrong;    /* so many of the first are those that the judge gets wrong  */
  const r4_report_run *judge;
  r4_data *d;      /* these examples                                            */
  bool masks;      /* one of them has a mask                                    */
  float *a;        /* [runs, maps, n, features]                                 */
  int32_t *answer; /* [runs, n]                                                 */
  double eps;
};

/* Empty (n is 0) where nothing can be shown; *why then says so. */
r4_status heat_open(struct heat *t, const struct page *p, const char **why, r4_error *e);
void heat_close(struct heat *t);

const float *heat_at(const struct heat *t, size_t run, enum heat_map map, size_t i);
int32_t heat_answer(const struct heat *t, size_t run, size_t i);

#endif
