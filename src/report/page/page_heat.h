/* What the section on heat maps shows: which examples, and what each net makes of them. */
#ifndef R4_REPORT_PAGE_PAGE_HEAT_H
#define R4_REPORT_PAGE_PAGE_HEAT_H

#include "r4_tools.h"
#include "report/page/page.h"
#include "report/page/page_tile.h"

enum heat_map { HEAT_GRADIENT, HEAT_BOUNDS, HEAT_MAPS };

/* ---- Which, and what: page_heat_choose.c ---- */

struct heat {
  const struct page *p;
  bool texts; /* or else images */
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

/* ---- Examples as they stand on the page ---- */

struct heat_view {
  const struct heat *t;
  struct html *h;
  struct tile tile;       /* of images */
  float *x, *mask, *work; /* of one example */
};

/* page_heat.c: "gradient" or "bounds", for the script; what people call it; the name of a class. */
const char *heat_map_id(enum heat_map map);
const char *heat_map_name(const struct heat *t, enum heat_map map);
const char *heat_class_name(const struct heat *t, int32_t k);
/* Whose map it is, what the net says, and how much of it is inside the mask: the caption of a map of the example in
 * v->mask. */
void heat_caption(const struct heat_view *v, size_t run, enum heat_map map, size_t i);
/* How much of it is inside the mask, in words; "" without a mask. */
struct figure heat_inside(const struct heat_view *v, size_t run, enum heat_map map, size_t i);

/* All maps of an example, whose mask is in v->mask: page_heat_image.c, page_heat_text.c. */
r4_status heat_image(struct heat_view *v, size_t i, r4_error *e);
r4_status heat_text(struct heat_view *v, size_t i, r4_error *e);

#endif
