/* Products of the planes of all points, in blocks whose sums stay in registers: as many rows as there is room for, and
 * one or two vectors of columns. Steps within a plane are constants, so that an address is a register and a number. */
#include "exec/kernel/winograd_points.h"

/* Row r of the first operand is row * r floats on, its term k is step * k on. */
INLINE void block(const int rows, const int vectors, const int row, const int step, int64_t terms,
                  const float *a, const float *b, bool add, float *c)
{
  wide sum[MAX_ROWS][2];
  UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < vectors; v++) sum[r][v] = (wide){0};
  for (; terms > 0; terms--, a += step, b += BLOCK) {
    wide from[2];
    UNROLL for (int v = 0; v < vectors; v++) from[v] = AT(b + v * WIDE);
    UNROLL for (int r = 0; r < rows; r++)
    {
      float x = a[r * row];
      UNROLL for (int v = 0; v < vectors; v++) sum[r][v] += x * from[v];
    }
  }
  UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < vectors; v++)
  {
    float *to = c + r * BLOCK + v * WIDE;
    PUT(to, add ? AT(to) + sum[r][v] : sum[r][v]);
  }
}

/* The number of rows as a constant, so that the sums of each fit their registers. */
#define ROWS_CASE(N)                                   \
  case N:                                              \
    block(N, vectors, row, step, terms, a, b, add, c); \
    break;

INLINE void any_block(int64_t rows, const int vectors, const int row, const int step, int64_t terms,
                      const float *a, const float *b, bool add, float *c)
{
  switch (rows) {
    ROWS_CASE(1)
    ROWS_CASE(2)
    ROWS_CASE(3)
    ROWS_CASE(4)
    ROWS_CASE(5)
    ROWS_CASE(6)
#ifdef __AVX512F__
    ROWS_CASE(7)
    ROWS_CASE(8)
    ROWS_CASE(9)
    ROWS_CASE(10)
    ROWS_CASE(11)
    ROWS_CASE(12)
    ROWS_CASE(13)
    ROWS_CASE(14)
#endif
  }
}

/* Rows are shared out evenly: few sums at once would wait for each other. */
INLINE void plane(const int row, const int step, int64_t rows, int64_t columns, int64_t terms, const float *a,
                  const float *b, bool add, float *c)
{
  int64_t blocks = divide_up(rows, MAX_ROWS);
  for (int64_t j = 0; j < columns; j += 2 * WIDE)
    for (int64_t k = 0; k < blocks; k++) {
      int64_t r = rows * k / blocks, n = rows * (k + 1) / blocks - r;
      if (columns - j > WIDE)
        any_block(n, 2, row, step, terms, a + r * row, b + j, add, c + r * BLOCK + j);
      else
        any_block(n, 1, row, step, terms, a + r * row, b + j, add, c + r * BLOCK + j);
    }
}

void winograd_multiply(const float *image, const float *weights, int64_t tiles, int64_t in, int64_t out,
                       bool add, float *sums)
{
  for (int k = 0; k < POINTS; k++)
    plane(BLOCK, 1, tiles, out, in, image + k * TILE_PLANE, weights + k * WEIGHT_PLANE, add,
          sums + k * TILE_PLANE);
}

void winograd_multiply_dw(const float *error, const float *image, int64_t tiles, int64_t in, int64_t out,
                          bool add, float *sums)
{
  for (int k = 0; k < POINTS; k++)
    plane(1, BLOCK, out, in, tiles, error + k * TILE_PLANE, image + k * TILE_PLANE, add,
          sums + k * WEIGHT_PLANE);
}
