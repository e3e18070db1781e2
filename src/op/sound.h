/* Sound arithmetic: intervals in double that contain every value, whatever is rounded on the way. doc/certificates.md
 * has the proofs. With u = 2^-53, and y the rounded result of one operation of IEEE arithmetic,
 *
 *     |y - exact| <= u |y| + 2^-1075     so that    down(y) = y - 4 u |y| - 2^-1022 <= exact <= up(y)
 *
 * in round-to-nearest, on any machine and in vector code: no rounding mode is changed. The sum of n products, in any
 * order and with or without FMA, has an error of at most gamma_n sum |a b| + n 2^-1075, gamma_n = n u / (1 - n u). */
#ifndef R4_OP_SOUND_H
#define R4_OP_SOUND_H

#include <math.h>

#include "op/op_rules.h"

#ifdef __FAST_MATH__
#error "sound arithmetic needs IEEE arithmetic: no -ffast-math"
#endif

#define SOUND_EPS 0x1p-51  /* 4 u */
#define SOUND_TINY 0x1p-1022
#define FLOAT_EPS 0x1p-24
#define FLOAT_TINY 0x1p-149
#define FLOAT_LARGEST 0x1.fffffep+127

static inline double sound_down(double y)
{
  return y - (fabs(y) * SOUND_EPS + SOUND_TINY);
}

static inline double sound_up(double y)
{
  return y + (fabs(y) * SOUND_EPS + SOUND_TINY);
}

/* Of n terms, what all roundings of their sum are at most, if magnitude is the computed sum of their computed sizes;
 * products and their underflow included. n below 2^30. */
static inline double sound_sum_error(double n, double magnitude)
{
  return (n + 8) * (2 * 0x1p-53) * magnitude + (n + 8) * SOUND_TINY;
}

/* The same of every float evaluation, in any order: gamma_n of floats, and underflow. */
static inline double sound_float_error(double n, double magnitude)
{
  return (n + 2) * (1.001 * FLOAT_EPS) * magnitude + (n + 2) * FLOAT_TINY;
}

/* Larger or smaller of the two; not a number stays. */
static inline double sound_max(double a, double b)
{
  return a > b || a != a ? a : b;
}

static inline double sound_min(double a, double b)
{
  return a < b || a != a ? a : b;
}

static inline double sound_largest(double lo, double hi) /* of |x| */
{
  return sound_max(fabs(lo), fabs(hi));
}

/* Loops over elements on all threads; the bits do not depend on how many there are. */
#define SOUND_PARALLEL _Pragma("omp parallel for schedule(static) if (n > 1 << 14)")

/* ---- Numbers: each is an enclosure [*lo, *hi] of the function at one point ---- */

void sound_exp(double x, double *lo, double *hi);
void sound_log(double x, double *lo, double *hi); /* NaN unless x > 0 */
void sound_erf(double x, double *lo, double *hi);

/* ---- Products of balls: enclose_product.c ---- */

/* A matrix B [inner, n] with all that products A B need of it. */
struct sound_matrix {
  int64_t inner, n;
  double *centre, *size, *radius; /* in panels of SOUND_PANEL columns; size: |centre| + radius; radius NULL: points */
  double *norm;                   /* [n], of the columns of size, from above */
  void *memory;
};
enum { SOUND_PANEL = 8, SOUND_ROWS = 48 };

/* at: where B[k, j] is in lo and hi, for k < inner and j < n, with whatever where points to. sound_matrix_free. */
typedef int64_t sound_place(const void *where, int64_t k, int64_t j);
r4_status sound_matrix_new(struct sound_matrix *b, int64_t inner, int64_t n, const double *lo, const double *hi,
                           sound_place *at, const void *where, r4_error *e);
void sound_matrix_free(struct sound_matrix *b);

/* Doubles of room for a call of sound_rows. */
size_t sound_room(const struct sound_matrix *b);
/* The product of up to SOUND_ROWS rows of balls, a and radius [rows, inner] (radius NULL: points); row i of the result
 * is at lo + i * stride. */
void sound_rows(const struct sound_matrix *b, int64_t rows, const double *a, const double *radius, bool any_float,
                double *lo, double *hi, int64_t stride, double *room);

/* Ends as centre and radius; radius is 0 exactly where both ends are one number. */
void sound_balls(int64_t n, const double *lo, const double *hi, double *centre, double *radius);

#endif
