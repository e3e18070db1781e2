/* chance.h - is it chance? Pearson's chi-square tests on counts. */
#ifndef CHANCE_H
#define CHANCE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether counts are as even as uniform draws are, and whether the rows of a table are as alike as those of
 * independent draws are: true unless the statistic is one that chance exceeds once in a thousand times. Rows and
 * columns without counts are left out. */
bool chance_uniform(size_t n, const size_t *count);
bool chance_independent(size_t rows, size_t columns, const size_t *count);

#endif
