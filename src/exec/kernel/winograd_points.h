/* The matrices of F(4, 3): polynomials at the points 0, +-P, +-Q and infinity,
 *
 *     A = [ p_i^j ],  4 columns         G = [ p_i^j / prod_{k != i} (p_i - p_k) ],  3 columns
 *     B = [ coefficients of prod_{k != i} (x - p_k) ]
 *
 * with infinity's rows (0 .. 0 1) in A and G, and prod_k (x - p_k) in B. A step of a transformation takes some vectors
 * to others; each of a pair of points +-p is the sum or the difference of the terms of even and of odd degree.
 *
 * P = 5/8 and Q = 3/2: rounding errors are 6e-7 of the result (root mean square, 64 channels), with 1 and 2 (Lavin and
 * Gray, 2016) or 1 and 1/2 twice as large; 3/4 and 3/2 come close, 1/2 and 3/2 do not. Powers of both are exact. */
#ifndef R4_EXEC_KERNEL_WINOGRAD_POINTS_H
#define R4_EXEC_KERNEL_WINOGRAD_POINTS_H

#include "exec/kernel/micro.h"
#include "exec/kernel/winograd.h"

#define P 0.625f
#define Q 1.5f
#define P2 (P * P)
#define Q2 (Q * Q)
/* Weights: w_j p^j / prod_{k != i} (p - p_k) */
#define G_0 (float)(1. / (P2 * Q2))
#define G_P0 (float)(1 / (2. * P2 * (P2 - Q2)))
#define G_P1 (float)(1 / (2. * P * (P2 - Q2)))
#define G_P2 (float)(1 / (2. * (P2 - Q2)))
#define G_Q0 (float)(1 / (2. * Q2 * (Q2 - P2)))
#define G_Q1 (float)(1 / (2. * Q * (Q2 - P2)))
#define G_Q2 (float)(1 / (2. * (Q2 - P2)))

/* B' d */
INLINE void step_image(const wide *d, wide *to)
{
  wide even_p = d[4] - Q2 * d[2], odd_p = d[3] - Q2 * d[1], even_q = d[4] - P2 * d[2],
       odd_q = d[3] - P2 * d[1];
  to[0] = P2 * Q2 * d[0] + (d[4] - (P2 + Q2) * d[2]);
  to[1] = even_p + P * odd_p;
  to[2] = even_p - P * odd_p;
  to[3] = even_q + Q * odd_q;
  to[4] = even_q - Q * odd_q;
  to[5] = P2 * Q2 * d[1] + (d[5] - (P2 + Q2) * d[3]);
}

/* A d */
INLINE void step_error(const wide *d, wide *to)
{
  wide even_p = d[0] + P2 * d[2], odd_p = d[1] + P2 * d[3], even_q = d[0] + Q2 * d[2],
       odd_q = d[1] + Q2 * d[3];
  to[0] = d[0];
  to[1] = even_p + P * odd_p;
  to[2] = even_p - P * odd_p;
  to[3] = even_q + Q * odd_q;
  to[4] = even_q - Q * odd_q;
  to[5] = d[3];
}

/* A' m */
INLINE void step_result(const wide *m, wide *to)
{
  wide even_p = m[1] + m[2], odd_p = m[1] - m[2], even_q = m[3] + m[4], odd_q = m[3] - m[4];
  to[0] = m[0] + even_p + even_q;
  to[1] = P * odd_p + Q * odd_q;
  to[2] = P2 * even_p + Q2 * even_q;
  to[3] = m[5] + P2 * P * odd_p + Q2 * Q * odd_q;
}

/* G w */
INLINE void step_weights(const wide *w, wide *to)
{
  wide even_p = G_P0 * w[0] + G_P2 * w[2], odd_p = G_P1 * w[1], even_q = G_Q0 * w[0] + G_Q2 * w[2],
       odd_q = G_Q1 * w[1];
  to[0] = G_0 * w[0];
  to[1] = even_p + odd_p;
  to[2] = even_p - odd_p;
  to[3] = even_q + odd_q;
  to[4] = even_q - odd_q;
  to[5] = w[2];
}

/* G' d */
INLINE void step_gradient(const wide *d, wide *to)
{
  wide even_p = d[1] + d[2], odd_p = d[1] - d[2], even_q = d[3] + d[4], odd_q = d[3] - d[4];
  to[0] = G_0 * d[0] + G_P0 * even_p + G_Q0 * even_q;
  to[1] = G_P1 * odd_p + G_Q1 * odd_q;
  to[2] = d[5] + G_P2 * even_p + G_Q2 * even_q;
}

#endif
