/* How much a net leans on places of images: they are filled, and the margin is measured before and after. */
#ifndef R4_FIND_FILL_H
#define R4_FIND_FILL_H

#include "data/data.h"
#include "measure/probe.h"

struct fill_probe {
  struct probe *probe;
  const float *weights;
  const r4_data *d;
  r4_shape shape;
};

r4_status filling_new(struct fill_probe *p, const r4_net *n, const float *weights, const r4_data *d,
                      r4_error *e);
void filling_clear(struct fill_probe *p);

/* With M_i the margin z_y - log sum_{k != y} exp(z_k) of example i, y the class of the clue, and M'_i that with its
 * box, grown on each side by so much of its own size, filled with the mean colour of the rest:
 *
 *     lean = sum_i (M_i - M'_i) / sum_i |M_i|,
 *
 * over at most FILLED sightings, evenly spread; lean_se by the differences of its terms. */
enum { FILLED = 48 };
r4_status fill_lean(struct fill_probe *p, r4_clue *c, const r4_sighting *s, double grow, r4_error *e);

#endif
