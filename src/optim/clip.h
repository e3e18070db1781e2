/* Clipping: a gradient g of all weights that is longer than limit, in the 2-norm, is shortened to it,
 *
 *     g <- g min(1, limit / ||g||),    ||g|| = sqrt(sum_i g_i^2)
 *
 * before the optimiser sees it: its direction stays. A limit of 0 leaves every gradient as it is, and so does a length
 * that is not finite, which the loss of the next step then shows. */
#ifndef R4_OPTIM_CLIP_H
#define R4_OPTIM_CLIP_H

#include <stddef.h>

/* Returns ||g|| before; 0 without a limit, as nobody has looked. */
double clip_gradient(float *g, size_t n, double limit);

#endif
