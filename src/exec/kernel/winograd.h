/* What Winograd's convolutions share: tiles, the way to their 36 points and back, and the products there. The formulas
 * are in winograd.c, the matrices in winograd_points.h.
 *
 * Tiles, weights and sums at the points are planes of up to 64 channels, [36][row][64]: those that are worked on at
 * once stay in a second-level cache. */
#ifndef R4_EXEC_KERNEL_WINOGRAD_H
#define R4_EXEC_KERNEL_WINOGRAD_H

#include "exec/kernel/kernel.h"
#include "exec/kernel/wide.h"

enum { TILE = 4 /* results */, SIDE = TILE + 2 /* of what they read */, KERNEL = 3, POINTS = SIDE * SIDE };
enum { BLOCK = 64, TILES = 56 /* at once */, LINE = 16 };
/* Floats from one point to the next: a cache line more than the plane has, so that one place of all points is not one
 * place of the first-level cache. */
enum { TILE_PLANE = TILES * BLOCK + LINE, WEIGHT_PLANE = BLOCK * BLOCK + LINE };

/* ---- Tiles ---- */

/* An image cut into tiles: that of row u and column v begins at pixel first + 4 (u, v). */
struct grid {
  int64_t size[2], channels, first[2], tiles[2]; /* tiles: of an image */
};

/* Some tiles, and some channels (at most 64) from "channel" on. */
struct part {
  int64_t tile, tiles, channel, channels;
};

/* B' x B of 6 x 6 pixels, 0 outside of the image, to [36][tile][64]. The last vector is filled up with 0. */
void winograd_image(const struct grid *g, const struct part *p, const float *x, float *to);
/* A dy A' of 4 x 4 pixels, likewise. */
void winograd_error(const struct grid *g, const struct part *p, const float *dy, float *to);

/* What is done with a result: + bias, + what is there, relu. */
struct finish {
  const float *bias; /* or NULL */
  bool accumulate, relu;
};

/* A' m A, 4 x 4 pixels, as far as they are in the image. */
void winograd_result(const struct grid *g, const struct part *p, const float *from, struct finish f,
                     float *y);

/* ---- Weights [out, 3, 3, in] ---- */

/* A block of both kinds of channels, at most 64 of each. */
struct square {
  int64_t in, ins, out, outs;
};

/* G w G' to [36][in][64 out]. */
void winograd_weights(const struct square *s, int64_t channels, const float *w, float *to);
/* The same of the kernel turned around, to [36][out][64 in]. */
void winograd_weights_turned(const struct square *s, int64_t channels, const float *w, float *to);
/* G' d G of [36][out][64 in]. */
void winograd_gradient(const struct square *s, int64_t channels, const float *from, float *dw);

/* ---- Products, of all points ---- */

/* sums[tile, out] (+)= sum_in image[tile, in] weights[in, out] */
void winograd_multiply(const float *image, const float *weights, int64_t tiles, int64_t in, int64_t out,
                       bool add, float *sums);
/* sums[out, in] (+)= sum_tile error[tile, out] image[tile, in] */
void winograd_multiply_dw(const float *error, const float *image, int64_t tiles, int64_t in, int64_t out,
                          bool add, float *sums);

/* ---- Choice ---- */

/* The share of the definition's products that are computed for outputs y, or 0 if the algorithm is not taken. */
double winograd_share(const struct kernel_request *q, r4_shape w, r4_shape y);

#endif
