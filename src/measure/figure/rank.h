/* Examples in the order of the probability of a class. */
#ifndef R4_MEASURE_FIGURE_RANK_H
#define R4_MEASURE_FIGURE_RANK_H

#include "measure/figure/figure.h"

/* Fills s->room, smallest first; positive: of the class. Returns the number of examples. */
size_t rank_by_class(const struct figure_source *s, size_t class, size_t *positives);

#endif
