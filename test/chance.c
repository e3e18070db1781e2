#include "chance.h"

#include <math.h>
#include <stdlib.h>

/* The quantile 0.999 of chi-square, by Wilson and Hilferty: df (1 - 2/(9 df) + z sqrt(2/(9 df)))^3. */
static double limit(double df)
{
  double a = 2 / (9 * df), root = 1 - a + 3.0902 * sqrt(a);
  return df * root * root * root;
}

bool chance_uniform(size_t n, const size_t *count)
{
  double all = 0, sum = 0;
  for (size_t k = 0; k < n; k++) all += (double)count[k];
  double expected = all / (double)n;
  for (size_t k = 0; k < n; k++)
    sum += ((double)count[k] - expected) * ((double)count[k] - expected) / expected;
  return n < 2 || sum < limit((double)n - 1);
}

/* sum (observed - expected)^2 / expected, expected = row total * column total / all. */
bool chance_independent(size_t rows, size_t columns, const size_t *count)
{
  double *row = calloc(rows, sizeof *row), *column = calloc(columns, sizeof *column), all = 0, sum = 0;
  size_t r_used = 0, c_used = 0;
  for (size_t r = 0; r < rows; r++) {
    for (size_t c = 0; c < columns; c++) {
      double n = (double)count[r * columns + c];
      row[r] += n;
      column[c] += n;
      all += n;
    }
  }
  for (size_t r = 0; r < rows; r++) r_used += row[r] > 0;
  for (size_t c = 0; c < columns; c++) c_used += column[c] > 0;
  for (size_t r = 0; r < rows; r++) {
    for (size_t c = 0; c < columns; c++) {
      double expected = row[r] * column[c] / all, off = (double)count[r * columns + c] - expected;
      if (expected > 0) sum += off * off / expected;
    }
  }
  free(row);
  free(column);
  return r_used < 2 || c_used < 2 || sum < limit((double)((r_used - 1) * (c_used - 1)));
}
